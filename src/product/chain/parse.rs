//! `NAME.chain.md`, read: front matter, and a step for each heading of the second level.
//!
//! Pure. Everything that is wrong with a file is told at once; where anything is, there is no chain.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::option::{self, Options};
use super::prompt::{Prompt, Value};
use super::{Chain, Problem, Step};
use crate::base::text::likeness::closest;
use crate::base::text::visible;
use crate::product::front_matter::{self, Document};

/// What every chain's file name ends in.
pub const ENDING: &str = ".chain.md";

/// So far a heading or a fence may be indented, in spaces (CommonMark 4.2, 4.5).
const INDENT: usize = 3;
/// So many marks open a fence (CommonMark 4.5).
const FENCE_MARKS: usize = 3;

/// Reads a chain. `stem` is what it is called if it does not say so; `tools` are the names of all tools there are, also of
/// those that are switched off.
///
/// A byte order mark, CRLF, blanks behind a line, and a last line without an end do no harm. What stands before the first
/// step is for people.
///
/// # Errors
///
/// Everything that is wrong, in the order of the lines.
pub fn parse(text: &str, stem: &str, tools: &[&str]) -> Result<Chain, Vec<Problem>> {
    let document =
        front_matter::read(text).map_err(|front_matter::Broken { line, problem }| vec![Problem::new(line, problem)])?;
    let Document { fields, body, body_line } = document;
    let mut problems = Vec::new();
    for key in fields.keys().filter(|key| option::is_name(key)) {
        let text = format!("`{key}` is an option of steps, and holds for none here");
        problems.push(Problem::new(1, text).hint("it stands directly behind the heading of its step"));
    }
    let mut field = |key: &str| match fields.get(key) {
        None | Some(Json::Null) => String::new(),
        Some(Json::String(text)) => text.split_whitespace().collect::<Vec<_>>().join(" "),
        Some(Json::Number(number)) => number.to_string(),
        Some(Json::Bool(_) | Json::Array(_) | Json::Object(_)) => {
            problems.push(Problem::new(1, format!("{key}: is no text")).hint("quotes make text of it"));
            String::new()
        }
    };
    let (name, description) = (field("name"), field("description"));
    let name = if name.is_empty() { stem.to_owned() } else { name };
    let lines: Vec<_> = body.lines().enumerate().map(|(at, text)| Line { number: body_line + at, text }).collect();
    let mut drafts: Vec<Draft> = Vec::new();
    for section in sections(&lines, &mut problems) {
        drafts.push(Draft::read(&section, tools, &mut problems));
    }
    let steps = drafts.iter().map(|draft| draft.step.clone()).collect();
    let chain = Chain { name, description, steps, warnings: preamble(&lines, &drafts), withheld: Vec::new() };
    if chain.steps.is_empty() {
        problems.push(
            Problem::new(body_line, "there are no steps").hint("a step begins with a line such as `## look around`"),
        );
    }
    check(&chain, &drafts, &mut problems);
    if problems.is_empty() {
        return Ok(chain);
    }
    problems.sort_by_key(|problem| problem.line);
    Err(problems)
}

/// Text before the first step, which goes to no model; a title is no mistake.
fn preamble(lines: &[Line<'_>], drafts: &[Draft]) -> Vec<Problem> {
    let first = drafts.first().map_or(0, |draft| draft.step.line);
    let before = lines.iter().take_while(|line| line.number < first);
    let text = before.filter(|line| !is_blank(line) && !line.text.starts_with("# ")).map(|line| line.number).next();
    let warning = |line| Problem::new(line, "what stands before the first step is for people: no model gets it");
    text.map(warning).into_iter().collect()
}

/// A line of the file.
#[derive(Clone, Copy, Debug)]
struct Line<'a> {
    number: usize,
    /// Without its end.
    text: &'a str,
}

/// A heading and what follows it.
#[derive(Debug)]
struct Section<'a> {
    name: &'a str,
    line: usize,
    body: &'a [Line<'a>],
}

