//! The lines of a session file, as they are written on disk.
//!
//! Readers skip fields and kinds they do not know, so that older programs read what newer ones wrote; fields are only
//! ever added. What the lines mean is not decided here: `tree` puts them in place, `convert` translates them.

use std::fmt;

use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::product::permission::Decision;

/// The version of the format that is written, and the newest that is read.
pub const VERSION: u64 = 1;

/// The first line of a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "session")]
pub struct Header {
    /// The format's version.
    pub version: u64,
    /// The session's id: the file's name without its ending.
    #[serde(default)]
    pub id: String,
    /// Milliseconds since 1970.
    #[serde(default)]
    pub created_at: i64,
    /// The folder the session works in.
    #[serde(default)]
    pub cwd: String,
    /// The provider at the beginning.
    #[serde(default)]
    pub provider: String,
    /// The model at the beginning.
    #[serde(default)]
    pub model: String,
    /// The id of the session this one was copied from.
    #[serde(default)]
    pub parent: Option<String>,
    /// Where it came from, if another program wrote it first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imported: Option<Imported>,
}

/// What another program kept, and how it called it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Imported {
    /// The program: `pi`, `zaica`, `claude` or `codex`.
    pub from: String,
    /// The session's id there.
    #[serde(default)]
    pub id: String,
    /// The file it was read from.
    #[serde(default)]
    pub path: String,
}

/// Something that was said, by whomever.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "message")]
pub struct MessageLine {
    /// Unique within the file, counting up from 1. Read as part of the [`Outline`], which bears with strange ones.
    #[serde(skip_deserializing)]
    pub id: u64,
    /// What it follows; nothing for the first. Read as part of the [`Outline`].
    #[serde(skip_deserializing)]
    pub parent_id: Option<u64>,
    /// Milliseconds since 1970.
    #[serde(default)]
    pub timestamp: i64,
    /// Who said it.
    pub role: Role,
    /// Of an answer: the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Of an answer: the provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// Of an answer: what it took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<UsageLine>,
    /// Of an answer: why it ended, in the words of `StopReason`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<String>,
    /// What was said.
    #[serde(default)]
    pub content: Vec<Content>,
}

/// Who said something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// A person, or the agent on the person's behalf.
    User,
    /// A model.
    Assistant,
    /// Tools.
    Tool,
    /// Somebody a later version knows.
    #[serde(other, skip_serializing)]
    Unknown,
}

/// A piece of what was said.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Content {
    /// Text; a long one may be kept outside of the file, under the hash `blob`.
    Text {
        /// The text itself.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
        /// Lower-case hexadecimal SHA-256.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        blob: Option<String>,
    },
    /// A picture; a big one may be kept outside of the file.
    Image {
        /// Such as `image/png`.
        media_type: String,
        /// Base64 with padding.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        data: Option<String>,
        /// Lower-case hexadecimal SHA-256.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        blob: Option<String>,
    },
    /// What a model thought.
    Reasoning {
        /// What may be shown.
        #[serde(default)]
        text: String,
        /// The provider's seal.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signature: Option<String>,
        /// What only the provider can read.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        data: Option<Value>,
    },
    /// What a model wants done.
    ToolUse {
        /// The call's id.
        id: String,
        /// The tool's name.
        name: String,
        /// The arguments; an empty object where `raw` is set.
        #[serde(default)]
        input: Value,
        /// The arguments as text, where they cannot be written as an object.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        raw: Option<String>,
        /// Why `raw` is no object; absent where it is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        problem: Option<String>,
    },
    /// What a call came to.
    ToolResult {
        /// The call's id.
        tool_use_id: String,
        /// Text and pictures.
        #[serde(default)]
        content: Vec<Content>,
        /// Whether the call failed.
        #[serde(default)]
        is_error: bool,
    },
    /// Something a later version knows.
    #[serde(other, skip_serializing)]
    Unknown,
}

