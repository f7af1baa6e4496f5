//! Which certificates are trusted: those of the operating system, and those of one file more.
//!
//! Judging is the platform's; here a refusal only gets the name of whoever signed.

use std::fmt;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, OtherError, RootCertStore, SignatureScheme};
use rustls_platform_verifier::Verifier;

use super::certificate::{Issuer, issuer};

/// What is offered in ALPN: HTTP/2 where the server speaks it.
const PROTOCOLS: [&[u8]; 2] = [b"h2", b"http/1.1"];

/// Whose certificates are trusted.
#[derive(Clone, Default, PartialEq, Eq)]
pub enum Authorities {
    /// Those of the operating system.
    #[default]
    System,
    /// Those of a file besides.
    Also {
        /// The file's bytes, PEM.
        pem: Arc<[u8]>,
        /// Who names the file and where it is: `http.ca_file (/etc/corp.pem)`.
        place: String,
    },
    /// A file that is named cannot be read, and on some systems those of the operating system are lost with it.
    Lost {
        /// One line that begins with who names it.
        problem: String,
    },
}

impl fmt::Debug for Authorities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::System => f.write_str("System"),
            Self::Also { place, .. } => write!(f, "Also({place})"),
            Self::Lost { problem } => write!(f, "Lost({problem})"),
        }
    }
}

/// For plain http: nobody is trusted, and nothing is loaded.
///
/// # Errors
///
/// A defect of this program, in words.
pub fn trust_nobody() -> Result<ClientConfig, String> {
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let builder = builder.with_safe_default_protocol_versions().map_err(|error| error.to_string())?;
    Ok(builder.with_root_certificates(RootCertStore::empty()).with_no_client_auth())
}

/// For https. Reads the operating system's certificates, which takes some milliseconds.
///
/// # Errors
///
/// A file that holds no certificate, or a system without any, in words.
pub fn trust(authorities: &Authorities) -> Result<ClientConfig, String> {
    let provider = CryptoProvider::get_default().cloned().unwrap_or_else(|| Arc::new(ring::default_provider()));
    let verifier = match authorities {
        Authorities::System => Verifier::new(Arc::clone(&provider)).map_err(|_| NO_SYSTEM.to_owned()),
        Authorities::Also { pem, place } => certificates(pem)
            .and_then(|more| {
                Verifier::new_with_extra_roots(more, Arc::clone(&provider)).map_err(|error| error.to_string())
            })
            .map_err(|problem| format!("{place}: {problem}")),
        Authorities::Lost { problem } => Verifier::new(Arc::clone(&provider)).map_err(|_| problem.clone()),
    };
    let verifier = verifier?;
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let builder = builder.map_err(|error| error.to_string())?.dangerous();
    let mut config = builder.with_custom_certificate_verifier(Arc::new(Naming(verifier))).with_no_client_auth();
    config.alpn_protocols = PROTOCOLS.iter().map(|name| name.to_vec()).collect();
    Ok(config)
}

/// Why nobody can be trusted, if so; by loading all that would be.
pub fn why_no_trust(authorities: &Authorities) -> Option<String> {
    trust(authorities).err()
}

/// What is said where the operating system has none.
const NO_SYSTEM: &str = "the system has no certificates of authorities; install ca-certificates, or name a file in SSL_CERT_FILE or http.ca_file";

/// The certificates of a PEM file.
///
/// # Errors
///
/// That it holds none, or something broken.
pub fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, String> {
    let all: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    let all = all.map_err(|_| "not readable as PEM".to_owned())?;
    if all.is_empty() { Err("holds no certificate (PEM is expected)".to_owned()) } else { Ok(all) }
}

/// Why a certificate was refused, where the platform only says that nobody knows its issuer.
#[derive(Debug)]
pub struct UnknownIssuer(pub Option<Issuer>);

impl fmt::Display for UnknownIssuer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some(Issuer::Itself(name)) => {
                write!(f, "its certificate is signed by itself, \"{name}\", and not trusted here")
            }
            Some(Issuer::Other(name)) => write!(f, "its certificate is signed by \"{name}\", whom nobody here trusts"),
            None => f.write_str("its certificate is signed by somebody whom nobody here trusts"),
        }
    }
}

impl std::error::Error for UnknownIssuer {}

/// The platform's judge, whose refusals get a name.
#[derive(Debug)]
struct Naming(Verifier);

impl ServerCertVerifier for Naming {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let judged = self.0.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now);
        judged.map_err(|error| {
            if !matches!(error, rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer)) {
                return error;
            }
            // The chain goes from the server's own upwards.
            let why = UnknownIssuer(issuer(intermediates.last().unwrap_or(end_entity)));
            rustls::Error::InvalidCertificate(CertificateError::Other(OtherError(Arc::new(why))))
        })
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.0.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.0.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_verify_schemes()
    }
}
