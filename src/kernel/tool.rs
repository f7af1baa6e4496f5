//! What a tool is to the loop: a description, a risk, a subject, and a function that runs on a thread of its own.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value;

use crate::base::cancel::Cancel;
use crate::base::json::Object;
use crate::base::text::cut;
use crate::model::message::Image;
use crate::model::usage::Usage;

use super::effect::DeniedCall;
use super::event::Event;

/// Something the model can have done.
///
/// A failing tool is an [`Output`] the model can act on, never a panic and never an error that ends the loop.
pub trait Tool: Send + Sync {
    /// What the model, the permission gate and the truncation are told.
    fn spec(&self) -> &ToolSpec;

    /// Checks the arguments and says what the call would touch.
    ///
    /// # Errors
    ///
    /// What is wrong with the arguments, in words a model can act on: the parameter and what was expected.
    fn subject(&self, arguments: &Object) -> Result<Subject, String>;

    /// Runs the call and blocks until it is done. `arguments` have passed [`Tool::subject`].
    ///
    /// When `context.cancel` is thrown the call ends within 200 ms and returns what there is so far.
    fn run(&self, arguments: &Object, context: &ToolContext<'_>) -> Output;
}

/// What is fixed about a tool.
#[derive(Clone, Debug)]
pub struct ToolSpec {
    /// Letters, digits and `_`.
    pub name: &'static str,
    /// What the model reads: what it does, when to use it, what comes back.
    pub description: &'static str,
    /// A JSON Schema whose root is an object.
    pub parameters: Value,
    /// What the permission gate asks about.
    pub risk: Risk,
    /// How much of its output the model gets to see.
    pub limits: Limits,
}

/// How much harm a call can do. Ordered: a grant of one tier covers those below.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Risk {
    /// Looks, changes nothing.
    Safe,
    /// Changes files of the workspace.
    Write,
    /// Can do anything.
    Dangerous,
}

impl Risk {
    /// The word of the event vocabulary.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Safe => "safe",
            Self::Write => "write",
            Self::Dangerous => "dangerous",
        }
    }
}

/// The most of an output that reaches the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Characters (Unicode scalar values).
    pub chars: usize,
    /// Lines.
    pub lines: usize,
}

/// What a call would touch: the driver orders calls by it, the permission gate judges it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A shell line; it may touch anything.
    Command(String),
    /// Files or folders that are read, absolute.
    Read(Vec<PathBuf>),
    /// Files that are written, absolute.
    Write(Vec<PathBuf>),
    /// An address on the network, as it will be asked for.
    Url(String),
    /// A task for a sub-agent, whose own calls are judged one by one.
    Task(String),
    /// Nothing of the file system.
    Other,
}

/// What a running call gets besides its arguments.
pub struct ToolContext<'a> {
    /// The call's id.
    pub call_id: &'a str,
    /// What the call was permitted for; links may lead elsewhere by now.
    pub subject: &'a Subject,
    /// Thrown when the call is to end.
    pub cancel: &'a Cancel,
    /// Takes a line about how far the call has come. May be called often; the receiver drops what is too much.
    pub progress: &'a (dyn Fn(&str) + Sync),
    /// Takes what happens within the call, where it is a task of its own.
    pub events: &'a (dyn Fn(Event) + Sync),
}

/// What a call came to, before it is cut for the model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Output {
    /// The text, cleaned: no escape sequences, valid UTF-8.
    pub text: Captured,
    /// Stands after the text, outside of what can be cut: an exit status, the next call to make.
    pub footer: Option<String>,
    /// Pictures, for models that can see.
    pub images: Vec<Image>,
    /// Whether the call failed.
    pub is_error: bool,
    /// Where the whole of a long output was kept.
    pub full_output: Option<PathBuf>,
    /// Why the whole of a long output was not kept, where it was meant to be.
    pub not_kept: Option<String>,
    /// A hash of the whole cleaned output and its status, without times, paths or ids of jobs.
    /// `None` where `text` and `footer` are the whole and hold no such thing.
    pub fingerprint: Option<u64>,
    /// What it did to a file, for people alone: it is never sent to a model, kept, or written to a wire.
    pub change: Option<Arc<Change>>,
    /// What the model is told besides, behind everything else and outside of what can be cut.
    pub appendix: Option<String>,
    /// What the call took of the task's budget, where models were asked in it.
    pub ledger: Option<Ledger>,
}

