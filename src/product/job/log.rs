//! The file a service prints to: made, kept from growing without bound, and read on from where it was read before.
//!
//! The service holds it open for appending, and goes on writing at the new end when it is cut. It is cut whenever an agent
//! looks at it, and every few seconds while the agent that started the service runs; no limit of the system is set on
//! the service, which would end it, and no helper stands between, whose end would break it. Nobody masks what it holds.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::record;
use crate::base::lock;
use crate::base::text::mask::Mask;
use crate::kernel::tool::Limits;
use crate::product::files;
use crate::product::sandbox::capture::{Capture, Outcome};

/// Where they are, below the data folder.
pub const FOLDER: &str = "logs/services";

/// A log above this is cut, in bytes: what a person may still open in an editor.
const FULL_BYTES: u64 = 32 << 20;

/// What is left of it, in bytes: some hours of a server that is in use.
const KEPT_BYTES: u64 = 4 << 20;

/// The most that is read at once, in bytes; of what is longer the end counts.
const READ_BYTES: u64 = 4 << 20;

/// The longest line that is read again when it goes on, in bytes.
const LINE_HELD: usize = 64 * 1024;

/// Stands at the beginning of a log that was cut.
const CUT_NOTE: &[u8] = b"[... the log was cut here: of one above 32 MB the last 4 MB stay ...]\n";

