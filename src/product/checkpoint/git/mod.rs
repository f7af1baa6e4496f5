//! What git keeps already need not be copied: clean tracked files are known by git's own ids, and read from it when they
//! are needed.
//!
//! Git is only ever asked for objects, in a few seconds at most; it writes nothing, runs no hooks or filters, and fetches
//! nothing. Where there is no git, or anything about it is unusual, its files are kept like all others.

mod staged;

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use crate::base::env::Env;
use crate::product::repository;

use super::index::Stamp;
use super::state::Name;
pub use staged::Staged;

/// How long git may take to look for objects. It needs a tenth of a second for ten thousand.
const PATIENCE: Duration = Duration::from_secs(5);
/// The largest index that is read, in bytes: some hundred thousand files.
const INDEX_BYTES: u64 = 64 << 20;
/// The most of an attributes file that is looked at, in bytes.
const ATTRIBUTES_BYTES: u64 = 256 << 10;
/// How coarse the time stamps of file systems are at most, in nanoseconds: what was changed so shortly before git looked
/// may have been changed once more after.
const COARSE_NANOS: i64 = 20_000_000;
/// The kind bits of a mode, and those of a regular file.
const KIND_BITS: u32 = 0o170_000;
const REGULAR: u32 = 0o100_000;

/// The program, and what it may know.
#[derive(Clone, Debug)]
pub struct Git {
    program: PathBuf,
    path: OsString,
    home: Option<PathBuf>,
}

impl Git {
    /// Git as it is found in the surroundings.
    pub fn find(env: &Env) -> Option<Self> {
        let path = env.vars.get(std::ffi::OsStr::new("PATH"))?;
        let program = std::env::split_paths(path)
            .filter(|folder| folder.is_absolute())
            .map(|folder| folder.join("git"))
            .find(|program| program.is_file())?;
        Some(Self { program, path: path.clone(), home: env.home.clone() })
    }

    /// Reads objects; those that are missing are left out.
    ///
    /// # Errors
    ///
    /// When git cannot be run, takes too long, or says something strange.
    pub fn objects(&self, root: &Path, ids: &[String]) -> io::Result<HashMap<String, Vec<u8>>> {
        let strange = || io::Error::new(io::ErrorKind::InvalidData, "git answered in an unknown way");
        let said = self.ask(root, &["cat-file", "--batch"], ids)?;
        let mut found = HashMap::new();
        let mut rest = said.as_slice();
        while !rest.is_empty() {
            let end = rest.iter().position(|byte| *byte == b'\n').ok_or_else(strange)?;
            let (line, after) = rest.split_at_checked(end).ok_or_else(strange)?;
            let after = after.get(1..).unwrap_or_default();
            let words: Vec<&str> = std::str::from_utf8(line).map_err(|_| strange())?.split(' ').collect();
            rest = match words.as_slice() {
                [id, "blob", bytes] => {
                    let bytes: usize = bytes.parse().map_err(|_| strange())?;
                    let (content, after) = after.split_at_checked(bytes).ok_or_else(strange)?;
                    found.insert((*id).to_owned(), content.to_vec());
                    after.get(1..).unwrap_or_default()
                }
                [_, "missing"] => after,
                _ => return Err(strange()),
            };
        }
        Ok(found)
    }

    /// How many bytes each object holds; those that are missing are left out.
    fn sizes(&self, root: &Path, ids: &[String]) -> io::Result<HashMap<String, u64>> {
        let said = self.ask(root, &["cat-file", "--buffer", "--batch-check=%(objectname) %(objectsize)"], ids)?;
        let lines = String::from_utf8_lossy(&said);
        Ok(lines.lines().filter_map(|line| line.split_once(' ')).filter_map(sized).collect())
    }

    fn ask(&self, root: &Path, arguments: &[&str], ids: &[String]) -> io::Result<Vec<u8>> {
        let mut asked = tempfile::tempfile()?;
        asked.write_all(ids.join("\n").as_bytes())?;
        asked.write_all(b"\n")?;
        asked.rewind()?;
        let mut command = Command::new(&self.program);
        command.arg("-C").arg(root).args(arguments).env_clear().env("PATH", &self.path);
        command.envs([("GIT_NO_LAZY_FETCH", "1"), ("GIT_OPTIONAL_LOCKS", "0"), ("GIT_TERMINAL_PROMPT", "0")]);
        if let Some(home) = &self.home {
            command.env("HOME", home);
        }
        command.stdin(asked).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn()?;
        let Some(mut output) = child.stdout.take() else { return Err(io::ErrorKind::BrokenPipe.into()) };
        let (tell, told) = mpsc::channel();
        std::thread::spawn(move || {
            let mut said = Vec::new();
            let read = output.read_to_end(&mut said).map(|_| said);
            let _ = tell.send(read);
        });
        let said = told.recv_timeout(PATIENCE);
        if said.is_err() {
            let _ = child.kill();
        }
        let status = child.wait()?;
        match said {
            Ok(said) if status.success() => said,
            Ok(_) => Err(io::Error::other("git failed")),
            Err(_) => Err(io::ErrorKind::TimedOut.into()),
        }
    }
}

