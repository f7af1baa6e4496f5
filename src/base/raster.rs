//! What the header of a PNG or JPEG says: how large it is and how many channels it has. Nothing is decoded.

/// What a header says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Pixels in a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Of a JPEG: 1 for grey, 3 for colour, 4 for print colours (CMYK). `None` for a PNG, whose kinds are many.
    pub components: Option<u8>,
    /// Bytes up to here: what comes before the pixels and says nothing about them is over.
    pub bytes: usize,
}

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";

/// Reads the header; `None` where `bytes` begin as neither, or end before their size is told.
pub fn header(bytes: &[u8]) -> Option<Header> {
    match bytes.strip_prefix(PNG) {
        // The first chunk: its length, `IHDR`, width, height.
        Some(chunks) => {
            (chunks.get(4..8)? == b"IHDR").then_some(())?;
            Some(Header { width: word(chunks, 8)?, height: word(chunks, 12)?, components: None, bytes: PNG.len() + 16 })
        }
        None => frame(bytes),
    }
}

/// The frame header of a JPEG: segments are skipped until it comes (ITU T.81, annex B).
fn frame(bytes: &[u8]) -> Option<Header> {
    let mut rest = bytes.strip_prefix(b"\xff\xd8")?;
    loop {
        let [0xff, marker, after @ ..] = rest else { return None };
        match marker {
            // Any number of these fills the space before a marker.
            0xff => rest = rest.get(1..)?,
            // These stand alone.
            0x01 | 0xd0..=0xd8 => rest = after,
            // Scans, or the end, before any frame.
            0xd9 | 0xda => return None,
            0xc0..=0xcf if !matches!(marker, 0xc4 | 0xc8 | 0xcc) => {
                // Its length, bits a sample, height, width, components.
                let [_, _, _, high, low, wide, narrow, components, ..] = *after else { return None };
                return Some(Header {
                    width: u32::from(u16::from_be_bytes([wide, narrow])),
                    height: u32::from(u16::from_be_bytes([high, low])),
                    components: Some(components),
                    bytes: bytes.len() - after.len() + 8,
                });
            }
            _ => {
                let [high, low, ..] = *after else { return None };
                // A length counts itself; less than that would never come to an end.
                rest = after.get(usize::from(u16::from_be_bytes([high, low])).max(2)..)?;
            }
        }
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..at + 4)?;
    Some(u32::from_be_bytes(bytes.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn sizes_are_read_where_they_stand() {
        let png = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\x02\x80\0\0\x01\xe0\x08\x02\0\0\0";
        assert_eq!(header(png), Some(Header { width: 640, height: 480, components: None, bytes: 24 }));
        // A segment, filling, a table (which is no frame), and the frame.
        let jpeg = b"\xff\xd8\xff\xe0\0\x04ab\xff\xff\xc4\0\x03x\xff\xc2\0\x11\x08\x01\xe0\x02\x80\x03";
        assert_eq!(header(jpeg), Some(Header { width: 640, height: 480, components: Some(3), bytes: jpeg.len() }));
        for broken in [&b""[..], b"GIF89a", &png[..20], &jpeg[..20], b"\xff\xd8\xff\xe0\0\0", b"\xff\xd8\xff\xd9"] {
            assert_eq!(header(broken), None, "{broken:x?}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_come_to_an_end(tail in proptest::collection::vec(any::<u8>(), 0..200)) {
            for head in [&b""[..], PNG, b"\xff\xd8", b"\xff\xd8\xff\xe0\0\0"] {
                header(&[head, &tail].concat());
            }
        }
    }
}
