//! Pictures for models: what some bytes are, and bytes that every wire takes, by a real decode.
//!
//! A picture that cannot be decoded never reaches a model: one refused picture can spoil a conversation. No files are
//! read here, and nothing is known about models: whether one sees is the wire's business.

use std::io::Cursor;

use image::codecs::jpeg::JpegEncoder;
use image::imageops::{FilterType, resize, thumbnail};
use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder, ImageError, ImageFormat, ImageReader, Limits, RgbImage};
use thiserror::Error;

use crate::base::panic::caught;
use crate::base::raster;
use crate::base::text::cut;
use crate::base::text::numbers::{grouped, size};
use crate::model::message::Image;

mod kind;

pub use kind::{Kind, kind_of};

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
/// Bytes a decoder may take: those pixels with colour and transparency, and some room.
const MOST_MEMORY: u64 = 256 * 1024 * 1024;
/// A PNG above this is a photo rather than a drawing, and sent as JPEG where that is much smaller: each request of the
/// conversation carries it again.
const MOST_PNG_BYTES: usize = 1_000_000;
/// Of 100: what is usually taken for "no difference to be seen".
const JPEG_QUALITY: u8 = 85;
/// How often one that has too many bytes is made smaller. Twice is enough for noise.
const SHRINKS: usize = 4;
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
/// Takes up to a second for the largest: not to be called where somebody waits for a key.
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

struct Decoded {
    /// Grey, colour, or colour with transparency, of eight bits each.
    picture: DynamicImage,
    /// How a camera was held.
    orientation: Orientation,
    /// Whether every reader understands its pixels as they are.
    is_plain: bool,
}

fn decode(bytes: &[u8], kind: Kind, format: ImageFormat) -> Result<Decoded, Unfit> {
    let failed = |error: ImageError, (width, height): (u32, u32)| match error {
        ImageError::Limits(_) => Unfit::Pixels { kind, width, height },
        ImageError::Decoding(_)
        | ImageError::Encoding(_)
        | ImageError::Parameter(_)
        | ImageError::Unsupported(_)
        | ImageError::IoError(_) => broken(kind, &error.to_string()),
    };
    let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
    let mut limits = Limits::no_limits();
    limits.max_alloc = Some(MOST_MEMORY);
    reader.limits(limits);
    let told = raster::header(bytes).map_or((0, 0), |header| (header.width, header.height));
    let mut decoder = reader.into_decoder().map_err(|error| failed(error, told))?;
    let (width, height) = decoder.dimensions();
    if u64::from(width) * u64::from(height) > MOST_PIXELS || decoder.total_bytes() > MOST_MEMORY {
        return Err(Unfit::Pixels { kind, width, height });
    }
    if width == 0 || height == 0 {
        return Err(broken(kind, "it has no pixels"));
    }
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    let picture = DynamicImage::from_decoder(decoder).map_err(|error| failed(error, (width, height)))?;
    let is_print = raster::header(bytes).is_some_and(|header| header.components == Some(4));
    let (picture, is_deep) = match picture {
        DynamicImage::ImageLuma8(_) | DynamicImage::ImageRgb8(_) | DynamicImage::ImageRgba8(_) => (picture, false),
        DynamicImage::ImageLumaA8(grey) => (DynamicImage::ImageLumaA8(grey).into_rgba8().into(), false),
        DynamicImage::ImageLuma16(grey) => (DynamicImage::ImageLuma16(grey).into_luma8().into(), true),
        DynamicImage::ImageRgb16(colour) => (DynamicImage::ImageRgb16(colour).into_rgb8().into(), true),
        // With transparency, or of a kind that a later version of the decoders brings.
        other => (other.into_rgba8().into(), true),
    };
    Ok(Decoded { picture, orientation, is_plain: !is_print && !is_deep })
}

fn broken(kind: Kind, reason: &str) -> Unfit {
    Unfit::Broken { kind, reason: cut::head(reason.lines().next().unwrap_or_default(), REASON_CHARS).to_owned() }
}

/// Whether the mark of a JPEG's end comes after its frame began. The decoder would fill what is missing with grey.
fn has_end(bytes: &[u8]) -> bool {
    let start = memchr::memmem::find(bytes, b"\xff\xda");
    start.is_some_and(|start| memchr::memmem::rfind(bytes, b"\xff\xd9").is_some_and(|end| end > start))
}

