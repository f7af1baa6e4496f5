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
fn names_of_strangers_are_short_and_on_one_line() {
    let long = "k".repeat(1 << 20);
    let text = json!({ "a\nb\u{1b}[2J": 1, long.as_str(): 1, "http": {long.as_str(): 1}, "tools": {"limits": {long.as_str(): {"chras": 1}}} });
    let (_, problems) = flat(&text.to_string());
    assert_eq!(problems.len(), 4);
    assert_eq!(problems[0].message, "c.json:1: unknown key `a␊b␛[2J`");
    for Problem { message, hint } in &problems {
        assert!(message.chars().count() < 120 && !message.contains('\n'), "{message:.200}");
        assert!(hint.as_deref().is_none_or(|hint| hint.chars().count() < 120), "{hint:?}");
    }
    let env = Env { vars: [(format!("VIOLA_{long}").into(), "x".into())].into(), ..Env::default() };
    let (_, _, unknown) = environment(&env);
    assert!(unknown[0].message.chars().count() < 120);
}

#[test]
fn a_flood_of_odd_keys_is_told_once_and_hides_nothing() {
    let mut object: Object = (0..20_000).map(|number| (format!("max_turn{number}"), json!(1))).collect();
    object.insert("permissions".into(), json!({"deny": ["write_file"]}));
    let (entries, problems) = flat(&Value::Object(object).to_string());
    assert_eq!((entries.len(), problems.len()), (1, MAX_PROBLEMS + 1));
    assert_eq!(problems[MAX_PROBLEMS].message, "c.json: more of its keys cannot be used");
}

#[test]
fn a_complaint_begins_with_who_wrote_the_item() {
    let (mut entries, _) = flat(r#"{"permissions": {"allow": ["a", "b"]}, "tools": {"disabled": ["x"]}}"#);
    for (name, value, source) in [
        ("permissions.allow", json!(["b", "c"]), Source::Variable("VIOLA_PERMISSIONS__ALLOW".into())),
        ("tools.disabled", json!(["y"]), Source::Option("--exclude-tools".into())),
        ("bash.env", json!([]), Source::Default),
    ] {
        let path = keys::path(name);
        let Place::Key(key) = keys::place(&path) else { panic!() };
        entries.push(Entry { path, key, value, source });
    }
    let values = Values::merge(entries);
    for (name, item, expected) in [
        ("permissions.allow", Some("a"), "c.json: permissions.allow"),
        ("permissions.allow", Some("b"), "VIOLA_PERMISSIONS__ALLOW: permissions.allow"),
        ("permissions.allow", None, "VIOLA_PERMISSIONS__ALLOW: permissions.allow"),
        ("tools.disabled", Some("y"), "--exclude-tools: tools.disabled"),
        ("bash.env", None, "bash.env"),
        ("not.set", Some("a"), "not.set"),
    ] {
        assert_eq!(values.blamed(name, item), expected, "{name} {item:?}");
    }
}

#[test]
fn a_group_is_no_setting_and_has_some() {
    let vars = [("VIOLA_BASH".into(), "x".into()), ("VIOLA_PROVIDERS__X".into(), "y".into())];
    let (entries, problems, unknown) = environment(&Env { vars: vars.into(), ..Env::default() });
    assert!(entries.is_empty() && problems.is_empty());
    assert_eq!(unknown[0].message, "VIOLA_BASH: this is a group of settings, and no setting");
    assert_eq!(unknown[0].hint.as_deref(), Some("one of them is `VIOLA_BASH__TIMEOUT`"));
    assert_eq!(unknown[1].hint.as_deref(), Some("one of them is `VIOLA_PROVIDERS__X__BASE_URL`"));
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
