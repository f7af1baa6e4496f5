//! What came over the network as text for a model: decoded, converted, or described where it is no text.
//!
//! Pure but for the time a conversion takes.

use encoding_rs::{Encoding, UTF_8};

use super::html;
use crate::base::text::{clean, numbers};
use crate::model::http::Url;

/// So many bytes at the beginning tell what a body is, and hold the encoding that a page names itself: browsers look
/// no further either.
const LOOKED_AT: usize = 1_024;

/// What a body is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Html,
    Text,
    Binary,
}

/// What the model is told of a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// The text; of a page, in Markdown.
    pub text: String,
    /// A page's title.
    pub title: String,
    /// Whether the page was too large for all of it to be looked at.
    pub is_cut: bool,
}

/// The text of a body that came from `url`.
///
/// # Errors
///
/// What it is, where it is no text.
pub fn told(body: &[u8], content_type: Option<&str>, url: &Url) -> Result<Told, String> {
    let given = content_type.unwrap_or_default();
    let essence = given.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let kind = kind(&essence, body);
    if kind == Kind::Binary {
        let what = if essence.is_empty() { "binary data" } else { &essence };
        return Err(format!("{what}, {}: not shown", numbers::size(body.len() as u64)));
    }
    let (text, _, _) = encoding(given, kind, body).decode(body);
    let (text, title, is_cut) = match kind {
        Kind::Html => {
            let page = html::convert(&text, url);
            (page.text, page.title, page.is_cut)
        }
        Kind::Text | Kind::Binary => (text.into_owned(), String::new(), false),
    };
    let text = clean::clean(text.trim()).replace(is_unseen, "");
    Ok(Told { text, title: clean::line(&title), is_cut })
}

/// The letters of Unicode's tags: nobody sees them, but a model reads them.
fn is_unseen(letter: char) -> bool {
    ('\u{e0000}'..='\u{e007f}').contains(&letter)
}

fn kind(essence: &str, body: &[u8]) -> Kind {
    const TEXTS: [&str; 12] = [
        "json",
        "xml",
        "javascript",
        "ecmascript",
        "yaml",
        "x-yaml",
        "toml",
        "graphql",
        "x-sh",
        "sql",
        "x-httpd-php",
        "x-ndjson",
    ];
    let start = body.get(..LOOKED_AT).unwrap_or(body);
    let (family, name) = essence.split_once('/').unwrap_or_default();
    let looks_like_html = || {
        let start = String::from_utf8_lossy(start).trim_start_matches('\u{feff}').trim_start().to_ascii_lowercase();
        start.starts_with("<!doctype html") || start.starts_with("<html")
    };
    match (family, name) {
        ("text", "html") | ("application", "xhtml+xml") => Kind::Html,
        ("text", "plain") if looks_like_html() => Kind::Text,
        ("text", _) => Kind::Text,
        (_, "svg+xml") => Kind::Text,
        ("image" | "audio" | "video" | "font", _) => Kind::Binary,
        (_, name) if TEXTS.contains(&name) || name.ends_with("+json") || name.ends_with("+xml") => Kind::Text,
        // Servers that do not know say nothing, or `application/octet-stream`.
        _ if looks_like_html() => Kind::Html,
        _ if is_text(start) => Kind::Text,
        _ => Kind::Binary,
    }
}

/// Whether the beginning of a body is UTF-8 without NUL.
fn is_text(start: &[u8]) -> bool {
    let is_utf8 = match std::str::from_utf8(start) {
        Ok(_) => true,
        // A character that is cut at the end of what is looked at.
        Err(error) => error.error_len().is_none(),
    };
    is_utf8 && !start.contains(&0)
}

