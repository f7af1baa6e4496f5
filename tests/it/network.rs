//! Logging in, and what is told about the way to a provider.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::thread;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::{Host, KEY, MODEL, PROVIDER, Pty, Stdin, Wire, say, side_by_side};

fn kept(host: &Host) -> Value {
    fs::read_to_string(host.config_dir().join("auth.json"))
        .map_or(Value::Null, |text| serde_json::from_str(&text).unwrap())
}

/// A host whose provider has no key yet.
fn without_key() -> Host {
    let host = Host::new();
    host.config(json!({"providers": {PROVIDER: {"api_key": null}}}));
    host
}

#[test]
fn a_key_that_is_piped_in_is_checked_kept_and_used() {
    let host = without_key();
    let login = |key: &str| host.agent(&["auth", "login", PROVIDER]).stdin(format!("{key}\n").as_str());
    login("k-wrong-4711").run().is(4, "", &["refuses the key: HTTP 401: this key is not known here", "hint:"]);
    assert_eq!(kept(&host), Value::Null);
    let run = login(KEY).run().ok();
    assert!(run.stdout.contains("accepts it and lists 1 model") && !run.stdout.contains(KEY), "{}", run.stdout);
    let path = host.config_dir().join("auth.json");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    host.script([say("ok")]);
    host.print("hi").run().ok();
    let listed = host.agent(&["auth", "list"]).run().ok().stdout;
    assert!(listed.contains(PROVIDER) && listed.contains("auth.json") && !listed.contains(KEY), "{listed}");
    host.agent(&["auth", "logout", PROVIDER]).run().ok();
    assert_eq!(kept(&host), json!({}));
}

#[test]
fn logging_in_at_once_loses_no_key() {
    let host = Host::new();
    let names = ["anthropic", "openai", "gemini", "deepseek", PROVIDER];
    side_by_side(names, |name| {
        host.agent(&["auth", "login", name, "--no-check"]).stdin(format!("k-{name}").as_str()).run().ok();
    });
    for name in names {
        assert_eq!(kept(&host)[name]["key"], format!("k-{name}"));
    }
}

#[test]
fn a_key_is_typed_unseen_and_the_terminal_is_as_before_however_that_ends() {
    let host = without_key();
    // Of a terminal that nobody sets: the login may have begun before one could look.
    let before = host.agent(&["--version"]).pty(80, 24).settings();
    for (end, code) in [("\r", 0), ("\u{3}", 130), ("\u{4}", 2)] {
        let mut terminal = host.agent(&["auth", "login", PROVIDER]).pty(80, 24);
        terminal.wait_for("key for mock");
        terminal.wait(Pty::is_raw, "the terminal to be set");
        terminal.send(if code == 2 { "" } else { KEY });
        terminal.send(end);
        assert_eq!(terminal.exit_code(), code);
        assert_eq!(terminal.settings(), before, "after {end:?}");
        assert!(!String::from_utf8_lossy(&terminal.raw()).contains(KEY));
    }
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let mut terminal = host.agent(&["auth", "login", PROVIDER]).pty(80, 24);
        terminal.wait(Pty::is_raw, "the terminal to be set");
        terminal.signal(signal);
        assert_eq!(terminal.exit_code(), code);
        assert_eq!(terminal.settings(), before, "after {signal:?}");
    }
    assert_eq!(kept(&host)[PROVIDER]["key"], KEY);
}

#[test]
fn a_pipe_that_stays_silent_can_be_interrupted() {
    let host = without_key();
    let running = host.agent(&["auth", "login", PROVIDER]).stdin(Stdin::Pipe).start();
    host.wait_process("login");
    running.signal(Signal::TERM);
    running.wait().exits(143);
}

