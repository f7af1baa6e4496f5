//! Reading a call's arguments into a struct, with complaints a model can act on.
//!
//! Knows no tool; what a value means is the tool's affair.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize as _;
use serde::de::value::SeqAccessDeserializer;
use serde::de::{DeserializeOwned, Deserializer, Error as _, SeqAccess, Unexpected, Visitor};
use serde_json::Value;
use serde_path_to_error::{Path, Segment};

use crate::base::json::{self, Object};
use crate::kernel::tool::echo;

/// Reads the arguments strictly: a missing, mistyped or unknown parameter is an error.
///
/// The struct should derive `Deserialize` with `deny_unknown_fields`, and read what is no text with [`whole`], [`number`],
/// [`flag`] and [`list`].
///
/// # Errors
///
/// A complaint that names the parameter, what was expected and what came, none of which is long.
pub fn parse<T: DeserializeOwned>(arguments: &Object) -> Result<T, String> {
    serde_path_to_error::deserialize(arguments).map_err(|error| {
        let place = error.path().to_string();
        let problem = problem(arguments, error.path(), &error.inner().to_string());
        if place == "." { problem } else { format!("{}: {problem}", echo(&place)) }
    })
}

/// For `deserialize_with`, beside `default`: a whole number from 0; a text of digits counts as one, for some models write
/// `"5"`.
///
/// # Errors
///
/// Anything else, but for null.
pub fn whole<'de, D: Deserializer<'de>, T: TryFrom<u64>>(source: D) -> Result<Option<T>, D::Error> {
    optional(source, "a whole number from 0", |value| T::try_from(json::whole(value)?).ok())
}

/// As [`whole`], a number of any kind.
///
/// # Errors
///
/// Anything else, but for null.
pub fn number<'de, D: Deserializer<'de>>(source: D) -> Result<Option<f64>, D::Error> {
    let read = |value: &Value| value.as_f64().or_else(|| value.as_str()?.trim().parse().ok());
    optional(source, "a number", |value| read(value).filter(|number| number.is_finite()))
}

/// As [`whole`], true or false.
///
/// # Errors
///
/// Anything else, but for null.
pub fn flag<'de, D: Deserializer<'de>>(source: D) -> Result<Option<bool>, D::Error> {
    optional(source, "true or false", |value| {
        value.as_bool().or_else(|| value.as_str()?.trim().to_ascii_lowercase().parse().ok())
    })
}

/// For `deserialize_with`: a list, or a text that is one as JSON, which some models write.
///
/// # Errors
///
/// Anything else, and the elements' own.
pub fn list<'de, D: Deserializer<'de>, T: DeserializeOwned>(source: D) -> Result<Vec<T>, D::Error> {
    struct List<T>(PhantomData<T>);

    impl<'de, T: DeserializeOwned> Visitor<'de> for List<T> {
        type Value = Vec<T>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a sequence")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, elements: A) -> Result<Vec<T>, A::Error> {
            Vec::deserialize(SeqAccessDeserializer::new(elements))
        }

        fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Vec<T>, E> {
            match serde_json::from_str(text) {
                Ok(list @ Value::Array(_)) => Vec::deserialize(list).map_err(E::custom),
                Ok(_) | Err(_) => Err(E::invalid_type(Unexpected::Str(text), &self)),
            }
        }
    }

    source.deserialize_any(List(PhantomData))
}

fn optional<'de, D: Deserializer<'de>, T>(
    source: D,
    expected: &'static str,
    read: impl FnOnce(&Value) -> Option<T>,
) -> Result<Option<T>, D::Error> {
    let value = Value::deserialize(source)?;
    if value.is_null() {
        return Ok(None);
    }
    // What came is told by `problem`.
    read(&value).map(Some).ok_or_else(|| D::Error::invalid_type(Unexpected::Other("it"), &expected))
}

/// The parser's message in the words of the schema. It comes as text only.
fn problem(arguments: &Object, path: &Path, message: &str) -> String {
    let expected = message.rsplit_once(", expected ").map(|(_, expected)| expected);
    match (expected, message.strip_prefix("unknown ")) {
        (Some(expected), Some(unknown)) => {
            let kind = if unknown.starts_with("field") { "parameter" } else { "value" };
            let name = unknown.split_once('`').and_then(|(_, rest)| rest.rsplit_once("`, expected "));
            format!("unknown {kind} `{}`, expected {expected}", echo(name.map_or("", |(name, _)| name)))
        }
        (Some(expected), None) => {
            let expected = words(expected);
            match value_at(arguments, path) {
                Some(value) => format!("expected {expected}, not {}", described(value)),
                None => format!("expected {expected}"),
            }
        }
        (None, _) => message.replacen("field", "parameter", 1),
    }
}

/// What a type is called in front of somebody who does not know Rust's.
fn words(expected: &str) -> &str {
    match expected {
        "a string" | "string" => "a text",
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number from 0",
        "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number",
        "f32" | "f64" => "a number",
        "a boolean" => "true or false",
        "a sequence" => "a list",
        "a map" => "an object",
        "string or map" => "one of the schema's values",
        named if named.starts_with("struct ") => "an object",
        other => other,
    }
}

