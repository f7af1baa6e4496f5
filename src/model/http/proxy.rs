//! Which proxy, if any, stands between us and one server.
//!
//! Decided once for an endpoint: one client serves one server and follows no redirects. Reads no environment, and shows
//! no password.

use std::fmt;
use std::net::IpAddr;

use reqwest::Url;

/// Where the choice of a proxy comes from.
#[derive(Clone, Default, PartialEq, Eq)]
pub enum ProxySetting {
    /// Straight to the server.
    #[default]
    Direct,
    /// What the environment says.
    FromEnv(ProxyEnv),
    /// This one, for every server that is not on this machine.
    Url(String),
}

/// The environment's variables about proxies; empty ones count as missing.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct ProxyEnv {
    /// For plain http.
    pub http: Option<Variable>,
    /// For https.
    pub https: Option<Variable>,
    /// Where there is none for the scheme.
    pub all: Option<Variable>,
    /// Which servers are reached without one.
    pub no_proxy: Option<Variable>,
}

/// A variable that is set.
#[derive(Clone, PartialEq, Eq)]
pub struct Variable {
    /// Its name, in the case it was found in.
    pub name: &'static str,
    /// Its value, which may hold a password.
    pub value: String,
}

impl fmt::Debug for Variable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl fmt::Debug for ProxyEnv {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { http, https, all, no_proxy } = self;
        f.debug_list().entries([http, https, all, no_proxy].into_iter().flatten()).finish()
    }
}

impl fmt::Debug for ProxySetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Direct => f.write_str("Direct"),
            Self::FromEnv(env) => write!(f, "FromEnv({env:?})"),
            // Addresses of proxies hold passwords.
            Self::Url(_) => f.write_str("Url(…)"),
        }
    }
}

impl ProxyEnv {
    /// The variables as `look` finds them: in lower case first, as curl has it, then in upper case.
    pub fn read(look: impl Fn(&str) -> Option<String>) -> Self {
        let first = |names: [&'static str; 2]| {
            let found =
                |name| look(name).filter(|value| !value.trim().is_empty()).map(|value| Variable { name, value });
            names.into_iter().find_map(found)
        };
        Self {
            http: first(["http_proxy", "HTTP_PROXY"]),
            https: first(["https_proxy", "HTTPS_PROXY"]),
            all: first(["all_proxy", "ALL_PROXY"]),
            no_proxy: first(["no_proxy", "NO_PROXY"]),
        }
    }
}

/// The way to a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Route {
    /// Straight there: no proxy is set for it.
    Direct,
    /// Straight there, as the server is on this machine.
    Here,
    /// Straight there, as this variable says.
    Excepted(&'static str),
    /// By a proxy.
    Proxy(Via),
}

/// A proxy, and who names it.
#[derive(Clone, PartialEq, Eq)]
pub struct Via {
    /// Its address, which may hold a password.
    pub url: Url,
    /// The variable or setting it is from.
    pub place: &'static str,
}

impl fmt::Debug for Via {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Via {
    /// `127.0.0.1:3128 (HTTPS_PROXY)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", super::place(&self.url), self.place)
    }
}

impl ProxySetting {
    /// The way to `target`.
    ///
    /// # Errors
    ///
    /// One line about a proxy's address that is none, or of a kind that is not supported. Begins with the name of the
    /// setting or variable.
    pub fn route(&self, target: &Url) -> Result<Route, String> {
        let (given, exceptions) = match self {
            Self::Direct => return Ok(Route::Direct),
            Self::Url(url) => (Some(("http.proxy", url)), None),
            Self::FromEnv(ProxyEnv { http, https, all, no_proxy }) => {
                let own = if target.scheme() == "https" { https } else { http };
                let given = own.as_ref().or(all.as_ref());
                (given.map(|variable| (variable.name, &variable.value)), no_proxy.as_ref())
            }
        };
        let Some((place, address)) = given else { return Ok(Route::Direct) };
        // No proxy reaches this machine's own servers.
        if is_loopback(target) {
            return Ok(Route::Here);
        }
        if let Some(list) = exceptions.filter(|list| excepted(&list.value, target)) {
            return Ok(Route::Excepted(list.name));
        }
        let url = parse(address).map_err(|problem| format!("{place}: {problem}"))?;
        Ok(Route::Proxy(Via { url, place }))
    }

