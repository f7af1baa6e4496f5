//! The `remember` tool: one line more in `MEMORY.md`.
//!
//! Where it is written, and how, is `memory`'s affair.

use serde::Deserialize;
use serde_json::json;

use super::memory::{Memory, Scope};
use crate::base::json::Object;
use crate::base::path::shown;
use crate::kernel::tool::{Limits, Output, Risk, Subject, Tool, ToolContext, ToolSpec};
use crate::product::tool::arguments;

/// What the tool is called.
pub const NAME: &str = "remember";
/// What reaches the model by default: one sentence, and a path that may be long.
pub const LIMITS: Limits = Limits { chars: 1_000, lines: usize::MAX };

/// Remembers things.
pub struct Remember {
    memory: Memory,
    spec: ToolSpec,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    text: String,
    #[serde(default)]
    scope: Option<Scope>,
}

impl Remember {
    /// A tool that adds to this memory.
    pub fn new(memory: Memory, limits: Limits) -> Self {
        let parameters = json!({
            "type": "object",
            "properties": {
                "text": {"type": "string"},
                "scope": {"type": "string", "enum": ["project", "user"]},
            },
            "required": ["text"],
        });
        let description = include_str!("../../../assets/tools/remember.md").trim_ascii_end();
        let spec = ToolSpec { name: NAME, description, parameters, risk: Risk::Write, limits };
        Self { memory, spec }
    }
}

impl Tool for Remember {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn subject(&self, arguments: &Object) -> Result<Subject, String> {
        arguments::parse::<Arguments>(arguments).map(|_| Subject::Other)
    }

    fn run(&self, arguments: &Object, _: &ToolContext<'_>) -> Output {
        let Arguments { text, scope } = match arguments::parse(arguments) {
            Ok(arguments) => arguments,
            Err(problem) => return Output::error(problem),
        };
        match self.memory.remember(scope.unwrap_or_default(), &text) {
            Ok(path) => Output::ok(format!(
                "remembered in {}, which coming sessions begin with",
                shown(&path, self.memory.home())
            )),
            Err(error) => Output::error([vec![error.to_string()], error.hints].concat().join("; ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::clock::Clock;
    use crate::base::env::Env;
    use crate::base::text::mask::Mask;
    use crate::product::tool::fixture::Fixture;

    fn tool(fixture: &Fixture) -> Remember {
        let env = Env { cwd: fixture.cwd.clone(), ..Env::default() };
        Remember::new(Memory::new(&env, fixture.cwd.join("config"), Clock::Fixed(0), Mask::default()), LIMITS)
    }

    #[test]
    fn the_model_remembers() {
        let fixture = Fixture::empty();
        let tool = tool(&fixture);
        let output = fixture.run(&tool, json!({"text": "Use tabs."}));
        assert!(!output.is_error && output.text.head.contains(".viola/MEMORY.md"), "{output:?}");
        fixture.run(&tool, json!({"text": "Speak plainly.", "scope": "user"}));
        let kept = |path: &str| std::fs::read_to_string(fixture.cwd.join(path)).unwrap();
        assert!(
            kept(".viola/MEMORY.md").ends_with(": Use tabs.\n") && kept("config/MEMORY.md").contains("Speak plainly.")
        );
        for (arguments, complaint) in [
            (json!({"text": "  "}), "there is nothing to remember; say it in one sentence"),
            (json!({"text": "x", "scope": "all"}), "scope: unknown value `all`, expected `user` or `project`"),
            (json!({}), "missing parameter `text`"),
        ] {
            let output = fixture.run(&tool, arguments);
            assert!(output.is_error && output.text.head == complaint, "{output:?}");
        }
    }

    #[test]
    fn the_offer_is_short() {
        let spec = tool(&Fixture::empty()).spec().clone();
        let offer = json!({"name": spec.name, "description": spec.description, "parameters": spec.parameters});
        assert!(offer.to_string().len() < 350, "{offer}");
    }
}
