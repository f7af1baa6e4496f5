//! A file's bytes become pixels, within limits: whoever made the file may have meant harm.
//!
//! Nothing is scaled or turned here.

use std::io::Cursor;

use image::metadata::Orientation;
use image::{ColorType, DynamicImage, ImageDecoder as _, ImageError, ImageFormat, ImageReader, Limits};

use super::{Kind, MOST_PIXELS, Unfit, broken};
use crate::base::raster;

/// Bytes a decoder may take: the most pixels with colour and transparency, and some room.
const MOST_MEMORY: u64 = 256 * 1024 * 1024;

/// What a file showed.
pub struct Decoded {
    /// Grey, colour, or colour with transparency, of eight bits each.
    pub picture: DynamicImage,
    /// How a camera was held.
    pub orientation: Orientation,
    /// Whether every reader understands its pixels as they are.
    pub is_plain: bool,
}

/// Decodes a file that begins as `kind`.
///
/// # Errors
///
/// It has too many pixels, or is not what it begins as.
pub fn decode(bytes: &[u8], kind: Kind, format: ImageFormat) -> Result<Decoded, Unfit> {
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
    let color = picture.color();
    let is_deep = color.bytes_per_pixel() > color.channel_count();
    let picture = match (color, color.has_alpha(), color.has_color()) {
        (ColorType::L8 | ColorType::Rgb8 | ColorType::Rgba8, _, _) => picture,
        (_, true, _) => picture.into_rgba8().into(),
        (_, false, true) => picture.into_rgb8().into(),
        (_, false, false) => picture.into_luma8().into(),
    };
    Ok(Decoded { picture, orientation, is_plain: !is_print && !is_deep })
}

/// Whether the mark of a JPEG's end comes after its header, which may hold a small JPEG of its own. The decoder would
/// fill what is missing with grey.
pub fn has_end(bytes: &[u8]) -> bool {
    let pixels = raster::header(bytes).and_then(|header| bytes.get(header.bytes..));
    pixels.is_some_and(|pixels| memchr::memmem::find(pixels, b"\xff\xd9").is_some())
}

/// Whether the file ends with the picture. Phones keep films behind one, others hide there what nobody sees.
pub fn ends_there(bytes: &[u8], kind: Kind) -> bool {
    let end: &[u8] = if kind == Kind::Png { b"IEND\xae\x42\x60\x82" } else { b"\xff\xd9" };
    bytes.ends_with(end)
}
