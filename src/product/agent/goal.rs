//! A task with a check: a shell line that tells whether it is done. What it prints is what the model hears where it is not.
//!
//! Asks no model, and knows no limit but that of a model which does nothing more.

use std::sync::Arc;
use std::time::Duration;

use crate::base::cancel::Cancel;
use crate::base::json::Object;
use crate::base::text::{cut, visible};
use crate::kernel::driver::STOPPING_SHELL;
use crate::kernel::effect::End;
use crate::kernel::event::{Notice, NoticeCode};
use crate::kernel::port::{Hooks, PendingCall};
use crate::kernel::tool::{Output, Risk, Subject, Tool, ToolContext};
use crate::kernel::truncate::fit;
use crate::model::message::{Message, ToolCall, ToolInput};
use crate::product::error::Error;
use crate::product::tool::bash;

/// A check with the same result so many times in a row ends the task, where no call was made in between: whoever only
/// says that all is well will say so again.
const SAME: u32 = 3;

/// Characters of the check in a notice.
const SHOWN_CHARS: usize = 80;

/// What has to succeed.
#[derive(Clone)]
pub struct Goal {
    command: String,
    shell: Arc<dyn Tool>,
}

impl std::fmt::Debug for Goal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Goal").field(&self.command).finish()
    }
}

impl Goal {
    /// The shell line that has to end with exit code 0, run by `shell` as a person's own command.
    ///
    /// # Errors
    ///
    /// Usage: what is no shell line.
    pub fn new(command: &str, shell: Arc<dyn Tool>) -> Result<Self, Error> {
        let goal = Self { command: command.trim().to_owned(), shell };
        match goal.shell.subject(&goal.arguments()) {
            Ok(_) => Ok(goal),
            Err(problem) => Err(Error::usage(format!("--until: {problem}"))
                .hint("give a command that succeeds once the task is done: --until \"cargo test\"")),
        }
    }

    /// The check as a call, for who has to say whether it may run; `id` is the call's.
    pub fn call(&self, id: String) -> PendingCall {
        let call = ToolCall { id, name: bash::NAME.to_owned(), input: ToolInput::Object(self.arguments()) };
        let subject = Subject::Command(self.command.clone());
        PendingCall { call, risk: Risk::Dangerous, subject, limits: self.shell.spec().limits }
    }

    fn arguments(&self) -> Object {
        let mut arguments = Object::new();
        arguments.insert("command".to_owned(), self.command.as_str().into());
        arguments
    }

    /// As people are shown it.
    fn shown(&self) -> String {
        visible::line(&cut::ellipsis(&self.command, SHOWN_CHARS)).into_owned()
    }
}

/// What becomes of the task.
#[derive(Debug)]
pub(super) enum Step {
    /// It is done.
    Reached,
    /// It is over.
    Ended(End),
    /// It goes on with this.
    Missed(Message),
}

/// The checks of one task.
pub(super) struct Pursuit<'a> {
    goal: &'a Goal,
    hooks: Arc<dyn Hooks>,
    cancel: &'a Cancel,
    /// How many checks there were.
    checks: u32,
    /// How many calls had been denied at the last one.
    denied: usize,
    /// What the last one came to, and how many times in a row without a call in between.
    last: Option<(u64, u32)>,
}

impl<'a> Pursuit<'a> {
    pub(super) fn new(goal: &'a Goal, hooks: Arc<dyn Hooks>, cancel: &'a Cancel) -> Self {
        Self { goal, hooks, cancel, checks: 0, denied: 0, last: None }
    }

    /// How many of so many denied calls are new.
    pub(super) fn newly_denied(&mut self, denied: usize) -> usize {
        denied.saturating_sub(std::mem::replace(&mut self.denied, denied))
    }

    /// Runs the check. `has_acted`: whether a call was made since the last one. `left`: what is left of the task's time.
    pub(super) async fn check(&mut self, has_acted: bool, left: Option<Duration>) -> (Step, Notice) {
        let shown = self.goal.shown();
        let told = |text: String| Notice::new(NoticeCode::Goal, text);
        let output = match self.run(left).await {
            Ok(output) => output,
            Err(end) => {
                return (Step::Ended(end), told(format!("The check `{shown}` was stopped; nobody knows its result.")));
            }
        };
        if !output.is_error {
            return (Step::Reached, told(format!("The check `{shown}` succeeded.")));
        }
        let limits = self.goal.shell.spec().limits;
        let text = fit(&output, limits).text;
        let status = text.lines().next_back().unwrap_or_default();
        let status = visible::line(&cut::ellipsis(status, SHOWN_CHARS)).into_owned();
        if self.count(&output, &text, has_acted) >= SAME {
            let text = format!(
                "The check `{shown}` failed {SAME} times alike ({status}), and nothing was done in between: the task ends."
            );
            return (Step::Ended(End::Loop), told(text));
        }
        let command = &self.goal.command;
        let said = format!(
            "The check `{command}` failed, so the task is not done yet. It printed:\n\n{text}\n\nGo on until it succeeds."
        );
        let notice = told(format!("The check `{shown}` failed ({status}); the task goes on."));
        (Step::Missed(Message::user(said)), notice)
    }

    /// How many times in a row the check has come to the same.
    fn count(&mut self, output: &Output, text: &str, has_acted: bool) -> u32 {
        let print = output.fingerprint.unwrap_or_else(|| twox_hash::XxHash3_64::oneshot(text.as_bytes()));
        let count = match self.last {
            Some((before, count)) if before == print && !has_acted => count + 1,
            Some(_) | None => 1,
        };
        self.last = Some((print, count));
        count
    }

