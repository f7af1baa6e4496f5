//! One-shot output: the chosen format on stdout and nothing else, progress and notices on stderr.

pub mod chain;
pub mod demo;
pub mod one_shot;

use crate::base::json::Object;
use crate::base::text::cut::ellipsis;
use crate::base::text::{clean, visible};
use crate::kernel::event::{Event, Notice, NoticeCode, Worker};
use crate::model::reply::StopReason;
use crate::product::agent::report::Report;
use crate::product::error::Error;
use crate::product::job::{JobFacts, Status};

use crate::front::out::{Ink, Out, Reader};
use crate::front::wire;

/// How the answer is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// The last answer and a line break.
    Text,
    /// One object: the `result` event.
    Json,
    /// Every event, one a line; the last is the `result`.
    StreamJson,
}

/// How much is said on stderr.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Talk {
    /// Errors and notices.
    Quiet,
    /// Also what the tools do.
    Usual,
    /// Also what each turn took.
    Verbose,
}

/// How a task is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// What stdout gets.
    pub format: Format,
    /// What stderr gets.
    pub talk: Talk,
}

/// Prints a task as it goes.
pub struct Printer<'a, 'b> {
    out: &'a mut Out<'b>,
    format: Format,
    talk: Talk,
    session_id: String,
    /// What the model has said in this turn.
    said: String,
    /// Why stdout gets no more.
    over: Option<Result<Reader, Error>>,
}

/// A line of progress is at most this wide.
const PROGRESS_CHARS: usize = 160;
/// So many last lines of a failed call are shown: an exit status, and what was printed before it.
const FAILURE_LINES: usize = 2;

impl<'a, 'b> Printer<'a, 'b> {
    /// A printer of one task.
    pub fn new(out: &'a mut Out<'b>, style: Style) -> Self {
        let Style { format, talk } = style;
        Self { out, format, talk, session_id: String::new(), said: String::new(), over: None }
    }

    /// Names the session, before the task begins.
    pub fn set_session(&mut self, id: &str) {
        id.clone_into(&mut self.session_id);
    }

    /// Whether the reader of stdout has left, or stdout has failed; the task can end.
    pub fn is_unread(&self) -> bool {
        match &self.over {
            Some(Ok(Reader::Left) | Err(_)) => true,
            Some(Ok(Reader::Listens | Reader::GivenUp)) | None => false,
        }
    }

    /// Prints an event, as far as the format wants it.
    pub fn event(&mut self, event: &Event) {
        if self.format == Format::StreamJson {
            let line = wire::event(event, &self.session_id);
            self.data(&line);
        }
        self.progress(event);
    }

    /// Prints the end, and waits until it is written.
    ///
    /// # Errors
    ///
    /// When stdout could not be written, for another reason than its reader.
    pub fn finish(&mut self, report: &Report, stdin: &str) -> Result<Reader, Error> {
        match self.format {
            Format::Text if report.text.is_empty() => {}
            Format::Text => {
                let text = self.out.harmless(&report.text).into_owned();
                let end = if text.ends_with('\n') { "" } else { "\n" };
                self.data(format!("{text}{end}").as_bytes());
            }
            Format::Json | Format::StreamJson => self.data(&wire::result(report, stdin)),
        }
        if self.format == Format::Text {
            self.still_running(&report.jobs);
        }
        self.over.take().unwrap_or_else(|| self.out.settle())
    }

    /// Says what stays when the task is over.
    fn still_running(&mut self, jobs: &[JobFacts]) {
        for JobFacts { id, command, .. } in jobs.iter().filter(|job| job.status == Status::Running) {
            let command = ellipsis(&clean::line(command), PROGRESS_CHARS);
            let mark = self.out.inked(Ink::Yellow, "!");
            self.out.talk(&format!("{mark} still running: {id} {command}; agent jobs stop {id}"));
        }
    }

    /// Says what went wrong.
    pub fn error(&mut self, error: &Error) {
        self.out.error(error);
    }

