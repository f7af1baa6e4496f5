//! What to say of a file that is not there: the names that are near, and how far the path leads.
//!
//! It looks into one folder only, and names nothing that is closed to reading.

use std::path::{Path, PathBuf};

use rustix::io::Errno;

use super::save;
use super::workspace::Workspace;
use crate::base::path::is_absent;
use crate::base::text::likeness::alike;
use crate::base::text::visible;
use crate::kernel::tool::echo;

/// Names of a folder that are compared at most; a folder with more is not for guessing.
const MAX_NAMES: usize = 5_000;
/// Names that are suggested, or shown where none is near.
const MAX_SHOWN: usize = 3;

/// What the call needed to find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// A file.
    File,
    /// A file or a folder.
    Any,
}

/// `no such file: src/man.rs; did you mean src/main.rs?`, or as much of that as can be said.
pub fn explain(workspace: &Workspace, path: &Path, wanted: Wanted) -> String {
    let what = match wanted {
        Wanted::File => "file",
        Wanted::Any => "file or folder",
    };
    let start = format!("no such {what}: {}", workspace.named(path));
    match path.metadata() {
        Ok(found) if !found.is_dir() => return format!("{} is not a folder", workspace.named(path)),
        Ok(_) => return start,
        Err(error) => {
            if let Ok(target) = path.read_link() {
                return format!("{start}; {}", broken_link(&target, &error));
            }
            if !is_absent(&error) {
                return format!("{}: {}", workspace.named(path), save::words(&error));
            }
        }
    }
    let Some((folder, name, rest)) = deepest(path) else {
        return start;
    };
    if !folder.is_dir() {
        return format!("{start}; {} is not a folder", workspace.named(&folder));
    }
    let names = names(workspace, &folder);
    let near = alike(&name, &names, MAX_SHOWN);
    // Where a folder is missing, the name that leads to the whole path is worth more than the nearest one.
    let whole: Vec<PathBuf> =
        near.iter().map(|name| folder.join(name).join(&rest)).filter(|path| path.exists()).collect();
    let missing_folder = !rest.as_os_str().is_empty();
    let suggested: Vec<PathBuf> =
        if missing_folder && !whole.is_empty() { whole } else { near.iter().map(|name| folder.join(name)).collect() };
    let mut text = start;
    if missing_folder {
        text.push_str(&format!("; there is no folder {}", workspace.named(&folder.join(&name))));
    }
    let suggested: Vec<String> = suggested.iter().map(|path| workspace.shown(path)).collect();
    if !suggested.is_empty() {
        text.push_str(&format!("; did you mean {}?", suggested.join(" or ")));
    } else if names.is_empty() {
        text.push_str(&format!("; {} is empty", workspace.named(&folder)));
    } else {
        let more = if names.len() > MAX_SHOWN { ", …" } else { "" };
        let some: Vec<_> = names.iter().take(MAX_SHOWN).map(|name| visible::line(name)).collect();
        let (folder, some) = (workspace.named(&folder), some.join(", "));
        text.push_str(&format!(
            "; nothing in {folder} has a name like it ({some}{more}); find_files can look elsewhere"
        ));
    }
    text
}

/// Why a folder cannot be looked into, where the reason is not that there is none: the call that names it has failed.
pub fn unreadable(folder: &Path) -> Option<String> {
    match folder.read_dir() {
        Ok(_) => None,
        Err(error) => (!is_absent(&error)).then(|| save::words(&error)),
    }
}

/// Why a link leads nowhere.
fn broken_link(target: &Path, error: &std::io::Error) -> String {
    let end = match Errno::from_io_error(error) {
        Some(Errno::LOOP) => "and so on, without end",
        Some(Errno::NOENT | Errno::NOTDIR) => "which is not there",
        Some(_) | None => "which cannot be reached",
    };
    format!("it is a link to {}, {end}", echo(&visible::line(&target.to_string_lossy())))
}

/// The deepest folder that exists, the name that is missing in it, and what would follow.
fn deepest(path: &Path) -> Option<(PathBuf, String, PathBuf)> {
    let folder = path.ancestors().skip(1).find(|folder| folder.symlink_metadata().is_ok())?;
    let mut missing = path.strip_prefix(folder).ok()?.components();
    let name = missing.next()?.as_os_str().to_string_lossy().into_owned();
    Some((folder.to_owned(), name, missing.as_path().to_owned()))
}

fn names(workspace: &Workspace, folder: &Path) -> Vec<String> {
    let Ok(entries) = folder.read_dir() else {
        return Vec::new();
    };
    let mut names: Vec<String> = entries
        .filter_map(Result::ok)
        .take(MAX_NAMES)
        .filter(|entry| workspace.may_read(&entry.path()))
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.sort_unstable();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_suggested() {
        let folder = tempfile::tempdir().unwrap();
        let cwd = folder.path().canonicalize().unwrap();
        std::fs::create_dir_all(cwd.join("src/deep")).unwrap();
        for name in ["src/main.rs", "src/deep/lib.rs", "README.md", "secret.key"] {
            std::fs::write(cwd.join(name), "").unwrap();
        }
        std::fs::create_dir(cwd.join("empty")).unwrap();
        let workspace = Workspace::new(cwd, None, &["secret.key".into()]).unwrap();
        let explain = |path: &str| explain(&workspace, &workspace.resolve(path), Wanted::File);
        assert_eq!(explain("src/man.rs"), "no such file: src/man.rs; did you mean src/main.rs?");
        assert_eq!(
            explain("scr/deep/lib.rs"),
            "no such file: scr/deep/lib.rs; there is no folder scr; did you mean src/deep/lib.rs?"
        );
        for (name, target) in [("loop", "loop"), ("there", "back"), ("back", "there"), ("dangling", "gone")] {
            std::os::unix::fs::symlink(target, workspace.cwd().join(name)).unwrap();
        }
        assert_eq!(explain("loop"), "no such file: loop; it is a link to loop, and so on, without end");
        assert_eq!(explain("there"), "no such file: there; it is a link to back, and so on, without end");
        assert_eq!(explain("dangling"), "no such file: dangling; it is a link to gone, which is not there");
        assert_eq!(explain("loop/x"), "loop/x: too many levels of symbolic links");
        assert!(explain(&"ä/".repeat(2_000)).chars().count() < 700);
        assert_eq!(explain("readme.MD"), "no such file: readme.MD; did you mean README.md?");
        assert_eq!(explain("README.md/x"), "no such file: README.md/x; README.md is not a folder");
        assert_eq!(explain("empty/x"), "no such file: empty/x; empty is empty");
        assert!(!explain("secret.kez").contains("secret.key"));
        assert!(explain("qqqqq").contains("find_files"));
    }
}
