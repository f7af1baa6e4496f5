//! What is said about windows of all sizes, and what the two sets of tools really take.

use std::sync::Arc;

use serde_json::json;

use super::*;
use crate::base::text::mask::Mask;
use crate::kernel::toolbox::Toolbox;
use crate::product::app::{load as load_of, node_settings, toolbox};
use crate::product::config::tests::{World, two};
use crate::product::prompt::{self, Size};
use crate::product::provider::served::Served;
use crate::product::tool::workspace::Workspace;

/// A model of this window, as this program serves it.
fn choice(window: Option<u64>, by: Option<Program>) -> Choice {
    let mut choice = two(&json!({})).choose().unwrap();
    choice.info.window = window;
    choice.served = Some(Served { by, window, most: Some(40_960), ..Served::default() });
    choice
}

const FULL: Load = Load { tokens: 2_000, tools: 7, is_lean: false };
const LEAN: Load = Load { tokens: 500, tools: 4, is_lean: true };

fn said(choice: &Choice, load: Load) -> String {
    match check(choice, load) {
        Ok(notices) => notices.into_iter().map(|notice| notice.text).collect::<Vec<_>>().join("\n"),
        Err(error) => format!("{error}\n{}", error.hints.join("\n")),
    }
}

#[test]
fn a_window_without_room_is_an_error() {
    insta::assert_snapshot!(said(&choice(Some(2_048), Some(Program::LlamaCpp)), FULL), @r"
    the window of test-model holds 2,048 tokens, and about 3,000 are needed: 2,000 for the system prompt and the tools, 1,000 for a first message and its answer
    for a larger window, start llama-server with `-c 32768 -np 1`
    or offer less: `--tools lean` takes about 500 tokens
    ");
    insta::assert_snapshot!(said(&choice(Some(1_024), Some(Program::Ollama)), LEAN), @r"
    the window of test-model holds 1,024 tokens, and about 1,500 are needed: 500 for the system prompt and the tools, 1,000 for a first message and its answer
    for a larger window, start Ollama with OLLAMA_CONTEXT_LENGTH=32768, or make a model of this one with `PARAMETER num_ctx 32768` in its Modelfile
    ");
    let mut configured = choice(Some(512), None);
    configured.served = None;
    assert!(said(&configured, FULL).contains("\"contextWindow\" in providers.mock.models"));
    assert_eq!(check(&configured, FULL).unwrap_err().kind.exit_code(), 4);
}

#[test]
fn a_crowded_or_small_window_is_told_and_a_large_one_is_not() {
    insta::assert_snapshot!(said(&choice(Some(3_500), Some(Program::LmStudio)), FULL), @"The system prompt and the tools take about 2,000 of the 3,500 tokens in the window of test-model. `--tools lean` takes about 500. For a larger one, load it with `lms load test-model --context-length 32768`.");
    insta::assert_snapshot!(said(&choice(Some(8_192), Some(Program::Vllm)), LEAN), @"The window of test-model holds 8,192 tokens here, which a few files fill. For a larger one, start vLLM with `--max-model-len 32768`.");
    for window in [Some(32_768), None] {
        assert_eq!(said(&choice(window, Some(Program::LlamaCpp)), FULL), "");
    }
    // It is all the model was made for.
    let mut most = choice(Some(8_192), Some(Program::LlamaCpp));
    most.served.as_mut().unwrap().most = Some(8_192);
    assert_eq!(said(&most, FULL), "");
}

#[test]
fn ollama_is_not_trusted_with_a_window_nobody_chose() {
    let text = said(&choice(None, Some(Program::Ollama)), FULL);
    assert!(
        text.starts_with("Ollama sizes the window of test-model") && text.contains("OLLAMA_CONTEXT_LENGTH"),
        "{text}"
    );
}

#[test]
fn a_model_without_tools_is_refused_unless_none_are_offered() {
    let mut choice = choice(Some(100_000), Some(Program::Ollama));
    choice.served.as_mut().unwrap().tools = Some(false);
    assert!(said(&choice, FULL).starts_with("test-model at http://127.0.0.1:9/v1 cannot call tools\n"));
    assert_eq!(said(&choice, Load { tools: 0, ..LEAN }), "");
    choice.served.as_mut().unwrap().by = Some(Program::LlamaCpp);
    assert!(said(&choice, FULL).starts_with("The chat template of test-model has no place for tools"));
}

/// What every request holds with these tools, in tokens.
fn overhead(world: &World) -> Load {
    let loaded = world.load();
    let workspace = Workspace::new(world.env.cwd.clone(), None, &[]).unwrap();
    let tools: Toolbox = toolbox(&loaded, &world.env, &Arc::new(workspace), &Arc::default(), &Mask::default()).unwrap();
    let names: Vec<&str> = tools.names().collect();
    let is_lean = !loaded.settings.tools.enabled.contains(&"*".to_owned());
    let system = prompt::system(&names, if is_lean { Size::Lean } else { Size::Full }, None, &[], None);
    load_of(&loaded.settings, &node_settings(&loaded.settings, &system, &tools), &tools)
}

#[test]
fn the_lean_set_is_as_small_as_is_said() {
    let full = overhead(&two(&json!({})));
    assert!(!full.is_lean && full.tools >= 8 && (1_500..3_000).contains(&full.tokens), "{full:?}");
    let lean = overhead(&two(&json!({"tools": {"enabled": ["lean"]}})));
    assert!(lean.is_lean && lean.tools == 4, "{lean:?}");
    assert!((LEAN_TOKENS * 3 / 4..=LEAN_TOKENS).contains(&lean.tokens), "{lean:?}");
}
