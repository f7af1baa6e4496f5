//! A file that many processes append lines to, in a bounded place: when it is full it becomes the newest of the old ones,
//! and the oldest goes.
//!
//! `NAME.log` is written, `NAME.1.log` is the newest of the old ones. Nothing here knows what the lines say, and nothing is
//! opened before there is one.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::lock;

/// Folders are the owner's alone.
const FOLDER_MODE: u32 = 0o700;
/// Files are the owner's alone.
const FILE_MODE: u32 = 0o600;

/// How much is kept.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// A file of so many bytes is full; it may be larger by what is written at once.
    pub file_bytes: u64,
    /// How many full ones stay.
    pub old_files: u32,
}

/// The end of the file, as one process sees it.
#[derive(Debug)]
pub struct Rolling {
    folder: PathBuf,
    name: &'static str,
    bounds: Bounds,
    open: Option<File>,
    /// Whether the last write was cut off in the middle of a line.
    midline: bool,
}

impl Rolling {
    /// The file `name`.log of a folder, neither of which need exist.
    pub fn new(folder: &Path, name: &'static str, bounds: Bounds) -> Self {
        Self { folder: folder.to_owned(), name, bounds, open: None, midline: false }
    }

    /// Appends whole lines in one write, so that those of other processes stand before or behind them.
    ///
    /// # Errors
    ///
    /// Whatever the system says; the lines are lost then, or a part of them.
    pub fn append(&mut self, lines: &[u8]) -> io::Result<()> {
        let mut file = self.current()?;
        if file.metadata()?.len() >= self.bounds.file_bytes && self.roll(&file)? {
            drop(file);
            file = self.current()?;
        }
        let text = if self.midline { [b"\n", lines].concat() } else { lines.to_owned() };
        self.midline = true;
        file.write_all(&text)?;
        self.midline = false;
        self.open = Some(file);
        Ok(())
    }

    /// The file that has the name now; another process may have put a new one there.
    fn current(&mut self) -> io::Result<File> {
        let path = self.path(0);
        if let Some(file) = self.open.take()
            && is_at(&file, &path)
        {
            return Ok(file);
        }
        self.midline = false;
        // A pipe in its place would be waited for.
        let nonblocking = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
        let mut options = OpenOptions::new();
        options.append(true).create(true).mode(FILE_MODE).custom_flags(nonblocking);
        match options.open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                DirBuilder::new().recursive(true).mode(FOLDER_MODE).create(&self.folder)?;
                options.open(&path)
            }
            opened => opened,
        }
    }

    /// Moves all files on by one. `false` where another process is doing it, or has done it: its lock is on the file that
    /// is full.
    fn roll(&self, full: &File) -> io::Result<bool> {
        if !lock::exclusive(full, Duration::ZERO)? {
            return Ok(false);
        }
        if is_at(full, &self.path(0)) {
            // The last one goes by being replaced.
            for number in (0..self.bounds.old_files).rev() {
                match fs::rename(self.path(number), self.path(number + 1)) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                    Ok(()) | Err(_) => {}
                }
            }
        }
        Ok(true)
    }

    fn path(&self, number: u32) -> PathBuf {
        let name = self.name;
        self.folder.join(if number == 0 { format!("{name}.log") } else { format!("{name}.{number}.log") })
    }
}

fn is_at(file: &File, path: &Path) -> bool {
    let (Ok(file), Ok(there)) = (file.metadata(), path.metadata()) else { return false };
    (file.dev(), file.ino()) == (there.dev(), there.ino())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use std::os::unix::fs::PermissionsExt;

    const SMALL: Bounds = Bounds { file_bytes: 1000, old_files: 3 };

    /// The files by their names.
    fn files(folder: &Path) -> BTreeMap<String, String> {
        let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.map(|name| (name.clone(), fs::read_to_string(folder.join(name)).unwrap())).collect()
    }

    #[test]
    fn the_oldest_go_and_nothing_is_torn() {
        let folder = tempfile::tempdir().unwrap();
        let logs = folder.path().join("data/logs");
        let mut rolling = Rolling::new(&logs, "agent", SMALL);
        assert!(!logs.exists());
        (0..1000).for_each(|number| rolling.append(format!("{number:09}\n").as_bytes()).unwrap());
        let files = files(&logs);
        assert_eq!(files.keys().collect::<Vec<_>>(), ["agent.1.log", "agent.2.log", "agent.3.log", "agent.log"]);
        let whole: String =
            ["agent.3.log", "agent.2.log", "agent.1.log", "agent.log"].map(|name| &*files[name]).concat();
        assert_eq!(whole.len(), 4000);
        assert_eq!(whole, (600..1000).map(|number| format!("{number:09}\n")).collect::<String>());
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(
            [mode(&logs), mode(&logs.join("agent.log")), mode(&logs.join("agent.1.log"))],
            [0o700, 0o600, 0o600]
        );
    }

    #[test]
    fn many_writers_lose_no_line_and_roll_once() {
        const WRITERS: usize = 5;
        const LINES: usize = 400;
        let bounds = Bounds { file_bytes: 5000, old_files: 50 };
        let folder = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for writer in 0..WRITERS {
                let mut rolling = Rolling::new(folder.path(), "agent", bounds);
                scope.spawn(move || {
                    (0..LINES).for_each(|line| rolling.append(format!("{writer} {line:07}\n").as_bytes()).unwrap());
                });
            }
        });
        let files = files(folder.path());
        // Whoever still holds a full file may add to it; no file is begun for nothing.
        assert!(files.len() <= WRITERS * LINES * 10 / 5000 + 1, "{:?}", files.keys());
        let mut lines: Vec<&str> = files.values().flat_map(|text| text.lines()).collect();
        lines.sort_unstable();
        let expected = (0..WRITERS).flat_map(|writer| (0..LINES).map(move |line| format!("{writer} {line:07}")));
        assert_eq!(lines, expected.collect::<Vec<_>>());
    }

    #[test]
    fn what_cannot_be_written_is_lost_and_what_follows_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let logs = folder.path().join("logs");
        fs::write(&logs, "in the way").unwrap();
        let mut rolling = Rolling::new(&logs, "agent", SMALL);
        assert!(rolling.append(b"one\n").is_err());
        fs::remove_file(&logs).unwrap();
        rolling.append(b"two\n").unwrap();
        rolling.open = Some(OpenOptions::new().append(true).open("/dev/full").unwrap());
        fs::remove_file(logs.join("agent.log")).unwrap();
        std::os::unix::fs::symlink("/dev/full", logs.join("agent.log")).unwrap();
        assert!(rolling.append(b"three\n").is_err());
        fs::remove_file(logs.join("agent.log")).unwrap();
        rolling.append(b"four\n").unwrap();
        assert_eq!(fs::read_to_string(logs.join("agent.log")).unwrap(), "four\n");
    }
}
