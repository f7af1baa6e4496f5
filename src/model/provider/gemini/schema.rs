//! The parameters of a tool as Google takes them: any JSON Schema, or on older servers a part of `OpenAPI`'s.
//!
//! Source: <https://ai.google.dev/api/caching#FunctionDeclaration> and `#Schema` on the same page.

use std::borrow::Cow;

use serde_json::{Value, json};

use crate::base::json::Object;

/// How deep a schema is read, and how many schemas inside it: references that lead to themselves end here.
const DEEPEST: usize = 32;
const MOST: usize = 4096;

/// The schema without what only names its dialect; `None` where a tool takes nothing, for an object without properties is
/// refused by some models.
pub fn full(schema: &Value) -> Option<Cow<'_, Value>> {
    if takes_nothing(schema) {
        return None;
    }
    match schema.as_object() {
        Some(object) if object.contains_key("$schema") => {
            let rest = object.iter().filter(|(key, _)| *key != "$schema");
            Some(Cow::Owned(rest.map(|(key, value)| (key.clone(), value.clone())).collect()))
        }
        Some(_) | None => Some(Cow::Borrowed(schema)),
    }
}

/// The schema in the words of the older subset; what it has no words for is left out. `None` as in [`full`].
pub fn subset(schema: &Value) -> Option<Value> {
    if takes_nothing(schema) {
        return None;
    }
    let mut reducer = Reducer { root: schema, left: MOST };
    Some(Value::Object(reducer.reduce(schema, 0)))
}

fn takes_nothing(schema: &Value) -> bool {
    let Some(object) = schema.as_object() else { return false };
    object.iter().all(|(key, value)| match key.as_str() {
        "properties" => value.as_object().is_some_and(Object::is_empty),
        "additionalProperties" => *value == Value::Bool(false),
        "type" | "title" | "description" | "required" | "$schema" => true,
        _ => false,
    })
}

/// What the subset takes over as it is.
const PLAIN: &[&str] = &[
    "title",
    "description",
    "nullable",
    "minItems",
    "maxItems",
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
    "pattern",
    "default",
    "propertyOrdering",
];
/// The formats it knows.
const FORMATS: &[&str] = &["enum", "date-time", "int32", "int64", "float", "double"];

struct Reducer<'a> {
    root: &'a Value,
    /// How many schemas may still be read.
    left: usize,
}

impl<'a> Reducer<'a> {
    fn reduce(&mut self, schema: &'a Value, depth: usize) -> Object {
        let mut reduced = Object::new();
        let Some(object) = schema.as_object().filter(|_| depth < DEEPEST && self.left > 0) else { return reduced };
        self.left -= 1;
        let depth = depth + 1;
        if let Some(target) = object.get("$ref").and_then(Value::as_str).and_then(|target| resolve(target, self.root)) {
            reduced = self.reduce(target, depth);
        }
        for part in object.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            merge(&mut reduced, self.reduce(part, depth));
        }
        for (key, value) in object {
            match key.as_str() {
                "type" => kind(value, &mut reduced),
                "enum" => choices(value.as_array().map_or(&[], Vec::as_slice), &mut reduced),
                "const" => choices(std::slice::from_ref(value), &mut reduced),
                "items" => insert(&mut reduced, key, Value::Object(self.reduce(value, depth))),
                "format" if value.as_str().is_some_and(|format| FORMATS.contains(&format)) => {
                    insert(&mut reduced, key, value.clone());
                }
                "anyOf" | "oneOf" => {
                    let schemas = value.as_array().into_iter().flatten();
                    let schemas = schemas.map(|schema| Value::Object(self.reduce(schema, depth))).collect();
                    alternatives(schemas, &mut reduced);
                }
                "properties" => {
                    let fields = value.as_object().into_iter().flatten();
                    let fields: Object =
                        fields.map(|(name, field)| (name.clone(), Value::Object(self.reduce(field, depth)))).collect();
                    if !fields.is_empty() {
                        merge(&mut reduced, [("properties".to_owned(), Value::Object(fields))].into_iter().collect());
                    }
                }
                key if PLAIN.contains(&key) => insert(&mut reduced, key, value.clone()),
                _ => {}
            }
        }
        let required = object.get("required").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        require(required, &mut reduced);
        reduced
    }
}

/// Only what is there may be required.
fn require(names: &[Value], reduced: &mut Object) {
    let known = |name: &&Value| {
        let fields = reduced.get("properties").and_then(Value::as_object);
        name.as_str().is_some_and(|name| fields.is_some_and(|fields| fields.contains_key(name)))
    };
    let names: Vec<Value> = names.iter().filter(known).cloned().collect();
    if !names.is_empty() {
        merge(reduced, [("required".to_owned(), Value::Array(names))].into_iter().collect());
    }
}

fn insert(reduced: &mut Object, key: &str, value: Value) {
    reduced.insert(key.to_owned(), value);
}

/// Adds what another schema demands: fields and what is required come together, of all else the first stays.
fn merge(reduced: &mut Object, more: Object) {
    for (key, value) in more {
        match (reduced.get_mut(&key), value) {
            (Some(Value::Object(known)), Value::Object(more)) if key == "properties" => known.extend(more),
            (Some(Value::Array(known)), Value::Array(more)) if key == "required" => {
                for name in more {
                    if !known.contains(&name) {
                        known.push(name);
                    }
                }
            }
            (Some(_), _) => {}
            (None, value) => {
                reduced.insert(key, value);
            }
        }
    }
}

