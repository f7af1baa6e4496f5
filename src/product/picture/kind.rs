//! Which kind of picture some bytes are, by how they begin. A name is never believed, nothing is decoded.

use image::ImageFormat;

/// A kind of picture, or of a document that shows one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Taken as it is where it fits.
    Png,
    /// Taken as it is where it fits.
    Jpeg,
    /// Taken; its first frame.
    Gif,
    /// Taken; its first frame.
    Webp,
    /// Taken.
    Bmp,
    /// Not taken, like all that follow.
    Heic,
    /// AV1 in a HEIF container.
    Avif,
    /// JPEG XL.
    Jxl,
    /// Of scanners and cameras, also in raw formats built on it.
    Tiff,
    /// Windows icons.
    Ico,
    /// Text that draws; it can be read as text.
    Svg,
    /// A document.
    Pdf,
}

impl Kind {
    /// With its article: `a PNG picture`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Png => "a PNG picture",
            Self::Jpeg => "a JPEG picture",
            Self::Gif => "a GIF picture",
            Self::Webp => "a WebP picture",
            Self::Bmp => "a BMP picture",
            Self::Heic => "a HEIC picture",
            Self::Avif => "an AVIF picture",
            Self::Jxl => "a JPEG XL picture",
            Self::Tiff => "a TIFF picture",
            Self::Ico => "a Windows icon",
            Self::Svg => "an SVG drawing",
            Self::Pdf => "a PDF document",
        }
    }

    /// What to do where it is not taken.
    pub(super) fn instead(self) -> &'static str {
        match self {
            Self::Pdf => "extract its text, or convert its pages to PNG",
            Self::Svg => "read it as text, or convert it to PNG",
            Self::Png | Self::Jpeg | Self::Gif | Self::Webp | Self::Bmp => "write it again",
            Self::Heic | Self::Avif | Self::Jxl | Self::Tiff | Self::Ico => "convert it to PNG or JPEG",
        }
    }

    /// How it is decoded; `None` for what is not taken.
    pub(super) fn format(self) -> Option<ImageFormat> {
        match self {
            Self::Png => Some(ImageFormat::Png),
            Self::Jpeg => Some(ImageFormat::Jpeg),
            Self::Gif => Some(ImageFormat::Gif),
            Self::Webp => Some(ImageFormat::WebP),
            Self::Bmp => Some(ImageFormat::Bmp),
            Self::Heic | Self::Avif | Self::Jxl | Self::Tiff | Self::Ico | Self::Svg | Self::Pdf => None,
        }
    }

    /// Whether [`super::prepare`] takes it, if it is whole.
    pub fn is_taken(self) -> bool {
        self.format().is_some()
    }

    /// Whether it is text, and can be read as such.
    pub fn is_text(self) -> bool {
        matches!(self, Self::Svg)
    }
}

const MAGIC: [(&[u8], Kind); 9] = [
    (b"\x89PNG\r\n\x1a\n", Kind::Png),
    (b"\xff\xd8\xff", Kind::Jpeg),
    (b"GIF87a", Kind::Gif),
    (b"GIF89a", Kind::Gif),
    (b"\0\0\0\x0cJXL \r\n\x87\n", Kind::Jxl),
    (b"II*\0", Kind::Tiff),
    (b"MM\0*", Kind::Tiff),
    (b"\0\0\x01\0", Kind::Ico),
    (b"%PDF-", Kind::Pdf),
];

/// Bytes within which the root of an SVG is looked for, behind its declaration and comments.
const SVG_BYTES: usize = 2_000;

/// The kind of `bytes`, of which the first two thousand are enough; `None` for what is no picture.
pub fn kind_of(bytes: &[u8]) -> Option<Kind> {
    let by_magic = MAGIC.iter().find(|(magic, _)| bytes.starts_with(magic)).map(|(_, kind)| *kind);
    by_magic
        .or_else(|| container(bytes))
        .or_else(|| is_bitmap(bytes).then_some(Kind::Bmp))
        .or_else(|| is_svg(bytes).then_some(Kind::Svg))
}