    /// The proxy for `target`.
    ///
    /// # Errors
    ///
    /// As [`ProxySetting::route`].
    pub fn choose(&self, target: &Url) -> Result<Option<Via>, String> {
        match self.route(target)? {
            Route::Proxy(via) => Ok(Some(via)),
            Route::Direct | Route::Here | Route::Excepted(_) => Ok(None),
        }
    }
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

/// Whether one of the entries, parted by commas or blanks, names the host: `*`, a domain (with all below it), an address,
/// a network such as `10.0.0.0/8`; an entry may name a port.
fn excepted(list: &str, target: &Url) -> bool {
    let host = host(target).to_ascii_lowercase();
    let address = host.parse::<IpAddr>().ok();
    list.split([',', ' ', '\t']).filter(|entry| !entry.is_empty()).any(|entry| {
        if entry == "*" {
            return true;
        }
        if let (Some(address), Some((network, bits))) = (address, entry.split_once('/')) {
            return in_network(address, network, bits);
        }
        // A colon within brackets, or one of several without them, is part of an IPv6 address.
        let (name, port) = match entry.rsplit_once(':') {
            Some((name, port)) if !name.contains(':') || name.ends_with(']') => (name, port.parse::<u16>().ok()),
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
            ("[fd00::1]:8080", "http://[fd00::1]:8080", true),
            ("[fd00::1]:8080", "http://[fd00::1]", false),
            ("x a.b\ty", "http://a.b", true),
            ("10.0.0.0/99,/,:", "http://10.1.2.3", false),
        ];
        for (list, target, expected) in table {
            assert_eq!(excepted(list, &url(target)), expected, "{list} {target}");
        }
    }

    /// The environment with these variables.
    fn env(variables: &'static [(&str, &str)]) -> ProxySetting {
        let look =
            |wanted: &str| variables.iter().find(|(name, _)| *name == wanted).map(|(_, value)| (*value).to_owned());
        ProxySetting::FromEnv(ProxyEnv::read(look))
    }

    #[test]
    fn the_scheme_picks_the_variable() {
        let setting = env(&[
            ("http_proxy", "plain:1"),
            ("HTTP_PROXY", "upper:1"),
            ("https_proxy", " "),
            ("ALL_PROXY", "https://user:pw@all:2/"),
            ("NO_PROXY", "direct"),
        ]);
        assert!(!format!("{setting:?}").contains("pw"));
        let shown = |target: &str| match setting.route(&url(target)).unwrap() {
            Route::Proxy(via) => format!("{via:?}"),
            other @ (Route::Direct | Route::Here | Route::Excepted(_)) => format!("{other:?}"),
        };
        assert_eq!(shown("http://a"), "plain:1 (http_proxy)");
        assert_eq!(shown("https://a"), "all:2 (ALL_PROXY)");
        assert_eq!(shown("https://direct"), "Excepted(\"NO_PROXY\")");
        for local in ["http://localhost:1", "http://127.0.0.1", "http://[::1]:9/"] {
            assert_eq!(shown(local), "Here", "{local}");
        }
        let upper = env(&[("https_proxy", ""), ("HTTPS_PROXY", "upper:1")]).choose(&url("https://a")).unwrap().unwrap();
        assert_eq!((upper.to_string().as_str(), upper.url), ("upper:1 (HTTPS_PROXY)", url("http://upper:1")));
        assert_eq!(env(&[]).route(&url("http://a")), Ok(Route::Direct));
    }

    #[test]
    fn an_address_that_is_none_is_named_by_its_place() {
        let explicit = ProxySetting::Url("socks5://u:s3cret@p:1".to_owned());
        assert!(!format!("{explicit:?}").contains("s3cret"));
        assert!(explicit.choose(&url("http://a")).unwrap_err().starts_with("http.proxy: the proxy's address begins"));
        assert_eq!(explicit.choose(&url("http://127.0.0.1")), Ok(None));
        let broken = env(&[("HTTPS_PROXY", "http://a b"), ("all_proxy", "y://x")]);
        assert!(broken.choose(&url("https://a")).unwrap_err().starts_with("HTTPS_PROXY: "));
        assert!(broken.choose(&url("http://a")).unwrap_err().starts_with("all_proxy: "));
    }
}
