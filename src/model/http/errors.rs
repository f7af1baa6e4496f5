//! Turns an answer that is none into one line and a kind.
//!
//! What the server itself reports is judged in `provider::failure`, connections in `connection`; here are statuses, pages
//! and headers.

use std::time::Duration;

use jiff::fmt::rfc2822;
use reqwest::header::{CONTENT_ENCODING, HeaderMap};
use reqwest::{Response, StatusCode};
use serde_json::Value;

use crate::base::clock::Clock;
use crate::base::secret::SHORTEST_BYTES;
use crate::base::text::cut;
use crate::model::error::{ErrorKind, ModelError};
use crate::model::provider::failure::{Complaint, one_line};

/// How much of a page without JSON is shown.
const PAGE_CHARS: usize = 200;
/// How much of a page is looked at: titles stand at the top.
const PAGE_BYTES: usize = 64 << 10;

/// What a longer wait counts as, lest a clock overflows: longer than anybody waits.
const LONGEST_WAIT: Duration = Duration::from_secs(u32::MAX as u64);

/// Looks whether a success can hold an answer that we read.
///
/// # Errors
///
/// It holds nothing by its status, or is compressed, which was not asked for; the next attempt would end alike. `place` is
/// the server's `host:port`.
pub fn check_head(response: &Response, place: &str) -> Result<(), ModelError> {
    let status = response.status();
    let invalid = |message| Err(ModelError::new(ErrorKind::InvalidRequest, message));
    if matches!(status, StatusCode::NO_CONTENT | StatusCode::RESET_CONTENT) {
        let status = status.as_u16();
        return invalid(format!("HTTP {status}: {place} sends no content instead of an answer; base_url may be wrong"));
    }
    match encoding(response.headers()) {
        Some(encoding) => invalid(format!(
            "the answer from {place} is compressed ({encoding}), though that was not asked for; is a proxy in the way?"
        )),
        None => Ok(()),
    }
}

/// How a body is compressed, if it is.
fn encoding(headers: &HeaderMap) -> Option<String> {
    let given = headers.get(CONTENT_ENCODING)?;
    let named = one_line(&String::from_utf8_lossy(given.as_bytes())).to_lowercase();
    (!named.is_empty() && named != "identity").then_some(named)
}

/// The error of an answer with a status that is no success.
pub fn of_status(status: u16, headers: &HeaderMap, body: &[u8]) -> ModelError {
    // What is compressed holds no words.
    let body = if encoding(headers).is_some() { &[] } else { body };
    let body = body.get(..PAGE_BYTES).unwrap_or(body);
    let text = String::from_utf8_lossy(body);
    let value = serde_json::from_str::<Value>(&text).ok();
    let mut complaint = value.as_ref().map_or_else(
        || Complaint { message: page_text(&text), ..Complaint::default() },
        |value| {
            let bare = || Complaint { message: bare_text(value), ..Complaint::default() };
            Complaint::find(value).unwrap_or_else(bare)
        },
    );
    complaint.status = Some(status);
    let mut error = complaint.error();
    let target = headers.get("location").and_then(|target| target.to_str().ok());
    let target = target.and_then(|target| target.split(['?', '#']).next()).map(str::trim);
    if let (300..=399, Some(target)) = (status, target.filter(|target| !target.is_empty())) {
        error.message = format!("HTTP {status}: the server points to {}; base_url may be wrong", one_line(target));
    } else if complaint.message.trim().is_empty() && complaint.words.is_empty() {
        error.message = format!("HTTP {status}: {}", reason(status));
    }
    error.retry_after = retry_after(headers, Clock::System.now_ms()).or(error.retry_after);
    match headers.get("x-should-retry").map(reqwest::header::HeaderValue::as_bytes) {
        Some(b"true") => error.retryable = true,
        Some(b"false") => error.retryable = false,
        Some(_) | None => {}
    }
    error
}

fn reason(status: u16) -> &'static str {
    let known = StatusCode::from_u16(status).ok().and_then(|status| status.canonical_reason());
    known.unwrap_or("no reason given")
}

/// What a JSON body says that has none of the known shapes.
fn bare_text(value: &Value) -> String {
    let message = value.get("message").and_then(Value::as_str);
    match value {
        Value::Object(object) if object.is_empty() => String::new(),
        Value::String(text) => text.clone(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            message.map_or_else(|| value.to_string(), str::to_owned)
        }
    }
}

/// The error of a success that holds a page instead of an answer.
pub fn of_page(status: u16, body: &[u8]) -> ModelError {
    let body = body.get(..PAGE_BYTES).unwrap_or(body);
    let said = page_text(&String::from_utf8_lossy(body));
    let said = if said.is_empty() { "an empty page".to_owned() } else { format!("\"{said}\"") };
    let message =
        format!("HTTP {status}: a web page instead of an answer, {said}; is base_url right, or a proxy in the way?");
    ModelError::new(ErrorKind::InvalidRequest, message)
}

/// The words of a page without its markup, in one line.
fn page_text(page: &str) -> String {
    let mut words = String::new();
    let mut rest = page;
    while let Some((text, after)) = rest.split_once('<') {
        words.push_str(text);
        words.push(' ');
        let name: String =
            after.chars().take_while(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
        // What stands inside these is for machines.
        let hidden = matches!(name.as_str(), "script" | "style" | "title" | "svg");
        let end = after.split_once('>').map_or("", |(_, after)| after);
        rest = if hidden { skip_element(end, &name) } else { end };
    }
    words.push_str(rest);
    let words = words.replace("&nbsp;", " ").replace("&lt;", "‹").replace("&gt;", "›").replace("&amp;", "&");
    let words = one_line(&words);
    let words = if words.is_empty() { title(page) } else { words };
    cut::ellipsis(&words, PAGE_CHARS)
}

fn skip_element<'a>(rest: &'a str, name: &str) -> &'a str {
    let lower = rest.to_ascii_lowercase();
    let end = lower.find(&format!("</{name}")).and_then(|place| rest.get(place..));
    end.and_then(|tag| tag.split_once('>')).map_or("", |(_, after)| after)
}

