//! What a template asks for besides its text, as settings of the one task it is used for: a model, and fewer tools.
//!
//! Takes away and never adds: tools stay within those that are on offer, and a project's template chooses among the models
//! of the provider in use.

use globset::{Glob, GlobSet, GlobSetBuilder};
use serde_json::Value;

use super::Expanded;
use crate::base::env::Env;
use crate::base::text::{cut, visible};
use crate::kernel::event::{Notice, NoticeCode};
use crate::product::config::{self, Flag, Flags, Loaded, naming};
use crate::product::error::Error;
use crate::product::skill::reach::Origin;
use crate::product::tool::lean;

/// The glob that all tools fit.
const ALL: &str = "*";
/// A glob that no tool fits.
const NO_TOOL: &str = "";
/// The most characters of the tools that a notice tells.
const WANTED_CHARS: usize = 200;
/// The setting, and where messages say it comes from.
const MODEL: (&str, &str) = ("model", "`model` of the prompt");

/// The settings for a task that begins with this. A model of the command line goes before the template's.
///
/// # Errors
///
/// As [`config::load`], where the model is another one.
pub fn apply(expanded: &Expanded, mut loaded: Loaded, env: &Env, flags: &Flags) -> Result<Loaded, Error> {
    if let Some(model) = &expanded.model
        && !flags.values.iter().any(|flag| flag.key == MODEL.0)
    {
        // What somebody trusts in a project does not cover its prompts.
        if expanded.origin == Origin::Project && !naming::stays(model, &loaded.values) {
            let text = format!(
                "The project's prompt asks for the model {}, of another provider, and is not heeded; --model can choose it.",
                visible::line(model)
            );
            loaded.notices.push(Notice::new(NoticeCode::Trust, text));
        } else {
            let flag = Flag { option: MODEL.1, key: MODEL.0, value: Value::from(model.as_str()) };
            let values = flags.values.iter().cloned().chain([flag]).collect();
            loaded = config::load(env, &Flags { values, ..flags.clone() })?;
        }
    }
    if let Some(wanted) = &expanded.tools {
        let enabled = lean::spelt_out(&loaded.settings.tools.enabled).into_owned();
        loaded.settings.tools.enabled = narrowed(&enabled, wanted);
        if loaded.settings.tools.enabled.iter().all(|name| name == NO_TOOL) {
            loaded.notices.push(Notice::new(NoticeCode::Config, none_left(wanted)));
        }
    }
    Ok(loaded)
}

/// What a person is told of a prompt that is answered without tools.
fn none_left(wanted: &[String]) -> String {
    if wanted.is_empty() {
        return "The prompt's `tools` names none: it is answered without tools.".to_owned();
    }
    let wanted = visible::line(&cut::ellipsis(&wanted.join(", "), WANTED_CHARS)).into_owned();
    format!("The prompt leaves no tools: of those it asks for ({wanted}) none is on offer.")
}

/// The names and globs of `wanted` that go no further than `enabled`, where nothing enabled is everything.
fn narrowed(enabled: &[String], wanted: &[String]) -> Vec<String> {
    let (every, asked) = (set(enabled), set(wanted));
    let is_name = |name: &&String| !name.contains(['*', '?', '[', '{']);
    let mut both: Vec<String> = if enabled.is_empty() || enabled.iter().any(|name| name == ALL) {
        wanted.to_vec()
    } else {
        let inside = wanted.iter().filter(is_name).filter(|name| every.is_match(name.as_str()));
        let outside = enabled.iter().filter(is_name).filter(|name| asked.is_match(name.as_str()));
        let same = wanted.iter().filter(|glob| enabled.contains(glob));
        inside.chain(outside).chain(same).cloned().collect()
    };
    both.sort_unstable();
    both.dedup();
    // An empty list would be all of them.
    if both.is_empty() {
        both.push(NO_TOOL.to_owned());
    }
    both
}

/// What does not parse fits nothing here, and is told where the tools are chosen.
fn set(patterns: &[String]) -> GlobSet {
    let mut set = GlobSetBuilder::new();
    for glob in patterns.iter().filter_map(|pattern| Glob::new(pattern).ok()) {
        set.add(glob);
    }
    set.build().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_only_become_fewer() {
        let list =
            |names: &str| names.split(' ').filter(|name| !name.is_empty()).map(str::to_owned).collect::<Vec<_>>();
        for (enabled, wanted, both) in [
            ("", "read_file search_*", "read_file search_*"),
            ("*", "read_file search_*", "read_file search_*"),
            ("read_file search_files", "*_file", "read_file"),
            ("read_*", "read_* write_file", "read_*"),
            ("read_*", "write_file exec*", ""),
            ("", "", ""),
        ] {
            let expected = if both.is_empty() { vec![NO_TOOL.to_owned()] } else { list(both) };
            assert_eq!(narrowed(&list(enabled), &list(wanted)), expected, "{enabled} {wanted}");
        }
    }

    #[test]
    fn a_prompt_without_tools_is_told() {
        assert!(none_left(&[]).contains("names none"));
        assert!(none_left(&["exec*".to_owned(), "nosuch".to_owned()]).contains("(exec*, nosuch) none is on offer"));
    }
}
