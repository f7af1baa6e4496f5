//! The tool `ask_user`: a question to the person who watches, and what they say to it.
//!
//! Who that is and how they are asked is behind a port; where nobody can answer, the tool is not offered.

use std::fmt;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::json;
use tokio::sync::oneshot;

use super::arguments;
use crate::base::cancel::Cancel;
use crate::base::json::Object;
use crate::base::text::{clean, cut};
use crate::kernel::event::Event;
use crate::kernel::tool::{Limits, Output, Risk, Subject, Tool, ToolContext, ToolSpec};

/// The tool's name.
pub const NAME: &str = "ask_user";

/// What reaches the model: a person may paste a log.
pub const LIMITS: Limits = Limits { chars: 20_000, lines: 1_000 };

/// Characters of a question; a screen has to hold it.
const MAX_QUESTION: usize = 2_000;

/// Answers to choose from; more is a list to read.
const MAX_OPTIONS: usize = 9;

/// Characters of one of them: a row.
const MAX_OPTION: usize = 200;

/// What somebody is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inquiry {
    /// The id of the call, which is that of the [`Event::Question`] before it.
    pub id: String,
    /// The question, of one line or more, without control characters.
    pub question: String,
    /// Answers to choose from, each on one line; any other text will do as well.
    pub options: Vec<String>,
}

/// Puts a question to a person and returns at once. The answer is sent when there is one; a sender that is dropped, or a
/// text of blanks, says that there is none. Once the receiver is closed nobody waits any more, and the question goes away.
pub type Inquire = Arc<dyn Fn(Inquiry, oneshot::Sender<String>) + Send + Sync>;

/// The tool.
pub struct AskUser {
    spec: ToolSpec,
    inquire: Inquire,
}

impl fmt::Debug for AskUser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AskUser")
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    question: String,
    #[serde(default, deserialize_with = "arguments::list")]
    options: Vec<String>,
}

impl AskUser {
    /// The tool, whose questions `inquire` puts.
    pub fn new(inquire: Inquire, limits: Limits) -> Self {
        let spec = ToolSpec {
            name: NAME,
            description: include_str!("../../../assets/tools/ask_user.md").trim_ascii(),
            parameters: json!({
                "type": "object",
                "properties": {
                    "question": {"type": "string"},
                    "options": {"type": "array", "items": {"type": "string"}},
                },
                "required": ["question"],
            }),
            risk: Risk::Safe,
            limits,
        };
        Self { spec, inquire }
    }

    fn parse(arguments: &Object) -> Result<(String, Vec<String>), String> {
        let Arguments { question, options } = arguments::parse(arguments)?;
        let question = clean::clean(&question).trim().to_owned();
        if question.is_empty() {
            return Err("`question` is empty".to_owned());
        }
        if question.chars().count() > MAX_QUESTION {
            return Err(format!("`question` is longer than {MAX_QUESTION} characters: ask for one thing, in short"));
        }
        let options: Vec<String> = options.iter().map(|option| clean::line(option).trim().to_owned()).collect();
        let options: Vec<String> = options.into_iter().filter(|option| !option.is_empty()).collect();
        if options.len() > MAX_OPTIONS {
            return Err(format!("{} options are too many to choose from: at most {MAX_OPTIONS}", options.len()));
        }
        Ok((question, options.iter().map(|option| cut::ellipsis(option, MAX_OPTION)).collect()))
    }
}

impl Tool for AskUser {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn subject(&self, arguments: &Object) -> Result<Subject, String> {
        Self::parse(arguments).map(|_| Subject::Other)
    }

    fn run(&self, arguments: &Object, context: &ToolContext<'_>) -> Output {
        let (question, options) = match Self::parse(arguments) {
            Ok(parsed) => parsed,
            Err(complaint) => return Output::error(complaint),
        };
        let id = context.call_id.to_owned();
        (context.events)(Event::Question { id: id.clone(), text: question.clone(), options: options.clone() });
        let (sender, receiver) = oneshot::channel();
        (self.inquire)(Inquiry { id, question, options }, sender);
        match wait(receiver, context.cancel) {
            Waited::Answered(text) if !text.trim().is_empty() => Output::ok(clean::clean(text.trim())),
            Waited::Answered(_) | Waited::Unanswered => Output::ok(UNANSWERED),
            Waited::Cancelled => Output::error("interrupted before there was an answer"),
            Waited::Broken(problem) => Output::error(format!("nobody could be asked: {problem}")),
        }
    }
}

