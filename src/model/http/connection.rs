//! What went wrong before an answer came: the name, the connection, the proxy or the certificate, in one line that names
//! whoever is at fault.
//!
//! Tries nothing again; an answer that is none is judged in `errors`.

use std::error::Error;
use std::io;

use rustls::{CertificateError, InvalidMessage};

use crate::model::error::{ErrorKind, ModelError};
use crate::model::provider::failure::one_line;

use super::tls::{Authorities, UnknownIssuer};
use super::{HttpOptions, Via};

/// How far a request came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The settings: nothing was asked.
    Settings,
    /// The server's name is not known.
    Name,
    /// No connection.
    Connect,
    /// No connection to the proxy, or not by it.
    Proxy,
    /// No agreement on certificates or encryption.
    Tls,
    /// The server's answer, or that none came.
    Http,
}

impl Stage {
    /// Its name for programs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Settings => "settings",
            Self::Name => "dns",
            Self::Connect => "connect",
            Self::Proxy => "proxy",
            Self::Tls => "tls",
            Self::Http => "http",
        }
    }
}

/// An error, and how far the request had come.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// How far.
    pub stage: Stage,
    /// The status of the answer, if there was one.
    pub status: Option<u16>,
    /// What and why.
    pub error: ModelError,
}

impl Failure {
    /// A failure before an answer.
    pub(super) fn new(stage: Stage, error: ModelError) -> Self {
        Self { stage, status: None, error }
    }

    fn network(stage: Stage, message: String) -> Self {
        Self::new(stage, ModelError::new(ErrorKind::Network, message))
    }

    /// The same, which will not pass by waiting.
    fn lasting(mut self) -> Self {
        self.error.retryable = false;
        self
    }
}

/// The failure of a request that got no answer. `place` is the server's `host:port`, `via` the proxy used.
pub fn failure(error: &reqwest::Error, place: &str, via: Option<&Via>, options: &HttpOptions) -> Failure {
    let by = via.map(|via| format!(" by the proxy {via}")).unwrap_or_default();
    if let Some(tls) = chain(error).find_map(|link| link.downcast_ref::<rustls::Error>()) {
        let message = format!("cannot reach {place}{by}: {}", tls_words(tls, &options.authorities));
        let failure = Failure::network(Stage::Tls, message);
        // A certificate does not become right by waiting, nor does a server that speaks no TLS begin to.
        let lasts = matches!(tls, rustls::Error::InvalidCertificate(_) | rustls::Error::InvalidMessage(_));
        return if lasts { failure.lasting() } else { failure };
    }
    // The first hop is the proxy where there is one.
    let hop = if via.is_some() { Stage::Proxy } else { Stage::Connect };
    if error.is_connect() && error.is_timeout() {
        let message = format!("cannot reach {place}{by}: no connection within {} s", options.connect.as_secs_f64());
        return Failure::network(hop, message);
    }
    if let Some(via) = via
        && let Some((what, passes)) = tunnel(error, via)
    {
        let failure = Failure::network(Stage::Proxy, format!("cannot reach {place}: {what}"));
        return if passes { failure } else { failure.lasting() };
    }
    if error.is_dns() {
        let stage = if via.is_some() { Stage::Proxy } else { Stage::Name };
        return Failure::network(stage, format!("cannot reach {place}{by}: {}", dns_words(error)));
    }
    if error.is_connect() {
        return Failure::network(hop, format!("cannot reach {place}{by}: {}", cause(error)));
    }
    Failure::network(Stage::Http, format!("the connection broke off at {place}{by}: {}", cause(error)))
}

/// A proxy that asks who we are.
pub fn wants_password(via: &Via) -> String {
    let given = via.url.password().is_some() || !via.url.username().is_empty();
    let what = if given { "does not accept the user and password it is given" } else { "wants a user and a password" };
    format!("the proxy {via} {what} (HTTP 407): http://user:password@host:port")
}

/// What became of the tunnel that a proxy was to open, and whether that may pass; `None` if the cause says more. The words
/// are those of `hyper-util`, whose errors have no kinds.
fn tunnel(error: &reqwest::Error, via: &Via) -> Option<(String, bool)> {
    let said =
        chain(error).map(ToString::to_string).find_map(|text| Some(text.strip_prefix("tunnel error: ")?.to_owned()))?;
    match said.as_str() {
        "proxy authorization required" => Some((wants_password(via), false)),
        "unsuccessful" => Some((format!("the proxy {via} refuses to connect to it"), true)),
        "unexpected end of file" => Some((format!("the proxy {via} closed the connection"), true)),
        "proxy response headers too long" => Some((format!("the proxy {via} speaks no HTTP"), false)),
        _ => None,
    }
}

