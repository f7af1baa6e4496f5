//! Appending to a session's file: when it comes into being, how records reach it, what happens when they do not.
//!
//! A file is made with its first message, so that a session in which nothing was said leaves nothing; a copy appears
//! under its name only once it is whole. Every record is one `write`, begins on a fresh line, and is kept until it was
//! written whole; what a failed write left of it is taken back. Nothing here knows what records say.

use std::collections::VecDeque;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
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
/// The ending of a copy that is being made.
pub(super) const FRESH: &str = "new";
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
            match File::open(folder) {
                // Removed with the file in it, which the next record tells.
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
                folder => folder?.sync_all()?,
            }
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

    /// Whether nothing waits to be written to a file that is there.
    pub fn is_written(&self) -> bool {
        self.backlog.is_empty() || !matches!(self.place, Place::Open(_))
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

    /// Makes the file of a copy now, although nothing was said in it yet.
    ///
    /// # Errors
    ///
    /// When it cannot be made; it is tried again with the first record.
    pub fn make_copy(&mut self) -> io::Result<()> {
        match &self.place {
            Place::Unborn(Birth { copy: Some(_), .. }) => self.flush(),
            Place::Unborn(Birth { copy: None, .. }) | Place::Memory { .. } | Place::Open(_) => Ok(()),
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
                open.is_there()?;
                while let Some(record) = self.backlog.front() {
                    if let Err(Unwritten { error, left_over }) = write(&open.file, &line(record, self.midline)) {
                        // Whatever could not be taken back, the next one begins on a fresh line.
                        self.midline |= left_over;
                        return Err(error);
                    }
                    self.midline = false;
                    self.backlog.pop_front();
                }
                Ok(())
            }
        }
    }
}

impl OpenFile {
    /// Whether the file still has a name: what is written to one without vanishes with this process.
    fn is_there(&self) -> io::Result<()> {
        // Some file systems count no links.
        if self.file.metadata()?.nlink() == 0 && !self.path.exists() {
            return Err(io::Error::new(io::ErrorKind::NotFound, "its file was removed"));
        }
        Ok(())
    }
}

/// Why a line was not written, and whether a part of it is in the file.
struct Unwritten {
    error: io::Error,
    left_over: bool,
}

