//! A model without a wire: it gives the answers it was made with, one after the other.
//!
//! It never looks at what it is asked and opens no file. It waits for nothing, unless somebody is to watch.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::error::{ErrorKind, ModelError};
use super::message::{AssistantPart, Reasoning};
use super::reply::{Delta, Reply};
use super::request::Request;
use super::{Model, ModelInfo, ReplyFuture};
use crate::base::cancel::Cancel;
use crate::base::text::cut;

/// How many pieces a text arrives in: enough for a reader that joins pieces to be put to the test.
const PIECES: usize = 4;

/// How fast answers come where somebody watches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// Before each answer.
    pub answer: Duration,
    /// Behind each word.
    pub word: Duration,
}

/// Answers from a recording.
#[derive(Debug)]
pub struct Replay {
    info: ModelInfo,
    replies: Vec<Reply>,
    next: AtomicUsize,
    pace: Option<Pace>,
}

impl Replay {
    /// A model that gives these answers in order, each once; after the last one every request fails.
    pub fn new(info: ModelInfo, replies: Vec<Reply>) -> Self {
        Self { info, replies, next: AtomicUsize::new(0), pace: None }
    }

    /// The same at a pace at which it can be read, a word at a time; `None` is as fast as it goes.
    #[must_use]
    pub fn at(self, pace: Option<Pace>) -> Self {
        Self { pace, ..self }
    }

    async fn answer(&self, deltas: &mut dyn FnMut(Delta<'_>), cancel: &Cancel) -> Result<Reply, ModelError> {
        if let Some(pace) = self.pace {
            wait(pace.answer, cancel).await?;
        }
        interrupted(cancel)?;
        let number = self.next.fetch_add(1, Ordering::SeqCst);
        let Some(reply) = self.replies.get(number) else {
            let message = format!("the recording ends here, after {} answers", self.replies.len());
            return Err(ModelError::new(ErrorKind::InvalidRequest, message));
        };
        for part in &reply.content {
            match part {
                AssistantPart::Text(text) => match self.pace {
                    Some(pace) => {
                        for word in text.split_inclusive(' ') {
                            deltas(Delta::Text(word));
                            wait(pace.word, cancel).await?;
                        }
                    }
                    None => pieces(text).for_each(|piece| deltas(Delta::Text(piece))),
                },
                AssistantPart::Reasoning(Reasoning { text, .. }) => {
                    pieces(text).for_each(|piece| deltas(Delta::Reasoning(piece)));
                }
                AssistantPart::ToolUse(_) => {}
            }
        }
        Ok(reply.clone())
    }
}

impl Model for Replay {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    fn reply<'a>(
        &'a self,
        _: &'a Request,
        deltas: &'a mut dyn FnMut(Delta<'_>),
        cancel: &'a Cancel,
    ) -> ReplyFuture<'a> {
        Box::pin(self.answer(deltas, cancel))
    }
}

fn interrupted(cancel: &Cancel) -> Result<(), ModelError> {
    if cancel.is_cancelled() { Err(ModelError::new(ErrorKind::Cancelled, "interrupted")) } else { Ok(()) }
}

/// Waits, unless it is cancelled meanwhile.
async fn wait(time: Duration, cancel: &Cancel) -> Result<(), ModelError> {
    tokio::select! {
        () = cancel.cancelled() => {}
        () = tokio::time::sleep(time) => {}
    }
    interrupted(cancel)
}

fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let size = text.chars().count().div_ceil(PIECES);
    let mut rest = text;
    std::iter::from_fn(move || {
        let piece = match cut::head(rest, size) {
            // One grapheme can be longer than a piece.
            "" => rest,
            piece => piece,
        };
        rest = rest.strip_prefix(piece).unwrap_or_default();
        (!piece.is_empty()).then_some(piece)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::message::Origin;
    use crate::model::reply::StopReason;
    use crate::model::request::{Options, ToolChoice};
    use crate::model::usage::Usage;
    use std::sync::Arc;

    #[tokio::test]
    async fn answers_come_in_order_and_then_end() {
        let origin = Arc::new(Origin { provider: "replay".into(), model: "m".into() });
        let info = ModelInfo {
            origin,
            label: "m".into(),
            window: None,
            max_output: None,
            price: None,
            reasoning: false,
            images: false,
        };
        let reply = |text: &str| {
            let thought = AssistantPart::Reasoning(Reasoning { text: "well".into(), ..Reasoning::default() });
            let content = vec![thought, AssistantPart::Text(text.into())];
            Reply { content, stop: StopReason::Stop, usage: Usage::default(), written: false }
        };
        let texts = ["one two three four five", "👩‍👩‍👧‍👦"];
        let model = Replay::new(info, texts.map(reply).into());
        let request = Request {
            system: "".into(),
            messages: Vec::new(),
            tools: Arc::new([]),
            tool_choice: ToolChoice::Auto,
            options: Options::default(),
        };
        let cancel = Cancel::new();
        for text in texts {
            let (mut said, mut thought, mut pieces) = (String::new(), String::new(), 0);
            let mut deltas = |delta: Delta<'_>| match delta {
                Delta::Text(text) => {
                    said.push_str(text);
                    pieces += 1;
                }
                Delta::Reasoning(text) => thought.push_str(text),
            };
            assert_eq!(model.reply(&request, &mut deltas, &cancel).await, Ok(reply(text)));
            assert_eq!(
                (said.as_str(), thought.as_str(), pieces > 1),
                (text, "well", text.len() > 25 || text.is_ascii())
            );
        }
        let pace = Pace { answer: Duration::from_millis(2), word: Duration::from_millis(1) };
        let slow = Replay::new(model.info().clone(), texts.map(reply).into()).at(Some(pace));
        let mut words = Vec::new();
        let mut deltas = |delta: Delta<'_>| match delta {
            Delta::Text(text) => words.push(text.to_owned()),
            Delta::Reasoning(_) => {}
        };
        assert_eq!(slow.reply(&request, &mut deltas, &cancel).await, Ok(reply(texts[0])));
        assert_eq!(words, ["one ", "two ", "three ", "four ", "five"]);
        let ended = model.reply(&request, &mut |_| {}, &cancel).await.unwrap_err();
        assert_eq!((ended.kind, ended.retryable), (ErrorKind::InvalidRequest, false));
        assert!(ended.message.starts_with("the recording ends here"));
        cancel.cancel();
        assert_eq!(model.reply(&request, &mut |_| {}, &cancel).await.unwrap_err().kind, ErrorKind::Cancelled);
    }
}
