//! A glob as the model writes it, made ready for a walk: the folders it spells out become the walk's root.
//!
//! Asks the file system only whether a pattern is itself the path of something; never walks.

use std::path::{Path, PathBuf};

use ignore::overrides::{Override, OverrideBuilder};

use crate::kernel::tool::echo;
use crate::product::tool::workspace::Workspace;

/// A compiled glob and where it applies.
///
/// Written as a line of `.gitignore` is: without a slash it matches names at any depth, with one it matches paths below
/// the root; `!` before it excludes. As in ripgrep it finds hidden and ignored files too, if it says something about
/// their name: `*.log` does, `src/**` and `*` do not.
#[derive(Clone, Debug)]
pub struct Glob {
    root: PathBuf,
    matcher: Override,
    names_something: bool,
    depth: Option<usize>,
}

impl Glob {
    /// Reads a glob that applies below `base`, or anywhere if it is absolute or begins with `~` or `..`.
    ///
    /// # Errors
    ///
    /// What is wrong with the glob.
    pub fn new(workspace: &Workspace, base: &Path, pattern: &str) -> Result<Self, String> {
        let pattern = pattern.trim();
        if pattern.is_empty() {
            return Err("the glob is empty; **/* matches every file".to_owned());
        }
        let (root, rest) = split(workspace, base, pattern);
        let mut builder = OverrideBuilder::new(&root);
        let matcher = builder.add(&rest).and_then(|builder| builder.build());
        let matcher = matcher.map_err(|error| format!("bad glob {}: {}", echo(pattern), echo(&complaint(&error))))?;
        Ok(Self { names_something: names_something(&rest), depth: depth(&rest), root, matcher })
    }

    /// The folder to walk, absolute; it may not exist.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// How deep the walk must go, where the glob says it.
    pub fn depth(&self) -> Option<usize> {
        self.depth
    }

    /// What the walk is to let through whatever the ignore files say.
    pub fn overrides(&self) -> Option<&Override> {
        self.names_something.then_some(&self.matcher)
    }

    /// Whether a file below the root matches.
    pub fn matches_file(&self, path: &Path) -> bool {
        !self.matcher.matched(path, false).is_ignore()
    }

    /// Whether a folder below the root matches by its own name.
    pub fn matches_folder(&self, path: &Path) -> bool {
        self.matcher.matched(path, true).is_whitelist()
    }
}

/// Takes the folders a pattern spells out off its front. What is left begins with a slash if it is bound to the root.
fn split(workspace: &Workspace, base: &Path, pattern: &str) -> (PathBuf, String) {
    if pattern.starts_with('!') {
        return (base.to_owned(), pattern.to_owned());
    }
    if pattern.starts_with('/') {
        let (root, rest) = spelled_out(PathBuf::from("/"), pattern);
        // Otherwise the slash is meant as in `.gitignore`: at the top of the folder that is walked.
        if root.parent().is_some() && root.is_dir() {
            return (root, rest);
        }
        return spelled_out(base.to_owned(), pattern);
    }
    if let Some(below_home) = pattern.strip_prefix('~').filter(|rest| rest.starts_with('/')) {
        return spelled_out(workspace.resolve("~"), below_home);
    }
    match (pattern.contains('/'), pattern.starts_with('#')) {
        (true, _) => spelled_out(base.to_owned(), pattern),
        (false, _) if literal_file(base, pattern).is_some() => spelled_out(base.to_owned(), pattern),
        // Not a comment.
        (false, true) => (base.to_owned(), format!("\\{pattern}")),
        (false, false) => (base.to_owned(), pattern.to_owned()),
    }
}

fn spelled_out(mut root: PathBuf, pattern: &str) -> (PathBuf, String) {
    let mut rest = pattern.trim_start_matches('/');
    if let Some((folder, name)) = literal_file(&root, rest) {
        return (folder, format!("/{}", globset::escape(&name)));
    }
    while let Some((first, after)) = rest.split_once('/') {
        match first {
            "" | "." => {}
            ".." => {
                root.pop();
            }
            name if is_plain(name) => root.push(name),
            _ => break,
        }
        rest = after;
    }
    // `src/` means what is in it.
    (root, format!("/{}", if rest.is_empty() { "**" } else { rest }))
}

