//! Real shells: how they end, what they may not wait for, and that nothing of them is left.

use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::thread;

use rustix::process::Pid;

use super::*;
use crate::base::env::Env;
use crate::base::text::mask::Mask;
use crate::kernel::tool::Limits;
use crate::product::sandbox::env::CommandEnv;

const LONG: Duration = Duration::from_secs(30);

struct Host {
    folder: tempfile::TempDir,
    env: CommandEnv,
}

impl Host {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), env: CommandEnv::new(&Env::real(), &[], &[]).unwrap() }
    }

    fn line<'a>(&'a self, command: &'a str) -> CommandLine<'a> {
        CommandLine { command, cwd: self.folder.path(), env: &self.env }
    }

    fn run(&self, command: &str, timeout: Duration) -> (Finished, String) {
        self.run_until(command, timeout, &Cancel::new(), &|_| {})
    }

    fn run_until(
        &self,
        command: &str,
        timeout: Duration,
        cancel: &Cancel,
        progress: &(dyn Fn(&str) + Sync),
    ) -> (Finished, String) {
        let mut capture = Capture::new(Limits { chars: 100_000, lines: 100_000 }, self.folder.path(), Mask::default());
        let patience = Patience { timeout, cancel, leave: &Cancel::new() };
        let called = run(&self.line(command), patience, &mut capture, progress).unwrap();
        let Called::Finished(finished) = called else { panic!("nobody left it") };
        (finished, capture.finish("").text.head)
    }

    /// The pid a command has written to a file.
    fn pid(&self, name: &str) -> i32 {
        std::fs::read_to_string(self.folder.path().join(name)).unwrap().trim().parse().unwrap()
    }
}

fn is_alive(pid: i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}

/// Ends a process a test has left running on purpose.
struct KillLater(Pid);

impl Drop for KillLater {
    fn drop(&mut self) {
        let _ = rustix::process::kill_process(self.0, Signal::KILL);
    }
}

#[test]
fn endings_are_told_apart() {
    let host = Host::new();
    for (command, ending, output) in [
        ("echo out; echo err >&2; echo out again; exit 3", Ending::Exited(3), "out\nerr\nout again\n"),
        ("true", Ending::Exited(0), ""),
        ("kill -9 $$", Ending::Signalled(9), ""),
        ("kill -TERM $$", Ending::Signalled(15), ""),
        ("printf 'no newline'", Ending::Exited(0), "no newline"),
        ("echo 'it'\"'\"'s'; echo \"$HOME\" >/dev/null # comment", Ending::Exited(0), "it's\n"),
        ("cat <<'EOF'\n$x\nEOF", Ending::Exited(0), "$x\n"),
        ("exec >&- 2>&-; exit 4", Ending::Exited(4), ""),
    ] {
        let (finished, text) = host.run(command, LONG);
        assert_eq!((finished.ending, text.as_str()), (ending, output), "{command}");
        assert_eq!(finished.running, []);
    }
    let (finished, text) = host.run("-x", LONG);
    assert!(finished.ending == Ending::Exited(127) && text.contains("-x"), "{text}");
}

#[test]
fn nothing_can_be_asked() {
    let host = Host::new();
    for command in ["cat", "read x; echo got:$x", "cat /dev/tty", "head -c1 /dev/stdin", "test -t 0 || test -t 1"] {
        let (finished, _) = host.run(command, LONG);
        assert!(finished.took < Duration::from_secs(2), "{command}: {finished:?}");
    }
    let (_, text) = host.run("echo $PWD; ps -o sid= -p $$ | tr -d ' '; echo $$", LONG);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], host.folder.path().to_str().unwrap());
    assert_eq!(lines[1], lines[2], "the shell leads a session of its own");
}

/// Waits until the last process in the background has become its program.
const IS_SLEEP: &str = "until [ \"$name\" = sleep ]; do read name </proc/$!/comm; done";

