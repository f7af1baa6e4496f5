//! Who may do what: rules, then guards, then the session's grant, then a question.
//!
//! [`Judge`] is pure and knows nobody to ask; [`Headless`] and [`Watched`] are the gates on top of it. Tools' insides are
//! not known here, only what a call would touch.

mod always;
mod guard;
mod rights;
mod rule;
#[cfg(test)]
mod tests;
mod watched;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::kernel::port::{Denial, DeniedBy, Gate, PendingCall, Verdict, Verdicts};
use crate::kernel::tool::{Risk, Subject};

pub use always::Remembered;
pub use guard::Writable;
pub use rights::{Decision, Rights};
pub use rule::{Rule, RuleError};
pub use watched::{Answer, Ask, Question, Scope, Watched};

/// What a session, a flag or a person allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Grant {
    /// Everything.
    All,
    /// Safe and writing tools.
    Write,
    /// Safe tools.
    Safe,
    /// Nothing, not even safe tools.
    None,
}

impl Grant {
    /// The word of configuration, sessions and events.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Write => "write",
            Self::Safe => "safe",
            Self::None => "none",
        }
    }

    /// The reverse of [`Grant::as_str`].
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::All, Self::Write, Self::Safe, Self::None].into_iter().find(|grant| grant.as_str() == word)
    }

    /// Whether a call of this risk may run.
    pub fn covers(self, risk: Risk) -> bool {
        match self {
            Self::All => true,
            Self::Write => risk <= Risk::Write,
            Self::Safe => risk <= Risk::Safe,
            Self::None => false,
        }
    }
}

/// Where a grant comes from; it decides whether a denial counts as a failure to ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Authority {
    /// Chosen beforehand: a flag or the configuration. Denials under it are rules.
    Chosen(Grant),
    /// Given in the session; what it does not cover has to be asked about.
    Session(Grant),
    /// Nothing has been said yet.
    Unasked,
    /// Every call above safe is asked about.
    AskEach,
}

/// Rules, guards and the grant of one agent.
#[derive(Debug)]
pub struct Judge {
    /// Calls that always run.
    pub allow: Vec<Rule>,
    /// Calls that a person has allowed for good. They open no place and no file that makes programs run.
    pub remembered: Vec<Rule>,
    /// Calls that are asked about even under a grant.
    pub ask: Vec<Rule>,
    /// Calls that never run.
    pub deny: Vec<Rule>,
    /// What was granted.
    pub authority: Authority,
    /// Where file tools may write.
    pub writable: Writable,
    /// Whether a plan is being made: nothing is written and nothing runs, whatever else holds.
    pub is_planning: bool,
}

/// What a judge says to one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// It may run.
    Allow,
    /// It may not, whoever is asked.
    Deny(Denial),
    /// A person has to say.
    Ask,
}

impl Judge {
    /// Judges one call: deny, then the guards, then ask, then allow, then the grant.
    pub fn judge(&self, call: &PendingCall) -> Judgement {
        self.judged(call, None)
    }

    /// The rule that forbids a call whoever asks for it, be it a person.
    pub fn forbidden(&self, call: &PendingCall) -> Option<&str> {
        self.deny.iter().find(|rule| rule.forbids(call)).map(Rule::text)
    }

    /// What [`Judge::judge`] would say if `rule` were remembered.
    pub fn with_remembered(&self, rule: &Rule, call: &PendingCall) -> Judgement {
        self.judged(call, Some(rule))
    }

