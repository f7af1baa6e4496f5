//! Chains: tasks in several steps, each with tools, limits and a model of its own, written down in a Markdown file.
//!
//! [`parse`] reads such a file (`option` its options, [`prompt`] its placeholders), [`find`] knows where they are, [`run`]
//! has the steps done, and [`past`] knows what those of an earlier run came to. Absent: any tool, model or right of their
//! own. Who works on a step is for `product::crew`, what it may do for `product::permission`.

pub mod consent;
pub mod find;
mod option;
pub mod parse;
pub mod past;
pub mod prompt;
pub mod run;
#[cfg(test)]
mod tests;

use std::ops::Range;

use globset::Glob;

use crate::kernel::tool::Risk;
use crate::kernel::toolbox::Toolbox;

use prompt::Prompt;

/// A task in several steps.
#[derive(Clone, Debug, PartialEq)]
pub struct Chain {
    /// What it is called.
    pub name: String,
    /// What it is for; may be empty.
    pub description: String,
    /// The steps, in order; at least one.
    pub steps: Vec<Step>,
    /// What is odd in its file and keeps it from nothing.
    pub warnings: Vec<Problem>,
    /// What its file asks for and does not get, as sentences.
    pub withheld: Vec<String>,
}

/// A part of the task, done in a conversation of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// What it is called; unique in its chain.
    pub name: String,
    /// The line of its heading, from 1.
    pub line: usize,
    /// The tools it may use, by names or globs; `None` for all there are.
    pub tools: Option<Vec<String>>,
    /// Model calls it may take; `None` for the limit of any task.
    pub max_iterations: Option<u32>,
    /// The provider that is asked; never without a model.
    pub provider: Option<String>,
    /// The model that is asked, as `provider/id` or an id alone; `None` for the one in use.
    pub model: Option<String>,
    /// Whether it may run beside its neighbours that say so, too.
    pub is_parallel: bool,
    /// What is to be done.
    pub prompt: Prompt,
}

/// Something in a file: it keeps its chain from being used, or is only odd.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The line of the file, from 1; 0 where it is about the file as a whole.
    pub line: usize,
    /// What is wrong there; lower case, no full stop.
    pub text: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl Problem {
    fn new(line: usize, text: impl Into<String>) -> Self {
        Self { line, text: text.into(), hint: None }
    }

    fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl Step {
    /// Who is asked, as an order has it.
    pub fn who(&self) -> Option<String> {
        let model = self.model.as_ref()?;
        Some(self.provider.as_ref().map_or_else(|| model.clone(), |provider| format!("{provider}/{model}")))
    }

    /// Those of the tools in `toolbox` that the step may use, in their order there.
    pub fn tools_of(&self, toolbox: &Toolbox) -> Vec<&'static str> {
        let Some(patterns) = &self.tools else { return toolbox.names().collect() };
        toolbox.names().filter(|name| patterns.iter().any(|pattern| covers(pattern, name))).collect()
    }

    /// The most that one of its tools can do.
    pub fn highest_risk(&self, toolbox: &Toolbox) -> Risk {
        let names = self.tools_of(toolbox).into_iter();
        names.filter_map(|name| toolbox.get(name)).map(|tool| tool.spec().risk).max().unwrap_or(Risk::Safe)
    }

    /// The tools it names that are not in `toolbox`: they do not exist there, or were switched off.
    pub fn missing_tools(&self, toolbox: &Toolbox) -> Vec<&str> {
        let named = self.tools.iter().flatten().filter(|name| !is_glob(name));
        named.filter(|name| toolbox.get(name).is_none()).map(String::as_str).collect()
    }
}

impl Chain {
    /// The most that a tool of any step can do: what one question for the whole chain is about.
    pub fn highest_risk(&self, toolbox: &Toolbox) -> Risk {
        self.steps.iter().map(|step| step.highest_risk(toolbox)).max().unwrap_or(Risk::Safe)
    }

    /// The place of a step, by its name.
    pub fn place(&self, name: &str) -> Option<usize> {
        self.steps.iter().position(|step| step.name == name)
    }

    /// The steps in groups: neighbours that may run beside each other are one, every other step is one of its own.
    pub fn groups(&self) -> Vec<Range<usize>> {
        let mut groups: Vec<Range<usize>> = Vec::new();
        for (place, step) in self.steps.iter().enumerate() {
            match groups.last_mut() {
                Some(group) if step.is_parallel && self.steps[group.start].is_parallel => group.end = place + 1,
                Some(_) | None => groups.push(place..place + 1),
            }
        }
        groups
    }

    /// The group that comes before the one of the step at `place`: whose answers are `{previous}` there.
    pub fn before(&self, place: usize) -> Option<Range<usize>> {
        let groups = self.groups();
        let own = groups.iter().position(|group| group.contains(&place))?;
        own.checked_sub(1).and_then(|before| groups.get(before)).cloned()
    }
}

/// Whether a tool's name in a chain stands for several.
fn is_glob(pattern: &str) -> bool {
    pattern.contains(['*', '?', '[', '{'])
}

/// Whether a name or glob means this tool. One that is no glob after all means nothing; such a chain does not parse.
fn covers(pattern: &str, name: &str) -> bool {
    pattern == name || is_glob(pattern) && Glob::new(pattern).is_ok_and(|glob| glob.compile_matcher().is_match(name))
}
