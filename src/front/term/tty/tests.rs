//! The terminal against pseudo-terminals: in this process where that is enough, else in a program of its own under a shell.

use super::*;
use crate::front::term::mailbox::mailbox;
use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use rustix::termios::Termios;
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;
use std::sync::{Mutex, PoisonError};
use std::thread;

const ALL: Modes = Modes { paste: true, focus: true, keys: true, title: true, sequences: true };
const PATIENCE: Duration = Duration::from_secs(20);

/// A terminal as a person has it: what it showed so far, and a keyboard.
struct Pty {
    master: Box<dyn MasterPty + Send>,
    keyboard: Box<dyn Write + Send>,
    shown: Arc<Mutex<Vec<u8>>>,
    /// Our own view of the other end.
    end: File,
}

impl Pty {
    fn new() -> (Self, portable_pty::PtyPair) {
        let mut pair = native_pty_system().openpty(size(80, 24)).unwrap();
        let path = pair.master.tty_name().unwrap();
        let flags = i32::try_from(rustix::fs::OFlags::NOCTTY.bits()).unwrap();
        let end = OpenOptions::new().read(true).write(true).custom_flags(flags).open(path).unwrap();
        let other = native_pty_system().openpty(size(1, 1)).unwrap();
        let master = std::mem::replace(&mut pair.master, other.master);
        let mut reader = master.try_clone_reader().unwrap();
        let keyboard = master.take_writer().unwrap();
        let shown = Arc::new(Mutex::new(Vec::new()));
        let written = Arc::clone(&shown);
        thread::spawn(move || {
            let mut piece = [0; 4096];
            while let Ok(count @ 1..) = reader.read(&mut piece) {
                written.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(&piece[..count]);
            }
        });
        (Self { master, keyboard, shown, end }, pair)
    }

    fn tty(&self, stop: &Stop) -> Tty {
        let line = Line::of(self.end.as_fd(), self.end.as_fd()).unwrap();
        Tty::on(line, &Env::default(), stop).unwrap()
    }

    fn type_in(&mut self, text: &str) {
        self.keyboard.write_all(text.as_bytes()).unwrap();
        self.keyboard.flush().unwrap();
    }

    fn shown(&self) -> String {
        let shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        // Output processing has put a return before each line feed, also behind one of ours.
        String::from_utf8_lossy(&shown).replace("\r\r\n", "\r\n")
    }

    fn wait_for(&self, wanted: impl Fn(&str) -> bool) -> String {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let shown = self.shown();
            if wanted(&shown) {
                return shown;
            }
            assert!(Instant::now() < deadline, "waited in vain; shown: {shown:?}");
            thread::sleep(Duration::from_millis(2));
        }
    }

    fn wait_text(&self, wanted: &str) -> String {
        self.wait_for(|shown| shown.contains(wanted))
    }

    fn settings(&self) -> Termios {
        rustix::termios::tcgetattr(&self.end).unwrap()
    }
}

fn size(cols: u16, rows: u16) -> PtySize {
    PtySize { rows, cols, ..PtySize::default() }
}

/// All of the settings that can be compared.
fn plain(settings: &Termios) -> String {
    format!("{settings:?}")
}

/// What is switched on in `shown` and not off again.
fn left_on(shown: &str) -> Vec<&'static str> {
    let last = |on: &str, off: &str| shown.rfind(on) > shown.rfind(off);
    let (pushed, popped) = (shown.matches("\x1b[>5u").count(), shown.matches("\x1b[<u").count());
    let (kept, restored) = (shown.matches("\x1b[22;2t").count(), shown.matches("\x1b[23;2t").count());
    [
        (last("\x1b[?2004h", "\x1b[?2004l"), "paste"),
        (last("\x1b[?1004h", "\x1b[?1004l"), "focus"),
        (last("\x1b[>4;2m", "\x1b[>4m"), "modifyOtherKeys"),
        (last("\x1b[?25l", "\x1b[?25h"), "cursor"),
        (last("\x1b[?2026h", "\x1b[?2026l"), "update"),
        (pushed != popped, "kitty"),
        (kept != restored, "title"),
    ]
    .into_iter()
    .filter_map(|(on, name)| on.then_some(name))
    .collect()
}

