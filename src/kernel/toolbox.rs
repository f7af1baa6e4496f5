//! The tools of one agent, in the order in which they are offered.

use std::sync::Arc;

use crate::base::text::cut;
use crate::model::message::{ToolCall, ToolInput};
use crate::model::request::Offer;

use super::port::PendingCall;
use super::tool::{Tool, ToolSpec, echo};

/// What a complaint about a call's arguments may take: several values and their names fit, a whole file does not.
const PROBLEM_CHARS: usize = 1_000;

/// Tools by name; the order is fixed, so that every request of a session begins alike.
#[derive(Clone)]
pub struct Toolbox {
    tools: Vec<Arc<dyn Tool>>,
    offers: Arc<[Offer]>,
    /// Tools that are kept back for now, and what is said to who calls one.
    kept_back: Vec<&'static str>,
    why: &'static str,
}

impl Toolbox {
    /// A box of these tools.
    pub fn new(tools: Vec<Arc<dyn Tool>>) -> Self {
        let offers = tools.iter().map(|tool| {
            let spec = tool.spec();
            Offer {
                name: spec.name.to_owned(),
                description: spec.description.trim().to_owned(),
                parameters: spec.parameters.clone(),
            }
        });
        Self { offers: offers.collect(), tools, kept_back: Vec::new(), why: "" }
    }

    /// What the model is offered.
    pub fn offers(&self) -> Arc<[Offer]> {
        Arc::clone(&self.offers)
    }

    /// The tools' names, in order.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.tools.iter().map(|tool| tool.spec().name)
    }

    /// Those of the tools that are wanted, in the same order.
    #[must_use]
    pub fn only(&self, is_wanted: impl Fn(&ToolSpec) -> bool) -> Self {
        Self::new(self.tools.iter().filter(|tool| is_wanted(tool.spec())).cloned().collect())
    }

    /// As [`Toolbox::only`]; who calls one of the others is told why it is kept back.
    #[must_use]
    pub fn keeping_back(&self, is_wanted: impl Fn(&ToolSpec) -> bool, why: &'static str) -> Self {
        let others = self.tools.iter().map(|tool| tool.spec()).filter(|spec| !is_wanted(spec));
        let kept_back = others.map(|spec| spec.name).collect();
        Self { kept_back, why, ..self.only(is_wanted) }
    }

    /// The tool of that name.
    pub fn get(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.tools.iter().find(|tool| tool.spec().name == name)
    }

    /// Checks a call: the tool exists and its arguments are what it takes.
    ///
    /// # Errors
    ///
    /// What is wrong, for the model: the tools there are, or the schema's complaint.
    pub fn prepare(&self, call: &ToolCall) -> Result<PendingCall, String> {
        let name = &call.name;
        let Some(tool) = self.get(name) else {
            if self.kept_back.contains(&name.as_str()) {
                return Err(format!("{name} was not run: {}", self.why));
            }
            return Err(format!(
                "there is no tool {:?}; the tools are: {}",
                echo(name),
                self.names().collect::<Vec<_>>().join(", ")
            ));
        };
        let spec = tool.spec();
        let complaint = |problem: &str| {
            let problem = cut::middle(problem, PROBLEM_CHARS);
            format!("{name} was not run: {problem}. Its parameters: {}", spec.parameters)
        };
        match &call.input {
            ToolInput::Invalid { problem, .. } => {
                Err(complaint(&format!("the arguments are not a JSON object ({problem})")))
            }
            ToolInput::Object(arguments) => {
                let subject = tool.subject(arguments).map_err(|problem| complaint(&problem))?;
                Ok(PendingCall { call: call.clone(), risk: spec.risk, subject, limits: spec.limits })
            }
        }
    }
}
