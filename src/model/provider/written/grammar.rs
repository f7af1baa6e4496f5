//! The notations in which models write calls: bare JSON, and the tags that their templates teach them.
//!
//! Reads a whole answer or the beginning of one; knows nothing of what is done with it.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::model::message::{ToolCall, ToolInput};
use crate::model::request::Offer;

/// What a text is.
pub(super) enum Reading {
    /// Calls, and nothing else.
    Calls(Vec<ToolCall>),
    /// The beginning of something that may become calls.
    Begun,
    /// Something to read.
    Text,
}

/// Whether more text may follow.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// This is all.
    Here,
    /// The answer goes on.
    Open,
}

/// Why reading ended before a call was whole.
enum Stop {
    /// The text ends here; what is there fits.
    Short,
    /// It is no call.
    Odd,
}

use Stop::{Odd, Short};

/// Reads `text`; calls of tools that are not among `offers` are text.
pub(super) fn read(text: &str, offers: &[Offer], end: End) -> Reading {
    let mut reader = Reader { rest: text.trim_start(), offers, end, calls: Vec::new() };
    loop {
        if reader.rest.is_empty() && !reader.calls.is_empty() {
            return Reading::Calls(reader.calls);
        }
        match reader.item() {
            Ok(()) => {}
            Err(Short) if end == End::Open => return Reading::Begun,
            Err(Short | Odd) => return Reading::Text,
        }
        reader.blanks();
    }
}

/// Hermes and Qwen write a call between these.
const TAGS: (&str, &str) = ("<tool_call>", "</tool_call>");
/// Mistral begins with this.
const MISTRAL: &str = "[TOOL_CALLS]";
/// What follows the name where Mistral's newer models write it before the arguments.
const MISTRAL_ARGUMENTS: &str = "[ARGS]";
/// Llama 3.1 begins with this.
const PYTHON: &str = "<|python_tag|>";
/// Llama 3 and Qwen Coder name the tool in the tag, up to a `>`.
const FUNCTION: (&str, &str) = ("<function=", "</function>");
/// Qwen Coder writes each argument between these, its name up to a `>`.
const PARAMETER: (&str, &str) = ("<parameter=", "</parameter>");

struct Reader<'a> {
    rest: &'a str,
    offers: &'a [Offer],
    end: End,
    calls: Vec<ToolCall>,
}

impl<'a> Reader<'a> {
    /// A call, or several in one notation.
    fn item(&mut self) -> Result<(), Stop> {
        if self.takes(TAGS.0) {
            self.blanks();
            if self.rest.starts_with(FUNCTION.0) || (self.at_end() && FUNCTION.0.starts_with(self.rest)) {
                self.function()?;
            } else {
                self.json()?;
            }
            return self.closes(TAGS.1);
        }
        if self.rest.starts_with(FUNCTION.0) {
            return self.function();
        }
        if self.takes(MISTRAL) {
            self.blanks();
            return if self.rest.starts_with(['[', '{']) { self.json() } else { self.mistral() };
        }
        if self.takes(PYTHON) {
            self.blanks();
            return self.json();
        }
        if self.rest.starts_with(['{', '[']) {
            return match self.json() {
                Err(Odd) if self.may_begin(MISTRAL) => Err(Short),
                read => read,
            };
        }
        let opens = [TAGS.0, FUNCTION.0, MISTRAL, PYTHON].into_iter().any(|opening| self.may_begin(opening));
        Err(if opens { Short } else { Odd })
    }

    /// A JSON object, or an array of them.
    fn json(&mut self) -> Result<(), Stop> {
        let calls = if self.rest.starts_with('[') {
            self.value::<Vec<Written>>()?
        } else if self.rest.starts_with('{') {
            vec![self.value::<Written>()?]
        } else if self.rest.is_empty() {
            return Err(Short);
        } else {
            return Err(Odd);
        };
        for written in calls {
            self.written(written)?;
        }
        // Llama 3.1 parts them so.
        self.blanks();
        if self.rest.starts_with(';') {
            self.rest = &self.rest[1..];
        }
        Ok(())
    }

    fn written(&mut self, written: Written) -> Result<(), Stop> {
        let Written { name, arguments, function, _type: _, _id: _ } = written;
        match (name, arguments, function) {
            (Some(name), Some(arguments), None) | (None, Some(arguments), Some(Function::Name(name))) => {
                self.call(&name, arguments)
            }
            (None, None, Some(Function::Inner(Inner { name, arguments }))) => self.call(&name, arguments),
            _ => Err(Odd),
        }
    }

    /// `NAME[ARGS]{…}` behind Mistral's word.
    fn mistral(&mut self) -> Result<(), Stop> {
        let Some((name, rest)) = self.rest.split_once(MISTRAL_ARGUMENTS) else {
            let may_be_name = self.rest.chars().all(|c| c.is_ascii_alphanumeric() || "_-[ARGS".contains(c));
            return Err(if may_be_name { Short } else { Odd });
        };
        self.rest = rest;
        let arguments = self.arguments()?;
        self.call(name.trim(), arguments)
    }

