//! Keys kept and told of, by a person and a server that are made up.

use super::*;
use crate::product::config::tests::World;
use crate::product::error::Kind;
use std::cell::RefCell;
use std::fs;
use std::io::Read;
use std::net::TcpListener;
use std::path::PathBuf;

/// What a command wrote, and its outcome.
struct Ran {
    code: Result<u8, Error>,
    out: String,
    err: String,
    /// What the person was asked.
    asked: Vec<String>,
}

/// Runs it for a person who answers so.
fn run_with(world: &World, action: &Action, typed: &Typed) -> Ran {
    let (mut out, mut err, asked) = (Vec::new(), Vec::new(), RefCell::new(Vec::new()));
    let mut ask = |question: &str| {
        asked.borrow_mut().push(question.to_owned());
        Ok(typed.clone())
    };
    let code = run(action, &world.env, &world.flags, &Stop::default(), &mut ask, &mut out, &mut err);
    let (out, err) = (String::from_utf8(out).unwrap(), String::from_utf8(err).unwrap());
    Ran { code, out, err, asked: asked.into_inner() }
}

fn login(world: &World, name: &str, key: &str) -> Ran {
    let action = Action::Login { name: name.to_owned(), check: Check::Server };
    run_with(world, &action, &Typed::Line(Secret::new(key)))
}

fn logout(world: &World, name: &str) -> Ran {
    run_with(world, &Action::Logout { name: name.to_owned() }, &Typed::Nothing)
}

fn list(world: &World, form: Form) -> String {
    let ran = run_with(world, &Action::List { form }, &Typed::Nothing);
    assert_eq!(ran.code.unwrap(), DONE);
    ran.out
}

/// A server that takes this key alone, with another status for each other request; `""` takes none at all.
fn server(key: &'static str, refusal: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let mut bytes = [0; 4096];
            let count = stream.read(&mut bytes).unwrap_or(0);
            let text = String::from_utf8_lossy(&bytes[..count]).into_owned();
            let is_taken = key.is_empty() || text.contains(&format!("authorization: Bearer {key}\r\n"));
            let (status, body) = match is_taken {
                true => ("200 OK", r#"{"data": [{"id": "m"}]}"#),
                false => (refusal, r#"{"error": {"message": "this key is not for me"}}"#),
            };
            let _ = write!(stream, "HTTP/1.1 {status}\r\ncontent-length: {}\r\n\r\n{body}", body.len());
        }
    });
    url
}

fn world(url: &str) -> World {
    World::new().user(&json!({"providers": {"mock": {"base_url": url}, "ollama": {"base_url": url}}}))
}

fn file(world: &World) -> PathBuf {
    world.folder.path().join("config/auth.json")
}

fn kept(world: &World) -> Value {
    fs::read_to_string(file(world)).map_or(Value::Null, |text| serde_json::from_str(&text).unwrap())
}

#[test]
fn a_key_that_its_server_takes_is_kept_and_shown_to_nobody() {
    let world = world(&server("k-right", "401 Unauthorized"));
    let ran = login(&world, "mock", "  k-right \n");
    assert_eq!(ran.code.unwrap(), DONE);
    assert!(
        ran.asked[0].contains("mock") && ran.out.contains("auth.json (mock accepts it and lists 1 model)"),
        "{}",
        ran.out
    );
    assert!(!ran.out.contains("k-right") && ran.err.is_empty(), "{}", ran.err);
    assert_eq!(kept(&world), json!({"mock": {"type": "api_key", "key": "k-right"}}));
    let ran = login(&world, "mock", "k-wrong");
    let error = ran.code.unwrap_err();
    assert_eq!(
        (error.kind, error.message.contains("HTTP 401: this key is not for me")),
        (Kind::Provider, true),
        "{error}"
    );
    assert_eq!(kept(&world)["mock"]["key"], "k-right");
    let unchecked = Action::Login { name: "mock".to_owned(), check: Check::Nobody };
    let ran = run_with(&world, &unchecked, &Typed::Line(Secret::new("k-wrong")));
    assert!(ran.code.is_ok() && ran.err.is_empty() && ran.out.contains("not checked"), "{}", ran.err);
    assert_eq!(kept(&world)["mock"]["key"], "k-wrong");
}

#[test]
fn what_was_copied_around_a_key_is_not_kept() {
    let world = world("http://127.0.0.1:9/v1");
    for (typed, why) in [
        ("OPENAI_API_KEY=k-1", "it is a line that sets a variable"),
        ("export A_KEY='k-1'", "it is a line that sets a variable"),
        ("\"k-1\"", "it is in quotes"),
    ] {
        let error = login(&world, "mock", typed).code.unwrap_err();
        assert_eq!(error.message, format!("no key for mock: {why}"));
        assert!(error.hints.iter().any(|hint| hint.contains("without quotes")) && !error.message.contains("k-1"));
    }
    let unchecked = Action::Login { name: "mock".to_owned(), check: Check::Nobody };
    for good in ["A_B==", "sk_a=b", "\u{feff}k-1"] {
        assert!(run_with(&world, &unchecked, &Typed::Line(Secret::new(good))).code.is_ok(), "{good}");
    }
}

#[test]
fn a_server_that_cannot_judge_is_no_hindrance() {
    let dead = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    for (url, why) in [
        (format!("http://127.0.0.1:{dead}/v1"), "connection refused"),
        (server("k-right", "404 Not Found"), "HTTP 404"),
        (server("k-right", "402 Payment Required"), "HTTP 402"),
    ] {
        let world = world(&url);
        let ran = login(&world, "mock", "k-other");
        assert!(ran.code.is_ok() && ran.err.starts_with("warning: the key could not be checked: "), "{}", ran.err);
        assert!(ran.err.contains(why) && kept(&world)["mock"]["key"] == "k-other", "{}", ran.err);
    }
}

