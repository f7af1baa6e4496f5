//! What every request holds besides the conversation, and what the node is told about it.

use std::sync::Arc;

use super::fit::Load;
use super::plan::Mode;
use crate::base::env::Env;
use crate::base::text::mask::Mask;
use crate::kernel::compact;
use crate::kernel::event::Notice;
use crate::kernel::node::{self, CHARS_PER_TOKEN};
use crate::kernel::retry::Policy;
use crate::kernel::toolbox::Toolbox;
use crate::product::config::Loaded;
use crate::product::config::settings::Settings;
use crate::product::prompt;
use crate::product::rules::touched::Touched;
use crate::product::rules::{self, Place};
use crate::product::skill::Found;
use crate::product::tool::lean;
use crate::product::tool::plan as update_plan;
use crate::product::tool::workspace::Workspace;

/// The rules that the system prompt holds, and what knows those of deeper folders.
pub(super) fn instructions(
    loaded: &Loaded,
    env: &Env,
    workspace: &Arc<Workspace>,
    mask: &Mask,
    notices: &mut Vec<Notice>,
) -> (String, Arc<Touched>) {
    let place = Place::new(Arc::clone(workspace), env.home.clone(), loaded.paths.config_dir.clone());
    let mut rules = rules::load(&place);
    notices.append(&mut rules.notices);
    mask.apply(&mut rules.text);
    (rules.text.clone(), Arc::new(Touched::new(place, rules)))
}

/// The system prompt for these tools.
///
/// `rules` and the list of `skills` stand between the built-in text and what the user appends. `brief`: what stands at
/// its end.
pub(super) fn system(
    settings: &Settings,
    tools: &Toolbox,
    rules: &str,
    skills: &Found,
    mode: Mode,
    brief: Option<&str>,
) -> String {
    let names: Vec<&str> = tools.names().collect();
    let size = if lean::is_in(&settings.tools.enabled) { prompt::Size::Lean } else { prompt::Size::Full };
    let (own, append) = (settings.system_prompt.as_deref(), settings.append_system_prompt.as_deref());
    let mut text = prompt::system(&names, size, own, &[rules, &skills.catalogue(tools).0], append);
    let plan = (mode == Mode::Plan).then_some(prompt::PLAN);
    for more in plan.into_iter().chain(brief).map(str::trim).filter(|more| !more.is_empty()) {
        text.push_str("\n\n");
        text.push_str(more);
    }
    text
}

pub(super) fn node_settings(settings: &Settings, system: &str, tools: &Toolbox) -> node::Settings {
    let offered: usize = tools
        .offers()
        .iter()
        .map(|offer| offer.name.len() + offer.description.len() + offer.parameters.to_string().len())
        .sum();
    node::Settings {
        max_turns: settings.max_turns.map(|most| u32::try_from(most).unwrap_or(u32::MAX)),
        last_words: false,
        max_cost: settings.max_cost,
        retry: Policy { max_retries: settings.http.max_retries, cap: settings.http.retry_cap },
        loop_detection: settings.loop_detection,
        overhead_tokens: (system.len() + offered) as u64 / CHARS_PER_TOKEN,
        compaction: compact::Settings {
            auto: settings.compaction.auto,
            reserve_tokens: settings.compaction.reserve_tokens,
            keep_tokens: settings.compaction.keep_tokens,
            system: prompt::SUMMARY.trim_ascii_end().into(),
            plan_tool: Some(update_plan::NAME),
        },
    }
}

pub(super) fn load(settings: &Settings, node: &node::Settings, tools: &Toolbox) -> Load {
    Load { tokens: node.overhead_tokens, tools: tools.names().count(), is_lean: lean::is_in(&settings.tools.enabled) }
}