/// Files may be called `[id].tsx`: a pattern that is the path of one means it.
fn literal_file(root: &Path, rest: &str) -> Option<(PathBuf, String)> {
    if is_plain(rest) || !rest.contains('[') {
        return None;
    }
    let path = root.join(rest);
    let found = std::fs::symlink_metadata(&path).is_ok();
    found.then(|| Some((path.parent()?.to_owned(), path.file_name()?.to_str()?.to_owned())))?
}

fn is_plain(text: &str) -> bool {
    !text.contains(['*', '?', '[', ']', '{', '}', '\\'])
}

/// Whether the last part is more than wildcards.
fn names_something(rest: &str) -> bool {
    let last = rest.trim_end_matches('/').rsplit('/').next().unwrap_or(rest);
    !rest.starts_with('!') && last.contains(|letter| !matches!(letter, '*' | '?' | '.' | '{' | '}' | ','))
}

/// An anchored pattern without `**` matches at one depth; braces may hold slashes.
fn depth(rest: &str) -> Option<usize> {
    let parts = rest.strip_prefix('/')?;
    (!parts.contains("**") && !parts.contains('{')).then(|| parts.split('/').filter(|part| !part.is_empty()).count())
}

fn complaint(error: &ignore::Error) -> String {
    if let ignore::Error::Glob { err, .. } = error { err.clone() } else { error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(pattern: &str) -> (String, String) {
        let workspace = Workspace::new("/w/p".into(), Some("/home/u".into()), &[]).unwrap();
        let (root, rest) = split(&workspace, Path::new("/w/p"), pattern);
        (root.display().to_string(), rest)
    }

    #[test]
    fn folders_that_are_spelled_out_become_the_root() {
        for (pattern, root, rest) in [
            ("*.rs", "/w/p", "*.rs"),
            ("Makefile", "/w/p", "Makefile"),
            ("#notes#", "/w/p", "\\#notes#"),
            ("**/*.rs", "/w/p", "/**/*.rs"),
            ("src/*.rs", "/w/p/src", "/*.rs"),
            ("./src/a/**/*.{rs,toml}", "/w/p/src/a", "/**/*.{rs,toml}"),
            (".github/**", "/w/p/.github", "/**"),
            ("src/", "/w/p/src", "/**"),
            ("../x/*.c", "/w/x", "/*.c"),
            ("/etc/*.conf", "/etc", "/*.conf"),
            ("/*.c", "/w/p", "/*.c"),
            ("/nowhere/x/*.c", "/w/p/nowhere/x", "/*.c"),
            ("/", "/w/p", "/**"),
            ("~/a/*.txt", "/home/u/a", "/*.txt"),
            ("{src,tests}/*.rs", "/w/p", "/{src,tests}/*.rs"),
            ("!*.md", "/w/p", "!*.md"),
            ("a*/b", "/w/p", "/a*/b"),
        ] {
            assert_eq!(at(pattern), (root.to_owned(), rest.to_owned()), "{pattern}");
        }
    }

    #[test]
    fn depth_is_known_without_double_stars() {
        assert_eq!(depth("/*.rs"), Some(1));
        assert_eq!(depth("/a*/*.rs"), Some(2));
        assert_eq!(depth("/**/*.rs"), None);
        assert_eq!(depth("/{a/b,c}.rs"), None);
        assert_eq!(depth("*.rs"), None);
    }

    #[test]
    fn only_a_name_overrides_the_rules() {
        for pattern in ["*.log", "**/*.rs", "/.env", ".env*", "/**/x"] {
            assert!(names_something(pattern), "{pattern}");
        }
        for pattern in ["*", "/**", "/**/*", "*.*", "!*.md", "/src/**"] {
            assert!(!names_something(pattern), "{pattern}");
        }
    }
}
