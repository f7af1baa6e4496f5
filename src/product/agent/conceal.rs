//! Known secrets in what a person or a model said: replaced before it is kept or shown, whoever wrote them.
//!
//! What the model itself is sent stays as it was said, until the session is taken up again. A secret that a stream
//! brings in pieces is shown in pieces: deltas are looked at one by one, and only the whole answer is sure.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::Value;

use super::redact::Redactor;
use crate::base::json::Object;
use crate::kernel::effect::{End, Outcome};
use crate::kernel::event::{Event, Notice};
use crate::model::message::{Assistant, AssistantPart, Message, Part, Reasoning, ToolCall, ToolInput, ToolResult};

impl Redactor {
    /// A message as it is kept.
    pub(super) fn message(&self, message: &Arc<Message>) -> Arc<Message> {
        if self.is_empty() {
            return Arc::clone(message);
        }
        let mut message = Message::clone(message);
        match &mut message {
            Message::User(parts) => self.parts(parts),
            Message::Assistant(Assistant { content, origin: _, stop: _, usage: _ }) => {
                content.iter_mut().for_each(|part| self.assistant_part(part));
            }
            Message::Tool(results) => results.iter_mut().for_each(|result| self.parts(&mut result.content)),
        }
        Arc::new(message)
    }

    /// A result as it is kept.
    pub(super) fn result<'a>(&self, result: &'a ToolResult) -> Cow<'a, ToolResult> {
        if self.is_empty() {
            return Cow::Borrowed(result);
        }
        let mut result = result.clone();
        self.parts(&mut result.content);
        Cow::Owned(result)
    }

    /// An event as it is shown.
    pub fn event<'a>(&self, event: &'a Event) -> Cow<'a, Event> {
        if self.is_empty() {
            return Cow::Borrowed(event);
        }
        let mut event = event.clone();
        match &mut event {
            Event::Text(text)
            | Event::Reasoning(text)
            | Event::ToolProgress { id: _, text }
            | Event::Steered { id: _, text }
            | Event::Notice(Notice { code: _, text, restart: _ })
            | Event::Failed { kind: _, message: text, retryable: _ } => self.redact(text),
            Event::ToolStarted { id: _, name, arguments, risk: _ } => {
                self.redact(name);
                self.object(arguments);
            }
            Event::ToolFinished { name, output, change, .. } => {
                self.redact(name);
                self.redact(output);
                change.iter_mut().for_each(|change| self.change(change));
            }
            Event::Question { id: _, text, options } => {
                options.iter_mut().chain([text]).for_each(|text| self.redact(text));
            }
            Event::Within(_, within) => **within = self.event(within).into_owned(),
            Event::TurnStarted { .. } | Event::TurnFinished { .. } => {}
        }
        Cow::Owned(event)
    }

    /// What a task came to, as it is shown.
    pub(super) fn outcome(&self, outcome: &mut Outcome) {
        let Outcome { text, turns: _, end, usage: _, cost: _, denied } = outcome;
        self.redact(text);
        denied.iter_mut().for_each(|call| self.redact(&mut call.summary));
        match end {
            End::Failed(error) => self.redact(&mut error.message),
            End::Answered | End::MaxTurns | End::Loop | End::TimedOut | End::Cost | End::Cancelled => {}
        }
    }

    fn parts(&self, parts: &mut [Part]) {
        for part in parts {
            match part {
                Part::Text(text) => self.redact(text),
                Part::Image(_) => {}
            }
        }
    }

    fn assistant_part(&self, part: &mut AssistantPart) {
        match part {
            AssistantPart::Text(text) => self.redact(text),
            AssistantPart::Reasoning(Reasoning { text, signature, opaque }) => {
                let said = text.clone();
                self.redact(text);
                if *text != said {
                    // It seals what is no longer there, and a provider would refuse the two together.
                    *signature = None;
                }
                opaque.iter_mut().for_each(|value| self.value(value));
            }
            AssistantPart::ToolUse(ToolCall { id: _, name, input }) => {
                self.redact(name);
                match input {
                    ToolInput::Object(arguments) => self.object(arguments),
                    ToolInput::Invalid { raw, problem } => {
                        self.redact(raw);
                        self.redact(problem);
                    }
                }
            }
        }
    }

    fn value(&self, value: &mut Value) {
        match value {
            Value::String(text) => self.redact(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.value(item)),
            Value::Object(object) => self.object(object),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn object(&self, object: &mut Object) {
        let entries = std::mem::take(object).into_iter().map(|(mut key, mut value)| {
            self.redact(&mut key);
            self.value(&mut value);
            (key, value)
        });
        *object = entries.collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::text::mask::Mask;
    use crate::kernel::effect::DeniedCall;
    use crate::kernel::tool::{Change, Risk};
    use crate::model::error::{ErrorKind, ModelError};
    use crate::model::message::Origin;
    use crate::model::reply::StopReason;
    use crate::model::usage::Usage;
    use serde_json::json;

    const SECRET: &str = "sk-known-12345";

    fn redactor() -> Redactor {
        Redactor::new(Mask::new([SECRET]))
    }

    fn arguments() -> Object {
        let arguments = json!({"a": [1, {SECRET: format!("x{SECRET}y")}], "b": SECRET, "c": null});
        arguments.as_object().unwrap().clone()
    }

    #[test]
    fn a_message_is_kept_without_them() {
        let call = |input| AssistantPart::ToolUse(ToolCall { id: "c1".into(), name: SECRET.into(), input });
        let content = vec![
            AssistantPart::Text(format!("It is {SECRET}.")),
            AssistantPart::Reasoning(Reasoning {
                text: format!("hm, {SECRET}"),
                signature: Some("SEAL".into()),
                opaque: Some(json!([SECRET])),
            }),
            AssistantPart::Reasoning(Reasoning { text: "hm".into(), signature: Some("SEAL".into()), opaque: None }),
            call(ToolInput::Object(arguments())),
            call(ToolInput::Invalid { raw: format!("{{{SECRET}"), problem: format!("at {SECRET}") }),
        ];
        let origin = Arc::new(Origin { provider: "p".into(), model: "m".into() });
        let answer = Assistant { content, origin, stop: StopReason::ToolUse, usage: Usage::default() };
        let message = redactor().message(&Arc::new(Message::Assistant(answer)));
        let Message::Assistant(answer) = message.as_ref() else { panic!() };
        assert!(!format!("{message:?}").contains(SECRET), "{message:?}");
        assert_eq!(answer.text(), "It is [secret].");
        let seals = answer.content.iter().filter(|part| format!("{part:?}").contains("SEAL"));
        assert_eq!(seals.count(), 1, "a seal on what was changed is gone");
        let Some(AssistantPart::ToolUse(call)) = answer.content.get(3) else { panic!() };
        let expected = json!({"a": [1, {"[secret]": "x[secret]y"}], "b": "[secret]", "c": null});
        assert_eq!(Some(call.input.object().unwrap()), expected.as_object());

        let result = ToolResult::text("c1", SECRET, false);
        let said = [Message::user(SECRET), Message::Tool(vec![result.clone()])].map(Arc::new);
        assert!(said.iter().all(|message| !format!("{:?}", redactor().message(message)).contains(SECRET)));
        assert_eq!(*redactor().result(&result), ToolResult::text("c1", "[secret]", false));
    }

    #[test]
    fn an_event_is_shown_without_them() {
        let text = || format!("x {SECRET}");
        let (id, name) = (String::from("c1"), text());
        let events = [
            Event::Text(text()),
            Event::Reasoning(text()),
            Event::ToolStarted { id: id.clone(), name: name.clone(), arguments: arguments(), risk: Risk::Safe },
            Event::ToolProgress { id: id.clone(), text: text() },
            Event::ToolFinished {
                id,
                name,
                ok: true,
                output: text(),
                duration_ms: 1,
                truncated: false,
                full_output: None,
                change: Change::of(&text(), Some(text().as_bytes()), text().as_bytes()),
            },
            Event::Failed { kind: ErrorKind::Internal, message: text(), retryable: false },
        ];
        for event in &events {
            let shown = format!("{:?}", redactor().event(event));
            assert!(!shown.contains(SECRET) && shown.contains("[secret]"), "{shown}");
            assert!(matches!(Redactor::default().event(event), Cow::Borrowed(_)));
        }
        let mut outcome = Outcome {
            text: text(),
            turns: 1,
            end: End::Failed(ModelError::new(ErrorKind::Internal, text())),
            usage: Usage::default(),
            cost: None,
            denied: vec![DeniedCall { name: "t".into(), summary: text(), rule: None, nobody_asked: true, agent: None }],
        };
        redactor().outcome(&mut outcome);
        assert!(!format!("{outcome:?}").contains(SECRET), "{outcome:?}");
    }
}