/// What a part of a task took that somebody else worked on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ledger {
    /// How many times models were asked.
    pub turns: u32,
    /// What their answers took.
    pub usage: Usage,
    /// In US dollars; `None` where a price is unknown.
    pub cost: Option<f64>,
    /// Calls that were not permitted.
    pub denied: Vec<DeniedCall>,
}

impl Output {
    /// A successful call.
    pub fn ok(text: impl Into<String>) -> Self {
        Self { text: Captured::whole(text), ..Self::default() }
    }

    /// Tells the model more, behind what it is told already.
    pub fn append(&mut self, text: &str) {
        match &mut self.appendix {
            Some(appendix) => {
                appendix.push_str("\n\n");
                appendix.push_str(text);
            }
            None => self.appendix = Some(text.to_owned()),
        }
    }

    /// A failed call. The text tells the model what to do about it.
    pub fn error(text: impl Into<String>) -> Self {
        Self { text: Captured::whole(text), is_error: true, ..Self::default() }
    }
}

/// What a call did to a text file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The file, as people are told: relative to the workspace where it lies inside.
    pub path: String,
    /// The content that was there; `None` for a file that is new.
    pub before: Option<String>,
    /// The content that is there now.
    pub after: String,
}

/// Bytes before and after a change, in total, up to which it is carried along: a screen that compares two larger texts
/// would be felt to stop.
pub const CHANGE_BYTES: usize = 512 * 1024;

impl Change {
    /// A change of `path`; `None` where it is too large to show, or one of the contents is no text.
    pub fn of(path: &str, before: Option<&[u8]>, after: &[u8]) -> Option<Arc<Self>> {
        let bytes = before.map_or(0, <[u8]>::len) + after.len();
        let text = |content: &[u8]| {
            let text = std::str::from_utf8(content).ok()?;
            (!text.contains('\0')).then(|| text.to_owned())
        };
        if bytes > CHANGE_BYTES {
            return None;
        }
        let before = match before {
            Some(content) => Some(text(content)?),
            None => None,
        };
        Some(Arc::new(Self { path: path.to_owned(), before, after: text(after)? }))
    }
}

/// A text of which the middle may already be missing, because it was too long to hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Captured {
    /// The beginning; the whole text where there is no gap.
    pub head: String,
    /// What is missing between `head` and `tail`.
    pub gap: Option<Gap>,
    /// The end; empty where there is no gap.
    pub tail: String,
}

impl Captured {
    /// A text of which nothing is missing.
    pub fn whole(text: impl Into<String>) -> Self {
        Self { head: text.into(), gap: None, tail: String::new() }
    }
}

/// How much is missing between the two ends of a captured text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gap {
    /// Characters (Unicode scalar values) that are missing.
    pub chars: u64,
    /// Line breaks among them.
    pub line_breaks: u64,
}

/// Characters of a value that an error repeats: enough to recognise it, and the model knows what it wrote.
const ECHOED_CHARS: usize = 200;

/// A value the model passed, as an error repeats it: a long one without its middle.
pub fn echo(value: &str) -> Cow<'_, str> {
    cut::middle(value, ECHOED_CHARS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_of_texts_that_are_not_too_long() {
        let change = Change::of("f", None, b"new").unwrap();
        assert_eq!((change.path.as_str(), &change.before, change.after.as_str()), ("f", &None, "new"));
        assert_eq!(Change::of("f", Some(b"old"), b"new").unwrap().before.as_deref(), Some("old"));
        for (before, after) in [(&b"\xff"[..], &b"x"[..]), (b"x", b"a\0b")] {
            assert_eq!(Change::of("f", Some(before), after), None);
        }
        let long = vec![b'x'; CHANGE_BYTES];
        assert!(Change::of("f", None, &long).is_some() && Change::of("f", Some(b"x"), &long).is_none());
    }
}
