//! A skill in full, as a model reads it: its text between tags, where it lies, and the files that come with it.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use super::catalogue::escape;
use super::reach::{self, Reach};
use super::{Skill, Source};
use crate::base::text::clean::clean;
use crate::base::text::cut;
use crate::base::text::visible;
use crate::product::front_matter;

/// The most of a skill's own text, in characters: with the list of its files it fits into what the tool may return.
const MAX_CHARS: usize = 45_000;
/// Files that are listed.
const MAX_FILES: usize = 50;
/// Entries that are looked at for that.
const MAX_ENTRIES: usize = 1_000;
/// Levels below the skill's folder.
const MAX_DEPTH: usize = 3;

/// The whole of a skill.
///
/// # Errors
///
/// Why its file cannot be read, in a few words.
pub(super) fn content(skill: &Skill, reach: &Reach) -> Result<String, String> {
    let mut text = format!("<skill name=\"{}\">\n{}\n</skill>\n", escape(&skill.name), body(skill)?);
    match &skill.source {
        Source::BuiltIn(_) => text.push_str("It is built in and has no other files.\n"),
        Source::File { path, origin } => {
            let folder = path.parent().unwrap_or(path);
            let shown = visible::line(&folder.to_string_lossy()).into_owned();
            text.push_str(&format!("Its folder, which paths in it are relative to: {shown}\n"));
            let (files, more) = files(folder, path, |path| reach.refuses(path, *origin).is_none());
            if !files.is_empty() {
                text.push_str(&format!("Files there: {}{}\n", files.join(", "), if more { ", …" } else { "" }));
            }
        }
    }
    if let Some(missing) = skill.missing.told() {
        text.push_str(&format!("What it needs is {missing}.\n"));
    }
    text.truncate(text.trim_end().len());
    Ok(text)
}

/// A skill's text without its head, cleaned, at a line end where it is cut.
pub(super) fn body(skill: &Skill) -> Result<String, String> {
    let text = match &skill.source {
        Source::BuiltIn(text) => (*text).to_owned(),
        Source::File { path, .. } => reach::whole(path)?,
    };
    let document = front_matter::read(&text).map_err(|broken| broken.to_string())?;
    Ok(capped(clean(document.body).trim(), MAX_CHARS))
}

/// The beginning of a text, up to the end of a line, and that it was cut.
pub(super) fn capped(text: &str, chars: usize) -> String {
    let kept = cut::head(text, chars);
    if kept.len() == text.len() {
        return text.to_owned();
    }
    let kept = kept.rfind('\n').and_then(|end| kept.get(..end)).unwrap_or(kept);
    format!("{kept}\n[... cut after {} characters]", kept.chars().count())
}

/// The files below a skill's folder but its own, level by level, by name; and whether there are more.
fn files(folder: &Path, own: &Path, may_read: impl Fn(&Path) -> bool) -> (Vec<String>, bool) {
    let mut found = Vec::new();
    let mut looked = 0;
    let mut folders = VecDeque::from([(folder.to_owned(), 1)]);
    while let Some((inside, depth)) = folders.pop_front() {
        let Ok(entries) = inside.read_dir() else { continue };
        let room = MAX_ENTRIES.saturating_sub(looked);
        let mut paths: Vec<PathBuf> = entries.filter_map(Result::ok).map(|entry| entry.path()).take(room + 1).collect();
        if paths.len() > room {
            return (found, true);
        }
        looked += paths.len();
        paths.sort_unstable();
        for path in paths {
            let is_hidden = path.file_name().unwrap_or_default().to_string_lossy().starts_with('.');
            // A link may lead anywhere, and is named but not followed.
            let Ok(kind) = path.symlink_metadata().map(|found| found.file_type()) else { continue };
            if is_hidden || path == own || !may_read(&path.canonicalize().unwrap_or_else(|_| path.clone())) {
                continue;
            }
            if kind.is_dir() {
                if depth < MAX_DEPTH {
                    folders.push_back((path, depth + 1));
                }
            } else if found.len() == MAX_FILES {
                return (found, true);
            } else {
                let name = path.strip_prefix(folder).unwrap_or(&path).to_string_lossy().into_owned();
                found.push(visible::line(&name).into_owned());
            }
        }
    }
    (found, false)
}
