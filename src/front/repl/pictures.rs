//! Pictures of drafts, from files and to messages: read, kept by their paths, and put between the texts they stand in.
//!
//! Waits for the disk: nothing for a thread that answers keys, but for pictures that are read already.

use std::fs::OpenOptions;
use std::io::{Error, ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Arc;

use crate::base::text::{dropped, visible};
use crate::model::message::{Image, Part};
use crate::product::agent::attach::attachments;
use crate::product::picture::{self, MOST_FILE_BYTES, Taken, Unfit};
use crate::product::tool::save::words;
use crate::product::tool::workspace::Workspace;

use super::editor::draft::{Draft, Picture, Piece};
use super::message::Named;
use super::view::transcript;
use super::worker::Setup;

/// Where files are looked for before a session is open; nothing where the settings are wrong, which is told elsewhere.
pub(super) fn workspace(setup: &Setup) -> Option<Arc<Workspace>> {
    let Setup { env, loaded, .. } = setup;
    let workspace = Workspace::new(env.cwd.clone(), env.home.clone(), &loaded.settings.sandbox.deny_read);
    workspace.ok().map(Arc::new)
}

/// Why a file gives no picture.
enum Trouble {
    /// It is not there.
    Missing,
    /// It is something else, such as text: the path was meant as it stands.
    Other,
    /// It would be one; a sentence.
    Unfit(String),
}

/// The pictures that a pasted text names, if it names nothing else.
pub fn named(text: &str, workspace: &Workspace) -> Named {
    let mut unfit = None;
    for reading in dropped::readings(text) {
        let mut pictures = Vec::with_capacity(reading.len());
        for path in &reading {
            match read(&workspace.resolve(path), workspace) {
                Ok(picture) => pictures.push(Arc::new(picture)),
                Err(Trouble::Unfit(why)) => {
                    unfit.get_or_insert(why);
                    break;
                }
                Err(Trouble::Missing | Trouble::Other) => break,
            }
        }
        if pictures.len() == reading.len() {
            return Named::Pictures(pictures);
        }
    }
    unfit.map_or(Named::Nothing, Named::Unfit)
}

/// A picture out of a file.
fn read(path: &Path, workspace: &Workspace) -> Result<Picture, Trouble> {
    let shown = workspace.named(path);
    let unfit = |why: &str| Trouble::Unfit(format!("{shown} is not taken as a picture: {why}."));
    if !workspace.may_read(path) {
        return Err(unfit("reading it is closed by sandbox.deny_read"));
    }
    // A pipe would never end.
    let nonblocking = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(nonblocking).open(path);
    let is_missing = |error: &Error| {
        [ErrorKind::NotFound, ErrorKind::NotADirectory, ErrorKind::InvalidFilename].contains(&error.kind())
    };
    let file = file.map_err(|error| if is_missing(&error) { Trouble::Missing } else { unfit(&words(&error)) })?;
    let metadata = file.metadata().map_err(|error| unfit(&words(&error)))?;
    if !metadata.is_file() {
        return Err(Trouble::Other);
    }
    let mut bytes = Vec::new();
    file.take(MOST_FILE_BYTES + 1).read_to_end(&mut bytes).map_err(|error| unfit(&words(&error)))?;
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    match taken(&bytes, name) {
        Ok(picture) => Ok(Picture { path: Some(path.to_owned()), ..picture }),
        Err(Unfit::NoPicture) => Err(Trouble::Other),
        Err(why) => Err(unfit(&why.to_string())),
    }
}

/// A picture of some bytes, ready to be sent.
///
/// # Errors
///
/// Why it cannot be sent.
pub fn taken(bytes: &[u8], name: String) -> Result<Picture, Unfit> {
    let Taken { image, was, .. } = picture::take(bytes)?;
    Ok(Picture { name, path: None, size: Some(was), image: Some(image) })
}

/// What a draft says to a model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Said {
    /// The files that it names with `@path`.
    pub files: Vec<Part>,
    /// Its texts and pictures in their order; before each picture the text names it.
    pub words: Vec<Part>,
    /// What could not be taken along, a sentence each.
    pub problems: Vec<String>,
}

