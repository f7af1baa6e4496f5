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

/// `https://user:password@host` without the password.
fn mask_address(value: &Value) -> Value {
    match value.as_str() {
        Some(text) if text.contains("://") => Value::from(without_password(text)),
        _ => value.clone(),
    }
}

/// An address without the user and password it may hold.
pub fn without_password(address: &str) -> String {
    let start = address.find("://").map_or(0, |colon| colon + 3);
    let rest = &address[start..];
    let authority = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    match authority.rfind('@') {
        Some(at) => format!("{}{MASK}{}", &address[..start], &rest[at..]),
        None => address.to_owned(),
    }
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
        assert_eq!(without_password("me:sk-1@proxy:3128"), format!("{MASK}@proxy:3128"));
    }
}
