//! Keys that a command of the user prints: a password manager.
//!
//! Runs what it is given; that only the user's own file may name a command is checked before.

use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::{Duration, Instant};

use tokio::signal::unix::{SignalKind, signal};

use crate::base::cancel::Cancel;
use crate::base::env::Env;
use crate::product::auth::secret::Secret;

/// A password manager may ask for a finger or a phrase in a window of its own; nobody stares at a silent program longer.
const PATIENCE: Duration = Duration::from_secs(30);
/// No key is longer, in bytes.
const MAX_OUTPUT: u64 = 64 << 10;
/// How often the end of a command that has closed its output is looked for; it usually comes at once.
const TICK: Duration = Duration::from_millis(2);
/// Runs its first argument as a command that reads nothing, and ends its process group when this program ends, however
/// that happens: its input is a pipe that only this program holds, and which closes then without a word.
const LEASH: &str = r#"exec 3<&0 </dev/null
{ read -r over <&3 || kill -s KILL 0; } >/dev/null 2>&1 &
exec 3<&-
exec sh -c "$1""#;

/// Runs `sh -c text` in the home folder and takes what it prints as the key. Its errors go to the terminal, since it may
/// have something to say to the user; it cannot read what is typed. It is ended after 30 s, and with this program.
///
/// # Errors
///
/// A noun phrase or sentence without the command's output: it may hold half a secret.
pub fn run(text: &str, env: &Env) -> Result<Secret, String> {
    let ears = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
    run_within(text, env, PATIENCE, ears.into_iter().filter(|kind| is_caught(*kind)).collect())
}

/// What happens while a command runs.
enum Heard {
    Printed(std::io::Result<Vec<u8>>),
    Signal,
}

/// Why a command is no longer waited for.
enum Stopped {
    Signal,
    Late,
    Failed(std::io::Error),
}

fn run_within(text: &str, env: &Env, patience: Duration, ears: Vec<SignalKind>) -> Result<Secret, String> {
    let folder = env.home.as_deref().filter(|home| home.is_dir()).unwrap_or(Path::new("/"));
    let mut command = Command::new("sh");
    command.args(["-c", LEASH, "sh", text]).current_dir(folder).env_clear().envs(&env.vars);
    // A group of its own, so that the whole of it can be ended.
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit()).process_group(0);
    let mut child = command.spawn().map_err(|error| format!("the command could not be started: {error}"))?;
    let leash = child.stdin.take();
    let deadline = Instant::now() + patience;
    let (tell, heard) = mpsc::channel();
    if let Some(stdout) = child.stdout.take() {
        let tell = tell.clone();
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            let read = stdout.take(MAX_OUTPUT).read_to_end(&mut bytes);
            // Nobody listens any more after the timeout.
            let _ = tell.send(Heard::Printed(read.map(|_| bytes)));
        });
    }
    let over = Cancel::new();
    if !ears.is_empty() {
        let (over, tell) = (over.clone(), tell.clone());
        std::thread::spawn(move || listen(ears, &over, &tell));
    }
    let ended = follow(&mut child, &heard, deadline);
    over.cancel();
    let (printed, status) = ended.map_err(|why| {
        end(&mut child);
        match why {
            Stopped::Signal => "the command was interrupted".to_owned(),
            Stopped::Late => format!("the command did not end within {} s", patience.as_secs()),
            Stopped::Failed(error) => error.to_string(),
        }
    })?;
    release(leash);
    if !status.success() {
        return Err(format!("the command failed ({status})"));
    }
    let key = String::from_utf8(printed).map_err(|_| "the command printed no text".to_owned())?;
    match Secret::new(&key) {
        key if key.expose().is_empty() => Err("the command printed nothing".to_owned()),
        key if key.expose().contains(char::is_control) => Err("the command printed more than one line".to_owned()),
        key => Ok(key),
    }
}

