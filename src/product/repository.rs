//! Where a repository begins.
//!
//! Only looks for its mark; what git itself would say of it is asked nowhere.

use std::path::Path;

/// The root of the repository around a folder: the nearest one upwards that holds `.git`, be it a folder, a file or a
/// broken link. What is bounded by a repository is then bounded by the smallest one that may be meant.
///
/// `folder` is followed by name alone; links in it are the caller's to follow.
pub fn root(folder: &Path) -> Option<&Path> {
    folder.ancestors().find(|folder| folder.join(".git").symlink_metadata().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_mark_counts_whatever_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path();
        std::fs::create_dir_all(top.join("outer/.git")).unwrap();
        std::fs::create_dir_all(top.join("outer/tree/deep")).unwrap();
        assert_eq!(root(&top.join("outer/tree/deep")), Some(&*top.join("outer")));
        std::fs::write(top.join("outer/tree/.git"), "gitdir: elsewhere").unwrap();
        assert_eq!(root(&top.join("outer/tree/deep")), Some(&*top.join("outer/tree")));
        std::os::unix::fs::symlink("nowhere", top.join("outer/tree/deep/.git")).unwrap();
        assert_eq!(root(&top.join("outer/tree/deep")), Some(&*top.join("outer/tree/deep")));
    }
}
