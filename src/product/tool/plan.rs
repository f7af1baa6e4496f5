//! The tool `update_plan`: the model's own list of steps, shown to whoever watches.
//!
//! Keeps nothing: the plan is the arguments of the last call, which [`parse`] reads wherever it is needed.

use serde::Deserialize;
use serde_json::json;

use super::arguments;
use crate::base::json::Object;
use crate::base::text::{clean, cut};
use crate::kernel::tool::{Limits, Output, Risk, Subject, Tool, ToolContext, ToolSpec};

/// The tool's name.
pub const NAME: &str = "update_plan";

/// What reaches the model: it has just written the plan itself.
pub const LIMITS: Limits = Limits { chars: 1_000, lines: MAX_STEPS };

/// Steps of one plan: as many as a person still looks at.
const MAX_STEPS: usize = 30;

/// Characters of one step; what is longer is cut.
const MAX_TEXT: usize = 200;

/// How far a step has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Not begun.
    Pending,
    /// Being worked on.
    InProgress,
    /// Done.
    Completed,
}

impl Status {
    /// The box before the step.
    pub fn mark(self) -> &'static str {
        match self {
            Self::Pending => "[ ]",
            Self::InProgress => "[>]",
            Self::Completed => "[x]",
        }
    }
}

/// One step of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// What is to be done: one line, without control characters, of at most 200 characters.
    pub text: String,
    /// How far it has come.
    pub status: Status,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    #[serde(deserialize_with = "arguments::list")]
    steps: Vec<Written>,
}

#[derive(Deserialize)]
struct Written {
    text: String,
    status: Status,
}

/// The plan that a call holds.
///
/// # Errors
///
/// What is wrong with the arguments, in words for the model.
pub fn parse(arguments: &Object) -> Result<Vec<Step>, String> {
    let Arguments { steps } = arguments::parse(arguments)?;
    if steps.is_empty() {
        return Err("`steps` is empty: give every step of the plan, those that are done among them".to_owned());
    }
    if steps.len() > MAX_STEPS {
        return Err(format!("{} steps are more than anybody follows: join them into at most {MAX_STEPS}", steps.len()));
    }
    let step = |(at, Written { text, status }): (usize, Written)| {
        let text = clean::line(&text);
        let text = cut::ellipsis(&text.split_whitespace().collect::<Vec<_>>().join(" "), MAX_TEXT);
        if text.is_empty() { Err(format!("steps[{at}].text is empty")) } else { Ok(Step { text, status }) }
    };
    steps.into_iter().enumerate().map(step).collect()
}

/// The plan as a list, a line for each step: `[x]` is done, `[>]` is worked on, `[ ]` is to come.
pub fn render(steps: &[Step]) -> String {
    within(steps, MAX_TEXT)
}

fn within(steps: &[Step], chars: usize) -> String {
    let line = |step: &Step| format!("{} {}", step.status.mark(), cut::ellipsis(&step.text, chars));
    steps.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// The plan in at most [`LIMITS`], long steps cut.
fn answer(steps: &[Step]) -> String {
    let whole = render(steps);
    if whole.chars().count() <= LIMITS.chars {
        return whole;
    }
    // A box, a blank and a line break stand beside each text.
    within(steps, (LIMITS.chars / steps.len().max(1)).saturating_sub(5))
}

/// The tool.
#[derive(Debug)]
pub struct UpdatePlan {
    spec: ToolSpec,
}

impl UpdatePlan {
    /// The tool.
    pub fn new(limits: Limits) -> Self {
        let spec = ToolSpec {
            name: NAME,
            description: include_str!("../../../assets/tools/update_plan.md").trim_ascii(),
            parameters: json!({
                "type": "object",
                "properties": {"steps": {"type": "array", "items": {
                    "type": "object",
                    "properties": {
                        "text": {"type": "string"},
                        "status": {"enum": ["pending", "in_progress", "completed"]},
                    },
                    "required": ["text", "status"],
                }}},
                "required": ["steps"],
            }),
            risk: Risk::Safe,
            limits,
        };
        Self { spec }
    }
}

impl Tool for UpdatePlan {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn subject(&self, arguments: &Object) -> Result<Subject, String> {
        parse(arguments).map(|_| Subject::Other)
    }

    fn run(&self, arguments: &Object, _: &ToolContext<'_>) -> Output {
        match parse(arguments) {
            Ok(steps) => Output::ok(answer(&steps)),
            Err(complaint) => Output::error(complaint),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::product::tool::fixture::{Fixture, offer_bytes};
    use proptest::prelude::*;
    use serde_json::Value;

    fn said(arguments: Value) -> Output {
        Fixture::empty().run(&UpdatePlan::new(LIMITS), arguments)
    }

    #[test]
    fn a_plan_is_a_checklist() {
        let steps = json!([{"text": "look\n around", "status": "completed"}, {"text": "mend", "status": "in_progress"},
            {"text": "\u{1b}[1mtest", "status": "pending"}]);
        let output = said(json!({"steps": steps}));
        assert_eq!((output.is_error, output.text.head.as_str()), (false, "[x] look around\n[>] mend\n[ ] test"));
        assert_eq!(said(json!({"steps": steps.to_string()})), output, "a list written as a text");
    }

    #[test]
    fn complaints_say_what_would_do() {
        for (arguments, words) in [
            (json!({}), "missing parameter `steps`"),
            (json!({"steps": []}), "every step"),
            (json!({"steps": "all"}), "expected a list"),
            (json!({"steps": [{"text": "a"}]}), "steps[0]: missing parameter `status`"),
            (json!({"steps": [{"text": " \n", "status": "pending"}]}), "steps[0].text is empty"),
            (json!({"steps": [{"text": "a", "status": "done"}]}), "`pending`, `in_progress`, `completed`"),
            (json!({"steps": vec![json!({"text": "a", "status": "pending"}); 31]}), "at most 30"),
        ] {
            let output = said(arguments.clone());
            assert!(output.is_error && output.text.head.contains(words), "{arguments}: {}", output.text.head);
        }
    }

    #[test]
    fn the_offer_is_short() {
        let bytes = offer_bytes(&UpdatePlan::new(LIMITS));
        assert!(bytes < 420, "{bytes}");
    }

    proptest! {
        #[test]
        fn no_answer_is_longer_than_its_limit(texts in prop::collection::vec("\\PC{1,300}", 1..31)) {
            let steps: Vec<_> = texts.iter().map(|text| json!({"text": format!("x{text}"), "status": "pending"})).collect();
            let output = said(json!({"steps": steps}));
            prop_assert!(!output.is_error && output.text.head.chars().count() <= 1_000);
            prop_assert_eq!(output.text.head.lines().count(), texts.len());
        }
    }
}
