//! Keeping the whole of a long output in a file. Begins only when it is needed, and a full disk stops it, not the command.
//!
//! Knows nothing of what it keeps; what it shows of it is decided elsewhere.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::base::text::cut;

/// The most that is kept of one call, in bytes: what a person may still open in an editor.
const CALL_CAP: u64 = 64 << 20;

/// The most that is kept in all, in bytes: a small part of any disk.
const FOLDER_CAP: u64 = 1 << 30;

/// Closes a file that was cut at [`CALL_CAP`].
const CUT_NOTE: &[u8] = b"\n[... the output goes on; no more than 64 MB of a call are kept ...]\n";

/// A file that receives an output from its first byte on, once it has begun.
#[derive(Debug)]
pub struct Spill {
    folder: PathBuf,
    state: State,
}

#[derive(Debug)]
enum State {
    /// Nothing is kept.
    Never,
    /// Nothing was written yet.
    Waiting,
    /// Takes what comes.
    Writing { file: io::BufWriter<File>, path: PathBuf, written: u64 },
    /// Has as much as one call may keep.
    Full { path: PathBuf },
    /// The disk refused; nothing is left behind.
    Failed(io::Error),
}

impl Spill {
    /// A spill into a new file of `folder`. Touches the disk only in [`Spill::begin`].
    pub fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), state: State::Waiting }
    }

    /// A spill that keeps nothing.
    pub fn never() -> Self {
        Self { folder: PathBuf::new(), state: State::Never }
    }

    /// One that is as this one was before it began.
    pub fn another(&self) -> Self {
        match &self.state {
            State::Never => Self::never(),
            State::Waiting | State::Writing { .. } | State::Full { .. } | State::Failed(_) => Self::new(&self.folder),
        }
    }

    /// Opens the file and writes what came so far. Does nothing the second time.
    pub fn begin(&mut self, so_far: &[&str]) {
        if !matches!(self.state, State::Waiting) {
            return;
        }
        make_room(&self.folder);
        self.state = match create(&self.folder) {
            Ok((file, path)) => State::Writing { file: io::BufWriter::new(file), path, written: 0 },
            Err(error) => State::Failed(error),
        };
        for text in so_far {
            self.write(text);
        }
    }

    /// Adds to the file, if it has begun.
    pub fn write(&mut self, text: &str) {
        let State::Writing { file, path, written } = &mut self.state else { return };
        let room = usize::try_from(CALL_CAP - *written).unwrap_or(usize::MAX);
        let kept = cut::head_bytes(text, room);
        let is_full = kept.len() < text.len();
        *written += kept.len() as u64;
        let mut done = file.write_all(kept.as_bytes());
        if is_full {
            done = done.and_then(|()| file.write_all(CUT_NOTE)).and_then(|()| file.flush());
        }
        if let Err(error) = done {
            self.fail(error);
        } else if is_full {
            let path = std::mem::take(path);
            self.state = State::Full { path };
        }
    }

    /// Ends the file. The path of a file that holds the output; `None` where none was begun.
    ///
    /// # Errors
    ///
    /// What the disk said when it refused; no file is left then.
    pub fn finish(mut self) -> io::Result<Option<PathBuf>> {
        if let State::Writing { file, .. } = &mut self.state
            && let Err(error) = file.flush()
        {
            self.fail(error);
        }
        match self.state {
            State::Writing { path, .. } | State::Full { path } => Ok(Some(path)),
            State::Waiting | State::Never => Ok(None),
            State::Failed(error) => Err(error),
        }
    }

    fn fail(&mut self, error: io::Error) {
        if let State::Writing { file, path, .. } = std::mem::replace(&mut self.state, State::Failed(error)) {
            // Not flushed again: the disk has just refused.
            drop(file.into_parts());
            let _ = fs::remove_file(path);
        }
    }
}

fn create(folder: &Path) -> io::Result<(File, PathBuf)> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    loop {
        let path = folder.join(format!("{:08x}.txt", fastrand::u32(..)));
        match OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path) {
            Ok(file) => return Ok((file, path)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}

/// Removes the oldest files until one more call fits under [`FOLDER_CAP`]. What cannot be removed stays.
fn make_room(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let files = entries.flatten().filter_map(|entry| {
        let meta = entry.metadata().ok().filter(fs::Metadata::is_file)?;
        Some((meta.modified().unwrap_or(SystemTime::UNIX_EPOCH), meta.len(), entry.path()))
    });
    for path in oldest_over(files.collect(), FOLDER_CAP - CALL_CAP) {
        let _ = fs::remove_file(path);
    }
}

/// The oldest files without which the others take at most `cap` bytes.
fn oldest_over(mut files: Vec<(SystemTime, u64, PathBuf)>, cap: u64) -> Vec<PathBuf> {
    let mut total: u64 = files.iter().map(|(_, length, _)| length).sum();
    files.sort_unstable();
    let mut removed = Vec::new();
    for (_, length, path) in files {
        if total <= cap {
            break;
        }
        total -= length;
        removed.push(path);
    }
    removed
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;
    use std::time::Duration;

    #[test]
    fn a_spill_is_private_and_whole() {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("data/output");
        let mut spill = Spill::new(&output);
        spill.write("lost: not begun");
        assert!(!output.exists());
        spill.begin(&["one ", "two "]);
        spill.begin(&["not twice"]);
        spill.write("three");
        let path = spill.finish().unwrap().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "one two three");
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!([mode(&path), mode(&output), mode(output.parent().unwrap())], [0o600, 0o700, 0o700]);
        assert_eq!(Spill::new(&output).finish().unwrap(), None);
    }

    #[test]
    fn a_call_keeps_no_more_than_its_cap() {
        let folder = tempfile::tempdir().unwrap();
        let mut spill = Spill::new(folder.path());
        spill.begin(&[]);
        let piece = "é".repeat(1 << 19);
        for _ in 0..70 {
            spill.write(&piece);
        }
        let path = spill.finish().unwrap().unwrap();
        assert_eq!(fs::metadata(&path).unwrap().len(), CALL_CAP + CUT_NOTE.len() as u64);
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_told_at_the_end() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        let mut spill = Spill::new(&file.join("output"));
        spill.begin(&["x"]);
        spill.write("y");
        assert_eq!(spill.finish().unwrap_err().kind(), io::ErrorKind::NotADirectory);
    }

    #[test]
    fn a_full_disk_leaves_no_half_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("half");
        fs::write(&path, "half").unwrap();
        let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let state = State::Writing { file: io::BufWriter::new(full), path: path.clone(), written: 0 };
        let mut spill = Spill { folder: folder.path().to_owned(), state };
        spill.write(&"x".repeat(100_000));
        spill.write("more");
        assert_eq!(spill.finish().unwrap_err().kind(), io::ErrorKind::StorageFull);
        assert!(!path.exists());
    }

    #[test]
    fn the_oldest_go_first() {
        let file = |age: u64, length| {
            (SystemTime::UNIX_EPOCH + Duration::from_secs(100 - age), length, PathBuf::from(age.to_string()))
        };
        let files = vec![file(1, 40), file(3, 30), file(2, 30)];
        assert_eq!(oldest_over(files.clone(), 100), Vec::<PathBuf>::new());
        assert_eq!(oldest_over(files.clone(), 70), [PathBuf::from("3")]);
        assert_eq!(oldest_over(files, 69), [PathBuf::from("3"), PathBuf::from("2")]);
    }
}
