//! `@path` in typed text: the file it names goes along, a text fenced with its path, a picture as a picture. How it is
//! written is in [`crate::base::text::mention`]. Also pictures that are named by themselves.
//!
//! Only what a person typed is looked at, never standard input, pasted text or anything a model said.

use std::fs::{File, Metadata};
use std::io::{Error as IoError, Read};
use std::path::{Path, PathBuf};

use rustix::io::Errno;

use crate::base::text::clean::clean;
use crate::base::text::cut::head;
use crate::base::text::{mention, visible};
use crate::model::ModelInfo;
use crate::model::message::Part;
use crate::product::error::Error;
use crate::product::picture::{self, MOST_FILE_BYTES, Taken, Unfit};
use crate::product::tool::save::words;
use crate::product::tool::workspace::Workspace;

/// The most of one file that goes along; the rest can be read with the tools.
const MOST_CHARS: usize = 50_000;
/// Pictures of `--image`: all of them are sent again with every request, and Anthropic takes no large ones beyond 20
/// (its page "Vision").
pub const MOST_PICTURES: usize = 20;
/// Enough bytes for that many characters, whatever the script.
const MOST_BYTES: u64 = 4 * MOST_CHARS as u64;

/// The files that `text` names with `@path`, in the order of their first mention: a text is fenced with its path, a
/// picture comes behind a line that names it. And for each one that could not be taken along a sentence that says why.
pub fn attachments(text: &str, workspace: &Workspace) -> (Vec<Part>, Vec<String>) {
    let mut seen = Vec::new();
    let mut parts = Vec::new();
    let mut problems = Vec::new();
    for mention in mention::all(text) {
        let Some(name) = existing(&mention.path, workspace) else { continue };
        if seen.iter().any(|known| known == name) {
            continue;
        }
        seen.push(name.to_owned());
        match read(name, workspace) {
            Ok(file) => parts.extend(file),
            Err(problem) => {
                let written = mention::write(name);
                problems.push(format!("{} was not attached: {problem}", visible::line(&written)));
            }
        }
    }
    (parts, problems)
}

/// The pictures in `files`, each behind a line that names it.
///
/// # Errors
///
/// More than [`MOST_PICTURES`]; the first that cannot be sent, and why. What `--image` named is wrong use.
pub fn pictures(files: &[PathBuf], workspace: &Workspace) -> Result<Vec<Part>, Error> {
    if files.len() > MOST_PICTURES {
        return Err(Error::usage(format!("--image: {} pictures, and {MOST_PICTURES} go along at most", files.len()))
            .hint("name the others in the prompt: a model that sees can look at them with read_file"));
    }
    let mut parts = Vec::new();
    for file in files {
        let name = file.to_string_lossy();
        let path = file.to_str().map_or_else(|| workspace.cwd().join(file), |name| workspace.resolve(name));
        let taken = open(&path, workspace).and_then(|(file, _)| whole(Vec::new(), file));
        let taken = taken.map_err(|problem| Error::usage(format!("--image {}: {problem}", visible::line(&name))))?;
        parts.extend(shown(&name, taken));
    }
    Ok(parts)
}

/// What to tell a person who sends pictures to a model that sees none.
pub fn unseen(said: &[Part], info: &ModelInfo) -> Option<String> {
    let has_pictures = said.iter().any(|part| matches!(part, Part::Image(_)));
    (has_pictures && !info.images)
        .then(|| format!("{} sees no pictures, as far as is known; it is told that one was there.", info.origin.model))
}

/// The name as it stands, or without the punctuation of the sentence around it; nothing if neither is there, because
/// then the word was no path. One that cannot be seen may be there.
fn existing<'a>(name: &'a str, workspace: &Workspace) -> Option<&'a str> {
    let bare = name.trim_end_matches(['.', ',', ';', ':', '!', '?', ')', ']', '\'', '"']);
    let look = |name: &&str| workspace.resolve(name).metadata();
    let is_unseen = |error: &IoError| matches!(Errno::from_io_error(error), Some(Errno::ACCESS | Errno::LOOP));
    [name, bare]
        .into_iter()
        .find(|name| !name.is_empty() && look(name).is_ok())
        .or_else(|| Some(bare).filter(|bare| !bare.is_empty() && look(bare).is_err_and(|error| is_unseen(&error))))
}

fn read(name: &str, workspace: &Workspace) -> Result<Vec<Part>, String> {
    let (mut file, metadata) = open(&workspace.resolve(name), workspace)?;
    let mut bytes = Vec::new();
    file.by_ref().take(MOST_BYTES).read_to_end(&mut bytes).map_err(|error| words(&error))?;
    if picture::kind_of(&bytes).is_some_and(|kind| !kind.is_text()) {
        return whole(bytes, file).map(|taken| shown(name, taken).into());
    }
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
    Ok(vec![fenced(name, &format!("{}{cut}", kept.trim_end_matches('\n')))])
}

