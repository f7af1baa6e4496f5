//! Making a plan: what is offered and said while nothing may be changed, and the way back.
//!
//! What is refused then is for `product::permission` to say.

use super::request::system;
use crate::kernel::tool::Risk;
use crate::kernel::toolbox::Toolbox;
use crate::product::agent::Agent;
use crate::product::config::Loaded;
use crate::product::crew;
use crate::product::permission::{PLANNING, Rights};
use crate::product::tool::fetch;

/// What a task is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// To be done.
    Work,
    /// To be planned.
    Plan,
}

/// What holds now.
pub(super) fn mode(rights: &Rights) -> Mode {
    if rights.is_planning() { Mode::Plan } else { Mode::Work }
}

/// Of these tools those that look, and those through which somebody else may look.
fn offered(tools: &Toolbox) -> Toolbox {
    tools.keeping_back(|spec| spec.risk == Risk::Safe || [crew::tool::NAME, fetch::NAME].contains(&spec.name), PLANNING)
}

/// What is offered of these tools.
pub(super) fn of(tools: &Toolbox, mode: Mode) -> Toolbox {
    match mode {
        Mode::Plan => offered(tools),
        Mode::Work => tools.clone(),
    }
}

/// Begins to plan, or to work, with the conversation as it is. Not while a task runs.
pub fn set_mode(agent: &mut Agent, mode: Mode, loaded: &Loaded) {
    if let Some(rights) = &agent.rights {
        rights.set_planning(mode == Mode::Plan);
    }
    agent.tools = of(&agent.reserve, mode);
    agent.system =
        system(&loaded.settings, &agent.tools, &agent.touched.at_start().text, &agent.skills, mode, None).into();
}
