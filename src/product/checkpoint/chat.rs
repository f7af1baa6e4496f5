//! Where a conversation stands, what its last turn began with, and what of it was taken back: read from the session's file.
//!
//! Reads the few facts of each line in one pass, and changes nothing.

use std::fs::File;
use std::io::{self, BufReader};
use std::path::Path;

use serde::Deserialize;

use crate::base::jsonl::{BUFFER_BYTES, Picker, Reader};
use crate::base::text::cut;
use crate::product::session::entry::{Content, Kind, Link, MessageLine, Role};
use crate::product::session::tree::{NodeKind, Tree};

/// How much of a message is shown of it.
pub const TITLE_CHARS: usize = 60;

/// A conversation, as far as taking back goes.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Chat {
    /// Where it stands.
    pub leaf_id: Option<u64>,
    /// What the user said on the way there, oldest first.
    pub said: Vec<Said>,
    /// Where it stood before turns were taken back, the last one last; nothing once something was said.
    pub undone: Vec<u64>,
    /// With what that began which is restored first.
    pub again: Option<Said>,
    /// The turns on the way there that changed files: the message that asked for it, and the turn's name.
    pub checkpoints: Vec<(u64, String)>,
    /// The session this one was copied from.
    pub parent: Option<String>,
}

/// Something the user said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// Its id.
    pub id: u64,
    /// What it follows.
    pub parent_id: Option<u64>,
    offset: u64,
}

/// The facts of a line.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Facts {
    #[serde(rename = "type")]
    kind: Kind,
    id: Link,
    parent_id: Link,
    target_id: Link,
    first_kept_id: Link,
    undone_id: Link,
    role: Option<Role>,
    entry_id: Link,
    #[serde(rename = "ref")]
    reference: Option<String>,
    parent: Option<String>,
}

impl Chat {
    /// Reads a session's file.
    ///
    /// # Errors
    ///
    /// What the system said.
    pub fn read(path: &Path) -> io::Result<Self> {
        let mut reader = Reader::new(BufReader::with_capacity(BUFFER_BYTES, File::open(path)?), 0);
        let (mut tree, mut lines, mut undone) = (Tree::default(), Vec::new(), Vec::new());
        let (mut checkpoints, mut parent) = (Vec::new(), None);
        while let Some(record) = reader.read::<Facts>()? {
            let (offset, facts) = (record.offset, record.value);
            let node = match facts.kind {
                Kind::Message => NodeKind::Message,
                Kind::Summary => NodeKind::Summary { first_kept: facts.first_kept_id },
                Kind::Unknown if facts.id != Link::Absent && facts.parent_id != Link::Absent => NodeKind::Other,
                Kind::Leaf => {
                    tree.stand_at(facts.target_id);
                    match (facts.undone_id, facts.target_id) {
                        (Link::Id(id), _) => undone.push(id),
                        // A step forward again.
                        (_, Link::Id(id)) if undone.last() == Some(&id) => {
                            undone.pop();
                        }
                        (Link::Absent | Link::Root, _) => undone.clear(),
                    }
                    continue;
                }
                Kind::Session
                | Kind::Label
                | Kind::Name
                | Kind::Model
                | Kind::Grant
                | Kind::Refused
                | Kind::Prune
                | Kind::Checkpoint
                | Kind::Unknown => {
                    if let Link::Id(id) = facts.id {
                        tree.reserve(id);
                    }
                    if let (Link::Id(entry_id), Some(reference)) = (facts.entry_id, facts.reference) {
                        checkpoints.push((entry_id, reference));
                    }
                    parent = parent.or(facts.parent);
                    continue;
                }
            };
            let is_said = facts.role == Some(Role::User);
            if facts.kind == Kind::Message {
                undone.clear();
            }
            tree.add(facts.id, facts.parent_id, node);
            lines.push((offset, is_said));
        }
        let said = said_on(&tree, &lines);
        let leaf_id = tree.leaf_id();
        let again = undone.last().filter(|id| tree.stand_at(Link::Id(**id))).and_then(|_| {
            let mut further = said_on(&tree, &lines).into_iter();
            further.find(|one| said.iter().all(|said| said.id != one.id))
        });
        checkpoints.retain(|(id, _)| said.iter().any(|said| said.id == *id));
        Ok(Self { leaf_id, said, undone, again, checkpoints, parent })
    }
}

