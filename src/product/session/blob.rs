//! Content that is too long for a line, kept once under its hash: `blobs/<2 hex>/<62 hex>`, by SHA-256.
//!
//! A blob is whole or not there: it is written beside its name and renamed. What it holds is checked when it is read.
//! Blobs are removed only by [`Blobs::sweep`], and nothing here knows what they are needed for.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::UNIX_EPOCH;

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use ring::digest::{SHA256, digest};
use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, UTIME_NOW, UTIME_OMIT, utimensat};
use serde_json::Value;

use crate::base::json::Object;
use crate::base::path::is_absent;
use crate::product::files::create_folder;

/// Content of more bytes is kept outside of the line that holds it. A picture counts as its file, a text as UTF-8.
pub const INLINE_BYTES: usize = 16 * 1024;
/// How long a blob is safe that nothing names: the line for it may be on its way, in a process that waits for a disk
/// with room.
pub const SAFE_MS: i64 = 24 * 60 * 60 * 1000;
/// Blobs are the owner's alone.
const FILE_MODE: u32 = 0o600;
/// How many hexadecimal digits of a hash name the folder: 256 folders keep each one small.
const FOLDER_DIGITS: usize = 2;
/// Marks what is being written and what is being removed; no hash has one.
const ASIDE: char = '.';

/// The blobs of one user.
#[derive(Clone, Debug)]
pub struct Blobs {
    root: PathBuf,
}

/// A blob that was put where it belongs.
#[derive(Debug)]
pub struct Kept {
    /// Its hash: 64 lower-case hexadecimal digits.
    pub hash: String,
    path: PathBuf,
    synced: AtomicBool,
}

/// A blob that is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blob {
    /// Its hash.
    pub hash: String,
    /// How long it is.
    pub bytes: u64,
    /// When it was last put there, in milliseconds since 1970.
    pub modified: i64,
}

/// What was removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// How many blobs.
    pub blobs: u64,
    /// How many bytes they had together.
    pub bytes: u64,
}

impl Kept {
    /// Waits until the disk has it; at once where it did so before.
    ///
    /// # Errors
    ///
    /// When the system cannot promise it.
    pub fn sync(&self) -> io::Result<()> {
        if self.is_synced() {
            return Ok(());
        }
        File::open(&self.path)?.sync_data()?;
        // Its name, and that of its folder.
        for folder in self.path.ancestors().skip(1).take(2) {
            File::open(folder)?.sync_all()?;
        }
        self.synced.store(true, Ordering::SeqCst);
        Ok(())
    }

    /// Whether the disk has it.
    pub fn is_synced(&self) -> bool {
        self.synced.load(Ordering::SeqCst)
    }
}

/// The hash of some content: 64 lower-case hexadecimal digits.
pub fn hash(content: &[u8]) -> String {
    let mut hash = String::with_capacity(64);
    for byte in digest(&SHA256, content).as_ref() {
        let _ = write!(hash, "{byte:02x}");
    }
    hash
}

