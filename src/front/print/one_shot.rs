//! `agent -p`: one task, from the words on the command line to the exit code.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::kernel::effect::End;
use crate::kernel::event::{Event, Notice, NoticeCode};
use crate::model::message::Part;
use crate::product::agent::Finished;
use crate::product::agent::attach::{attachments, unseen};
use crate::product::agent::report::{Interruption, Report, hints};
use crate::product::app::{self, Assembled};
use crate::product::error::Error;
use crate::product::tool::bash;
use crate::product::tool::workspace::Workspace;

use crate::front::out::Reader;
use crate::front::stdin::{self, Reading};
use crate::front::stop::Stop;

use super::Printer;

/// What counts as done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Goal {
    /// An answer.
    Answer,
    /// An answer, and the last command that ran succeeded.
    GreenCommand,
    /// This shell command succeeds; until then the task goes on.
    Check(String),
}

/// What is to be done, before standard input is read.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    /// The words of the command line.
    pub prompt: Option<String>,
    /// What is said in their place, where they begin with a skill or a template.
    pub expanded: Option<String>,
    /// When standard input is read.
    pub reading: Reading,
    /// Pictures that go along, each behind a line that names it.
    pub pictures: Vec<Part>,
}

impl Asked {
    /// What the words and the option ask for: a last word `-`, or no words at all, wait for standard input.
    pub fn new(mut words: Vec<String>, reading: Reading) -> Self {
        let dash = words.last().is_some_and(|word| word == "-");
        if dash {
            words.pop();
        }
        let prompt = Some(words.join(" ")).filter(|prompt| !prompt.trim().is_empty());
        let waits = (dash || prompt.is_none()) && reading == Reading::Auto;
        let reading = if waits { Reading::Wait } else { reading };
        Self { prompt, expanded: None, reading, pictures: Vec::new() }
    }
}

/// Runs a task and prints it.
///
/// # Errors
///
/// When it could not begin, or stdout could not be written.
pub fn run(
    assembled: Assembled,
    asked: &Asked,
    goal: &Goal,
    stop: &Stop,
    printer: &mut Printer<'_, '_>,
) -> Result<u8, Error> {
    let check = match goal {
        Goal::Check(command) => Some(app::goal(command, &assembled)?),
        Goal::Answer | Goal::GreenCommand => None,
    };
    let Assembled { mut agent, notices, workspace, rights: _, shell: _, crew: _, jobs } = assembled;
    printer.set_session(agent.session.id());
    let provider = agent.model.info().origin.provider.clone();
    for notice in notices {
        printer.event(&Event::Notice(notice));
    }
    let input = stdin::read(asked.reading, stop.cancel())?;
    if input == stdin::Input::Skipped {
        printer.event(&Event::Notice(Notice::new(NoticeCode::Stdin, stdin::SKIPPED)));
    }
    let stdin_word = input.as_str();
    let parts = message(asked, input, &workspace, stop, printer)?;
    if let Some(text) = unseen(&parts, agent.model.info()) {
        printer.event(&Event::Notice(Notice::new(NoticeCode::Fallback, text)));
    }

    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Error::failed("the runtime cannot start").caused_by(error))?;
    let cancel = stop.cancel();
    stop.set_deadline(agent.timeout.and_then(|timeout| Instant::now().checked_add(timeout)));
    let mut green = false;
    let finished = runtime.block_on(async {
        let mut watch = |event: &Event| {
            if let Event::ToolFinished { name, ok, .. } = event
                && name == bash::NAME
            {
                green = *ok;
            }
            printer.event(event);
            if printer.is_unread() {
                cancel.cancel();
            }
        };
        match &check {
            Some(check) => agent.pursue(parts, check, cancel, &mut watch).await,
            None => agent.run(parts, cancel, &mut watch).await,
        }
    });
    // A thread that is stuck in a tool must not hold the exit.
    runtime.shutdown_timeout(Duration::ZERO);
    let Finished { outcome, duration_ms } = finished;
    if outcome.end != End::TimedOut {
        // Who reads what came of it may take all the time there is.
        stop.set_deadline(None);
    }
    let interruption = stop.interruption();
    let session_id = Some(agent.session.id().to_owned());
    let mut report = Report::new(&outcome, interruption.unwrap_or(Interruption::Interrupt), session_id, duration_ms);
    let missed = *goal == Goal::GreenCommand && report.exit_code == 0 && !green;
    if missed {
        report.missed();
    }
    jobs.end_all();
    report.jobs = jobs.facts();
    if let Some(code) = handed_over(&report, stdin_word, interruption, stop, printer)? {
        return Ok(code);
    }
    if missed {
        printer.error(&Error::failed("the last command did not succeed, whatever the answer says"));
    }
    let is_kept = agent.session.path().is_some();
    if let Some(error) = failure(&outcome.end, &provider, &report, is_kept) {
        printer.error(&error);
    }
    Ok(report.exit_code)
}