/// Why a name has no address: that it is not known, or that nobody could be asked.
fn dns_words(error: &reqwest::Error) -> String {
    let said = chain(error).last().map(ToString::to_string).unwrap_or_default();
    let unknown = ["no record", "nxdomain", "no records"].iter().any(|words| said.to_lowercase().contains(words));
    if unknown || said.is_empty() {
        "the name is not known".to_owned()
    } else {
        format!("no name server says where that is ({})", one_line(&said))
    }
}

/// A failed handshake, and whose setting could mend it.
fn tls_words(error: &rustls::Error, authorities: &Authorities) -> String {
    if let rustls::Error::InvalidCertificate(CertificateError::Other(other)) = error {
        if let Some(unknown) = other.0.downcast_ref::<UnknownIssuer>() {
            return format!("{unknown}; {}", remedy(authorities));
        }
        // The name of webpki's error; a certificate made by `openssl req -x509` is often one of this kind.
        if other.to_string().contains("CaUsedAsEndEntity") {
            let what = "its certificate is an authority's own (CA:TRUE), which a server's must not be";
            return format!("{what}; {}", remedy(authorities));
        }
    }
    if let rustls::Error::InvalidMessage(InvalidMessage::InvalidContentType) = error {
        return "tls: what answers there speaks no TLS; is http:// meant?".to_owned();
    }
    format!("tls: {error}")
}

fn remedy(authorities: &Authorities) -> String {
    const NAMED: &str = "http.ca_file, providers.NAME.ca_file or SSL_CERT_FILE";
    match authorities {
        Authorities::System => format!("a file with that authority's certificate can be named in {NAMED}"),
        Authorities::Also { place, .. } => format!("{place} does not hold that authority's certificate"),
        Authorities::Lost { problem } => problem.clone(),
    }
}

/// Whether a connection was used again that the server had closed meanwhile, as servers do with idle ones: nothing has
/// been answered, and the next connection will be a new one.
pub fn was_stale(error: &reqwest::Error) -> bool {
    /// `hyper`'s words for a connection that ended where an answer was to begin; its errors have kinds, but the crate is
    /// not ours to name.
    const CLOSED: &str = "connection closed before message completed";
    let is_broken = |link: &(dyn Error + 'static)| {
        link.downcast_ref::<io::Error>().is_some_and(|error| {
            matches!(
                error.kind(),
                io::ErrorKind::ConnectionReset | io::ErrorKind::ConnectionAborted | io::ErrorKind::BrokenPipe
            )
        })
    };
    !error.is_connect() && !error.is_timeout() && chain(error).any(|link| is_broken(link) || link.to_string() == CLOSED)
}

/// The innermost reason, in words.
pub fn cause(error: &(dyn Error + 'static)) -> String {
    if let Some(tls) = chain(error).find_map(|link| link.downcast_ref::<rustls::Error>()) {
        return format!("tls: {tls}");
    }
    let innermost = chain(error).last().unwrap_or(error);
    match innermost.downcast_ref::<io::Error>() {
        Some(io) => io_cause(io),
        None => one_line(&innermost.to_string()),
    }
}

/// An error and what led to it, outermost first.
pub(super) fn chain<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |&link| {
        // The source of an io::Error that wraps another is not that one, but its source.
        let wrapped = link.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        wrapped.map(|inner| inner as &(dyn Error + 'static)).or_else(|| link.source())
    })
}

fn io_cause(error: &io::Error) -> String {
    use io::ErrorKind as Io;
    #[expect(clippy::wildcard_enum_match_arm, reason = "the list of kinds is open")]
    match error.kind() {
        Io::ConnectionRefused => "connection refused".to_owned(),
        Io::ConnectionReset => "connection reset".to_owned(),
        Io::ConnectionAborted => "connection aborted".to_owned(),
        Io::UnexpectedEof => "the server closed the connection".to_owned(),
        Io::TimedOut => "timed out".to_owned(),
        Io::HostUnreachable | Io::NetworkUnreachable => "there is no way to it".to_owned(),
        _ => one_line(&error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use io::Error as Io;

    #[test]
    fn causes_are_found_however_deep() {
        let inner = rustls::Error::InvalidCertificate(CertificateError::Expired);
        assert!(cause(&Io::other(Io::other(inner))).starts_with("tls: invalid peer certificate"));
        assert_eq!(cause(&Io::other(Io::from(io::ErrorKind::ConnectionReset))), "connection reset");
    }
}
