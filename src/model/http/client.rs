//! Makes the HTTP client of one endpoint, as cheap as its address allows.
//!
//! Plain http needs neither a trust store nor a resolver's configuration before the first request; only https loads the
//! operating system's certificates.

use std::sync::Arc;

use reqwest::{Certificate, Client, ClientBuilder, Proxy, Url, redirect, retry};
use rustls::crypto::{CryptoProvider, ring};
use rustls::{ClientConfig, RootCertStore};

use crate::model::error::{ErrorKind, ModelError};

use super::HttpOptions;

/// A client for `url` behind `proxy`.
///
/// # Errors
///
/// A certificate file that holds none, or a system without trusted certificates.
pub fn build(url: &Url, proxy: Option<&Url>, options: &HttpOptions) -> Result<Client, ModelError> {
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
    let builder = if is_secure(url, proxy) { trust_system(builder, options)? } else { trust_nobody(builder)? };
    builder.build().map_err(|error| broken(&format!("no https client: {}", super::errors::cause(&error))))
}

/// Whether any of the connections is an encrypted one.
pub fn is_secure(url: &Url, proxy: Option<&Url>) -> bool {
    [Some(url), proxy].into_iter().flatten().any(|url| url.scheme() == "https")
}

/// For plain http: an empty configuration keeps reqwest from loading the trust store.
fn trust_nobody(builder: ClientBuilder) -> Result<ClientBuilder, ModelError> {
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| broken(&error.to_string()))?
        .with_root_certificates(RootCertStore::empty())
        .with_no_client_auth();
    Ok(builder.tls_backend_preconfigured(config))
}

fn trust_system(builder: ClientBuilder, options: &HttpOptions) -> Result<ClientBuilder, ModelError> {
    // reqwest takes the process's provider; that somebody else was first with the same one is fine.
    if CryptoProvider::get_default().is_none() {
        let _ = ring::default_provider().install_default();
    }
    let Some(pem) = &options.ca_file else { return Ok(builder) };
    let certificates = Certificate::from_pem_bundle(pem).map_err(|_| broken("the ca_file is not readable as PEM"))?;
    if certificates.is_empty() {
        return Err(broken("the ca_file holds no certificate"));
    }
    Ok(builder.tls_certs_merge(certificates))
}

fn broken(message: &str) -> ModelError {
    ModelError::new(ErrorKind::InvalidRequest, message)
}
