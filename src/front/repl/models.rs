//! The models to choose from, as the chat shows them: what can be used now, on whose word, and what it costs.
//!
//! Only words and order; who can be asked is known to `product::provider`.

use crate::base::env::Env;
use crate::base::text::numbers::tokens;
use crate::model::ModelInfo;
use crate::model::message::Origin;
use crate::product::config::Loaded;
use crate::product::config::naming::is_known;
use crate::product::error::Error;
use crate::product::provider::choose::choose_exactly;
use crate::product::provider::named::meant;
use crate::product::provider::{Choice, Listed, Servers, listed};

use super::worker::Setup;

/// A model that can be used.
#[derive(Clone, Debug, PartialEq)]
pub struct Offered {
    /// What is known of it.
    pub info: ModelInfo,
    /// Who says that it is there.
    pub from: String,
}

impl Offered {
    /// How much fits: `200k`; empty where that is not known.
    pub fn window(&self) -> String {
        self.info.window.map(tokens).unwrap_or_default()
    }

    /// What a million tokens cost, in and out: `$3 / $15`.
    pub fn price(&self) -> String {
        let price = |price: f64| {
            let text = format!("{price:.2}");
            text.strip_suffix(".00").map_or_else(|| text.clone(), str::to_owned)
        };
        let known = self.info.price.map(|known| format!("${} / ${}", price(known.input), price(known.output)));
        known.unwrap_or_else(|| "price unknown".to_owned())
    }
}

/// Everything that can be asked now. Asks the servers of this machine, which takes up to
/// [`crate::product::provider::probe::PROBE_BUDGET`].
pub fn offered(loaded: &Loaded, env: &Env) -> Vec<Offered> {
    let offered = |Listed { info, from, .. }| Offered { info, from: from.as_str().to_owned() };
    listed(loaded, env, Servers::Asked).into_iter().map(offered).collect()
}

/// Everything needed to ask the model that `spec` means, in a session that began with `start` and in which `current`
/// answers. Runs what the settings have for a key.
///
/// # Errors
///
/// Usage: nobody lists it, or there is no such provider. Provider: there is no key.
pub fn choice(setup: &Setup, spec: &str, current: &Origin, start: &Choice) -> Result<Choice, Error> {
    let Setup { loaded, env, cancel, .. } = setup;
    let listed = origins(&offered(loaded, env));
    let wanted = meant(spec, &listed, current, |name| is_known(name, &loaded.values))?;
    choose_exactly(loaded, env, cancel, &wanted, start)
}

/// Who they are.
pub fn origins(offered: &[Offered]) -> Vec<Origin> {
    offered.iter().map(|offer| Origin::clone(&offer.info.origin)).collect()
}
