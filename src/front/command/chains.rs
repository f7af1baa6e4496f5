//! `agent chains`: which chains there are here, where from, their steps, and what is wrong with those that cannot be used.

use std::io::Write;
use std::path::Path;

use serde_json::{Value, json};

use super::{DONE, Form, written};
use crate::base::text::visible;
use crate::product::chain::find::{Found, Source, hidden};
use crate::product::chain::{Problem, Step};
use crate::product::error::Error;

/// Prints the chains that were found, which are in the order in which they are looked for.
///
/// # Errors
///
/// When it cannot be printed.
pub fn run(found: &[Found], cwd: &Path, form: Form, out: &mut dyn Write) -> Result<u8, Error> {
    let hidden = hidden(found);
    let each = found.iter().zip(&hidden).map(|(chain, by)| (chain, by.and_then(|by| found.get(by))));
    let text = match form {
        Form::Json => format!("{}\n", Value::from(each.map(|(chain, by)| value(chain, by)).collect::<Vec<_>>())),
        Form::Text => each.map(|(chain, by)| block(chain, by, cwd)).collect::<Vec<_>>().join("\n"),
    };
    written(out.write_all(text.as_bytes()).and_then(|()| out.flush()).map(|()| DONE))
}

fn value(found: &Found, by: Option<&Found>) -> Value {
    let path = |found: &Found| found.path.as_ref().map(|path| path.to_string_lossy().into_owned());
    let (description, steps, problems, warnings) = match &found.chain {
        Ok(chain) => {
            let steps = chain.steps.iter().map(step_value).collect();
            let withheld = chain.withheld.iter().map(|text| json!({"line": 0, "text": text, "hint": null}));
            let warnings: Vec<_> = chain.warnings.iter().map(problem_value).chain(withheld).collect();
            (Some(&chain.description), steps, Vec::new(), warnings)
        }
        Err(problems) => (None, Vec::new(), problems.iter().map(problem_value).collect(), Vec::new()),
    };
    json!({
        "name": found.name,
        "description": description,
        "source": found.source.as_str(),
        "path": path(found),
        "steps": steps,
        "problems": problems,
        "warnings": warnings,
        "hidden_by": by.map(|by| path(by).unwrap_or_else(|| Source::BuiltIn.as_str().to_owned())),
    })
}

fn step_value(step: &Step) -> Value {
    let Step { name, line: _, tools, max_iterations, provider: _, model: _, is_parallel, prompt: _ } = step;
    json!({"name": name, "tools": tools, "max_iterations": max_iterations, "model": step.who(), "parallel": is_parallel})
}

fn problem_value(problem: &Problem) -> Value {
    let Problem { line, text, hint } = problem;
    json!({"line": line, "text": text, "hint": hint})
}

/// A chain for people: its name and what it is for, where it is from, and a line for each step.
fn block(found: &Found, by: Option<&Found>, cwd: &Path) -> String {
    let place = found.place(cwd);
    let place = match (found.source, by) {
        (Source::BuiltIn, None) => place,
        (Source::BuiltIn, Some(by)) => format!("{place}, hidden by {}", by.place(cwd)),
        (Source::File | Source::Project | Source::User, None) => format!("{}: {place}", found.source.as_str()),
        (Source::File | Source::Project | Source::User, Some(by)) => {
            format!("{}: {place}, hidden by {}", found.source.as_str(), by.place(cwd))
        }
    };
    let name = visible::line(&found.name);
    match &found.chain {
        Ok(chain) => {
            let about = match chain.description.as_str() {
                "" => String::new(),
                text => format!("  {}", visible::line(text)),
            };
            let steps = chain.steps.iter().enumerate().map(|(place, step)| step_line(place + 1, step));
            let warnings = chain.warnings.iter().map(|problem| problem_line(problem, found, cwd));
            let withheld = chain.withheld.iter().map(|text| format!("  ! {text}\n"));
            let odd: String = warnings.chain(withheld).collect();
            format!("{name}{about}\n  {place}\n{}{odd}", steps.collect::<String>())
        }
        Err(problems) => {
            let lines = problems.iter().map(|problem| problem_line(problem, found, cwd));
            format!("{name}  cannot be used\n  {place}\n{}", lines.collect::<String>())
        }
    }
}

fn problem_line(problem: &Problem, found: &Found, cwd: &Path) -> String {
    let Problem { line, text, hint } = problem;
    let at = if *line == 0 { String::new() } else { format!(":{line}") };
    let hint = hint.as_ref().map_or_else(String::new, |hint| format!(" ({hint})"));
    format!("  ! {}{at}: {text}{hint}\n", found.place(cwd))
}

fn step_line(number: usize, step: &Step) -> String {
    let Step { name, line: _, tools, max_iterations, provider: _, model: _, is_parallel, prompt: _ } = step;
    let tools = match tools.as_deref() {
        None => "all tools".to_owned(),
        Some([]) => "no tools".to_owned(),
        Some(tools) => visible::line(&tools.join(", ")).into_owned(),
    };
    let calls = max_iterations.map(|most| format!("at most {most} model calls"));
    let model = step.who().map(|model| visible::line(&model).into_owned());
    let beside = is_parallel.then(|| "parallel".to_owned());
    let facts: Vec<_> = [Some(tools), calls, model, beside].into_iter().flatten().collect();
    format!("  {number}. {}: {}\n", visible::line(name), facts.join(" · "))
}
