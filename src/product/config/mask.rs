//! What may be shown of settings: secrets are masked.
//!
//! Knows which values are secret; prints nothing.

use serde_json::Value;

use super::keys::{self, Place};
use super::kind::Kind;
use crate::base::secret::is_secret_field;

/// In place of a secret.
pub const MASK: &str = "********";

/// A setting's value with its secrets masked. A reference such as `$NAME` is none.
pub fn masked(path: &[String], value: &Value) -> Value {
    let kind = match keys::place(path) {
        Place::Key(key) => key.kind,
        Place::Group | Place::Unknown => Kind::Any,
    };
    match kind {
        Kind::Secret => mask_text(value),
        Kind::Table | Kind::Any => mask_inside(value),
        Kind::Text | Kind::Proxy => mask_address(value),
        Kind::Bool
        | Kind::Integer(_)
        | Kind::Number(..)
        | Kind::Positive
        | Kind::Choice(_)
        | Kind::List
        | Kind::TextOrList
        | Kind::Wire
        | Kind::Models => value.clone(),
    }
}

fn mask_text(value: &Value) -> Value {
    match value.as_str() {
        Some(text) if text.starts_with('$') => value.clone(),
        Some(text) if text.starts_with('!') => Value::from("!(a command)"),
        _ => Value::from(MASK),
    }
}

fn mask_inside(value: &Value) -> Value {
    match value {
        Value::Object(object) => object
            .iter()
            .map(|(name, inner)| {
                let lower = name.to_ascii_lowercase();
                let shown = match inner {
                    Value::Object(values) if matches!(lower.as_str(), "env" | "headers") => {
                        values.iter().map(|(name, value)| (name.clone(), mask_text(value))).collect()
                    }
                    Value::String(_) if is_secret_field(name) => mask_text(inner),
                    Value::Null
                    | Value::Bool(_)
                    | Value::Number(_)
                    | Value::String(_)
                    | Value::Array(_)
                    | Value::Object(_) => mask_inside(inner),
                };
                (name.clone(), shown)
            })
            .collect(),
        Value::Array(items) => items.iter().map(mask_inside).collect(),
        Value::String(_) => mask_address(value),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

/// An address without its secrets.
fn mask_address(value: &Value) -> Value {
    match value.as_str() {
        Some(text) if text.contains("://") => Value::from(without_secrets(text)),
        _ => value.clone(),
    }
}

/// An address without the secrets it may hold: user and password, and the values of parameters whose names are those of
/// secrets (`?key=…`), some servers' way to take a key.
pub fn without_secrets(address: &str) -> String {
    let start = address.find("://").map_or(0, |colon| colon + 3);
    let (scheme, rest) = address.split_at(start);
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, rest) = rest.split_at(end);
    let mut shown = match authority.rfind('@') {
        Some(at) => format!("{scheme}{MASK}{}", &authority[at..]),
        None => format!("{scheme}{authority}"),
    };
    let (path, parameters) = rest.split_at(rest.find(['?', '#']).unwrap_or(rest.len()));
    shown.push_str(path);
    for parameter in parameters.split_inclusive(['?', '#', '&', ';']) {
        let text = parameter.trim_end_matches(['?', '#', '&', ';']);
        match text.split_once('=') {
            Some((name, value)) if is_secret_parameter(name) && !value.is_empty() => {
                shown.push_str(&format!("{name}={MASK}{}", &parameter[text.len()..]));
            }
            Some(_) | None => shown.push_str(parameter),
        }
    }
    shown
}

/// Also the names that only addresses have: a code, a signature.
fn is_secret_parameter(name: &str) -> bool {
    is_secret_field(name) || matches!(name.to_ascii_lowercase().as_str(), "sig" | "signature" | "code")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn secrets_are_masked_wherever_they_stand() {
        let shown = |path: &str, value: Value| masked(&keys::path(path), &value).to_string();
        assert_eq!(shown("providers.x.api_key", json!("sk-1")), format!("\"{MASK}\""));
        assert_eq!(shown("providers.x.api_key", json!("$NAME")), "\"$NAME\"");
        assert!(!shown("providers.x.api_key", json!("!echo sk-1")).contains("sk-1"));
        assert!(!shown("providers.x.headers.Authorization", json!("Bearer sk-1")).contains("sk-1"));
        let server =
            json!({"command": "x", "env": {"A": "sk-1"}, "url": "http://u:sk-1@h/p", "args": [{"api_token": "sk-1"}]});
        let text = shown("mcp_servers.x", server);
        assert!(!text.contains("sk-1") && text.contains("@h/p") && text.contains("\"x\""), "{text}");
        assert!(!shown("http.proxy", json!("http://me:sk-1@proxy:3128")).contains("sk-1"));
        assert_eq!(shown("base_url", json!("http://h/a@b")), "\"http://h/a@b\"");
        assert_eq!(shown("system_prompt", json!("@a/b@c")), "\"@a/b@c\"");
        assert_eq!(without_secrets("me:sk-1@proxy:3128"), format!("{MASK}@proxy:3128"));
        assert_eq!(
            without_secrets("https://h/v1?a=1&key=sk-1&api-version=2#access_token=sk-1"),
            format!("https://h/v1?a=1&key={MASK}&api-version=2#access_token={MASK}")
        );
        assert_eq!(without_secrets("https://h?subscription-key=a=b@c"), format!("https://h?subscription-key={MASK}"));
        assert_eq!(without_secrets("https://h/key=1?key=&x"), "https://h/key=1?key=&x");
    }
}