/// Whether a text has the form of a hash.
pub fn is_hash(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

impl Blobs {
    /// The blobs under `data_dir`, which need not exist yet.
    pub fn new(data_dir: &Path) -> Self {
        Self { root: data_dir.join("blobs") }
    }

    /// Keeps some content. What is there already is not written again, and counts as young from now on.
    ///
    /// # Errors
    ///
    /// When it cannot be written; nothing is left of it then.
    pub fn put(&self, content: &[u8]) -> io::Result<Kept> {
        let hash = hash(content);
        let (folder, name) = hash.split_at(FOLDER_DIGITS);
        let folder = self.root.join(folder);
        let path = folder.join(name);
        if !renew(&path, content) {
            match write(&folder, &path, content) {
                // A sweep found the folder empty.
                Err(error) if is_absent(&error) => write(&folder, &path, content)?,
                written => written?,
            }
        }
        Ok(Kept { hash, path, synced: AtomicBool::new(false) })
    }

    /// What a text or picture on disk holds, in place of its hash: a record as it was before it was written. What is
    /// missing stays a hash.
    pub fn filled(&self, record: &Value) -> Value {
        match record {
            Value::Array(items) => items.iter().map(|item| self.filled(item)).collect(),
            Value::Object(object) => {
                let mut filled: Object = object.iter().map(|(key, value)| (key.clone(), self.filled(value))).collect();
                let content = filled.get("blob").and_then(Value::as_str).and_then(|hash| self.get(hash));
                let text = |key: &str| object.get(key).and_then(Value::as_str);
                let (key, value) = match (text("type"), content) {
                    (Some("text"), Some(content)) => ("text", String::from_utf8(content).unwrap_or_default()),
                    (Some("image"), Some(content)) => ("data", BASE64.encode(content)),
                    (_, _) => return Value::Object(filled),
                };
                if !filled.contains_key(key) {
                    filled.insert(key.to_owned(), value.into());
                }
                Value::Object(filled)
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => record.clone(),
        }
    }

    /// What is kept under a hash; `None` where it is not there, cannot be read, or is not what it was.
    pub fn get(&self, hash: &str) -> Option<Vec<u8>> {
        let content = fs::read(self.path(hash)?).ok()?;
        (self::hash(&content) == hash).then_some(content)
    }

    /// Where the blob with this hash lies, or would; `None` where it is no hash.
    pub fn path(&self, hash: &str) -> Option<PathBuf> {
        let (folder, name) = is_hash(hash).then(|| hash.split_at(FOLDER_DIGITS))?;
        Some(self.root.join(folder).join(name))
    }

    /// The blobs there are, in no order.
    ///
    /// # Errors
    ///
    /// When a folder cannot be looked into.
    pub fn all(&self) -> io::Result<Vec<Blob>> {
        let (mut blobs, mut folders) = (Vec::new(), entries(&self.root)?);
        folders.retain(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        for folder in folders {
            let digits = folder.file_name();
            for entry in entries(&folder.path())? {
                let hash = format!("{}{}", digits.display(), entry.file_name().display());
                // One that was removed meanwhile is missed by nobody.
                let Some(metadata) = entry.metadata().ok().filter(|file| file.is_file() && is_hash(&hash)) else {
                    continue;
                };
                blobs.push(Blob { hash, bytes: metadata.len(), modified: modified(&metadata) });
            }
        }
        Ok(blobs)
    }

    /// Removes the blobs that are not in `keep` and were not put there within the last day before `now` (milliseconds
    /// since 1970), together with what killed writers left. Others may go on writing meanwhile.
    ///
    /// # Errors
    ///
    /// When a folder cannot be looked into or a blob cannot be removed; those before it are gone.
    pub fn sweep(&self, keep: &HashSet<String>, now: i64) -> io::Result<Swept> {
        let mut swept = Swept::default();
        for blob in self.all()? {
            let Some(path) = self.path(&blob.hash).filter(|_| !keep.contains(&blob.hash)) else {
                continue;
            };
            if is_old(blob.modified, now) && remove(&path, now)? {
                swept.blobs += 1;
                swept.bytes += blob.bytes;
            }
        }
        for folder in entries(&self.root)? {
            let path = folder.path();
            for entry in if path.is_dir() { entries(&path)? } else { Vec::new() } {
                let is_aside = entry.file_name().display().to_string().contains(ASIDE);
                if is_aside && entry.metadata().is_ok_and(|file| is_old(modified(&file), now)) {
                    let _ = fs::remove_file(entry.path());
                }
            }
            // Only an empty one goes, and whoever needs it makes it anew.
            let _ = fs::remove_dir(&path);
        }
        Ok(swept)
    }
}

/// Makes a blob young; `false` where there is none, or not with this content.
///
/// It goes by its name: a sweep takes that away first, and looks at the age after.
fn renew(path: &Path, content: &[u8]) -> bool {
    let same = fs::metadata(path).is_ok_and(|file| file.is_file() && file.len() == content.len() as u64)
        && fs::read(path).is_ok_and(|there| there == content);
    let moment = |tv_nsec| Timespec { tv_sec: 0, tv_nsec };
    let times = Timestamps { last_access: moment(UTIME_OMIT), last_modification: moment(UTIME_NOW) };
    same && utimensat(CWD, path, &times, AtFlags::empty()).is_ok()
}

/// Writes a blob beside its name, and gives it that.
fn write(folder: &Path, path: &Path, content: &[u8]) -> io::Result<()> {
    // Told apart by process and count: what several writers have under one name is the same, but not before its end.
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    create_folder(folder)?;
    let beside = folder.join(format!("{ASIDE}{}-{number}", std::process::id()));
    let written = (|| {
        // What a killed writer left under this name is nobody's.
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(FILE_MODE).open(&beside)?;
        file.write_all(content)?;
        fs::rename(&beside, path)
    })();
    if written.is_err() {
        let _ = fs::remove_file(&beside);
    }
    written
}

/// Removes a blob unless it became young meanwhile, and says whether it did.
///
/// Between the look at it and its removal somebody may have put the same content there again. So it first loses its
/// name: whoever comes from then on writes it anew, and whoever came before has made it young.
fn remove(path: &Path, now: i64) -> io::Result<bool> {
    let mut aside = path.as_os_str().to_owned();
    aside.push(format!("{ASIDE}{}", std::process::id()));
    let aside = PathBuf::from(aside);
    match fs::rename(path, &aside) {
        Err(error) if is_absent(&error) => return Ok(false),
        renamed => renamed?,
    }
    if is_old(modified(&fs::metadata(&aside)?), now) {
        fs::remove_file(&aside)?;
        return Ok(true);
    }
    fs::rename(&aside, path)?;
    Ok(false)
}

fn is_old(modified: i64, now: i64) -> bool {
    now.saturating_sub(modified) > SAFE_MS
}

/// In milliseconds since 1970; what cannot be told is young.
fn modified(file: &fs::Metadata) -> i64 {
    let since = file.modified().ok().and_then(|moment| moment.duration_since(UNIX_EPOCH).ok());
    since.and_then(|since| i64::try_from(since.as_millis()).ok()).unwrap_or(i64::MAX)
}

fn entries(folder: &Path) -> io::Result<Vec<fs::DirEntry>> {
    match fs::read_dir(folder) {
        Ok(entries) => entries.collect(),
        Err(error) if is_absent(&error) => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::os::unix::fs::PermissionsExt;

    const DAY_MS: i64 = SAFE_MS;

    fn blobs() -> (tempfile::TempDir, Blobs) {
        let folder = tempfile::tempdir().unwrap();
        let blobs = Blobs::new(folder.path());
        (folder, blobs)
    }

    fn modified_of(blobs: &Blobs) -> i64 {
        blobs.all().unwrap()[0].modified
    }

    #[test]
    fn content_is_kept_once_privately_and_checked() {
        let (folder, blobs) = blobs();
        let kept = blobs.put(b"content").unwrap();
        assert_eq!(kept.hash, "ed7002b439e9ac845f22357d822bac1444730fbdb6016d3ec9432297b9ec9f73");
        let path = folder.path().join("blobs/ed").join(&kept.hash[2..]);
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
        assert_eq!(mode(&folder.path().join("blobs")), 0o700);
        assert!(!kept.is_synced());
        kept.sync().unwrap();
        assert!(kept.is_synced());
        assert_eq!(blobs.put(b"content").unwrap().hash, kept.hash);
        assert_eq!(blobs.all().unwrap().len(), 1);
        assert_eq!(blobs.get(&kept.hash).unwrap(), b"content");

        // What a crash made of it is not taken for it, and is mended by the next that has it.
        fs::write(&path, b"c\0ntent").unwrap();
        assert_eq!(blobs.get(&kept.hash), None);
        blobs.put(b"content").unwrap();
        assert_eq!(blobs.get(&kept.hash).unwrap(), b"content");
        for strange in ["", "ed", "../../../../etc/passwd", &kept.hash.to_uppercase(), &"é".repeat(32)] {
            assert!(blobs.get(strange).is_none() && blobs.path(strange).is_none(), "{strange}");
        }
    }

    #[test]
    fn what_cannot_be_written_leaves_nothing() {
        let (folder, blobs) = blobs();
        fs::write(folder.path().join("blobs"), "a file where the folder should be").unwrap();
        assert!(blobs.put(b"content").is_err());
        assert_eq!((blobs.all().unwrap(), blobs.get(&hash(b"content"))), (vec![], None));
    }

    #[test]
    fn a_sweep_takes_what_is_old_and_not_named() {
        let (folder, blobs) = blobs();
        assert_eq!(blobs.sweep(&HashSet::new(), 0).unwrap(), Swept::default());
        let [one, two] = [b"one", b"two"].map(|content| blobs.put(content).unwrap().hash);
        let left = folder.path().join("blobs/00/.1-2");
        fs::create_dir_all(left.parent().unwrap()).unwrap();
        fs::write(&left, "half").unwrap();
        let keep = HashSet::from([one.clone()]);
        let now = modified_of(&blobs);
        assert_eq!(blobs.sweep(&keep, now + DAY_MS - 1000).unwrap(), Swept::default(), "all are young");
        assert!(left.exists());
        assert_eq!(blobs.sweep(&keep, now + 2 * DAY_MS).unwrap(), Swept { blobs: 1, bytes: 3 });
        assert!(blobs.get(&one).is_some() && blobs.get(&two).is_none() && !left.exists());
        assert_eq!(fs::read_dir(folder.path().join("blobs")).unwrap().count(), 1, "empty folders go");
    }

    #[test]
    fn content_that_is_put_again_is_young_again() {
        let (_folder, blobs) = blobs();
        let hash = blobs.put(b"content").unwrap().hash;
        let long_ago = fs::FileTimes::new().set_modified(UNIX_EPOCH);
        let path = blobs.path(&hash).unwrap();
        File::options().append(true).open(&path).unwrap().set_times(long_ago).unwrap();
        assert_eq!(modified_of(&blobs), 0);
        blobs.put(b"content").unwrap();
        let now = modified_of(&blobs);
        assert!(now > 0);
        assert!(!remove(&path, now + 1).unwrap(), "it became young between the look and the removal");
        assert_eq!(blobs.get(&hash).unwrap(), b"content");
    }

    #[test]
    fn writers_and_sweepers_do_not_lose_what_is_put() {
        let (_folder, blobs) = blobs();
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    for number in 0..200_u32 {
                        let content = (number % 5).to_string();
                        blobs.put(content.as_bytes()).unwrap();
                    }
                });
            }
            scope.spawn(|| {
                for _ in 0..200 {
                    blobs.sweep(&HashSet::new(), 0).unwrap();
                }
            });
        });
        let mut contents: Vec<_> = blobs.all().unwrap().iter().map(|blob| blobs.get(&blob.hash).unwrap()).collect();
        contents.sort();
        assert_eq!(contents, [b"0", b"1", b"2", b"3", b"4"]);
    }

    #[test]
    fn records_are_filled_with_what_is_kept() {
        let (_folder, blobs) = blobs();
        let hash = blobs.put(b"long").unwrap().hash;
        let gone = "0".repeat(64);
        let record = json!({"role": "tool", "content": [{"type": "tool_result", "content": [
            {"type": "text", "blob": hash}, {"type": "image", "blob": hash}, {"type": "text", "blob": gone}]},
            {"type": "tool_use", "input": {"blob": hash}}]});
        let filled = json!({"role": "tool", "content": [{"type": "tool_result", "content": [
            {"type": "text", "blob": hash, "text": "long"}, {"type": "image", "blob": hash, "data": "bG9uZw=="},
            {"type": "text", "blob": gone}]}, {"type": "tool_use", "input": {"blob": hash}}]});
        assert_eq!(blobs.filled(&record), filled);
    }
}