#[test]
fn what_is_entered_is_left_as_it_was() {
    let (pty, _pair) = Pty::new();
    let before = pty.settings();
    let mut tty = pty.tty(&Stop::default());
    assert_eq!(plain(&before), plain(&pty.settings()), "opening changes nothing");
    tty.enter(ALL).unwrap();
    let raw = pty.settings();
    use rustix::termios::{InputModes, LocalModes, OutputModes};
    assert!(!raw.local_modes.intersects(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG));
    assert!(!raw.input_modes.intersects(InputModes::ICRNL | InputModes::IXON));
    assert!(raw.output_modes.contains(OutputModes::OPOST), "a stray line stays a line");
    tty.write(b"\x1b[?2026h\x1b[?25lprompt\x1b[?2026l", Caret::Above(2));
    assert_eq!(left_on(&pty.wait_text("prompt")).len(), 6);
    drop(tty);
    assert_eq!(plain(&before), plain(&pty.settings()));
    let shown = pty.wait_for(|shown| shown.ends_with("\x1b[2B\r\n"));
    assert_eq!(left_on(&shown), [""; 0]);
}

#[test]
fn a_panic_leaves_it_too() {
    let (pty, _pair) = Pty::new();
    let before = pty.settings();
    let mut tty = pty.tty(&Stop::default());
    let told = crate::base::panic::caught(move || {
        tty.enter(ALL).unwrap();
        panic!("in the screen");
    });
    assert!(told.unwrap_err().contains("in the screen"));
    assert_eq!(plain(&before), plain(&pty.settings()));
    assert_eq!(left_on(&pty.wait_text("\x1b[23;2t")), [""; 0]);
}

#[test]
fn it_is_left_once_whoever_does_it_and_then_for_good() {
    let (pty, _pair) = Pty::new();
    let before = pty.settings();
    let mut tty = pty.tty(&Stop::default());
    tty.enter(ALL).unwrap();
    let guard = Arc::clone(&tty.guard);
    thread::spawn(move || guard.leave_for_good()).join().unwrap();
    assert_eq!(plain(&before), plain(&pty.settings()));
    tty.write(b"late", Caret::FreshLine);
    tty.enter(ALL).unwrap();
    assert_eq!(plain(&before), plain(&pty.settings()), "nobody enters again");
    drop(tty);
    let shown = pty.wait_text("\x1b[23;2t");
    assert!(left_on(&shown).is_empty() && !shown.contains("late"), "{shown:?}");
}

#[test]
fn who_had_it_meanwhile_is_told_before_anything_is_painted() {
    let (pty, _pair) = Pty::new();
    let stop = Stop::default();
    let mut tty = pty.tty(&stop);
    tty.enter(ALL).unwrap();
    assert!(!tty.was_away());
    tty.lend(|| ());
    assert!(tty.was_away());
    assert!(matches!(tty.wait(Mail::Rests, Some(Instant::now())), Woken::Resumed));
    assert!(!tty.was_away());
}

#[test]
fn every_reason_wakes_and_nothing_else_does() {
    let (mut pty, _pair) = Pty::new();
    let stop = Stop::default();
    let mut tty = pty.tty(&stop);
    let (sender, mailbox) = mailbox().unwrap();
    tty.enter(Modes::default()).unwrap();
    let wakes = Mail::Wakes(mailbox.wake());
    pty.type_in("k\x1b[A");
    assert_eq!(tty.wait(wakes, None), Woken::Input);
    let mut typed = tty.input().to_vec();
    while typed.len() < 4 {
        assert_eq!(tty.wait(wakes, None), Woken::Input);
        typed.extend_from_slice(tty.input());
    }
    assert_eq!(typed, b"k\x1b[A");
    let later = thread::spawn(move || sender.send(7).map(|()| sender));
    assert_eq!(tty.wait(wakes, None), Woken::Mail);
    let sender = later.join().unwrap().unwrap();
    assert_eq!(tty.wait(wakes, None), Woken::Mail, "until it is drained");
    let mut messages = Vec::new();
    mailbox.drain(&mut messages);
    let before = tty.polls;
    let begun = Instant::now();
    assert_eq!(tty.wait(wakes, Some(begun + Duration::from_millis(50))), Woken::Due);
    assert!(begun.elapsed() >= Duration::from_millis(50));
    assert_eq!(tty.polls - before, 1, "it sleeps in one piece");
    sender.send(8).unwrap();
    assert_eq!(tty.wait(Mail::Rests, Some(Instant::now())), Woken::Due, "mail can rest");
    mailbox.drain(&mut messages);
    let (heard, waker) = (Arc::clone(&tty.heard), tty.wake.waker());
    let signals = thread::spawn(move || {
        heard.suspend.store(true, Ordering::SeqCst);
        heard.resized.store(true, Ordering::SeqCst);
        waker.wake();
    });
    assert_eq!(tty.wait(wakes, None), Woken::Suspend);
    assert_eq!(tty.wait(wakes, None), Woken::Resized);
    signals.join().unwrap();
    stop.cancel().cancel();
    assert_eq!(tty.wait(Mail::Rests, None), Woken::Stop);
    assert_eq!(tty.wait(Mail::Rests, Some(Instant::now())), Woken::Due, "told once");
}

