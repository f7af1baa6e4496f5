//! How a provider's address is reached: by which proxy, with whose certificates, and how patiently.
//!
//! Asks nobody; reads the one file of certificates that is named.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;
use std::time::Duration;

use super::probe::is_here;
use crate::base::env::Env;
use crate::kernel::event::{Notice, NoticeCode};
use crate::model::http::{Authorities, HttpOptions, ProxyEnv, ProxySetting, needs_certificates};
use crate::product::config::Loaded;
use crate::product::config::kind::NO_PROXY;
use crate::product::config::layer::Source;
use crate::product::error::Error;

/// The variable in which other programs are told which certificates to trust (OpenSSL, curl).
pub const CERTIFICATES: &str = "SSL_CERT_FILE";
/// The same for a folder of them; the platform's part reads it by itself.
pub const CERTIFICATE_FOLDER: &str = "SSL_CERT_DIR";

/// What a client of a provider is made of.
#[derive(Debug)]
pub struct Network {
    /// What is handed on.
    pub options: HttpOptions,
    /// What a person should know.
    pub notice: Option<Notice>,
}

/// The way to `provider` at `base_url`.
///
/// # Errors
///
/// Usage: a proxy's address that is none; a file of certificates that the settings name and that cannot be read, if the
/// address takes certificates.
pub fn network(loaded: &Loaded, env: &Env, provider: &str, base_url: &str) -> Result<Network, Error> {
    let http = &loaded.settings.http;
    let proxy = proxy(loaded, env);
    // Reading certificates takes time, and may fail: only who needs them pays.
    let (authorities, notice) = match needs_certificates(base_url, &proxy).map_err(Error::usage)? {
        true => authorities(loaded, env, provider)?,
        false => (Authorities::System, None),
    };
    let options = HttpOptions {
        connect: http.connect_timeout,
        first_byte: patience(loaded, "http.first_byte_timeout", http.first_byte_timeout, base_url),
        idle: patience(loaded, "http.idle_timeout", http.idle_timeout, base_url),
        proxy,
        authorities,
    };
    Ok(Network { options, notice })
}

/// How long a server on this machine may be silent where nobody has said: reading a long prompt without a graphics card
/// takes minutes, and so does a call that such servers send in one piece.
const LOCAL_PATIENCE: Duration = Duration::from_secs(30 * 60);

fn patience(loaded: &Loaded, key: &str, set: Duration, base_url: &str) -> Duration {
    let is_default = loaded.values.get(key).is_none_or(|held| held.source == Source::Default);
    if is_default && is_here(base_url) { set.max(LOCAL_PATIENCE) } else { set }
}

/// The proxy of the settings, else the environment's.
pub fn proxy(loaded: &Loaded, env: &Env) -> ProxySetting {
    match &loaded.settings.http.proxy {
        Some(url) if url == NO_PROXY => ProxySetting::Direct,
        Some(url) => ProxySetting::Url(url.clone()),
        None => ProxySetting::FromEnv(ProxyEnv::read(|name| env.var(name).map(str::to_owned))),
    }
}

/// The setting that names a provider's certificates and the file: its own, else that for all.
pub fn ca_file<'a>(loaded: &'a Loaded, provider: &str) -> Option<(String, &'a str)> {
    let own = loaded.values.at(&["providers", provider, "ca_file"]).and_then(|held| held.value.as_str());
    let own = own.map(|path| (format!("providers.{provider}.ca_file"), path));
    own.or_else(|| loaded.settings.http.ca_file.as_deref().map(|path| ("http.ca_file".to_owned(), path)))
}

/// More than the certificates of any system together, in bytes.
const MOST_CERTIFICATES: u64 = 16 << 20;

