//! A gate for runs that a person watches: what a judge cannot say is asked, as seldom as the mode allows.
//!
//! Draws nothing and reads no key: a question goes out, an answer comes back, or the task is stopped meanwhile and the
//! question falls away.

use std::sync::Arc;

use tokio::sync::{Mutex, oneshot};

use crate::kernel::event::{Notice, NoticeCode, Worker};
use crate::kernel::port::{Denial, DeniedBy, Gate, PendingCall, Verdict, Verdicts};

use super::always::{self, Remembered};
use super::rights::Rights;
use super::{Authority, Grant, Judgement, Rule};

/// Something that a person is asked.
#[derive(Clone, Debug)]
pub struct Question {
    /// What an answer counts for.
    pub scope: Scope,
    /// The calls that are asked about, in order; never none. Their text is as the model wrote it.
    pub calls: Vec<PendingCall>,
    /// Whose calls they are, where it is not the agent itself.
    pub worker: Option<Worker>,
}

/// What the answer to a question counts for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The session: an [`Answer::Grant`] is wanted.
    Session,
    /// One call: [`Answer::Once`], [`Answer::Always`] where there is something to offer, or [`Answer::Reject`].
    Call {
        /// What "always" would allow: the rule as it will be kept, such as `execute_bash(cmake *)`.
        always: Option<String>,
    },
}

/// What a person answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// From here on so much is allowed.
    Grant(Grant),
    /// These calls may run, this time.
    Once,
    /// This call may run, and its like in this project; without an offer, as [`Answer::Once`].
    Always,
    /// These calls may not run.
    Reject {
        /// Why; the model reads it.
        reason: Option<String>,
    },
    /// These calls may not run, and this is to be done instead; the model reads it.
    Say(String),
}

/// Puts a question to a person. Where the sender is dropped, nobody answers; where it is closed, the question is void.
pub type Ask = Arc<dyn Fn(Question, oneshot::Sender<Answer>) + Send + Sync>;

/// Asks a person what the rights leave open.
pub struct Watched {
    /// What holds without asking.
    pub rights: Arc<Rights>,
    /// Who is asked.
    pub ask: Ask,
    /// Whose calls are judged, where it is not the agent itself.
    pub worker: Option<Worker>,
    /// Where rules for "always" are kept; `None` where they last as long as the conversation.
    pub remembered: Option<Remembered>,
    /// Whose turn it is to ask, among all who work on the task: an answer to one may settle what another would ask.
    pub turn: Arc<Mutex<()>>,
}

impl Gate for Watched {
    fn decide<'a>(&'a self, calls: &'a [PendingCall]) -> Verdicts<'a> {
        Box::pin(self.verdicts(calls))
    }
}

impl Watched {
    async fn verdicts(&self, calls: &[PendingCall]) -> Vec<Verdict> {
        let open = || (0..calls.len()).filter(|at| self.is_open(calls.get(*at))).collect::<Vec<usize>>();
        let _turn = match open().is_empty() {
            true => None,
            false => Some(self.turn.lock().await),
        };
        let open = open();
        if self.rights.authority() == Authority::Unasked && !open.is_empty() {
            return self.once_for_all(calls, &open).await;
        }
        let mut verdicts = Vec::with_capacity(calls.len());
        for call in calls {
            // Judged one after the other: an answer may also settle the calls behind it.
            verdicts.push(match self.rights.judge(call) {
                Judgement::Allow => Verdict::Allow,
                Judgement::Deny(denial) => Verdict::Deny(denial),
                Judgement::Ask => self.about(call).await,
            });
        }
        verdicts
    }

    fn is_open(&self, call: Option<&PendingCall>) -> bool {
        call.is_some_and(|call| self.rights.judge(call) == Judgement::Ask)
    }

