//! Pictures of every kind, whole and broken.

use std::io::Cursor;

use image::{ColorType, DynamicImage, GrayImage, RgbImage, Rgba, RgbaImage};
use proptest::prelude::*;

use super::*;

const PRINT: &[u8] = include_bytes!("../../../tests/corpus/pictures/print-colours.jpg");
const INTERLACED: &[u8] = include_bytes!("../../../tests/corpus/pictures/interlaced.png");
const PALETTE: &[u8] = include_bytes!("../../../tests/corpus/pictures/palette.png");
const ANIMATED: &[u8] = include_bytes!("../../../tests/corpus/pictures/animated.webp");
const PROGRESSIVE: &[u8] = include_bytes!("../../../tests/corpus/pictures/progressive.jpg");

/// Colours that run from corner to corner.
fn run(width: u32, height: u32) -> RgbImage {
    let part = |at: u32, of: u32| u8::try_from(at * 255 / of).unwrap();
    RgbImage::from_fn(width, height, |x, y| image::Rgb([part(x, width), part(y, height), 90]))
}

/// What no format can make small.
fn noise(width: u32, height: u32) -> RgbImage {
    let mut chance = fastrand::Rng::with_seed(7);
    let bytes = std::iter::repeat_with(|| chance.u8(..)).take((width * height * 3) as usize).collect();
    RgbImage::from_raw(width, height, bytes).unwrap()
}

fn written(picture: impl Into<DynamicImage>, format: ImageFormat) -> Vec<u8> {
    let mut bytes = Vec::new();
    picture.into().write_to(&mut Cursor::new(&mut bytes), format).unwrap();
    bytes
}

fn read(image: &Image) -> DynamicImage {
    let format = ImageFormat::from_mime_type(&image.media_type).unwrap();
    image::load_from_memory_with_format(&image.data, format).unwrap()
}

/// A chunk of a PNG.
fn chunk(kind: &[u8; 4], content: &[u8]) -> Vec<u8> {
    let mut crc = u32::MAX;
    for byte in kind.iter().chain(content) {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { 0xedb8_8320 ^ (crc >> 1) } else { crc >> 1 };
        }
    }
    let length = u32::try_from(content.len()).unwrap().to_be_bytes();
    [&length[..], kind, content, &(!crc).to_be_bytes()].concat()
}

/// A PNG that claims a size and holds hardly anything.
fn claims(width: u32, height: u32, interlaced: u8) -> Vec<u8> {
    let size = [width.to_be_bytes(), height.to_be_bytes()].concat();
    let header = chunk(b"IHDR", &[&size[..], &[8, 2, 0, 0, interlaced]].concat());
    [b"\x89PNG\r\n\x1a\n", &header[..], &chunk(b"IDAT", b"\x78\x9c\x03\0\0\0\0\x01"), &chunk(b"IEND", b"")].concat()
}

/// A JPEG with a note of how the camera was held.
fn held(jpeg: &[u8], orientation: u8) -> Vec<u8> {
    let exif =
        [b"Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0", &[orientation][..], b"\0\0\0\0\0\0"].concat();
    let length = u16::try_from(exif.len() + 2).unwrap().to_be_bytes();
    [&jpeg[..2], b"\xff\xe1", &length, &exif, &jpeg[2..]].concat()
}

#[test]
fn what_fits_is_kept_byte_for_byte() {
    for format in [ImageFormat::Png, ImageFormat::Jpeg] {
        let bytes = written(run(40, 30), format);
        let taken = take(&bytes).unwrap();
        assert_eq!((&taken.image.data[..], taken.size, taken.was), (&bytes[..], (40, 30), (40, 30)));
        assert_eq!(taken.image.media_type, format.to_mime_type());
        assert!(!taken.describe().contains(';'), "{}", taken.describe());
    }
}

#[test]
fn other_kinds_become_png() {
    let see_through = RgbaImage::from_pixel(9, 7, Rgba([200, 10, 10, 80]));
    for format in [ImageFormat::Gif, ImageFormat::WebP, ImageFormat::Bmp] {
        let taken = take(&written(see_through.clone(), format)).unwrap();
        assert_eq!((taken.image.media_type.as_str(), taken.size), ("image/png", (9, 7)), "{format:?}");
        assert!(taken.describe().ends_with("; converted to image/png"), "{}", taken.describe());
    }
    let webp = prepare(&written(see_through, ImageFormat::WebP)).unwrap();
    assert_eq!(read(&webp).to_rgba8().get_pixel(3, 3), &Rgba([200, 10, 10, 80]));
}

