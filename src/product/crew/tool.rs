//! `dispatch_agent`: a task for a sub-agent, whose answer comes back as the call's output.
//!
//! Makes no agent; it hands out an order and words what came of it.

use std::sync::Arc;

use globset::Glob;
use serde::Deserialize;
use serde_json::json;

use super::named::Named;
use super::{Done, Order};
use crate::base::cancel::Cancel;
use crate::base::json::Object;
use crate::base::text::likeness::closest;
use crate::base::text::numbers::grouped;
use crate::kernel::effect::End;
use crate::kernel::event::{Event, Worker};
use crate::kernel::loop_guard::fingerprint;
use crate::kernel::tool::{Captured, Ledger, Limits, Output, Risk, Subject, Tool, ToolContext, ToolSpec, echo};
use crate::product::tool::arguments;

/// The tool's name.
pub const NAME: &str = "dispatch_agent";

/// What reaches the model: a report of some length; a longer one keeps head and tail.
pub const LIMITS: Limits = Limits { chars: 20_000, lines: 2_000 };

/// Has a piece of work done; [`super::Send`] that can be kept.
pub type Sender = Arc<dyn Fn(&Order, &Cancel, &(dyn Fn(Event) + Sync)) -> Result<Done, String> + Send + Sync>;

/// The tool.
pub struct DispatchAgent {
    spec: ToolSpec,
    named: Vec<Named>,
    send: Sender,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    task: String,
    #[serde(default, deserialize_with = "arguments::list")]
    tools: Vec<String>,
    model: Option<String>,
    agent: Option<String>,
}

impl DispatchAgent {
    /// A tool that sends by `send`, and knows these agents by name.
    pub fn new(send: Sender, named: Vec<Named>, limits: Limits) -> Self {
        let mut properties = json!({
            "task": {"type": "string"},
            "tools": {"type": "array", "items": {"type": "string"}, "description": "only these; default all"},
            "model": {"type": "string"},
        });
        if let (false, Some(properties)) = (named.is_empty(), properties.as_object_mut()) {
            let told: Vec<String> =
                named.iter().map(|agent| format!("{}: {}", agent.name, agent.description)).collect();
            let names: Vec<&str> = named.iter().map(|agent| agent.name.as_str()).collect();
            properties
                .insert("agent".to_owned(), json!({"type": "string", "enum": names, "description": told.join("\n")}));
        }
        let spec = ToolSpec {
            name: NAME,
            description: include_str!("../../../assets/tools/dispatch_agent.md").trim_ascii_end(),
            parameters: json!({"type": "object", "properties": properties, "required": ["task"]}),
            risk: Risk::Dangerous,
            limits,
        };
        Self { spec, named, send }
    }

    fn order(&self, arguments: Arguments, call_id: &str) -> Result<Order, String> {
        let Arguments { task, tools, model, agent } = arguments;
        let worker = Worker::Agent(call_id.to_owned());
        let model = model.filter(|model| !model.trim().is_empty());
        let tools = (!tools.is_empty()).then_some(tools);
        let Some(name) = agent.filter(|name| !name.trim().is_empty()) else {
            return Ok(Order { worker, task, brief: None, tools, model, max_turns: None });
        };
        let Some(named) = self.named.iter().find(|named| named.name == name) else {
            let names: Vec<&str> = self.named.iter().map(|agent| agent.name.as_str()).collect();
            let meant = closest(&name, names.iter().copied());
            let meant = meant.map(|meant| format!("; did you mean {meant}?")).unwrap_or_default();
            let known = match names.is_empty() {
                true => "there are none with a name; leave `agent` out".to_owned(),
                false => format!("the agents are: {}", names.join(", ")),
            };
            return Err(format!("there is no agent {:?}; {known}{meant}", echo(&name)));
        };
        // What its file allows is the most it gets.
        let tools = match (tools, named.tools.clone()) {
            (Some(asked), Some(allowed)) => {
                let both: Vec<String> = asked.into_iter().filter(|tool| covered(tool, &allowed)).collect();
                if both.is_empty() {
                    return Err(format!("the agent {name} has none of these tools; it has: {}", allowed.join(", ")));
                }
                Some(both)
            }
            (asked, allowed) => asked.or(allowed),
        };
        let brief = Some(named.prompt.clone()).filter(|prompt| !prompt.is_empty());
        Ok(Order { worker, task, brief, tools, model: model.or_else(|| named.model.clone()), max_turns: None })
    }
}

/// Whether one of `allowed`, which are names or globs, is or fits a name.
fn covered(name: &str, allowed: &[String]) -> bool {
    let fits = |pattern: &String| Glob::new(pattern).is_ok_and(|glob| glob.compile_matcher().is_match(name));
    allowed.iter().any(|pattern| pattern == name || fits(pattern))
}

impl Tool for DispatchAgent {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn subject(&self, arguments: &Object) -> Result<Subject, String> {
        let arguments: Arguments = arguments::parse(arguments)?;
        if arguments.task.trim().is_empty() {
            return Err("`task` is empty".to_owned());
        }
        let order = self.order(arguments, "")?;
        Ok(Subject::Task(order.task))
    }

    fn run(&self, arguments: &Object, context: &ToolContext<'_>) -> Output {
        let order = arguments::parse(arguments).and_then(|arguments| self.order(arguments, context.call_id));
        match order.and_then(|order| (self.send)(&order, context.cancel, context.events)) {
            Ok(done) => output(done),
            Err(problem) => Output::error(format!("no sub-agent was sent: {problem}")),
        }
    }
}

/// What the model gets.
fn output(done: Done) -> Output {
    let Done { text, end, ledger, duration_ms: _, transcript } = done;
    let said = text.trim();
    let (is_error, note) = match &end {
        End::Answered => (said.is_empty(), None),
        End::MaxTurns => (said.is_empty(), Some("it had reached its limit of model calls".to_owned())),
        End::Loop => (true, Some("it went round in circles and was ended".to_owned())),
        End::TimedOut => (true, Some("its time was over".to_owned())),
        End::Cost => (true, Some("the budget of the task is spent".to_owned())),
        End::Cancelled => (true, Some("interrupted".to_owned())),
        End::Failed(error) => (true, Some(format!("it failed: {}", error.message))),
    };
    let text = if said.is_empty() { "(the sub-agent gave no answer)" } else { said };
    let facts = facts(&ledger);
    let kept = transcript.as_ref().map(|path| format!("transcript: {}", path.display()));
    let footer = [note, Some(facts), kept].into_iter().flatten().collect::<Vec<_>>().join("; ");
    Output {
        // What it took differs each time.
        fingerprint: Some(fingerprint(&[text], is_error)),
        text: Captured::whole(text),
        footer: Some(format!("[{footer}]")),
        full_output: transcript,
        is_error,
        ledger: Some(ledger),
        ..Output::default()
    }
}

fn facts(ledger: &Ledger) -> String {
    let Ledger { turns, usage, cost, denied } = ledger;
    let calls = if *turns == 1 { "model call" } else { "model calls" };
    let read = usage.input + usage.cache_read + usage.cache_write;
    let mut facts = format!("{turns} {calls}, {} tokens read, {} written", grouped(read), grouped(usage.output));
    if let Some(cost) = cost {
        facts.push_str(&format!(", ${cost:.4}"));
    }
    if !denied.is_empty() {
        facts.push_str(&format!(", {} not permitted", denied.len()));
    }
    facts
}

#[cfg(test)]
#[path = "tool/tests.rs"]
mod tests;