/// A step, and where its prompt begins.
struct Draft {
    step: Step,
    prompt_line: usize,
}

impl Draft {
    fn read(section: &Section<'_>, tools: &[&str], problems: &mut Vec<Problem>) -> Self {
        let Section { name, line, body } = *section;
        if name.is_empty() {
            problems.push(Problem::new(line, "the step has no name"));
        }
        let (block, before) = (block(body), problems.len());
        let mut options = Options::default();
        for line in block {
            options.take(line.text, line.number, tools, problems);
        }
        // The block is a part of the body, be it empty.
        let blanks = body.iter().take_while(|line| is_blank(line)).count();
        let rest = if block.is_empty() { body } else { body.get(blanks + block.len()..).unwrap_or_default() };
        let begin = rest.iter().position(|line| !is_blank(line)).unwrap_or(rest.len());
        let end = rest.iter().rposition(|line| !is_blank(line)).map_or(begin, |last| last + 1);
        let prompt = rest.get(begin..end).unwrap_or_default();
        // A line that is no option ate the prompt, and is told.
        if prompt.is_empty() && problems.len() == before {
            problems.push(Problem::new(line, format!("step `{}` is empty: it has no prompt", visible::line(name))));
        }
        options.check(problems);
        let Options { tools, max_iterations, model, provider, parallel } = options;
        let text = prompt.iter().map(|line| line.text.trim_end()).collect::<Vec<_>>().join("\n");
        let step = Step {
            name: name.to_owned(),
            line,
            tools,
            max_iterations,
            provider: provider.map(|(_, name)| name),
            model,
            is_parallel: parallel.unwrap_or(false),
            prompt: Prompt::new(&text),
        };
        Self { step, prompt_line: prompt.first().map_or(line, |line| line.number) }
    }
}

