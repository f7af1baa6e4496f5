//! Which blobs the sessions name, found without understanding a line: also in damaged lines, and in those of later versions.
//!
//! Reads at the speed of the disk, with a small buffer, and changes nothing.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use memchr::memmem::Finder;

use crate::base::path::is_absent;

/// What stands before a hash; JSON is written without blanks.
const KEY: &[u8] = br#""blob":""#;
/// Hexadecimal digits of a SHA-256.
const DIGITS: usize = 64;
/// How much is read at a time, in bytes.
const BUFFER_BYTES: usize = 256 << 10;

/// The hashes that stand in the files of the sessions folder, whatever they are called.
///
/// # Errors
///
/// When one of them, or a folder, cannot be read: then nobody knows what is needed.
pub fn blobs(sessions: &Path) -> io::Result<HashSet<String>> {
    let mut found = HashSet::new();
    let mut folders = vec![sessions.to_owned()];
    let mut buffer = vec![0; BUFFER_BYTES];
    let finder = Finder::new(KEY);
    while let Some(folder) = folders.pop() {
        let entries = match fs::read_dir(&folder) {
            Err(error) if is_absent(&error) => continue,
            entries => entries?,
        };
        for entry in entries {
            let entry = entry?;
            let kind = entry.file_type()?;
            if kind.is_dir() {
                folders.push(entry.path());
            } else if kind.is_file() {
                match File::open(entry.path()) {
                    // One that was removed meanwhile needs nothing.
                    Err(error) if is_absent(&error) => {}
                    file => gather(file?, &finder, &mut buffer, &mut found)?,
                }
            }
        }
    }
    Ok(found)
}

fn gather(mut file: impl Read, finder: &Finder<'_>, buffer: &mut [u8], found: &mut HashSet<String>) -> io::Result<()> {
    // What is at the beginning of the buffer was not looked at to its end.
    let mut kept = 0;
    loop {
        let count = match file.read(buffer.get_mut(kept..).unwrap_or_default()) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            count => count?,
        };
        if count == 0 {
            return Ok(());
        }
        let filled = kept + count;
        let bytes = buffer.get(..filled).unwrap_or_default();
        for at in finder.find_iter(bytes) {
            let begin = at + KEY.len();
            if let Some(hash) = bytes.get(begin..begin + DIGITS)
                && hash.iter().all(u8::is_ascii_hexdigit)
            {
                found.insert(String::from_utf8_lossy(hash).to_ascii_lowercase());
            }
        }
        // A key and its hash may lie across the end.
        kept = filled.min(KEY.len() + DIGITS);
        buffer.copy_within(filled - kept..filled, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(digit: char) -> String {
        String::from(digit).repeat(DIGITS)
    }

    #[test]
    fn hashes_are_found_wherever_they_stand() {
        let folder = tempfile::tempdir().unwrap();
        let sessions = folder.path().join("sessions");
        assert!(blobs(&sessions).unwrap().is_empty());
        fs::create_dir_all(sessions.join("a/b")).unwrap();
        let line = |hash: &str| format!(r#"{{"type":"message","content":[{{"type":"text","blob":"{hash}"}}]}}"#);
        let torn = format!("{{\"type\":\0\0\"blob\":\"{}\" and no end", hash('c'));
        fs::write(sessions.join("a/1.jsonl"), [line(&hash('a')), torn, line("short")].join("\n")).unwrap();
        fs::write(sessions.join("a/b/2.new"), line(&hash('B'))).unwrap();
        let found = blobs(&sessions).unwrap();
        assert_eq!(found, HashSet::from([hash('a'), hash('b'), hash('c')]));
    }

    #[test]
    fn no_place_in_a_file_hides_a_hash() {
        /// Gives a few bytes at a time.
        struct Slow<'a>(&'a [u8], usize);
        impl Read for Slow<'_> {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                let count = self.1.min(buffer.len()).min(self.0.len());
                let (now, later) = self.0.split_at(count);
                buffer[..count].copy_from_slice(now);
                self.0 = later;
                Ok(count)
            }
        }
        let text = format!("{}\"blob\":\"{}\"{}", "x".repeat(150), hash('d'), "y".repeat(80));
        for step in 1..200 {
            let (mut buffer, mut found) = (vec![0; 160], HashSet::new());
            gather(Slow(text.as_bytes(), step), &Finder::new(KEY), &mut buffer, &mut found).unwrap();
            assert_eq!(found, HashSet::from([hash('d')]), "{step}");
        }
    }
}