/// Formats that name their kind behind a general beginning.
fn container(bytes: &[u8]) -> Option<Kind> {
    match (bytes.get(..4)?, bytes.get(4..8)?, bytes.get(8..12)?) {
        (b"RIFF", _, b"WEBP") => Some(Kind::Webp),
        (&[_, _, high, low], b"ftyp", _) => {
            // The box: its main brand, a version, and the brands it is compatible with.
            let length = usize::from(u16::from_be_bytes([high, low]));
            let brands = bytes.get(8..length.min(bytes.len()))?;
            let has = |wanted: &[&[u8]]| brands.chunks_exact(4).any(|brand| wanted.contains(&brand));
            match () {
                () if has(&[b"avif", b"avis"]) => Some(Kind::Avif),
                () if has(&[b"heic", b"heix", b"hevc", b"hevx", b"heim", b"heis", b"mif1", b"msf1"]) => {
                    Some(Kind::Heic)
                }
                () => None,
            }
        }
        _ => None,
    }
}

/// `BM` is too easily a word: the reserved bytes are zero, and the size of the second header is one of a few.
fn is_bitmap(bytes: &[u8]) -> bool {
    const HEADERS: [u8; 8] = [12, 16, 40, 52, 56, 64, 108, 124];
    let header = match bytes.get(14..18) {
        Some(&[size, 0, 0, 0]) => size,
        _ => return false,
    };
    bytes.starts_with(b"BM") && bytes.get(6..10) == Some(&[0; 4]) && HEADERS.contains(&header)
}

fn is_svg(bytes: &[u8]) -> bool {
    let sample = bytes.get(..SVG_BYTES).unwrap_or(bytes);
    let text = sample.strip_prefix(b"\xef\xbb\xbf").unwrap_or(sample).trim_ascii_start();
    let is_xml = [&b"<?xml"[..], b"<!--", b"<!DOCTYPE svg"].iter().any(|start| text.starts_with(start));
    text.starts_with(b"<svg") || is_xml && memchr::memmem::find(text, b"<svg").is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_told_by_their_beginning() {
        let cases: [(&[u8], Option<Kind>); 21] = [
            (b"", None),
            (b"\x89PNG\r\n\x1a\n", Some(Kind::Png)),
            (b"\x89PNG", None),
            (b"\xff\xd8\xff\xe0", Some(Kind::Jpeg)),
            (b"GIF89a\x01", Some(Kind::Gif)),
            (b"GIF is a format", None),
            (b"RIFF\0\0\0\0WEBPVP8 ", Some(Kind::Webp)),
            (b"RIFF\0\0\0\0WAVEfmt ", None),
            (b"BM\x46\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0", Some(Kind::Bmp)),
            (b"BMW builds motorcycles", None),
            (b"\0\0\0\x18ftypheic\0\0\0\0mif1heic", Some(Kind::Heic)),
            (b"\0\0\0\x1cftypmif1\0\0\0\0mif1avifmiaf", Some(Kind::Avif)),
            (b"\0\0\0\x18ftypisom\0\0\0\0mp41avif", Some(Kind::Avif)),
            (b"\0\0\0\x14ftypisom\0\0\0\0mp41avif", None),
            (b"\0\0\0\x02ftypavif", None),
            (b"II*\0\x08", Some(Kind::Tiff)),
            (b"%PDF-1.7", Some(Kind::Pdf)),
            (b"\xef\xbb\xbf\n<svg xmlns=''>", Some(Kind::Svg)),
            (b"<?xml version='1.0'?>\n<!-- a --><svg>", Some(Kind::Svg)),
            (b"<?xml version='1.0'?><html>", None),
            (b"<html><svg>", None),
        ];
        for (bytes, kind) in cases {
            assert_eq!(kind_of(bytes), kind, "{:?}", String::from_utf8_lossy(bytes));
        }
        assert!(Kind::Bmp.is_taken() && !Kind::Svg.is_taken() && Kind::Svg.is_text());
    }
}
