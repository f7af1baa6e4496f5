//! Who is asked, and with which key, as files, variables and options make it.

use super::choose::{choose_among, choose_named};
use super::key::known_secrets;
use super::*;
use crate::base::cancel::Cancel;
use crate::product::config::ProjectTrust;
use crate::product::config::tests::{World, triple, two};
use crate::product::error::Kind;
use serde_json::json;
use std::net::TcpListener;

#[test]
fn keys_are_looked_up_in_order() {
    let entry = json!({"base_url": "http://127.0.0.1:9/v1", "api_key": "$FROM_FILE"});
    let world = World::new()
        .user(&json!({"provider": "deepseek", "model": "m", "providers": {"deepseek": entry}}))
        .var("FROM_FILE", "k-file");
    assert_eq!(world.asked().2, "k-file");
    let world =
        world.file("config/auth.json", r#"{"deepseek": {"type": "api_key", "key": "k-auth"}, "x": {"key": "k-x"}}"#);
    assert_eq!(world.asked().2, "k-auth");
    assert!(world.notices().contains("chmod 600"));
    let world = world.var("DEEPSEEK_API_KEY", "k-preset");
    assert_eq!(world.asked().2, "k-preset");
    let world = world.var("VIOLA_API_KEY", "k-viola");
    assert_eq!(world.asked().2, "k-viola");
    let world = world.key("k-option");
    assert_eq!(world.asked().2, "k-option");
    let secrets = known_secrets(&world.load(), &world.env, None);
    let secrets: Vec<_> = secrets.iter().map(Secret::expose).collect();
    assert_eq!(secrets, ["k-auth", "k-file", "k-option", "k-preset", "k-viola", "k-x"]);
    assert!(!format!("{:?}", world.load().run_key).contains("k-option"));
}

#[test]
fn keys_of_the_command_stay_with_the_provider_named() {
    let world = two(&json!({})).key("k-option").flag("--model", "model", json!("other/other-model"));
    assert_eq!(world.asked(), triple("other", "other-model", "k-option"));
    let start = world.choose().unwrap();
    let key = |spec: &str| {
        choose_named(&world.load(), &world.env, &Cancel::new(), spec, &start).unwrap().key.unwrap().expose().to_owned()
    };
    assert_eq!(
        (key("mock/test-model"), key("other/x"), key("other-model")),
        ("k-mock".into(), "k-option".into(), "k-option".into())
    );

    let alone = World::new().var("VIOLA_API_KEY", "k-alone");
    let error = alone.choose().unwrap_err();
    assert_eq!(error.kind, Kind::Nobody);
    assert!(error.hints.iter().any(|hint| hint.contains("VIOLA_API_KEY")), "{:?}", error.hints);
    let other = alone.var("OPENAI_API_KEY", "k-openai");
    assert_eq!(other.asked(), triple("openai", "gpt-5", "k-openai"));
    assert!(other.choose().unwrap().notices[0].text.contains("VIOLA_API_KEY is not used"));
}

#[test]
fn a_command_may_give_the_users_key_alone() {
    let provider = |key: &str| json!({"providers": {"mock": {"base_url": "http://127.0.0.1:9/v1", "api_key": key}}});
    let world = two(&provider("!printf k-command"));
    assert_eq!(world.asked().2, "k-command");
    let failing = two(&provider("!exit 3"));
    assert_eq!(failing.choose().unwrap_err().kind, Kind::Provider);
    let mut theirs = two(&json!({})).project(&provider("!touch ran; echo k-project"));
    theirs.flags.project = ProjectTrust::ThisRun;
    assert!(theirs.choose().unwrap_err().message.contains("only the user's own file may name a command"));
    assert!(!theirs.env.cwd.join("ran").exists());
    let missing = two(&provider("$NOT_THERE"));
    assert!(missing.choose().unwrap_err().message.contains("$NOT_THERE is not set"));
}

#[test]
fn a_missing_key_says_where_it_was_looked_for() {
    let error = World::new().user(&json!({"provider": "deepseek"})).choose().unwrap_err();
    assert_eq!(error.kind, Kind::Provider);
    for place in ["--api-key", "VIOLA_API_KEY", "DEEPSEEK_API_KEY", "auth.json", "providers.deepseek.api_key"] {
        assert!(error.message.contains(place), "{place} in {error}");
    }
    let nobody = World::new().choose().unwrap_err();
    assert_eq!((nobody.kind, nobody.hints.len()), (Kind::Nobody, choose::FIRST_STEPS));
    assert!(nobody.hints[0].contains("ANTHROPIC_API_KEY") && nobody.hints[2].contains("agent demo"));
}

#[test]
fn a_model_may_name_its_provider() {
    let with = |spec: &str| {
        two(&json!({"providers": {
        "mock": {"base_url": "http://127.0.0.1:9/v1", "api_key": "k-mock", "models": [{"id": "vendor/other:free"}, {"id": "other/listed"}]},
        "other": {"base_url": "http://127.0.0.1:9/v1", "api_key": "k-other"}}}))
        .flag("--model", "model", json!(spec))
    };
    assert_eq!(with("mock/vendor/other:free").asked(), triple("mock", "vendor/other:free", "k-mock"));
    assert_eq!(with("vendor/other:free").asked(), triple("mock", "vendor/other:free", "k-mock"));
    assert_eq!(with("other/listed").asked(), triple("mock", "other/listed", "k-mock"));
    assert_eq!(with("other/unlisted").asked(), triple("other", "unlisted", "k-other"));
    let whole = with("other/unlisted").flag("--provider", "provider", json!("mock"));
    assert_eq!(whole.asked(), triple("mock", "other/unlisted", "k-mock"));
    let list = two(&json!({"model": ["mock/test-model", "other/other-model"]}));
    assert_eq!(list.asked(), triple("mock", "test-model", "k-mock"));
    assert_eq!(list.choose().unwrap().fallbacks, ["other/other-model"]);
}

#[test]
fn a_later_provider_leaves_the_earlier_ones_model_and_address_behind() {
    let config = json!({"provider": "openai", "model": "gpt-5-mini", "base_url": "http://127.0.0.1:7/v1"});
    let world = World::new().user(&config).var("OPENAI_API_KEY", "k-openai").var("ANTHROPIC_API_KEY", "k-anthropic");
    assert_eq!(world.choose().unwrap().base_url, "http://127.0.0.1:7/v1");
    assert_eq!(world.asked(), triple("openai", "gpt-5-mini", "k-openai"));
    let world = world.flag("--provider", "provider", json!("anthropic"));
    assert_eq!(world.asked(), triple("anthropic", "claude-sonnet-4-5", "k-anthropic"));
    assert_eq!(world.choose().unwrap().base_url, "https://api.anthropic.com");
    let both = two(&json!({})).flag("--model", "model", json!("other/x")).flag(
        "--base-url",
        "base_url",
        json!("http://127.0.0.1:8/"),
    );
    assert_eq!((both.asked().0.as_str(), both.choose().unwrap().base_url.as_str()), ("other", "http://127.0.0.1:8"));
    let nobody = World::new().flag("--base-url", "base_url", json!("http://127.0.0.1:8/"));
    assert_eq!(nobody.choose().unwrap_err().kind, Kind::Usage);
}

#[test]
fn presets_stand_below_the_user() {
    let world = World::new()
        .user(&json!({"provider": "anthropic", "providers": {"anthropic": {"base_url": "http://127.0.0.1:9/"}}}));
    let choice = world.var("ANTHROPIC_API_KEY", "k").choose().unwrap();
    assert_eq!(
        (choice.api, choice.base_url.as_str(), choice.model.as_str()),
        (Api::AnthropicMessages, "http://127.0.0.1:9", "claude-sonnet-4-5")
    );
    assert!(!choice.local && !choice.own);
    let wire = |api: &str| {
        World::new()
            .user(&json!({"provider": "x", "model": "m", "providers": {"x": {"base_url": "http://h", "api": api}}}))
            .choose()
    };
    assert_eq!(wire("openai-responses").unwrap().api, Api::OpenaiResponses);
    assert_eq!(wire("google-generative-ai").unwrap().api, Api::GoogleGenerativeAi);
    assert!(wire("openai-completions").unwrap().key.is_none(), "an own provider may want none");
    let near = World::new().user(&json!({"provider": "antropic"})).choose().unwrap_err();
    assert!(near.hints[0].contains("anthropic") && near.kind == Kind::Usage);
    let bad = World::new()
        .user(&json!({"provider": "x", "model": "m", "providers": {"x": {"base_url": "ftp://h"}}}))
        .choose();
    assert!(bad.unwrap_err().message.contains("no address"));
    let evil = json!({"provider": "x", "model": "m", "providers": {"x": {"base_url": "\u{1b}[2J\nhttp://h?key=sk-1"}}});
    let told = World::new().user(&evil).choose().unwrap_err().message;
    assert!(!told.contains(char::is_control) && !told.contains("sk-1"), "{told}");
    let loud = json!({"provider": "x", "model": "m", "providers": {"x": {"base_url": "HTTP://h"}}});
    assert_eq!(World::new().user(&loud).choose().unwrap().base_url, "HTTP://h");
    let toolless = Facts { tools: Some(false), ..Facts::of(&Values::default(), "x", "m") };
    assert!(super::toolless(&toolless, "m").is_some_and(|notice| notice.text.starts_with("m calls no tools")));
}

#[test]
fn what_is_known_of_a_model_is_passed_on() {
    let model = json!({"id": "m", "name": "Model", "contextWindow": 128_000, "maxTokens": 8192, "input": ["text", "image"],
        "reasoning": true, "cost": {"input": 2, "output": 10, "cacheRead": 0.2, "cacheWrite": 2.5}});
    let entry = json!({"base_url": "http://h/v1", "models": [model], "headers": {"X-Team": "violins"}, "compat": {"text_calls": false}});
    let choice = World::new().user(&json!({"provider": "x", "providers": {"x": entry}})).choose().unwrap();
    let info = &choice.info;
    assert_eq!(
        (info.label.as_str(), info.window, info.max_output, info.reasoning, info.images),
        ("Model", Some(128_000), Some(8192), true, true)
    );
    assert_eq!(info.price.unwrap().cache_write, 2.5);
    assert_eq!(
        (choice.model.as_str(), choice.headers, choice.own),
        ("m", vec![("X-Team".to_owned(), "violins".to_owned())], true)
    );
    assert_eq!(choice.compat["text_calls"], false);
}

#[test]
fn a_replay_needs_a_record_and_nothing_else() {
    let world = two(&json!({})).key("k").flag("--provider", "provider", json!("replay"));
    assert_eq!(world.choose().unwrap_err().kind, Kind::Usage, "the other provider's model is no record");
    let world = world.flag("--model", "model", json!("rec.jsonl"));
    let choice = world.choose().unwrap();
    assert_eq!((choice.api, choice.key), (Api::Replay, None));
    assert_eq!(choice.model, world.env.cwd.join("rec.jsonl").display().to_string());
}

#[test]
fn a_local_server_needs_neither_key_nor_model() {
    use std::io::{Read, Write};
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = format!("http://127.0.0.1:{}/v1", listener.local_addr().unwrap().port());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 1024]);
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n{\"data\": [{\"id\": \"some-local-model\"}]}");
        }
    });
    let local = json!({"providers": {"llamacpp": {"base_url": address}}});
    let mut named = local.clone();
    named["provider"] = json!("llamacpp");
    assert_eq!(World::new().user(&named).asked(), triple("llamacpp", "some-local-model", ""));
    let world = World::new().user(&local);
    let found = choose_among(
        &world.load(),
        &world.env,
        &Cancel::new(),
        &[("llamacpp", &address)],
        std::time::Duration::from_secs(5),
    )
    .unwrap();
    assert_eq!((found.provider.as_str(), found.model.as_str(), found.local), ("llamacpp", "some-local-model", true));
}

