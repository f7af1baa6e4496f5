//! Asks a provider which models it lists: one GET, by the same client, proxy, certificates and errors as any request. It
//! costs no tokens, and tells whether the key is accepted.
//!
//! Decides nothing about keys or models.

use reqwest::{Client, Url};
use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use super::connection::{self, Failure, Stage};
use super::{Endpoint, HttpOptions, Via, base, client, errors, header_map, invalid, place, refusal, secrets};
use crate::base::cancel::Cancel;
use crate::model::Api;
use crate::model::error::{ErrorKind, ModelError};
use crate::model::provider::failure::Complaint;
use crate::model::provider::{Wire, anthropic, openai_chat, openai_responses};

/// More than the longest list, in bytes: those of routers with hundreds of models take one or two megabytes.
const LIST_BYTES: usize = 16 << 20;

/// The models that a provider lists, in its order. What is known about the endpoint's own model does not matter. The
/// answer must have come whole within `options.first_byte`.
///
/// # Errors
///
/// As those of a request; an answer that is no list is [`ErrorKind::InvalidRequest`].
pub async fn list_models(
    endpoint: &Endpoint,
    options: &HttpOptions,
    cancel: &Cancel,
) -> Result<Vec<String>, ModelError> {
    probe(endpoint, options, cancel).await.map_err(|failure| failure.error)
}

/// The same, with how far a failed request came.
///
/// # Errors
///
/// As [`list_models`].
pub async fn probe(endpoint: &Endpoint, options: &HttpOptions, cancel: &Cancel) -> Result<Vec<String>, Failure> {
    let Endpoint { info: _, api, base_url, key, headers, compat: _ } = endpoint;
    let settings = |error| Failure::new(Stage::Settings, error);
    let secrets = secrets(key.as_deref(), headers);
    let asked = async {
        let url = address(*api, base_url).map_err(settings)?;
        let own = Wire::of(*api).map(|wire| wire.headers(key.as_deref())).unwrap_or_default();
        let headers = header_map(own, headers).map_err(settings)?;
        let via = options.proxy.choose(&url).map_err(|problem| settings(invalid(problem)))?;
        let client = client::build(&url, via.as_ref().map(|via| &via.url), options).map_err(settings)?;
        let deadline = Instant::now() + options.first_byte;
        let get = |url: Url| client.get(url).headers(headers.clone());
        let asker = Asker { client: &client, via: via.as_ref(), options, deadline };
        let models = models(&asker.ask(get(url.clone())).await?).map_err(|error| Failure::new(Stage::Http, error))?;
        if let Some(url) = key.as_ref().and(key_address(&url)) {
            asker.ask(get(url)).await?;
        }
        Ok(models)
    };
    tokio::select! {
        biased;
        () = cancel.cancelled() => {
            Err(Failure::new(Stage::Http, ModelError::new(ErrorKind::Cancelled, "cancelled")))
        }
        outcome = asked => outcome.map_err(|failure: Failure| {
            Failure { error: errors::redact(failure.error, &secrets), ..failure }
        })
    }
}

/// What a question needs besides the question.
struct Asker<'a> {
    client: &'a Client,
    via: Option<&'a Via>,
    options: &'a HttpOptions,
    deadline: Instant,
}

impl Asker<'_> {
    /// The JSON of an answer.
    async fn ask(&self, request: reqwest::RequestBuilder) -> Result<Value, Failure> {
        let request = request.build().map_err(|error| self.failed(&error, ""))?;
        let place = place(request.url());
        let late = || {
            let seconds = self.options.first_byte.as_secs_f64();
            let message = format!("no answer from {place} within {seconds} s");
            Failure::new(Stage::Http, ModelError::new(ErrorKind::Timeout, message))
        };
        let http = |error| Failure::new(Stage::Http, error);
        let sent = timeout_at(self.deadline, self.client.execute(request)).await.map_err(|_| late())?;
        let mut response = sent.map_err(|error| self.failed(&error, &place))?;
        let status = response.status();
        if !status.is_success() {
            let is_proxys = status == reqwest::StatusCode::PROXY_AUTHENTICATION_REQUIRED && self.via.is_some();
            let stage = if is_proxys { Stage::Proxy } else { Stage::Http };
            let refused = timeout_at(self.deadline, refusal(response, self.via)).await.map_err(|_| late())?;
            return Err(Failure { status: Some(status.as_u16()), ..Failure::new(stage, refused) });
        }
        errors::check_head(&response, &place).map_err(http)?;
        let mut body = Vec::new();
        loop {
            match timeout_at(self.deadline, response.chunk()).await.map_err(|_| late())? {
                Ok(Some(bytes)) if body.len() + bytes.len() <= LIST_BYTES => body.extend_from_slice(&bytes),
                Ok(Some(_)) => {
                    return Err(http(invalid(format!("the list of models from {place} is longer than any"))));
                }
                Ok(None) => break,
                Err(error) => return Err(self.failed(&error, &place)),
            }
        }
        let value = serde_json::from_slice(&body).map_err(|_| http(errors::of_page(status.as_u16(), &body)))?;
        match Complaint::find(&value) {
            Some(complaint) => Err(http(complaint.error())),
            None => Ok(value),
        }
    }

    fn failed(&self, error: &reqwest::Error, place: &str) -> Failure {
        connection::failure(error, place, self.via, self.options)
    }
}