/// One type, and whether it may be null; several become alternatives.
fn kind(value: &Value, reduced: &mut Object) {
    let kinds: Vec<&str> = match value {
        Value::String(kind) => vec![kind],
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => Vec::new(),
    };
    if kinds.contains(&"null") {
        insert(reduced, "nullable", Value::Bool(true));
    }
    let rest: Vec<&str> = kinds.into_iter().filter(|kind| *kind != "null").collect();
    match rest.as_slice() {
        [] => {}
        [kind] => insert(reduced, "type", Value::from(*kind)),
        several => alternatives(several.iter().map(|kind| json!({ "type": kind })).collect(), reduced),
    }
}

fn alternatives(schemas: Vec<Value>, reduced: &mut Object) {
    let is_null =
        |schema: &Value| schema.as_object().is_some_and(|schema| schema.len() == 1 && schema.contains_key("nullable"));
    let (null, mut rest): (Vec<Value>, Vec<Value>) = schemas.into_iter().partition(is_null);
    if !null.is_empty() {
        insert(reduced, "nullable", Value::Bool(true));
    }
    match (rest.len(), rest.pop()) {
        (1, Some(Value::Object(only))) => merge(reduced, only),
        (_, Some(last)) => {
            rest.push(last);
            insert(reduced, "anyOf", Value::Array(rest));
        }
        (_, None) => {}
    }
}

/// Only texts can be enumerated; anything else is told in words.
fn choices(values: &[Value], reduced: &mut Object) {
    if values.iter().all(Value::is_string) && !values.is_empty() {
        insert(reduced, "type", Value::from("string"));
        return insert(reduced, "enum", Value::Array(values.to_vec()));
    }
    let words: Vec<String> = values.iter().map(Value::to_string).collect();
    let told = format!("One of {}.", words.join(", "));
    let known = reduced.get("description").and_then(Value::as_str);
    let told = known.map_or(told.clone(), |known| format!("{known} {told}"));
    insert(reduced, "description", Value::from(told));
}

/// What a reference within the same schema leads to.
fn resolve<'a>(target: &str, root: &'a Value) -> Option<&'a Value> {
    target.strip_prefix('#').and_then(|pointer| root.pointer(pointer))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_that_takes_nothing_has_no_schema() {
        for nothing in [
            json!({"type": "object"}),
            json!({"type": "object", "properties": {}, "required": [], "additionalProperties": false}),
        ] {
            assert_eq!((full(&nothing), subset(&nothing)), (None, None), "{nothing}");
        }
        let anything = json!({"type": "object", "additionalProperties": true});
        assert_eq!(full(&anything).as_deref(), Some(&anything));
        let given =
            json!({"$schema": "x", "type": "object", "properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": {"a": {}}});
        let sent = json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": {"a": {}}});
        assert_eq!(full(&given).as_deref(), Some(&sent));
    }

    #[test]
    fn the_subset_says_what_it_can() {
        let table = [
            (json!({"type": ["string", "null"]}), json!({"nullable": true, "type": "string"})),
            (json!({"type": ["string", "integer"]}), json!({"anyOf": [{"type": "string"}, {"type": "integer"}]})),
            (json!({"const": "a"}), json!({"type": "string", "enum": ["a"]})),
            (
                json!({"type": "integer", "description": "How many.", "enum": [1, 2]}),
                json!({"type": "integer", "description": "How many. One of 1, 2."}),
            ),
            (json!({"type": "string", "format": "uri", "minLength": 1}), json!({"type": "string", "minLength": 1})),
            (json!({"oneOf": [{"type": "null"}, {"type": "string"}]}), json!({"nullable": true, "type": "string"})),
            (json!({"$ref": "#/$defs/size"}), json!({"type": "number"})),
            (
                json!({"allOf": [{"type": "object", "properties": {"x": {}}}, {"required": ["x"]}]}),
                json!({"type": "object", "properties": {"x": {}}}),
            ),
            (json!({"type": "object", "additionalProperties": {"type": "string"}}), json!({"type": "object"})),
            (
                json!({"type": "array", "items": {"type": "string", "x-own": 1}, "uniqueItems": true}),
                json!({"type": "array", "items": {"type": "string"}}),
            ),
            (json!(true), json!({})),
        ];
        for (given, expected) in table {
            let whole = json!({"type": "object", "properties": {"p": given}, "required": ["p", "q"], "$defs": {"size": {"type": "number"}}});
            let sent = json!({"type": "object", "properties": {"p": expected}, "required": ["p"]});
            assert_eq!(subset(&whole), Some(sent), "{whole}");
        }
    }

    #[test]
    fn references_that_lead_to_themselves_end() {
        let branches: Object = (0..9).map(|number| (number.to_string(), json!({"$ref": "#"}))).collect();
        let tree = json!({"type": "object", "properties": branches, "$ref": "#/properties/0"});
        assert!(subset(&tree).unwrap().to_string().len() < 1 << 20);
    }
}
