//! One folder, listed for a path that is written out: below `/`, `~` or `..`, and what the rules of a walk leave out.
//!
//! Reads names only; a link is followed to see whether a folder is behind it, and only for what is shown.

use std::path::{Path, PathBuf};

use crate::product::tool::walk::Kind;
use crate::product::tool::workspace::Workspace;

/// Entries of a folder that are read: more would take longer than a person waits.
const MOST_ENTRIES: usize = 10_000;

/// The entries of a folder.
#[derive(Debug, Default)]
pub struct Listing {
    /// As it was written, with the slash at its end; empty for the working directory.
    folder: String,
    path: PathBuf,
    /// Names, those of folders with a slash at the end.
    entries: Vec<(String, Kind)>,
    /// Whether there are more.
    pub is_capped: bool,
}

/// A query as a folder and the beginning of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place<'a> {
    /// With its slash; empty for the working directory.
    pub folder: &'a str,
    /// What the name begins with, or has in it.
    pub name: &'a str,
}

impl<'a> Place<'a> {
    /// Takes a query apart.
    pub fn of(query: &'a str) -> Self {
        match query {
            "~" => Self { folder: "~/", name: "" },
            ".." => Self { folder: "../", name: "" },
            _ => {
                let (folder, name) = query.split_at(query.rfind('/').map_or(0, |slash| slash + 1));
                Self { folder, name }
            }
        }
    }

    /// Whether the folder is one that a walk of the working directory does not come to.
    pub fn is_outside(self) -> bool {
        let first = self.folder.split('/').next().unwrap_or_default();
        self.folder.starts_with('/') || (matches!(first, "~" | ".." | ".") && self.folder.contains('/'))
    }

    /// Whether hidden names are asked for.
    pub fn is_hidden(self) -> bool {
        self.name.starts_with('.')
    }
}

impl Listing {
    /// Lists a folder; without entries where it cannot be read.
    pub fn read(folder: &str, workspace: &Workspace) -> Self {
        let path = if folder.is_empty() { workspace.cwd().to_owned() } else { workspace.resolve(folder) };
        let mut listing = Self { folder: folder.to_owned(), path, ..Self::default() };
        if !workspace.may_read(&listing.path) {
            return listing;
        }
        let Ok(entries) = std::fs::read_dir(&listing.path) else { return listing };
        for entry in entries.flatten() {
            if listing.entries.len() == MOST_ENTRIES {
                listing.is_capped = true;
                break;
            }
            let (Ok(mut name), Ok(kind)) = (entry.file_name().into_string(), entry.file_type()) else { continue };
            let kind = Kind::of(kind);
            match kind {
                Kind::Folder => name.push('/'),
                Kind::File | Kind::Link => {}
                Kind::Special => continue,
            }
            listing.entries.push((name, kind));
        }
        listing
    }

    /// Whether this is the listing of that folder.
    pub fn is_of(&self, folder: &str) -> bool {
        !self.path.as_os_str().is_empty() && self.folder == folder
    }

    /// The paths in it, as they would be written.
    pub fn paths(&self, place: Place<'_>) -> impl Iterator<Item = String> {
        let hidden = place.is_hidden();
        let seen = move |(name, _): &&(String, Kind)| hidden || !name.starts_with('.');
        self.entries.iter().filter(seen).map(|(name, _)| format!("{}{name}", self.folder))
    }
}

/// A path with a slash at its end where it is a link to a folder; `None` where our tools may not read it.
pub fn finished(path: String, workspace: &Workspace) -> Option<String> {
    let at = workspace.resolve(&path);
    if !workspace.may_read(&at) {
        return None;
    }
    Some(if !path.ends_with('/') && is_folder(&at) { format!("{path}/") } else { path })
}

fn is_folder(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| metadata.is_dir())
}