    fn judged(&self, call: &PendingCall, also: Option<&Rule>) -> Judgement {
        if self.authority == Authority::Chosen(Grant::None) || self.authority == Authority::Session(Grant::None) {
            return self.beyond(Grant::None, call);
        }
        if self.is_planning && !is_looking(call) {
            return Judgement::Deny(Denial { reason: PLANNING.to_owned(), by: DeniedBy::Rule(PLAN.to_owned()) });
        }
        let forbidding =
            |rules: &[Rule]| rules.iter().find(|rule| rule.forbids(call)).map(|rule| rule.text().to_owned());
        if let Some(rule) = forbidding(&self.deny) {
            let reason = format!("denied by the rule {rule:?}; do not try to reach the same end another way");
            return Judgement::Deny(Denial { reason, by: DeniedBy::Rule(rule) });
        }
        let allowed = self.allow.iter().any(|rule| rule.allows(call));
        if let Subject::Write(paths) = &call.subject
            && !allowed
            && let Some(path) = paths.iter().find(|path| !self.writable.covers(path))
        {
            return Judgement::Deny(Denial {
                reason: format!(
                    "denied: {} is outside the workspace {}; work inside it, or ask the user to allow the path",
                    path.display(),
                    self.writable.root().display()
                ),
                by: DeniedBy::Rule(guard::OUTSIDE.to_owned()),
            });
        }
        if forbidding(&self.ask).is_some() && self.authority != Authority::Chosen(Grant::All) {
            return Judgement::Ask;
        }
        let risk = self.writable.risk(call);
        let remembered = || self.remembered.iter().chain(also).any(|rule| rule.allows(call));
        // A sub-agent plans as well.
        let is_errand = self.is_planning && matches!(call.subject, Subject::Task(_));
        if allowed || is_errand || risk == Risk::Safe || risk == call.risk && remembered() {
            return Judgement::Allow;
        }
        match self.authority {
            Authority::Chosen(grant) | Authority::Session(grant) if grant.covers(risk) => Judgement::Allow,
            Authority::Chosen(grant) | Authority::Session(grant) => self.beyond(grant, call),
            Authority::Unasked | Authority::AskEach => Judgement::Ask,
        }
    }

    /// The answer to a call that a grant does not cover.
    fn beyond(&self, grant: Grant, call: &PendingCall) -> Judgement {
        let scope = match grant {
            Grant::None => "no tools are allowed here; answer from what you know".to_owned(),
            Grant::All | Grant::Write | Grant::Safe => {
                format!("only {} tools are allowed here, and this {}", grant.as_str(), self.writable.described(call))
            }
        };
        Judgement::Deny(match self.authority {
            Authority::Session(_) => Denial { reason: format!("denied by the user: {scope}"), by: DeniedBy::User },
            Authority::Chosen(_) | Authority::Unasked | Authority::AskEach => Denial {
                reason: format!("denied: {scope}"),
                by: DeniedBy::Rule(format!("permissions {}", grant.as_str())),
            },
        })
    }
}

/// The name under which denials are listed while a plan is being made.
const PLAN: &str = "plan mode";

/// What the model is told then of calls that do more than look.
pub const PLANNING: &str = "denied: a plan is being made, so nothing is written and no command runs; look, and describe in your \
     plan what is to be changed";

/// Whether a call may run while a plan is being made, if all else agrees: it looks, or has somebody look.
fn is_looking(call: &PendingCall) -> bool {
    match call.subject {
        Subject::Task(_) | Subject::Url(_) => true,
        Subject::Command(_) | Subject::Write(_) => false,
        Subject::Read(_) | Subject::Other => call.risk == Risk::Safe,
    }
}

/// A gate for runs in which nobody can be asked: what would be asked about is denied.
#[derive(Debug)]
pub struct Headless(pub Arc<Rights>);

impl Gate for Headless {
    fn decide<'a>(&'a self, calls: &'a [PendingCall]) -> Verdicts<'a> {
        let verdicts = calls.iter().map(|call| match self.0.judge(call) {
            Judgement::Allow => Verdict::Allow,
            Judgement::Deny(denial) if denial.by != DeniedBy::User => Verdict::Deny(denial),
            // What a person once said to another question is no answer to this one.
            Judgement::Deny(_) | Judgement::Ask => {
                let reason = format!(
                    "denied: this call {} and nobody can be asked in this run; say in your answer what you could not do",
                    self.0.described(call)
                );
                Verdict::Deny(Denial { reason, by: DeniedBy::Nobody })
            }
        });
        let verdicts: Vec<_> = verdicts.collect();
        Box::pin(std::future::ready(verdicts))
    }
}