fn title(page: &str) -> String {
    let title = page.split_once("<title>").and_then(|(_, after)| after.split_once("</title>"));
    title.map(|(title, _)| one_line(title)).unwrap_or_default()
}

/// How long the server asks to wait: in milliseconds, in seconds, or until a date.
fn retry_after(headers: &HeaderMap, now_ms: i64) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let seconds = |text: &str| {
        let seconds = text.parse::<f64>().ok().filter(|seconds| seconds.is_finite())?;
        Duration::try_from_secs_f64(seconds.min(LONGEST_WAIT.as_secs_f64())).ok()
    };
    if let Some(wait) = text("retry-after-ms").and_then(seconds) {
        return Some(wait / 1000);
    }
    let given = text("retry-after")?;
    if let Some(wait) = seconds(given) {
        return Some(wait);
    }
    let until = rfc2822::DateTimeParser::new().relaxed_weekday(true).parse_timestamp(given).ok()?;
    Some(Duration::from_millis(u64::try_from(until.as_millisecond() - now_ms).unwrap_or(0)))
}

/// Takes keys out of a message, should a server have echoed them.
pub fn redact(mut error: ModelError, secrets: &[String]) -> ModelError {
    // Shorter ones are words that may well occur, such as the placeholder of a local server.
    for secret in secrets.iter().filter(|secret| secret.len() >= SHORTEST_BYTES) {
        if error.message.contains(secret.as_str()) {
            error.message = error.message.replace(secret.as_str(), "***");
        }
    }
    error
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
    }

    #[test]
    fn waits_are_read_in_every_form() {
        // 1994-11-06T08:49:00Z
        let now = 784_111_740_000;
        let wait = |name, value| retry_after(&headers(&[(name, value)]), now);
        assert_eq!(wait("retry-after", "2"), Some(Duration::from_secs(2)));
        assert_eq!(wait("retry-after", "0.5"), Some(Duration::from_millis(500)));
        assert_eq!(wait("retry-after-ms", "1500"), Some(Duration::from_millis(1500)));
        assert_eq!(wait("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT"), Some(Duration::from_secs(37)));
        assert_eq!(wait("retry-after", "Sun, 06 Nov 1994 08:48:37 GMT"), Some(Duration::ZERO));
        assert_eq!(wait("retry-after", "86400000"), Some(Duration::from_secs(86_400_000)));
        assert_eq!(wait("retry-after", "99999999999999999999"), Some(LONGEST_WAIT));
        assert_eq!(wait("retry-after-ms", "99999999999999999999999"), Some(LONGEST_WAIT / 1000));
        for nonsense in ["-1", "soon", "", "1e999", "NaN"] {
            assert_eq!(wait("retry-after", nonsense), None, "{nonsense}");
        }
    }

    #[test]
    fn pages_lose_their_markup() {
        let page =
            "<html><head><title>502</title><style>a > b {}</style></head><body>\n<h1>Bad gateway</h1></body></html>";
        let error = of_status(502, &HeaderMap::new(), page.as_bytes());
        assert_eq!(error.message, "HTTP 502: Bad gateway");
        assert!(error.retryable);
        assert_eq!(of_status(503, &HeaderMap::new(), b"").message, "HTTP 503: Service Unavailable");
        assert_eq!(page_text("<title>only\nthis</title>"), "only this");
        for broken in ["<", "<script>", "a<b", "<script", "</", "<é>x"] {
            assert!(!page_text(broken).contains('<'), "{broken}");
        }
        let login = of_page(200, b"<html>login here</html>");
        assert!(login.message.contains("\"login here\"") && !login.retryable);
    }

    #[test]
    fn statuses_keep_the_servers_words() {
        let of = |status, body: &str| of_status(status, &HeaderMap::new(), body.as_bytes());
        assert_eq!(of(400, r#"{"error": {"message": "no such model"}}"#).message, "HTTP 400: no such model");
        assert_eq!(of(404, r#"{"message": "no route"}"#).message, "HTTP 404: no route");
        assert_eq!(of(404, "404 page not found").message, "HTTP 404: 404 page not found");
        assert_eq!(of(413, "").kind, ErrorKind::Context);
        assert_eq!(of(400, "").kind, ErrorKind::Context);
        let null = of(400, "null");
        assert_eq!((null.kind, null.message.as_str()), (ErrorKind::InvalidRequest, "HTTP 400: null"));
        assert!(!of_status(500, &headers(&[("x-should-retry", "false")]), b"x").retryable);
        assert!(of_status(400, &headers(&[("x-should-retry", "true")]), b"x").retryable);
        let moved = of_status(302, &headers(&[("location", "https://login.example/?token=s3cret")]), b"");
        assert_eq!(moved.kind, ErrorKind::InvalidRequest);
        assert!(moved.message.contains("https://login.example/") && !moved.message.contains("s3cret"));
    }

    #[test]
    fn keys_are_taken_out() {
        let error = ModelError::new(ErrorKind::Auth, "wrong key sk-12345678!");
        assert_eq!(redact(error.clone(), &["sk-12345678".to_owned()]).message, "wrong key ***!");
        assert_eq!(redact(error, &["key".to_owned()]).message, "wrong key sk-12345678!");
    }
}