#[test]
fn a_big_paste_comes_whole() {
    let (mut pty, _pair) = Pty::new();
    let mut tty = pty.tty(&Stop::default());
    tty.enter(Modes::default()).unwrap();
    let text: String = (0..20_000).map(|number| format!("line {number}\r")).collect();
    let pasted = text.clone();
    let typing = thread::spawn(move || {
        pty.type_in(&pasted);
        pty
    });
    let mut got = Vec::new();
    while got.len() < text.len() {
        assert_eq!(tty.wait(Mail::Rests, Some(Instant::now() + PATIENCE)), Woken::Input);
        got.extend_from_slice(tty.input());
    }
    assert!(got == text.as_bytes());
    drop(typing.join());
}

#[test]
fn a_terminal_that_does_not_read_holds_nobody() {
    // Nobody reads at the other end.
    let pair = native_pty_system().openpty(size(80, 24)).unwrap();
    let end = OpenOptions::new().read(true).write(true).open(pair.master.tty_name().unwrap()).unwrap();
    let stop = Stop::default();
    let mut tty = Tty::on(Line::of(end.as_fd(), end.as_fd()).unwrap(), &Env::default(), &stop).unwrap();
    tty.enter(ALL).unwrap();
    let frame = vec![b'x'; 100_000];
    tty.write(&frame, Caret::Above(0));
    tty.write(b"end", Caret::Above(0));
    assert!(tty.is_behind());
    assert_eq!(tty.wait(Mail::Rests, Some(Instant::now() + Duration::from_millis(10))), Woken::Due);
    let mut reader = pair.master.try_clone_reader().unwrap();
    let reading = thread::spawn(move || {
        let (mut all, mut piece) = (Vec::new(), [0; 4096]);
        while !all.ends_with(b"end") {
            let count = reader.read(&mut piece).unwrap();
            all.extend_from_slice(&piece[..count]);
        }
        (all.len(), reader)
    });
    assert_eq!(tty.wait(Mail::Rests, Some(Instant::now() + PATIENCE)), Woken::Written);
    let (count, _reader) = reading.join().unwrap();
    assert_eq!(count, ALL.on().len() + frame.len() + 3);
    // Stuck again, and left: in bounded time.
    tty.write(&frame, Caret::Above(0));
    let begun = Instant::now();
    drop(tty);
    assert!(begun.elapsed() < 4 * LEAVING);
}

#[test]
fn a_terminal_that_is_gone_is_told() {
    let pair = native_pty_system().openpty(size(80, 24)).unwrap();
    let end = OpenOptions::new().read(true).write(true).open(pair.master.tty_name().unwrap()).unwrap();
    let mut tty = Tty::on(Line::of(end.as_fd(), end.as_fd()).unwrap(), &Env::default(), &Stop::default()).unwrap();
    tty.enter(ALL).unwrap();
    drop(pair);
    assert_eq!(tty.wait(Mail::Rests, Some(Instant::now() + PATIENCE)), Woken::Gone);
    tty.write(b"x", Caret::FreshLine);
    assert_eq!(tty.wait(Mail::Rests, None), Woken::Gone);
    let begun = Instant::now();
    drop(tty);
    assert!(begun.elapsed() < LEAVING);
}

#[test]
fn late_answers_do_not_reach_the_shell() {
    let (mut pty, _pair) = Pty::new();
    let before = pty.settings();
    let mut tty = pty.tty(&Stop::default());
    tty.enter(ALL).unwrap();
    tty.ask(b"\x1b[c", Caret::FreshLine);
    pty.wait_text("\x1b[c");
    let leaving = thread::spawn(move || drop(tty));
    pty.wait_text("\x1b[23;2t");
    pty.type_in("\x1b[?62;22c");
    leaving.join().unwrap();
    assert_eq!(plain(&before), plain(&pty.settings()));
    pty.type_in("shell\n");
    let mut line = [0; 64];
    let count = rustix::io::read(&pty.end, &mut line).unwrap();
    assert_eq!(&line[..count], b"shell\n");
}

