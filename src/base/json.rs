//! JSON as a value: objects with their keys in order, and one canonical spelling.

use serde_json::Value;

/// A JSON object, its keys in the order they were written.
pub type Object = serde_json::Map<String, Value>;

/// The spelling that equal objects share: keys sorted at every level, no blanks.
pub fn canonical(object: &Object) -> String {
    let mut text = String::new();
    write_object(object, &mut text);
    text
}

fn write_object(object: &Object, text: &mut String) {
    let mut entries: Vec<_> = object.iter().collect();
    entries.sort_unstable_by_key(|(key, _)| *key);
    text.push('{');
    for (number, (key, value)) in entries.into_iter().enumerate() {
        if number > 0 {
            text.push(',');
        }
        text.push_str(&Value::from(key.as_str()).to_string());
        text.push(':');
        write_value(value, text);
    }
    text.push('}');
}

fn write_value(value: &Value, text: &mut String) {
    match value {
        Value::Object(object) => write_object(object, text),
        Value::Array(items) => {
            text.push('[');
            for (number, item) in items.iter().enumerate() {
                if number > 0 {
                    text.push(',');
                }
                write_value(item, text);
            }
            text.push(']');
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => text.push_str(&value.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_objects_are_spelled_alike() {
        let parse = |text: &str| serde_json::from_str::<Object>(text).unwrap();
        let one = parse(r#"{"b": [1, {"y": 2, "x": "é\n"}], "a": null}"#);
        let two = parse(r#"{"a":null,"b":[1,{"x":"é\n","y":2}]}"#);
        assert_eq!(canonical(&one), canonical(&two));
        assert_eq!(canonical(&one), r#"{"a":null,"b":[1,{"x":"é\n","y":2}]}"#);
    }
}
