//! The rights of one conversation, shared by the gate, the chat and the recorder: they change while it runs.
//!
//! Asks nobody and writes no session; what is to be kept there is handed to who does.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use crate::kernel::event::Notice;
use crate::kernel::port::PendingCall;

use super::{Authority, Grant, Judge, Judgement, Rule};

/// What a person decides about the rights of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// Every call above safe is asked about: whatever was allowed before is so no more.
    Ask,
    /// So much is allowed.
    #[serde(untagged)]
    Allow(Grant),
}

impl From<Grant> for Decision {
    fn from(grant: Grant) -> Self {
        Self::Allow(grant)
    }
}

/// A judge that several parts of the program share.
#[derive(Debug)]
pub struct Rights(Mutex<State>);

#[derive(Debug)]
struct State {
    judge: Judge,
    /// What was decided and the session does not hold yet.
    unsaved: Option<Decision>,
    /// What a person should know and has not heard yet.
    notices: Vec<Notice>,
}

impl Rights {
    /// The rights at the start.
    pub fn new(judge: Judge) -> Self {
        Self(Mutex::new(State { judge, unsaved: None, notices: Vec::new() }))
    }

    /// Judges a call as things stand now.
    pub fn judge(&self, call: &PendingCall) -> Judgement {
        self.state().judge.judge(call)
    }

    /// The rule that forbids a call whoever asks for it, be it a person.
    pub fn forbidden(&self, call: &PendingCall) -> Option<String> {
        self.state().judge.forbidden(call).map(str::to_owned)
    }

    /// What is allowed at the moment, be it chosen beforehand or given; `None` where that is asked first.
    pub fn grant(&self) -> Option<Grant> {
        match self.authority() {
            Authority::Chosen(grant) | Authority::Session(grant) => Some(grant),
            Authority::Unasked | Authority::AskEach => None,
        }
    }

    /// Where the grant comes from.
    pub fn authority(&self) -> Authority {
        self.state().judge.authority
    }

    /// A person allows so much from here on, whatever held before. The session has yet to keep it.
    pub fn set_grant(&self, grant: Grant) {
        let mut state = self.state();
        state.judge.authority = Authority::Session(grant);
        state.unsaved = Some(Decision::Allow(grant));
    }

    /// Every call above safe is asked about from here on. The session has yet to keep that, too.
    pub fn ask_each(&self) {
        let mut state = self.state();
        state.judge.authority = Authority::AskEach;
        state.unsaved = Some(Decision::Ask);
    }

    /// Whether a plan is being made, so that nothing is written and nothing runs.
    pub fn is_planning(&self) -> bool {
        self.state().judge.is_planning
    }

    /// A plan is being made from here on, or no longer.
    pub fn set_planning(&self, is_planning: bool) {
        self.state().judge.is_planning = is_planning;
    }

    /// The decision that the session has yet to keep. Whoever takes it keeps it.
    pub fn take_unsaved(&self) -> Option<Decision> {
        self.state().unsaved.take()
    }

    /// A word for a line of facts: what is allowed, or when it is asked about.
    pub fn word(&self) -> &'static str {
        match self.authority() {
            Authority::Chosen(grant) | Authority::Session(grant) => grant.as_str(),
            Authority::Unasked => "asks",
            Authority::AskEach => "asks each",
        }
    }

    /// What the call is, for the model: a verb and its risk.
    pub(super) fn described(&self, call: &PendingCall) -> String {
        self.state().judge.writable.described(call)
    }

    /// Whether the grant that holds now covers a call, rules aside.
    pub(super) fn covers(&self, call: &PendingCall) -> bool {
        let risk = self.state().judge.writable.risk(call);
        self.grant().is_some_and(|grant| grant.covers(risk))
    }

    /// The first of `rules` that would let the call run if it were remembered.
    pub(super) fn first_that_helps(&self, rules: Vec<Rule>, call: &PendingCall) -> Option<Rule> {
        let state = self.state();
        rules.into_iter().find(|rule| state.judge.with_remembered(rule, call) == Judgement::Allow)
    }

    /// Remembers a rule for as long as the conversation lasts.
    pub(super) fn remember(&self, rule: Rule) {
        self.state().judge.remembered.push(rule);
    }

    /// The root of the workspace.
    pub(super) fn root(&self) -> PathBuf {
        self.state().judge.writable.root().to_owned()
    }

    /// Has a person told something.
    pub(super) fn tell(&self, notice: Notice) {
        self.state().notices.push(notice);
    }

    /// What a person should know since the last time.
    pub fn take_notices(&self) -> Vec<Notice> {
        std::mem::take(&mut self.state().notices)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A judge is whole after every statement that changes it.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
