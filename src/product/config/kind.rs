//! What a setting's value may be: how it is checked, how text from a variable or a command line becomes one.
//!
//! Knows no key's name.

use serde_json::Value;

use crate::model::Api;
use crate::model::http::is_proxy_address;

/// The values a key takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// `true` or `false`.
    Bool,
    /// A whole number, at least this.
    Integer(u64),
    /// A number between these, both included.
    Number(f64, f64),
    /// A number above zero: seconds, or US dollars.
    Positive,
    /// Any text.
    Text,
    /// A text that is shown masked.
    Secret,
    /// A proxy's address, or [`NO_PROXY`].
    Proxy,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A list of texts.
    List,
    /// A text or a list of texts.
    TextOrList,
    /// The name of a wire.
    Wire,
    /// A provider's list of models.
    Models,
    /// An object that another part of the program reads; objects of several layers are merged.
    Table,
    /// Anything.
    Any,
}

/// In place of a proxy's address: none, whatever the environment says.
pub const NO_PROXY: &str = "off";

impl Kind {
    /// Whether `value` is one of the kind's; else what was expected, for "expected …".
    ///
    /// # Errors
    ///
    /// A noun phrase: `a whole number, at least 1`.
    pub fn check(self, value: &Value) -> Result<(), String> {
        let good = match self {
            Self::Bool => value.is_boolean(),
            Self::Integer(least) => value.as_u64().is_some_and(|number| number >= least),
            Self::Number(least, most) => value.as_f64().is_some_and(|number| (least..=most).contains(&number)),
            Self::Positive => value.as_f64().is_some_and(|number| number > 0.0 && number.is_finite()),
            Self::Text | Self::Secret => value.is_string(),
            Self::Proxy => value.as_str().is_some_and(|text| text == NO_PROXY || is_proxy_address(text)),
            Self::Choice(words) => value.as_str().is_some_and(|word| words.contains(&word)),
            Self::List => is_list_of_texts(value),
            Self::TextOrList => {
                value.as_str().is_some_and(|text| !text.is_empty())
                    || (is_list_of_texts(value) && value.as_array().is_some_and(|items| !items.is_empty()))
            }
            Self::Wire => value.as_str().is_some_and(|name| Api::from_name(name).is_some()),
            Self::Models => return check_models(value),
            Self::Table => value.is_object(),
            Self::Any => true,
        };
        if good { Ok(()) } else { Err(self.expected()) }
    }

    /// What a text from a variable or a command line means.
    ///
    /// # Errors
    ///
    /// As [`Kind::check`].
    pub fn parse(self, text: &str) -> Result<Value, String> {
        let value = match self {
            Self::Bool => match text.to_ascii_lowercase().as_str() {
                "true" | "1" | "yes" | "on" => Value::Bool(true),
                "false" | "0" | "no" | "off" => Value::Bool(false),
                _ => return Err(self.expected()),
            },
            Self::Text | Self::Secret | Self::Proxy | Self::Choice(_) | Self::Wire => Value::from(text),
            Self::List if !text.trim_start().starts_with('[') => split(text),
            Self::TextOrList if !text.trim_start().starts_with('[') => Value::from(text),
            Self::Any => serde_json::from_str(text).unwrap_or_else(|_| Value::from(text)),
            Self::Integer(_)
            | Self::Number(..)
            | Self::Positive
            | Self::List
            | Self::TextOrList
            | Self::Models
            | Self::Table => serde_json::from_str(text.trim()).map_err(|_| self.expected())?,
        };
        self.check(&value).map(|()| value)
    }