/// Whether the file ends with the picture. Phones keep films behind one, others hide there what nobody sees.
fn ends_there(bytes: &[u8], kind: Kind) -> bool {
    let end: &[u8] = if kind == Kind::Png { b"IEND\xae\x42\x60\x82" } else { b"\xff\xd9" };
    bytes.ends_with(end)
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

/// The picture with no edge above `most`; neither edge vanishes.
fn scaled(picture: DynamicImage, most: u32) -> DynamicImage {
    let (width, height) = (picture.width(), picture.height());
    let longest = width.max(height);
    if longest <= most {
        return picture;
    }
    let edge = |edge: u32| {
        let scaled = u64::from(edge) * u64::from(most) / u64::from(longest);
        u32::try_from(scaled).unwrap_or(most).max(1)
    };
    let (wide, high) = (edge(width), edge(height));
    // Much too large: averaged to twice the size first, fast and in little memory; the filter does the rest.
    let rough = (wide * 2, high * 2);
    let is_much = width > rough.0 && height > rough.1;
    match picture {
        DynamicImage::ImageLuma8(picture) => {
            let picture = if is_much { thumbnail(&picture, rough.0, rough.1) } else { picture };
            resize(&picture, wide, high, FilterType::CatmullRom).into()
        }
        DynamicImage::ImageRgb8(picture) => {
            let picture = if is_much { thumbnail(&picture, rough.0, rough.1) } else { picture };
            resize(&picture, wide, high, FilterType::CatmullRom).into()
        }
        other => {
            let picture = other.into_rgba8();
            let picture = if is_much { thumbnail(&picture, rough.0, rough.1) } else { picture };
            resize(&picture, wide, high, FilterType::CatmullRom).into()
        }
    }
}

/// The picture as a file within [`MOST_BYTES`]; made smaller where it has more.
fn encoded(picture: &mut DynamicImage, kind: Kind) -> Result<Image, ImageError> {
    let mut jpeg = None;
    if kind != Kind::Jpeg {
        let png = as_png(picture)?;
        if png.len() <= MOST_PNG_BYTES {
            return Ok(file(ImageFormat::Png, png));
        }
        let photo = as_jpeg(picture)?;
        if png.len() <= MOST_BYTES && photo.len() > png.len() / 2 {
            return Ok(file(ImageFormat::Png, png));
        }
        jpeg = Some(photo);
    }
    let mut jpeg = jpeg.map_or_else(|| as_jpeg(picture), Ok)?;
    for _ in 0..SHRINKS {
        if jpeg.len() <= MOST_BYTES {
            break;
        }
        let edge = picture.width().max(picture.height()) / 4 * 3;
        *picture = scaled(std::mem::take(picture), edge);
        jpeg = as_jpeg(picture)?;
    }
    Ok(file(ImageFormat::Jpeg, jpeg))
}

fn file(format: ImageFormat, data: Vec<u8>) -> Image {
    Image { media_type: format.to_mime_type().to_owned(), data: data.into() }
}

fn as_png(picture: &DynamicImage) -> Result<Vec<u8>, ImageError> {
    let mut png = Vec::new();
    picture.write_to(&mut Cursor::new(&mut png), ImageFormat::Png)?;
    Ok(png)
}

fn as_jpeg(picture: &DynamicImage) -> Result<Vec<u8>, ImageError> {
    let mut jpeg = Vec::new();
    let encoder = JpegEncoder::new_with_quality(&mut jpeg, JPEG_QUALITY);
    match picture {
        DynamicImage::ImageLuma8(picture) => picture.write_with_encoder(encoder)?,
        DynamicImage::ImageRgb8(picture) => picture.write_with_encoder(encoder)?,
        other => on_white(other).write_with_encoder(encoder)?,
    }
    Ok(jpeg)
}

/// A JPEG has no transparency: what shines through is white, as paper is.
fn on_white(picture: &DynamicImage) -> RgbImage {
    let picture = picture.to_rgba8();
    RgbImage::from_fn(picture.width(), picture.height(), |x, y| {
        let [red, green, blue, alpha] = picture.get_pixel(x, y).0;
        let alpha = u16::from(alpha);
        let over = |channel: u8| u8::try_from((u16::from(channel) * alpha + 255 * (255 - alpha)) / 255).unwrap_or(255);
        image::Rgb([over(red), over(green), over(blue)])
    })
}

#[cfg(test)]
mod tests;
