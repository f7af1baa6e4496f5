//! Puts `fetch_url` together: the settings' way to an address, and the hosts that are open to it.
//!
//! Reads nothing before the first call.

use globset::{Glob, GlobSetBuilder};

use super::wrong;
use crate::base::env::Env;
use crate::kernel::tool::{Limits, echo};
use crate::product::config::Loaded;
use crate::product::error::Error;
use crate::product::provider::network::network;
use crate::product::tool::fetch::FetchUrl;

/// A provider that there is not: of the settings, those for all addresses hold.
const NOBODY: &str = "";

/// The tool.
///
/// # Errors
///
/// Usage: an entry of `fetch.allow_private` that is no host and no glob.
pub(super) fn fetcher(loaded: &Loaded, env: &Env, limits: Limits) -> Result<FetchUrl, Error> {
    const KEY: &str = "fetch.allow_private";
    let mut hosts = GlobSetBuilder::new();
    for host in &loaded.settings.fetch_private {
        let name = host.trim().trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase();
        let broken = |problem: String| wrong(loaded, KEY, Some(host), format!("{}: {problem}", echo(host)));
        if name.is_empty() || name.contains('/') {
            return Err(broken("expected a host such as localhost, 10.0.0.5 or *.corp.example".to_owned()));
        }
        hosts.add(Glob::new(&name).map_err(|error| broken(error.kind().to_string()))?);
    }
    let hosts = hosts.build().map_err(|error| wrong(loaded, KEY, None, error))?;
    let (loaded, env) = (loaded.clone(), env.clone());
    let reach = move |url: &str| {
        network(&loaded, &env, NOBODY, url).map(|network| network.options).map_err(|error| error.to_string())
    };
    Ok(FetchUrl::new(Box::new(reach), hosts, limits))
}
