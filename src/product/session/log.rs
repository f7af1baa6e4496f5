//! Appending to a session's file: when it comes into being, how records reach it, what happens when they do not.
//!
//! A file is made with its first message, so that a session in which nothing was said leaves nothing. Every record is
//! one `write`, begins on a fresh line, and is kept until it was written whole. Nothing here knows what records say.

use std::collections::VecDeque;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::base::jsonl::Picker;
use crate::base::lock;

use super::blob::Kept;
use super::entry::Header;
use super::name;

/// Folders are the owner's alone.
const FOLDER_MODE: u32 = 0o700;
/// Files are the owner's alone.
const FILE_MODE: u32 = 0o600;
/// How many names are tried when others begin sessions in the same second; 65,536 are possible.
const NAME_TRIES: usize = 1000;

/// Where a session's records go.
#[derive(Debug)]
pub struct Log {
    place: Place,
    backlog: VecDeque<Vec<u8>>,
    midline: bool,
    failing: bool,
    /// What records name and the disk may not have yet.
    unsynced: Vec<Arc<Kept>>,
}

#[derive(Debug)]
enum Place {
    /// Nowhere.
    Memory { id: String },
    /// A file that does not exist yet.
    Unborn(Birth),
    /// A file that is held open, and locked.
    Open(OpenFile),
}

/// A file that will be made with the first message.
#[derive(Debug)]
pub struct Birth {
    /// The folder, which may not exist yet.
    pub folder: PathBuf,
    /// The first line. Its id changes if the name is taken.
    pub header: Header,
    /// Lines of another session to begin with.
    pub copy: Option<Copied>,
}

/// Lines of a file.
#[derive(Debug)]
pub struct Copied {
    /// The file; what is in it never changes.
    pub file: File,
    /// Where the lines begin.
    pub offsets: Vec<u64>,
}

#[derive(Debug)]
struct OpenFile {
    file: Arc<File>,
    path: PathBuf,
    id: String,
    /// The folder of a file that is new, and whether its name there has been synced.
    new_in: Option<(PathBuf, Arc<AtomicBool>)>,
}

/// Brings to the disk what was written so far. May be sent to another thread, so that nobody has to wait.
#[derive(Debug, Default)]
pub struct Sync {
    blobs: Vec<Arc<Kept>>,
    file: Option<Arc<File>>,
    folder: Option<(PathBuf, Arc<AtomicBool>)>,
}

impl Sync {
    /// Whether there is nothing to wait for.
    pub fn is_empty(&self) -> bool {
        self.blobs.is_empty() && self.file.is_none() && self.folder.is_none()
    }

    /// Waits until the disk has it.
    ///
    /// # Errors
    ///
    /// When the system cannot promise it.
    pub fn run(&self) -> io::Result<()> {
        // First what the lines name, then the lines.
        self.blobs.iter().try_for_each(|kept| kept.sync())?;
        if let Some(file) = &self.file {
            file.sync_data()?;
        }
        if let Some((folder, synced)) = &self.folder {
            File::open(folder)?.sync_all()?;
            synced.store(true, Ordering::SeqCst);
        }
        Ok(())
    }
}

impl Log {
    /// Keeps nothing.
    pub fn memory(id: String) -> Self {
        Self::at(Place::Memory { id }, false)
    }

    /// Makes a file when there is something to keep.
    pub fn unborn(birth: Birth) -> Self {
        Self::at(Place::Unborn(birth), false)
    }

    /// Goes on in a file, opened for appending. `midline`: its last line has no line break.
    pub fn open(file: File, path: PathBuf, id: String, midline: bool) -> Self {
        Self::at(Place::Open(OpenFile { file: Arc::new(file), path, id, new_in: None }), midline)
    }

    fn at(place: Place, midline: bool) -> Self {
        Self { place, backlog: VecDeque::new(), midline, failing: false, unsynced: Vec::new() }
    }

    /// The session's id; final once there is a file.
    pub fn id(&self) -> &str {
        match &self.place {
            Place::Memory { id } => id,
            Place::Unborn(birth) => &birth.header.id,
            Place::Open(open) => &open.id,
        }
    }

    /// The file, once there is one.
    pub fn path(&self) -> Option<&Path> {
        match &self.place {
            Place::Memory { .. } | Place::Unborn(_) => None,
            Place::Open(open) => Some(&open.path),
        }
    }

    /// Whether records are written, now or later.
    pub fn is_kept(&self) -> bool {
        match self.place {
            Place::Memory { .. } => false,
            Place::Unborn(_) | Place::Open(_) => true,
        }
    }

    /// Remembers what the next record names: it is brought to the disk no later than that.
    pub fn names(&mut self, kept: Kept) {
        self.unsynced.push(Arc::new(kept));
    }

    /// Appends a record, given without its line break.
    ///
    /// # Errors
    ///
    /// When it could not be written: only the first time, until something is written again. What could not be written
    /// is tried again with the next record.
    pub fn append(&mut self, record: Vec<u8>) -> io::Result<()> {
        if let Place::Memory { .. } = self.place {
            return Ok(());
        }
        self.backlog.push_back(record);
        let written = self.flush();
        let known = std::mem::replace(&mut self.failing, written.is_err());
        if known { Ok(()) } else { written }
    }

    /// As [`Log::append`], but not worth making a file for.
    ///
    /// # Errors
    ///
    /// As [`Log::append`].
    pub fn append_aside(&mut self, record: Vec<u8>) -> io::Result<()> {
        match self.place {
            Place::Memory { .. } => Ok(()),
            Place::Unborn(_) => {
                self.backlog.push_back(record);
                Ok(())
            }
            Place::Open(_) => self.append(record),
        }
    }

