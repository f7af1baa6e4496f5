//! Asks a model over HTTP: one attempt, streamed, with typed errors, ended at once when it is cancelled.
//!
//! Never tries again, follows no redirect, reads neither the environment nor a file. What is said on a wire is none of
//! its business: see `provider`.

mod certificate;
mod client;
mod connection;
mod errors;
pub mod page;
pub mod probe;
mod proxy;
mod tls;

use std::borrow::Cow;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use reqwest::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, TRANSFER_ENCODING};
use reqwest::{Client, Response, StatusCode};
use serde_json::Value;
use tokio::time::{Instant, timeout, timeout_at};

use super::error::{ErrorKind, ModelError};
use super::provider::compat::Compat;
use super::provider::failure::{self, Complaint};
use super::provider::written::Hold;
use super::provider::{Decoder, Deltas, Header, Progress, REPLY_BYTES, Wire, halves, ids};
use super::reply::{Delta, Reply};
use super::request::Request;
use super::sse::{self, Reader};
use super::{Api, Model, ModelInfo, ReplyFuture};
use crate::base::cancel::Cancel;
use crate::base::secret::{is_secret_field, of_header};

pub use connection::{Failure, Stage};
pub use proxy::{ProxyEnv, ProxySetting, Route, Variable, Via, is_proxy_address};
pub use reqwest::Url;
pub use tls::{Authorities, certificates, why_no_trust};

/// How long usage is waited for after the answer's end: some servers leave the stream open.
const AFTERMATH: Duration = Duration::from_secs(2);
/// How long the end of the body is waited for, so that the connection can be used again.
const LINGER: Duration = Duration::from_millis(10);
/// How much of an error's body is read, and for how long.
const ERROR_BYTES: usize = 256 << 10;
const ERROR_WAIT: Duration = Duration::from_secs(10);
/// What tells a server where a request ends: another value than our own would make it wait, or read a second request.
const FRAMING: [HeaderName; 2] = [CONTENT_LENGTH, TRANSFER_ENCODING];
/// A connection that the server has closed shows it within a round trip; what breaks later breaks for another reason.
const STALE: Duration = Duration::from_secs(2);

/// A model and how to reach it.
#[derive(Clone)]
pub struct Endpoint {
    /// What is known about the model.
    pub info: ModelInfo,
    /// The wire it speaks.
    pub api: Api,
    /// The address before the wire's own path.
    pub base_url: String,
    /// The provider's key; a local server needs none.
    pub key: Option<String>,
    /// Headers from the configuration; they replace our own of the same name.
    pub headers: Vec<(String, String)>,
    /// What the provider does differently.
    pub compat: Compat,
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { info, api, base_url, key, headers, compat } = self;
        // Headers carry keys too.
        let names: Vec<&str> = headers.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("Endpoint")
            .field("info", info)
            .field("api", api)
            .field("base_url", base_url)
            .field("key", &key.as_ref().map(|_| "***"))
            .field("headers", &names)
            .field("compat", compat)
            .finish()
    }
}

/// How connections are made and how patient they are.
#[derive(Clone, Debug)]
pub struct HttpOptions {
    /// How long a connection may take, TLS included.
    pub connect: Duration,
    /// How long the first piece of an answer may take, from the request on. Comments and pings are no pieces.
    pub first_byte: Duration,
    /// How long a stream may be silent, once it has begun.
    pub idle: Duration,
    /// Which proxy to use.
    pub proxy: ProxySetting,
    /// Whose certificates are trusted.
    pub authorities: Authorities,
}

impl Default for HttpOptions {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            first_byte: Duration::from_secs(300),
            idle: Duration::from_secs(180),
            proxy: ProxySetting::Direct,
            authorities: Authorities::System,
        }
    }
}

/// A model behind an endpoint. Nothing is sent, and no client made, before the first request.
///
/// # Errors
///
/// An address, key, header or proxy that cannot be used, and a wire without an adapter.
pub fn connect(endpoint: Endpoint, options: &HttpOptions) -> Result<Arc<dyn Model>, ModelError> {
    Ok(Arc::new(HttpModel::new(endpoint, options)?))
}

/// A model that is asked over HTTP.
pub struct HttpModel {
    info: ModelInfo,
    wire: Wire,
    compat: Compat,
    url: Url,
    /// What must not appear in a message.
    secrets: Vec<String>,
    headers: HeaderMap,
    via: Option<Via>,
    options: HttpOptions,
    client: OnceLock<Result<Client, ModelError>>,
    /// Whether there may be a connection that is used again.
    answered: AtomicBool,
    /// Whether the provider has refused to sum up what a model reasons.
    unsummed: AtomicBool,
}

