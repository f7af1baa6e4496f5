//! Names that a model thinks of for new chats.

use serde_json::{Value, json};

use super::{chat, leave};
use crate::support::{Host, MODEL, PROVIDER, Role, Wire, say};

/// A host whose provider is somewhere else, behind a proxy, and has prices.
fn elsewhere() -> Host {
    let host = Host::new();
    let proxy = host.server.base_url(Wire::Chat).replace("/v1", "");
    let model = |id: &str, price: f64| json!({"id": id, "contextWindow": 128_000, "maxTokens": 8192, "cost": {"input": price, "output": price}});
    let models = [model(MODEL, 3.0), model("small-model", 0.5)];
    let provider = json!({"base_url": "http://models.example/v1", "models": models});
    host.config(json!({"http": {"proxy": proxy}, "providers": {PROVIDER: provider}}));
    host
}

fn names(host: &Host) -> Vec<Value> {
    host.session().records.into_iter().filter(|record| record["type"] == "name").collect()
}

#[test]
fn a_new_chat_is_named_by_the_cheapest_model_after_its_first_answer() {
    let host = elsewhere();
    host.server.answer(|request| match request.model() {
        "small-model" => say("\"Why the sky is blue.\""),
        _ => say("It scatters."),
    });
    let pty = chat(&host);
    pty.line("why is the sky blue?");
    pty.wait_for("It scatters.");
    pty.wait(|_| !names(&host).is_empty(), "the name to be kept");
    let name = names(&host).remove(0);
    assert_eq!((&name["name"], &name["model"]), (&json!("Why the sky is blue"), &json!("small-model")));
    assert!(name["usage"]["cost_usd"].as_f64().unwrap() > 0.0, "{name}");
    let asked = host.request(1);
    assert!(asked.said(Role::User)[0].contains("why is the sky blue?") && asked.prompt().contains("It scatters."));
    pty.line("and the sea?");
    pty.wait(|pty| pty.count("It scatters.") == 2, "the second answer");
    leave(pty);
    assert_eq!((host.server.requests().len(), names(&host).len()), (3, 1), "once is enough");
    let listed = host.agent(&["sessions", "list"]).run().ok().stdout;
    assert!(listed.contains("Why the sky is blue"), "{listed}");
}

#[test]
fn nobody_is_asked_for_a_name_in_a_single_task_or_where_the_user_wants_none() {
    let host = elsewhere();
    host.server.answer(|_| say("It scatters."));
    host.print("why is the sky blue?").run().ok();
    let settings = host.config_dir().join("config.json");
    let mut config: Value = serde_json::from_str(&std::fs::read_to_string(&settings).unwrap()).unwrap();
    config["ui"] = json!({"titles": false});
    host.file(&settings, &config.to_string());
    let pty = chat(&host);
    pty.line("and the sea?");
    pty.wait_for("It scatters.");
    leave(pty);
    assert_eq!(host.server.requests().len(), 2);
    let listed = host.agent(&["sessions", "list"]).run().ok().stdout;
    assert!(listed.contains("why is the sky blue?") && listed.contains("and the sea?"), "{listed}");
}
