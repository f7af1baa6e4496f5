//! Pixels become a file that wires take: scaled, as PNG or JPEG, within the limits of bytes.

use std::io::Cursor;

use image::codecs::jpeg::JpegEncoder;
use image::imageops::{FilterType, resize, thumbnail};
use image::{DynamicImage, ImageError, ImageFormat, RgbImage};

use super::{Kind, MOST_BYTES};
use crate::model::message::Image;

/// A PNG above this is a photo rather than a drawing, and sent as JPEG where that is much smaller: each request of the
/// conversation carries it again.
const MOST_PNG_BYTES: usize = 1_000_000;
/// Of 100: what is usually taken for "no difference to be seen".
const JPEG_QUALITY: u8 = 85;
/// How often one that has too many bytes is made smaller. Twice is enough for noise.
const SHRINKS: usize = 4;

/// Sharp enough for small letters, without the rings of wider ones.
const FILTER: FilterType = FilterType::CatmullRom;

/// The picture with no edge above `most`; neither edge vanishes.
pub fn scaled(picture: DynamicImage, most: u32) -> DynamicImage {
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
    if let Some(grey) = picture.as_luma8() {
        let smaller = is_much.then(|| thumbnail(grey, rough.0, rough.1));
        resize(smaller.as_ref().unwrap_or(grey), wide, high, FILTER).into()
    } else if let Some(colour) = picture.as_rgb8() {
        let smaller = is_much.then(|| thumbnail(colour, rough.0, rough.1));
        resize(smaller.as_ref().unwrap_or(colour), wide, high, FILTER).into()
    } else {
        let picture = picture.into_rgba8();
        let smaller = is_much.then(|| thumbnail(&picture, rough.0, rough.1));
        resize(smaller.as_ref().unwrap_or(&picture), wide, high, FILTER).into()
    }
}

/// The picture as a file within [`MOST_BYTES`]; made smaller where it has more.
///
/// # Errors
///
/// What the encoder says.
pub fn encoded(picture: &mut DynamicImage, kind: Kind) -> Result<Image, ImageError> {
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
    if let Some(grey) = picture.as_luma8() {
        grey.write_with_encoder(encoder)?;
    } else if let Some(colour) = picture.as_rgb8() {
        colour.write_with_encoder(encoder)?;
    } else {
        on_white(picture).write_with_encoder(encoder)?;
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