#[test]
fn what_is_no_key_is_not_kept() {
    let world = world("http://127.0.0.1:9/v1");
    for (key, why) in [("", "empty"), (" \n", "empty"), ("k\u{7}", "characters"), ("schlüssel", "characters")] {
        let error = login(&world, "mock", key).code.unwrap_err();
        assert!(error.kind == Kind::Usage && error.message.contains(why), "{error}");
    }
    let action = Action::Login { name: "mock".to_owned(), check: Check::Server };
    assert_eq!(run_with(&world, &action, &Typed::Nothing).code.unwrap_err().kind, Kind::Usage);
    assert_eq!(run_with(&world, &action, &Typed::Stopped).code.unwrap(), 130);
    assert_eq!(kept(&world), Value::Null);
}

#[test]
fn a_name_that_needs_no_key_is_told_so() {
    let open = world(&server("", ""));
    let ran = login(&open, "ollama", "k");
    assert!(ran.code.is_ok() && ran.asked.is_empty() && ran.out.contains("needs no key"), "{}", ran.out);
    let closed = world(&server("k-right", "401 Unauthorized"));
    assert!(login(&closed, "ollama", "k-right").code.is_ok(), "a server may be set up to want one");
    assert_eq!(kept(&closed)["ollama"]["key"], "k-right");
    let absent = world("http://127.0.0.1:9/v1");
    let ran = login(&absent, "ollama", "k");
    assert!(
        ran.code.is_ok() && ran.out.contains("could not be asked") && ran.out.contains("--no-check"),
        "{}",
        ran.out
    );
    assert_eq!(kept(&absent), Value::Null);
    let unchecked = Action::Login { name: "ollama".to_owned(), check: Check::Nobody };
    assert!(run_with(&absent, &unchecked, &Typed::Line(Secret::new("k-kept"))).code.is_ok());
    assert_eq!(kept(&absent)["ollama"]["key"], "k-kept");
    assert!(login(&open, "replay", "k").out.contains("needs no key"));
    let error = login(&open, "antropic", "k").code.unwrap_err();
    assert!(error.kind == Kind::Usage && error.hints[0].contains("`anthropic`"), "{error}");
}

#[test]
fn a_broken_file_is_named_before_anybody_types() {
    let world = world("http://127.0.0.1:9/v1");
    fs::write(file(&world), "{\"a\":\n oops").unwrap();
    let ran = login(&world, "mock", "k");
    let error = ran.code.unwrap_err();
    assert!(ran.asked.is_empty() && error.message.contains("auth.json:2:2: "), "{error}");
    assert!(logout(&world, "mock").code.unwrap_err().message.contains("auth.json:2:2: "));
    assert_eq!(fs::read_to_string(file(&world)).unwrap(), "{\"a\":\n oops");
}

#[test]
fn logging_out_forgets_what_is_kept_and_tells_what_is_left() {
    let world = World::new().var("OPENAI_API_KEY", "k-variable");
    let both = r#"{"openai": {"key": "k-1"}, "gone": {"key": "k-2"}}"#;
    fs::write(file(&world), both).unwrap();
    let ran = logout(&world, "openai");
    assert!(ran.code.unwrap() == DONE && ran.out.contains("still has one from OPENAI_API_KEY"), "{}", ran.out);
    assert_eq!(logout(&world, "gone").code.unwrap(), DONE, "also one that the settings no longer know");
    assert_eq!(kept(&world), json!({}));
    let ran = logout(&world, "openai");
    assert_eq!((ran.code.unwrap(), ran.out.contains("has no key for openai")), (NO, true));
    assert_eq!(logout(&world, "opnai").code.unwrap_err().kind, Kind::Usage);
}

#[test]
fn the_list_names_every_place_and_no_key() {
    let providers = json!({
        "literal": {"base_url": "http://h", "api_key": "k-secret"},
        "named": {"base_url": "http://h", "api_key": "$NAMED"},
        "asked": {"base_url": "http://h", "api_key": "!echo k-secret"},
        "none": {"base_url": "http://h"},
    });
    let world =
        World::new().user(&json!({"providers": providers})).var("NAMED", "k-secret").var("OPENAI_API_KEY", "k-secret");
    fs::write(
        file(&world),
        r#"{"openai": {"key": "k-secret"}, "deepseek": {"key": "k-secret"}, "old": {"key": "k-secret"}}"#,
    )
    .unwrap();
    let (text, value) = (list(&world, Form::Text), list(&world, Form::Json));
    assert!(!text.contains("k-secret") && !value.contains("k-secret"));
    let line = |name: &str| text.lines().find(|line| line.starts_with(name)).unwrap_or_default().to_owned();
    assert!(line("openai").ends_with("from OPENAI_API_KEY; the one in auth.json is not used"), "{text}");
    assert!(line("deepseek").ends_with("from auth.json") && line("old").ends_with("from auth.json"), "{text}");
    assert!(line("asked").contains("not asked"), "{text}");
    assert_eq!(line("none"), "");
    let value: Value = serde_json::from_str(&value).unwrap();
    let sources: Vec<_> = value
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["provider"].as_str().unwrap(), row["source"].as_str().unwrap()))
        .collect();
    let expected = [
        ("openai", "variable"),
        ("deepseek", "auth.json"),
        ("asked", "command"),
        ("literal", "config"),
        ("named", "variable"),
        ("old", "auth.json"),
    ];
    assert_eq!(sources, expected);
    assert!(list(&World::new(), Form::Text).contains("`agent auth login NAME`"));
}