/// The encoding: what the header says, else what the page says of itself, else UTF-8. A mark at the beginning wins over all
/// of them when it is decoded.
fn encoding(content_type: &str, kind: Kind, body: &[u8]) -> &'static Encoding {
    let of_header = label(content_type);
    let of_page = || {
        let start = String::from_utf8_lossy(body.get(..LOOKED_AT).unwrap_or(body)).into_owned();
        let start = start.split_once("<meta").map(|(_, rest)| rest.to_owned())?;
        // A page that could be read so far is in no encoding of two bytes.
        label(&start).filter(|encoding| encoding.is_ascii_compatible())
    };
    of_header.or_else(|| (kind == Kind::Html).then(of_page).flatten()).unwrap_or(UTF_8)
}

/// The encoding behind the first `charset=`.
fn label(text: &str) -> Option<&'static Encoding> {
    let lower = text.to_ascii_lowercase();
    let rest = lower.split_once("charset")?.1.trim_start().strip_prefix('=')?.trim_start();
    let rest = rest.trim_start_matches(['"', '\'']);
    let end =
        rest.find(|letter: char| !letter.is_ascii_alphanumeric() && !"-_.:+".contains(letter)).unwrap_or(rest.len());
    Encoding::for_label(rest.get(..end)?.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(body: &[u8], content_type: Option<&str>) -> Result<String, String> {
        told(body, content_type, &Url::parse("https://h/").unwrap()).map(|told| told.text)
    }

    #[test]
    fn a_body_is_what_it_says_or_looks_like() {
        for (body, content_type, expected) in [
            (&b"<p>hi</p>"[..], Some("text/html"), Ok("hi")),
            (b"<p>hi</p>", Some("Text/HTML; charset=utf-8"), Ok("hi")),
            (b"<p>hi</p>", Some("text/plain"), Ok("<p>hi</p>")),
            (b"<!DOCTYPE html><p>hi", None, Ok("hi")),
            (b"\xef\xbb\xbf <html><p>hi", Some("application/octet-stream"), Ok("hi")),
            (br#"{"a": 1}"#, Some("application/json"), Ok(r#"{"a": 1}"#)),
            (br#"{"a": 1}"#, Some("application/vnd.api+json"), Ok(r#"{"a": 1}"#)),
            (b"# x", Some("text/markdown"), Ok("# x")),
            (b"plain\x1b[31m red", None, Ok("plain red")),
            (b"", None, Ok("")),
            (b"\x89PNG\0", Some("image/png"), Err("image/png, 5 B: not shown")),
            (b"a\0b", None, Err("binary data, 3 B: not shown")),
            (b"PK\x03\x04\xff", Some("application/zip"), Err("application/zip, 5 B: not shown")),
        ] {
            let told = of(body, content_type);
            assert_eq!(told.as_deref().map_err(String::as_str), expected, "{content_type:?}");
        }
    }

    #[test]
    fn the_encoding_is_the_headers_or_the_pages() {
        for (body, content_type) in [
            (&b"caf\xe9"[..], "text/plain; charset=ISO-8859-1"),
            (b"caf\xe9", "text/plain;charset=\"latin1\""),
            (b"<html><meta charset=windows-1252>caf\xe9", "text/html"),
            (b"<meta http-equiv=Content-Type content='text/html; charset=iso-8859-15'>caf\xe9", "text/html"),
            (b"caf\xc3\xa9", "text/plain; charset=nonsense"),
            (b"\xef\xbb\xbfcaf\xc3\xa9", "text/plain; charset=latin1"),
            (b"\xff\xfec\0a\0f\0\xe9\0", "text/plain"),
        ] {
            assert_eq!(of(body, Some(content_type)).as_deref(), Ok("café"), "{content_type}");
        }
        assert_eq!(of(b"caf\xe9", Some("text/plain")).as_deref(), Ok("caf\u{fffd}"), "broken text is still text");
    }

    #[test]
    fn letters_that_nobody_sees_are_not_there() {
        assert_eq!(of("a\u{e0041}\u{e007f}b".as_bytes(), Some("text/plain")).as_deref(), Ok("ab"));
    }
}