/// What the model hears where a person did not answer.
const UNANSWERED: &str = "The user left the question unanswered. Go on as you think best, and say what you assumed.";

enum Waited {
    Answered(String),
    Unanswered,
    Cancelled,
    Broken(std::io::Error),
}

/// Waits on this thread, without end, for an answer or the cancellation.
fn wait(receiver: oneshot::Receiver<String>, cancel: &Cancel) -> Waited {
    // It has neither a clock nor the network: parked until one of the two wakes it.
    let runtime = match tokio::runtime::Builder::new_current_thread().build() {
        Ok(runtime) => runtime,
        Err(error) => return Waited::Broken(error),
    };
    runtime.block_on(async {
        tokio::select! {
            biased;
            () = cancel.cancelled() => Waited::Cancelled,
            answer = receiver => answer.map_or(Waited::Unanswered, Waited::Answered),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::product::tool::fixture::{Fixture, offer_bytes};
    use serde_json::Value;
    use std::sync::Mutex;
    use std::time::{Duration, Instant};

    /// A tool whose person says what `answer` sends.
    fn asking(answer: impl Fn(Inquiry, oneshot::Sender<String>) + Send + Sync + 'static) -> AskUser {
        AskUser::new(Arc::new(answer), LIMITS)
    }

    fn said(arguments: Value) -> Output {
        Fixture::empty()
            .run(&asking(|asked, reply| drop(reply.send(format!("{}!", asked.options.join("/"))))), arguments)
    }

    #[test]
    fn an_answer_is_the_result() {
        let output = said(json!({"question": "tabs or blanks?", "options": ["tabs", " ", "blanks\nalways"]}));
        assert_eq!(output, Output::ok("tabs/blanks always!"));
        assert_eq!(said(json!({"question": "name?"})), Output::ok("!"));
    }

    #[test]
    fn who_leaves_a_question_has_answered_too() {
        for tool in [asking(|_, reply| drop(reply)), asking(|_, reply| drop(reply.send(" \n".into())))] {
            let output = Fixture::empty().run(&tool, json!({"question": "why?"}));
            assert_eq!(output, Output::ok(UNANSWERED));
        }
    }

    #[test]
    fn a_question_ends_with_the_task() {
        let held = Arc::new(Mutex::new(None));
        let holder = Arc::clone(&held);
        let fixture = Fixture::empty();
        let cancel = fixture.cancel.clone();
        let tool = asking(move |_, reply| {
            *holder.lock().unwrap() = Some(reply);
            let cancel = cancel.clone();
            std::thread::spawn(move || cancel.cancel());
        });
        let begun = Instant::now();
        let output = fixture.run(&tool, json!({"question": "why?"}));
        assert!(output.is_error && output.text.head.contains("interrupted"));
        assert!(begun.elapsed() < Duration::from_secs(5));
        assert!(held.lock().unwrap().take().unwrap().is_closed(), "whoever asks can see that nobody waits");
    }

    #[test]
    fn the_question_is_told_before_it_is_put() {
        let told = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&told);
        let tool = asking(move |asked, reply| {
            assert_eq!(heard.lock().unwrap().len(), 1);
            drop(reply.send(asked.id));
        });
        let events = |event: Event| told.lock().unwrap().push(event);
        let (subject, cancel) = (Subject::Other, Cancel::new());
        let context =
            ToolContext { call_id: "c7", subject: &subject, cancel: &cancel, progress: &|_| {}, events: &events };
        let arguments = json!({"question": "a\u{1b}[2Jb?", "options": ["x"]});
        assert_eq!(tool.run(arguments.as_object().unwrap(), &context), Output::ok("c7"));
        let question = Event::Question { id: "c7".into(), text: "ab?".into(), options: vec!["x".into()] };
        assert_eq!(*told.lock().unwrap(), [question]);
    }

    #[test]
    fn complaints_say_what_would_do() {
        for (arguments, words) in [
            (json!({}), "missing parameter `question`"),
            (json!({"question": " "}), "`question` is empty"),
            (json!({"question": "x".repeat(2_001)}), "2000 characters"),
            (json!({"question": "x", "options": vec!["a"; 10]}), "at most 9"),
            (json!({"question": "x", "options": "a, b"}), "options: expected a list"),
        ] {
            let output = said(arguments.clone());
            assert!(output.is_error && output.text.head.contains(words), "{}", output.text.head);
        }
    }

    #[test]
    fn the_offer_is_short() {
        let bytes = offer_bytes(&asking(|_, _| {}));
        assert!(bytes < 350, "{bytes}");
    }
}
