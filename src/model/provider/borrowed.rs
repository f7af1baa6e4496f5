//! Texts inside a frame that are read without a copy.
//!
//! Knows no wire.

use std::borrow::Cow;

use serde::Deserialize;

/// A text of a frame, borrowed from it where it holds no escapes.
///
/// A struct of its own because serde borrows a `Cow` only where it is not inside an `Option`.
#[derive(Debug, Default, Deserialize)]
pub struct Text<'a>(#[serde(borrow)] pub Cow<'a, str>);

/// The text, empty where there is none.
pub fn text<'b>(found: Option<&'b Text<'_>>) -> &'b str {
    found.map_or("", |text| text.0.as_ref())
}
