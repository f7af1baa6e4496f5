//! The making of models: from a choice to somebody who can be asked, and what a person should know of it first.
//!
//! Chooses nobody, and sends nothing.

use std::path::Path;
use std::sync::Arc;

use super::fit::{self, Load};
use super::plan::Mode;
use super::request::{instructions, load, node_settings, system};
use super::{toolbox, workspace};
use crate::base::env::Env;
use crate::base::text::mask::Mask;
use crate::kernel::event::{Notice, NoticeCode};
use crate::model::error::{ErrorKind, ModelError};
use crate::model::http::{Endpoint, connect};
use crate::model::provider::compat::Compat;
use crate::model::replay::Replay;
use crate::model::{Api, Model};
use crate::product::agent::Agent;
use crate::product::config::Loaded;
use crate::product::error::Error;
use crate::product::provider::Choice;
use crate::product::provider::network::{Network, network};
use crate::product::session::blob::Blobs;
use crate::product::session::recording::{Recording, Results};
use crate::product::skill::Skills;

/// Lets another model answer from now on: the conversation, the tools and what is allowed stay. What a person should know
/// is returned. Not while a task runs.
///
/// # Errors
///
/// Usage or provider for what is wrong with the model, which then stays the one it was; and a session that cannot be
/// written, which goes on in memory.
pub fn switch(agent: &mut Agent, choice: &Choice, loaded: &Loaded, env: &Env) -> Result<Vec<Notice>, Error> {
    let settings = &loaded.settings;
    let load = load(settings, &node_settings(settings, &agent.system, &agent.tools), &agent.tools);
    let Asked { model, recorded, notices } = asked(choice, loaded, env, load, &agent.redactor.mask())?;
    agent.node.set_model(model.info().clone());
    agent.model = model;
    agent.recorded = recorded;
    agent.session.set_price(choice.info.price);
    agent.session.append_model(&choice.info.origin)?;
    Ok(notices)
}

/// A model for [`crate::kernel::succession::Chosen`], and what a person should know of it: for a task that runs. Its key
/// is hidden by `mask` from then on.
///
/// # Errors
///
/// As [`switch`], but for the session.
pub fn answering(
    choice: &Choice,
    loaded: &Loaded,
    env: &Env,
    mask: &Mask,
) -> Result<(Arc<dyn Model>, Vec<Notice>), Error> {
    let settings = &loaded.settings;
    // The task has the tools that run; these weigh as much.
    let workspace = Arc::new(workspace(loaded, env)?);
    let tools = toolbox(loaded, env, &workspace, &Arc::default(), &Mask::default())?;
    let (rules, _) = instructions(loaded, env, &workspace, mask, &mut Vec::new());
    let skills = Skills::new(env, loaded, Arc::clone(&workspace)).find();
    let system = system(settings, &tools, &rules, &skills, Mode::Work, None);
    let load = load(settings, &node_settings(settings, &system, &tools), &tools);
    asked(choice, loaded, env, load, mask).map(|Asked { model, recorded: _, notices }| (model, notices))
}

/// A model, and what belongs to it.
pub(super) struct Asked {
    pub(super) model: Arc<dyn Model>,
    /// The results that a record holds.
    pub(super) recorded: Option<Results>,
    /// What a person should know.
    pub(super) notices: Vec<Notice>,
}

/// Makes the model of a choice, for requests that hold `load` besides the conversation. A key that nobody knew before, as
/// a command tells one, is hidden by `mask` from then on.
///
/// # Errors
///
/// Usage for settings that cannot be used, provider for a model that cannot be asked or has no room.
pub(super) fn asked(choice: &Choice, loaded: &Loaded, env: &Env, load: Load, mask: &Mask) -> Result<Asked, Error> {
    if let Some(key) = &choice.key {
        mask.add(key.expose());
    }
    let (model, recorded, of_network) = match choice.api {
        Api::Replay => {
            let blobs = Blobs::new(&loaded.paths.data_dir);
            let Recording { origin: _, replies, results } = Recording::read(Path::new(&choice.model), &blobs)?;
            let model: Arc<dyn Model> = Arc::new(Replay::new(choice.info.clone(), replies).at(choice.pace));
            (model, Some(results), None)
        }
        Api::OpenaiCompletions | Api::OpenaiResponses | Api::AnthropicMessages | Api::GoogleGenerativeAi => {
            let (model, notice) = connected(choice, loaded, env)?;
            (model, None, notice)
        }
    };
    let unfit = fit::check(choice, load)?;
    let notices = choice.notices.iter().cloned().chain(of_network).chain(unfit).chain(unpriced(choice, loaded));
    Ok(Asked { model, recorded, notices: notices.collect() })
}

