//! The tool `load_skill`: one skill in full.
//!
//! Looks on disk at each call, so that what was written or changed meanwhile counts.

use serde::Deserialize;
use serde_json::json;

use super::reach::Origin;
use super::{COMMAND, Skills, Source, clean_name};
use crate::base::json::Object;
use crate::base::path::canonical;
use crate::kernel::tool::{Limits, Output, Risk, Subject, Tool, ToolContext, ToolSpec};
use crate::product::tool::arguments;

/// The tool's name.
pub const NAME: &str = "load_skill";
/// What the model gets at most: as much as reading a file.
pub const LIMITS: Limits = Limits { chars: 50_000, lines: 2_000 };

/// Loads skills.
pub struct LoadSkill {
    skills: Skills,
    spec: ToolSpec,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    name: String,
}

impl LoadSkill {
    /// The tool for these skills.
    pub fn new(skills: Skills, limits: Limits) -> Self {
        let spec = ToolSpec {
            name: NAME,
            description: include_str!("../../../assets/tools/load_skill.md").trim_ascii(),
            parameters: json!({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}),
            risk: Risk::Safe,
            limits,
        };
        Self { skills, spec }
    }

    fn load(&self, name: &str) -> Output {
        let found = self.skills.find();
        let skill = match found.get(name.trim()) {
            Ok(skill) => skill,
            Err(unknown) => {
                let meant = unknown.meant().map(|meant| format!("; {meant}")).unwrap_or_default();
                return Output::error(format!("there is no skill {}{meant}; {}", clean_name(name), unknown.names()));
            }
        };
        if skill.people_only {
            return Output::error(format!("{} is for people to load, with {COMMAND}{}", skill.name, skill.name));
        }
        match self.skills.content(skill) {
            Ok(content) => Output::ok(content),
            Err(problem) => Output::error(format!("{} cannot be read: {problem}", skill.source.location())),
        }
    }
}

impl Tool for LoadSkill {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    /// The file; where there is none yet, the folders in which an earlier call of the same answer may be writing it.
    fn subject(&self, arguments: &Object) -> Result<Subject, String> {
        let Arguments { name } = arguments::parse(arguments)?;
        let found = self.skills.find();
        match found.get(name.trim()).map(|skill| &skill.source) {
            Ok(Source::File { path, .. }) => Ok(Subject::Read(vec![canonical(path)])),
            Ok(Source::BuiltIn(_)) => Ok(Subject::Other),
            Err(_) => {
                let project = self.skills.places.iter().filter(|place| place.origin == Origin::Project);
                Ok(Subject::Read(project.map(|place| canonical(&place.folder)).collect()))
            }
        }
    }

    fn run(&self, arguments: &Object, _: &ToolContext<'_>) -> Output {
        match arguments::parse(arguments) {
            Ok(Arguments { name }) => self.load(&name),
            Err(complaint) => Output::error(complaint),
        }
    }
}