#[test]
fn every_secret_is_known_whoever_gave_it() {
    let headers = json!({"X-Secret": "h-1", "Authorization": "Bearer h-2", "X-Team": "violins"});
    let entry = json!({"base_url": "http://h/v1", "api_key": "!printf k-printed", "headers": headers});
    let world = World::new().user(&json!({"provider": "x", "model": "m", "providers": {"x": entry}}));
    let choice = world.choose().unwrap();
    let secrets = known_secrets(&world.load(), &world.env, choice.key.as_ref());
    let secrets: Vec<_> = secrets.iter().map(Secret::expose).collect();
    assert_eq!(secrets, ["Bearer h-2", "h-1", "h-2", "k-printed"]);
}

#[test]
fn the_catalogue_fills_what_the_user_left_open() {
    let world = |entry: Value| {
        let providers = json!({"groq": {"models": [entry]}});
        World::new().user(&json!({"provider": "groq", "providers": providers})).var("GROQ_API_KEY", "k")
    };
    let bare = World::new().user(&json!({"provider": "groq"})).var("GROQ_API_KEY", "k").choose().unwrap().info;
    assert!(bare.window.is_some() && bare.price.is_some() && bare.reasoning && !bare.images, "{bare:?}");
    let id = bare.origin.model.clone();
    let own = world(json!({"id": id, "contextWindow": 1000, "cost": {"output": 0.5}})).choose().unwrap().info;
    assert_eq!((own.window, own.max_output, own.price.unwrap().output), (Some(1000), bare.max_output, 0.5));
    assert_eq!(own.price.unwrap().input, bare.price.unwrap().input);
    let unknown = world(json!({"id": "nobody-knows"})).flag("--model", "model", json!("nobody-knows"));
    let unknown = unknown.choose().unwrap().info;
    assert_eq!((unknown.window, unknown.price, unknown.images), (None, None, true));
}