    /// Runs the line as the model's own would run. Files that it changes can be taken back with the rest of the task.
    async fn run(&mut self, left: Option<Duration>) -> Result<Output, End> {
        self.checks += 1;
        let arguments = self.goal.arguments();
        let shell = Arc::clone(&self.goal.shell);
        let pending = self.goal.call(format!("check-{}", self.checks));
        let (stop, _link) = self.cancel.child();
        let (hooks, heard) = (Arc::clone(&self.hooks), stop.clone());
        let mut running = tokio::task::spawn_blocking(move || {
            let PendingCall { call, subject, .. } = &pending;
            hooks.tool_starting(&pending);
            let context =
                ToolContext { call_id: &call.id, subject, cancel: &heard, progress: &|_| {}, events: &|_| {} };
            let mut output = shell.run(&arguments, &context);
            hooks.tool_finished(call, &mut output);
            output
        });
        let over = async {
            match left {
                // The task's limit, not a pause: whatever ends first ends the wait.
                Some(left) => tokio::time::sleep(left).await,
                None => std::future::pending().await,
            }
        };
        let end = tokio::select! {
            biased;
            () = stop.cancelled() => End::Cancelled,
            output = &mut running => return Ok(output.unwrap_or_else(|_| Output::error("the check broke"))),
            () = over => End::TimedOut,
        };
        stop.cancel();
        let _ = tokio::time::timeout(STOPPING_SHELL, running).await;
        Err(end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::tool::{Limits, ToolSpec};
    use crate::model::message::Part;
    use crate::product::agent::redact::Redactor;
    use std::sync::Mutex;
    use std::time::Instant;

    /// A shell that comes to one thing after the other, and then waits until it is stopped.
    struct Script(ToolSpec, Mutex<Vec<Output>>);

    impl Tool for Script {
        fn spec(&self) -> &ToolSpec {
            &self.0
        }

        fn subject(&self, arguments: &Object) -> Result<Subject, String> {
            match arguments.get("command").and_then(serde_json::Value::as_str) {
                Some("") | None => Err("`command` is empty".to_owned()),
                Some(line) => Ok(Subject::Command(line.to_owned())),
            }
        }

        fn run(&self, _: &Object, context: &ToolContext<'_>) -> Output {
            let next = self.1.lock().unwrap().pop();
            next.unwrap_or_else(|| {
                while !context.cancel.is_cancelled() {
                    std::thread::yield_now();
                }
                Output::error("stopped")
            })
        }
    }

    fn goal(mut outputs: Vec<Output>) -> Goal {
        outputs.reverse();
        let limits = Limits { chars: 100, lines: 10 };
        let spec = ToolSpec {
            name: bash::NAME,
            description: "",
            parameters: serde_json::Value::Null,
            risk: Risk::Dangerous,
            limits,
        };
        Goal::new(" make test ", Arc::new(Script(spec, Mutex::new(outputs)))).unwrap()
    }

    fn failed(text: &str) -> Output {
        Output { footer: Some("exit code: 2".to_owned()), ..Output::error(text) }
    }

    fn step(step: Step) -> String {
        match step {
            Step::Reached => "reached".to_owned(),
            Step::Ended(end) => format!("{end:?}"),
            Step::Missed(Message::User(parts)) => match parts.first() {
                Some(Part::Text(text)) => text.clone(),
                Some(Part::Image(_)) | None => String::new(),
            },
            Step::Missed(Message::Assistant(_) | Message::Tool(_)) => String::new(),
        }
    }

    #[tokio::test]
    async fn a_failure_is_told_to_the_model_and_a_success_ends_it() {
        let (goal, cancel) = (goal(vec![failed("one is red"), Output::ok("")]), Cancel::new());
        let mut pursuit = Pursuit::new(&goal, Arc::new(Redactor::default()), &cancel);
        let (missed, notice) = pursuit.check(true, None).await;
        let said = step(missed);
        assert!(said.contains("`make test` failed") && said.contains("one is red\nexit code: 2"), "{said}");
        assert_eq!(notice.text, "The check `make test` failed (exit code: 2); the task goes on.");
        let (reached, notice) = pursuit.check(true, None).await;
        assert_eq!((step(reached).as_str(), notice.text.as_str()), ("reached", "The check `make test` succeeded."));
    }

    #[tokio::test]
    async fn who_does_nothing_about_it_is_stopped() {
        let outputs = [failed("a"), failed("a"), failed("a"), failed("b"), failed("b"), failed("b")];
        let (goal, cancel) = (goal(outputs.to_vec()), Cancel::new());
        let mut pursuit = Pursuit::new(&goal, Arc::new(Redactor::default()), &cancel);
        let mut ends = Vec::new();
        for has_acted in [true, false, true, false, false, false] {
            ends.push(step(pursuit.check(has_acted, None).await.0) == "Loop");
        }
        assert_eq!(ends, [false, false, false, false, false, true]);
        assert_eq!((pursuit.newly_denied(2), pursuit.newly_denied(2), pursuit.newly_denied(5)), (2, 0, 3));
    }

    #[tokio::test]
    async fn a_check_ends_with_the_task_and_its_time() {
        let (goal, cancel) = (goal(Vec::new()), Cancel::new());
        let begun = Instant::now();
        let mut pursuit = Pursuit::new(&goal, Arc::new(Redactor::default()), &cancel);
        assert_eq!(step(pursuit.check(true, Some(Duration::ZERO)).await.0), "TimedOut");
        cancel.cancel();
        assert_eq!(step(pursuit.check(true, None).await.0), "Cancelled");
        assert!(begun.elapsed() < STOPPING_SHELL);
    }

    #[test]
    fn nothing_is_no_check() {
        let shell = goal(Vec::new()).shell;
        let error = Goal::new("  ", shell).unwrap_err();
        assert!(error.to_string().starts_with("--until: "), "{error}");
    }
}