impl HttpModel {
    /// See [`connect`].
    ///
    /// # Errors
    ///
    /// As [`connect`].
    pub fn new(endpoint: Endpoint, options: &HttpOptions) -> Result<Self, ModelError> {
        let Endpoint { info, api, base_url, key, headers, compat } = endpoint;
        let wire = Wire::of(api).ok_or_else(|| invalid(format!("there is no adapter for `{}`", api.as_str())))?;
        let url = address(wire, &base_url, &info.origin.model)?;
        let secrets = secrets(key.as_deref(), &headers);
        let headers = header_map(wire.headers(key.as_deref()), &headers)?;
        let via = options.proxy.choose(&url).map_err(invalid)?;
        let (options, client) = (options.clone(), OnceLock::new());
        let (answered, unsummed) = (AtomicBool::new(false), AtomicBool::new(false));
        Ok(Self { info, wire, compat, url, secrets, headers, via, options, client, answered, unsummed })
    }

    async fn attempt(&self, request: &Request, deltas: Deltas<'_>) -> Result<Reply, ModelError> {
        let compat = self.compat();
        let body = self.wire.encode(request, &self.info, &compat)?;
        let begun = Instant::now();
        let response = self.send(body, begun).await?;
        if !response.status().is_success() {
            let error = refusal(response, self.via.as_ref()).await;
            let unsummed = compat.reasoning_summary.then(|| failure::without_summary(&error)).flatten();
            self.unsummed.fetch_or(unsummed.is_some(), Ordering::Relaxed);
            return Err(unsummed.unwrap_or(error));
        }
        errors::check_head(&response, &self.place())?;
        let mut hold = Hold::new(request, &self.compat);
        let mut reply = self.read(response, begun, &mut |delta| hold.pass(delta, deltas)).await?;
        hold.settle(&mut reply, deltas);
        self.answered.store(true, Ordering::Relaxed);
        ids::settle(&mut reply.content, request, fastrand::u64(..));
        Ok(reply)
    }

    /// Sends the request and waits for the head of an answer. Servers close connections that are idle, and may do so in
    /// the very moment of the next request: then it is sent once more, on a new one, which is no second attempt at all.
    async fn send(&self, body: Vec<u8>, begun: Instant) -> Result<Response, ModelError> {
        let client =
            self.client.get_or_init(|| client::build(&self.url, self.via.as_ref().map(|via| &via.url), &self.options));
        let client = client.as_ref().map_err(Clone::clone)?;
        let request = client.post(self.url.clone()).headers(self.headers.clone()).body(body).build();
        let request = request.map_err(|error| self.unreachable(&error))?;
        let mut spare = self.answered.load(Ordering::Relaxed).then(|| request.try_clone()).flatten();
        let mut next = request;
        loop {
            let sent = timeout_at(begun + self.options.first_byte, client.execute(next)).await;
            match (sent.map_err(|_| self.no_answer())?, spare.take()) {
                (Ok(response), _) => return Ok(response),
                (Err(error), Some(again)) if connection::was_stale(&error) && begun.elapsed() < STALE => next = again,
                (Err(error), _) => return Err(self.unreachable(&error)),
            }
        }
    }

    async fn read(&self, mut response: Response, begun: Instant, deltas: Deltas<'_>) -> Result<Reply, ModelError> {
        let mut stream = Stream::new(self.wire.decoder(&self.compat));
        let first = begun + self.options.first_byte;
        let mut aftermath = None;
        loop {
            let now = Instant::now();
            let idle = now + self.options.idle;
            let deadline = match stream.progress() {
                // Deadlines are asked here as well: comments may come so fast that no timer is ever looked at.
                Progress::Waiting if now >= first => return Err(self.no_answer()),
                Progress::Waiting => idle.min(first),
                Progress::Begun => idle,
                Progress::Complete if aftermath.is_some_and(|end| now >= end) => break,
                Progress::Complete => *aftermath.get_or_insert(now + AFTERMATH.min(self.options.idle)),
                Progress::Over => break,
            };
            let bytes = match timeout_at(deadline, response.chunk()).await {
                Ok(Ok(Some(bytes))) => bytes,
                Ok(Ok(None)) => {
                    stream.end(response.status().as_u16(), deltas)?;
                    break;
                }
                // The answer is whole, whatever happens to the connection.
                Ok(Err(_)) | Err(_) if stream.progress() == Progress::Complete => break,
                Ok(Err(error)) => return Err(self.broken(&error)),
                Err(_) if deadline < idle => return Err(self.no_answer()),
                Err(_) => return Err(self.silence()),
            };
            stream.feed(&bytes, deltas)?;
        }
        if stream.progress() == Progress::Over {
            // The end of the body is usually here already; a connection dropped before it cannot be used again.
            let _ = timeout(LINGER, async { while let Ok(Some(_)) = response.chunk().await {} }).await;
        }
        stream.decoder.finish(deltas)
    }

