//! Names of tools in the settings: one that no tool has is a typing error, and would do nothing without a word.
//!
//! Looks at names only; what a pattern or a glob means is told nowhere.

use crate::base::text::likeness::closest;
use crate::base::text::visible;
use crate::kernel::event::{Notice, NoticeCode};
use crate::product::config::Loaded;
use crate::product::config::layer::Source;
use crate::product::error::Error;
use crate::product::tool::lean;

/// Tools of parts that are not built yet: a configuration may speak of them already.
pub const LATER: [&str; 2] = ["ask_user", "find_tool"];

/// Tools of MCP servers, which are known only once these run.
const MCP: &str = "mcp__";

/// So many names are told; a project may bring thousands.
const MAX_NAMED: usize = 8;
/// A name is told up to here, in characters.
const MAX_NAME: usize = 40;

/// Looks for names that neither `tools` nor a later part has. Those of files and variables are told.
///
/// # Errors
///
/// Usage: one on the command line.
pub fn check(loaded: &Loaded, tools: &[&str]) -> Result<Option<Notice>, Error> {
    let known = || tools.iter().copied().chain(LATER);
    let is_odd = |key: &str, name: &str| {
        let is_literal = !name.contains(['*', '?', '[', '{']);
        let is_set = key == "tools.enabled" && name == lean::WORD;
        // The empty one stands for no tool at all.
        is_literal && !name.is_empty() && !name.starts_with(MCP) && !is_set && !known().any(|tool| tool == name)
    };
    for (key, option) in [("tools.enabled", "--tools"), ("tools.disabled", "--exclude-tools")] {
        let said = loaded.values.get(key).into_iter().flat_map(|held| &held.said);
        let typed = said.filter(|(source, _)| matches!(source, Source::Option(_)));
        let names = typed.flat_map(|(_, value)| value.as_array()).flatten().filter_map(|name| name.as_str());
        if let Some(name) = names.map(str::trim).find(|name| is_odd(key, name)) {
            let error = Error::usage(format!("{option}: there is no tool `{}`", visible::line(name)));
            return Err(match closest(name, known()) {
                Some(meant) => error.hint(format!("did you mean `{meant}`?")),
                None => error.hint(format!("the tools are {}", tools.join(", "))),
            });
        }
    }
    let odd: Vec<_> = written(loaded).into_iter().filter(|(key, name)| is_odd(key, name)).collect();
    if odd.is_empty() {
        return Ok(None);
    }
    let told = odd.iter().take(MAX_NAMED).map(|(key, name)| {
        let shown = visible::line(&name.chars().take(MAX_NAME).collect::<String>()).into_owned();
        match closest(name, known()) {
            Some(meant) => format!("`{shown}` in {key} (did you mean `{meant}`?)"),
            None => format!("`{shown}` in {key}"),
        }
    });
    let told = told.collect::<Vec<_>>().join(", ");
    let more = match odd.len().saturating_sub(MAX_NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Ok(Some(Notice::new(NoticeCode::Config, format!("No tool has this name, so that it does nothing: {told}{more}."))))
}

/// The names as they were written, each with the key it stands in.
fn written(loaded: &Loaded) -> Vec<(&'static str, &str)> {
    let settings = &loaded.settings;
    let permissions = &settings.permissions;
    let lists = [
        ("tools.enabled", &settings.tools.enabled),
        ("tools.disabled", &settings.tools.disabled),
        ("permissions.allow", &permissions.allow),
        ("permissions.ask", &permissions.ask),
        ("permissions.deny", &permissions.deny),
    ];
    let listed = lists.into_iter().flat_map(|(key, names)| {
        // A rule may go on with a pattern in brackets.
        names.iter().map(move |name| (key, name.split('(').next().unwrap_or(name).trim()))
    });
    listed.chain(settings.tools.limits.keys().map(|name| ("tools.limits", name.as_str()))).collect()
}