#[test]
fn an_ended_model_is_told_of() {
    let told = |provider: &str, variable: &str| {
        let choice = World::new().user(&json!({"provider": provider})).var(variable, "k").choose().unwrap();
        let has_ended = catalogue::find(provider, &choice.model).and_then(|known| known.until);
        let has_ended = has_ended.is_some_and(|until| until <= catalogue::date());
        assert_eq!(choice.notices.iter().any(|notice| notice.text.contains("was to end it")), has_ended, "{provider}");
    };
    told("deepseek", "DEEPSEEK_API_KEY");
    told("groq", "GROQ_API_KEY");
}

#[test]
fn a_presets_headers_stand_below_the_users() {
    let headers = |config: &Value| World::new().user(config).var("OPENROUTER_API_KEY", "k").choose().unwrap().headers;
    let title = |value: &str| ("X-Title".to_owned(), value.to_owned());
    assert_eq!(headers(&json!({"provider": "openrouter"})), [title("Viola")]);
    let own = json!({"provider": "openrouter", "providers": {"openrouter": {"headers": {"x-title": "mine"}}}});
    assert_eq!(headers(&own), [("x-title".to_owned(), "mine".to_owned())]);
}

#[test]
fn everything_that_can_be_asked_is_listed() {
    use super::listing::{Scope, listing};
    let (open, address) = {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = format!("http://127.0.0.1:{}/v1", listener.local_addr().unwrap().port());
        (listener, address)
    };
    std::thread::spawn(move || {
        use std::io::{Read, Write};
        for stream in open.incoming() {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 1024]);
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n{\"data\": [{\"id\": \"served\"}, {\"id\": \"mine\"}]}");
        }
    });
    let closed = TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port();
    let providers = json!({
        "llamacpp": {"base_url": address, "models": [{"id": "mine"}]},
        "vllm": {"base_url": format!("http://127.0.0.1:{closed}/v1")},
        "ollama": {"base_url": format!("http://127.0.0.1:{closed}/v1")},
        "lmstudio": {"base_url": format!("http://127.0.0.1:{closed}/v1")},
    });
    let world = World::new().user(&json!({"providers": providers}));
    let told = |servers: Servers| listing(&world.load(), &world.env, servers, Scope::Usable);
    let asked = told(Servers::Asked);
    let rows: Vec<_> = asked.models.iter().map(|model| (model.id.as_str(), model.from, model.is_current)).collect();
    assert_eq!(rows, [("mine", Place::Config, true), ("served", Place::Server, false)]);
    assert_eq!(asked.problems.len(), 3, "{:?}", asked.problems);
    assert!(asked.problems.iter().all(|problem| problem.contains("lists no models")));
    let left = told(Servers::Left);
    assert_eq!((left.models.len(), left.problems.len()), (1, 0));
    assert!(left.nobody.is_some(), "nobody was asked whether there is a server");
}

