//! What the clipboard holds, asked of the programs that desktops have for it: a picture, else text.
//!
//! Each has a moment to answer and is ended then. Which one is there decides; nothing is installed, nothing is written.

use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use crate::base::env::Env;
use crate::product::picture::MOST_FILE_BYTES;

use super::host::without_keys;
use super::message::{Asked, Clip};
use super::pictures;
use super::worker::Setup;

/// How long all of it may take: who pressed a key has looked away after that.
const PATIENCE: Duration = Duration::from_secs(1);
/// What a picture of the clipboard is called.
const NAME: &str = "clipboard";
/// How often the end of a program that has closed its output is looked for.
const TICK: Duration = Duration::from_millis(2);

/// A program that knows the clipboard, and how it is asked.
struct Tool {
    program: &'static str,
    /// Lists the types there are; `None` where it cannot.
    types: Option<&'static [&'static str]>,
    /// Gives a picture of the type that follows; `None` where it cannot.
    picture: Option<&'static [&'static str]>,
    /// Gives text.
    text: &'static [&'static str],
}

/// What a program prints; nothing if it fails. An error is a sentence.
type Printed = Result<Option<Vec<u8>>, String>;

/// In the order in which they are asked. A program whose desktop is not there fails, and the next one is asked.
const TOOLS: [Tool; 3] = [
    Tool {
        program: "wl-paste",
        types: Some(&["--list-types"]),
        picture: Some(&["--type"]),
        text: &["--no-newline", "--type", "text"],
    },
    Tool {
        program: "xclip",
        types: Some(&["-selection", "clipboard", "-out", "-target", "TARGETS"]),
        picture: Some(&["-selection", "clipboard", "-out", "-target"]),
        text: &["-selection", "clipboard", "-out", "-target", "UTF8_STRING"],
    },
    Tool { program: "pbpaste", types: None, picture: None, text: &[] },
];
/// Types of pictures, the one that loses nothing first.
const TYPES: [&str; 5] = ["image/png", "image/jpeg", "image/webp", "image/gif", "image/bmp"];

/// Asks the clipboard. Takes a second at most, and a moment more for a large picture.
pub(super) fn read(setup: &Setup, asked: Asked) -> Clip {
    let deadline = Instant::now() + PATIENCE;
    let mut problem = None;
    let mut is_there = false;
    for tool in &TOOLS {
        let Some(program) = found(tool.program, &setup.env) else { continue };
        is_there = true;
        let ask = |arguments: &[&str]| {
            let mut command = Command::new(&program);
            command.args(arguments).current_dir(&setup.env.cwd);
            without_keys(&mut command, setup);
            printed(command, deadline)
        };
        match tool.ask(ask) {
            Ok(Some(clip)) => return clip,
            Ok(None) => {}
            Err(why) => problem = problem.or(Some(why)),
        }
    }
    let why = match (problem, is_there) {
        (Some(why), _) => why,
        (None, true) => "The clipboard holds nothing that can be pasted.".to_owned(),
        (None, false) => {
            "The clipboard cannot be asked here; install wl-clipboard (Wayland) or xclip (X11).".to_owned()
        }
    };
    Clip::Nothing(Some(why).filter(|_| asked == Asked::ByKey))
}

impl Tool {
    /// What the clipboard holds, as this one says; nothing if it does not know.
    fn ask(&self, run: impl Fn(&[&str]) -> Printed) -> Result<Option<Clip>, String> {
        if let (Some(types), Some(picture)) = (self.types, self.picture) {
            let Some(types) = run(types)? else { return Ok(None) };
            let types = String::from_utf8_lossy(&types).into_owned();
            if let Some(kind) = TYPES.iter().find(|kind| types.lines().any(|line| line.trim() == **kind))
                && let Some(bytes) = run(&[picture, &[kind]].concat())?
            {
                return match pictures::taken(&bytes, NAME.to_owned()) {
                    Ok(picture) => Ok(Some(Clip::Picture(Arc::new(picture)))),
                    Err(why) => Err(format!("The picture of the clipboard is not taken: {why}.")),
                };
            }
        }
        let text = run(self.text)?.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        Ok(text.filter(|text| !text.is_empty()).map(Clip::Text))
    }
}

/// Where a program is, if it is in the PATH.
fn found(program: &str, env: &Env) -> Option<PathBuf> {
    let path = env.var("PATH")?;
    let is_program =
        |file: &PathBuf| file.metadata().is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0);
    path.split(':')
        .filter(|folder| folder.starts_with('/'))
        .map(|folder| PathBuf::from(folder).join(program))
        .find(is_program)
}

/// What a program prints; nothing if it fails.
///
/// # Errors
///
/// A sentence: it took too long.
fn printed(mut command: Command, deadline: Instant) -> Printed {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).process_group(0);
    let Ok(mut child) = command.spawn() else { return Ok(None) };
    let late = || "The clipboard did not answer within a second.".to_owned();
    let (tell, heard) = mpsc::channel();
    let stdout = child.stdout.take();
    let read = move || {
        let mut bytes = Vec::new();
        let read = stdout.map(|stdout| stdout.take(MOST_FILE_BYTES + 1).read_to_end(&mut bytes));
        // Nobody listens any more after the deadline.
        let _ = tell.send(read.is_some_and(|read| read.is_ok()).then_some(bytes));
    };
    let reader = thread::Builder::new().name("clipboard output".to_owned()).spawn(read);
    let left = || deadline.saturating_duration_since(Instant::now());
    let bytes = reader.ok().and_then(|_| heard.recv_timeout(left()).ok());
    let Some(bytes) = bytes else {
        end(&mut child);
        return Err(late());
    };
    // One that has said everything may still have to be ended: it goes on serving what it showed.
    while !left().is_zero() {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(bytes.filter(|_| status.success())),
            Ok(None) => thread::sleep(TICK),
            Err(_) => break,
        }
    }
    end(&mut child);
    Err(late())
}

/// Ends a program with its children.
fn end(child: &mut Child) {
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        // It may have ended just now.
        let _ = kill_process_group(group, Signal::KILL);
    }
    let _ = child.wait();
}

#[cfg(test)]
mod tests;
