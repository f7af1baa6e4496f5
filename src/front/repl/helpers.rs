//! The sub-agents that have worked in a session, as the disk knows them: a file each, beside the session's own.

use std::fs;
use std::path::{Path, PathBuf};

use crate::model::message::{Message, Part};
use crate::product::session::spent;
use crate::product::session::store::{Selector, Store};

use super::message::Helper;
use super::view::transcript::own_words;
use super::worker::Setup;

/// The sub-agents of the session with this id, in the order of their files' names; none where there is no such session.
pub fn of(id: &str, store: &Store, setup: &Setup) -> Vec<Helper> {
    let cwd = &setup.env.cwd;
    let Ok(Some(session)) = store.locate(&Selector::Id(id.to_owned()), cwd) else { return Vec::new() };
    let files = fs::read_dir(session.with_extension("agents")).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = files.map(|entry| entry.path()).filter(|path| is_transcript(path)).collect();
    files.sort_unstable();
    let helper = |transcript: PathBuf| {
        let task = task(&transcript, store, cwd).unwrap_or_default();
        Helper { task, spent: spent::of(&transcript).total(), transcript }
    };
    files.into_iter().map(helper).collect()
}

fn is_transcript(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "jsonl")
}

/// What was said first.
fn task(transcript: &Path, store: &Store, cwd: &Path) -> Option<String> {
    let looked = store.look(&Selector::Path(transcript.to_owned()), cwd).ok()??;
    let messages = looked.loaded.all_messages(&looked.loaded.tree.path(), store.blobs()).ok()?;
    messages.into_iter().find_map(|message| match message {
        Message::User(parts) => {
            let words = parts.iter().filter_map(|part| match part {
                Part::Text(text) => Some(own_words(text)),
                Part::Image(_) => None,
            });
            let mut words = words.map(|text| text.trim().to_owned());
            words.find(|text| !text.is_empty())
        }
        Message::Assistant(_) | Message::Tool(_) => None,
    })
}
