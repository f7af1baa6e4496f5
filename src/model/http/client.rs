//! Makes the HTTP client of one endpoint, as cheap as its address allows.
//!
//! Plain http needs neither a trust store nor a resolver's configuration before the first request; only https loads the
//! operating system's certificates.

use reqwest::{Client, ClientBuilder, Proxy, Url, redirect, retry};

use crate::model::error::{ErrorKind, ModelError};

use super::{HttpOptions, connection, tls};

/// A client for `url` behind `proxy`.
///
/// # Errors
///
/// A certificate file that holds none, or a system without trusted certificates.
pub fn build(url: &Url, proxy: Option<&Url>, options: &HttpOptions) -> Result<Client, ModelError> {
    finish(builder(url, proxy, options)?)
}

/// The same, not yet built.
///
/// # Errors
///
/// As [`build`].
pub fn builder(url: &Url, proxy: Option<&Url>, options: &HttpOptions) -> Result<ClientBuilder, ModelError> {
    let builder = Client::builder()
        .user_agent(concat!("viola/", env!("CARGO_PKG_VERSION")))
        // Every attempt is one attempt: trying again is decided elsewhere, and a redirected POST would lose its body.
        .retry(retry::never())
        .redirect(redirect::Policy::none())
        .connect_timeout(options.connect)
        // The environment was read by the caller.
        .no_proxy();
    let builder = match proxy {
        Some(proxy) => {
            builder.proxy(Proxy::all(proxy.clone()).map_err(|_| broken("the proxy's address is not usable"))?)
        }
        None => builder,
    };
    // Given whole, so that reqwest loads no trust store of its own.
    let tls = if is_secure(url, proxy) { tls::trust(&options.authorities) } else { tls::trust_nobody() };
    Ok(builder.tls_backend_preconfigured(tls.map_err(|problem| broken(&problem))?))
}

/// Builds what [`builder`] made.
///
/// # Errors
///
/// A defect of this program, in words.
pub fn finish(builder: ClientBuilder) -> Result<Client, ModelError> {
    builder.build().map_err(|error| broken(&format!("no https client: {}", connection::cause(&error))))
}

/// Whether any of the connections is an encrypted one.
pub fn is_secure(url: &Url, proxy: Option<&Url>) -> bool {
    [Some(url), proxy].into_iter().flatten().any(|url| url.scheme() == "https")
}

fn broken(message: &str) -> ModelError {
    ModelError::new(ErrorKind::InvalidRequest, message)
}
