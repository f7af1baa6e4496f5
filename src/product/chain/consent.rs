//! The one question for a whole chain, where a person has not said yet what is allowed.
//!
//! What the answer means for each call is for `product::permission` to say.

use super::Chain;
use crate::kernel::port::{Gate, PendingCall, Verdict};
use crate::kernel::tool::{Limits, Risk, Subject};
use crate::kernel::toolbox::Toolbox;
use crate::model::message::{ToolCall, ToolInput};
use crate::product::error::Error;

/// What the chain is called where calls are shown.
const NAME: &str = "chain";

/// Asks `gate` about the most that a tool of any step can do.
///
/// # Errors
///
/// That the chain may not run, and why.
pub async fn consent(chain: &Chain, tools: &Toolbox, gate: &dyn Gate) -> Result<(), Error> {
    let steps: Vec<String> = chain.steps.iter().map(|step| step.name.clone()).collect();
    let mut arguments = crate::base::json::Object::new();
    arguments.insert("name".to_owned(), chain.name.clone().into());
    arguments.insert("steps".to_owned(), steps.join(", ").into());
    let mut names: Vec<&str> = chain.steps.iter().flat_map(|step| step.tools_of(tools)).collect();
    names.sort_unstable();
    names.dedup();
    arguments.insert("tools".to_owned(), names.join(", ").into());
    let risk = chain.highest_risk(tools);
    let most = match risk {
        Risk::Safe => "only look",
        Risk::Write => "write files",
        Risk::Dangerous => "do anything, as commands do",
    };
    arguments.insert("most".to_owned(), most.into());
    let call = ToolCall { id: NAME.to_owned(), name: NAME.to_owned(), input: ToolInput::Object(arguments) };
    let pending = PendingCall {
        call,
        risk,
        subject: Subject::Task(format!("{}: {}", chain.name, steps.join(", "))),
        limits: Limits { chars: 0, lines: 0 },
    };
    let verdicts = gate.decide(std::slice::from_ref(&pending)).await;
    match verdicts.into_iter().next() {
        Some(Verdict::Allow) => Ok(()),
        Some(Verdict::Deny(denial)) => Err(Error::failed(format!("the chain was not run: {}", denial.reason))),
        None => Err(Error::failed("the chain was not run")),
    }
}
