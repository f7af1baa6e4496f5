//! What a task came to, in the terms of the command line's contract: an ending, an exit code, a total.

use crate::kernel::effect::{DeniedCall, End, Outcome};
use crate::model::error::ErrorKind;
use crate::model::usage::Usage;
use crate::product::error::{Error, Kind};
use crate::product::job::JobFacts;

/// What a task came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The last answer.
    pub text: String,
    /// How many times the model was asked.
    pub turns: u32,
    /// How it ended.
    pub ending: Ending,
    /// What the process exits with.
    pub exit_code: u8,
    /// The session it is kept in.
    pub session_id: Option<String>,
    /// From the submission to the end.
    pub duration_ms: u64,
    /// What all answers took.
    pub usage: Usage,
    /// In US dollars, where the price is known.
    pub cost: Option<f64>,
    /// Calls that were not permitted.
    pub denied: Vec<DeniedCall>,
    /// What was started to run beside it.
    pub jobs: Vec<JobFacts>,
    /// Why it could not go on.
    pub failure: Option<Failure>,
}

/// Why a task could not go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// A word of the event vocabulary.
    pub code: &'static str,
    /// One line.
    pub message: String,
}

/// How a task ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The model had said what it wanted to say.
    Stop,
    /// The limit of model calls was reached.
    MaxTurns,
    /// The model went round in circles.
    Loop,
    /// The time was over.
    Timeout,
    /// The money was spent.
    Cost,
    /// It finished, but a call was denied because nobody could be asked.
    Denied,
    /// It could not go on.
    Error,
    /// Somebody stopped it.
    Aborted,
}

impl Ending {
    /// The word of the event vocabulary.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Stop => "stop",
            Self::MaxTurns => "max_turns",
            Self::Loop => "loop",
            Self::Timeout => "timeout",
            Self::Cost => "cost",
            Self::Denied => "denied",
            Self::Error => "error",
            Self::Aborted => "aborted",
        }
    }

    /// Whether the task was not done.
    pub fn is_error(self) -> bool {
        match self {
            Self::MaxTurns | Self::Loop | Self::Timeout | Self::Cost | Self::Error => true,
            Self::Stop | Self::Denied | Self::Aborted => false,
        }
    }

    /// Whether somebody stopped it.
    pub fn is_aborted(self) -> bool {
        self == Self::Aborted
    }
}

/// What stopped a task from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interruption {
    /// INT, or a person.
    Interrupt,
    /// TERM.
    Terminate,
    /// HUP.
    HangUp,
}

impl Interruption {
    /// 128 and the signal's number, as shells have it.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::HangUp => 129,
            Self::Interrupt => 130,
            Self::Terminate => 143,
        }
    }
}

/// A limit was reached: turns, loop, time, cost.
const EXIT_LIMIT: u8 = 5;
/// It finished, but a call was denied because nobody could be asked.
const EXIT_DENIED: u8 = 3;

impl Report {
    /// The report of a task that ran.
    pub fn new(outcome: &Outcome, interruption: Interruption, session_id: Option<String>, duration_ms: u64) -> Self {
        let Outcome { text, turns, end, usage, cost, denied } = outcome.clone();
        let unasked = denied.iter().any(|call| call.nobody_asked);
        let (ending, exit_code) = match &end {
            End::Answered if unasked => (Ending::Denied, EXIT_DENIED),
            End::Answered => (Ending::Stop, 0),
            End::MaxTurns => (Ending::MaxTurns, EXIT_LIMIT),
            End::Loop => (Ending::Loop, EXIT_LIMIT),
            End::TimedOut => (Ending::Timeout, EXIT_LIMIT),
            End::Cost => (Ending::Cost, EXIT_LIMIT),
            End::Cancelled => (Ending::Aborted, interruption.exit_code()),
            End::Failed(error) => (Ending::Error, failure_code(error.kind)),
        };
        let failure = match end {
            End::Failed(error) => Some(Failure { code: error.kind.code(), message: error.message }),
            End::Answered | End::MaxTurns | End::Loop | End::TimedOut | End::Cost | End::Cancelled => None,
        };
        let jobs = Vec::new();
        Self { text, turns, ending, exit_code, session_id, duration_ms, usage, cost, denied, jobs, failure }
    }