/// The options of a step: what stands directly behind its heading up to the first blank line, if its first line is
/// `key: value`. Blank lines between the two, as formatters put them there, are let pass before an option there is:
/// without a word its tools would be all there are.
fn block<'a>(body: &'a [Line<'a>]) -> &'a [Line<'a>] {
    let blanks = body.iter().take_while(|line| is_blank(line)).count();
    let rest = body.get(blanks..).unwrap_or_default();
    let begins = match rest.first() {
        Some(first) if blanks == 0 => option::pair(first.text).is_some() || option::is_known(first.text),
        Some(first) => option::is_known(first.text),
        None => false,
    };
    let length = if begins { rest.iter().take_while(|line| !is_blank(line)).count() } else { 0 };
    rest.get(..length).unwrap_or_default()
}

fn is_blank(line: &Line<'_>) -> bool {
    line.text.trim().is_empty()
}

/// Cuts the lines at the headings of steps that stand in no fenced code.
fn sections<'a>(lines: &'a [Line<'a>], problems: &mut Vec<Problem>) -> Vec<Section<'a>> {
    let mut heads: Vec<(usize, &str)> = Vec::new();
    let mut open: Option<(Fence, usize)> = None;
    for (at, line) in lines.iter().enumerate() {
        match (&open, fence(line.text)) {
            (Some((begun, _)), Some(found)) if found.closes(begun) => open = None,
            (Some(_), Some(_) | None) => {}
            (None, Some(found)) => open = Some((found, line.number)),
            (None, None) => heads.extend(heading(line.text).map(|name| (at, name))),
        }
    }
    if let Some((_, number)) = open {
        // It would swallow every step behind it.
        problems.push(Problem::new(number, "the fenced code that begins here does not end"));
    }
    let ends = heads.iter().skip(1).map(|(at, _)| *at).chain([lines.len()]);
    let section = |((at, name), end): (&(usize, &'a str), usize)| Section {
        name,
        line: lines.get(*at).map_or(0, |line| line.number),
        body: lines.get(at + 1..end).unwrap_or_default(),
    };
    heads.iter().zip(ends).map(section).collect()
}

/// The name in a heading of the second level.
fn heading(line: &str) -> Option<&str> {
    let name = unindented(line)?.strip_prefix("##")?;
    (name.is_empty() || name.starts_with([' ', '\t'])).then(|| name.trim())
}

/// A line that opens or closes fenced code.
#[derive(Clone, Copy, Debug)]
struct Fence {
    mark: char,
    count: usize,
    /// Whether something stands behind the marks: such a line closes nothing.
    has_info: bool,
}

impl Fence {
    fn closes(self, open: &Self) -> bool {
        !self.has_info && self.mark == open.mark && self.count >= open.count
    }
}

fn fence(line: &str) -> Option<Fence> {
    let line = unindented(line)?;
    let mark = line.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let info = line.trim_start_matches(mark);
    let count = line.len() - info.len();
    // Backticks behind backticks are code in a line of text.
    let is_fence = count >= FENCE_MARKS && !(mark == '`' && info.contains('`'));
    is_fence.then(|| Fence { mark, count, has_info: !info.trim().is_empty() })
}

/// A line without its indentation, unless that makes code of it.
fn unindented(line: &str) -> Option<&str> {
    let text = line.trim_start_matches(' ');
    (line.len() - text.len() <= INDENT).then_some(text)
}

/// Looks for names that stand twice, and for placeholders that nothing can be put in for.
fn check(chain: &Chain, drafts: &[Draft], problems: &mut Vec<Problem>) {
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for step in chain.steps.iter().filter(|step| !step.name.is_empty()) {
        if let Some(first) = seen.get(step.name.as_str()) {
            let text = format!("a second step `{}`; the first is in line {first}", visible::line(&step.name));
            problems.push(Problem::new(step.line, text));
        } else {
            seen.insert(&step.name, step.line);
        }
    }
    for (place, draft) in drafts.iter().enumerate() {
        for wanted in draft.step.prompt.wanted() {
            let line = draft.prompt_line + wanted.line;
            problems.extend(unfilled(chain, place, &wanted.what).map(|problem| Problem { line, ..problem }));
        }
    }
}

/// Why nothing can be put in for a placeholder of the step at `place`.
fn unfilled(chain: &Chain, place: usize, what: &Value) -> Option<Problem> {
    let before = chain.before(place).map_or(0, |group| group.end);
    let name = match what {
        Value::Task => return None,
        Value::Previous if before > 0 => return None,
        Value::Previous => return Some(Problem::new(0, "{previous}: no step comes before this one")),
        Value::Misspelt(name, meant) => {
            let problem = Problem::new(0, format!("{{{name}}}: there is no such placeholder"));
            return Some(problem.hint(format!("did you mean {{{meant}}}? {{ {name} }} with blanks is text")));
        }
        Value::Step(name) => name,
    };
    let shown = visible::line(name);
    Some(match chain.place(name) {
        Some(other) if other < before => return None,
        Some(other) if other == place => Problem::new(0, format!("{{steps.{shown}}}: that is this step itself")),
        Some(other)
            if other < place || chain.groups().iter().any(|group| group.contains(&place) && group.contains(&other)) =>
        {
            Problem::new(0, format!("{{steps.{shown}}}: that step runs beside this one"))
        }
        Some(_) => Problem::new(0, format!("{{steps.{shown}}}: that step comes later")),
        None => {
            let problem = Problem::new(0, format!("{{steps.{shown}}}: there is no such step"));
            let earlier = chain.steps.iter().take(before).map(|step| step.name.as_str());
            match closest(name, earlier.clone()) {
                Some(meant) => problem.hint(format!("did you mean {{steps.{meant}}}?")),
                None if before > 0 => {
                    problem.hint(format!("those before are {}", earlier.collect::<Vec<_>>().join(", ")))
                }
                None => problem,
            }
        }
    })
}