/// What a draft says.
pub fn said(draft: &Draft, workspace: &Workspace) -> Said {
    let (files, mut problems) = attachments(&typed(draft), workspace);
    let (mut words, mut text, mut number) = (Vec::new(), String::new(), 0);
    for piece in &draft.pieces {
        match piece {
            Piece::Typed(piece) | Piece::Pasted(piece) => text.push_str(piece),
            Piece::Picture(picture) => {
                number += 1;
                match image(picture, workspace) {
                    Ok(image) => {
                        // One may be spoken of by its number.
                        text.push_str(&picture.numbered(number));
                        words.extend([Part::Text(std::mem::take(&mut text)), Part::Image(image)]);
                    }
                    Err(problem) => problems.push(problem),
                }
            }
        }
    }
    // Wires refuse a text of blanks.
    words.extend(Some(text).filter(|text| !text.trim().is_empty()).map(Part::Text));
    Said { files, words, problems }
}

/// What a message of a person said, as a draft: without what the program put before it, with its pictures.
pub fn again(parts: &[Part]) -> Draft {
    let mut draft = Draft::default();
    for (place, part) in parts.iter().enumerate() {
        let is_before_picture = matches!(parts.get(place + 1), Some(Part::Image(_)));
        match part {
            Part::Text(text) => {
                let text = transcript::own_words(text);
                // It is named by the picture itself.
                let label = is_before_picture.then(|| text.rfind("[picture ")).flatten();
                draft.push(Piece::Typed(text.get(..label.unwrap_or(text.len())).unwrap_or_default().to_owned()));
            }
            Part::Image(image) => {
                let before = place.checked_sub(1).and_then(|before| parts.get(before));
                let name = before.and_then(|part| match part {
                    Part::Text(text) => named_last(text),
                    Part::Image(_) => None,
                });
                let (name, size) = name.unwrap_or_else(|| (image.label(), None));
                draft.push(Piece::Picture(Arc::new(Picture { name, path: None, size, image: Some(image.clone()) })));
            }
        }
    }
    draft
}

/// Name and size of the picture that a text names at its end: `[picture 1: shot.png 640×480]`.
fn named_last(text: &str) -> Option<(String, Option<(u32, u32)>)> {
    let (_, named) = text.strip_suffix(']')?.rsplit_once("[picture ")?.1.split_once(": ")?;
    let size = named.rsplit_once(' ').and_then(|(name, size)| {
        let (columns, rows) = size.split_once('×')?;
        Some((name.to_owned(), (columns.parse().ok()?, rows.parse().ok()?)))
    });
    Some(size.map_or_else(|| (named.to_owned(), None), |(name, size)| (name, Some(size))))
}

/// What is sent of a picture; one that comes from an earlier run is read again.
fn image(picture: &Picture, workspace: &Workspace) -> Result<Image, String> {
    if let Some(image) = &picture.image {
        return Ok(image.clone());
    }
    let name = visible::line(&picture.name);
    let lost = |why: &str| format!("The picture {name} is lost: {why}.");
    let Some(path) = &picture.path else { return Err(lost("it was in no file, and only its name was kept")) };
    match read(path, workspace) {
        Ok(Picture { image: Some(image), .. }) => Ok(image),
        Ok(Picture { image: None, .. }) | Err(Trouble::Other) => Err(lost("its file is no picture any more")),
        Err(Trouble::Missing) => Err(lost("its file is gone")),
        Err(Trouble::Unfit(why)) => Err(why),
    }
}

/// What was typed by hand: only there `@path` names a file.
fn typed(draft: &Draft) -> String {
    let typed = draft.pieces.iter().filter_map(|piece| match piece {
        Piece::Typed(text) => Some(text.as_str()),
        Piece::Pasted(_) | Piece::Picture(_) => None,
    });
    typed.collect::<Vec<_>>().join(" ")
}

/// What is kept of a picture: its file, else what it is called.
pub fn kept(picture: &Picture) -> String {
    picture.path.as_ref().map_or_else(|| picture.name.clone(), |path| path.to_string_lossy().into_owned())
}

/// A picture that was kept so.
pub fn recalled(kept: &str) -> Picture {
    let path = Path::new(kept);
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    Picture { name, path: path.is_absolute().then(|| path.to_owned()), size: None, image: None }
}

#[cfg(test)]
mod tests;
