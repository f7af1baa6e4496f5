//! What to say about a path that is not there: the names it may have meant.

use std::path::Path;

use crate::product::tool::walk::text::clean;
use crate::product::tool::workspace::Workspace;

/// How many names are suggested.
const MAX_SUGGESTIONS: usize = 3;

/// How alike a name must be, from 0 to 1: one or two letters wrong in an ordinary name.
const LIKENESS: f32 = 0.6;

/// Names that are compared; in a bigger folder the rest is not looked at.
const MAX_COMPARED: usize = 5_000;

/// A sentence for the model: the path does not exist, and what is near it.
pub fn missing(workspace: &Workspace, path: &Path) -> String {
    let shown = clean(&workspace.shown(path));
    let sentence = format!("no such file or folder: {shown}");
    let Some(parent) = path.parent() else { return sentence };
    if !parent.is_dir() {
        let existing = parent.ancestors().find(|folder| folder.is_dir());
        return match existing {
            Some(folder) => {
                format!("{sentence}; the nearest folder that exists is {}", clean(&workspace.shown(folder)))
            }
            None => sentence,
        };
    }
    let near = nearest(workspace, parent, path);
    if near.is_empty() { sentence } else { format!("{sentence}; did you mean {}?", near.join(" or ")) }
}

fn nearest(workspace: &Workspace, parent: &Path, path: &Path) -> Vec<String> {
    let Some(wanted) = path.file_name().and_then(|name| name.to_str()) else { return Vec::new() };
    let Ok(entries) = std::fs::read_dir(parent) else { return Vec::new() };
    let names: Vec<String> =
        entries.flatten().take(MAX_COMPARED).filter_map(|entry| entry.file_name().into_string().ok()).collect();
    let mut names: Vec<&str> = names.iter().map(String::as_str).collect();
    names.sort_unstable();
    let mut near = similar::get_close_matches(wanted, &names, MAX_SUGGESTIONS, LIKENESS);
    let folded = names.iter().find(|name| name.to_lowercase() == wanted.to_lowercase());
    if let Some(same) = folded.filter(|same| !near.contains(same)) {
        near.insert(0, same);
    }
    let near = near.into_iter().map(|name| parent.join(name)).filter(|path| workspace.may_read(path));
    near.take(MAX_SUGGESTIONS).map(|path| clean(&workspace.shown(&path))).collect()
}
