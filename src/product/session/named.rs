//! Which blobs the sessions there are name: what a sweep has to keep.
//!
//! Looks for names alone, whatever they stand in, and so rather finds too many. Nothing is removed here.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use memchr::memmem;

use crate::base::jsonl::BUFFER_BYTES;
use crate::base::path::is_absent;
use crate::product::error::Error;

use super::blob::is_hash;

/// How a name begins in a line, but for a blank that another program may put behind the colon.
const KEY: &str = "\"blob\":";
/// How many digits a name has.
const DIGITS: usize = 64;

/// The hashes that these files name.
///
/// # Errors
///
/// That one of them cannot be read: nobody knows then what it needs. One that is gone needs nothing.
pub(super) fn in_files<'a>(files: impl IntoIterator<Item = &'a Path>) -> Result<HashSet<String>, Error> {
    let mut named = HashSet::new();
    for path in files {
        match in_file(path, &mut named) {
            Err(error) if is_absent(&error) => {}
            read => read.map_err(|error| Error::failed(format!("cannot read {}", path.display())).caused_by(error))?,
        }
    }
    Ok(named)
}

fn in_file(path: &Path, named: &mut HashSet<String>) -> io::Result<()> {
    let mut reader = BufReader::with_capacity(BUFFER_BYTES, File::open(path)?);
    let key = memmem::Finder::new(KEY);
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line)? > 0 {
        named.extend(key.find_iter(&line).filter_map(|place| hash(line.get(place + KEY.len()..)?)));
        line.clear();
    }
    Ok(())
}

fn hash(value: &[u8]) -> Option<String> {
    let digits = value.trim_ascii_start().strip_prefix(b"\"")?.get(..DIGITS)?;
    std::str::from_utf8(digits).ok().filter(|digits| is_hash(digits)).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_wherever_they_stand() {
        let folder = tempfile::tempdir().unwrap();
        let [one, two, three] = ["1", "2", "3"].map(|digit| digit.repeat(64));
        let text = format!(
            "torn \"blob\":\"{one}\"\n{{\"a\":[{{\"blob\": \"{two}\"}},{{\"blob\":\"{two}\"}}]}}\n\"blob\":\"{three}"
        );
        let path = folder.path().join("a.jsonl");
        std::fs::write(&path, format!("{text}\n\"blob\":\"12\"\n\"blob\":null\n\"blob\":")).unwrap();
        let gone = folder.path().join("gone.jsonl");
        let named = in_files([path.as_path(), gone.as_path()]).unwrap();
        assert_eq!(named, HashSet::from([one, two, three]));
        assert!(in_files([folder.path()]).is_err(), "what cannot be read may name anything");
    }
}