    /// What the provider does differently, as far as it is known by now.
    fn compat(&self) -> Cow<'_, Compat> {
        if self.unsummed.load(Ordering::Relaxed) {
            Cow::Owned(Compat { reasoning_summary: false, ..self.compat.clone() })
        } else {
            Cow::Borrowed(&self.compat)
        }
    }

    fn place(&self) -> String {
        place(&self.url)
    }

    fn unreachable(&self, error: &reqwest::Error) -> ModelError {
        connection::failure(error, &self.place(), self.via.as_ref(), &self.options).error
    }

    fn broken(&self, error: &reqwest::Error) -> ModelError {
        let message = format!("the stream from {} broke off: {}", self.place(), connection::cause(error));
        ModelError::new(ErrorKind::Network, message)
    }

    fn no_answer(&self) -> ModelError {
        let seconds = self.options.first_byte.as_secs_f64();
        ModelError::new(ErrorKind::Timeout, format!("no answer from {} within {seconds} s", self.place()))
    }

    fn silence(&self) -> ModelError {
        let seconds = self.options.idle.as_secs_f64();
        ModelError::new(ErrorKind::Timeout, format!("nothing came from {} for {seconds} s", self.place()))
    }
}

impl Model for HttpModel {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    fn reply<'a>(
        &'a self,
        request: &'a Request,
        deltas: &'a mut dyn FnMut(Delta<'_>),
        cancel: &'a Cancel,
    ) -> ReplyFuture<'a> {
        Box::pin(async move {
            // Dropping the attempt closes its connection.
            tokio::select! {
                biased;
                () = cancel.cancelled() => Err(ModelError::new(ErrorKind::Cancelled, "cancelled")),
                outcome = self.attempt(request, deltas) => outcome.map_err(|error| {
                    let sees = self.info.images && request.holds_picture();
                    let error = if sees { error } else { failure::without_picture(error) };
                    errors::redact(error, &self.secrets)
                })
            }
        })
    }
}

/// The body of a successful answer: a stream of events or, from servers that do not stream and from proxies, one piece.
struct Stream {
    decoder: Decoder,
    body: Body,
}

enum Body {
    /// Nothing but blanks so far.
    Unknown,
    Events(Box<Reader>),
    Whole(Vec<u8>),
}

impl Stream {
    fn new(decoder: Decoder) -> Self {
        Self { decoder, body: Body::Unknown }
    }

    fn progress(&self) -> Progress {
        match self.body {
            // A piece of a whole is a sign of an answer, but its end is the body's end.
            Body::Whole(_) => Progress::Begun,
            Body::Unknown | Body::Events(_) => self.decoder.progress(),
        }
    }

    fn feed(&mut self, bytes: &[u8], deltas: Deltas<'_>) -> Result<(), ModelError> {
        if let Body::Unknown = self.body {
            match bytes.iter().find(|byte| !byte.is_ascii_whitespace()) {
                Some(b'{' | b'[' | b'<') => self.body = Body::Whole(Vec::new()),
                Some(_) => self.body = Body::Events(Box::default()),
                None => return Ok(()),
            }
        }
        match &mut self.body {
            Body::Unknown => {}
            Body::Whole(whole) => {
                if whole.len() + bytes.len() > REPLY_BYTES {
                    return Err(failure::too_long());
                }
                whole.extend_from_slice(bytes);
            }
            Body::Events(reader) => {
                reader.feed(bytes);
                frames(reader, &mut self.decoder, deltas)?;
            }
        }
        Ok(())
    }

    /// The body has ended.
    fn end(&mut self, status: u16, deltas: Deltas<'_>) -> Result<(), ModelError> {
        match &mut self.body {
            Body::Unknown => Ok(()),
            Body::Events(reader) => {
                reader.end();
                frames(reader, &mut self.decoder, deltas)
            }
            Body::Whole(whole) => {
                let whole = std::mem::take(whole);
                self.body = Body::Unknown;
                let text = String::from_utf8_lossy(&whole);
                let text = halves::without(&text);
                let Ok(value) = serde_json::from_str::<Value>(&text) else {
                    return Err(errors::of_page(status, &whole));
                };
                if let Some(complaint) = Complaint::find(&value) {
                    return Err(complaint.error());
                }
                match self.decoder.frame(&text, deltas)? {
                    Progress::Complete | Progress::Over => Ok(()),
                    // JSON, but no answer: most likely another service.
                    Progress::Waiting | Progress::Begun => Err(errors::of_page(status, &whole)),
                }
            }
        }
    }
}

