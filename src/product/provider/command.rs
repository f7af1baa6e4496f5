//! Keys that a command of the user prints: a password manager.
//!
//! Runs what it is given; that only the user's own file may name a command is checked before.

use std::io::{ErrorKind, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use crate::base::cancel::Cancel;
use crate::base::env::Env;
use crate::product::auth::secret::Secret;

/// A password manager may ask for a finger or a phrase in a window of its own; nobody stares at a silent program longer.
const PATIENCE: Duration = Duration::from_secs(30);
/// No key is longer, in bytes.
const MAX_OUTPUT: usize = 64 << 10;
/// How often a command is looked at, first; it usually ends soon.
const TICK: Duration = Duration::from_millis(1);
/// How often later on, when somebody is asked for a finger.
const LONGEST_TICK: Duration = Duration::from_millis(20);
/// Runs its first argument as a command that reads nothing, and ends its process group when this program ends, however
/// that happens: its input is a pipe that only this program holds, and which closes then without a word.
const LEASH: &str = r#"exec 3<&0 </dev/null
{ read -r over <&3 || kill -s KILL 0; } >/dev/null 2>&1 &
exec 3<&-
exec sh -c "$1""#;

/// Runs `sh -c text` in the home folder and takes what it prints as the key. Its errors go to the terminal, since it may
/// have something to say to the user; it cannot read what is typed. It is ended after 30 s, when `cancel` is thrown, and
/// with this program.
///
/// # Errors
///
/// A noun phrase or sentence without the command's output: it may hold half a secret.
pub fn run(text: &str, env: &Env, cancel: &Cancel) -> Result<Secret, String> {
    run_within(text, env, PATIENCE, cancel)
}

/// Why a command is no longer waited for.
enum Stopped {
    Cancelled,
    Late,
    Failed(std::io::Error),
}

fn run_within(text: &str, env: &Env, patience: Duration, cancel: &Cancel) -> Result<Secret, String> {
    let folder = env.home.as_deref().filter(|home| home.is_dir()).unwrap_or(Path::new("/"));
    let mut command = Command::new("sh");
    command.args(["-c", LEASH, "sh", text]).current_dir(folder).env_clear().envs(&env.vars);
    // A group of its own, so that the whole of it can be ended.
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit()).process_group(0);
    let mut child = command.spawn().map_err(|error| format!("the command could not be started: {error}"))?;
    let leash = child.stdin.take();
    let deadline = Instant::now() + patience;
    let (tell, cancelled) = mpsc::channel();
    // Nobody listens any more once the command has ended.
    let _on_cancel = cancel.on_cancel(move || {
        let _ = tell.send(());
    });
    let ended = follow(&mut child, &cancelled, deadline);
    let (printed, status) = ended.map_err(|why| {
        end(&mut child);
        match why {
            Stopped::Cancelled => "the command was interrupted".to_owned(),
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

/// Waits until a command has ended, and takes what it has printed by then: what it leaves running may keep its output
/// open for days.
fn follow(child: &mut Child, cancelled: &Receiver<()>, deadline: Instant) -> Result<(Vec<u8>, ExitStatus), Stopped> {
    let mut output = child.stdout.take();
    if let Some(output) = &output {
        rustix::io::ioctl_fionbio(output, true).map_err(|error| Stopped::Failed(error.into()))?;
    }
    let (mut printed, mut tick) = (Vec::new(), TICK);
    loop {
        // In this order: all that it has written itself is there once it has ended.
        let ended = child.try_wait().map_err(Stopped::Failed)?;
        if let Some(output) = &mut output {
            drain(output, &mut printed).map_err(Stopped::Failed)?;
        }
        if let Some(status) = ended {
            return Ok((printed, status));
        }
        let left = deadline.saturating_duration_since(Instant::now());
        match cancelled.recv_timeout(tick.min(left)) {
            Ok(()) => return Err(Stopped::Cancelled),
            Err(_) if left.is_zero() => return Err(Stopped::Late),
            // Whoever could tell may have been let go; the time still passes.
            Err(RecvTimeoutError::Disconnected) => std::thread::sleep(tick.min(left)),
            Err(RecvTimeoutError::Timeout) => {}
        }
        tick = (tick * 2).min(LONGEST_TICK);
    }
}

/// Takes what is there.
fn drain(output: &mut ChildStdout, printed: &mut Vec<u8>) -> std::io::Result<()> {
    let mut piece = [0; 4 << 10];
    loop {
        match output.read(&mut piece) {
            Ok(0) => return Ok(()),
            Ok(count) => printed.extend_from_slice(&piece[..count]),
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        if printed.len() > MAX_OUTPUT {
            return Err(std::io::Error::other("the command printed more than any key"));
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

#[cfg(test)]
mod tests {
    use super::*;

    fn env() -> Env {
        let path = ("PATH".into(), "/usr/bin:/bin".into());
        Env { vars: [path, ("NAME".into(), "value".into())].into(), ..Env::default() }
    }

    #[test]
    fn what_it_prints_is_the_key() {
        assert_eq!(run("printf 'k-%s\\n' $NAME", &env(), &Cancel::new()).unwrap().expose(), "k-value");
        assert!(run("exit 3", &env(), &Cancel::new()).unwrap_err().contains("failed"));
        assert!(run("true", &env(), &Cancel::new()).unwrap_err().contains("nothing"));
        assert!(run("echo k-1; echo k-2", &env(), &Cancel::new()).is_err_and(|error| !error.contains("k-1")));
    }

    #[test]
    fn one_that_hangs_is_ended_with_its_children() {
        for text in ["sleep 300 & sleep 300", "echo k-1; exec sleep 300 >/dev/null"] {
            let error = run_within(text, &env(), Duration::from_millis(100), &Cancel::new()).unwrap_err();
            assert!(error.contains("within"), "{error}");
        }
    }

    #[test]
    fn what_it_leaves_behind_on_purpose_lives_on() {
        let folder = tempfile::tempdir().unwrap();
        let pid = folder.path().join("pid");
        let text = format!("sleep 300 >/dev/null 2>&1 & echo $! >{}; echo k-1", pid.display());
        assert_eq!(run(&text, &env(), &Cancel::new()).unwrap().expose(), "k-1");
        let pid = std::fs::read_to_string(pid).unwrap().trim().parse().unwrap();
        let pid = rustix::process::Pid::from_raw(pid).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    }

    #[test]
    fn what_is_left_running_may_keep_the_output_open() {
        let started = Instant::now();
        let folder = tempfile::tempdir().unwrap();
        let pid = folder.path().join("pid");
        let text = format!("sleep 300 & echo $! >{}; echo k-1", pid.display());
        assert_eq!(run(&text, &env(), &Cancel::new()).unwrap().expose(), "k-1");
        assert!(started.elapsed() < PATIENCE);
        let pid = std::fs::read_to_string(pid).unwrap().trim().parse().unwrap();
        rustix::process::kill_process(rustix::process::Pid::from_raw(pid).unwrap(), rustix::process::Signal::KILL)
            .unwrap();
        assert!(run("yes", &env(), &Cancel::new()).unwrap_err().contains("more than any key"));
    }

    #[test]
    fn one_that_is_cancelled_is_ended() {
        let folder = tempfile::tempdir().unwrap();
        let (ready, started, cancel) = (folder.path().join("ready"), Instant::now(), Cancel::new());
        let text = format!("touch {}; exec sleep 300", ready.display());
        let thrown = cancel.clone();
        let thrower = std::thread::spawn(move || {
            while !ready.exists() {
                assert!(started.elapsed() < PATIENCE);
                std::thread::yield_now();
            }
            thrown.cancel();
        });
        let error = run(&text, &env(), &cancel).unwrap_err();
        assert!(error.contains("interrupted") && started.elapsed() < PATIENCE, "{error}");
        thrower.join().unwrap();
    }
}
