//! Keys that a command of the user prints: a password manager.
//!
//! Runs what it is given; that only the user's own file may name a command is checked before.

use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use super::secret::Secret;
use crate::base::env::Env;

/// A password manager may ask for a finger or a phrase in a window of its own; nobody takes longer than this.
const PATIENCE: Duration = Duration::from_secs(60);
/// No key is longer, in bytes.
const MAX_OUTPUT: u64 = 64 << 10;

/// Runs `sh -c text` in the home folder and takes what it prints as the key. Its errors go to the terminal, since it may
/// have something to say to the user; it cannot read what is typed.
///
/// # Errors
///
/// A noun phrase or sentence without the command's output: it may hold half a secret.
pub fn run(text: &str, env: &Env) -> Result<Secret, String> {
    run_within(text, env, PATIENCE)
}

fn run_within(text: &str, env: &Env, patience: Duration) -> Result<Secret, String> {
    let folder = env.home.as_deref().filter(|home| home.is_dir()).unwrap_or(Path::new("/"));
    let mut command = Command::new("sh");
    command.args(["-c", text]).current_dir(folder).env_clear().envs(&env.vars);
    // A group of its own, so that the whole of it can be ended.
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::inherit()).process_group(0);
    let mut child = command.spawn().map_err(|error| format!("the command could not be started: {error}"))?;
    let (done, output) = mpsc::channel();
    if let Some(stdout) = child.stdout.take() {
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            let read = stdout.take(MAX_OUTPUT).read_to_end(&mut bytes);
            // Nobody listens any more after the timeout.
            let _ = done.send(read.map(|_| bytes));
        });
    }
    let Ok(printed) = output.recv_timeout(patience) else {
        if let Some(group) = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw) {
            // It may have ended just now.
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
        let _ = child.wait();
        return Err(format!("the command printed nothing within {} s", patience.as_secs()));
    };
    let status = child.wait().map_err(|error| error.to_string())?;
    if !status.success() {
        return Err(format!("the command failed ({status})"));
    }
    let printed = printed.map_err(|error| error.to_string())?;
    let key = String::from_utf8(printed).map_err(|_| "the command printed no text".to_owned())?;
    match Secret::new(&key) {
        key if key.expose().is_empty() => Err("the command printed nothing".to_owned()),
        key if key.expose().contains(char::is_control) => Err("the command printed more than one line".to_owned()),
        key => Ok(key),
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
        assert_eq!(run("printf 'k-%s\\n' $NAME", &env()).unwrap().expose(), "k-value");
        assert!(run("exit 3", &env()).unwrap_err().contains("failed"));
        assert!(run("true", &env()).unwrap_err().contains("nothing"));
        assert!(run("echo k-1; echo k-2", &env()).is_err_and(|error| !error.contains("k-1")));
    }

    #[test]
    fn one_that_hangs_is_ended_with_its_children() {
        let error = run_within("sleep 300 & sleep 300", &env(), Duration::from_millis(100)).unwrap_err();
        assert!(error.contains("within"), "{error}");
    }
}