    /// One question for all calls at the places `open`; its answer is the session's.
    async fn once_for_all(&self, calls: &[PendingCall], open: &[usize]) -> Vec<Verdict> {
        let shown = open.iter().filter_map(|at| calls.get(*at)).cloned().collect();
        let answer = self.put(Scope::Session, shown).await;
        if let Some(Answer::Grant(grant)) = answer {
            self.rights.set_grant(grant);
        }
        let verdict = |(at, call): (usize, &PendingCall)| match self.rights.judge(call) {
            Judgement::Allow => Verdict::Allow,
            Judgement::Deny(denial) => Verdict::Deny(denial),
            Judgement::Ask if open.contains(&at) => self.answered(answer.as_ref(), call),
            // A rule came up while the question stood; nobody has seen this call.
            Judgement::Ask => Verdict::Deny(unheard(&self.rights, call)),
        };
        calls.iter().enumerate().map(verdict).collect()
    }

    /// One question for one call.
    async fn about(&self, call: &PendingCall) -> Verdict {
        let offers = always::rules(call, &self.rights.root());
        let rule = self.rights.first_that_helps(offers, call);
        let scope = Scope::Call { always: rule.as_ref().map(|rule| rule.text().to_owned()) };
        let answer = self.put(scope, vec![call.clone()]).await;
        match &answer {
            Some(Answer::Grant(grant)) => {
                self.rights.set_grant(*grant);
                match self.rights.judge(call) {
                    Judgement::Allow => return Verdict::Allow,
                    Judgement::Deny(denial) => return Verdict::Deny(denial),
                    Judgement::Ask => {}
                }
            }
            Some(Answer::Always) => {
                if let Some(rule) = rule {
                    self.remember(rule).await;
                }
            }
            Some(Answer::Once | Answer::Reject { .. } | Answer::Say(_)) | None => {}
        }
        self.answered(answer.as_ref(), call)
    }

    async fn put(&self, scope: Scope, calls: Vec<PendingCall>) -> Option<Answer> {
        let (sender, receiver) = oneshot::channel();
        (self.ask)(Question { scope, calls, worker: self.worker.clone() }, sender);
        receiver.await.ok()
    }

    /// What an answer means for a call that was shown with the question, and that no rule decides.
    fn answered(&self, answer: Option<&Answer>, call: &PendingCall) -> Verdict {
        match answer {
            Some(Answer::Once | Answer::Always) => Verdict::Allow,
            // The person has just seen the call; asking again for the sake of a rule would be one question too many.
            Some(Answer::Grant(_)) if self.rights.covers(call) => Verdict::Allow,
            Some(Answer::Grant(_)) => Verdict::Deny(rejected(None)),
            Some(Answer::Reject { reason }) => Verdict::Deny(rejected(reason.as_deref())),
            Some(Answer::Say(text)) => Verdict::Deny(rejected(Some(text))),
            None => Verdict::Deny(unheard(&self.rights, call)),
        }
    }

    /// Keeps a rule, at once for this conversation and in the file for later ones.
    async fn remember(&self, rule: Rule) {
        let text = rule.text().to_owned();
        self.rights.remember(rule);
        let Some(remembered) = self.remembered.clone() else { return };
        // Another process may hold the file for a while; the chat must not stand still for it.
        let kept = tokio::task::spawn_blocking(move || remembered.add(&text)).await;
        let problem = match kept {
            Ok(Ok(())) => return,
            Ok(Err(problem)) => problem.to_string(),
            Err(problem) => problem.to_string(),
        };
        let text = format!("\"Always\" holds for this session only: {problem}.");
        self.rights.tell(Notice::new(NoticeCode::Config, text));
    }
}

/// A person said no.
fn rejected(reason: Option<&str>) -> Denial {
    let reason = match reason.map(str::trim).filter(|reason| !reason.is_empty()) {
        Some(reason) => format!("denied by the user: {reason}"),
        None => "denied by the user; do not try to reach the same end another way, ask what to do instead".to_owned(),
    };
    Denial { reason, by: DeniedBy::User }
}

/// Nobody said anything.
fn unheard(rights: &Rights, call: &PendingCall) -> Denial {
    let reason = format!("denied: this call {} and nobody answered whether it may run", rights.described(call));
    Denial { reason, by: DeniedBy::Nobody }
}

#[cfg(test)]
mod tests;