#[test]
fn a_background_process_does_not_hold_the_call() {
    let host = Host::new();
    for redirection in ["", ">/dev/null 2>&1"] {
        let (finished, text) = host.run(&format!("sleep 60 {redirection} & echo $! >pid; {IS_SLEEP}; echo up"), LONG);
        let pid = host.pid("pid");
        let _later = KillLater(Pid::from_raw(pid).unwrap());
        assert!(finished.took < Duration::from_secs(1) && text == "up\n", "{finished:?}");
        assert_eq!(finished.running, [Process { pid: u32::try_from(pid).unwrap(), name: "sleep".into() }]);
        assert!(is_alive(pid));
    }
}

#[test]
fn a_flood_from_behind_does_not_hold_the_call_either() {
    let host = Host::new();
    let (finished, _) = host.run("yes & echo $! >pid", LONG);
    let _later = KillLater(Pid::from_raw(host.pid("pid")).unwrap());
    assert!(finished.ending == Ending::Exited(0) && finished.took < Duration::from_secs(2), "{finished:?}");
}

#[test]
fn helpers_that_end_by_themselves_are_not_reported() {
    let host = Host::new();
    let (finished, text) = host.run("(sleep 0.1; echo sub) | cat; coproc cat; echo done", LONG);
    assert_eq!(text, "sub\ndone\n");
    assert_eq!(finished.running, []);
}

