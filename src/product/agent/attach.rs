//! `@path` in typed text: the file it names, fenced with its path, goes along. How it is written is in
//! [`crate::base::text::mention`].
//!
//! Only what a person typed is looked at, never standard input, pasted text or anything a model said.

use std::fs::File;
use std::io::{Error, Read};

use rustix::io::Errno;

use crate::base::text::clean::clean;
use crate::base::text::cut::head;
use crate::base::text::{mention, visible};
use crate::product::tool::save::words;
use crate::product::tool::workspace::Workspace;

/// The most of one file that goes along; the rest can be read with the tools.
const MOST_CHARS: usize = 50_000;
/// Enough bytes for that many characters, whatever the script.
const MOST_BYTES: u64 = 4 * MOST_CHARS as u64;

/// The files that `text` names with `@path`, each fenced with its path, in the order of their first mention; and for
/// each one that could not be taken along a sentence that says why.
pub fn attachments(text: &str, workspace: &Workspace) -> (Vec<String>, Vec<String>) {
    let mut seen = Vec::new();
    let mut files = Vec::new();
    let mut problems = Vec::new();
    for mention in mention::all(text) {
        let Some(name) = existing(&mention.path, workspace) else { continue };
        if seen.iter().any(|known| known == name) {
            continue;
        }
        seen.push(name.to_owned());
        match read(name, workspace) {
            Ok(file) => files.push(file),
            Err(problem) => {
                let written = mention::write(name);
                problems.push(format!("{} was not attached: {problem}", visible::line(&written)));
            }
        }
    }
    (files, problems)
}

/// The name as it stands, or without the punctuation of the sentence around it; nothing if neither is there, because
/// then the word was no path. One that cannot be seen may be there.
fn existing<'a>(name: &'a str, workspace: &Workspace) -> Option<&'a str> {
    let bare = name.trim_end_matches(['.', ',', ';', ':', '!', '?', ')', ']', '\'', '"']);
    let look = |name: &&str| workspace.resolve(name).metadata();
    let is_unseen = |error: &Error| matches!(Errno::from_io_error(error), Some(Errno::ACCESS | Errno::LOOP));
    [name, bare]
        .into_iter()
        .find(|name| !name.is_empty() && look(name).is_ok())
        .or_else(|| Some(bare).filter(|bare| !bare.is_empty() && look(bare).is_err_and(|error| is_unseen(&error))))
}

fn read(name: &str, workspace: &Workspace) -> Result<String, String> {
    let path = workspace.resolve(name);
    if !workspace.may_read(&path) {
        return Err("reading it is closed by sandbox.deny_read".to_owned());
    }
    let metadata = path.metadata().map_err(|error| words(&error))?;
    if !metadata.is_file() {
        return Err("it is no regular file".to_owned());
    }
    let mut bytes = Vec::new();
    let file = File::open(&path).map_err(|error| words(&error))?;
    file.take(MOST_BYTES).read_to_end(&mut bytes).map_err(|error| words(&error))?;
    if bytes.contains(&0) {
        return Err("it is not text".to_owned());
    }
    let whole = clean(&bytes);
    let kept = head(&whole, MOST_CHARS);
    let cut = if kept.len() < whole.len() || metadata.len() > MOST_BYTES {
        format!("\n[... cut after {} of {} bytes; read the rest with the tools ...]", kept.len(), metadata.len())
    } else {
        String::new()
    };
    Ok(format!("<file path=\"{name}\">\n{}{cut}\n</file>", kept.trim_end_matches('\n')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_attached_once_and_words_are_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = Workspace::new(folder.path().to_owned(), None, &["secret".into()]).unwrap();
        for (name, content) in
            [("notes.md", "42 grams\n"), ("secret", "x"), ("blob", "\0"), ("long", &"ü".repeat(60_000))]
        {
            std::fs::write(folder.path().join(name), content).unwrap();
        }
        let text = "mail me@notes.md, see @notes.md. and (@notes.md) @notes.md @nobody @secret @blob @.";
        let (files, problems) = attachments(text, &workspace);
        assert_eq!(files, ["<file path=\"notes.md\">\n42 grams\n</file>"]);
        assert_eq!(problems.len(), 3, "{problems:?}");
        std::os::unix::fs::symlink("loop", folder.path().join("loop")).unwrap();
        let (_, problems) = attachments("see @loop/x, and @notes.md/x", &workspace);
        assert_eq!(problems, ["@loop/x was not attached: too many levels of symbolic links"]);
        std::fs::write(folder.path().join("my \"own\" notes"), "7").unwrap();
        let (files, _) = attachments(r#"@"my \"own\" notes", @"nobody""#, &workspace);
        assert_eq!(files.len(), 1);
        let (files, _) = attachments("@long", &workspace);
        assert!(files[0].chars().count() < 50_200 && files[0].contains("of 120000 bytes"));
    }
}