#[test]
fn the_size_is_the_terminals_then_the_environments() {
    let (pty, _pair) = Pty::new();
    let tty = pty.tty(&Stop::default());
    assert_eq!(tty.size(), Size { columns: 80, rows: 24 });
    pty.master.resize(size(101, 7)).unwrap();
    assert_eq!(tty.size(), Size { columns: 101, rows: 7 });
    pty.master.resize(size(0, 0)).unwrap();
    assert_eq!(tty.size(), NO_SIZE);
    let vars = [("COLUMNS".into(), "132".into()), ("LINES".into(), "0".into())].into();
    let line = Line::of(pty.end.as_fd(), pty.end.as_fd()).unwrap();
    let tty = Tty::on(line, &Env { vars, ..Env::default() }, &Stop::default()).unwrap();
    assert_eq!(tty.size(), Size { columns: 132, rows: 24 });
}

/// The program under the shell: says what it is told, in words a test can wait for. Ends with `q`; `s` suspends, `e` lends
/// the terminal to a shell, `!` gets stuck.
#[test]
#[ignore = "is started by the others, in a terminal of its own"]
fn program() {
    let stop = Stop::default();
    stop.listen().unwrap();
    let mut tty = Tty::open(&Env::real(), &stop).unwrap();
    tty.enter(ALL).unwrap();
    let say = |tty: &mut Tty, words: &str| tty.write(format!("<{words}>\r\n").as_bytes(), Caret::FreshLine);
    say(&mut tty, &format!("ready {}", std::process::id()));
    loop {
        let woken = tty.wait(Mail::Rests, None);
        match woken {
            Woken::Input => {
                for byte in tty.input().to_vec() {
                    match byte {
                        b'q' => return,
                        b's' => {
                            let suspended = tty.suspend();
                            say(&mut tty, &format!("suspended {suspended:?}"));
                        }
                        b'e' => {
                            let mut command = std::process::Command::new("sh");
                            let status = tty.lend(|| command.arg("-c").arg(LENT_TO).status());
                            say(&mut tty, &format!("lent {}", status.is_ok()));
                        }
                        b'!' => {
                            say(&mut tty, "stuck");
                            loop {
                                thread::park();
                            }
                        }
                        other => say(&mut tty, &format!("key {other}")),
                    }
                }
            }
            Woken::Suspend => {
                tty.suspend();
            }
            Woken::Stop | Woken::Gone => return,
            Woken::Resized => {
                let size = tty.size();
                say(&mut tty, &format!("size {}x{}", size.columns, size.rows));
            }
            Woken::Resumed | Woken::Written | Woken::Mail | Woken::Due => say(&mut tty, &format!("{woken:?}")),
        }
    }
}

/// What the terminal is lent to: says when it has it, and when it goes on after a stop; ends with Ctrl-C.
const LENT_TO: &str = "trap 'echo back again' CONT; trap 'exit 1' INT; echo go on; while :; do sleep 0.05; done";

/// How a shell starts the program.
fn command() -> String {
    let program = std::env::current_exe().unwrap();
    format!("{} --exact front::term::tty::tests::program --ignored --nocapture -q", program.display())
}

fn spawn(pair: &portable_pty::PtyPair, shell: &[&str]) -> Box<dyn Child + Send + Sync> {
    let mut builder = CommandBuilder::new(shell[0]);
    builder.args(&shell[1..]);
    builder.env("PS1", "$ ");
    builder.env("TERM", "xterm");
    builder.env_remove("ENV");
    pair.slave.spawn_command(builder).unwrap()
}

/// Ends a shell that would rather ask what becomes of its jobs.
fn end(shell: &mut (dyn Child + Send + Sync)) {
    shell.kill().unwrap();
    shell.wait().unwrap();
}

/// The process id the program has said.
fn pid_in(shown: &str) -> rustix::process::Pid {
    let said = shown.rsplit("<ready ").next().unwrap();
    rustix::process::Pid::from_raw(said.split('>').next().unwrap().parse().unwrap()).unwrap()
}

fn signal(pid: rustix::process::Pid, signal: rustix::process::Signal) {
    rustix::process::kill_process(pid, signal).unwrap();
}

