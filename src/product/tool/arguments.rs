//! Reading a call's arguments into a struct, with complaints a model can act on.

use crate::base::json::Object;
use serde::de::DeserializeOwned;

/// Reads the arguments strictly: a missing, mistyped or unknown parameter is an error.
///
/// The struct should derive `Deserialize` with `deny_unknown_fields`.
///
/// # Errors
///
/// The parser's complaint, which names the parameter.
pub fn parse<T: DeserializeOwned>(arguments: &Object) -> Result<T, String> {
    serde_path_to_error::deserialize(arguments).map_err(|error| {
        let place = error.path().to_string();
        let problem = error.into_inner().to_string().replace("field", "parameter");
        if place == "." { problem } else { format!("{place}: {problem}") }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only the complaints are looked at")]
    struct Parameters {
        path: String,
        limit: Option<u64>,
        #[serde(default)]
        edits: Vec<Edit>,
    }

    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "only the complaints are looked at")]
    struct Edit {
        old_text: String,
    }

    #[test]
    fn complaints_name_the_parameter() {
        for (arguments, complaint) in [
            ("{}", "missing parameter `path`"),
            (r#"{"path": 7}"#, "path: invalid type: integer `7`, expected a string"),
            (r#"{"path": "a", "limit": "3"}"#, "limit: invalid type: string \"3\", expected u64"),
            (r#"{"path": "a", "edits": [{}]}"#, "edits[0]: missing parameter `old_text`"),
            (
                r#"{"path": "a", "lines": 3}"#,
                "lines: unknown parameter `lines`, expected one of `path`, `limit`, `edits`",
            ),
        ] {
            let arguments = serde_json::from_str(arguments).unwrap();
            assert_eq!(parse::<Parameters>(&arguments).unwrap_err(), complaint);
        }
    }
}