    /// Turns a success into a failure: the task was done, but not what it was for.
    pub fn missed(&mut self) {
        self.ending = Ending::Error;
        self.exit_code = 1;
        let message = "the last command did not succeed".to_owned();
        self.failure = Some(Failure { code: Kind::Failed.code(), message });
    }

    /// The report of a task that never began.
    pub fn never_began(error: &Error) -> Self {
        let failure = Failure { code: error.kind.code(), message: error.to_string() };
        Self { failure: Some(failure), ..Self::nothing(Ending::Error, error.kind.exit_code()) }
    }

    /// The report of a task that was stopped before it began.
    pub fn stopped_early(interruption: Interruption) -> Self {
        Self::nothing(Ending::Aborted, interruption.exit_code())
    }

    fn nothing(ending: Ending, exit_code: u8) -> Self {
        Self {
            text: String::new(),
            turns: 0,
            ending,
            exit_code,
            session_id: None,
            duration_ms: 0,
            usage: Usage::default(),
            cost: None,
            denied: Vec::new(),
            jobs: Vec::new(),
            failure: None,
        }
    }
}

/// What the model, or a filter, would not do fails the task; everything else is the provider's.
fn failure_code(kind: ErrorKind) -> u8 {
    match kind {
        ErrorKind::Refused | ErrorKind::Empty | ErrorKind::Length | ErrorKind::Internal => 1,
        ErrorKind::Auth
        | ErrorKind::RateLimit
        | ErrorKind::Overload
        | ErrorKind::Network
        | ErrorKind::Timeout
        | ErrorKind::Context
        | ErrorKind::Picture
        | ErrorKind::Seal
        | ErrorKind::InvalidRequest
        | ErrorKind::Cancelled => 4,
    }
}

/// What a person could do about a failure of this kind.
pub fn hints(kind: ErrorKind, provider: &str) -> Vec<String> {
    let hint = match kind {
        ErrorKind::Auth => format!("check the key of {provider}: `agent doctor` shows where it comes from"),
        ErrorKind::RateLimit | ErrorKind::Overload => "wait and try again, or choose another model with -m".to_owned(),
        ErrorKind::Network => "check the connection and the address: `agent doctor` shows what is used".to_owned(),
        ErrorKind::Timeout => "raise http.first_byte_timeout or http.idle_timeout for slow models".to_owned(),
        ErrorKind::Context => "start a new session, or choose a model with a larger window".to_owned(),
        ErrorKind::Picture => "start a new session without the picture".to_owned(),
        ErrorKind::Seal => "start a new session: the provider does not take its own reasoning back".to_owned(),
        ErrorKind::InvalidRequest => {
            "check the model's name and the provider's address: `agent config show`".to_owned()
        }
        ErrorKind::Length => "raise --max-tokens, or ask for less at a time".to_owned(),
        ErrorKind::Empty => "try again, or choose another model with -m".to_owned(),
        ErrorKind::Refused | ErrorKind::Cancelled | ErrorKind::Internal => return Vec::new(),
    };
    vec![hint]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::error::ModelError;

    fn report(end: End, nobody_asked: bool) -> Report {
        let denied = nobody_asked.then(|| DeniedCall {
            name: "t".into(),
            summary: "s".into(),
            rule: None,
            nobody_asked,
            agent: None,
        });
        let denied = denied.into_iter().collect();
        let outcome = Outcome { text: String::new(), turns: 1, end, usage: Usage::default(), cost: None, denied };
        Report::new(&outcome, Interruption::Terminate, None, 0)
    }

    #[test]
    fn the_graver_of_two_endings_decides() {
        for (end, denied, code) in [
            (End::Answered, false, 0),
            (End::Answered, true, 3),
            (End::MaxTurns, true, 5),
            (End::Failed(ModelError::new(ErrorKind::Auth, "x")), true, 4),
            (End::Failed(ModelError::new(ErrorKind::Refused, "x")), true, 1),
            (End::Cancelled, true, 143),
        ] {
            assert_eq!(report(end.clone(), denied).exit_code, code, "{end:?}");
        }
    }
}
