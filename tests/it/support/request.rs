//! What the program asked the model, in one shape for all wires.

use std::collections::BTreeMap;
use std::time::Instant;

use serde_json::Value;

use super::wire::Wire;

/// Header names in lower case.
pub type Headers = BTreeMap<String, String>;

/// One recorded request.
pub struct Request {
    pub wire: Wire,
    pub model: String,
    pub headers: Headers,
    pub body: Value,
    pub arrived: Instant,
    pub conversation: Conversation,
}

/// What a request says, whatever the wire.
#[derive(Default)]
pub struct Conversation {
    pub system_text: String,
    /// The system prompt as it stands on the wire.
    pub system: Value,
    pub tools: Vec<Offered>,
    pub tools_forbidden: bool,
    pub turns: Vec<Turn>,
}

/// A tool that is offered.
pub struct Offered {
    pub name: String,
    pub schema: Value,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    User,
    Assistant,
    Tool,
}

/// A message of the conversation, or the part of one that belongs to one role.
pub struct Turn {
    pub role: Role,
    pub text: String,
    pub calls: Vec<MadeCall>,
    pub results: Vec<Outcome>,
    /// Text and signature.
    pub reasoning: Vec<(String, Option<String>)>,
    /// The message as it stands on the wire.
    pub wire: Value,
}

pub struct MadeCall {
    pub id: String,
    pub name: String,
    pub arguments: Value,
}

/// What a call came to.
pub struct Outcome {
    pub id: String,
    pub text: String,
}

impl Turn {
    pub fn new(role: Role, wire: &Value) -> Self {
        let wire = wire.clone();
        Self { role, text: String::new(), calls: Vec::new(), results: Vec::new(), reasoning: Vec::new(), wire }
    }

    pub fn is_empty(&self) -> bool {
        self.text.is_empty() && self.calls.is_empty() && self.results.is_empty() && self.reasoning.is_empty()
    }
}

impl Request {
    pub fn model(&self) -> &str {
        &self.model
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }

    pub fn system(&self) -> &str {
        &self.conversation.system_text
    }

    /// The names of the tools the model may call.
    pub fn tools(&self) -> Vec<&str> {
        let conversation = &self.conversation;
        let offered = conversation.tools.iter().map(|tool| tool.name.as_str());
        if conversation.tools_forbidden { Vec::new() } else { offered.collect() }
    }

    /// All that was said by one role, message by message.
    pub fn said(&self, role: Role) -> Vec<&str> {
        let turns = self.conversation.turns.iter().filter(|turn| turn.role == role);
        turns.map(|turn| turn.text.as_str()).filter(|text| !text.is_empty()).collect()
    }

    /// The last thing the user said.
    pub fn prompt(&self) -> &str {
        self.said(Role::User).last().copied().unwrap_or_default()
    }

    /// All results, in order: the call's id and the text.
    pub fn results(&self) -> Vec<(&str, &str)> {
        let results = self.conversation.turns.iter().flat_map(|turn| &turn.results);
        results.map(|result| (result.id.as_str(), result.text.as_str())).collect()
    }

    /// The ids of all results, in order.
    pub fn answered(&self) -> Vec<&str> {
        self.results().into_iter().map(|(id, _)| id).collect()
    }

    /// The text of a call's one result.
    #[track_caller]
    pub fn result(&self, id: &str) -> &str {
        let results = self.results();
        let mut found = results.iter().filter(|(call, _)| *call == id);
        match (found.next(), found.next()) {
            (Some((_, text)), None) => text,
            (None | Some(_), _) => panic!("not exactly one result for {id}: {results:?}"),
        }
    }

    /// The text of the last result.
    #[track_caller]
    pub fn told(&self) -> &str {
        self.results().last().unwrap().1
    }

    /// All reasoning that was sent back: text and signature.
    pub fn reasoning(&self) -> Vec<(&str, Option<&str>)> {
        let reasoning = self.conversation.turns.iter().flat_map(|turn| &turn.reasoning);
        reasoning.map(|(text, signature)| (text.as_str(), signature.as_deref())).collect()
    }

    /// Whether a text occurs anywhere in the request.
    pub fn mentions(&self, text: &str) -> bool {
        let escaped = Value::from(text).to_string();
        self.body.to_string().contains(escaped.trim_matches('"'))
    }
}