/// What an answer took, in the words of the event vocabulary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct UsageLine {
    /// Uncached input tokens.
    pub input_tokens: u64,
    /// Output tokens, reasoning included.
    pub output_tokens: u64,
    /// Input tokens read from a cache.
    pub cache_read_tokens: u64,
    /// Input tokens written to a cache.
    pub cache_write_tokens: u64,
    /// The part of the output that was reasoning.
    pub reasoning_tokens: u64,
    /// US dollars; nothing where the price is unknown.
    pub cost_usd: Option<f64>,
}

/// Stands for what came before it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "summary")]
pub struct SummaryLine {
    /// Shares the count of the messages. Read as part of the [`Outline`], like the other links.
    #[serde(skip_deserializing)]
    pub id: u64,
    /// What it follows.
    #[serde(skip_deserializing)]
    pub parent_id: Option<u64>,
    /// Milliseconds since 1970.
    #[serde(default)]
    pub timestamp: i64,
    /// The summary.
    pub text: String,
    /// The oldest message before it that is still sent to the model.
    #[serde(skip_deserializing)]
    pub first_kept_id: Option<u64>,
    /// How much the context held before.
    #[serde(default)]
    pub tokens_before: u64,
    /// What the conversation is opened with anew, before the summary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opening: Option<String>,
    /// Messages that are sent word for word right behind the summary, although they stand before what is kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pinned_ids: Vec<u64>,
    /// Who wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The provider of that model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// What it took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<UsageLine>,
}

/// From here on, long results before a message are not sent any more.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "prune")]
pub struct PruneLine {
    /// The message.
    pub first_kept_id: u64,
}

/// A note on a message; the last one counts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "label")]
pub struct LabelLine {
    /// The message.
    pub target_id: u64,
    /// The note; nothing takes it away.
    #[serde(default)]
    pub label: Option<String>,
}

/// Where the conversation stands from here on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "leaf")]
pub struct LeafLine {
    /// The message; nothing is the beginning.
    pub target_id: Option<u64>,
    /// Of one that takes back a turn: where the conversation stood before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undone_id: Option<u64>,
}

/// A snapshot of the files, as they were before and after what a message asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "checkpoint")]
pub struct CheckpointLine {
    /// Shares the count of the messages.
    pub id: u64,
    /// The message.
    pub entry_id: u64,
    /// The snapshot's name among the checkpoints.
    #[serde(rename = "ref")]
    pub reference: String,
}

/// From here on another model answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "model")]
pub struct ModelLine {
    /// The provider.
    pub provider: String,
    /// The model.
    pub model: String,
}

/// Pictures that a provider refused; they are not sent again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "refused")]
pub struct RefusedLine {
    /// The pictures' ids, see `Image::id`.
    pub pictures: Vec<String>,
}

/// From here on this is allowed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "grant")]
pub struct GrantLine {
    /// What is allowed, or that nothing is any more. An earlier program skips the line for the latter.
    pub mode: Decision,
}

/// The session's name, given by a person or made from what was said; the last one counts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "name")]
pub struct NameLine {
    /// The name.
    pub name: String,
    /// When it was given, in milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<i64>,
    /// Of one that a model thought of: the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The provider of that model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// What it took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<UsageLine>,
}

/// The kinds of lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// [`Header`].
    Session,
    /// [`MessageLine`].
    Message,
    /// [`SummaryLine`].
    Summary,
    /// [`LabelLine`].
    Label,
    /// [`NameLine`].
    Name,
    /// [`ModelLine`].
    Model,
    /// [`GrantLine`].
    Grant,
    /// [`RefusedLine`].
    Refused,
    /// [`PruneLine`].
    Prune,
    /// [`LeafLine`].
    Leaf,
    /// [`CheckpointLine`].
    Checkpoint,
    /// Something a later version knows, or no kind at all.
    #[default]
    #[serde(other)]
    Unknown,
}

/// The little of a line that is read of every one; any JSON object is accepted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Outline {
    /// What kind of line it is.
    #[serde(rename = "type")]
    pub kind: Kind,
    /// Its id, where it has one.
    pub id: Link,
    /// What it follows.
    pub parent_id: Link,
    /// Of a leaf: where the conversation stands.
    pub target_id: Link,
    /// Of a summary: the oldest message that is kept.
    pub first_kept_id: Link,
}

