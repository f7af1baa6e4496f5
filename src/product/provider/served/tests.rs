//! Each program's answers, as its documentation has them, and servers that give none.

use super::super::probe::tests::{ok, serve};
use super::*;

/// A server that knows these paths.
fn server(answers: &'static [(&'static str, &'static str)]) -> String {
    serve(move |line, _| {
        let path = line.split(' ').nth(1).unwrap_or_default();
        answers
            .iter()
            .find(|(known, _)| *known == path)
            .map_or("HTTP/1.1 404 No\r\n\r\n".to_owned(), |(_, body)| ok(body))
    })
}

/// Time enough for a busy machine.
const LONG: Duration = Duration::from_secs(5);

fn asked(provider: &str, answers: &'static [(&'static str, &'static str)], model: &str) -> Option<Served> {
    ask(provider, &server(answers), model, None, LONG)
}

const SHOWN: &str = r#"{"parameters": "stop \"<x>\"\nnum_ctx                        16384", "capabilities": ["completion", "tools", "thinking"],
    "model_info": {"general.architecture": "qwen3", "qwen3.context_length": 40960}}"#;

#[test]
fn ollama_tells_the_window_of_a_loaded_model() {
    let loaded = r#"{"models": [{"name": "other:latest", "model": "other:latest", "context_length": 1},
        {"name": "qwen3:latest", "model": "qwen3:latest", "context_length": 4096}]}"#;
    let served = Served {
        by: Some(Program::Ollama),
        window: Some(4096),
        most: Some(40960),
        images: Some(false),
        reasoning: Some(true),
        tools: Some(true),
    };
    assert_eq!(
        asked("ollama", Box::leak(Box::new([("/api/show", SHOWN), ("/api/ps", loaded)])), "qwen3"),
        Some(served)
    );
    let idle = asked("ollama", &[("/api/show", SHOWN), ("/api/ps", r#"{"models": []}"#)], "qwen3").unwrap();
    assert_eq!((idle.window, idle.most), (Some(16384), Some(40960)));
    let silent = asked("ollama", &[("/api/show", r#"{"capabilities": ["completion"]}"#)], "x").unwrap();
    assert_eq!((silent.window, silent.tools), (None, Some(false)));
}

#[test]
fn llama_cpp_tells_what_a_slot_has() {
    const LIST: &str = r#"{"data": [{"id": "m.gguf", "aliases": ["m"], "owned_by": "llamacpp", "meta": {"n_ctx": 32768, "n_ctx_train": 131072}}]}"#;
    const PROPS: &str = r#"{"default_generation_settings": {"n_ctx": 8192}, "total_slots": 4, "modalities": {"vision": true}, "chat_template_caps": {"supports_tools": false}}"#;
    let slots = asked("mine", &[("/v1/models", LIST), ("/props", PROPS)], "m").unwrap();
    assert_eq!((slots.by, slots.window, slots.images), (Some(Program::LlamaCpp), Some(8192), Some(true)));
    assert_eq!(slots.tools, Some(false));
    let old = asked("llamacpp", &[("/v1/models", LIST)], "m.gguf").unwrap();
    assert_eq!((old.window, old.most, old.tools), (Some(32768), Some(131_072), None));
    assert_eq!(asked("llamacpp", &[("/props", PROPS)], "whatever").unwrap().window, Some(8192));
}

#[test]
fn lm_studio_tells_the_loaded_window_or_the_most() {
    const LIST: &str = r#"{"data": [{"id": "a", "type": "vlm", "state": "loaded", "loaded_context_length": 4096, "max_context_length": 32768},
        {"id": "b", "type": "llm", "state": "not-loaded", "max_context_length": 131072}]}"#;
    let loaded = asked("lmstudio", &[("/api/v0/models", LIST)], "a").unwrap();
    assert_eq!((loaded.window, loaded.most, loaded.images), (Some(4096), Some(32768), Some(true)));
    let idle = asked("lmstudio", &[("/api/v0/models", LIST)], "b").unwrap();
    assert_eq!((idle.window, idle.images), (Some(131_072), Some(false)));
}

#[test]
fn others_tell_it_in_their_list() {
    const LIST: &str = r#"{"data": [{"id": "a", "owned_by": "vllm", "max_model_len": 8192}, {"id": "b", "context_length": 4096}, {"id": "c"}]}"#;
    let of = |provider: &str, model: &str| asked(provider, &[("/v1/models", LIST)], model);
    assert_eq!(of("vllm", "a"), Some(Served { by: Some(Program::Vllm), window: Some(8192), ..Served::default() }));
    assert_eq!(of("mine", "a"), of("vllm", "a"));
    assert_eq!(of("mine", "b").unwrap().window, Some(4096));
    assert_eq!((of("mine", "c"), of("mine", "no")), (None, None));
}

#[test]
fn of_a_silent_or_distant_server_nothing_is_known() {
    let silent = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let silent = format!("http://127.0.0.1:{}/v1", silent.local_addr().unwrap().port());
    let short = Duration::from_millis(50);
    assert_eq!(ask("mine", &silent, "m", None, short), None);
    assert_eq!(ask("lmstudio", &silent, "m", None, short).unwrap().window, None);
    assert_eq!(ask("ollama", "https://ollama.com/v1", "m", None, LONG), None);
}

#[test]
fn a_key_goes_along() {
    let address = serve(|_, whole| {
        assert!(whole.contains("\r\nAuthorization: Bearer k-1\r\n"), "{whole}");
        ok(r#"{"data": [{"id": "m", "max_model_len": 7}]}"#)
    });
    assert_eq!(ask("mine", &address, "m", Some("k-1"), LONG).unwrap().window, Some(7));
    let address = serve(|_, whole| {
        assert!(!whole.contains("Authorization"), "{whole}");
        ok(r#"{"data": [{"id": "m", "max_model_len": 7}]}"#)
    });
    assert_eq!(ask("mine", &address, "m", Some("k\r\nEvil: 1"), LONG).unwrap().window, Some(7));
}
