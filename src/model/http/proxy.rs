//! Which proxy, if any, stands between us and one server.
//!
//! Decided once for an endpoint: one client serves one server and follows no redirects. Reads no environment.

use std::fmt;
use std::net::IpAddr;

use reqwest::Url;

/// Where the choice of a proxy comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ProxySetting {
    /// Straight to the server.
    #[default]
    Direct,
    /// What the environment says.
    FromEnv(ProxyEnv),
    /// This one, for every server that is not on this machine.
    Url(String),
}

/// The environment's variables about proxies, in either case of their names; empty ones count as missing.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct ProxyEnv {
    /// `http_proxy`
    pub http: Option<String>,
    /// `https_proxy`
    pub https: Option<String>,
    /// `all_proxy`
    pub all: Option<String>,
    /// `no_proxy`
    pub no_proxy: Option<String>,
}

impl fmt::Debug for ProxyEnv {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Addresses of proxies hold passwords.
        f.debug_struct("ProxyEnv").field("no_proxy", &self.no_proxy).finish_non_exhaustive()
    }
}

impl ProxySetting {
    /// The proxy for `target`.
    ///
    /// # Errors
    ///
    /// One line about an address that is none, or of a kind that is not supported. Begins with the setting's
    /// name, or the variable's in lower case.
    pub fn choose(&self, target: &Url) -> Result<Option<Url>, String> {
        let (given, exceptions) = match self {
            Self::Direct => return Ok(None),
            Self::Url(url) => (Some(("http.proxy", url)), None),
            Self::FromEnv(ProxyEnv { http, https, all, no_proxy }) => {
                let own = if target.scheme() == "https" { ("https_proxy", https) } else { ("http_proxy", http) };
                let given_of = |(name, variable)| given(variable).map(|address| (name, address));
                (given_of(own).or_else(|| given_of(("all_proxy", all))), given(no_proxy))
            }
        };
        let Some((name, address)) = given else { return Ok(None) };
        // No proxy reaches this machine's own servers.
        if is_loopback(target) || exceptions.is_some_and(|list| excepted(list, target)) {
            return Ok(None);
        }
        parse(address).map(Some).map_err(|problem| format!("{name}: {problem}"))
    }
}

fn given(variable: &Option<String>) -> Option<&String> {
    variable.as_ref().filter(|value| !value.trim().is_empty())
}

/// Whether a proxy may stand at this address: `http://proxy`, `https://proxy:8443`, `proxy:3128`. A name alone, without
/// scheme and port, is more likely a slip than a proxy.
pub fn is_proxy_address(address: &str) -> bool {
    let bare = address.trim().trim_end_matches('/');
    let has_port = bare.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    (bare.contains("://") || has_port) && parse(address).is_ok()
}

fn parse(address: &str) -> Result<Url, String> {
    let address = address.trim();
    let whole = if address.contains("://") { address.to_owned() } else { format!("http://{address}") };
    let url = Url::parse(&whole).map_err(|error| format!("the proxy's address is not a url: {error}"))?;
    match url.scheme() {
        "http" | "https" if url.has_host() => Ok(url),
        "http" | "https" => Err("the proxy's address names no host".to_owned()),
        other => {
            Err(format!("the proxy's address begins with `{other}://`: only http and https proxies are supported"))
        }
    }
}

/// The host of an address, an IPv6 one without its brackets.
fn host(url: &Url) -> &str {
    url.host_str().unwrap_or_default().trim_start_matches('[').trim_end_matches(']')
}