    /// `<function=NAME>`, then an object or one tag for each argument.
    fn function(&mut self) -> Result<(), Stop> {
        let name = self.named(FUNCTION.0)?;
        self.blanks();
        let arguments = if self.rest.starts_with('{') { self.arguments()? } else { self.parameters(name)? };
        self.call(name, arguments)?;
        self.closes(FUNCTION.1)
    }

    fn parameters(&mut self, tool: &str) -> Result<Value, Stop> {
        let schema = self.offer(tool).ok_or(Odd)?.parameters.get("properties");
        let mut arguments = Map::new();
        loop {
            self.blanks();
            if self.rest.starts_with(FUNCTION.1) {
                return Ok(Value::Object(arguments));
            }
            if !self.rest.starts_with(PARAMETER.0) {
                return Err(if self.may_begin(PARAMETER.0) || self.may_begin(FUNCTION.1) { Short } else { Odd });
            }
            let name = self.named(PARAMETER.0)?;
            let raw = self.parameter()?;
            let kind = schema.and_then(|schema| schema.get(name)?.get("type")?.as_str());
            let value = match kind {
                Some("string") | None => Value::String(raw.to_owned()),
                Some(_) => serde_json::from_str(raw).unwrap_or_else(|_| Value::String(raw.to_owned())),
            };
            arguments.insert(name.to_owned(), value);
        }
    }

    /// The text of an argument, without the line breaks next to its tags. It may itself hold such a tag: the one counts
    /// behind which the notation goes on.
    fn parameter(&mut self) -> Result<&'a str, Stop> {
        for (at, _) in self.rest.match_indices(PARAMETER.1) {
            let after = &self.rest[at + PARAMETER.1.len()..];
            let next = after.trim_start();
            let goes_on = [PARAMETER.0, FUNCTION.1].into_iter().any(|tag| next.starts_with(tag));
            if goes_on || next.is_empty() {
                let raw = &self.rest[..at];
                self.rest = after;
                let raw = raw.strip_prefix('\n').unwrap_or(raw);
                return Ok(raw.strip_suffix('\n').unwrap_or(raw));
            }
        }
        Err(Short)
    }

    /// The name in a tag that begins with `opening` and ends with `>`.
    fn named(&mut self, opening: &str) -> Result<&'a str, Stop> {
        let inner = self.rest.strip_prefix(opening).ok_or(Short)?;
        match inner.split_once('>') {
            Some((name, rest)) => {
                self.rest = rest;
                Ok(name.trim())
            }
            None if inner.contains(char::is_whitespace) => Err(Odd),
            None => Err(Short),
        }
    }

    fn arguments(&mut self) -> Result<Value, Stop> {
        self.blanks();
        match self.rest.chars().next() {
            Some('{') => self.value::<Map<String, Value>>().map(Value::Object),
            Some(_) => Err(Odd),
            None => Err(Short),
        }
    }

    /// The JSON value that comes next.
    fn value<T: for<'de> Deserialize<'de>>(&mut self) -> Result<T, Stop> {
        let mut values = serde_json::Deserializer::from_str(self.rest).into_iter::<T>();
        match values.next() {
            Some(Ok(value)) => {
                self.rest = &self.rest[values.byte_offset()..];
                Ok(value)
            }
            Some(Err(error)) if !error.is_eof() => Err(Odd),
            Some(Err(_)) | None => Err(Short),
        }
    }

    fn call(&mut self, name: &str, arguments: Value) -> Result<(), Stop> {
        self.offer(name).ok_or(Odd)?;
        let input = match arguments {
            Value::Object(object) => ToolInput::Object(object),
            // Written twice, as text in JSON.
            Value::String(text) => ToolInput::parse(&text),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => return Err(Odd),
        };
        match input {
            ToolInput::Object(_) => self.calls.push(ToolCall { id: String::new(), name: name.to_owned(), input }),
            ToolInput::Invalid { .. } => return Err(Odd),
        }
        Ok(())
    }

    fn offer(&self, name: &str) -> Option<&'a Offer> {
        self.offers.iter().find(|offer| offer.name == name)
    }

    /// A closing tag; a server may have taken it for the end of the answer and left it out.
    fn closes(&mut self, tag: &str) -> Result<(), Stop> {
        self.blanks();
        if self.takes(tag) || (self.rest.is_empty() && self.end == End::Here) {
            return Ok(());
        }
        Err(if self.may_begin(tag) { Short } else { Odd })
    }

    fn takes(&mut self, word: &str) -> bool {
        let rest = self.rest.strip_prefix(word);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// Whether the text ends within `word`.
    fn may_begin(&self, word: &str) -> bool {
        self.at_end() && word.starts_with(self.rest)
    }

    fn at_end(&self) -> bool {
        self.end == End::Open
    }

    fn blanks(&mut self) {
        self.rest = self.rest.trim_start();
    }
}

/// A call as JSON. Any other key makes it data that somebody asked for.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    name: Option<String>,
    #[serde(alias = "parameters")]
    arguments: Option<Value>,
    function: Option<Function>,
    #[serde(rename = "type")]
    _type: Option<Kind>,
    #[serde(rename = "id")]
    _id: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Function {
    Name(String),
    Inner(Inner),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Inner {
    name: String,
    #[serde(alias = "parameters")]
    arguments: Value,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Function,
}
