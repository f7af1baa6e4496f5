//! Where a repository begins, and what is checked out there, as its files tell.
//!
//! Reads two small files at most and runs nothing; what git itself would say is asked nowhere.

use std::io::Read;
use std::path::{Path, PathBuf};

/// The most of `.git` or `HEAD` that is read. Both are one line; a repository is somebody else's input.
const GIT_FILE_BYTES: u64 = 4096;

/// How much of a commit's hash people are shown: enough to find it again in most repositories.
const SHORT_HASH: usize = 8;

/// What is checked out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Head {
    /// A branch, without `refs/heads/`.
    Branch(String),
    /// A commit, by its hash.
    Detached(String),
}

impl Head {
    /// What people call it: the branch, or the beginning of the hash. The name is somebody else's, and not cleaned.
    pub fn name(&self) -> &str {
        match self {
            Self::Branch(name) => name,
            Self::Detached(hash) => hash.get(..SHORT_HASH).unwrap_or(hash),
        }
    }
}

/// The root of the repository around a folder: the nearest one upwards that holds `.git`, be it a folder, a file or a
/// broken link. What is bounded by a repository is then bounded by the smallest one that may be meant.
///
/// `folder` is followed by name alone; links in it are the caller's to follow.
pub fn root(folder: &Path) -> Option<&Path> {
    folder.ancestors().find(|folder| folder.join(".git").symlink_metadata().is_ok())
}

/// What is checked out in the repository at `root`; `None` where that cannot be read.
pub fn head(root: &Path) -> Option<Head> {
    parse_head(&first_line(&git_folder(root)?.join("HEAD"))?)
}

/// Where git keeps what belongs to the work tree at `root`: its `.git` is that folder or, in a linked work tree or a
/// submodule, a file that names it (gitrepository-layout(5)).
pub fn git_folder(root: &Path) -> Option<PathBuf> {
    let git = root.join(".git");
    match first_line(&git) {
        Some(line) => Some(root.join(line.strip_prefix("gitdir:")?.trim())),
        None => Some(git),
    }
}

fn parse_head(line: &str) -> Option<Head> {
    match line.strip_prefix("ref:").map(str::trim) {
        // What the reftable format leaves in HEAD; the branch is elsewhere.
        Some("refs/heads/.invalid") => None,
        Some(name) => Some(Head::Branch(name.strip_prefix("refs/heads/").unwrap_or(name).to_owned())),
        None => {
            let is_hash = line.len() >= 40 && line.bytes().all(|byte| byte.is_ascii_hexdigit());
            is_hash.then(|| Head::Detached(line.to_owned()))
        }
    }
}

/// The first line of a small regular file; a pipe or a device would make us wait.
fn first_line(path: &Path) -> Option<String> {
    if !std::fs::metadata(path).ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    std::fs::File::open(path).ok()?.take(GIT_FILE_BYTES).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    text.lines().next().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{create_dir_all, write};

    #[test]
    fn the_nearest_mark_counts_whatever_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path();
        create_dir_all(top.join("outer/.git")).unwrap();
        create_dir_all(top.join("outer/tree/deep")).unwrap();
        assert_eq!(root(&top.join("outer/tree/deep")), Some(&*top.join("outer")));
        write(top.join("outer/tree/.git"), "gitdir: elsewhere").unwrap();
        assert_eq!(root(&top.join("outer/tree/deep")), Some(&*top.join("outer/tree")));
        std::os::unix::fs::symlink("nowhere", top.join("outer/tree/deep/.git")).unwrap();
        assert_eq!(root(&top.join("outer/tree/deep")), Some(&*top.join("outer/tree/deep")));
    }

    #[test]
    fn branches_are_read_from_the_files_of_git() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path();
        let head_of = |cwd: &str| root(&top.join(cwd)).map(|root| (root.to_owned(), head(root)));
        create_dir_all(top.join("main/.git/worktrees/side")).unwrap();
        create_dir_all(top.join("main/src/deep")).unwrap();
        create_dir_all(top.join("side")).unwrap();
        write(top.join("main/.git/HEAD"), "ref: refs/heads/topic/tea\n").unwrap();
        let branch = |name: &str| Some(Head::Branch(name.to_owned()));
        assert_eq!(head_of("main/src/deep"), Some((top.join("main"), branch("topic/tea"))));
        let hash = "0123456789abcdef0123456789abcdef01234567";
        write(top.join("main/.git/worktrees/side/HEAD"), hash).unwrap();
        for gitdir in ["../main/.git/worktrees/side".to_owned(), format!("{}/main/.git/worktrees/side", top.display())]
        {
            write(top.join("side/.git"), format!("gitdir: {gitdir}\n")).unwrap();
            assert_eq!(head_of("side"), Some((top.join("side"), Some(Head::Detached(hash.to_owned())))));
        }
        for (content, expected) in [("ref: refs/heads/.invalid\n", None), ("ref: refs/odd/x", branch("refs/odd/x"))] {
            write(top.join("main/.git/HEAD"), content).unwrap();
            assert_eq!(head_of("main"), Some((top.join("main"), expected)));
        }
    }

    #[test]
    fn what_git_would_not_read_has_no_branch() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path();
        create_dir_all(top.join(".git")).unwrap();
        write(top.join(".git/HEAD"), "ref: refs/heads/outer\n").unwrap();
        create_dir_all(top.join("a/b")).unwrap();
        for content in [&b"\xff\xfe\0"[..], b"", b"gitdir: /nowhere/at/all\n", b"gitdir:"] {
            write(top.join("a/.git"), content).unwrap();
            assert_eq!((root(&top.join("a/b")), head(&top.join("a"))), (Some(&*top.join("a")), None));
        }
        assert_eq!(parse_head("not a hash"), None);
    }

    #[test]
    fn a_commit_is_called_by_the_beginning_of_its_hash() {
        assert_eq!(Head::Branch("topic/tea".into()).name(), "topic/tea");
        assert_eq!(Head::Detached("0123456789abcdef0123456789abcdef01234567".into()).name(), "01234567");
    }
}
