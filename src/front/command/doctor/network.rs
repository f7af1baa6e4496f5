//! The way to the providers: proxies, certificates, and what came of asking.

use std::path::Path;

use serde_json::{Value, json};

use super::Section;
use crate::base::env::Env;
use crate::base::text::visible;
use crate::model::error::ErrorKind;
use crate::model::http::{Authorities, Failure, Route, Stage, certificates as read, is_proxy_address, why_no_trust};
use crate::product::config::Loaded;
use crate::product::config::mask::without_secrets;
use crate::product::config::presets::{Preset, preset};
use crate::product::error::Error;
use crate::product::provider::check::{Checked, Verdict};
use crate::product::provider::network::{CERTIFICATE_FOLDER, CERTIFICATES, read_certificates};
use crate::product::tool::save;

/// The variables that send requests through a proxy.
const PROXIES: [&str; 6] = ["https_proxy", "HTTPS_PROXY", "http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"];
/// Those that name who is reached without one.
const EXCEPTIONS: [&str; 2] = ["no_proxy", "NO_PROXY"];

/// The proxies that are set, and whether they can be some.
pub(super) fn proxies(loaded: &Loaded, env: &Env) -> Section {
    let mut section = Section::new("proxy");
    let configured = loaded.settings.http.proxy.as_deref().map(|address| ("http.proxy", address));
    let set: Vec<_> =
        configured.into_iter().chain(PROXIES.iter().filter_map(|name| Some((*name, env.var(name)?)))).collect();
    for (name, address) in &set {
        section.line(name, visible::line(&without_secrets(address)));
        if !is_proxy_address(address) && !is_bare_name(address) {
            section.remark(format!("{name} is no address of an http or https proxy, such as http://proxy:3128"));
        }
    }
    for name in EXCEPTIONS {
        if let Some(list) = env.var(name) {
            section.line(name, visible::line(list));
        }
    }
    if set.is_empty() {
        section.line("none", "requests go straight to the provider");
    } else if configured.is_some() && set.len() > 1 {
        section.remark("http.proxy comes before the variables");
    }
    section
}

/// A host without a port is taken for a proxy where the environment names it.
fn is_bare_name(address: &str) -> bool {
    is_proxy_address(&format!("{}:80", address.trim()))
}

/// Whose certificates are trusted.
pub(super) fn certificates(loaded: &Loaded, env: &Env) -> Section {
    let mut section = Section::new("certificates");
    let system = why_no_trust(&Authorities::System).unwrap_or_else(|| "trusted".to_owned());
    section.line("system", system);
    let named = loaded.settings.http.ca_file.as_deref().map(|path| ("http.ca_file".to_owned(), path));
    let own =
        loaded.values.below(&["providers"]).filter(|(path, _)| path.get(2).is_some_and(|field| field == "ca_file"));
    let own = own.filter_map(|(path, held)| Some((path.join("."), held.value.as_str()?)));
    let variable = env.var(CERTIFICATES).map(|path| (CERTIFICATES.to_owned(), path));
    for (name, path) in named.into_iter().chain(own).chain(variable) {
        let path = env.absolute(Path::new(path));
        let state = match read_certificates(&path) {
            Err(error) => format!("cannot be read: {}; unset {name}, or mend the path", save::words(&error)),
            Ok(bytes) => match read(&bytes) {
                Ok(all) if all.len() == 1 => "1 certificate".to_owned(),
                Ok(all) => format!("{} certificates", all.len()),
                Err(problem) => problem,
            },
        };
        section.line(&name, format!("{}: {state}", visible::line(&path.display().to_string())));
    }
    if let Some(folders) = env.var(CERTIFICATE_FOLDER) {
        section.line(CERTIFICATE_FOLDER, visible::line(folders));
    }
    section
}

/// What came of asking the providers.
pub(super) fn section(checked: &[Checked], nobody: Option<&Error>) -> Section {
    let mut section = Section::new("network");
    if let Some(error) = nobody {
        section.line("in use", format!("nobody: {error}"));
        error.hints.iter().for_each(|hint| section.remark(format!("fix: {hint}")));
    }
    for one in checked {
        let way = match &one.route {
            Some(Route::Proxy(via)) => format!(" by the proxy {via}"),
            Some(Route::Excepted(variable)) => format!(" without a proxy ({variable})"),
            Some(Route::Direct | Route::Here) | None => String::new(),
        };
        let address = if one.address.is_empty() { "no address" } else { &one.address };
        let chosen = if one.is_chosen { " (in use)" } else { "" };
        section.line(&one.provider, visible::line(&format!("{address}{way}{chosen}")));
        section.remark(visible::line(&outcome(one)));
        for fix in fixes(one) {
            section.remark(format!("fix: {}", visible::line(&fix)));
        }
    }
    if checked.is_empty() && nobody.is_none() {
        section.line("nobody", "no provider is known that could be asked");
    }
    section
}