#[test]
fn a_server_of_this_machine_is_asked_for_its_models_with_its_key() {
    use super::listing::{Scope, listing};
    use super::probe::tests::{ok, serve};
    let address = serve(|_, whole| match whole.contains("\r\nAuthorization: Bearer k-mine\r\n") {
        true => ok(r#"{"data": [{"id": "served"}]}"#),
        false => "HTTP/1.1 401 Unauthorized\r\n\r\n".to_owned(),
    });
    let entry = json!({"base_url": address, "api_key": "k-mine"});
    let world = World::new().user(&json!({"provider": "vllm", "providers": {"vllm": entry}}));
    assert_eq!(world.choose().unwrap().model, "served");
    let listing = listing(&world.load(), &world.env, Servers::Asked, Scope::Usable);
    let rows = listing.models.iter().filter(|model| model.provider == "vllm");
    let rows: Vec<_> = rows.map(|model| (model.id.as_str(), model.from, model.is_current)).collect();
    assert_eq!(rows, [("served", Place::Server, true)]);
}

#[test]
fn the_list_knows_who_would_be_asked() {
    let current = |world: &World| {
        let listed = listed(&world.load(), &world.env, Servers::Left);
        let found: Vec<_> = listed.into_iter().filter(|model| model.is_current).collect();
        assert!(found.len() <= 1, "{found:?}");
        found.into_iter().next().map(|model| (model.provider, model.id, model.from))
    };
    let world = World::new().var("OPENROUTER_API_KEY", "k");
    let chosen = world.choose().unwrap();
    assert_eq!(current(&world), Some((chosen.provider, chosen.model, Place::Preset)));
    let named = two(&json!({})).flag("--model", "model", json!("other/x"));
    assert_eq!(current(&named), Some(("other".into(), "x".into(), Place::Config)));
    assert_eq!(current(&World::new()), None);
    let command =
        json!({"provider": "x", "model": "m", "providers": {"x": {"base_url": "http://h", "api_key": "!touch ran"}}});
    let world = World::new().user(&command);
    assert!(current(&world).is_some() && !world.env.home.clone().unwrap().join("ran").exists(), "nothing is run");
}