/// Waits until a command has printed what it prints, and has ended.
fn follow(child: &mut Child, heard: &Receiver<Heard>, deadline: Instant) -> Result<(Vec<u8>, ExitStatus), Stopped> {
    let mut printed = None;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let mut wait = left;
        if let Some(bytes) = &mut printed {
            if let Some(status) = child.try_wait().map_err(Stopped::Failed)? {
                return Ok((std::mem::take(bytes), status));
            }
            wait = left.min(TICK);
        }
        match heard.recv_timeout(wait) {
            Ok(Heard::Printed(bytes)) => printed = Some(bytes.map_err(Stopped::Failed)?),
            Ok(Heard::Signal) => return Err(Stopped::Signal),
            Err(_) if left.is_zero() => return Err(Stopped::Late),
            Err(_) => {}
        }
    }
}

/// Ends a command with its children.
fn end(child: &mut Child) {
    if let Some(group) = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw) {
        // It may have ended just now.
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
    let _ = child.wait();
}

/// Lets what a command left running live on, such as an agent that remembers a phrase.
fn release(leash: Option<ChildStdin>) {
    if let Some(mut leash) = leash {
        // Whoever held the other end may be gone.
        let _ = leash.write_all(b"\n");
    }
}

/// Tells of the first of these signals, until it is over.
fn listen(ears: Vec<SignalKind>, over: &Cancel, tell: &Sender<Heard>) {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_io().build() else { return };
    runtime.block_on(async {
        let any = async {
            let mut signals: Vec<_> = ears.into_iter().filter_map(|kind| signal(kind).ok()).collect();
            std::future::poll_fn(|context| {
                let caught = signals.iter_mut().any(|signal| signal.poll_recv(context).is_ready());
                if caught { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
            })
            .await;
        };
        tokio::select! {
            () = any => { let _ = tell.send(Heard::Signal); }
            () = over.cancelled() => {}
        }
    });
}

/// Whether this program catches a signal. Where it does not, the signal ends it or means nothing to it, and listening
/// would change that for good.
fn is_caught(kind: SignalKind) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).map(str::trim);
    let mask = mask.and_then(|mask| u64::from_str_radix(mask, 16).ok()).unwrap_or(0);
    mask >> (kind.as_raw_value() - 1) & 1 == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env() -> Env {
        let path = ("PATH".into(), "/usr/bin:/bin".into());
        Env { vars: [path, ("NAME".into(), "value".into())].into(), ..Env::default() }
    }

    #[test]
    fn what_it_prints_is_the_key() {
        assert_eq!(run("printf 'k-%s\\n' $NAME", &env()).unwrap().expose(), "k-value");
        assert!(run("exit 3", &env()).unwrap_err().contains("failed"));
        assert!(run("true", &env()).unwrap_err().contains("nothing"));
        assert!(run("echo k-1; echo k-2", &env()).is_err_and(|error| !error.contains("k-1")));
    }

    #[test]
    fn one_that_hangs_is_ended_with_its_children() {
        for text in ["sleep 300 & sleep 300", "echo k-1; exec sleep 300 >/dev/null"] {
            let error = run_within(text, &env(), Duration::from_millis(100), Vec::new()).unwrap_err();
            assert!(error.contains("within"), "{error}");
        }
    }

    #[test]
    fn what_it_leaves_behind_on_purpose_lives_on() {
        let folder = tempfile::tempdir().unwrap();
        let pid = folder.path().join("pid");
        let text = format!("sleep 300 >/dev/null 2>&1 & echo $! >{}; echo k-1", pid.display());
        assert_eq!(run(&text, &env()).unwrap().expose(), "k-1");
        let pid = std::fs::read_to_string(pid).unwrap().trim().parse().unwrap();
        let pid = rustix::process::Pid::from_raw(pid).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    }

    #[test]
    fn a_signal_that_is_caught_ends_it() {
        // One that nothing else in the tests listens to.
        let kind = SignalKind::user_defined2();
        assert!(!is_caught(kind));
        let folder = tempfile::tempdir().unwrap();
        let (ready, started) = (folder.path().join("ready"), Instant::now());
        let text = format!("touch {}; exec sleep 300", ready.display());
        let killer = std::thread::spawn(move || {
            while !(ready.exists() && is_caught(kind)) {
                assert!(started.elapsed() < PATIENCE);
                std::thread::yield_now();
            }
            rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::USR2).unwrap();
        });
        let error = run_within(&text, &env(), PATIENCE, vec![kind]).unwrap_err();
        assert!(error.contains("interrupted") && started.elapsed() < PATIENCE, "{error}");
        killer.join().unwrap();
    }
}