pub(super) fn connected(
    choice: &Choice,
    loaded: &Loaded,
    env: &Env,
) -> Result<(Arc<dyn Model>, Option<Notice>), Error> {
    let mut compat = Compat::for_provider(&choice.provider, &choice.base_url);
    // On the other wires nobody is known to write calls as text.
    compat.text_calls &= choice.api == Api::OpenaiCompletions;
    compat
        .apply(&choice.compat)
        .map_err(|problem| Error::usage(format!("providers.{}.compat: {problem}", choice.provider)))?;
    let Network { options, notice } = network(loaded, env, &choice.provider, &choice.base_url)?;
    let endpoint = Endpoint {
        info: choice.info.clone(),
        api: choice.api,
        base_url: choice.base_url.clone(),
        key: choice.key.as_ref().map(|key| key.expose().to_owned()),
        headers: choice.headers.clone(),
        compat,
    };
    let model = connect(endpoint, &options).map_err(|error| unusable(&choice.provider, &error))?;
    Ok((model, notice))
}

/// Nothing has been sent yet: it is what the settings say about the provider that cannot be used.
fn unusable(provider: &str, error: &ModelError) -> Error {
    match error.kind {
        ErrorKind::Auth => Error::provider(error.to_string())
            .hint(format!("`agent auth list` shows where the key of {provider} is from")),
        ErrorKind::InvalidRequest
        | ErrorKind::RateLimit
        | ErrorKind::Overload
        | ErrorKind::Network
        | ErrorKind::Timeout
        | ErrorKind::Context
        | ErrorKind::Picture
        | ErrorKind::Seal
        | ErrorKind::Length
        | ErrorKind::Empty
        | ErrorKind::Refused
        | ErrorKind::Cancelled
        | ErrorKind::Internal => Error::usage(format!("providers.{provider}: {error}"))
            .hint(format!("`agent config show providers.{provider}` shows what is set, and where")),
    }
}

/// What to say where a budget cannot be kept.
fn unpriced(choice: &Choice, loaded: &Loaded) -> Option<Notice> {
    let is_unknown = loaded.settings.max_cost.is_some() && choice.info.price.is_none();
    let text = || format!("The price of {} is unknown, so that max_cost stops nothing.", choice.model);
    is_unknown.then(|| Notice::new(NoticeCode::Config, text()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::product::config::tests::two;
    use crate::product::error::Kind;
    use serde_json::json;

    #[test]
    fn what_the_settings_say_wrongly_about_a_provider_is_wrong_use() {
        for (base_url, name, part) in [
            ("http://h:99999/v1", "X-A", "invalid port"),
            ("http://:80/v1", "X-A", "base_url"),
            ("http://h/v1", "bad name", "the header `bad name` cannot be sent"),
        ] {
            let world = two(
                &json!({"providers": {"mock": {"base_url": base_url, "headers": {name: "1"}, "models": [{"id": "test-model"}]}}}),
            );
            let (loaded, choice) = (world.load(), world.choose().unwrap());
            let Err(error) = answering(&choice, &loaded, &world.env, &Mask::default()) else { panic!("{base_url}") };
            let told = error.to_string();
            assert!(error.kind == Kind::Usage && told.starts_with("providers.mock: ") && told.contains(part), "{told}");
            assert!(error.hints[0].contains("`agent config show providers.mock`"));
        }
    }

    #[test]
    fn a_model_chosen_while_a_task_runs_is_judged_as_at_the_start() {
        let world = two(&json!({"max_cost": 1}));
        let (loaded, mut choice) = (world.load(), world.choose().unwrap());
        choice.info.price = None;
        choice.notices.push(Notice::new(NoticeCode::Config, "It ends."));
        choice.info.window = Some(1_000_000);
        let (_, notices) = answering(&choice, &loaded, &world.env, &Mask::default()).unwrap();
        let texts: Vec<_> = notices.into_iter().map(|notice| notice.text).collect();
        assert_eq!(texts, ["It ends.", "The price of test-model is unknown, so that max_cost stops nothing."]);
        choice.info.window = Some(2_000);
        let error = answering(&choice, &loaded, &world.env, &Mask::default()).err().unwrap();
        assert!(error.to_string().contains("the window of test-model holds 2,000"), "{error}");
    }
}