#[test]
fn of_an_animation_the_first_frame_is_taken() {
    let mut gif = Vec::new();
    let mut encoder = image::codecs::gif::GifEncoder::new(&mut gif);
    for red in [250, 0] {
        encoder
            .encode(RgbaImage::from_pixel(6, 5, Rgba([red, 0, 0, 255])).as_raw(), 6, 5, ColorType::Rgba8.into())
            .unwrap();
    }
    drop(encoder);
    let first = read(&prepare(&gif).unwrap()).into_rgb8();
    assert!(first.get_pixel(2, 2)[0] > 200, "{first:?}");
    let first = read(&prepare(ANIMATED).unwrap()).into_rgba8();
    assert_eq!(first.get_pixel(2, 2).0, [250, 0, 0, 128]);
}

#[test]
fn large_ones_are_scaled_in_proportion() {
    let taken = take(&written(run(3_200, 800), ImageFormat::Png)).unwrap();
    assert_eq!((taken.size, taken.was), ((1_568, 392), (3_200, 800)));
    assert_eq!(taken.describe().split("; ").nth(1), Some("scaled to 1568×392 px (image/png)"));
    let corner = read(&taken.image).into_rgb8().get_pixel(1_567, 391).0;
    assert!(corner[0] > 250 && corner[1] > 250, "{corner:?}");
    // Neither edge vanishes.
    assert_eq!(take(&written(run(4_000, 1), ImageFormat::Png)).unwrap().size, (1_568, 1));
    assert_eq!(take(&written(run(1_600, 40), ImageFormat::Jpeg)).unwrap().image.media_type, "image/jpeg");
}

#[test]
fn too_many_bytes_become_a_jpeg_that_fits() {
    let png = written(noise(1_300, 1_200), ImageFormat::Png);
    assert!(png.len() > MOST_BYTES);
    let taken = take(&png).unwrap();
    assert!(taken.image.media_type == "image/jpeg" && taken.image.data.len() <= MOST_BYTES);
    assert!(taken.describe().contains("converted to image/jpeg"), "{}", taken.describe());
}

#[test]
fn pictures_stand_upright() {
    let jpeg = written(run(60, 40), ImageFormat::Jpeg);
    let taken = take(&held(&jpeg, 6)).unwrap();
    assert_eq!((taken.size, taken.was), ((40, 60), (40, 60)));
    // Red grew to the right; turned clockwise it grows downwards.
    let upright = read(&taken.image).into_rgb8();
    assert!(upright.get_pixel(20, 58)[0] > 200 && upright.get_pixel(20, 1)[0] < 50);
    let as_held = held(&jpeg, 1);
    assert_eq!(prepare(&as_held).unwrap().data[..], as_held[..]);
    assert!(take(&held(&jpeg, 99)).is_ok());
}

#[test]
fn unusual_pixels_become_usual_ones() {
    let deep: image::ImageBuffer<image::Rgb<u16>, Vec<u16>> =
        image::ImageBuffer::from_pixel(8, 8, image::Rgb([65_535, 0, 32_768]));
    let taken = prepare(&written(deep, ImageFormat::Png)).unwrap();
    assert_eq!(read(&taken).as_rgb8().unwrap().get_pixel(0, 0).0, [255, 0, 128]);
    let grey = prepare(&written(GrayImage::from_pixel(5, 5, image::Luma([9])), ImageFormat::Jpeg)).unwrap();
    assert!(matches!(read(&grey), DynamicImage::ImageLuma8(_)));
    let print = prepare(PRINT).unwrap();
    assert!(matches!(read(&print), DynamicImage::ImageRgb8(_)) && print.media_type == "image/jpeg");
    let interlaced = prepare(INTERLACED).unwrap();
    assert_eq!((read(&interlaced).to_rgb8().get_pixel(7, 7).0, &interlaced.data[..]), ([1, 2, 3], INTERLACED));
    for kept in [PALETTE, PROGRESSIVE] {
        assert_eq!(prepare(kept).unwrap().data[..], *kept);
    }
}