fn value_at<'a>(arguments: &'a Object, path: &Path) -> Option<&'a Value> {
    let mut segments = path.iter();
    let first = match segments.next()? {
        Segment::Map { key } => arguments.get(key)?,
        Segment::Seq { .. } | Segment::Enum { .. } | Segment::Unknown => return None,
    };
    segments.try_fold(first, |value, segment| match segment {
        Segment::Map { key } => value.get(key),
        Segment::Seq { index } => value.get(index),
        Segment::Enum { .. } | Segment::Unknown => None,
    })
}

fn described(value: &Value) -> String {
    match value {
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
        Value::String(text) => Value::from(echo(text)).to_string(),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only the complaints are looked at")]
    struct Parameters {
        path: String,
        #[serde(default, deserialize_with = "whole")]
        limit: Option<u16>,
        #[serde(default, deserialize_with = "number")]
        timeout: Option<f64>,
        #[serde(default, deserialize_with = "list")]
        edits: Vec<Edit>,
        #[serde(default, deserialize_with = "flag")]
        all: Option<bool>,
        kind: Option<Kind>,
        level: Option<u64>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Kind {
        Job,
        Service,
    }

    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "only the complaints are looked at")]
    struct Edit {
        old_text: String,
    }

    fn complaint(arguments: &str) -> String {
        parse::<Parameters>(&serde_json::from_str(arguments).unwrap()).unwrap_err()
    }

    #[test]
    fn complaints_name_the_parameter() {
        for (arguments, expected) in [
            ("{}", "missing parameter `path`"),
            (r#"{"path": 7}"#, "path: expected a text, not 7"),
            (r#"{"path": null}"#, "path: expected a text, not null"),
            (r#"{"path": ["a, expected b"]}"#, "path: expected a text, not a list"),
            (r#"{"path": "a", "limit": "three"}"#, "limit: expected a whole number from 0, not \"three\""),
            (r#"{"path": "a", "limit": -1}"#, "limit: expected a whole number from 0, not -1"),
            (r#"{"path": "a", "limit": 70000}"#, "limit: expected a whole number from 0, not 70000"),
            (r#"{"path": "a", "limit": 1.5}"#, "limit: expected a whole number from 0, not 1.5"),
            (r#"{"path": "a", "level": "x"}"#, "level: expected a whole number from 0, not \"x\""),
            (r#"{"path": "a", "timeout": "soon"}"#, "timeout: expected a number, not \"soon\""),
            (r#"{"path": "a", "timeout": "inf"}"#, "timeout: expected a number, not \"inf\""),
            (r#"{"path": "a", "all": "yes"}"#, "all: expected true or false, not \"yes\""),
            (r#"{"path": "a", "edits": {}}"#, "edits: expected a list, not an object"),
            (r#"{"path": "a", "edits": [5]}"#, "edits[0]: expected an object, not 5"),
            (r#"{"path": "a", "edits": [{}]}"#, "edits[0]: missing parameter `old_text`"),
            (r#"{"path": "a", "edits": "all"}"#, "edits: expected a list, not \"all\""),
            (r#"{"path": "a", "edits": "[{}]"}"#, "edits: missing parameter `old_text`"),
            (r#"{"path": "a", "kind": "field"}"#, "kind: unknown value `field`, expected `job` or `service`"),
            (r#"{"path": "a", "kind": 5}"#, "kind: expected one of the schema's values, not 5"),
            (
                r#"{"path": "a", "lines": 3}"#,
                "lines: unknown parameter `lines`, expected one of `path`, `limit`, `timeout`, `edits`, `all`, `kind`, `level`",
            ),
        ] {
            assert_eq!(complaint(arguments), expected, "{arguments}");
        }
    }

    #[test]
    fn numbers_may_be_written_as_texts() {
        for (arguments, limit, timeout) in [
            (r#"{"path": "a", "limit": "3", "timeout": "1.5"}"#, Some(3), Some(1.5)),
            (r#"{"path": "a", "limit": 3.0, "timeout": 2}"#, Some(3), Some(2.0)),
            (r#"{"path": "a", "limit": null, "timeout": null}"#, None, None),
            (r#"{"path": "a"}"#, None, None),
        ] {
            let read: Parameters = parse(&serde_json::from_str(arguments).unwrap()).unwrap();
            assert_eq!((read.limit, read.timeout), (limit, timeout), "{arguments}");
        }
    }

    #[test]
    fn lists_and_flags_may_be_written_as_texts() {
        for (arguments, edits, all) in [
            (r#"{"path": "a", "edits": "[{\"old_text\": \"x\"}]", "all": "True"}"#, 1, Some(true)),
            (r#"{"path": "a", "edits": [], "all": "false"}"#, 0, Some(false)),
            (r#"{"path": "a", "all": null}"#, 0, None),
        ] {
            let read: Parameters = parse(&serde_json::from_str(arguments).unwrap()).unwrap();
            assert_eq!((read.edits.len(), read.all), (edits, all), "{arguments}");
        }
    }

    #[test]
    fn no_complaint_is_long() {
        let long = "ä`, expected x ".repeat(10_000);
        let long = Value::from(long);
        for arguments in [
            format!(r#"{{"path": "a", "limit": {long}}}"#),
            format!(r#"{{"path": "a", "kind": {long}}}"#),
            format!(r#"{{"path": "a", {long}: 1}}"#),
            format!(r#"{{"path": "a", "edits": {long}}}"#),
        ] {
            let complaint = complaint(&arguments);
            assert!(complaint.chars().count() < 600, "{complaint}");
        }
    }
}
