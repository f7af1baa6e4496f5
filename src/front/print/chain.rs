//! `agent --chain`: one chain, from the words on the command line to the exit code. Formats and codes are those of one-shot.
//!
//! Decides nothing about steps: that is for `product::chain`.

use std::time::Instant;

use crate::kernel::effect::End;
use crate::kernel::event::{Event, Notice, NoticeCode};
use crate::model::message::Part;
use crate::product::agent::report::{Interruption, Report};
use crate::product::app::Assembled;
use crate::product::chain::Chain;
use crate::product::chain::past::Resumed;
use crate::product::chain::run::{Job, Ran, Task, run as run_chain};
use crate::product::crew::Send;
use crate::product::error::Error;

use crate::front::stdin;
use crate::front::stop::Stop;

use super::Printer;
use super::one_shot::{Asked, failure, handed_over, message};

/// What is to be run.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// The chain.
    pub chain: &'a Chain,
    /// How it was named, for the hint that goes on with it.
    pub named: &'a str,
    /// Where it begins.
    pub resumed: &'a Resumed,
    /// What all of it may cost, in US dollars.
    pub max_cost: Option<f64>,
}

/// Runs a chain and prints it. `send` has the steps done.
///
/// # Errors
///
/// When it could not begin, or stdout could not be written.
pub fn run(
    assembled: Assembled,
    wanted: Wanted<'_>,
    asked: &Asked,
    send: &Send<'_>,
    stop: &Stop,
    printer: &mut Printer<'_, '_>,
) -> Result<u8, Error> {
    let Assembled { mut agent, notices, workspace, rights: _, shell: _, crew: _, jobs } = assembled;
    printer.set_session(agent.session.id());
    let provider = agent.model.info().origin.provider.clone();
    for notice in notices {
        printer.event(&Event::Notice(notice));
    }
    let Wanted { chain, named, resumed, max_cost } = wanted;
    let input = stdin::read(asked.reading, stop.cancel())?;
    if input == stdin::Input::Skipped {
        printer.event(&Event::Notice(Notice::new(NoticeCode::Stdin, stdin::SKIPPED)));
    }
    let stdin_word = input.as_str();
    if asked.prompt.as_deref().is_none_or(|prompt| prompt.trim().is_empty())
        && !matches!(input, stdin::Input::Read(_) | stdin::Input::Interrupted)
    {
        return Err(Error::usage(format!("there is nothing to do: the chain {} has no task", chain.name))
            .hint(format!("agent --chain {} \"what to do\"", quoted(named))));
    }
    let task = task(message(asked, input, &workspace, stop, printer)?, printer);
    stop.set_deadline(agent.timeout.and_then(|timeout| Instant::now().checked_add(timeout)));
    let cancel = stop.cancel();
    let job = Job { chain, task: &task, resumed, max_cost };
    let mut watch = |event: &Event| {
        printer.event(event);
        if printer.is_unread() {
            cancel.cancel();
        }
    };
    let ran = run_chain(&mut agent, &job, send, cancel, &mut watch);
    if ran.outcome.end != End::TimedOut {
        // Who reads what came of it may take all the time there is.
        stop.set_deadline(None);
    }
    let interruption = stop.interruption();
    let session_id = Some(agent.session.id().to_owned());
    let mut report =
        Report::new(&ran.outcome, interruption.unwrap_or(Interruption::Interrupt), session_id, ran.duration_ms);
    jobs.end_all();
    report.jobs = jobs.facts();
    if let Some(failure) = &mut report.failure {
        failure.message = ran.about(&failure.message);
    }
    if let Some(code) = handed_over(&report, stdin_word, interruption, stop, printer)? {
        return Ok(code);
    }
    // What is told of a session that is not kept is only why.
    if let Some(error) = failure(&ran.outcome.end, &provider, &report, false) {
        printer.error(&told(error, &ran, agent.session.path().is_some().then_some(named)));
    }
    Ok(report.exit_code)
}

/// An error with the step that it is about, and how to go on behind those that are done. `named`: what the chain is called
/// where its session is kept.
fn told(mut error: Error, ran: &Ran, named: Option<&str>) -> Error {
    error.message = ran.about(&error.message);
    match (named, &ran.failed) {
        (Some(named), Some(step)) => {
            error.hint(format!("go on with: agent --chain {} --from {} \"...\"", quoted(named), quoted(step)))
        }
        (Some(_), None) | (None, Some(_) | None) => error,
    }
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let is_plain = word.chars().all(|letter| letter.is_alphanumeric() || "-_./".contains(letter));
    if is_plain { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

/// What the person said, as a chain takes it: the last text is the task, what comes before it goes along. Pictures do not.
fn task(mut parts: Vec<Part>, printer: &mut Printer<'_, '_>) -> Task {
    let text = match parts.pop() {
        Some(Part::Text(text)) => text,
        Some(Part::Image(_)) | None => String::new(),
    };
    let mut files = Vec::new();
    let mut pictures = 0;
    for part in parts {
        match part {
            Part::Text(text) => files.push(text),
            Part::Image(_) => pictures += 1,
        }
    }
    if pictures > 0 {
        let text = "Pictures do not go along with a chain; a step whose model sees can look at them with read_file.";
        printer.event(&Event::Notice(Notice::new(NoticeCode::Fallback, text)));
    }
    Task { text, attached: files.join("\n\n") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::effect::Outcome;
    use crate::model::usage::Usage;

    #[test]
    fn an_error_names_the_step_and_how_to_go_on() {
        let end = End::Loop;
        let outcome =
            Outcome { text: String::new(), turns: 1, end, usage: Usage::default(), cost: None, denied: vec![] };
        let ran = Ran { outcome, failed: Some("look around".into()), duration_ms: 0 };
        let error = told(Error::failed("it broke"), &ran, Some("./my.chain.md"));
        assert_eq!(error.to_string(), "step look around: it broke");
        assert_eq!(error.hints, ["go on with: agent --chain ./my.chain.md --from 'look around' \"...\""]);
        assert!(told(Error::failed("it broke"), &ran, None).hints.is_empty());
    }
}