fn frames(reader: &mut Reader, decoder: &mut Decoder, deltas: Deltas<'_>) -> Result<(), ModelError> {
    loop {
        let frame = reader.frame().map_err(|sse::TooLong| failure::too_long())?;
        let Some(frame) = frame else { return Ok(()) };
        match decoder.frame(frame.data, deltas) {
            Ok(Progress::Over) => return Ok(()),
            Ok(Progress::Waiting | Progress::Begun | Progress::Complete) => {}
            // An error in words of its own.
            Err(_) if frame.event == "error" && serde_json::from_str::<Value>(frame.data).is_err() => {
                return Err(Complaint { message: frame.data.to_owned(), ..Complaint::default() }.error());
            }
            Err(error) => return Err(error),
        }
    }
}

/// The error in an answer whose status is no success.
async fn refusal(mut response: Response, via: Option<&Via>) -> ModelError {
    if let (StatusCode::PROXY_AUTHENTICATION_REQUIRED, Some(via)) = (response.status(), via) {
        let mut error = ModelError::new(ErrorKind::Network, connection::wants_password(via));
        error.retryable = false;
        return error;
    }
    let mut body = Vec::new();
    let _ = timeout(ERROR_WAIT, async {
        while let Ok(Some(bytes)) = response.chunk().await {
            body.extend_from_slice(&bytes);
            if body.len() > ERROR_BYTES {
                break;
            }
        }
    })
    .await;
    errors::of_status(response.status().as_u16(), response.headers(), &body)
}

/// Whether asking at this address takes certificates: of the server, or of the proxy before it. An address that is none
/// takes none; [`connect`] says what is wrong with it.
///
/// # Errors
///
/// As [`ProxySetting::choose`].
pub fn needs_certificates(base_url: &str, proxy: &ProxySetting) -> Result<bool, String> {
    let Ok(url) = Url::parse(base_url.trim()) else { return Ok(false) };
    let via = proxy.choose(&url)?;
    Ok(client::is_secure(&url, via.as_ref().map(|via| &via.url)))
}

/// The way to an address; `None` where the address, or that of the proxy, is none.
pub fn route(base_url: &str, proxy: &ProxySetting) -> Option<Route> {
    proxy.route(&Url::parse(base_url.trim()).ok()?).ok()
}

fn place(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    match url.port_or_known_default() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    }
}

fn invalid(message: impl Into<String>) -> ModelError {
    ModelError::new(ErrorKind::InvalidRequest, message)
}

/// Where requests go: slashes at the end of the base do not matter, nor whether the path is already there.
fn address(wire: Wire, base_url: &str, model: &str) -> Result<Url, ModelError> {
    let mut url = base(base_url)?;
    let path = wire.path(url.path(), model);
    url.set_path(&path);
    if let Some((name, value)) = wire.query()
        && !url.query_pairs().any(|(given, _)| given == name)
    {
        url.query_pairs_mut().append_pair(name, value);
    }
    Ok(url)
}

/// The address before a wire's own path.
fn base(base_url: &str) -> Result<Url, ModelError> {
    let url = Url::parse(base_url.trim()).map_err(|error| invalid(format!("base_url is not an address: {error}")))?;
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
        return Err(invalid("base_url must begin with http:// or https:// and name a host"));
    }
    Ok(url)
}

/// A wire's own headers and those of the configuration, which win.
fn header_map(own: Vec<Header>, given: &[(String, String)]) -> Result<HeaderMap, ModelError> {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    for Header { name, value, is_secret } in own {
        let mut value = HeaderValue::from_str(&value).map_err(|_| {
            let message = "the key holds characters that no header can carry, such as a line break";
            ModelError::new(ErrorKind::Auth, message)
        })?;
        value.set_sensitive(is_secret);
        headers.insert(name, value);
    }
    for (name, value) in given {
        let bad = || invalid(format!("the header `{}` cannot be sent", failure::one_line(name)));
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| bad())?;
        let value = HeaderValue::from_str(value).map_err(|_| bad())?;
        if FRAMING.contains(&name) {
            return Err(invalid(format!("the header `{name}` cannot be set: it follows from what is sent")));
        }
        headers.insert(name, value);
    }
    Ok(headers)
}

/// The key, and what stands in headers whose names say that they carry one.
fn secrets(key: Option<&str>, headers: &[(String, String)]) -> Vec<String> {
    let telling = headers.iter().filter(|(name, _)| is_secret_field(name));
    telling.flat_map(|(_, value)| of_header(value)).chain(key).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests;