/// Writes a line whole, or takes back what was written of it.
fn write(mut file: &File, line: &[u8]) -> Result<(), Unwritten> {
    let mut rest = line;
    let error = loop {
        match file.write(rest) {
            Ok(0) => break io::ErrorKind::WriteZero.into(),
            Ok(count) => rest = rest.get(count..).unwrap_or_default(),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => break error,
        }
        if rest.is_empty() {
            return Ok(());
        }
    };
    let written = (line.len() - rest.len()) as u64;
    let take_back = || file.set_len(file.metadata()?.len().saturating_sub(written));
    Err(Unwritten { error, left_over: written > 0 && take_back().is_err() })
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
    let begun = match &birth.copy {
        // Nobody else can hold the lock yet, unless in the instant in which they find the file empty.
        None => lock::exclusive(&file, Duration::ZERO).and_then(|_| write_first(&file, birth, records)).map(|()| file),
        Some(copy) => copied(copy, &path, birth, records),
    };
    match begun {
        Ok(file) => {
            let (id, new_in) = (birth.header.id.clone(), Some((birth.folder.clone(), Arc::default())));
            Ok(OpenFile { file: Arc::new(file), path, id, new_in })
        }
        Err(error) => {
            // Better no session than half of one; that it may stay is the lesser trouble.
            let _ = fs::remove_file(&path);
            Err(error)
        }
    }
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

/// One write: a header never stands alone.
fn write_first(mut file: &File, birth: &Birth, records: &VecDeque<Vec<u8>>) -> io::Result<()> {
    let mut first = line(&serde_json::to_vec(&birth.header)?, false);
    records.iter().for_each(|record| first.extend(line(record, false)));
    file.write_all(&first)
}

/// Makes a copy beside its place and puts it there, over the empty file that keeps the name, once it is whole: half a
/// copy would be taken for the newest session after a crash.
fn copied(copy: &Copied, path: &Path, birth: &Birth, records: &VecDeque<Vec<u8>>) -> io::Result<File> {
    let fresh = path.with_extension(FRESH);
    let file = OpenOptions::new().append(true).create_new(true).mode(FILE_MODE).open(&fresh)?;
    let written = (|| {
        lock::exclusive(&file, Duration::ZERO)?;
        let mut lines = BufWriter::new(&file);
        lines.write_all(&line(&serde_json::to_vec(&birth.header)?, false))?;
        let mut picker = Picker::new(&copy.file)?;
        for offset in &copy.offsets {
            lines.write_all(picker.bytes(*offset)?)?;
            lines.write_all(b"\n")?;
        }
        for record in records {
            lines.write_all(&line(record, false))?;
        }
        lines.flush()?;
        fs::rename(&fresh, path)
    })();
    if let Err(error) = written {
        let _ = fs::remove_file(&fresh);
        return Err(error);
    }
    Ok(file)
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
            imported: None,
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
    fn a_full_disk_leaves_nothing_behind() {
        let full = OpenOptions::new().append(true).open("/dev/full").unwrap();
        let mut log = Log::open(full, "/dev/full".into(), "i".into(), false);
        assert_eq!(log.append(b"1".to_vec()).unwrap_err().kind(), io::ErrorKind::StorageFull);
        assert!(!log.midline);
    }

    #[test]
    fn half_a_record_that_stays_is_never_glued_to_the_next() {
        // A pipe takes a part of what it has no room for, and gives nothing back.
        let (reader, writer) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::NONBLOCK).unwrap();
        let (mut reader, writer) = (File::from(reader), File::from(writer));
        let mut log = Log::open(writer, "/dev/null".into(), "i".into(), false);
        let big = vec![b'x'; 1 << 20];
        assert_eq!(log.append(big.clone()).unwrap_err().kind(), io::ErrorKind::WouldBlock);
        let mut taken = vec![0; 1 << 20];
        let half = io::Read::read(&mut reader, &mut taken).unwrap();
        assert!(half > 0 && half < big.len());
        log.backlog.clear();
        log.append(b"2".to_vec()).unwrap();
        let next = io::Read::read(&mut reader, &mut taken).unwrap();
        assert_eq!(&taken[..next], b"\n2\n");
    }

    #[test]
    fn a_copy_appears_whole_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let original = folder.path().join("original");
        fs::write(&original, "{\"a\":1}\n{\"b\":2}\n").unwrap();
        let born = |file: io::Result<File>| {
            let copy = Some(Copied { file: file.unwrap(), offsets: vec![8] });
            let mut log = Log::unborn(Birth { folder: folder.path().join("sessions"), header: header("i"), copy });
            (log.append(b"3".to_vec()), log)
        };
        let names = || {
            let entries = fs::read_dir(folder.path().join("sessions")).unwrap();
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect::<Vec<_>>()
        };
        let unreadable = OpenOptions::new().append(true).open(&original);
        assert!(born(unreadable).0.is_err());
        assert_eq!(names(), Vec::<String>::new());
        let (written, log) = born(File::open(&original));
        written.unwrap();
        assert_eq!(names(), ["i.jsonl"]);
        let text = fs::read_to_string(log.path().unwrap()).unwrap();
        assert_eq!(text.lines().skip(1).collect::<Vec<_>>(), ["{\"b\":2}", "3"]);
        let other = OpenOptions::new().append(true).open(log.path().unwrap()).unwrap();
        assert!(!lock::exclusive(&other, Duration::ZERO).unwrap(), "it is held under its new name");
    }

    #[test]
    fn a_removed_file_is_told_of() {
        let folder = tempfile::tempdir().unwrap();
        let birth = Birth { folder: folder.path().to_owned(), header: header("i"), copy: None };
        let mut log = Log::unborn(birth);
        log.append(b"1".to_vec()).unwrap();
        fs::remove_file(log.path().unwrap()).unwrap();
        assert!(log.append(b"2".to_vec()).unwrap_err().to_string().contains("removed"));
        log.append(b"3".to_vec()).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn memory_keeps_nothing_and_never_fails() {
        let mut log = Log::memory("i".into());
        log.append(b"1".to_vec()).unwrap();
        assert_eq!((log.id(), log.path()), ("i", None));
        log.sync().run().unwrap();
    }
}
