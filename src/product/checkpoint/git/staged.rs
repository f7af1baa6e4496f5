//! What git knows of its files: the index, as gitformat-index(5) describes it, versions 2 to 4. Pure.
//!
//! Whatever is not understood makes it nothing: its reader then keeps contents itself.

use super::super::state::Name;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// Bytes of an entry before its id: ten numbers that stat told.
const STAT_BYTES: usize = 40;
/// Bytes of ids in repositories of either kind: SHA-1, SHA-256.
const ID_BYTES: [usize; 2] = [20, 32];
/// A path's length where the flags can say it; longer ones are counted.
const NAME_MASK: u16 = 0x0fff;
/// Of the flags: taken as unchanged whatever the disk says; more flags follow; in the middle of a merge.
const ASSUME_VALID: u16 = 0x8000;
const EXTENDED: u16 = 0x4000;
const STAGE: u16 = 0x3000;
/// The longest way of a path back to the one before it, in bytes of a number.
const VARINT_BYTES: usize = 5;

/// A file as git saw it last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Staged {
    /// When it was changed, in nanoseconds since 1970.
    pub modified: i64,
    /// The lower half of its inode.
    pub inode: u32,
    /// Its size, modulo 2³².
    pub bytes: u32,
    /// Kind and permissions, as git writes them: `0o100644`, `0o100755`, `0o120000`, `0o160000`.
    pub mode: u32,
    /// The content's id; empty where what is on disk need not be that content.
    pub id: Vec<u8>,
}

/// Reads an index. `None` where something in it must be understood and is not.
pub fn read(index: &[u8]) -> Option<BTreeMap<Name, Staged>> {
    ID_BYTES.into_iter().find_map(|id_bytes| read_with(index, id_bytes))
}

fn read_with(index: &[u8], id_bytes: usize) -> Option<BTreeMap<Name, Staged>> {
    let body = index.get(..index.len().checked_sub(id_bytes)?)?;
    let version = body.strip_prefix(b"DIRC").and_then(|rest| number(rest, 0)).filter(|v| (2..=4).contains(v))?;
    let count = number(body, 8)?;
    let (mut at, mut name) = (12, Vec::new());
    let mut staged = Vec::new();
    for _ in 0..count {
        let before = std::mem::take(&mut name);
        let (file, next) = entry(body, at, id_bytes, version, &before, &mut name)?;
        // Sorted, but for the sides of a conflict; what is not was read with the wrong length of ids.
        if name < before || name.is_empty() {
            return None;
        }
        staged.push((Name(PathBuf::from(OsStr::from_bytes(&name))), file));
        at = next;
    }
    // What follows may be ignored where its name begins with a capital.
    while at < body.len() {
        body.get(at).filter(|first| first.is_ascii_uppercase())?;
        at = at.checked_add(8)?.checked_add(usize::try_from(number(body, at + 4)?).ok()?)?;
    }
    // Made of what is sorted already, which takes no comparing.
    (at == body.len()).then(|| staged.into_iter().collect())
}

/// Reads one entry at `at`; the path goes into `name`. Returns where the next one begins.
fn entry(
    body: &[u8],
    at: usize,
    id_bytes: usize,
    version: u32,
    before: &[u8],
    name: &mut Vec<u8>,
) -> Option<(Staged, usize)> {
    let stat = |place: usize| number(body, at + 4 * place);
    let id = body.get(at + STAT_BYTES..at + STAT_BYTES + id_bytes)?;
    let mut end = at + STAT_BYTES + id_bytes;
    let flags = half(body, end)?;
    end += 2;
    let extended = if flags & EXTENDED == 0 { 0 } else { half(body, end)? };
    end += if flags & EXTENDED == 0 { 0 } else { 2 };
    if version == 4 {
        let (strip, next) = varint(body, end)?;
        name.extend(before.get(..before.len().saturating_sub(strip))?);
        let rest = body.get(next..)?;
        let length = rest.iter().position(|byte| *byte == 0)?;
        name.extend(rest.get(..length)?);
        end = next + length + 1;
    } else {
        let rest = body.get(end..)?;
        let length = rest.iter().position(|byte| *byte == 0)?;
        let told = usize::from(flags & NAME_MASK);
        if told < usize::from(NAME_MASK) && told != length {
            return None;
        }
        name.extend(rest.get(..length)?);
        // One to eight zeros, so that entries begin at multiples of eight.
        end = at + (end + length - at) / 8 * 8 + 8;
    }
    let is_plain = flags & (ASSUME_VALID | STAGE) == 0 && extended == 0;
    let file = Staged {
        modified: i64::from(stat(2)?) * 1_000_000_000 + i64::from(stat(3)?),
        inode: stat(5)?,
        mode: stat(6)?,
        bytes: stat(9)?,
        id: if is_plain { id.to_vec() } else { Vec::new() },
    };
    Some((file, end))
}

/// The number of gitformat-pack's offsets: seven bits a byte, and one more for each byte that follows.
fn varint(body: &[u8], at: usize) -> Option<(usize, usize)> {
    let mut value = 0_usize;
    for (place, byte) in body.get(at..)?.iter().take(VARINT_BYTES).enumerate() {
        value |= usize::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            return Some((value, at + place + 1));
        }
        value = value.checked_add(1)?.checked_mul(0x80)?;
    }
    None
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at.checked_add(4)?)?.try_into().ok().map(u32::from_be_bytes)
}

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..at.checked_add(2)?)?.try_into().ok().map(u16::from_be_bytes)
}

/// Whether some tracked path lies below a folder.
pub fn has_below(staged: &BTreeMap<Name, Staged>, folder: &Path) -> bool {
    let mut first = folder.as_os_str().to_owned();
    first.push("/");
    staged.range(Name(first.into())..).next().is_some_and(|(path, _)| path.0.starts_with(folder))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_folder_has_what_begins_with_its_name() {
        let file = Staged { modified: 0, inode: 0, bytes: 0, mode: 0, id: Vec::new() };
        let staged: BTreeMap<Name, Staged> =
            ["a-b", "a/b", "b/c/d"].iter().map(|path| (Name(path.into()), file.clone())).collect();
        assert!(has_below(&staged, "a".as_ref()) && has_below(&staged, "b/c".as_ref()));
        assert!(!has_below(&staged, "b/d".as_ref()) && !has_below(&staged, "c".as_ref()));
    }

    proptest! {
        #[test]
        fn whatever_stands_in_an_index_does_no_harm(bytes in proptest::collection::vec(any::<u8>(), 0..400), version in 0..6u8) {
            let mut index = b"DIRC\0\0\0".to_vec();
            index.push(version);
            index.extend([0, 0, 0, 2]);
            index.extend(bytes);
            let _ = read(&index);
        }
    }
}
