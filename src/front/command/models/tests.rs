//! The list of models as people and programs see it.

use super::*;
use crate::product::config::tests::{World, two};
use crate::product::provider::Servers;
use crate::product::provider::listing::{Scope, listing};

fn printed(world: &World, scope: Scope, pattern: Option<&str>, form: Form) -> (u8, String, String) {
    let listing = listing(&world.load(), &world.env, Servers::Left, scope);
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let code = run(&listing, pattern, form, &mut out, &mut err).unwrap();
    (code, String::from_utf8(out).unwrap(), String::from_utf8(err).unwrap())
}

fn text(world: &World) -> String {
    printed(world, Scope::Usable, None, Form::Text).1
}

#[test]
fn the_users_own_come_with_what_they_say() {
    let model = json!({"id": "m", "contextWindow": 128_000, "maxTokens": 8192, "cost": {"input": 2, "output": 10}, "reasoning": true});
    let entry = json!({"base_url": "http://h/v1", "api_key": "k-secret", "models": [model, {"id": "bare"}]});
    let world = World::new().user(&json!({"provider": "x", "model": "bare", "providers": {"x": entry}}));
    let shown = text(&world);
    let lines: Vec<Vec<&str>> = shown.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[0], ["model", "window", "output", "$", "in", "$", "out", "can", "from"]);
    assert_eq!(lines[1], ["x/m", "128k", "8.1k", "2", "10", "reasoning", "config"]);
    assert_eq!(lines[2], ["*", "x/bare", "-", "-", "-", "-", "config"]);
    assert!(!shown.contains("k-secret"));
}

#[test]
fn providers_without_a_key_are_summed_up() {
    let world = two(&json!({})).var("GROQ_API_KEY", "k-groq");
    let shown = text(&world);
    assert!(shown.contains("groq/openai/gpt-oss-120b") && !shown.contains("xai/grok"), "{shown}");
    assert!(shown.lines().any(|line| line.contains("xai") && line.ends_with("XAI_API_KEY")), "{shown}");
    assert!(!shown.contains("GROQ_API_KEY") && !shown.contains("k-groq") && !shown.contains("k-mock"));
    let all = printed(&world, Scope::All, None, Form::Text).1;
    assert!(shown.contains("--all lists them") && all.contains("These have no key") && !all.contains("--all"), "{all}");
    let none = |scope| printed(&world, scope, Some("no-such-model"), Form::Text);
    assert!(none(Scope::Usable).2.contains("--all looks"));
    assert_eq!(none(Scope::All), (NO, String::new(), "notice: no model fits\n".to_owned()));
    assert!(all.contains("xai/grok") && all.contains("XAI_API_KEY") && all.contains("openrouter/anthropic/"), "{all}");
}

#[test]
fn programs_get_one_value() {
    let world = two(&json!({})).var("DEEPSEEK_API_KEY", "k-deepseek").var("VIOLA_API_KEY", "k-run");
    let (code, out, err) = printed(&world, Scope::Usable, None, Form::Json);
    let value: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, err.as_str(), out.lines().count()), (DONE, "", 1));
    assert_eq!(value["default"], json!({"provider": "mock", "id": "test-model"}));
    let models = value["models"].as_array().unwrap();
    let of = |id: &str| models.iter().find(|model| model["id"] == id).unwrap();
    assert_eq!((&of("test-model")["current"], &of("test-model")["cost"]), (&json!(true), &Value::Null));
    assert_eq!((&of("test-model")["images"], &of("other-model")["from"]), (&Value::Null, &json!("config")));
    let known = of("deepseek-chat");
    assert!(known["cost"]["input"].as_f64().is_some_and(|dollars| dollars > 0.0), "{known}");
    let half = of("deepseek-r1");
    assert!(half["cost"]["cache_write"].is_null(), "what is not told is not made up: {half}");
    assert_eq!(
        (&known["tools"], &known["from"], &known["current"]),
        (&json!(true), &json!("catalogue"), &json!(false))
    );
    assert_eq!(value["catalogue"]["date"], catalogue::date());
    assert!(value["locked"].as_array().unwrap().iter().any(|one| one["variable"] == "OPENAI_API_KEY"));
    for secret in ["k-mock", "k-other", "k-deepseek", "k-run"] {
        assert!(!out.contains(secret), "{secret} in {out}");
    }
}

#[test]
fn a_pattern_is_words_in_any_order() {
    let world = World::new().var("GROQ_API_KEY", "k");
    let (code, out, _) = printed(&world, Scope::Usable, Some("120B groq"), Form::Text);
    assert_eq!((code, out.lines().count()), (DONE, 2), "{out}");
    let (code, out, err) = printed(&world, Scope::Usable, Some("grok"), Form::Text);
    assert_eq!((code, out.as_str()), (NO, ""));
    assert!(err.contains("--all"), "{err}");
}

#[test]
fn what_is_wrong_is_told_in_a_line_each() {
    let providers = json!({
        "x": {"models": [{"id": "m"}, {"id": "m"}]},
        "y": {"base_url": "http://h/v1", "compat": {"text_cals": true}},
    });
    let world = World::new().user(&json!({"providers": providers}));
    let (code, out, err) = printed(&world, Scope::Usable, None, Form::Text);
    assert_eq!(code, DONE);
    assert_eq!(out.matches("x/m").count(), 1, "{out}");
    for told in [
        "`providers.x.base_url` is not set",
        "has `m` twice",
        "did you mean `text_calls`?",
        "no model would be asked now",
    ] {
        assert!(err.lines().any(|line| line.starts_with("notice: ") && line.contains(told)), "{told} in {err}");
    }
}

#[test]
fn nothing_of_it_reaches_the_terminal_as_control() {
    let entry = json!({"base_url": "http://h/v1", "models": [{"id": "m\u{1b}[2J"}, {"id": "m\u{1b}[2J"}]});
    let world = World::new().user(&json!({"providers": {"x": entry}}));
    let (_, out, err) = printed(&world, Scope::All, None, Form::Text);
    assert!(!out.contains('\u{1b}') && !err.contains('\u{1b}'), "{out}{err}");
}
