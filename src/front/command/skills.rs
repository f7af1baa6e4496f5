//! `agent skills`: the skills and prompt templates there are here, what hides what, and what is wrong with a file.
//!
//! Only words and columns; what there is comes from `product::skill` and `product::template`.

use std::io::Write;
use std::path::Path;

use serde_json::{Value, json};

use super::slash::{COMMANDS, Slash};
use super::{DONE, Form, written};
use crate::base::path;
use crate::base::text::cut;
use crate::base::text::visible;
use crate::base::text::width::width;
use crate::product::error::Error;
use crate::product::skill::{self, Missing, Problem, Skill, Source};
use crate::product::template::{self, Knowledge, Template};

/// A description is shown up to here, in characters.
const DESCRIPTION_CHARS: usize = 160;

/// The names of commands, which a template cannot have.
pub fn reserved() -> Vec<&'static str> {
    COMMANDS.iter().flat_map(Slash::names).collect()
}

/// Prints them. Paths are told from `home`.
///
/// # Errors
///
/// When it cannot be printed.
pub fn run(knowledge: &Knowledge, home: Option<&Path>, form: Form, out: &mut dyn Write) -> Result<u8, Error> {
    let (skills, templates) = (knowledge.skills.find(), knowledge.templates.find());
    let text = match form {
        Form::Json => format!("{}\n", value(&skills, &templates)),
        Form::Text => page(&skills, &templates, home),
    };
    written(out.write_all(text.as_bytes()).and_then(|()| out.flush()).map(|()| DONE))
}

/// One value; fields are only added.
fn value(skills: &skill::Found, templates: &template::Found) -> Value {
    let skill::Found { skills, hidden, problems } = skills;
    let template::Found { templates, hidden: hidden_templates, problems: of_templates } = templates;
    let hidden = hidden.iter().map(|hidden| {
        json!({"name": hidden.skill.name, "location": hidden.skill.source.location(), "by": hidden.by.location()})
    });
    let hidden_templates = hidden_templates.iter().map(|hidden| {
        json!({"name": hidden.template.name, "location": hidden.template.path.display().to_string(),
            "by": hidden.by.as_ref().map(|path| path.display().to_string())})
    });
    json!({
        "skills": skills.iter().map(skill_value).collect::<Vec<_>>(),
        "hidden": hidden.collect::<Vec<_>>(),
        "prompts": templates.iter().map(template_value).collect::<Vec<_>>(),
        "hidden_prompts": hidden_templates.collect::<Vec<_>>(),
        "problems": problems.iter().chain(of_templates).map(problem_value).collect::<Vec<_>>(),
    })
}

fn skill_value(skill: &Skill) -> Value {
    let Skill { name, description, source, always, people_only, missing: Missing { programs, variables } } = skill;
    json!({
        "name": name, "description": description, "from": source.origin().as_str(), "location": source.location(),
        "always": always, "people_only": people_only, "missing": {"bins": programs, "env": variables},
    })
}

fn template_value(template: &Template) -> Value {
    let Template { name, description, hint, model, tools, path, origin } = template;
    json!({
        "name": name, "description": description, "argument_hint": hint, "model": model, "tools": tools,
        "from": origin.as_str(), "location": path.display().to_string(),
    })
}

fn problem_value(problem: &Problem) -> Value {
    let Problem { path, line, text, is_used } = problem;
    json!({"path": path.display().to_string(), "line": line, "text": text, "used": is_used})
}

fn page(skills: &skill::Found, templates: &template::Found, home: Option<&Path>) -> String {
    let shown = |path: &Path| path::shown(path, home);
    let place = |source: &Source| match source {
        Source::File { path, .. } => shown(path),
        Source::BuiltIn(_) => source.location(),
    };
    let rows = skills.skills.iter().map(|skill| {
        let what = [(skill.always, "always there"), (skill.people_only, "for people only")];
        let what = what.iter().filter(|(is, _)| *is).map(|(_, word)| (*word).to_owned()).chain(skill.missing.told());
        (skill.name.clone(), place(&skill.source), skill.description.clone(), what.collect())
    });
    let mut text = section("Skills: the model loads one with load_skill, you with /skill:NAME", rows.collect());
    let rows = templates.templates.iter().map(|template| {
        let Template { name, description, hint, model, tools, path, origin: _ } = template;
        let name = format!("/{name}{}", hint.as_ref().map(|hint| format!(" {hint}")).unwrap_or_default());
        let model = model.as_ref().map(|model| format!("model: {model}"));
        let tools = tools.as_ref().map(|tools| format!("tools: {}", tools.join(", ")));
        (name, shown(path), description.clone(), model.into_iter().chain(tools).collect())
    });
    let rows: Vec<_> = rows.collect();
    if !rows.is_empty() {
        text.push_str(&section("\nPrompts", rows));
    }
    let hidden = skills.hidden.iter().map(|hidden| {
        let skill::Hidden { skill, by } = hidden;
        format!("  {}: {} is hidden by {}\n", skill.name, place(&skill.source), place(by))
    });
    let hidden_templates = templates.hidden.iter().map(|template::Hidden { template, by }| {
        let by = by.as_deref().map_or_else(|| format!("the command /{}", template.name), shown);
        format!("  /{}: {} is hidden by {by}\n", template.name, shown(&template.path))
    });
    push_list(&mut text, "\nHidden\n", hidden.chain(hidden_templates));
    let problems = skills.problems.iter().chain(&templates.problems).map(|problem| {
        let line = problem.line.map(|line| format!(":{line}")).unwrap_or_default();
        let used = if problem.is_used { "" } else { "; not used" };
        format!("  {}{line}: {}{used}\n", shown(&problem.path), visible::line(&problem.text))
    });
    push_list(&mut text, "\nProblems\n", problems);
    text
}

/// Name and place in columns; below them what it is for, and what there is to say besides.
fn section(title: &str, rows: Vec<(String, String, String, Vec<String>)>) -> String {
    let widest = rows.iter().map(|(name, ..)| width(name)).max().unwrap_or(0);
    let mut text = format!("{title}\n");
    for (name, place, description, more) in rows {
        let blank = " ".repeat(widest.saturating_sub(width(&name)));
        text.push_str(&format!("  {}{blank}  {place}\n", visible::line(&name)));
        for line in [cut::ellipsis(&description, DESCRIPTION_CHARS)].into_iter().chain(more) {
            if !line.is_empty() {
                text.push_str(&format!("      {}\n", visible::line(&line)));
            }
        }
    }
    text
}

fn push_list(text: &mut String, title: &str, lines: impl Iterator<Item = String>) {
    let lines: String = lines.collect();
    if !lines.is_empty() {
        text.push_str(title);
        text.push_str(&lines);
    }
}
