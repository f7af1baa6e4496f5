//! Paths as people write them, made absolute, and paths with their links followed.
//!
//! Whether a path may be used is not decided here.

use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

use super::text::visible;

/// Dangling links followed in a row before a path is taken as it is; the kernel's own limit.
const MAX_LINKS: u32 = 40;

/// `path` from `base`, with a leading `~` opened where a home is known. Neither `..` nor links are touched.
pub fn open_home(path: &Path, base: &Path, home: Option<&Path>) -> PathBuf {
    match (path.strip_prefix("~"), home) {
        (Ok(rest), Some(home)) => home.join(rest),
        _ => base.join(path),
    }
}

/// `path` as people read it: the home folder is `~`, and what would not be seen is spelt.
pub fn shown(path: &Path, home: Option<&Path>) -> String {
    // A home that is the root would make `~` of everything.
    let inside = home.filter(|home| home.parent().is_some()).and_then(|home| path.strip_prefix(home).ok());
    let short =
        inside.map(|inside| if inside.as_os_str().is_empty() { "~".into() } else { Path::new("~").join(inside) });
    visible::line(&short.as_deref().unwrap_or(path).to_string_lossy()).into_owned()
}

/// `path` with `.` and `..` folded away as they are written, links not followed.
pub fn fold(path: &Path) -> PathBuf {
    let mut folded = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                folded.pop();
            }
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => folded.push(part),
        }
    }
    folded
}

/// Whether what the system said about a path means that nothing is there, and not only that it cannot be seen.
pub fn is_absent(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

/// `path` with its links followed as far as it exists; a link to nothing yet leads to where the file would be.
pub fn canonical(path: &Path) -> PathBuf {
    follow(path, MAX_LINKS)
}

fn follow(path: &Path, links_left: u32) -> PathBuf {
    let mut missing = Vec::new();
    let mut existing = path;
    loop {
        if let Ok(found) = existing.canonicalize() {
            return missing.iter().rev().fold(found, |path, name| path.join(name));
        }
        let (Some(parent), Some(name)) = (existing.parent(), existing.file_name()) else {
            return path.to_owned();
        };
        if let (Ok(target), Some(links_left)) = (existing.read_link(), links_left.checked_sub(1)) {
            let folder = parent.canonicalize().unwrap_or_else(|_| parent.to_owned());
            let target = missing.iter().rev().fold(fold(&folder.join(target)), |path, name| path.join(name));
            return follow(&target, links_left);
        }
        missing.push(name);
        existing = parent;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_home_is_opened_where_it_is_known() {
        let open = |path: &str, home: Option<&str>| open_home(path.as_ref(), "/project".as_ref(), home.map(Path::new));
        assert_eq!(open("~", Some("/home/me")), Path::new("/home/me"));
        assert_eq!(open("~/a", Some("/home/me")), Path::new("/home/me/a"));
        assert_eq!(open("~you/a", Some("/home/me")), Path::new("/project/~you/a"));
        assert_eq!(open("~/a", None), Path::new("/project/~/a"));
        assert_eq!(open("/a", Some("/home/me")), Path::new("/a"));
        assert_eq!(fold(&open("./x/../a/..", None)), Path::new("/project"));
        assert_eq!(fold(Path::new("/../a")), Path::new("/a"));
    }

    #[test]
    fn a_path_is_shown_from_home() {
        let shown = |path: &str, home: &str| shown(path.as_ref(), Some(home.as_ref()));
        assert_eq!(shown("/home/me/src/calc", "/home/me"), "~/src/calc");
        assert_eq!([shown("/home/me", "/home/me"), shown("/home/me/", "/home/me")], ["~", "~"]);
        assert_eq!([shown("/home/me-too", "/home/me"), shown("/etc", "/")], ["/home/me-too", "/etc"]);
        assert_eq!(shown("/home/me/\u{1b}[2J", "/home/me"), "~/␛[2J");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_to_nothing_leads_to_where_the_file_would_be() {
        let folder = tempfile::tempdir().unwrap();
        let cwd = folder.path().canonicalize().unwrap();
        std::fs::create_dir(cwd.join("there")).unwrap();
        std::os::unix::fs::symlink("there/../there/new", cwd.join("link")).unwrap();
        std::os::unix::fs::symlink("loop", cwd.join("loop")).unwrap();
        assert_eq!(canonical(&cwd.join("link")), cwd.join("there/new"));
        assert_eq!(canonical(&cwd.join("link/below")), cwd.join("there/new/below"));
        assert_eq!(canonical(&cwd.join("loop")), cwd.join("loop"));
    }
}