#[test]
fn what_hides_behind_a_picture_stays_behind() {
    let secret = b"<script>secret</script>";
    for format in [ImageFormat::Png, ImageFormat::Jpeg] {
        let bytes = [&written(run(20, 20), format)[..], secret].concat();
        let image = prepare(&bytes).unwrap();
        assert!(memchr::memmem::find(&image.data, secret).is_none());
        assert_eq!(read(&image).width(), 20);
    }
}

#[test]
fn what_is_broken_is_told() {
    for format in [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::WebP, ImageFormat::Bmp] {
        let whole = written(run(64, 64), format);
        for kept in [whole.len() * 9 / 10, whole.len() / 2, 30] {
            let Err(unfit) = prepare(&whole[..kept]) else { panic!("{format:?} {kept} of {}", whole.len()) };
            let words = unfit.to_string();
            assert!(matches!(unfit, Unfit::Broken { .. }), "{format:?} {kept}: {words}");
            assert!(words.contains("damaged or incomplete") && !words.contains('\n') && words.len() < 300, "{words}");
        }
    }
    assert!(matches!(prepare(b"\x89PNG\r\n\x1a\n<html>"), Err(Unfit::Broken { .. })));
    assert!(matches!(prepare(&claims(0, 5, 0)), Err(Unfit::Broken { .. })));
    assert!(matches!(prepare(b"<html>"), Err(Unfit::NoPicture)));
    assert_eq!(
        prepare(b"\0\0\0\x18ftypheic\0\0\0\0mif1heic").unwrap_err().to_string(),
        "it is a HEIC picture, which is not taken; convert it to PNG or JPEG"
    );
}

#[test]
fn bombs_are_refused_before_they_go_off() {
    for interlaced in [0, 1] {
        for (width, height) in [(60_000, 60_000), (i32::MAX as u32, 1), (1, i32::MAX as u32), (200_000, 40_000)] {
            let Err(Unfit::Pixels { .. }) = prepare(&claims(width, height, interlaced)) else {
                panic!("{width}×{height}")
            };
        }
    }
    let mut gif = written(RgbaImage::new(2, 2), ImageFormat::Gif);
    gif[6..10].copy_from_slice(&[0xff; 4]);
    assert!(matches!(prepare(&gif), Err(Unfit::Pixels { width: 65_535, .. })));
    let mut bitmap = written(run(2, 2), ImageFormat::Bmp);
    bitmap[18..26].copy_from_slice(&[0xff, 0xff, 0, 0, 0xff, 0xff, 0, 0]);
    assert!(matches!(prepare(&bitmap), Err(Unfit::Pixels { .. })));
    let mut jpeg = written(run(16, 16), ImageFormat::Jpeg);
    let frame = memchr::memmem::find(&jpeg, b"\xff\xc0").unwrap();
    jpeg[frame + 5..frame + 9].copy_from_slice(&[0xff; 4]);
    assert!(matches!(prepare(&jpeg), Err(Unfit::Pixels { .. })));
    let words = prepare(&claims(60_000, 60_000, 0)).unwrap_err().to_string();
    assert!(words.contains("a PNG picture of 60,000×60,000 pixels") && words.ends_with("scale it down"), "{words}");
    let large = [b"\x89PNG\r\n\x1a\n", &vec![0; 50_000_000][..]].concat();
    assert_eq!(prepare(&large), Err(Unfit::Bytes));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn random_bytes_never_do_harm(which in 0..5_usize, spots in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..12), kept in any::<prop::sample::Index>()) {
        let formats = [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::Gif, ImageFormat::WebP, ImageFormat::Bmp];
        let mut bytes = written(run(12, 9), formats[which]);
        for (spot, byte) in spots {
            let spot = spot.index(bytes.len());
            bytes[spot] = byte;
        }
        bytes.truncate(kept.index(bytes.len()) + 1);
        if let Ok(taken) = take(&bytes) {
            prop_assert!(taken.size.0.max(taken.size.1) <= MOST_EDGE && taken.image.data.len() <= MOST_BYTES);
            prop_assert_eq!((read(&taken.image).width(), read(&taken.image).height()), taken.size);
        }
    }
}
