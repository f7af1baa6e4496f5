//! Where texts for models lie, in a project's folders and the user's own, and how they are read: within bounds, and those
//! of a project only within its repository.
//!
//! Knows nothing of what stands in them.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::base::env::Env;
use crate::product::config::Loaded;
use crate::product::tool::save::words;
use crate::product::tool::workspace::Workspace;

/// The most of a file, in bytes: twenty times what a model gets to see of it.
const MAX_BYTES: u64 = 1 << 20;
/// What is read of a file at first, in bytes: the heads of nearly all files end before that.
const HEAD_BYTES: u64 = 8 << 10;

/// Who put something there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Whoever wrote the project: somebody else, perhaps.
    Project,
    /// The user.
    User,
    /// It came with the program.
    BuiltIn,
}

impl Origin {
    /// The word for people and programs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Project => "project",
            Self::User => "user",
            Self::BuiltIn => "built in",
        }
    }
}

/// A folder that is looked into.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Absolute; need not exist.
    pub folder: PathBuf,
    /// Whose it is.
    pub origin: Origin,
}

/// What may be read, and where the project ends.
#[derive(Clone, Debug)]
pub struct Reach {
    workspace: Arc<Workspace>,
    cwd: PathBuf,
    top: PathBuf,
}

impl Reach {
    /// The reach of a program that runs in `env`; what is closed in `workspace` is never read.
    pub fn new(env: &Env, loaded: &Loaded, workspace: Arc<Workspace>) -> Self {
        let cwd = env.cwd.canonicalize().unwrap_or_else(|_| env.cwd.clone());
        Self { workspace, cwd, top: loaded.project.reach.clone() }
    }

    /// These folders of the project, from the working directory up to the root of the repository, and then the user's.
    /// A folder of the user's is not also one of the project's, as when the program runs at home.
    pub fn places(&self, of_project: &[&str], of_user: Vec<PathBuf>) -> Vec<Place> {
        let inside = self.cwd.ancestors().take_while(|folder| folder.starts_with(&self.top));
        let project = inside.flat_map(|folder| of_project.iter().map(|name| folder.join(name)));
        let project = project.filter(|folder| !of_user.contains(folder));
        let project: Vec<_> = project.map(|folder| Place { folder, origin: Origin::Project }).collect();
        let user = of_user.into_iter().map(|folder| Place { folder, origin: Origin::User });
        project.into_iter().chain(user).collect()
    }

    /// Why what lies at a path, links followed, is not read.
    pub fn refuses(&self, path: &Path, origin: Origin) -> Option<&'static str> {
        if origin == Origin::Project && !path.starts_with(&self.top) {
            return Some("it leads out of the repository, and is not read");
        }
        (!self.workspace.may_read(path)).then_some("it is closed by sandbox.deny_read")
    }

    /// A path as people read it.
    pub fn shown(&self, path: &Path) -> String {
        self.workspace.shown(path)
    }
}

/// Said of a file of more than [`MAX_BYTES`].
const TOO_LARGE: &str = "it is larger than 1 MiB";
/// Said of a file in another encoding, or of none.
const NO_TEXT: &str = "it is no UTF-8 text";

/// The head of a file: its text up to the end of the front matter, nothing where there is none.
///
/// # Errors
///
/// Why it cannot be read, in a few words.
pub fn head(path: &Path) -> Result<String, String> {
    let mut bytes = read(path, HEAD_BYTES)?;
    if fs::metadata(path).is_ok_and(|found| found.len() > MAX_BYTES) {
        return Err(TOO_LARGE.to_owned());
    }
    // What cannot be sent later is told now, as far as it is seen; the last character may be cut apart.
    if str::from_utf8(&bytes).is_err_and(|error| error.error_len().is_some()) {
        return Err(NO_TEXT.to_owned());
    }
    if bytes.len() as u64 == HEAD_BYTES && end_of_head(&bytes).is_none() {
        bytes = read(path, MAX_BYTES + 1)?;
    }
    let end = end_of_head(&bytes).unwrap_or(bytes.len());
    bytes.truncate(end);
    text(bytes)
}

/// A whole file.
///
/// # Errors
///
/// Why it cannot be read, in a few words.
pub fn whole(path: &Path) -> Result<String, String> {
    text(read(path, MAX_BYTES + 1)?)
}

fn text(bytes: Vec<u8>) -> Result<String, String> {
    if bytes.len() as u64 > MAX_BYTES {
        return Err(TOO_LARGE.to_owned());
    }
    String::from_utf8(bytes).map_err(|_| NO_TEXT.to_owned())
}

fn read(path: &Path, most: u64) -> Result<Vec<u8>, String> {
    // A pipe would wait for ever.
    match fs::metadata(path) {
        Ok(found) if !found.is_file() => return Err("it is no regular file".to_owned()),
        Ok(_) => {}
        Err(error) => return Err(words(&error)),
    }
    let mut bytes = Vec::new();
    File::open(path).and_then(|file| file.take(most).read_to_end(&mut bytes)).map_err(|error| words(&error))?;
    Ok(bytes)
}

/// Where the front matter ends, with its fence; `None` where that is not known yet.
fn end_of_head(bytes: &[u8]) -> Option<usize> {
    const FENCE: &[u8] = b"---";
    let mut end = 0;
    for (number, line) in bytes.split_inclusive(|byte| *byte == b'\n').enumerate() {
        end += line.len();
        let line = if number == 0 { line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line) } else { line };
        match (number, line.trim_ascii_end() == FENCE) {
            (0, false) => return Some(0),
            (0, true) | (_, false) => {}
            (_, true) => return Some(end),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_ends_at_its_fence() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f.md");
        let long = format!("---\nx: {}\n---\n", "y".repeat(20_000));
        for (content, read) in [
            ("---\nname: a\n---\nbody\n", "---\nname: a\n---\n"),
            ("\u{feff}---\r\nname: a\r\n---\r\nbody", "\u{feff}---\r\nname: a\r\n---\r\n"),
            ("---\nname: a\n---", "---\nname: a\n---"),
            ("---\nname: a\n", "---\nname: a\n"),
            ("no head\n---\n", ""),
            ("", ""),
            (&format!("{long}body"), &long),
        ] {
            fs::write(&path, content).unwrap();
            assert_eq!(head(&path).unwrap(), read, "{content:.20}");
        }
    }

    #[test]
    fn what_is_no_readable_text_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f.md");
        for content in [&b"---\nname: \xff\n---\n"[..], b"---\nname: a\n---\n\xff", b"\xff\xfe-\0-\0-\0\n\0"] {
            fs::write(&path, content).unwrap();
            assert_eq!(head(&path).unwrap_err(), "it is no UTF-8 text");
        }
        fs::write(&path, vec![b'-'; (MAX_BYTES + 1) as usize]).unwrap();
        assert_eq!(whole(&path).unwrap_err(), "it is larger than 1 MiB");
        assert_eq!(head(&path).unwrap_err(), "it is larger than 1 MiB");
        assert_eq!(whole(folder.path()).unwrap_err(), "it is no regular file");
        let pipe = folder.path().join("pipe");
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        assert_eq!(head(&pipe).unwrap_err(), "it is no regular file");
        assert!(whole(&folder.path().join("none")).is_err());
    }
}