fn outcome(checked: &Checked) -> String {
    let time = checked.elapsed.as_millis();
    match &checked.verdict {
        Verdict::Lists(models) => {
            let key = match &checked.key {
                Some(place) => format!("takes the key from {place}"),
                None => "was asked without a key".to_owned(),
            };
            let count = if models.len() == 1 { "1 model".to_owned() } else { format!("{} models", models.len()) };
            let model = match (checked.has_model(), &checked.model) {
                (Some(true), Some(model)) => format!(", {model} among them"),
                (Some(false), Some(model)) => format!(", but not {model}"),
                _ => String::new(),
            };
            format!("answers in {time} ms, {key}, lists {count}{model}")
        }
        Verdict::NoList(failure) => {
            format!(
                "answers in {time} ms, but has no list of models, so nothing is known of the key: {}",
                failure.error
            )
        }
        Verdict::Failed(Failure { stage, error, .. }) => format!("does not work ({}): {error}", stage.as_str()),
        Verdict::Unasked(error) => format!("not asked: {error}"),
        Verdict::Record => "answers from a record, without a network".to_owned(),
    }
}

/// What to do about it.
fn fixes(checked: &Checked) -> Vec<String> {
    let name = &checked.provider;
    let address = format!("check the address: `agent config show providers.{name}.base_url`");
    match &checked.verdict {
        Verdict::Lists(_) if checked.has_model() == Some(false) => {
            vec![format!("`agent --provider {name} -m ID` names another model")]
        }
        Verdict::Lists(_) | Verdict::NoList(_) | Verdict::Record => Vec::new(),
        Verdict::Unasked(error) => error.hints.clone(),
        Verdict::Failed(Failure { stage, error, .. }) => match (stage, &checked.route) {
            (Stage::Name, _) => vec![format!("{address}; behind a company's proxy set HTTPS_PROXY or http.proxy")],
            (Stage::Connect, _) if preset(name).is_some_and(Preset::is_local) => {
                vec!["start the server, or choose another provider".to_owned()]
            }
            (Stage::Connect, _) => vec![format!("{address}; behind a company's proxy set HTTPS_PROXY or http.proxy")],
            (Stage::Proxy, Some(Route::Proxy(via))) => {
                vec![format!("check {}, or except the host in NO_PROXY", via.place)]
            }
            (Stage::Tls, _) => vec![format!(
                "where a proxy looks into connections, trust its authority: `agent config set providers.{name}.ca_file FILE`"
            )],
            (Stage::Http, _) if error.kind == ErrorKind::Auth => {
                let place = checked.key.as_ref().map(|place| format!(", in place of the one from {place}"));
                vec![format!("give it a key that it takes{}: `agent auth login {name}`", place.unwrap_or_default())]
            }
            (Stage::Http, _) if error.retryable => vec!["try again later".to_owned()],
            (Stage::Http, _) => vec![address],
            (Stage::Proxy | Stage::Settings, _) => vec!["`agent config show http` shows what is set".to_owned()],
        },
    }
}

/// The same for programs.
pub fn as_json(checked: &Checked) -> Value {
    let (verdict, failure, error) = match &checked.verdict {
        Verdict::Lists(_) => ("lists", None, None),
        Verdict::NoList(failure) => ("no_list", Some(failure), Some(failure.error.to_string())),
        Verdict::Failed(failure) => ("failed", Some(failure), Some(failure.error.to_string())),
        Verdict::Unasked(error) => ("not_asked", None, Some(error.to_string())),
        Verdict::Record => ("record", None, None),
    };
    let models = match &checked.verdict {
        Verdict::Lists(models) => Some(models.len()),
        Verdict::NoList(_) | Verdict::Failed(_) | Verdict::Unasked(_) | Verdict::Record => None,
    };
    let proxy = match &checked.route {
        Some(Route::Proxy(via)) => Some(via.to_string()),
        Some(Route::Direct | Route::Here | Route::Excepted(_)) | None => None,
    };
    json!({
        "provider": checked.provider,
        "in_use": checked.is_chosen,
        "works": checked.works(),
        "verdict": verdict,
        "stage": failure.map(|failure| failure.stage.as_str()),
        "status": failure.and_then(|failure| failure.status),
        "error": error,
        "fixes": fixes(checked),
        "address": checked.address,
        "proxy": proxy,
        "key_from": checked.key,
        "model": checked.model,
        "model_listed": checked.has_model(),
        "models": models,
        "elapsed_ms": u64::try_from(checked.elapsed.as_millis()).unwrap_or(u64::MAX),
    })
}
