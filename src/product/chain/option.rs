//! The options of a step: which there are, and what their values may be.
//!
//! Knows one line at a time; where options stand is for [`super::parse`].

use globset::Glob;

use super::{Problem, covers, is_glob};
use crate::base::text::likeness::closest;
use crate::base::text::visible;

/// Tools of MCP servers, which are known only once these run.
const MCP: &str = "mcp__";
/// The value of `tools` that means a step without any.
const NO_TOOLS: &str = "none";

/// The options there are.
const NAMES: [(&str, Name); 5] = [
    ("tools", Name::Tools),
    ("max_iterations", Name::MaxIterations),
    ("model", Name::Model),
    ("provider", Name::Provider),
    ("parallel", Name::Parallel),
];

/// An option of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Name {
    Tools,
    MaxIterations,
    Model,
    Provider,
    Parallel,
}

/// The options of one step, as they were written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Options {
    pub(super) tools: Option<Vec<String>>,
    pub(super) max_iterations: Option<u32>,
    pub(super) model: Option<String>,
    pub(super) provider: Option<(usize, String)>,
    pub(super) parallel: Option<bool>,
}

/// `key: value`, if a line is that: the key is one word.
pub(super) fn pair(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once(':')?;
    let key = key.trim();
    let is_word =
        !key.is_empty() && key.chars().all(|letter| letter.is_alphanumeric() || letter == '_' || letter == '-');
    is_word.then(|| (key, value.trim()))
}

/// Whether a line is an option there is, perhaps written as the item of a list.
pub(super) fn is_known(line: &str) -> bool {
    pair(bare(line)).is_some_and(|(key, _)| named(key).is_some())
}

/// Whether this is the name of an option.
pub(super) fn is_name(key: &str) -> bool {
    named(key).is_some()
}

fn named(key: &str) -> Option<Name> {
    NAMES.iter().find(|(name, _)| *name == key).map(|(_, name)| *name)
}

/// A line without the mark of a list and without backticks, as Markdown is often written.
fn bare(line: &str) -> &str {
    let line = line.trim();
    let line = line.strip_prefix(['-', '*', '+', '·']).map_or(line, str::trim_start);
    line.trim_matches('`')
}

impl Options {
    /// Takes one line of a block. `tools` are the names of all tools there are.
    pub(super) fn take(&mut self, line: &str, number: usize, tools: &[&str], problems: &mut Vec<Problem>) {
        let Some((key, value)) = pair(bare(line)) else {
            let text = format!("`{}` is no option", visible::line(line.trim()));
            problems.push(Problem::new(number, text).hint("a blank line ends the options and begins the prompt"));
            return;
        };
        let Some(name) = named(key) else {
            let problem = Problem::new(number, format!("there is no option `{}`", visible::line(key)));
            problems.push(match closest(&key.to_lowercase(), NAMES.map(|(name, _)| name)) {
                Some(meant) => problem.hint(format!("did you mean `{meant}`?")),
                None => problem.hint(format!(
                    "the options are {}; a blank line before a prompt tells it from them",
                    NAMES.map(|(name, _)| name).join(", ")
                )),
            });
            return;
        };
        if let Err(problem) = self.set(name, value, number, tools, problems) {
            problems.push(Problem { text: format!("{key}: {}", problem.text), ..problem });
        }
    }

    fn set(
        &mut self,
        name: Name,
        value: &str,
        line: usize,
        known: &[&str],
        problems: &mut Vec<Problem>,
    ) -> Result<(), Problem> {
        let twice = || Problem::new(line, "stands here twice");
        let value = unquoted(value);
        if value.is_empty() {
            let problem = Problem::new(line, "has no value");
            return Err(match name {
                Name::Tools => problem.hint(format!("`tools: {NO_TOOLS}` is a step without tools")),
                Name::MaxIterations | Name::Model | Name::Provider | Name::Parallel => problem,
            });
        }
        let is_second = match name {
            Name::Tools => self.tools.replace(tools(value, line, known, problems)).is_some(),
            Name::MaxIterations => self.max_iterations.replace(count(value, line)?).is_some(),
            Name::Model => self.model.replace(value.to_owned()).is_some(),
            Name::Provider => self.provider.replace((line, value.to_owned())).is_some(),
            Name::Parallel => self.parallel.replace(truth(value, line)?).is_some(),
        };
        if is_second { Err(twice()) } else { Ok(()) }
    }

    /// Looks for options that say nothing without another one.
    pub(super) fn check(&self, problems: &mut Vec<Problem>) {
        if let (Some((line, _)), None) = (&self.provider, &self.model) {
            problems.push(Problem::new(*line, "provider: names no model").hint("add `model: ID`"));
        }
    }
}

fn count(value: &str, line: usize) -> Result<u32, Problem> {
    let counted = value.parse().ok().filter(|count| *count > 0);
    counted.ok_or_else(|| Problem::new(line, format!("`{}` is no number from 1 on", visible::line(value))))
}

fn truth(value: &str, line: usize) -> Result<bool, Problem> {
    match value {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(Problem::new(line, format!("`{}` is neither `true` nor `false`", visible::line(value)))),
    }
}

/// The tools of a list, with or without the brackets that YAML has around it.
fn tools(value: &str, line: usize, known: &[&str], problems: &mut Vec<Problem>) -> Vec<String> {
    let list = value.strip_prefix('[').and_then(|value| value.strip_suffix(']')).unwrap_or(value);
    let names: Vec<_> = list.split(',').map(|name| unquoted(name.trim())).filter(|name| !name.is_empty()).collect();
    if names == [NO_TOOLS] {
        return Vec::new();
    }
    problems.extend(names.iter().filter_map(|name| unknown_tool(name, line, known)));
    names.into_iter().map(str::to_owned).collect()
}

fn unknown_tool(name: &str, line: usize, known: &[&str]) -> Option<Problem> {
    let shown = visible::line(name);
    if is_glob(name) {
        if let Err(error) = Glob::new(name) {
            return Some(Problem::new(line, format!("tools: `{shown}` is no pattern: {}", error.kind())));
        }
        let is_met = name.starts_with(MCP) || known.iter().any(|tool| covers(name, tool));
        return (!is_met).then(|| Problem::new(line, format!("tools: no tool is meant by `{shown}`")));
    }
    if name.starts_with(MCP) || known.contains(&name) {
        return None;
    }
    let problem = Problem::new(line, format!("tools: there is no tool `{shown}`"));
    Some(match closest(name, known.iter().copied()) {
        Some(meant) => problem.hint(format!("did you mean `{meant}`?")),
        None => problem.hint(format!("the tools are {}", known.join(", "))),
    })
}

/// A value without the quotes around it.
fn unquoted(value: &str) -> &str {
    let inside = |quote: char| value.strip_prefix(quote)?.strip_suffix(quote);
    inside('"').or_else(|| inside('\'')).map_or(value, str::trim)
}