/// Prints the end. The exit code, where the reader of standard output has decided it: one who left wants no more, and for
/// one who does not read nobody waits once the task is interrupted.
pub(super) fn handed_over(
    report: &Report,
    stdin_word: &str,
    interruption: Option<Interruption>,
    stop: &Stop,
    printer: &mut Printer<'_, '_>,
) -> Result<Option<u8>, Error> {
    let reader_left = printer.is_unread() && interruption.is_none();
    let reader = printer.finish(report, stdin_word)?;
    if reader_left {
        return Ok(Some(0));
    }
    if let (Reader::GivenUp, Some(interruption)) = (reader, stop.interruption()) {
        printer.error(&Error::failed("interrupted before everything was read"));
        return Ok(Some(interruption.exit_code()));
    }
    Ok(None)
}

/// What the user says: the pictures that go along, the files that the prompt names, the prompt, and what was piped in.
pub(super) fn message(
    asked: &Asked,
    input: stdin::Input,
    workspace: &Arc<Workspace>,
    stop: &Stop,
    printer: &mut Printer<'_, '_>,
) -> Result<Vec<Part>, Error> {
    let interrupted = || Error::failed("interrupted before the task began");
    let typed = asked.prompt.as_deref().unwrap_or_default();
    let (text, space) = (typed.to_owned(), Arc::clone(workspace));
    // Pictures take their time.
    let (files, problems) = stop.cancel().unless_thrown(move || attachments(&text, &space)).ok_or_else(interrupted)?;
    for problem in problems {
        printer.event(&Event::Notice(Notice::new(NoticeCode::Config, problem)));
    }
    // Blanks are nothing to do.
    let input = match input {
        stdin::Input::Read(text) if text.trim().is_empty() => stdin::Input::Nothing,
        other @ (stdin::Input::Read(_) | stdin::Input::Skipped | stdin::Input::Nothing | stdin::Input::Interrupted) => {
            other
        }
    };
    // What was typed names files, not what it stands for: that may be a stranger's.
    let said = match (asked.expanded.as_deref().unwrap_or(typed), input) {
        (_, stdin::Input::Interrupted) => return Err(interrupted()),
        ("", stdin::Input::Read(text)) => text,
        ("", stdin::Input::Skipped | stdin::Input::Nothing) => {
            return Err(Error::usage("there is nothing to do: no prompt was given")
                .hint("agent -p \"what to do\", or pipe it: echo \"what to do\" | agent -p"));
        }
        (typed, stdin::Input::Read(text)) => format!("{typed}\n\n{text}"),
        (typed, stdin::Input::Skipped | stdin::Input::Nothing) => typed.to_owned(),
    };
    Ok(asked.pictures.iter().cloned().chain(files).chain([Part::Text(said)]).collect())
}

/// What to tell a person about an ending that was none of the model's own.
pub(super) fn failure(end: &End, provider: &str, report: &Report, is_kept: bool) -> Option<Error> {
    let ended = |text: String| {
        let error = Error::failed(text);
        Some(if is_kept { error.hint("go on with: agent -p -c \"...\"") } else { error })
    };
    match end {
        End::Answered if report.denied.iter().any(|call| call.nobody_asked) => {
            let names: Vec<_> = report.denied.iter().map(|call| format!("{} {}", call.name, call.summary)).collect();
            Some(
                Error::failed(format!("not permitted, and nobody to ask: {}", names.join("; ")))
                    .hint("allow it beforehand: --permissions write, --yolo, or a rule in permissions.allow"),
            )
        }
        End::Answered => None,
        End::MaxTurns => ended(format!("the limit of {} turns was reached (--max-turns)", report.turns)),
        End::Loop => ended("the model went round in circles and was stopped".to_owned()),
        End::TimedOut => ended("the time limit was reached (--timeout)".to_owned()),
        End::Cost => ended("the cost limit was reached (--max-cost)".to_owned()),
        End::Cancelled => ended("interrupted".to_owned()),
        End::Failed(error) => {
            let told = Error::provider(error.message.clone());
            Some(hints(error.kind, provider).into_iter().fold(told, Error::hint))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(words: &[&str], reading: Reading) -> (Option<String>, Reading) {
        let words = words.iter().map(|word| (*word).to_owned()).collect();
        let Asked { prompt, expanded: _, reading, pictures: _ } = Asked::new(words, reading);
        (prompt, reading)
    }

    #[test]
    fn a_dash_or_no_words_wait_for_standard_input() {
        assert_eq!(asked(&["do", "it"], Reading::Auto), (Some("do it".into()), Reading::Auto));
        assert_eq!(asked(&["do", "-"], Reading::Auto), (Some("do".into()), Reading::Wait));
        assert_eq!(asked(&["-"], Reading::Auto), (None, Reading::Wait));
        assert_eq!(asked(&[], Reading::Auto), (None, Reading::Wait));
        assert_eq!(asked(&[" "], Reading::Never), (None, Reading::Never));
    }
}