#[test]
fn doctor_asks_the_providers_and_names_what_is_at_fault() {
    let host = Host::new();
    let dead = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    host.config(json!({"providers": {
        "other": {"base_url": "https://models.invalid/v1", "api_key": "k-other-77aa31c9"},
        "dead": {"base_url": format!("http://127.0.0.1:{dead}/v1")},
        "refused": {"base_url": host.server.base_url(Wire::Chat), "api_key": "k-wrong-77aa31c9"},
        "printed": {"base_url": "http://127.0.0.1:9/v1", "api_key": "!touch ran; echo k-printed"},
    }}));
    let proxy = format!("http://me:s3cret-word@127.0.0.1:{dead}");
    let doctor = |arguments: &[&str]| host.agent(arguments).env("HTTPS_PROXY", &proxy);
    let run = doctor(&["doctor", "--json"]).run().ok();
    let told = run.json();
    let one =
        |name: &str| told["providers"].as_array().unwrap().iter().find(|one| one["provider"] == name).unwrap().clone();
    let mock = one(PROVIDER);
    assert_eq!((&mock["works"], &mock["in_use"], &mock["model_listed"]), (&json!(true), &json!(true), &json!(true)));
    assert_eq!((&mock["key_from"], &mock["model"]), (&json!("providers.mock.api_key"), &json!(MODEL)));
    let other = one("other");
    assert_eq!((&other["stage"], &other["works"]), (&json!("proxy"), &json!(false)));
    assert_eq!(other["proxy"], format!("127.0.0.1:{dead} (HTTPS_PROXY)"));
    assert_eq!((&one("dead")["stage"], &one("refused")["status"]), (&json!("connect"), &json!(401)));
    assert_eq!(one("printed")["verdict"], "not_asked");
    let text = doctor(&["doctor"]).run().ok().stdout;
    for words in [
        "(in use)",
        "lists 1 model, test-model among them",
        "by the proxy 127.0.0.1",
        "fix: check HTTPS_PROXY",
        "auth login refused",
    ] {
        assert!(text.contains(words), "{words} in {text}");
    }
    for text in [run.stdout, text] {
        assert!(!text.contains("s3cret-word") && !text.contains("77aa31c9") && !text.contains(KEY), "{text}");
    }
    assert!(!host.exists("ran") && !host.home().join("ran").exists(), "a command runs only for the provider in use");
}

#[test]
fn doctor_says_no_when_the_provider_in_use_does_not_work() {
    let host = Host::new();
    host.config(json!({"providers": {PROVIDER: {"api_key": "k-wrong-4711"}}}));
    let run = host.agent(&["doctor"]).run().exits(1);
    assert!(run.stdout.contains("HTTP 401") && run.stdout.contains("`agent auth login mock`"), "{}", run.stdout);
    host.config(json!({"providers": {PROVIDER: {"api_key": format!("!printf {KEY}")}}}));
    assert!(host.agent(&["doctor"]).run().ok().stdout.contains("takes the key from providers.mock.api_key"));
    host.config(json!({"providers": {PROVIDER: {"api_key": "!exit 3"}}}));
    let run = host.agent(&["doctor"]).run().exits(1);
    assert!(run.stdout.contains("the command failed") && run.stdout.contains("in a shell"), "{}", run.stdout);
    host.config(json!({"max_turn": 5}));
    host.agent(&["doctor"]).run().exits(1).says(&["max_turn"]);
}

#[test]
fn doctor_ends_in_time_whatever_a_server_does() {
    // Takes connections and never answers.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port();
    thread::spawn(move || silent.incoming().map_while(Result::ok).collect::<Vec<_>>());
    let host = Host::new();
    let entry = json!({"base_url": format!("http://127.0.0.1:{port}/v1"), "api_key": "k"});
    host.config(json!({"providers": {PROVIDER: entry, "a": entry, "b": entry, "c": {"base_url": entry["base_url"], "api_key": "k"}}}));
    let run = host.agent(&["doctor", "--json"]).run().exits(1);
    assert!(run.time < std::time::Duration::from_secs(10), "{:?}", run.time);
    let providers = run.json()["providers"].as_array().unwrap().clone();
    assert!(
        providers.len() >= 4 && providers.iter().all(|one| one["error"].as_str().unwrap().contains("no answer")),
        "{providers:?}"
    );
}

#[test]
fn a_stale_certificate_variable_is_named() {
    let host = Host::new();
    host.config(json!({"http": {"max_retries": 0}, "providers": {PROVIDER: {"base_url": "https://localhost:9/v1"}}}));
    let stale = host.print("hi").env("SSL_CERT_FILE", "/gone/ca.pem").run().exits(4);
    assert!(stale.stderr.contains("SSL_CERT_FILE: cannot read /gone/ca.pem"), "{}", stale.stderr);
    let doctor = host.agent(&["doctor"]).env("SSL_CERT_FILE", "/gone/ca.pem").run().exits(1);
    assert!(doctor.stdout.contains("unset SSL_CERT_FILE, or mend the path"), "{}", doctor.stdout);
    host.config(json!({"providers": {PROVIDER: {"base_url": "https://localhost:9/v1", "ca_file": "/gone/own.pem"}}}));
    host.print("hi").run().is(2, "", &["providers.mock.ca_file: cannot read /gone/own.pem"]);
}
