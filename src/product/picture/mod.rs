//! Pictures for models: what some bytes are, and bytes that every wire takes, by a real decode.
//!
//! A picture that cannot be decoded never reaches a model: one refused picture can spoil a conversation. No files are
//! read here, and nothing is known about models: whether one sees is the wire's business.

use image::ImageFormat;
use image::metadata::Orientation;
use thiserror::Error;

use crate::base::panic::caught;
use crate::base::text::cut;
use crate::base::text::numbers::{grouped, size};
use crate::model::message::Image;

mod decode;
mod encode;
mod kind;
mod turn;

use decode::{Decoded, decode, ends_there, has_end};
use encode::{encoded, scaled};
pub use kind::{Kind, kind_of};
use turn::Turn;

/// Pixels of the longest edge that is sent. Anthropic scales what is longer down to this and says that it helps nothing
/// (its page "Vision"), and refuses more than 2,000 once a request holds many; OpenAI and Gemini scale to less.
pub const MOST_EDGE: u32 = 1_568;
/// Bytes of a picture that is sent. Anthropic takes 5 MB of base64, which is a third more than the bytes; xAI 10 MiB,
/// Gemini 20 MB for a whole request.
pub const MOST_BYTES: usize = 3_750_000;
/// Bytes of a file that is looked at: more than cameras write.
pub const MOST_FILE_BYTES: u64 = 50_000_000;
/// Pixels that are decoded: more than usual cameras take. A few hundred bytes can claim any number.
const MOST_PIXELS: u64 = 50_000_000;
/// Of what a decoder says.
const REASON_CHARS: usize = 120;

/// Why something cannot be sent as a picture, and what to do about it. Continues a sentence about the file: `it is …`.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Unfit {
    /// Nothing that is known here.
    #[error("it is no picture; PNG, JPEG, GIF, WebP and BMP are taken")]
    NoPicture,
    /// A kind that models do not take.
    #[error("it is {}, which is not taken; {}", .0.name(), .0.instead())]
    Kind(Kind),
    /// More bytes than are looked at.
    #[error("it is larger than {}, the most a picture may have; scale it down", size(MOST_FILE_BYTES))]
    Bytes,
    /// More pixels than are decoded.
    #[error(
        "it is {} of {}×{} pixels, more than can be decoded here ({} in all); scale it down",
        .kind.name(), grouped(u64::from(*width)), grouped(u64::from(*height)), grouped(MOST_PIXELS)
    )]
    Pixels {
        /// What it is.
        kind: Kind,
        /// As its header says.
        width: u32,
        /// As its header says.
        height: u32,
    },
    /// Its bytes are not what they begin as.
    #[error("it begins as {}, but is damaged or incomplete ({reason}); write or download it again", .kind.name())]
    Broken {
        /// What it begins as.
        kind: Kind,
        /// What the decoder says.
        reason: String,
    },
}

/// A picture that can be sent, and what it was.
#[derive(Clone, Debug, PartialEq)]
pub struct Taken {
    /// The picture: a PNG or a JPEG.
    pub image: Image,
    /// Pixels of a row and rows of the picture that is sent.
    pub size: (u32, u32),
    /// What the file held.
    pub kind: Kind,
    /// Pixels of a row and rows of the file's picture, upright.
    pub was: (u32, u32),
    /// The file's bytes.
    pub bytes: u64,
}

impl Taken {
    /// What it is, for a model: `a PNG picture, 640×480 px, 12 KB`, and what was done to it.
    pub fn describe(&self) -> String {
        let Self { image, size: (width, height), kind, was: (was_width, was_height), bytes } = self;
        let mut text = format!("{}, {was_width}×{was_height} px, {}", kind.name(), size(*bytes));
        let is_other_type = kind.format().is_none_or(|format| format.to_mime_type() != image.media_type);
        match (self.size != self.was, is_other_type) {
            (true, _) => text.push_str(&format!("; scaled to {width}×{height} px ({})", image.media_type)),
            (false, true) => text.push_str(&format!("; converted to {}", image.media_type)),
            (false, false) => {}
        }
        text
    }
}

/// Makes `bytes`, a file's content, into a picture that every wire takes: a PNG or JPEG within [`MOST_EDGE`] and
/// [`MOST_BYTES`], upright. One that is that already is kept byte for byte; of several frames the first is taken.
///
/// Takes up to a second for the largest, and waits while two others are at it: not to be called where somebody waits for
/// a key.
///
/// # Errors
///
/// Why it cannot be sent.
pub fn prepare(bytes: &[u8]) -> Result<Image, Unfit> {
    take(bytes).map(|taken| taken.image)
}

/// As [`prepare`], with what there is to say about it.
///
/// # Errors
///
/// Why it cannot be sent.
pub fn take(bytes: &[u8]) -> Result<Taken, Unfit> {
    let kind = kind_of(bytes).ok_or(Unfit::NoPicture)?;
    let format = kind.format().ok_or(Unfit::Kind(kind))?;
    if bytes.len() as u64 > MOST_FILE_BYTES {
        return Err(Unfit::Bytes);
    }
    // The decoders meet whatever somebody made up; a defect of theirs is an answer, not the end of a call.
    let _turn = Turn::wait();
    caught(|| taken(bytes, kind, format)).unwrap_or_else(|defect| Err(broken(kind, &defect)))
}

fn taken(bytes: &[u8], kind: Kind, format: ImageFormat) -> Result<Taken, Unfit> {
    if kind == Kind::Jpeg && !has_end(bytes) {
        return Err(broken(kind, "its end is missing"));
    }
    let Decoded { picture, orientation, is_plain } = decode(bytes, kind, format)?;
    let was = (picture.width(), picture.height());
    let fits = was.0.max(was.1) <= MOST_EDGE && bytes.len() <= MOST_BYTES;
    let is_sent = matches!(kind, Kind::Png | Kind::Jpeg);
    if is_sent && is_plain && fits && orientation == Orientation::NoTransforms && ends_there(bytes, kind) {
        let image = Image { media_type: format.to_mime_type().to_owned(), data: bytes.into() };
        return Ok(Taken { image, size: was, kind, was, bytes: bytes.len() as u64 });
    }
    let mut picture = scaled(picture, MOST_EDGE);
    picture.apply_orientation(orientation);
    let was = if is_turned(orientation) { (was.1, was.0) } else { was };
    let image = encoded(&mut picture, kind).map_err(|error| broken(kind, &error.to_string()))?;
    Ok(Taken { image, size: (picture.width(), picture.height()), kind, was, bytes: bytes.len() as u64 })
}

fn broken(kind: Kind, reason: &str) -> Unfit {
    Unfit::Broken { kind, reason: cut::head(reason.lines().next().unwrap_or_default(), REASON_CHARS).to_owned() }
}

/// Whether rows become columns.
fn is_turned(orientation: Orientation) -> bool {
    match orientation {
        Orientation::Rotate90 | Orientation::Rotate270 | Orientation::Rotate90FlipH | Orientation::Rotate270FlipH => {
            true
        }
        Orientation::NoTransforms
        | Orientation::Rotate180
        | Orientation::FlipHorizontal
        | Orientation::FlipVertical => false,
    }
}

#[cfg(test)]
mod tests;