/// A reference to a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Link {
    /// Not given, or nothing that could be an id.
    #[default]
    Absent,
    /// `null`: the beginning.
    Root,
    /// That line.
    Id(u64),
}

impl<'de> Deserialize<'de> for Link {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(LinkVisitor)
    }
}

struct LinkVisitor;

impl<'de> Visitor<'de> for LinkVisitor {
    type Value = Link;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an id")
    }

    fn visit_u64<E>(self, id: u64) -> Result<Link, E> {
        Ok(Link::Id(id))
    }

    fn visit_unit<E>(self) -> Result<Link, E> {
        Ok(Link::Root)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Link, E> {
        Ok(Link::Absent)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Link, E> {
        Ok(Link::Absent)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Link, E> {
        Ok(Link::Absent)
    }

    fn visit_str<E>(self, _: &str) -> Result<Link, E> {
        Ok(Link::Absent)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Link, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Link::Absent)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Link, A::Error> {
        while entries.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Link::Absent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::product::permission::Grant;

    #[test]
    fn lines_are_spelled_as_documented() {
        let line = MessageLine {
            id: 2,
            parent_id: Some(1),
            timestamp: 5,
            role: Role::Assistant,
            model: Some("m".into()),
            provider: Some("p".into()),
            usage: Some(UsageLine { output_tokens: 7, ..UsageLine::default() }),
            stop_reason: Some("stop".into()),
            content: vec![Content::Text { text: Some("hi".into()), blob: None }],
        };
        assert_eq!(
            serde_json::to_string(&line).unwrap(),
            r#"{"type":"message","id":2,"parent_id":1,"timestamp":5,"role":"assistant","model":"m","provider":"p","usage":{"input_tokens":0,"output_tokens":7,"cache_read_tokens":0,"cache_write_tokens":0,"reasoning_tokens":0,"cost_usd":null},"stop_reason":"stop","content":[{"type":"text","text":"hi"}]}"#
        );
        assert_eq!(
            serde_json::to_string(&GrantLine { mode: Grant::None.into() }).unwrap(),
            r#"{"type":"grant","mode":"none"}"#
        );
        for mode in [Decision::Ask, Decision::Allow(Grant::All), Decision::Allow(Grant::None)] {
            let line = serde_json::to_string(&GrantLine { mode }).unwrap();
            assert_eq!(serde_json::from_str::<GrantLine>(&line).unwrap().mode, mode, "{line}");
        }
        assert_eq!(serde_json::to_string(&Decision::Ask).unwrap(), r#""ask""#);
        assert!(serde_json::from_str::<GrantLine>(r#"{"type":"grant","mode":"some"}"#).is_err());
    }

    #[test]
    fn what_is_unknown_is_no_error() {
        let line: MessageLine = serde_json::from_str(
            r#"{"type":"message","id":1,"role":"wizard","new":{},"content":[{"type":"smell","of":[1]},{"type":"text","text":"x","lang":"en"}]}"#,
        )
        .unwrap();
        assert_eq!(line.role, Role::Unknown);
        assert_eq!(line.content, [Content::Unknown, Content::Text { text: Some("x".into()), blob: None }]);
        for (text, kind, id) in [
            (r#"{"some":"json"}"#, Kind::Unknown, Link::Absent),
            (r#"{"type":"new","id":"x","parent_id":[{}]}"#, Kind::Unknown, Link::Absent),
            (r#"{"type":"summary","id":3}"#, Kind::Summary, Link::Id(3)),
            (r#"{"id":-1.5,"target_id":{"a":[]},"type":"leaf"}"#, Kind::Leaf, Link::Absent),
        ] {
            let outline: Outline = serde_json::from_str(text).unwrap();
            assert_eq!((outline.kind, outline.id), (kind, id), "{text}");
        }
        let leaf: Outline = serde_json::from_str(r#"{"type":"leaf","target_id":null}"#).unwrap();
        assert_eq!(leaf.target_id, Link::Root);
    }
}
