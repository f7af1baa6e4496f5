//! Reading a call's arguments into a struct, with complaints a model can act on.

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::base::json::Object;

/// Reads the arguments strictly: a missing, mistyped or unknown parameter is an error.
///
/// The struct should derive `Deserialize` with `deny_unknown_fields`.
///
/// # Errors
///
/// The parser's complaint, which names the parameter.
pub fn parse<T: DeserializeOwned>(arguments: &Object) -> Result<T, String> {
    serde_json::from_value(Value::Object(arguments.clone()))
        .map_err(|error| error.to_string().replace("field", "parameter"))
}