/// Opens a regular file that may be read.
fn open(path: &Path, workspace: &Workspace) -> Result<(File, Metadata), String> {
    if !workspace.may_read(path) {
        return Err("reading it is closed by sandbox.deny_read".to_owned());
    }
    let metadata = path.metadata().map_err(|error| words(&error))?;
    if !metadata.is_file() {
        return Err("it is no regular file".to_owned());
    }
    let file = File::open(path).map_err(|error| words(&error))?;
    Ok((file, metadata))
}

/// The picture that `begun` and what is left of the file make.
fn whole(mut begun: Vec<u8>, file: File) -> Result<Taken, String> {
    // One more than there is room for: it may never say how large it is.
    let left = (MOST_FILE_BYTES + 1).saturating_sub(begun.len() as u64);
    file.take(left).read_to_end(&mut begun).map_err(|error| words(&error))?;
    picture::take(&begun).map_err(|unfit: Unfit| unfit.to_string())
}

/// A picture behind a line that names it.
fn shown(name: &str, taken: Taken) -> [Part; 2] {
    [fenced(name, &format!("{}; it follows", taken.describe())), Part::Image(taken.image)]
}

fn fenced(name: &str, content: &str) -> Part {
    Part::Text(format!("<file path=\"{name}\">\n{content}\n</file>"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of one pixel.
    const PIXEL: &[u8] = b"GIF89a\x01\0\x01\0\x80\0\0\xff\0\0\0\0\0,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;";

    fn texts(parts: Vec<Part>) -> Vec<String> {
        let text = |part| match part {
            Part::Text(text) => text,
            Part::Image(image) => image.media_type,
        };
        parts.into_iter().map(text).collect()
    }

    #[test]
    fn pictures_go_along_behind_their_names() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = Workspace::new(folder.path().to_owned(), None, &["secret.gif".into()]).unwrap();
        for (name, content) in [
            ("a.txt", PIXEL),
            ("cut.gif", &PIXEL[..20]),
            ("page.png", b"<html>"),
            ("secret.gif", PIXEL),
            ("b.svg", b"<svg/>"),
        ] {
            std::fs::write(folder.path().join(name), content).unwrap();
        }
        let (parts, problems) = attachments("@a.txt @page.png @b.svg @cut.gif @secret.gif @a.txt", &workspace);
        assert_eq!(
            texts(parts),
            [
                "<file path=\"a.txt\">\na GIF picture, 1×1 px, 35 B; converted to image/png; it follows\n</file>",
                "image/png",
                "<file path=\"page.png\">\n<html>\n</file>",
                "<file path=\"b.svg\">\n<svg/>\n</file>",
            ]
        );
        assert!(
            problems[0].starts_with("@cut.gif was not attached: it begins as a GIF picture, but is damaged"),
            "{problems:?}"
        );
        assert!(problems[1].contains("sandbox.deny_read") && problems.len() == 2, "{problems:?}");

        let named = |names: &[&str]| pictures(&names.iter().map(PathBuf::from).collect::<Vec<_>>(), &workspace);
        assert_eq!(texts(named(&["a.txt", "a.txt"]).unwrap()).len(), 4);
        let many = named(&["a.txt"; MOST_PICTURES + 1]).unwrap_err().to_string();
        assert_eq!(many, "--image: 21 pictures, and 20 go along at most");
        for (name, problem) in [
            ("none.png", "--image none.png: no such file or directory"),
            ("page.png", "--image page.png: it is no picture; PNG, JPEG, GIF, WebP and BMP are taken"),
            ("secret.gif", "--image secret.gif: reading it is closed by sandbox.deny_read"),
            (".", "--image .: it is no regular file"),
        ] {
            assert_eq!(named(&["a.txt", name]).unwrap_err().to_string(), problem);
        }
    }

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
        assert_eq!(texts(files), ["<file path=\"notes.md\">\n42 grams\n</file>"]);
        assert_eq!(problems.len(), 3, "{problems:?}");
        std::os::unix::fs::symlink("loop", folder.path().join("loop")).unwrap();
        let (_, problems) = attachments("see @loop/x, and @notes.md/x", &workspace);
        assert_eq!(problems, ["@loop/x was not attached: too many levels of symbolic links"]);
        std::fs::write(folder.path().join("my \"own\" notes"), "7").unwrap();
        let (files, _) = attachments(r#"@"my \"own\" notes", @"nobody""#, &workspace);
        assert_eq!(files.len(), 1);
        let (files, _) = attachments("@long", &workspace);
        let files = texts(files);
        assert!(files[0].chars().count() < 50_200 && files[0].contains("of 120000 bytes"));
    }
}