    fn data(&mut self, bytes: &[u8]) {
        if self.over.is_none() {
            self.over = match self.out.data(bytes) {
                Ok(Reader::Listens) => None,
                over => Some(over),
            };
        }
    }

    /// Says what a sub-agent or a step does: its calls, and what a person should know. What it says is for the agent.
    fn progress_within(&mut self, worker: &Worker, event: &Event) {
        match event {
            Event::ToolStarted { name, arguments, .. } if self.talk != Talk::Quiet => {
                let line = format!("  ∙ {}: {name} {}", name_of(worker), target(arguments));
                let line = ellipsis(&visible::line(line.trim_end()), PROGRESS_CHARS);
                self.out.talk(&self.out.inked(Ink::Dim, &line));
            }
            Event::Within(_, within) => self.progress_within(worker, within),
            Event::Notice(notice) => {
                let mark = self.out.inked(Ink::Yellow, "!");
                self.out.talk(&format!("{mark} {}: {}", name_of(worker), clean::line(&notice.text)));
            }
            Event::TurnStarted { .. }
            | Event::TurnFinished { .. }
            | Event::Text(_)
            | Event::Reasoning(_)
            | Event::ToolStarted { .. }
            | Event::ToolProgress { .. }
            | Event::ToolFinished { .. }
            | Event::Steered { .. }
            | Event::Question { .. }
            | Event::Failed { .. } => {}
        }
    }

    fn progress(&mut self, event: &Event) {
        match event {
            Event::Within(worker, within) => self.progress_within(worker, within),
            Event::Text(text) => self.said.push_str(text),
            Event::Notice(Notice { code: NoticeCode::Chain, .. }) if self.talk == Talk::Quiet => {}
            Event::Notice(notice) => {
                if notice.restart {
                    self.said.clear();
                }
                let mark = self.out.inked(Ink::Yellow, "!");
                self.out.talk(&format!("{mark} {}", clean::line(&notice.text)));
            }
            Event::ToolStarted { name, arguments, .. } if self.talk != Talk::Quiet => {
                let line =
                    ellipsis(&visible::line(format!("∙ {name} {}", target(arguments)).trim_end()), PROGRESS_CHARS);
                self.out.talk(&self.out.inked(Ink::Dim, &line));
            }
            Event::ToolFinished { ok: false, output, .. } if self.talk != Talk::Quiet => {
                let lines = output.lines().rev().filter(|line| !line.trim().is_empty());
                let last: Vec<_> = lines.take(FAILURE_LINES).collect();
                let last: Vec<_> = last.into_iter().rev().collect();
                let mark = self.out.inked(Ink::Red, "✗");
                let line = ellipsis(&clean::line(&last.join(" · ")), PROGRESS_CHARS);
                self.out.talk(&format!("  {mark} {line}"));
            }
            Event::TurnFinished { turn, stop, usage, cost } => {
                let said = std::mem::take(&mut self.said);
                // The last turn's text is the answer, and goes to stdout.
                if *stop == StopReason::ToolUse && self.talk != Talk::Quiet && !said.trim().is_empty() {
                    self.out.talk(visible::lines(&clean::clean(said)).trim());
                }
                if self.talk != Talk::Verbose {
                    return;
                }
                let cost = cost.map_or_else(String::new, |cost| format!(", ${cost:.4}"));
                let cached = usage.cache_read + usage.cache_write;
                let line = format!(
                    "  turn {turn}: {}, {} tokens in, {cached} cached, {} out{cost}",
                    stop.as_str(),
                    usage.input,
                    usage.output
                );
                self.out.talk(&self.out.inked(Ink::Dim, &line));
            }
            Event::TurnStarted { .. }
            | Event::Reasoning(_)
            | Event::ToolStarted { .. }
            | Event::ToolProgress { .. }
            | Event::ToolFinished { .. }
            | Event::Steered { .. }
            | Event::Question { .. }
            | Event::Failed { .. } => {}
        }
    }
}