/// Everything a test can think of to get away: other sessions, other groups, daemons without an environment.
const ESCAPES: &str = "echo start
    setsid sh -c 'echo $$ >setsid; exec sleep 600' &
    (setsid env -i PATH=\"$PATH\" sh -c 'echo $$ >daemon; exec sleep 600' &)
    set -m; sleep 600 & echo $! >group; set +m
    sh -c 'echo $$ >stopped; kill -STOP $$; sleep 600' &
    until [ -s setsid ] && [ -s daemon ] && [ -s stopped ]; do sleep 0.01; done
    echo ready";

#[test]
fn a_timeout_takes_the_whole_tree() {
    let host = Host::new();
    let (finished, text) = host.run(&format!("{ESCAPES}; sleep 600"), Duration::from_secs(2));
    assert_eq!((finished.ending, text.as_str()), (Ending::TimedOut, "start\nready\n"));
    assert_eq!(finished.running, []);
    assert!(finished.took < Duration::from_secs(4), "{finished:?}");
    for name in ["setsid", "daemon", "group", "stopped"] {
        assert!(!is_alive(host.pid(name)), "{name}");
    }
}

#[test]
fn cancelling_takes_it_too_and_keeps_what_was_printed() {
    let host = Host::new();
    let cancel = Cancel::new();
    let seen = Mutex::new(Vec::new());
    let progress = |line: &str| {
        seen.lock().unwrap().push(line.to_owned());
        if line == "ready" {
            cancel.cancel();
        }
    };
    let (finished, text) = host.run_until(&format!("{ESCAPES}; sleep 600"), LONG, &cancel, &progress);
    assert_eq!((finished.ending, text.as_str()), (Ending::Interrupted, "start\nready\n"));
    assert!(finished.took < Duration::from_secs(4), "{finished:?}");
    for name in ["setsid", "daemon", "group", "stopped"] {
        assert!(!is_alive(host.pid(name)), "{name}");
    }
    assert_eq!(host.run_until("echo x", LONG, &cancel, &|_| {}).0.ending, Ending::Interrupted, "not begun at all");
}

#[test]
fn the_deaf_are_killed() {
    let host = Host::new();
    let command = "trap '' TERM INT HUP; setsid sh -c 'echo $$ >inner; while :; do sleep 1; done' & echo deaf; while :; do sleep 1; done";
    let (finished, text) = host.run(command, Duration::from_millis(500));
    assert_eq!((finished.ending, text.as_str()), (Ending::TimedOut, "deaf\n"));
    assert!(
        finished.running.is_empty() && (Duration::from_millis(2400)..Duration::from_secs(5)).contains(&finished.took)
    );
    assert!(!is_alive(host.pid("inner")));
}

#[test]
fn there_is_time_to_clean_up_once() {
    let host = Host::new();
    let command = "trap 'echo cleaning; sleep 0.2; echo clean; exit 0' TERM; sleep 600 >/dev/null 2>&1 & wait";
    let (finished, text) = host.run(command, Duration::from_millis(300));
    assert_eq!(text, "cleaning\nclean\n");
    assert!(finished.ending == Ending::TimedOut && finished.took < Duration::from_millis(2000), "{finished:?}");
}

#[test]
fn processes_that_keep_forking_are_caught() {
    let host = Host::new();
    let command = "trap '' TERM; f() { setsid sh -c 'trap \"\" TERM; sleep 0.02; . ./next' & }; echo 'setsid sh ./next & sleep 0.02' >next; f; f; wait; sleep 600";
    let (finished, _) = host.run(command, Duration::from_millis(300));
    assert_eq!((finished.ending, finished.running), (Ending::TimedOut, vec![]));
}

#[test]
fn progress_shows_the_last_line_even_when_it_goes_quiet() {
    let host = Host::new();
    let seen = Mutex::new(Vec::new());
    let command = "echo one; until [ -e one ]; do sleep 0.01; done; echo two; echo three; until [ -e three ]; do sleep 0.01; done; echo";
    let (finished, _) = host.run_until(command, LONG, &Cancel::new(), &|line| {
        std::fs::write(host.folder.path().join(line), "").unwrap();
        seen.lock().unwrap().push(line.to_owned());
    });
    assert_eq!(finished.ending, Ending::Exited(0), "a line was told while the command waited for it");
    let seen = seen.into_inner().unwrap();
    assert!(
        seen.first().is_some_and(|line| line == "one") && seen.iter().filter(|line| *line == "three").count() == 1,
        "{seen:?}"
    );
}

#[test]
fn what_cannot_be_started_says_why() {
    let host = Host::new();
    let mut capture = Capture::new(Limits { chars: 10, lines: 10 }, host.folder.path(), Mask::default());
    let never = Cancel::new();
    let patience = Patience { timeout: LONG, cancel: &never, leave: &never };
    let mut fail = |line: &CommandLine<'_>| run(line, patience, &mut capture, &|_| {}).unwrap_err().to_string();
    let gone = host.folder.path().join("gone");
    let complaint = fail(&CommandLine { cwd: &gone, ..host.line("true") });
    assert_eq!(complaint, format!("the working directory {} is not there any more", gone.display()));
    let long = format!("echo {}", "x".repeat(200_000));
    assert!(fail(&host.line(&long)).contains("200005 bytes"));
    let nothing = Env { vars: [("PATH".into(), "/nonexistent".into())].into(), ..Env::default() };
    let env = CommandEnv::new(&nothing, &[], &[]).unwrap();
    assert!(fail(&CommandLine { env: &env, ..host.line("true") }).starts_with("no shell"));
}

#[test]
fn commands_see_no_descriptor_of_ours() {
    let host = Host::new();
    let _open = std::fs::File::open("/proc/self/stat").unwrap();
    let (_, text) = host.run("ls /proc/self/fd", LONG);
    // What whoever started the tests has left open is inherited by everyone.
    let inherited = Command::new("ls").arg("/proc/self/fd").stdin(Stdio::null()).output().unwrap();
    assert_eq!(text, String::from_utf8(inherited.stdout).unwrap());
}

#[test]
fn fifty_at_once_stay_apart_and_leave_nothing() {
    let host = Host::new();
    let open = || std::fs::read_dir("/proc/self/fd").unwrap().count();
    let before = open();
    let cancel = Cancel::new();
    thread::scope(|scope| {
        for number in 0..50 {
            let (host, cancel) = (&host, &cancel);
            scope.spawn(move || {
                let (finished, text) = host.run_until(&format!("echo {number}; exit {number}"), LONG, cancel, &|_| {});
                assert_eq!((finished.ending, text), (Ending::Exited(number), format!("{number}\n")));
                assert_eq!(finished.running, []);
            });
        }
    });
    // Other tests open files of their own meanwhile, but not fifty.
    let deadline = Instant::now() + LONG;
    while open() >= before + 50 {
        assert!(Instant::now() < deadline, "descriptors are left open");
        thread::yield_now();
    }
}