/// Where the list is. The wire's own path at the end of the base does not matter.
fn address(api: Api, base_url: &str) -> Result<Url, ModelError> {
    let mut url = base(base_url)?;
    let path = url.path().trim_end_matches('/').to_owned();
    let (own, list) = match api {
        Api::OpenaiCompletions => (openai_chat::PATH, "/models"),
        Api::OpenaiResponses => (openai_responses::PATH, "/models"),
        Api::AnthropicMessages => (anthropic::PATH, "/v1/models"),
        Api::GoogleGenerativeAi => ("/models", "/models"),
        Api::Replay => return Err(invalid("a record is no server that could be asked")),
    };
    let path = path.strip_suffix(own).unwrap_or(&path);
    let path = match api {
        Api::AnthropicMessages => path.strip_suffix(anthropic::OPTIONAL_PATH).unwrap_or(path),
        Api::OpenaiCompletions | Api::OpenaiResponses | Api::GoogleGenerativeAi | Api::Replay => path,
    };
    url.set_path(&format!("{}{list}", path.trim_end_matches('/')));
    // Unasked, these list 20 and 50: https://platform.claude.com/docs/en/api/models-list,
    // https://ai.google.dev/api/rest/v1beta/models/list. Both go up to 1000.
    match api {
        Api::AnthropicMessages => drop(url.query_pairs_mut().append_pair("limit", "1000")),
        Api::GoogleGenerativeAi => drop(url.query_pairs_mut().append_pair("pageSize", "1000")),
        Api::OpenaiCompletions | Api::OpenaiResponses | Api::Replay => {}
    }
    Ok(url)
}

/// Where a key is judged whose provider lists its models to everybody:
/// <https://openrouter.ai/docs/api/api-reference/api-keys/get-current-api-key>.
fn key_address(list: &Url) -> Option<Url> {
    let path = list.path().strip_suffix("/models").filter(|_| list.host_str() == Some("openrouter.ai"))?;
    let mut url = list.clone();
    url.set_path(&format!("{path}/key"));
    Some(url)
}

/// The ids in a list: `{"data": [{"id": …}]}` (null if a server has none, as Ollama says it), the bare array of Together,
/// or Google's `{"models": [{"name": "models/…"}]}`.
fn models(value: &Value) -> Result<Vec<String>, ModelError> {
    let list = match value {
        Value::Array(_) => value,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
            value.get("data").or_else(|| value.get("models")).unwrap_or(&Value::Bool(false))
        }
    };
    let id = |entry: &Value| {
        let id = entry.get("id").or_else(|| entry.get("name"))?.as_str()?;
        Some(id.strip_prefix("models/").unwrap_or(id).to_owned())
    };
    match list {
        Value::Array(entries) => Ok(entries.iter().filter_map(id).collect()),
        Value::Null => Ok(Vec::new()),
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
            Err(invalid("the answer is no list of models; is base_url right?"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_list_is_beside_the_wires_own_path() {
        let of = |api, base: &str| address(api, base).unwrap().to_string();
        for base in ["http://h/v1", "http://h/v1/", "http://h/v1/chat/completions"] {
            assert_eq!(of(Api::OpenaiCompletions, base), "http://h/v1/models");
        }
        assert_eq!(of(Api::OpenaiResponses, "http://h/v1/responses"), "http://h/v1/models");
        for base in ["http://h", "http://h/v1", "http://h/v1/messages"] {
            assert_eq!(of(Api::AnthropicMessages, base), "http://h/v1/models?limit=1000");
        }
        for base in ["http://h/v1beta", "http://h/v1beta/models/"] {
            assert_eq!(of(Api::GoogleGenerativeAi, base), "http://h/v1beta/models?pageSize=1000");
        }
        assert_eq!(of(Api::OpenaiCompletions, "http://[::1]:8080/v1?a=b"), "http://[::1]:8080/v1/models?a=b");
        assert!(address(Api::Replay, "http://h").is_err() && address(Api::OpenaiCompletions, "ftp://h").is_err());
        let router = address(Api::OpenaiCompletions, "https://openrouter.ai/api/v1").unwrap();
        assert_eq!(key_address(&router).unwrap().as_str(), "https://openrouter.ai/api/v1/key");
        assert_eq!(key_address(&address(Api::OpenaiCompletions, "https://h/v1").unwrap()), None);
    }

    #[test]
    fn lists_have_several_shapes() {
        for (list, expected) in [
            (json!({"data": [{"id": "a"}, {"id": "b/c"}, {}, 3]}), Some(vec!["a", "b/c"])),
            (json!({"data": null, "object": "list"}), Some(vec![])),
            (json!([{"id": "a"}]), Some(vec!["a"])),
            (json!({"models": [{"name": "models/a"}]}), Some(vec!["a"])),
            (json!({}), None),
            (json!({"data": "x"}), None),
            (json!(3), None),
        ] {
            let ids = models(&list).ok();
            assert_eq!(ids, expected.map(|ids| ids.into_iter().map(str::to_owned).collect()), "{list}");
        }
    }
}