/// Who says something on stderr, where it is not the agent itself.
fn name_of(worker: &Worker) -> String {
    match worker {
        Worker::Agent(_) => "agent".to_owned(),
        Worker::Step(name) => visible::line(name).into_owned(),
    }
}

/// What a call is about: its path, command or pattern, else its first text.
fn target(arguments: &Object) -> &str {
    let known = ["command", "path", "pattern"].into_iter().find_map(|name| arguments.get(name)?.as_str());
    known.or_else(|| arguments.values().find_map(|value| value.as_str())).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::effect::{End, Outcome};
    use crate::kernel::tool::Risk;
    use crate::model::usage::Usage;
    use crate::product::agent::report::Interruption;

    fn report(text: &str) -> Report {
        let outcome = Outcome {
            text: text.into(),
            turns: 1,
            end: End::Answered,
            usage: Usage::default(),
            cost: None,
            denied: vec![],
        };
        Report::new(&outcome, Interruption::Interrupt, Some("s".into()), 5)
    }

    fn printed(format: Format, talk: Talk) -> (String, String) {
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        let mut out = Out::new(&mut stdout, &mut stderr);
        let mut printer = Printer::new(&mut out, Style { format, talk });
        let arguments = serde_json::from_str(r#"{"command": "echo \u001b]0;x\u0007hi\nthere"}"#).unwrap();
        printer.event(&Event::ToolStarted {
            id: "c".into(),
            name: "execute_bash".into(),
            arguments,
            risk: Risk::Dangerous,
        });
        printer.event(&Event::Text("The end".into()));
        printer.event(&Event::Notice(Notice::new(NoticeCode::Session, "one line was skipped")));
        printer.finish(&report("The end"), "none").unwrap();
        (String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
    }

    #[test]
    fn text_is_the_answer_and_talk_goes_to_stderr() {
        let (stdout, stderr) = printed(Format::Text, Talk::Usual);
        assert_eq!(stdout, "The end\n");
        assert_eq!(stderr, "∙ execute_bash echo ␛]0;x␇hi␊there\n! one line was skipped\n");
        assert_eq!(printed(Format::Text, Talk::Quiet).1, "! one line was skipped\n");
    }

    #[test]
    fn json_is_one_object_and_stream_json_ends_with_it() {
        let (json, _) = printed(Format::Json, Talk::Quiet);
        assert!(
            json.starts_with(r#"{"type":"result","text":"The end","turns":1,"is_error":false"#)
                && json.lines().count() == 1
        );
        let (stream, _) = printed(Format::StreamJson, Talk::Quiet);
        assert_eq!(stream.lines().count(), 4);
        assert_eq!(stream.lines().last(), Some(json.trim_end()));
    }

    #[test]
    fn colours_are_for_talk_alone() {
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        let mut out = Out::new(&mut stdout, &mut stderr);
        out.set_colour(true);
        let mut printer = Printer::new(&mut out, Style { format: Format::Text, talk: Talk::Usual });
        let (id, name) = ("c".to_owned(), "t".to_owned());
        printer.event(&Event::ToolStarted {
            id: id.clone(),
            name: name.clone(),
            arguments: Object::new(),
            risk: Risk::Safe,
        });
        let output = "it broke".to_owned();
        let (duration_ms, truncated, full_output) = (0, false, None);
        printer.event(&Event::ToolFinished {
            id,
            name,
            ok: false,
            output,
            duration_ms,
            truncated,
            full_output,
            change: None,
        });
        printer.event(&Event::Notice(Notice::new(NoticeCode::Session, "look here")));
        printer.finish(&report("The end"), "none").unwrap();
        let talked = "\x1b[2m∙ t\x1b[0m\n  \x1b[31m✗\x1b[0m it broke\n\x1b[33m!\x1b[0m look here\n";
        assert_eq!((stdout, String::from_utf8(stderr).unwrap()), (b"The end\n".to_vec(), talked.to_owned()));
    }
}