#[test]
fn a_shell_gets_the_terminal_and_gives_it_back() {
    use rustix::process::Signal;
    let (mut pty, pair) = Pty::new();
    let mut shell = spawn(&pair, &["/bin/sh", "-i"]);
    pty.wait_text("$ ");
    pty.type_in(&format!("{}\n", command()));
    let pid = pid_in(&pty.wait_for(|shown| shown.contains("<ready ") && shown.contains(">\r\n")));
    for (round, way) in ["s", "TSTP"].iter().enumerate() {
        match *way {
            "s" => pty.type_in("s"),
            _ => signal(pid, Signal::TSTP),
        }
        let prompts = pty.wait_for(|shown| shown.matches("\x1b[23;2t").count() == round + 1).matches("$ ").count();
        let stopped =
            pty.wait_for(|shown| shown.matches("$ ").count() > prompts.saturating_sub(1) && shown.ends_with("$ "));
        assert_eq!(left_on(&stopped), [""; 0]);
        pty.type_in(&format!("echo shell $((40 + {round}))\n"));
        pty.wait_text(&format!("\nshell 4{round}\r\n"));
        pty.type_in("fg\n");
        pty.wait_for(|shown| shown.matches("<Resumed>").count() == round + 1);
    }
    // Stopped without being asked, and gone on with in the background: it waits for the foreground.
    signal(pid, Signal::STOP);
    pty.wait_for(|shown| shown.ends_with("$ "));
    pty.type_in("bg; echo b\"\"ack\n");
    pty.wait_text("\nback\r\n");
    pty.type_in("fg\n");
    pty.wait_for(|shown| shown.matches("<Resumed>").count() == 3);
    pty.master.resize(size(90, 30)).unwrap();
    pty.wait_text("<size 90x30>");
    // Another program has the terminal: it may be stopped, and be ended by Ctrl-C, and we live on.
    pty.type_in("e");
    pty.wait_text("\x1b[23;2tgo on\r\n");
    pty.type_in("\x1a");
    pty.wait_for(|shown| shown.ends_with("$ "));
    pty.type_in("fg\n");
    pty.wait_text("back again\r\n");
    pty.type_in("\x03");
    pty.wait_text("<lent true>");
    pty.type_in("x");
    pty.wait_text("<key 120>");
    pty.type_in("q");
    let shown = pty.wait_for(|shown| shown.ends_with("$ "));
    assert_eq!(left_on(&shown), [""; 0]);
    end(&mut *shell);
}

#[test]
fn a_stopped_program_can_be_ended_by_the_shell() {
    let (mut pty, pair) = Pty::new();
    let mut shell = spawn(&pair, &["/bin/sh", "-i"]);
    pty.wait_text("$ ");
    pty.type_in(&format!("{}\n", command()));
    pty.wait_for(|shown| shown.contains("<ready ") && shown.contains(">\r\n"));
    pty.type_in("s");
    pty.wait_for(|shown| shown.contains("\x1b[23;2t") && shown.ends_with("$ "));
    // It goes on in the background, where it must not touch the terminal, to hear that it is to end.
    pty.type_in("kill %1; kill -CONT %1\n");
    let shown = pty.wait_text("test result: ok");
    assert_eq!(shown.matches("\x1b[>5u").count(), 1, "it has not entered again: {shown:?}");
    end(&mut *shell);
}

#[test]
fn without_a_shell_nobody_stops() {
    let (mut pty, pair) = Pty::new();
    let mut child = spawn(&pair, &["/bin/sh", "-c", &format!("exec {}", command())]);
    pty.wait_for(|shown| shown.contains("<ready ") && shown.contains(">\r\n"));
    pty.type_in("s");
    pty.wait_text("<suspended NoShell>");
    pty.type_in("q");
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_second_signal_ends_a_stuck_program_and_still_leaves_the_terminal() {
    use rustix::process::Signal;
    let (mut pty, pair) = Pty::new();
    let before = pty.settings();
    let mut child = spawn(&pair, &["/bin/sh", "-c", &format!("exec {}", command())]);
    let pid = pid_in(&pty.wait_for(|shown| shown.contains("<ready ") && shown.contains(">\r\n")));
    pty.type_in("!");
    pty.wait_text("<stuck>");
    signal(pid, Signal::TERM);
    // Sooner it would be the first one's echo.
    thread::sleep(Duration::from_millis(350));
    signal(pid, Signal::TERM);
    assert_eq!(child.wait().unwrap().exit_code(), 143);
    assert_eq!(plain(&before), plain(&pty.settings()));
    assert_eq!(left_on(&pty.wait_text("\x1b[23;2t")), [""; 0]);
}