    /// A noun phrase for messages.
    pub fn expected(self) -> String {
        match self {
            Self::Bool => "true or false".to_owned(),
            Self::Integer(least) => format!("a whole number (an integer), at least {least}"),
            Self::Number(least, most) => format!("a number from {least} to {most}"),
            Self::Positive => "a number above 0".to_owned(),
            Self::Text | Self::Secret => "a text".to_owned(),
            Self::Proxy => format!("the address of an http or https proxy, such as http://proxy:3128, or {NO_PROXY}"),
            Self::Choice(words) => format!("one of {}", words.join(", ")),
            Self::List => "a list of texts".to_owned(),
            Self::TextOrList => "a text or a list of texts".to_owned(),
            Self::Wire => format!("one of {}", Api::ALL.map(Api::as_str).join(", ")),
            Self::Models => "a list of objects, each with a text `id`".to_owned(),
            Self::Table => "an object".to_owned(),
            Self::Any => "any value".to_owned(),
        }
    }
}

fn is_list_of_texts(value: &Value) -> bool {
    value.as_array().is_some_and(|items| items.iter().all(Value::is_string))
}

fn split(text: &str) -> Value {
    text.split(',').map(str::trim).filter(|item| !item.is_empty()).map(Value::from).collect()
}

/// Fields that are not known are let be: the same list serves other programs too.
fn check_models(value: &Value) -> Result<(), String> {
    let models = value.as_array().ok_or_else(|| Kind::Models.expected())?;
    for (number, model) in models.iter().enumerate() {
        let Some(model) = model.as_object() else { return Err(Kind::Models.expected()) };
        if model.get("id").and_then(Value::as_str).is_none_or(str::is_empty) {
            return Err(Kind::Models.expected());
        }
        for (field, kind) in [
            ("name", Kind::Text),
            ("contextWindow", Kind::Integer(1)),
            ("maxTokens", Kind::Integer(1)),
            ("input", Kind::List),
            ("reasoning", Kind::Bool),
            ("cost", Kind::Table),
        ] {
            if let Some(value) = model.get(field).filter(|value| !value.is_null()) {
                kind.check(value).map_err(|expected| format!("{expected} for `{field}` of entry {number}"))?;
            }
        }
        for (field, price) in model.get("cost").and_then(Value::as_object).into_iter().flatten() {
            if !price.as_f64().is_some_and(|price| price >= 0.0) {
                return Err(format!("a price in US dollars for `cost.{field}` of entry {number}"));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn text_becomes_what_the_key_takes() {
        assert_eq!(Kind::Integer(1).parse("60"), Ok(json!(60)));
        assert!(Kind::Integer(1).parse("0").unwrap_err().contains("at least 1"));
        assert!(Kind::Integer(0).parse("many").is_err() && Kind::Integer(0).parse("1.5").is_err());
        assert_eq!(Kind::Number(0.0, 2.0).parse("0.5"), Ok(json!(0.5)));
        assert!(Kind::Number(0.0, 2.0).parse("NaN").is_err() && Kind::Positive.parse("0").is_err());
        assert_eq!(Kind::Bool.parse("Off"), Ok(json!(false)));
        assert_eq!(Kind::List.parse("a, b ,"), Ok(json!(["a", "b"])));
        assert_eq!(Kind::List.parse(r#"["a,b"]"#), Ok(json!(["a,b"])));
        assert_eq!(Kind::TextOrList.parse("a,b"), Ok(json!("a,b")));
        assert_eq!(Kind::TextOrList.parse(r#"["a","b"]"#), Ok(json!(["a", "b"])));
        assert!(Kind::TextOrList.parse("[]").is_err() && Kind::TextOrList.parse("").is_err());
        assert_eq!(Kind::Text.parse("60"), Ok(json!("60")));
    }

    #[test]
    fn models_need_an_id_and_may_say_more() {
        let good = json!([{"id": "a"}, {"id": "b", "cost": {"input": 1, "output": 2.5}, "x": [], "name": null}]);
        assert_eq!(Kind::Models.check(&good), Ok(()));
        for bad in
            [json!({}), json!([1]), json!([{}]), json!([{"id": ""}]), json!([{"id": "a", "cost": {"input": -1}}])]
        {
            assert!(Kind::Models.check(&bad).is_err(), "{bad}");
        }
        let wrong = json!([{"id": "a", "contextWindow": "big"}]);
        assert!(Kind::Models.check(&wrong).unwrap_err().contains("contextWindow"));
    }
}
