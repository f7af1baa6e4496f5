//! What an error that a provider reports means: its words and its status become a [`ModelError`].
//!
//! Pure: reads neither headers nor connections, and decides nothing about trying again beyond the flag.

use std::time::Duration;

use serde_json::Value;

use crate::base::text::{clean, cut};
use crate::model::error::{ErrorKind, ModelError};

/// How much of a provider's message is kept: whole sentences fit, a page does not.
const MESSAGE_CHARS: usize = 600;

/// What a provider said about a failure.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Complaint {
    /// The HTTP status, where it is one of a failure.
    pub status: Option<u16>,
    /// The error's `code`, `type` and `status`, as far as given, in lower case.
    pub words: Vec<String>,
    /// The message for people.
    pub message: String,
    /// How long to wait, where it is said here.
    pub wait: Option<Duration>,
}

impl Complaint {
    /// Finds the complaint in a JSON value that may be an error: `{"error": …}` in any of its shapes, the bodies of
    /// vLLM and `FastAPI`, or a list of one such object. `None` if it is something else.
    pub fn find(value: &Value) -> Option<Self> {
        match value {
            Value::Array(items) => items.first().and_then(Self::find),
            Value::Object(object) => {
                let is_error = |name: &str| object.get(name).and_then(Value::as_str) == Some("error");
                match object.get("error") {
                    Some(Value::Null | Value::Bool(_)) | None => {}
                    Some(Value::String(text)) if text.is_empty() => {}
                    Some(Value::Object(inner)) if inner.is_empty() => {}
                    Some(error) => {
                        let mut complaint = Self::read(error);
                        if complaint.message.is_empty() {
                            complaint.message = text_of(value, "message").unwrap_or_default();
                        }
                        return Some(complaint);
                    }
                }
                if is_error("object") || is_error("type") {
                    return Some(Self::read(value));
                }
                let holds_answer = object.contains_key("choices") || object.contains_key("content");
                let complains =
                    object.contains_key("detail") || object.contains_key("message") && object.contains_key("code");
                (complains && !holds_answer).then(|| Self::read(value))
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
        }
    }

    fn read(error: &Value) -> Self {
        let mut complaint = Self::default();
        match error {
            Value::String(text) => complaint.message.clone_from(text),
            Value::Object(object) => {
                for name in ["code", "type", "status"] {
                    match object.get(name) {
                        Some(Value::String(word)) => complaint.words.push(word.to_lowercase()),
                        Some(Value::Number(number)) => {
                            let status = number.as_u64().and_then(|code| u16::try_from(code).ok());
                            complaint.status = complaint.status.or(status.filter(|code| (400..600).contains(code)));
                            complaint.words.push(number.to_string());
                        }
                        Some(Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_)) | None => {}
                    }
                }
                complaint.details(object.get("details"));
                let said = ["message", "msg"].into_iter().find_map(|name| text_of(error, name));
                let said = said.or_else(|| object.get("detail").and_then(faults)).or_else(|| text_of(error, "detail"));
                let said = said.or_else(|| text_of(error, "error"));
                complaint.message = said.unwrap_or_default();
                // OpenRouter says "Provider returned error" and hides the provider's own words in here.
                if let Some(raw) = object.get("metadata").and_then(|metadata| text_of(metadata, "raw")) {
                    complaint.message = format!("{}: {raw}", complaint.message);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => complaint.message = error.to_string(),
        }
        complaint
    }

    /// Google's details: how long to wait, and whether what is used up comes back within minutes.
    fn details(&mut self, details: Option<&Value>) {
        for detail in details.and_then(Value::as_array).into_iter().flatten() {
            let kind = detail.get("@type").and_then(Value::as_str).unwrap_or_default();
            if kind.ends_with("google.rpc.RetryInfo") {
                let delay = detail.get("retryDelay").and_then(Value::as_str).and_then(|delay| delay.strip_suffix('s'));
                let seconds = delay.and_then(|seconds| seconds.parse().ok());
                self.wait = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
            } else if kind.ends_with("google.rpc.QuotaFailure") {
                let violations = detail.get("violations").and_then(Value::as_array).into_iter().flatten();
                let mut ids = violations.filter_map(|violation| violation.get("quotaId").and_then(Value::as_str));
                if ids.any(|id| id.contains("PerDay")) {
                    self.words.push(DAILY_QUOTA.to_owned());
                }
            }
        }
    }

    /// The error this complaint amounts to. Its message is one line, at most a few hundred characters.
    pub fn error(&self) -> ModelError {
        let (kind, retryable) = self.judge();
        let said = one_line(&self.message);
        let said = match (said.is_empty(), self.words.first()) {
            (false, _) => said,
            (true, Some(word)) => word.clone(),
            (true, None) => "no reason given".to_owned(),
        };
        let message = match self.status {
            Some(status) => format!("HTTP {status}: {said}"),
            None => format!("the provider reports: {said}"),
        };
        ModelError { kind, message, retryable, retry_after: self.wait.filter(|_| retryable) }
    }

    fn judge(&self) -> (ErrorKind, bool) {
        let text = self.message.to_lowercase();
        let named = |words: &[&str]| self.words.iter().any(|word| words.contains(&word.as_str()));
        let spelled = |parts: &[&str]| self.words.iter().any(|word| parts.iter().any(|part| word.contains(part)));
        let says = |parts: &[&str]| parts.iter().any(|part| text.contains(part));
        let status = self.status.unwrap_or(0);
        let limited = status == 429 || spelled(RATE_WORDS) || says(RATE_TEXTS);
        if status == 402 || named(QUOTA_CODES) || spelled(QUOTA_WORDS) || says(QUOTA_TEXTS) {
            return (ErrorKind::Auth, false);
        }
        if !limited && (spelled(CONTEXT_WORDS) || overflows(&text)) {
            return (ErrorKind::Context, false);
        }
        // Cerebras says no more than this when a request does not fit.
        if matches!(status, 400 | 413) && text.trim().is_empty() && self.words.is_empty() {
            return (ErrorKind::Context, false);
        }
        if spelled(FILTER_WORDS) || matches!(status, 400 | 403) && says(FILTER_TEXTS) && !says(ARGUMENT_TEXTS) {
            return (ErrorKind::Refused, false);
        }
        if spelled(SEAL_WORDS) || says(SEAL_TEXTS) {
            return (ErrorKind::Seal, false);
        }
        // Codes such as `image_too_large` come without a status inside a stream.
        if matches!(status, 0 | 400) && !limited && spelled(PICTURE_WORDS) {
            return (ErrorKind::Picture, false);
        }
        let pictured = match status {
            // Also where a model is not found: only of the search for one that sees.
            404 => says(SIGHTLESS),
            // A server without the part that reads pictures reports a failure of its own.
            400 | 413 | 415 | 422 | 500 => about_a_picture(&text) || status != 500 && holds_any(&text, WORDLESS),
            _ => false,
        };
        if pictured && !limited && !says(PICTURELESS) {
            // Without a picture to leave out it is a failure like any other of the server.
            return (ErrorKind::Picture, status == 500);
        }
        if limited {
            // What is used up for today does not come back by waiting.
            return (ErrorKind::RateLimit, !named(&[DAILY_QUOTA]));
        }
        if status == 401 || status == 403 || spelled(AUTH_WORDS) || says(AUTH_TEXTS) {
            return (ErrorKind::Auth, false);
        }
        if status == 529 || spelled(OVERLOAD_WORDS) || says(&["overloaded"]) {
            return (ErrorKind::Overload, true);
        }
        match status {
            408 => (ErrorKind::Timeout, true),
            // Groq's word for a call that its own reading of the model's words could not make sense of: it may yet.
            400 if named(&["tool_use_failed"]) => (ErrorKind::InvalidRequest, true),
            504 if spelled(&["deadline_exceeded"]) => (ErrorKind::Timeout, true),
            409 | 500.. => (ErrorKind::Overload, true),
            413 => (ErrorKind::Context, false),
            300.. => (ErrorKind::InvalidRequest, false),
            // An error without a status: inside a stream, or behind HTTP 200.
            _ if spelled(&["timeout", "deadline_exceeded"]) => (ErrorKind::Timeout, true),
            _ if spelled(INVALID_WORDS) => (ErrorKind::InvalidRequest, false),
            // What is not understood may pass, as with a status of 5xx.
            _ => (ErrorKind::Overload, true),
        }
    }
}

// Sources of these lists: the providers' documents on errors, and what their servers were seen to answer.
const RATE_WORDS: &[&str] = &["rate_limit", "ratelimit", "slow_down", "too_many_requests", "resource_exhausted"];
/// Our own word for a limit of Google's that counts by the day.
const DAILY_QUOTA: &str = "daily quota";
const RATE_TEXTS: &[&str] = &["rate limit", "rate-limit", "too many requests", "per minute", "per min "];
/// z.ai reports accounts without balance or plan as HTTP 429 with one of these codes.
const QUOTA_CODES: &[&str] = &["1110", "1111", "1112", "1113", "1121", "1308", "1309", "1310"];
const QUOTA_WORDS: &[&str] = &[
    "insufficient_quota",
    "credit_balance",
    "spend_limit_exceeded",
    "usage_limit_exceeded",
    "billing",
    "insufficient_balance",
    "insufficient_credits",
    "payment_required",
];
const QUOTA_TEXTS: &[&str] = &[
    "credit balance",
    "insufficient balance",
    "insufficient credits",
    "insufficient_quota",
    "no credits",
    "out of credits",
    "spend limit",
    "spending limit",
    // Anthropic's, of which the second comes as HTTP 429.
    "specified api usage limits",
    "required for long context requests",
];
const CONTEXT_WORDS: &[&str] =
    &["context_length_exceeded", "context_window_exceeded", "exceed_context_size", "request_too_large"];
const FILTER_WORDS: &[&str] = &["content_filter", "content_policy", "moderation", "sensitive"];
const FILTER_TEXTS: &[&str] =
    &["content filter", "content policy", "content management policy", "moderation", "flagged"];
/// What is said of fields that a server does not know, whatever their names mean.
const ARGUMENT_TEXTS: &[&str] =
    &["unrecognized request argument", "unsupported parameter", "unknown parameter", "unknown name", "not permitted"];
const AUTH_WORDS: &[&str] = &["authentication", "invalid_api_key", "permission", "unauthorized", "unauthenticated"];
const AUTH_TEXTS: &[&str] = &["api key not valid", "invalid api key", "incorrect api key"];
const OVERLOAD_WORDS: &[&str] = &["overloaded", "unavailable", "insufficient_system_resource"];
const INVALID_WORDS: &[&str] = &["invalid", "not_found", "unsupported", "bad_request"];

/// Phrases of an overflowing context: all parts of one, in this order.
const CONTEXT_TEXTS: &[&[&str]] = &[
    &["prompt is too long"],
    &["input is too long for requested model"],
    &["exceed context limit"],
    &["exceeds the context window"],
    &["input token count", "exceeds the maximum"],
    &["maximum prompt length is"],
    &["reduce the length of the messages"],
    &["maximum context length is"],
    &["exceeds the available context size"],
    &["greater than the context length"],
    &["context window exceeds limit"],
    &["exceeded model token limit"],
    &["too large for model with", "maximum context length"],
    &["context length exceeded"],
    &["context_length_exceeded"],
    &["model_context_window_exceeded"],
    &["token limit exceeded"],
    // TGI, vLLM and Ollama.
    &["`inputs` tokens", "must be <="],
    &["context length is only"],
    &["input length exceeds the context length"],
];
/// Phrases of an overflow as well as of a setting out of bounds: what was sent has to be named, and no setting.
const OVERFLOW_TEXTS: &[&str] = &["exceeds the limit of", "too many tokens"];
const SENT_NOUNS: &[&str] = &["prompt", "input", "context", "conversation", "messages", "token count"];
const SETTING_NOUNS: &[&str] = &[
    "max_tokens",
    "max_new_tokens",
    "max_completion_tokens",
    "max_output_tokens",
    "maxoutputtokens",
    "temperature",
    "budget",
];

/// Seals of reasoning: Anthropic's, OpenAI's and Google's.
const SEAL_WORDS: &[&str] = &["invalid_encrypted_content", "thinking_signature_invalid"];
const SEAL_TEXTS: &[&str] = &[
    "invalid `signature` in `thinking`",
    "invalid signature in thinking",
    "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified",
    "encrypted content could not be verified",
    "encrypted content for item",
    "thought signature is not valid",
    "corrupted thought signature",
    "missing a `thought_signature`",
    "missing a thought_signature",
    "thought_signature' (type_bytes)",
    "thinking.signature",
    "expected `thinking` or `redacted_thinking`",
    // Of reasoning without what it led to, and of that without the reasoning.
    "was provided without its required",
    "encrypted content is not supported",
];

/// All codes of the responses wire about pictures hold it.
const PICTURE_WORDS: &[&str] = &["image"];
/// What is said of a picture without a word about it: all parts of one, in this order. By Google of one that it cannot
/// read, by servers of models without eyes that know content as text alone.
const WORDLESS: &[&[&str]] = &[
    &["request contains an invalid argument"],
    &["content", "must be a string"],
    &["content", "expected a string"],
    &["content", "input should be a valid string"],
    &["input should be 'text'"],
    &["expected `text`"],
];
/// `OpenRouter`'s, where no provider of a model takes pictures.
const SIGHTLESS: &[&str] = &["no endpoints found that support image"];
/// Words about a picture, and words of a refusal: one of each makes it likely that a picture is at fault.
const PICTURE_NOUNS: &[&str] = &[
    "image",
    "images",
    "image_url",
    "input_image",
    "picture",
    "pictures",
    "multimodal",
    "mmproj",
    "vision",
    "inline_data",
];
const PICTURE_REFUSALS: &[&str] = &[
    "could not process",
    "cannot process",
    "unable to process",
    "failed to process",
    "not support",
    "unsupported",
    "not enabled",
    "not a valid",
    "not valid",
    "not represent a valid",
    "invalid",
    "exceed",
    "too large",
    "too many",
    "too small",
    "at most",
    "decode",
    "corrupt",
    "does not match",
    "do not match",
    "appears to be",
    "must be one of",
    "is required",
    "only supports text",
    "only supported by",
    "unknown variant",
    "is not a multimodal model",
];
/// Where something else is named that may be called after a picture: a tool, or a field that is not known.
const PICTURELESS: &[&str] =
    &["tool name", "function name", "tools[", "tools.", "unsupported parameter", "unrecognized request argument"];

fn about_a_picture(text: &str) -> bool {
    // Part of another word, such as `provision`, or of a name, such as `gpt-image-1` and `docker_image`, it is none.
    let joins = |other: char| other.is_alphanumeric() || matches!(other, '-' | '_');
    let alone = |at: usize, noun: &str| {
        let (before, after) = (text.get(..at).unwrap_or_default(), text.get(at + noun.len()..).unwrap_or_default());
        !before.ends_with(joins) && !after.starts_with(joins)
    };
    let named = PICTURE_NOUNS.iter().any(|noun| text.match_indices(noun).any(|(at, _)| alone(at, noun)));
    named && PICTURE_REFUSALS.iter().any(|refusal| text.contains(refusal))
}

/// What an error amounts to whose request held no picture: then none is at fault, whatever the words are.
pub fn without_picture(error: ModelError) -> ModelError {
    if error.kind != ErrorKind::Picture {
        return error;
    }
    let of = |status: &str| error.message.starts_with(status);
    let kind = if of("HTTP 500:") {
        ErrorKind::Overload
    } else if of("HTTP 413:") {
        ErrorKind::Context
    } else {
        ErrorKind::InvalidRequest
    };
    ModelError { kind, ..error }
}

fn overflows(text: &str) -> bool {
    let any = |parts: &[&str]| parts.iter().any(|part| text.contains(part));
    let sent = text.trim_start().starts_with("too many tokens") || any(SENT_NOUNS);
    holds_any(text, CONTEXT_TEXTS) || any(OVERFLOW_TEXTS) && sent && !any(SETTING_NOUNS)
}

/// Whether a text holds all parts of one of the phrases, in their order.
fn holds_any(text: &str, phrases: &[&[&str]]) -> bool {
    phrases.iter().any(|parts| {
        let mut rest = text;
        parts.iter().all(|part| match rest.split_once(part) {
            Some((_, after)) => {
                rest = after;
                true
            }
            None => false,
        })
    })
}

/// What pydantic finds wrong with a request, as `FastAPI` lists it: places and words. Each fault also repeats what was
/// sent, which may be the conversation: nothing is to be told or judged by that.
fn faults(detail: &Value) -> Option<String> {
    let fault = |fault: &Value| {
        let said = fault.get("msg")?.as_str()?;
        let place = fault.get("loc").and_then(Value::as_array).into_iter().flatten();
        let place: Vec<String> =
            place.map(|step| step.as_str().map_or_else(|| step.to_string(), str::to_owned)).collect();
        Some(if place.is_empty() { said.to_owned() } else { format!("{}: {said}", place.join(".")) })
    };
    let faults: Option<Vec<String>> = detail.as_array()?.iter().map(fault).collect();
    faults.filter(|faults| !faults.is_empty()).map(|faults| faults.join("; "))
}

fn text_of(value: &Value, name: &str) -> Option<String> {
    let found = value.get(name)?;
    match found {
        Value::String(text) => Some(text.clone()),
        Value::Array(_) | Value::Object(_) => Some(found.to_string()),
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

/// `text` as one line without control characters, cut to a length an error may have.
pub fn one_line(text: &str) -> String {
    // Cut first: a server may send megabytes.
    clean::line(&cut::ellipsis(text.trim(), MESSAGE_CHARS))
}

/// `OpenAI` sums up reasoning for verified organizations only, and refuses the request of any other. The same error, to be
/// tried again at once without the wish for a summary; `None` for any other error.
pub fn without_summary(error: &ModelError) -> Option<ModelError> {
    if error.kind != ErrorKind::InvalidRequest || !error.message.contains(UNVERIFIED) {
        return None;
    }
    let message = format!(
        "{}; no summary is asked for from now on, nor in later runs with `reasoning_summary: false` in the provider's `compat`",
        error.message.trim_end_matches('.')
    );
    Some(ModelError { message, retryable: true, retry_after: Some(Duration::ZERO), ..error.clone() })
}

/// Source: what `OpenAI`'s server answers, as reported in many issues of its clients.
const UNVERIFIED: &str = "must be verified to generate reasoning summaries";

/// The error of a stream that ended before the answer did.
pub fn broke_off() -> ModelError {
    ModelError::new(ErrorKind::Network, "the stream broke off before the answer was complete")
}

/// The error of an answer, or of one event of its stream, that is longer than any answer.
pub fn too_long() -> ModelError {
    // Asked again, the model or the server would most likely go astray again.
    ModelError::new(ErrorKind::InvalidRequest, "the answer is longer than any model writes, and was left")
}

/// The error of a frame that cannot be read.
pub fn unreadable(data: &str) -> ModelError {
    let excerpt = cut::ellipsis(&one_line(data), 120);
    ModelError::new(ErrorKind::Network, format!("the stream holds something that is not JSON: {excerpt}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn judged(status: u16, body: &Value) -> (ErrorKind, bool) {
        let mut complaint = Complaint::find(body).unwrap_or_default();
        complaint.status = if status == 200 { complaint.status } else { Some(status) };
        let error = complaint.error();
        (error.kind, error.retryable)
    }

    fn openai(code: &str, message: &str) -> Value {
        json!({"error": {"message": message, "type": "x", "code": code}})
    }

    fn anthropic(kind: &str, message: &str) -> Value {
        json!({"type": "error", "error": {"type": kind, "message": message}})
    }

    #[test]
    fn statuses_and_words_are_told_apart() {
        use ErrorKind::{Auth, Context, InvalidRequest, Overload, RateLimit, Refused, Seal, Timeout};
        let table = [
            (401, openai("invalid_api_key", "Incorrect API key"), Auth, false),
            (403, openai("", "not for you"), Auth, false),
            (403, json!({"error": {"code": 403, "message": "Your input was flagged"}}), Refused, false),
            (402, json!({"error": {"message": "Insufficient credits", "code": 402}}), Auth, false),
            (200, json!({"error": {"message": "no credits left", "code": 402}}), Auth, false),
            (429, openai("rate_limit_exceeded", "slow down"), RateLimit, true),
            (429, openai("insufficient_quota", "You exceeded your current quota"), Auth, false),
            (429, json!({"error": {"code": "1113", "message": "balance"}}), Auth, false),
            (429, openai("x", "too many tokens per minute"), RateLimit, true),
            (400, anthropic("invalid_request_error", "Your credit balance is too low"), Auth, false),
            (
                400,
                anthropic("invalid_request_error", "You have reached your specified API usage limits. You will"),
                Auth,
                false,
            ),
            (429, anthropic("rate_limit_error", "Usage credits are required for long context requests."), Auth, false),
            (400, anthropic("invalid_request_error", "prompt is too long: 9 tokens > 8 maximum"), Context, false),
            (400, openai("context_length_exceeded", "x"), Context, false),
            (400, openai("", "The input token count (9) exceeds the maximum number"), Context, false),
            (
                400,
                anthropic("invalid_request_error", "messages.1.content.0: Invalid `signature` in `thinking` block"),
                Seal,
                false,
            ),
            (
                400,
                openai("invalid_encrypted_content", "The encrypted content for item rs_1 could not be verified."),
                Seal,
                false,
            ),
            (400, json!({"error": {"code": 400, "message": "Thought signature is not valid"}}), Seal, false),
            (413, json!({}), Context, false),
            (400, json!({}), Context, false),
            (400, openai("content_filter", "filtered"), Refused, false),
            (400, openai("", "no such parameter"), InvalidRequest, false),
            (400, openai("tool_use_failed", "Failed to call a function."), InvalidRequest, true),
            (400, openai("", "API key not valid. Please pass a valid one"), Auth, false),
            (400, openai("", "a super minor problem"), InvalidRequest, false),
            (429, openai("", "Limit reached on tokens per min (TPM)"), RateLimit, true),
            (404, openai("model_not_found", "x"), InvalidRequest, false),
            (422, json!({"detail": [{"msg": "field required"}]}), InvalidRequest, false),
            (408, openai("", "x"), Timeout, true),
            (409, openai("", "x"), Overload, true),
            (500, openai("", "x"), Overload, true),
            (503, openai("server_is_overloaded", "busy"), Overload, true),
            (529, anthropic("overloaded_error", "Overloaded"), Overload, true),
            (200, anthropic("overloaded_error", "Overloaded"), Overload, true),
            (200, anthropic("api_error", "Internal"), Overload, true),
            (200, anthropic("rate_limit_error", "x"), RateLimit, true),
            (200, anthropic("authentication_error", "x"), Auth, false),
            (200, anthropic("invalid_request_error", "x"), InvalidRequest, false),
            (200, json!({"error": "something"}), Overload, true),
            (200, json!({"type": "error", "code": "server_is_overloaded", "message": "x"}), Overload, true),
            (200, json!({"error": {"code": "insufficient_quota", "message": "x"}}), Auth, false),
            (200, json!({"error": {"code": "context_length_exceeded", "message": "x"}}), Context, false),
            (
                200,
                json!({"object": "error", "message": "maximum context length is 5 tokens", "code": 400}),
                Context,
                false,
            ),
            (200, json!([{"error": {"code": 404, "message": "no model"}}]), InvalidRequest, false),
        ];
        for (status, body, kind, retryable) in table {
            assert_eq!(judged(status, &body), (kind, retryable), "{status} {body}");
        }
    }

    #[test]
    fn pictures_are_at_fault_only_where_they_are_meant() {
        use ErrorKind::{InvalidRequest, Picture, RateLimit};
        let openai = |code: &str, message: &str| json!({"error": {"message": message, "type": "x", "code": code}});
        let table = [
            (400, openai("invalid_image_format", "You uploaded an unsupported image."), Picture, false),
            (400, json!({"error": {"code": 400, "message": "Unable to process input image."}}), Picture, false),
            (500, openai("", "image input is not supported - you may need to provide the mmproj"), Picture, true),
            (400, openai("", "invalid revision: provisioned models do not support it"), InvalidRequest, false),
            (400, openai("", "The model `gpt-image-1` is not supported here"), InvalidRequest, false),
            (
                422,
                json!({"detail": [{"msg": "Field required", "loc": ["body", "x"], "input": "an invalid image, no credits"}]}),
                InvalidRequest,
                false,
            ),
            (400, openai("", "At most 0 image(s) may be provided in one prompt."), Picture, false),
            (404, openai("", "unsupported image model"), InvalidRequest, false),
            (400, openai("", "invalid tool name: docker_image"), InvalidRequest, false),
            (400, openai("", "Invalid tool name: image"), InvalidRequest, false),
            (400, openai("", "Unsupported parameter: 'vision_mode'"), InvalidRequest, false),
            (400, openai("", "Unrecognized request argument supplied: image"), InvalidRequest, false),
            (400, openai("", "tools[3].function: content must be a string"), InvalidRequest, false),
            (400, openai("", "invalid model: gemini-2.5-flash-image"), InvalidRequest, false),
            (429, openai("", "too many image requests"), RateLimit, true),
            (200, json!({"type": "error", "code": "image_too_large", "message": "x"}), Picture, false),
        ];
        for (status, body, kind, retryable) in table {
            assert_eq!(judged(status, &body), (kind, retryable), "{status} {body}");
        }
    }

    #[test]
    fn a_picture_is_found_at_fault() {
        let google = |message: &str| json!({"error": {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}});
        let table = [
            (400, anthropic("invalid_request_error", "messages.0.content.1.image: Could not process image")),
            (400, openai("invalid_image_format", "You uploaded an unsupported image.")),
            (400, google("Unable to process input image.")),
            (400, openai("", "At most 0 image(s) may be provided in one prompt.")),
            (400, google("Provided image is not valid.")),
            (400, google("Request contains an invalid argument.")),
            (400, openai("", "messages[1]: unknown variant `image_url`, expected `text` at line 1")),
            (400, openai("", "messages[0].content must be a string")),
            (400, openai("", "Qwen/Qwen3-8B is not a multimodal model")),
            (400, openai("", "Invalid content type. image_url is only supported by certain models.")),
            (400, openai("invalid_value", "The image data you provided does not represent a valid image.")),
            (400, openai("", "Image URL or base64 content is required")),
            (400, google("Image input modality is not enabled for models/gemma-3-1b-it")),
            (
                400,
                anthropic(
                    "invalid_request_error",
                    "messages.0.content.1.image.source.base64: The image was specified using the image/jpeg media type, \
                     but the image appears to be a image/png image",
                ),
            ),
            (400, openai("", "At most 1 image(s) may be provided in one prompt.")),
            (404, openai("", "No endpoints found that support image input")),
            (413, anthropic("invalid_request_error", "messages.0.content.1: image exceeds 5 MB maximum")),
            (415, openai("", "unsupported image type")),
            (422, openai("", "unknown variant `image_url`, expected `text`")),
            (422, json!({"detail": [{"loc": ["body", "messages", 0], "msg": "Input should be 'text'", "input": "s"}]})),
            (422, json!({"detail": [{"loc": ["messages", 0, "content"], "msg": "Input should be a valid string"}]})),
            (400, openai("", "messages[1].content: invalid type: sequence, expected a string at line 1")),
            (400, openai("", "Invalid type for 'messages[1].content': expected a string, but got an array instead.")),
            (200, json!({"type": "error", "code": "image_too_large", "message": "x"})),
        ];
        for (status, body) in table {
            assert_eq!(judged(status, &body), (ErrorKind::Picture, false), "{status} {body}");
        }
    }

    #[test]
    fn without_a_picture_none_is_at_fault() {
        for (status, kind, retryable) in [
            (400, ErrorKind::InvalidRequest, false),
            (413, ErrorKind::Context, false),
            (422, ErrorKind::InvalidRequest, false),
            (500, ErrorKind::Overload, true),
        ] {
            let body = openai("", "invalid image");
            let error = Complaint { status: Some(status), ..Complaint::find(&body).unwrap() }.error();
            assert_eq!(error.kind, ErrorKind::Picture, "{status}");
            let bare = without_picture(error.clone());
            assert_eq!((bare.kind, bare.retryable, &bare.message), (kind, retryable, &error.message), "{status}");
        }
        let other = ModelError::new(ErrorKind::Seal, "HTTP 500: image");
        assert_eq!(without_picture(other.clone()), other);
    }

    #[test]
    fn a_full_window_is_told_from_a_setting_out_of_bounds() {
        use ErrorKind::{Context, InvalidRequest, Refused};
        let table = [
            (400, "prompt token count of 9 exceeds the limit of 8", Context),
            (400, "too many tokens: size limit exceeded by 3 tokens", Context),
            (400, "The request has too many tokens in its messages", Context),
            (422, "`inputs` tokens + `max_new_tokens` must be <= 4097. Given: 5000 `inputs` tokens", Context),
            (
                400,
                "You passed 8193 input tokens. However, the model's context length is only 8192 tokens, resulting in a \
                 maximum input length of 8191 tokens.",
                Context,
            ),
            (500, "the input length exceeds the context length", Context),
            (400, "max_tokens: 50000 exceeds the limit of 8192", InvalidRequest),
            (400, "temperature: 3 exceeds the limit of 2", InvalidRequest),
            (400, "top_k exceeds the limit of 40", InvalidRequest),
            (400, "Thinking budget too many tokens", InvalidRequest),
            (400, "Unrecognized request argument supplied: moderation", InvalidRequest),
            (400, "Invalid JSON payload received. Unknown name \"moderation\": Cannot find field.", InvalidRequest),
            (400, "Your prompt was flagged by moderation", Refused),
        ];
        for (status, message, kind) in table {
            assert_eq!(judged(status, &openai("", message)), (kind, false), "{status} {message}");
        }
    }

    #[test]
    fn seals_that_are_refused_are_known() {
        for message in [
            "messages.1.content.0.thinking.signature: Field required",
            "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `text`. When `thinking` is",
            "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
            "Item 'fc_1' of type 'function_call' was provided without its required 'reasoning' item: 'rs_1'.",
            "Encrypted content is not supported with this model.",
            "Invalid value at 'contents[1].parts[0].thought_signature' (TYPE_BYTES), Base64 decoding failed for \"x\"",
        ] {
            assert_eq!(judged(400, &openai("", message)), (ErrorKind::Seal, false), "{message}");
        }
    }

    #[test]
    fn googles_details_tell_how_long_to_wait() {
        let exhausted = |quota: &str, delay: &str| {
            let body = json!([{"error": {"code": 429, "status": "RESOURCE_EXHAUSTED",
                "message": "You exceeded your current quota, please check your plan and billing details.",
                "details": [
                    {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"quotaId": quota}]},
                    {"@type": "type.googleapis.com/google.rpc.Help", "links": []},
                    {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay}]}}]);
            let error = Complaint::find(&body).unwrap().error();
            (error.kind, error.retryable, error.retry_after)
        };
        let (minute, day) =
            ("GenerateRequestsPerMinutePerProjectPerModel-FreeTier", "GenerateRequestsPerDayPerProject");
        let wait = |millis| Some(Duration::from_millis(millis));
        assert_eq!(exhausted(minute, "58.5s"), (ErrorKind::RateLimit, true, wait(58_500)));
        assert_eq!(exhausted(minute, "7s"), (ErrorKind::RateLimit, true, wait(7000)));
        for nonsense in ["-1s", "soon", "", "1e999s", "5"] {
            assert_eq!(exhausted(minute, nonsense), (ErrorKind::RateLimit, true, None), "{nonsense}");
        }
        assert_eq!(exhausted(day, "5s"), (ErrorKind::RateLimit, false, None));
        for odd in [json!({}), json!([null, 1, {"@type": 5}, {"@type": "google.rpc.QuotaFailure"}])] {
            let body = json!({"error": {"code": 429, "message": "x", "details": odd}});
            assert!(Complaint::find(&body).unwrap().error().retryable);
        }
        let late = json!({"error": {"code": 504, "status": "DEADLINE_EXCEEDED", "message": "x"}});
        assert_eq!(judged(504, &late), (ErrorKind::Timeout, true));
    }

    #[test]
    fn what_is_no_error_is_none() {
        for body in
            [json!({"choices": []}), json!({"error": null}), json!({"error": {}}), json!(3), json!({"type": "ping"})]
        {
            assert_eq!(Complaint::find(&body), None, "{body}");
        }
    }

    #[test]
    fn only_the_refusal_of_a_summary_is_worth_asking_without_one() {
        let refused = "Your organization must be verified to generate reasoning summaries. Please go to: https://x.";
        let body = json!({"error": {"message": refused, "param": "reasoning.summary", "code": "unsupported_value"}});
        let error = Complaint { status: Some(400), ..Complaint::find(&body).unwrap() }.error();
        assert_eq!((error.kind, error.retryable), (ErrorKind::InvalidRequest, false));
        let again = without_summary(&error).unwrap();
        assert_eq!((again.kind, again.retryable, again.retry_after), (error.kind, true, Some(Duration::ZERO)));
        assert!(again.message.contains("verified") && again.message.contains("`reasoning_summary: false`"), "{again}");
        let other = ModelError::new(ErrorKind::InvalidRequest, "HTTP 400: no such parameter: reasoning.summary");
        assert_eq!(without_summary(&other), None);
    }

    #[test]
    fn messages_are_one_line() {
        let message = "a\n\tb\u{7}  c".to_owned();
        let complaint = Complaint { status: Some(500), message, ..Complaint::default() };
        assert_eq!(complaint.error().message, "HTTP 500: a b c");
        let hidden = json!({"error": {"message": "Provider returned error", "code": 502, "metadata": {"raw": "boom"}}});
        assert_eq!(Complaint::find(&hidden).unwrap().error().message, "HTTP 502: Provider returned error: boom");
        let faults = json!({"detail": [
            {"type": "missing", "loc": ["body", "messages", 0], "msg": "Field required", "input": "s3cret"},
            {"msg": "too short"}]});
        let faults = Complaint::find(&faults).unwrap();
        assert_eq!(faults.message, "body.messages.0: Field required; too short");
        let odd = Complaint::find(&json!({"detail": [{"why": "odd"}]})).unwrap();
        assert_eq!(odd.message, r#"[{"why":"odd"}]"#);
        assert_eq!(Complaint::default().error().message, "the provider reports: no reason given");
    }
}
