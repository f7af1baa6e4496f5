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

/// A whole number from 0, however it is written: 5, 5.0, "5".
pub fn whole(value: &Value) -> Option<u64> {
    match value {
        Value::Number(number) => number.as_u64().or_else(|| {
            let whole = number.as_f64().filter(|number| (0.0..1e15).contains(number) && number.fract() == 0.0)?;
            format!("{whole:.0}").parse().ok()
        }),
        Value::String(text) => text.trim().parse().ok(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_however_they_are_written() {
        let read = |text: &str| whole(&serde_json::from_str(text).unwrap());
        for (text, number) in [("5", 5), ("5.0", 5), (r#"" 5 ""#, 5), ("0", 0), ("18446744073709551615", u64::MAX)] {
            assert_eq!(read(text), Some(number), "{text}");
        }
        for text in ["-1", "1.5", "1e300", r#""five""#, r#""""#, "null", "true", "[5]"] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn equal_objects_are_spelled_alike() {
        let parse = |text: &str| serde_json::from_str::<Object>(text).unwrap();
        let one = parse(r#"{"b": [1, {"y": 2, "x": "é\n"}], "a": null}"#);
        let two = parse(r#"{"a":null,"b":[1,{"x":"é\n","y":2}]}"#);
        assert_eq!(canonical(&one), canonical(&two));
        assert_eq!(canonical(&one), r#"{"a":null,"b":[1,{"x":"é\n","y":2}]}"#);
    }
}
