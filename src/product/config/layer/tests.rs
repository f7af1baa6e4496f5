//! Layers, flattened and merged: later wins, and no deny is ever lost.

use super::*;
use proptest::prelude::*;
use serde_json::json;

fn flat(text: &str) -> (Vec<Entry>, Vec<Problem>) {
    let object = serde_json::from_str(text).unwrap();
    flatten(&object, text, &Source::User("c.json".into()))
}

#[test]
fn problems_name_file_line_key_and_what_was_expected() {
    let (entries, problems) = flat(
        "{\n \"max_turn\": 5,\n \"bash\": {\"timeout\": 9,\n  \"timeot\": 5},\n \"loop_detection\": 3,\n \"permissions\": []\n,\n \"model\": null}",
    );
    assert_eq!(entries.len(), 1);
    assert_eq!(entries[0].path, ["bash", "timeout"]);
    let told: Vec<_> =
        problems.iter().map(|problem| (problem.message.as_str(), problem.hint.as_deref().unwrap_or(""))).collect();
    assert_eq!(
        told,
        [
            ("c.json:2: unknown key `max_turn`", "did you mean `max_turns`?"),
            ("c.json:4: unknown key `bash.timeot`", "did you mean `bash.timeout`?"),
            ("c.json:5: `loop_detection`: expected true or false", ""),
            ("c.json:6: `permissions`: expected an object", ""),
        ]
    );
}

#[test]
fn variables_are_settings() {
    let vars = [
        ("VIOLA_BASH__TIMEOUT", "60"),
        ("VIOLA_MAX_TURNS", "many"),
        ("VIOLA_TOOLS__DISABLED", "a,b"),
        ("VIOLA_API_KEY", "k-1"),
        ("VIOLA_CONFIG_DIR", "/x"),
        ("VIOLA_MODLE", "x"),
        ("VIOLA_MODEL", ""),
        ("VIOLINS", "x"),
        ("A", "x"),
    ];
    let env = Env { vars: vars.map(|(name, value)| (name.into(), value.into())).into(), ..Env::default() };
    let (entries, problems, unknown) = environment(&env);
    let set: Vec<_> = entries.iter().map(|entry| (entry.path.join("."), entry.value.clone())).collect();
    assert_eq!(set, [("bash.timeout".to_owned(), json!(60)), ("tools.disabled".to_owned(), json!(["a", "b"]))]);
    assert_eq!(problems.len(), 1);
    assert!(problems[0].message.starts_with("VIOLA_MAX_TURNS: expected a whole number"));
    assert_eq!(unknown.len(), 1);
    assert_eq!(unknown[0].hint.as_deref(), Some("did you mean `VIOLA_MODEL`?"));
    assert_eq!(variable("bash.timeout"), "VIOLA_BASH__TIMEOUT");
}

#[test]
fn odd_names_do_not_hide_what_follows() {
    use std::os::unix::ffi::OsStringExt;
    let odd = std::ffi::OsString::from_vec(b"VIOLA_\xff".to_vec());
    let late = ("VIOLA_\u{10ffff}".into(), "x".into());
    let env = Env { vars: [(odd, "x".into()), ("VIOLA_TIMEOUT".into(), "7".into()), late].into(), ..Env::default() };
    let (entries, problems, unknown) = environment(&env);
    assert_eq!((entries.len(), problems.len(), unknown.len()), (1, 0, 2));
}

#[test]
fn tables_merge_and_remember_who_said_what() {
    let (mut entries, _) = flat(r#"{"mcp_servers": {"x": {"command": "a", "env": {"A": "1"}}}, "max_turns": 5}"#);
    let text = r#"{"mcp_servers": {"x": {"env": {"B": "2"}, "cwd": "/"}}, "max_turns": 7}"#;
    entries.extend(flatten(&serde_json::from_str(text).unwrap(), text, &Source::Project("p".into())).0);
    let values = Values::merge(entries);
    let server = &values.get("mcp_servers.x").unwrap().value;
    assert_eq!(server.to_string(), r#"{"command":"a","env":{"A":"1","B":"2"},"cwd":"/"}"#);
    let turns = values.get("max_turns").unwrap();
    assert_eq!((&turns.value, turns.source.rank(), turns.said.len()), (&json!(7), 4, 2));
}

/// Values that `name` may have in a layer.
fn any_value(name: &str) -> BoxedStrategy<Value> {
    match name {
        "max_turns" => (0u64..9).prop_map(Value::from).boxed(),
        "model" => "[a-c]{1,2}".prop_map(Value::from).boxed(),
        _ => proptest::collection::vec("[a-d]", 0..4).prop_map(|list| json!(list)).boxed(),
    }
}

const NAMES: [&str; 6] = ["max_turns", "model", "permissions.deny", "permissions.allow", "bash.env", "tools.disabled"];

fn any_layers() -> impl Strategy<Value = Vec<Entry>> {
    let entry = (0..NAMES.len(), 0u8..4).prop_flat_map(|(name, layer)| {
        any_value(NAMES[name]).prop_map(move |value| {
            let path = keys::path(NAMES[name]);
            let Place::Key(key) = keys::place(&path) else { panic!() };
            let source = match layer {
                0 => Source::User("u".into()),
                1 => Source::Project("p".into()),
                2 => Source::Variable("V".into()),
                _ => Source::Option("--o".into()),
            };
            Entry { path, key, value, source }
        })
    });
    proptest::collection::vec(entry, 0..24).prop_map(|mut entries| {
        entries.sort_by_key(|entry| entry.source.rank());
        entries
    })
}

proptest! {
    #[test]
    fn later_layers_win_and_no_rule_is_lost(entries in any_layers()) {
        let values = Values::merge(entries.clone());
        for name in NAMES {
            let path = keys::path(name);
            let mine: Vec<_> = entries.iter().filter(|entry| entry.path == path).collect();
            let Some(last) = mine.last() else {
                prop_assert!(values.get(name).is_none());
                continue;
            };
            let held = values.get(name).unwrap();
            prop_assert_eq!(&held.source, &last.source);
            prop_assert_eq!(held.said.len(), mine.len());
            if name.starts_with("permissions.") {
                let list = held.value.as_array().unwrap();
                for item in mine.iter().flat_map(|entry| entry.value.as_array().unwrap()) {
                    prop_assert!(list.contains(item), "{} lost {}", name, item);
                }
            } else if name == "tools.disabled" && matches!(last.source, Source::Project(_)) {
                let list = held.value.as_array().unwrap();
                prop_assert!(last.value.as_array().unwrap().iter().all(|item| list.contains(item)));
            } else {
                prop_assert_eq!(&held.value, &last.value);
            }
        }
    }

    #[test]
    fn any_json_is_taken_apart_without_panic(text in "[\\[\\]{}:,\"a-z_0-9. \\\\n]{0,60}") {
        if let Ok(object) = serde_json::from_str::<Object>(&text) {
            let (entries, problems) = flatten(&object, &text, &Source::User("c".into()));
            prop_assert!(entries.len() + problems.len() <= 60);
        }
    }
}
