//! Puts the calls of one answer together from their pieces.
//!
//! Servers disagree about what identifies a piece: an index, an id, both, neither, the same for all. Nothing here decides
//! early: a call is whole when the stream is.

use serde_json::Value;

use crate::base::json::Object;
use crate::model::message::{ToolCall, ToolInput};
use crate::model::provider::borrowed::text;

use super::chunk::CallPiece;

/// The calls of one answer.
#[derive(Debug, Default)]
pub struct Calls {
    calls: Vec<Call>,
}

#[derive(Debug, Default)]
struct Call {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
    extra: Option<Value>,
}

impl Call {
    /// Whether the arguments so far are an object; more may still come.
    fn is_whole(&self) -> bool {
        self.arguments.ends_with('}') && serde_json::from_str::<Object>(&self.arguments).is_ok()
    }
}

impl Calls {
    /// How many there are so far.
    pub fn len(&self) -> usize {
        self.calls.len()
    }

    /// Takes the pieces of one chunk.
    pub fn push(&mut self, pieces: &[CallPiece<'_>]) {
        let mut before = None;
        for piece in pieces {
            before = Some(self.add(piece, before));
        }
    }

    /// Adds one piece and says to which call; `before` is the call of the piece before it in the same chunk.
    fn add(&mut self, piece: &CallPiece<'_>, before: Option<usize>) -> usize {
        let id = text(piece.id.as_ref());
        let function = piece.function.as_ref();
        let name = text(function.and_then(|function| function.name.as_ref()));
        let arguments = text(function.and_then(|function| function.arguments.as_ref()));
        let place = self.resolve(piece.index, id, name, arguments, before).unwrap_or_else(|| {
            self.calls.push(Call { index: piece.index, ..Call::default() });
            self.calls.len() - 1
        });
        if let Some(call) = self.calls.get_mut(place) {
            if call.id.is_empty() {
                id.clone_into(&mut call.id);
            }
            // Sent once, or again with every piece: never in pieces.
            if call.name.is_empty() {
                name.clone_into(&mut call.name);
            }
            call.arguments.push_str(arguments);
            if let Some(extra) = piece.extra_content.as_ref().filter(|extra| !extra.is_null()) {
                call.extra = Some(extra.clone());
            }
        }
        place
    }

    /// The call a piece belongs to; `None` for a new one.
    fn resolve(
        &self,
        index: Option<u64>,
        id: &str,
        name: &str,
        arguments: &str,
        before: Option<usize>,
    ) -> Option<usize> {
        let at_index = match index {
            Some(_) => self.calls.iter().rposition(|call| call.index == index),
            None => self.calls.len().checked_sub(1),
        };
        if !id.is_empty() {
            // The same id with another index is another call: some servers number nothing.
            let known = self
                .calls
                .iter()
                .rposition(|call| call.id == id && (call.index == index || call.index.is_none() || index.is_none()));
            let Some(known) = known else {
                let current = at_index.and_then(|place| self.calls.get(place).map(|call| (place, call)));
                return match current {
                    // The id comes late.
                    Some((place, call)) if call.id.is_empty() && (name.is_empty() || call.name.is_empty()) => {
                        Some(place)
                    }
                    // A new id without a name, where a named call is under way: the server makes one up for every piece.
                    Some((place, call)) if name.is_empty() && index.is_some() && !call.is_whole() => Some(place),
                    _ => None,
                };
            };
            let again = before == Some(known) && !name.is_empty();
            return if again { None } else { Some(known) };
        }
        let place = at_index?;
        let call = self.calls.get(place)?;
        if name.is_empty() || call.name.is_empty() {
            return Some(place);
        }
        // A name again: the server repeats it with every piece, or a next call comes without index and id of its own.
        let next_in_chunk = before == Some(place);
        let whole = !arguments.is_empty() && call.is_whole();
        if next_in_chunk || whole || call.name != name { None } else { Some(place) }
    }

    /// The calls, whole, each with what its server wants back besides.
    pub fn finish(self) -> Vec<Vec<(ToolCall, Option<Value>)>> {
        self.calls.into_iter().map(expand).collect()
    }
}

/// Some models call several tools by calling one that does not exist.
const PARALLEL: [&str; 2] = ["multi_tool_use.parallel", "multi_tool_use_parallel"];

fn expand(call: Call) -> Vec<(ToolCall, Option<Value>)> {
    let Call { index: _, id, name, arguments, extra } = call;
    let input = ToolInput::parse(&arguments);
    if PARALLEL.contains(&name.as_str())
        && let Some(inner) = input.object().and_then(|input| uses(input, &id))
    {
        return inner.into_iter().map(|call| (call, None)).collect();
    }
    vec![(ToolCall { id, name, input }, extra)]
}

/// `{"tool_uses": [{"recipient_name": "functions.X", "parameters": {…}}, …]}` as calls; the ids are made unique later.
fn uses(input: &Object, id: &str) -> Option<Vec<ToolCall>> {
    let uses = input.get("tool_uses")?.as_array().filter(|uses| !uses.is_empty())?;
    uses.iter()
        .map(|one| {
            let name = one.get("recipient_name")?.as_str()?;
            let name = name.strip_prefix("functions.").unwrap_or(name).to_owned();
            let input = match one.get("parameters") {
                Some(Value::Object(parameters)) => ToolInput::Object(parameters.clone()),
                Some(Value::Null) | None => ToolInput::Object(Object::new()),
                Some(other) => ToolInput::parse(&other.to_string()),
            };
            Some(ToolCall { id: id.to_owned(), name, input })
        })
        .collect()
}
