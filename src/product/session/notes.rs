//! What is noted beside a conversation: labels, and how many branches there are.
//!
//! One look over the file; nothing is changed.

use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::io::{self, BufReader};
use std::path::Path;

use crate::base::jsonl::{BUFFER_BYTES, Reader};

use super::entry::{Kind, LabelLine, Link, Outline};

/// What is noted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Notes {
    /// Notes on messages, by their ids.
    pub labels: BTreeMap<u64, String>,
    /// How many messages and summaries nothing follows.
    pub branches: u64,
}

/// Reads a session's notes.
///
/// # Errors
///
/// When the file cannot be read.
pub fn read(path: &Path) -> io::Result<Notes> {
    let mut reader = Reader::new(BufReader::with_capacity(BUFFER_BYTES, File::open(path)?), 0);
    let mut notes = Notes::default();
    let (mut ids, mut followed, mut before) = (HashSet::new(), HashSet::new(), None);
    while let Some(record) = reader.read::<Outline>()? {
        let Outline { kind, id, parent_id, .. } = record.value;
        match kind {
            Kind::Message | Kind::Summary => {
                match parent_id {
                    Link::Id(parent) => drop(followed.insert(parent)),
                    Link::Root => {}
                    // A line that says nothing follows the one before it.
                    Link::Absent => followed.extend(before),
                }
                if let Link::Id(id) = id {
                    ids.insert(id);
                    before = Some(id);
                }
            }
            Kind::Label => match serde_json::from_str(record.text) {
                Ok(LabelLine { target_id, label: Some(label) }) => drop(notes.labels.insert(target_id, label)),
                Ok(LabelLine { target_id, label: None }) => drop(notes.labels.remove(&target_id)),
                Err(_) => {}
            },
            Kind::Session
            | Kind::Name
            | Kind::Model
            | Kind::Grant
            | Kind::Refused
            | Kind::Prune
            | Kind::Leaf
            | Kind::Checkpoint
            | Kind::Unknown => {}
        }
    }
    notes.branches = ids.difference(&followed).count() as u64;
    Ok(notes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn labels_hold_until_they_are_taken_away_and_branches_are_what_nothing_follows() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        let lines = [
            r#"{"type":"session","version":1,"id":"x"}"#,
            r#"{"type":"message","id":1,"parent_id":null,"role":"user"}"#,
            r#"{"type":"message","id":2,"role":"assistant"}"#,
            r#"{"type":"label","target_id":2,"label":"good"}"#,
            r#"{"type":"label","target_id":1,"label":"gone"}"#,
            r#"{"type":"leaf","target_id":1}"#,
            r#"{"type":"message","id":3,"parent_id":1,"role":"assistant"}"#,
            "torn {",
            r#"{"type":"label","target_id":1,"label":null}"#,
        ];
        file.write_all(lines.join("\n").as_bytes()).unwrap();
        let notes = read(file.path()).unwrap();
        assert_eq!((notes.branches, notes.labels), (2, BTreeMap::from([(2, "good".to_owned())])));
    }
}