fn is_loopback(url: &Url) -> bool {
    let host = host(url);
    host == "localhost"
        || host.ends_with(".localhost")
        || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Whether one of the comma-separated entries names the host: `*`, a domain (with all below it), an address, a network
/// such as `10.0.0.0/8`; an entry may name a port.
fn excepted(list: &str, target: &Url) -> bool {
    let host = host(target).to_ascii_lowercase();
    let address = host.parse::<IpAddr>().ok();
    list.split(',').map(str::trim).filter(|entry| !entry.is_empty()).any(|entry| {
        if entry == "*" {
            return true;
        }
        if let (Some(address), Some((network, bits))) = (address, entry.split_once('/')) {
            return in_network(address, network, bits);
        }
        let (name, port) = match entry.rsplit_once(':') {
            Some((name, port)) if !name.contains(':') => (name, port.parse::<u16>().ok()),
            _ => (entry, None),
        };
        if port.is_some() && port != target.port_or_known_default() {
            return false;
        }
        let name = name.trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase();
        if let (Some(address), Ok(named)) = (address, name.parse::<IpAddr>()) {
            return address == named;
        }
        let name = name.trim_start_matches("*.").trim_start_matches('.');
        !name.is_empty() && host.strip_suffix(name).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    })
}

fn in_network(address: IpAddr, network: &str, bits: &str) -> bool {
    let Ok(bits) = bits.parse::<u32>() else { return false };
    match (address, network.parse::<IpAddr>()) {
        (IpAddr::V4(address), Ok(IpAddr::V4(network))) if bits <= 32 => {
            let mask = u32::MAX.checked_shl(32 - bits).unwrap_or(0);
            address.to_bits() & mask == network.to_bits() & mask
        }
        (IpAddr::V6(address), Ok(IpAddr::V6(network))) if bits <= 128 => {
            let mask = u128::MAX.checked_shl(128 - bits).unwrap_or(0);
            address.to_bits() & mask == network.to_bits() & mask
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    #[test]
    fn an_address_has_a_scheme_or_a_port() {
        for good in ["http://p", "https://u:pw@p:8443/", " p:3128 ", "p:80/", "[fd00::1]:8080", "10.0.0.1:1"] {
            assert!(is_proxy_address(good), "{good}");
        }
        for bad in ["", " ", "nonsense", "http://", "socks5://p:1", "a b:1", "p:99999", "p:", "[fd00::1]", "file:///x"]
        {
            assert!(!is_proxy_address(bad), "{bad}");
        }
    }

    #[test]
    fn exceptions_are_understood() {
        let table = [
            ("*", "http://a.b", true),
            ("a.b", "http://a.b", true),
            ("a.b", "http://x.A.b:8080/v1", true),
            (".a.b", "http://x.a.b", true),
            ("*.a.b", "http://x.a.b", true),
            ("a.b", "http://xa.b", false),
            ("x, a.b:81 ,", "http://a.b:81", true),
            ("a.b:81", "http://a.b", false),
            ("10.1.2.3", "http://10.1.2.3:9", true),
            ("10.0.0.0/8", "http://10.1.2.3", true),
            ("10.0.0.0/8", "http://11.1.2.3", false),
            ("0.0.0.0/0", "http://11.1.2.3", true),
            ("fd00::/8", "http://[fd00::1]", true),
            ("[fd00::1]", "http://[fd00::1]", true),
            ("fd00::1", "http://[fd00::1]:8080", true),
            ("10.0.0.0/99,/,:", "http://10.1.2.3", false),
        ];
        for (list, target, expected) in table {
            assert_eq!(excepted(list, &url(target)), expected, "{list} {target}");
        }
    }

    #[test]
    fn the_scheme_picks_the_variable() {
        let env = ProxyEnv {
            http: Some("plain:1".to_owned()),
            https: Some(String::new()),
            all: Some("https://user:pw@all:2/".to_owned()),
            no_proxy: Some("direct".to_owned()),
        };
        assert!(!format!("{env:?}").contains("pw"));
        let choose = |target: &str| ProxySetting::FromEnv(env.clone()).choose(&url(target)).unwrap();
        assert_eq!(choose("http://a"), Some(url("http://plain:1")));
        assert_eq!(choose("https://a"), Some(url("https://user:pw@all:2/")));
        assert_eq!(choose("https://direct"), None);
        for local in ["http://localhost:1", "http://127.0.0.1", "http://[::1]:9/"] {
            assert_eq!(choose(local), None, "{local}");
        }
        let explicit = ProxySetting::Url("socks5://p:1".to_owned());
        assert!(explicit.choose(&url("http://a")).unwrap_err().starts_with("http.proxy: the proxy's address begins"));
        let broken = |name: &str| {
            let all = Some(format!("{name}://x"));
            ProxySetting::FromEnv(ProxyEnv { https: Some("http://a b".to_owned()), all, ..ProxyEnv::default() })
        };
        assert!(broken("y").choose(&url("https://a")).unwrap_err().starts_with("https_proxy: "));
        assert!(broken("y").choose(&url("http://a")).unwrap_err().starts_with("all_proxy: "));
        assert_eq!(broken("http").choose(&url("http://a")), Ok(Some(url("http://x"))));
        assert_eq!(explicit.choose(&url("http://127.0.0.1")), Ok(None));
    }
}