fn sized((id, size): (&str, &str)) -> Option<(String, u64)> {
    Some((id.to_owned(), size.parse().ok()?))
}

fn hex(id: &[u8]) -> String {
    id.iter().fold(String::with_capacity(2 * id.len()), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// What git knows of a work tree.
#[derive(Debug, Default)]
pub struct Tracked {
    files: BTreeMap<Name, Staged>,
    /// When the index was written, in nanoseconds since 1970.
    written: i64,
}

impl Tracked {
    /// Reads the index of the repository at `root`; without one, or with one that is not understood, nothing is tracked.
    pub fn read(root: &Path) -> Self {
        let Some(folder) = repository::git_folder(root) else { return Self::default() };
        let read = || -> io::Result<(Vec<u8>, i64)> {
            let file = File::open(folder.join("index"))?;
            let found = file.metadata()?;
            let mut bytes = Vec::new();
            file.take(INDEX_BYTES).read_to_end(&mut bytes)?;
            Ok((bytes, found.mtime().saturating_mul(1_000_000_000).saturating_add(found.mtime_nsec())))
        };
        let Ok((bytes, written)) = read() else { return Self::default() };
        Self { files: staged::read(&bytes).unwrap_or_default(), written }
    }

    /// Whether some tracked file lies below a folder.
    pub fn has_below(&self, folder: &Path) -> bool {
        staged::has_below(&self.files, folder)
    }

    /// The paths of all tracked files and links.
    pub fn paths(&self) -> impl Iterator<Item = &Name> {
        self.files.iter().filter(|(_, file)| file.mode & KIND_BITS != 0o160_000).map(|(path, _)| path)
    }

    /// The ids, in hexadecimal, of those files that are as git saw them, whose contents git has, and in whose contents it
    /// changes nothing on their way to the disk.
    pub fn clean<'f>(
        &self,
        git: &Git,
        root: &Path,
        files: impl Iterator<Item = (&'f Name, &'f Stamp)>,
    ) -> HashMap<Name, String> {
        let clean: Vec<(&Name, &Stamp, String)> =
            files.filter_map(|(path, stamp)| Some((path, stamp, self.id_of(path, stamp)?))).collect();
        if clean.is_empty() || self.has_filters(root) {
            return HashMap::new();
        }
        let ids: Vec<String> = clean.iter().map(|(_, _, id)| id.clone()).collect();
        let sizes = git.sizes(root, &ids).unwrap_or_default();
        // Where ends of lines or an encoding are changed on the way, the sizes differ.
        let same = clean.into_iter().filter(|(_, stamp, id)| sizes.get(id) == Some(&stamp.bytes));
        same.map(|(path, _, id)| (path.clone(), id)).collect()
    }

    /// The id of a file that is as git saw it.
    fn id_of(&self, path: &Name, stamp: &Stamp) -> Option<String> {
        let Staged { modified, inode, bytes, mode, id } = self.files.get(path)?;
        #[expect(clippy::cast_possible_truncation, reason = "git keeps the lower half")]
        let halves = (stamp.inode as u32, stamp.bytes as u32);
        let is_same = *modified == stamp.modified && (*inode, *bytes) == halves && mode & KIND_BITS == REGULAR;
        let is_settled = *modified < self.written - COARSE_NANOS;
        (is_same && is_settled && !id.is_empty()).then(|| hex(id))
    }

    /// Whether programs change contents on their way to the disk (gitattributes(5)).
    fn has_filters(&self, root: &Path) -> bool {
        let tracked = self.files.keys().filter(|path| path.0.ends_with(".gitattributes")).map(|path| root.join(path));
        let own = repository::git_folder(root).map(|folder| folder.join("info/attributes"));
        tracked.chain(own).any(|path| {
            let mut text = Vec::new();
            let is_plain = fs::symlink_metadata(&path).is_ok_and(|found| found.is_file());
            let read = is_plain
                && File::open(path).is_ok_and(|file| file.take(ATTRIBUTES_BYTES).read_to_end(&mut text).is_ok());
            read && memchr::memmem::find(&text, b"filter").is_some()
        })
    }
}