/// What a file of certificates holds.
///
/// # Errors
///
/// It cannot be read, is no regular file, or too large: a device would never end, and a pipe may never begin.
pub fn read_certificates(path: &Path) -> io::Result<Vec<u8>> {
    if !path.metadata()?.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(MOST_CERTIFICATES + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > MOST_CERTIFICATES {
        true => Err(io::Error::other("it is larger than 16 MB, which no file of certificates is")),
        false => Ok(bytes),
    }
}

/// A file that the settings name must be there; one that only the environment names is told about.
fn authorities(loaded: &Loaded, env: &Env, provider: &str) -> Result<(Authorities, Option<Notice>), Error> {
    let read = |path: &str| {
        let path = env.absolute(Path::new(path));
        (read_certificates(&path), path.display().to_string())
    };
    if let Some((setting, path)) = ca_file(loaded, provider) {
        let (bytes, path) = read(path);
        let bytes = bytes.map_err(|error| Error::usage(format!("{setting}: cannot read {path}")).caused_by(error))?;
        return Ok((Authorities::Also { pem: bytes.into(), place: format!("{setting} ({path})") }, None));
    }
    let Some(path) = env.var(CERTIFICATES) else { return Ok((Authorities::System, None)) };
    Ok(match read(path) {
        (Ok(bytes), path) => (Authorities::Also { pem: bytes.into(), place: format!("{CERTIFICATES} ({path})") }, None),
        (Err(error), path) => {
            let problem = format!("{CERTIFICATES}: cannot read {path}: {error}");
            let text = format!("{problem}; servers may not be trusted for it.");
            (Authorities::Lost { problem }, Some(Notice::new(NoticeCode::Config, text)))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::product::config::tests::World;
    use serde_json::json;

    #[test]
    fn a_providers_own_certificates_come_first_and_the_environments_last() {
        let https = "https://h/v1";
        let named = |world: &World| match network(&world.load(), &world.env, "x", https).unwrap().options.authorities {
            Authorities::Also { place, .. } => place.split(' ').next().unwrap_or_default().to_owned(),
            other @ (Authorities::System | Authorities::Lost { .. }) => format!("{other:?}"),
        };
        let world = World::new();
        let file = |name: &str| {
            let path = world.env.cwd.join(name);
            std::fs::write(&path, "x").unwrap();
            path.display().to_string()
        };
        let (own, all, variable) = (file("own.pem"), file("all.pem"), file("variable.pem"));
        let world = world.var("SSL_CERT_FILE", &variable);
        assert_eq!(named(&world), "SSL_CERT_FILE");
        let world = world.user(&json!({"http": {"ca_file": all}}));
        assert_eq!(named(&world), "http.ca_file");
        let both = json!({"http": {"ca_file": all}, "providers": {"x": {"ca_file": own, "base_url": https}}});
        let world = world.user(&both);
        assert_eq!(named(&world), "providers.x.ca_file");
        let missing = World::new().user(&json!({"providers": {"x": {"ca_file": "/none.pem", "base_url": https}}}));
        let error = network(&missing.load(), &missing.env, "x", https).unwrap_err().to_string();
        assert!(error.starts_with("providers.x.ca_file: cannot read /none.pem: "), "{error}");
        assert!(network(&missing.load(), &missing.env, "x", "http://h/v1").is_ok(), "nobody needs it");
        let endless = World::new().var("SSL_CERT_FILE", "/dev/zero");
        let told = network(&endless.load(), &endless.env, "x", https).unwrap().notice.unwrap().text;
        assert!(told.contains("SSL_CERT_FILE: cannot read /dev/zero: it is no regular file"), "{told}");
        let stale = World::new().var("SSL_CERT_FILE", "/none.pem");
        let told = network(&stale.load(), &stale.env, "x", https).unwrap();
        assert!(told.notice.unwrap().text.contains("SSL_CERT_FILE: cannot read /none.pem"));
        assert!(matches!(told.options.authorities, Authorities::Lost { .. }));
    }

    #[test]
    fn the_environments_proxy_can_be_switched_off() {
        let world = World::new().var("HTTPS_PROXY", "http://proxy:3128");
        assert!(matches!(proxy(&world.load(), &world.env), ProxySetting::FromEnv(_)));
        let world = world.user(&json!({"http": {"proxy": "off"}}));
        assert_eq!(proxy(&world.load(), &world.env), ProxySetting::Direct);
    }

    #[test]
    fn a_server_of_this_machine_may_think_for_long_unless_somebody_said_otherwise() {
        let first_byte = |world: World, base_url: &str| {
            let network = network(&world.load(), &world.env, "x", base_url).unwrap();
            network.options.first_byte.as_secs()
        };
        let set = World::new().user(&json!({"http": {"first_byte_timeout": 5}}));
        assert_eq!(first_byte(World::new(), "http://localhost:8080/v1"), 1_800);
        assert_eq!(first_byte(World::new(), "https://example.org/v1"), 300);
        assert_eq!(first_byte(set, "http://localhost:8080/v1"), 5);
    }
}
