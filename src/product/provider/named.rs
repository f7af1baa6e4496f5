//! Which model somebody means who names one while the program runs, among those that can be used.
//!
//! Pure: looks for no key, asks no server, and builds nothing.

use crate::base::text::likeness::closest;
use crate::base::text::{cut, visible};
use crate::model::message::Origin;
use crate::product::error::Error;

/// How much of what somebody wrote an error repeats.
const ECHO_CHARS: usize = 60;

/// The provider and the id that `spec` means: an id that the provider in use lists, else `provider/id` with any id, else an
/// id that another provider lists, the first one wins. `is_known` says whether there is a provider of a name.
///
/// # Errors
///
/// Usage: nobody lists it, with the one it is most like.
pub fn meant(
    spec: &str,
    listed: &[Origin],
    current: &Origin,
    is_known: impl Fn(&str) -> bool,
) -> Result<Origin, Error> {
    let lists = |origin: &&Origin| origin.model == spec;
    let mut own = listed.iter().filter(|origin| origin.provider == current.provider);
    if let Some(origin) = own.find(lists) {
        return Ok(origin.clone());
    }
    if let Some((provider, id)) = spec.split_once('/').filter(|(provider, id)| !id.is_empty() && is_known(provider)) {
        return Ok(Origin { provider: provider.to_owned(), model: id.to_owned() });
    }
    if spec == current.model {
        return Ok(current.clone());
    }
    listed.iter().find(lists).cloned().ok_or_else(|| unknown(spec, listed, current))
}

fn unknown(spec: &str, listed: &[Origin], current: &Origin) -> Error {
    let shown = visible::line(&cut::ellipsis(spec, ECHO_CHARS)).into_owned();
    let error = Error::usage(format!("no model that can be used is called `{shown}`"));
    let lower = spec.to_lowercase();
    let whole: Vec<String> = listed.iter().map(|origin| format!("{}/{}", origin.provider, origin.model)).collect();
    let names = || listed.iter().map(|origin| origin.model.as_str()).chain(whole.iter().map(String::as_str));
    let meant = closest(&lower, names()).or_else(|| names().find(|name| name.to_lowercase().contains(&lower)));
    let error = match meant {
        Some(meant) => error.hint(format!("did you mean `{meant}`?")),
        None => error,
    };
    error.hint(format!("with its provider any id can be named, such as `{}/{shown}`", current.provider))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::env::Env;
    use crate::product::config::naming::is_known;
    use crate::product::config::{self, Flags};

    fn origin(provider: &str, model: &str) -> Origin {
        Origin { provider: provider.to_owned(), model: model.to_owned() }
    }

    #[test]
    fn ids_of_the_provider_in_use_come_first_and_any_id_can_be_named_with_its_provider() {
        let folder = tempfile::tempdir().unwrap();
        let vars = ["VIOLA_CONFIG_DIR", "VIOLA_DATA_DIR"].map(|name| (name.into(), folder.path().into()));
        let env = Env { vars: vars.into(), cwd: folder.path().to_owned(), home: None };
        let values = config::load(&env, &Flags::default()).unwrap().values;
        let listed = [
            origin("openai", "gpt-5"),
            origin("openrouter", "anthropic/claude-sonnet-4.5"),
            origin("openrouter", "gpt-5"),
            origin("anthropic", "claude-sonnet-4-5"),
        ];
        let meant =
            |spec: &str, current: &str| meant(spec, &listed, &origin(current, "now"), |name| is_known(name, &values));
        for (spec, current, provider, model) in [
            ("gpt-5", "openrouter", "openrouter", "gpt-5"),
            ("gpt-5", "anthropic", "openai", "gpt-5"),
            ("anthropic/claude-sonnet-4.5", "openrouter", "openrouter", "anthropic/claude-sonnet-4.5"),
            ("anthropic/claude-sonnet-4.5", "openai", "anthropic", "claude-sonnet-4.5"),
            ("ollama/what:ever", "openai", "ollama", "what:ever"),
            ("now", "openai", "openai", "now"),
        ] {
            assert_eq!(meant(spec, current).unwrap(), origin(provider, model), "{spec} {current}");
        }
        for (spec, hint) in [("gtp-5", "gpt-5"), ("Sonnet", "anthropic/claude-sonnet-4.5"), ("openai/", "openai/gpt-5")]
        {
            let error = meant(spec, "openai").unwrap_err();
            assert!(error.hints[0].contains(hint), "{spec}: {:?}", error.hints);
        }
        let error = meant("\u{1b}[31mxx", "openai").unwrap_err();
        assert!(!error.message.contains('\u{1b}') && error.hints.len() == 1, "{error:?}");
    }
}