/// A new log under an id that no service has: `s-`, and four hexadecimal digits of which the first is below ten, so
/// that no id is a word.
pub(super) fn create(data_dir: &Path) -> io::Result<(String, PathBuf, File)> {
    let folder = data_dir.join(FOLDER);
    files::create_folder(&folder)?;
    loop {
        let id = format!("s-{:x}{:03x}", fastrand::u16(..10), fastrand::u16(..0x1000));
        if record::is_kept(data_dir, &id) {
            continue;
        }
        let path = folder.join(format!("{id}.log"));
        match OpenOptions::new().append(true).create_new(true).mode(0o600).open(&path) {
            Ok(file) => return Ok((id, path, file)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}

/// Cuts a log that has become too long; what the service writes between reading the end and cutting is lost.
pub(super) fn trim(path: &Path) {
    // One that cannot be cut now is met again.
    let _ = trim_above(path, FULL_BYTES, KEPT_BYTES);
}

fn trim_above(path: &Path, full: u64, kept: u64) -> io::Result<()> {
    if fs::metadata(path)?.len() <= full {
        return Ok(());
    }
    let mut file = OpenOptions::new().read(true).append(true).open(path)?;
    if !lock::exclusive(&file, Duration::ZERO)? {
        return Ok(());
    }
    let length = file.metadata()?.len();
    if length <= full {
        return Ok(());
    }
    file.seek(SeekFrom::Start(length - kept))?;
    let mut end = Vec::new();
    Read::by_ref(&mut file).take(kept).read_to_end(&mut end)?;
    let whole_lines = end.iter().position(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    file.set_len(0)?;
    file.write_all(CUT_NOTE)?;
    file.write_all(end.get(whole_lines..).unwrap_or_default())
}

/// How far a log has been read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Place {
    /// Where the first line begins that had not ended, in bytes.
    next: u64,
    /// How long the log was.
    seen: u64,
}

impl Place {
    /// Whether there is more by now.
    pub(super) fn has_news(self, path: &Path) -> bool {
        fs::metadata(path).is_ok_and(|found| found.len() != self.seen)
    }
}

/// What a log says from a place on.
#[derive(Debug)]
pub(super) struct Page {
    pub(super) outcome: Outcome,
    /// Where it ends.
    pub(super) place: Place,
    /// Bytes before it that are not shown.
    pub(super) skipped: u64,
}

/// Reads on; from the beginning where the log has been cut meanwhile. A line that has not ended is shown as it stands, and
/// again when it goes on: half a secret would not be known for one.
pub(super) fn read(path: &Path, place: Place, limits: Limits, mask: &Mask, status: &str) -> io::Result<Page> {
    trim(path);
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    let is_same = length == place.seen;
    let from = if length < place.seen { 0 } else { place.next };
    let mut start = from.max(length.saturating_sub(READ_BYTES));
    file.seek(SeekFrom::Start(start))?;
    let mut bytes = Vec::new();
    file.take(length - start).read_to_end(&mut bytes)?;
    if start > from {
        let torn = bytes.iter().position(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        bytes.drain(..torn);
        start += torn as u64;
    }
    let seen = start + bytes.len() as u64;
    let unfinished = bytes.len() - bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let held = if unfinished > LINE_HELD { 0 } else { unfinished };
    let mut capture = Capture::of_kept(limits, mask.clone());
    if !is_same {
        capture.push(&bytes);
    }
    let place = Place { next: seen - held as u64, seen };
    Ok(Page { outcome: capture.finish(status), place, skipped: start - from })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LIMITS: Limits = Limits { chars: 100_000, lines: 100_000 };

    #[test]
    fn a_log_is_private_and_its_name_is_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let (one, path, _) = create(folder.path()).unwrap();
        let (two, ..) = create(folder.path()).unwrap();
        assert!(one != two && one.len() == 6 && one.chars().any(|c| c.is_ascii_digit()), "{one} {two}");
        assert!(!files::is_open_to_others(&path) && !files::is_open_to_others(path.parent().unwrap()));
    }

    #[test]
    fn whoever_holds_a_log_open_goes_on_writing_when_it_is_cut() {
        let folder = tempfile::tempdir().unwrap();
        let (_, path, mut service) = create(folder.path()).unwrap();
        for number in 0..1000 {
            writeln!(service, "line {number}").unwrap();
        }
        trim_above(&path, 1000, 100).unwrap();
        writeln!(service, "after").unwrap();
        let text = fs::read_to_string(&path).unwrap();
        let note = String::from_utf8_lossy(CUT_NOTE).into_owned();
        assert!(text.starts_with(&format!("{note}line 9")) && text.ends_with("line 999\nafter\n"), "{text}");
        assert!(text.len() < 300);
        trim_above(&path, 1000, 100).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }

    #[test]
    fn a_log_that_was_cut_is_read_from_its_beginning() {
        let folder = tempfile::tempdir().unwrap();
        let (_, path, mut service) = create(folder.path()).unwrap();
        service.write_all(&vec![b'x'; 1 << 10]).unwrap();
        let page = read(&path, Place::default(), LIMITS, &Mask::default(), "").unwrap();
        service.set_len(0).unwrap();
        service.write_all(b"new\n").unwrap();
        let page = read(&path, page.place, LIMITS, &Mask::default(), "").unwrap();
        let place = Place { next: 4, seen: 4 };
        assert_eq!((page.outcome.text.head.as_str(), page.place, page.skipped), ("new\n", place, 0));
    }

    #[test]
    fn a_line_that_goes_on_is_shown_again_and_hides_its_secret() {
        let folder = tempfile::tempdir().unwrap();
        let (_, path, mut service) = create(folder.path()).unwrap();
        let mask = Mask::new(["sk-12345678"]);
        let mut place = Place::default();
        let mut look = || {
            let page = read(&path, place, LIMITS, &mask, "").unwrap();
            place = page.place;
            page.outcome.text.head
        };
        service.write_all(b"one\nkey: sk-1234").unwrap();
        assert_eq!(look(), "one\nkey: sk-1234");
        assert_eq!(look(), "");
        service.write_all(b"5678 end\n").unwrap();
        assert_eq!(look(), "key: [secret] end\n");
        assert!(!place.has_news(&path));
    }

    proptest! {
        #[test]
        fn pages_make_up_the_whole(pieces in prop::collection::vec("[a-zé\n]{0,20}\n", 0..8)) {
            let folder = tempfile::tempdir().unwrap();
            let (_, path, mut service) = create(folder.path()).unwrap();
            let (mut place, mut seen) = (Place::default(), String::new());
            for piece in &pieces {
                service.write_all(piece.as_bytes()).unwrap();
                let page = read(&path, place, LIMITS, &Mask::default(), "").unwrap();
                place = page.place;
                prop_assert!(!place.has_news(&path) && page.skipped == 0);
                seen.push_str(&page.outcome.text.head);
            }
            prop_assert_eq!(seen, pieces.concat());
        }
    }
}
