//! Finding the skills below a folder: level by level, links followed but never twice, within bounds.
//!
//! Opens no file.

use std::collections::{BTreeSet, VecDeque};
use std::path::{Path, PathBuf};

use super::Problem;
use super::reach::{Place, Reach};

/// The names of a skill's file. The first is the specification's, the second is found as well.
const FILES: [&str; 2] = ["SKILL.md", "skill.md"];
/// Levels below the folder on which skills are found: skills may be in groups.
const MAX_DEPTH: usize = 4;
/// Folders that are looked into below one place; more are somebody's mistake.
const MAX_FOLDERS: usize = 2_000;
/// Never opened, besides what is hidden.
const SKIPPED: &str = "node_modules";

/// The files of the skills below a place, by level and name. There is no skill inside of a skill.
pub(super) fn skills(place: &Place, reach: &Reach, problems: &mut Vec<Problem>) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    let mut folders = VecDeque::from([(place.folder.clone(), 0)]);
    while let Some((folder, depth)) = folders.pop_front() {
        // Where nothing is, this is all that is done.
        let Ok(target) = folder.canonicalize() else { continue };
        let mut problem = |text: String| {
            problems.push(Problem { path: folder.clone(), line: None, text, is_used: false });
        };
        if let Some(why) = reach.refuses(&target, place.origin) {
            problem(why.to_owned());
            continue;
        }
        if !seen.insert(target) {
            continue;
        }
        if seen.len() > MAX_FOLDERS {
            problem(format!("there are more than {MAX_FOLDERS} folders; what is left is not looked at"));
            break;
        }
        if depth > 0
            && let Some(file) = FILES.iter().map(|name| folder.join(name)).find(|file| is_there(file))
        {
            match reach.refuses(&file.canonicalize().unwrap_or_else(|_| file.clone()), place.origin) {
                Some(why) => problem(why.to_owned()),
                None => found.push(file),
            }
        } else if depth < MAX_DEPTH {
            folders.extend(below(&folder).into_iter().map(|folder| (folder, depth + 1)));
        }
    }
    found
}

/// Whether something is there that is to be a file. A pipe or a link to nowhere is no skill either, and whoever put it
/// there is told so when it is read.
fn is_there(file: &Path) -> bool {
    file.symlink_metadata().is_ok() && !file.is_dir()
}

/// The folders in a folder, by name.
fn below(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = folder.read_dir() else { return Vec::new() };
    let is_shown = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        !name.starts_with('.') && name != SKIPPED && path.is_dir()
    };
    let mut folders: Vec<_> =
        entries.filter_map(Result::ok).map(|entry| entry.path()).take(MAX_FOLDERS).filter(is_shown).collect();
    folders.sort_unstable();
    folders
}