/// What the user said on the way to where the conversation stands; of each line where it begins, and whether the user said it.
fn said_on(tree: &Tree, lines: &[(u64, bool)]) -> Vec<Said> {
    let line = tree.path();
    let before = std::iter::once(None).chain(line.iter().map(|number| tree.id(*number)));
    let said = line.iter().zip(before).filter_map(|(number, parent_id)| {
        let (offset, is_said) = lines.get(*number)?;
        is_said.then_some(Said { id: tree.id(*number)?, parent_id, offset: *offset })
    });
    said.collect()
}

impl Said {
    /// Its beginning.
    pub fn title(&self, path: &Path) -> Option<String> {
        let file = File::open(path).ok()?;
        let line: MessageLine = Picker::new(&file).ok()?.pick(self.offset).ok()??;
        // What stands before the last text is context that the agent put there.
        let text = line.content.iter().rev().find_map(|part| match part {
            Content::Text { text, .. } => text.as_deref(),
            Content::Image { .. }
            | Content::Reasoning { .. }
            | Content::ToolUse { .. }
            | Content::ToolResult { .. }
            | Content::Unknown => None,
        });
        title(text?)
    }
}

/// The beginning of a text, on one line; `None` where there is nothing but space.
pub fn title(text: &str) -> Option<String> {
    let words: Vec<_> = text.split_whitespace().take(TITLE_CHARS).collect();
    (!words.is_empty()).then(|| cut::ellipsis(&words.join(" "), TITLE_CHARS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_thing_said_and_what_was_taken_back_are_known() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        let read = |lines: &[&str]| {
            std::fs::write(&path, lines.join("\n")).unwrap();
            Chat::read(&path).unwrap()
        };
        let said = r#"{"type":"message","id":1,"parent_id":null,"role":"user","content":[{"type":"text","text":"context"},{"type":"text","text":"do\n it"}]}"#;
        let answered = r#"{"type":"message","id":2,"parent_id":1,"role":"assistant","content":[]}"#;
        let again = r#"{"type":"message","id":3,"parent_id":2,"role":"user","content":[]}"#;
        let back = r#"{"type":"leaf","target_id":2,"undone_id":3}"#;
        let further = r#"{"type":"leaf","target_id":null,"undone_id":2}"#;
        let chat = read(&[said, answered, again]);
        let ids = |chat: &Chat| chat.said.iter().map(|said| (said.id, said.parent_id)).collect::<Vec<_>>();
        assert_eq!((chat.leaf_id, ids(&chat)), (Some(3), vec![(1, None), (3, Some(2))]));
        assert_eq!(chat.said[0].title(&path).as_deref(), Some("do it"));
        assert_eq!(chat.said[1].title(&path), None);
        let chat = read(&[said, answered, again, back]);
        assert_eq!((chat.leaf_id, ids(&chat), chat.undone), (Some(2), vec![(1, None)], vec![3]));
        let chat = read(&[said, answered, again, back, further]);
        assert_eq!(chat.again.as_ref().map(|said| said.id), Some(1));
        assert_eq!((chat.leaf_id, ids(&chat), chat.undone), (None, vec![], vec![3, 2]));
        let forward = r#"{"type":"leaf","target_id":2}"#;
        assert_eq!(read(&[said, answered, again, back, further, forward]).undone, [3]);
        assert_eq!(read(&[said, answered, again, back, r#"{"type":"leaf","target_id":1}"#]).undone, [0_u64; 0]);
        let other = r#"{"type":"message","id":4,"parent_id":2,"role":"user","content":[]}"#;
        let chat = read(&[said, answered, again, back, other]);
        assert_eq!((ids(&chat), chat.undone), (vec![(1, None), (4, Some(2))], vec![]));
    }
}
