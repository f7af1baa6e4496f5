//! `agent -p`: one task, from the words on the command line to the exit code.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};

use crate::base::cancel::Cancel;
use crate::kernel::effect::End;
use crate::kernel::event::{Event, Notice, NoticeCode};
use crate::model::message::Part;
use crate::product::agent::Finished;
use crate::product::agent::attach::attachments;
use crate::product::agent::report::{Interruption, Report, hints};
use crate::product::app::Assembled;
use crate::product::error::Error;
use crate::product::tool::bash;

use crate::front::out::Out;
use crate::front::stdin::{self, Reading};

use super::{Format, Printer, Talk};

/// How a one-shot run speaks.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// What stdout gets.
    pub format: Format,
    /// What stderr gets.
    pub talk: Talk,
    /// What counts as done.
    pub goal: Goal,
}

/// What counts as done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// An answer.
    Answer,
    /// An answer, and the last command that ran succeeded.
    GreenCommand,
}

/// What is to be done, before standard input is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The words of the command line.
    pub prompt: Option<String>,
    /// When standard input is read.
    pub reading: Reading,
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
        Self { prompt, reading: if waits { Reading::Wait } else { reading } }
    }
}

/// Runs a task and prints it.
///
/// # Errors
///
/// When it could not begin, or stdout could not be written.
pub fn run(assembled: Assembled, asked: &Asked, style: Style, out: &mut Out<'_>) -> Result<u8, Error> {
    let Assembled { mut agent, notices, workspace } = assembled;
    let session_id = agent.session.id().to_owned();
    let provider = agent.model.info().origin.provider.clone();
    let mut printer = Printer::new(out, style.format, style.talk, session_id);
    for notice in notices {
        printer.event(&Event::Notice(notice));
    }
    let input = stdin::read(asked.reading)?;
    if input == stdin::Input::Skipped {
        let text = "Standard input was open but silent and is left unread; --stdin wait waits for it, --stdin none does not look.";
        printer.event(&Event::Notice(Notice::new(NoticeCode::Stdin, text)));
    }
    let stdin_word = input.as_str();
    let typed = asked.prompt.as_deref().unwrap_or_default();
    let (files, problems) = attachments(typed, &workspace);
    for problem in problems {
        printer.event(&Event::Notice(Notice::new(NoticeCode::Config, problem)));
    }
    let said = match (typed, input) {
        ("", stdin::Input::Read(text)) => text,
        ("", stdin::Input::Skipped | stdin::Input::Nothing) => {
            return Err(Error::usage("there is nothing to do: no prompt was given")
                .hint("agent -p \"what to do\", or pipe it: echo \"what to do\" | agent -p"));
        }
        (typed, stdin::Input::Read(text)) => format!("{typed}\n\n{text}"),
        (typed, stdin::Input::Skipped | stdin::Input::Nothing) => typed.to_owned(),
    };
    let parts = files.into_iter().chain([said]).map(Part::Text).collect();

    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Error::failed("the runtime cannot start").caused_by(error))?;
    let cancel = Cancel::new();
    let mut green = false;
    let interruption = Arc::new(AtomicU8::new(0));
    let finished = runtime.block_on(async {
        listen(&cancel, &interruption)?;
        let mut watch = |event: &Event| {
            if let Event::ToolFinished { name, ok, .. } = event
                && name == bash::NAME
            {
                green = *ok;
            }
            printer.event(event);
            if printer.is_over() {
                cancel.cancel();
            }
        };
        Ok::<_, Error>(agent.run(parts, &cancel, &mut watch).await)
    });
    // A thread that is stuck in a tool must not hold the exit.
    runtime.shutdown_timeout(Duration::ZERO);
    let Finished { outcome, duration_ms } = finished?;
    let interruption = match interruption.load(Ordering::SeqCst) {
        HANG_UP => Interruption::HangUp,
        TERMINATE => Interruption::Terminate,
        _ => Interruption::Interrupt,
    };
    let session_id = Some(agent.session.id().to_owned());
    let mut report = Report::new(&outcome, interruption, session_id, duration_ms);
    if style.goal == Goal::GreenCommand && report.exit_code == 0 && !green {
        report.missed();
    }
    let reader_left = printer.is_over();
    printer.finish(&report, stdin_word)?;
    if reader_left {
        return Ok(0);
    }
    if let Some(error) = failure(&outcome.end, &provider, &report) {
        out.error(&error);
    }
    Ok(report.exit_code)
}

const HANG_UP: u8 = 1;
const TERMINATE: u8 = 15;
const INTERRUPT: u8 = 2;

/// Throws `cancel` at the first signal, and remembers which it was.
fn listen(cancel: &Cancel, which: &Arc<AtomicU8>) -> Result<(), Error> {
    for (kind, number) in
        [(SignalKind::interrupt(), INTERRUPT), (SignalKind::terminate(), TERMINATE), (SignalKind::hangup(), HANG_UP)]
    {
        let mut signals = signal(kind).map_err(|error| Error::failed("signals cannot be caught").caused_by(error))?;
        let (cancel, which) = (cancel.clone(), Arc::clone(which));
        tokio::spawn(async move {
            if signals.recv().await.is_some() {
                let _ = which.compare_exchange(0, number, Ordering::SeqCst, Ordering::SeqCst);
                cancel.cancel();
            }
        });
    }
    Ok(())
}

/// What to tell a person about an ending that was none of the model's own.
fn failure(end: &End, provider: &str, report: &Report) -> Option<Error> {
    let continued = "go on with: agent -c";
    match end {
        End::Answered if report.denied.iter().any(|call| call.nobody_asked) => {
            let names: Vec<_> = report.denied.iter().map(|call| format!("{} {}", call.name, call.summary)).collect();
            Some(
                Error::failed(format!("not permitted, and nobody to ask: {}", names.join("; ")))
                    .hint("allow it beforehand: --permissions write, --yolo, or a rule in permissions.allow"),
            )
        }
        End::Answered => None,
        End::MaxTurns => Some(
            Error::failed(format!("the limit of {} turns was reached (--max-turns)", report.turns)).hint(continued),
        ),
        End::Loop => Some(Error::failed("the model went round in circles and was stopped").hint(continued)),
        End::TimedOut => Some(Error::failed("the time limit was reached (--timeout)").hint(continued)),
        End::Cost => Some(Error::failed("the cost limit was reached (--max-cost)").hint(continued)),
        End::Cancelled => Some(Error::failed("interrupted").hint(continued)),
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
        let Asked { prompt, reading } = Asked::new(words.iter().map(|word| (*word).to_owned()).collect(), reading);
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