    /// What brings to the disk what was written so far.
    pub fn sync(&mut self) -> Sync {
        match &mut self.place {
            Place::Memory { .. } | Place::Unborn(_) => Sync::default(),
            Place::Open(open) => {
                open.new_in.take_if(|(_, synced)| synced.load(Ordering::SeqCst));
                self.unsynced.retain(|kept| !kept.is_synced());
                Sync { blobs: self.unsynced.clone(), file: Some(Arc::clone(&open.file)), folder: open.new_in.clone() }
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.place {
            Place::Memory { .. } => Ok(()),
            Place::Unborn(birth) => {
                let open = bear(birth, &self.backlog)?;
                self.place = Place::Open(open);
                self.backlog.clear();
                Ok(())
            }
            Place::Open(open) => {
                while let Some(record) = self.backlog.front() {
                    let line = line(record, self.midline);
                    // Whatever a failed write left behind, the next one begins on a fresh line.
                    self.midline = true;
                    open.file.as_ref().write_all(&line)?;
                    self.midline = false;
                    self.backlog.pop_front();
                }
                Ok(())
            }
        }
    }
}

fn line(record: &[u8], midline: bool) -> Vec<u8> {
    let mut line = Vec::with_capacity(record.len() + 2);
    if midline {
        line.push(b'\n');
    }
    line.extend_from_slice(record);
    line.push(b'\n');
    line
}

/// Makes the file and writes everything it has to begin with, or leaves no file.
fn bear(birth: &mut Birth, records: &VecDeque<Vec<u8>>) -> io::Result<OpenFile> {
    DirBuilder::new().recursive(true).mode(FOLDER_MODE).create(&birth.folder)?;
    let (file, path) = create(birth)?;
    // Nobody else can hold the lock yet, unless in the instant in which they find the file empty.
    let begun = lock::exclusive(&file, Duration::ZERO).and_then(|_| write_first(&file, birth, records));
    if let Err(error) = begun {
        // Better no session than half of one; that it may stay is the lesser trouble.
        let _ = fs::remove_file(&path);
        return Err(error);
    }
    Ok(OpenFile {
        file: Arc::new(file),
        path,
        id: birth.header.id.clone(),
        new_in: Some((birth.folder.clone(), Arc::default())),
    })
}

fn create(birth: &mut Birth) -> io::Result<(File, PathBuf)> {
    for _ in 0..NAME_TRIES {
        let path = birth.folder.join(&birth.header.id).with_extension(name::EXTENSION);
        match OpenOptions::new().append(true).create_new(true).mode(FILE_MODE).open(&path) {
            Ok(file) => return Ok((file, path)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                birth.header.id = name::session_id(birth.header.created_at, fastrand::u16(..));
            }
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::new(io::ErrorKind::AlreadyExists, "no free name for a session"))
}

fn write_first(file: &File, birth: &Birth, records: &VecDeque<Vec<u8>>) -> io::Result<()> {
    let mut first = line(&serde_json::to_vec(&birth.header)?, false);
    let Some(copy) = &birth.copy else {
        // One write: a header never stands alone.
        records.iter().for_each(|record| first.extend(line(record, false)));
        return (&mut &*file).write_all(&first);
    };
    let mut file = BufWriter::new(file);
    file.write_all(&first)?;
    let mut picker = Picker::new(&copy.file)?;
    for offset in &copy.offsets {
        file.write_all(picker.bytes(*offset)?)?;
        file.write_all(b"\n")?;
    }
    for record in records {
        file.write_all(&line(record, false))?;
    }
    file.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(id: &str) -> Header {
        let text = |text: &str| text.to_owned();
        Header {
            version: 1,
            id: text(id),
            created_at: 0,
            cwd: text("/"),
            provider: text("p"),
            model: text("m"),
            parent: None,
        }
    }

    #[test]
    fn what_fails_is_reported_once_and_tried_again() {
        let folder = tempfile::tempdir().unwrap();
        let blocked = folder.path().join("sessions");
        fs::write(&blocked, "a file where the folder should be").unwrap();
        let mut log = Log::unborn(Birth { folder: blocked.join("x"), header: header("i"), copy: None });
        assert!(log.append(b"1".to_vec()).is_err());
        assert!(log.append(b"2".to_vec()).is_ok(), "known already");
        fs::remove_file(&blocked).unwrap();
        log.append(b"3".to_vec()).unwrap();
        let text = fs::read_to_string(log.path().unwrap()).unwrap();
        assert_eq!(text.lines().skip(1).collect::<Vec<_>>(), ["1", "2", "3"]);
        log.sync().run().unwrap();
    }

    #[test]
    fn a_full_disk_never_glues_records_together() {
        // Writing to /dev/full always fails; the log has to remember that it may be in the middle of a line.
        let full = OpenOptions::new().append(true).open("/dev/full").unwrap();
        let mut log = Log::open(full, PathBuf::new(), "i".into(), false);
        assert!(log.append(b"1".to_vec()).is_err());
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), "half").unwrap();
        let good = OpenOptions::new().append(true).open(file.path()).unwrap();
        log.place =
            Place::Open(OpenFile { file: Arc::new(good), path: PathBuf::new(), id: String::new(), new_in: None });
        log.append(b"2".to_vec()).unwrap();
        assert_eq!(fs::read_to_string(file.path()).unwrap(), "half\n1\n2\n");
    }

    #[test]
    fn memory_keeps_nothing_and_never_fails() {
        let mut log = Log::memory("i".into());
        log.append(b"1".to_vec()).unwrap();
        assert_eq!((log.id(), log.path()), ("i", None));
        log.sync().run().unwrap();
    }
}
