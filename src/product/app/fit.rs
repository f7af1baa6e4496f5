//! Whether a model can work here at all: its window holds prompt and tools with room to spare, and it can be offered tools.
//!
//! Said before the first request, since servers cut what does not fit without a word, or refuse it in odd ones.

use crate::base::text::numbers::grouped;
use crate::kernel::event::{Notice, NoticeCode};
use crate::product::config::mask::without_secrets;
use crate::product::error::Error;
use crate::product::provider::Choice;
use crate::product::provider::served::Program;

/// Tokens that a first message and its answer take at the very least.
const ROOM: u64 = 1_000;
/// A window up to here is full after a few files, in tokens.
const SMALL: u64 = 16_000;
/// What is advised, in tokens: room for a task, and within what most models of this size are made for.
const ADVISED: u64 = 32_768;
/// About what the lean set takes, prompt and tools, in tokens; a test holds it.
pub(super) const LEAN_TOKENS: u64 = 500;

/// What every request holds besides the conversation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Load {
    /// Tokens of the system prompt and the tools.
    pub(super) tokens: u64,
    /// How many tools are offered.
    pub(super) tools: usize,
    /// Whether the set is the lean one.
    pub(super) is_lean: bool,
}

/// Looks whether `load` fits the chosen model, and says what a person should know about it.
///
/// # Errors
///
/// Provider: the model takes no tools, or its window has no room for a task.
pub(super) fn check(choice: &Choice, load: Load) -> Result<Vec<Notice>, Error> {
    let texts = [tools(choice, load)?, window(choice, load)?];
    Ok(texts.into_iter().flatten().map(|text| Notice::new(NoticeCode::Config, text)).collect())
}

fn tools(choice: &Choice, load: Load) -> Result<Option<String>, Error> {
    let takes_none = choice.served.as_ref().is_some_and(|served| served.tools == Some(false));
    if load.tools == 0 || !takes_none {
        return Ok(None);
    }
    match program(choice) {
        // Older ones had a way around the template, and this one may be forked.
        Some(Program::LlamaCpp) => Ok(Some(format!(
            "The chat template of {} has no place for tools, so that it may never hear of them. Choose another model, or start llama-server with a --chat-template-file that has one.",
            choice.model
        ))),
        Some(Program::Ollama | Program::LmStudio | Program::Vllm) | None => {
            let message = format!("{} at {} cannot call tools", choice.model, without_secrets(&choice.base_url));
            Err(Error::provider(message)
                .hint("choose a model that can; `ollama show MODEL` lists `tools` among its capabilities")
                .hint("or go without tools: `--exclude-tools '*'`"))
        }
    }
}

fn window(choice: &Choice, load: Load) -> Result<Option<String>, Error> {
    let Some(window) = choice.info.window else {
        return Ok((program(choice) == Some(Program::Ollama)).then(|| undecided(choice)));
    };
    if load.tokens + ROOM > window {
        return Err(too_small(choice, load, window));
    }
    let raise = raising(choice, window).map(|raise| format!(" For a larger one, {raise}."));
    let (model, holds) = (&choice.model, grouped(window));
    if load.tokens.saturating_mul(2) > window {
        let about = grouped(load.tokens);
        let lean = match load.is_lean {
            true => String::new(),
            false => format!(" `--tools lean` takes about {}.", grouped(LEAN_TOKENS)),
        };
        return Ok(Some(format!(
            "The system prompt and the tools take about {about} of the {holds} tokens in the window of {model}.{lean}{}",
            raise.unwrap_or_default()
        )));
    }
    let small = raise.filter(|_| window < SMALL);
    Ok(small.map(|raise| format!("The window of {model} holds {holds} tokens here, which a few files fill.{raise}")))
}

fn too_small(choice: &Choice, load: Load, window: u64) -> Error {
    let message = format!(
        "the window of {} holds {} tokens, and about {} are needed: {} for the system prompt and the tools, {} for a first message and its answer",
        choice.model,
        grouped(window),
        grouped(load.tokens + ROOM),
        grouped(load.tokens),
        grouped(ROOM)
    );
    let mut error = Error::provider(message);
    if let Some(raise) = raising(choice, window) {
        error = error.hint(format!("for a larger window, {raise}"));
    }
    if !load.is_lean && LEAN_TOKENS + ROOM <= window {
        error = error.hint(format!("or offer less: `--tools lean` takes about {} tokens", grouped(LEAN_TOKENS)));
    }
    let is_configured = choice.served.as_ref().is_none_or(|served| served.window != Some(window));
    if is_configured {
        let place = format!("providers.{}.models", choice.provider);
        error = error.hint(format!("if the model takes more, say so: \"contextWindow\" in {place}"));
    }
    error
}

/// How the server is told to make the window larger, if it can be.
fn raising(choice: &Choice, window: u64) -> Option<String> {
    let served = choice.served.as_ref()?;
    let wanted = served.most.map_or(ADVISED, |most| most.min(ADVISED));
    (wanted > window).then(|| served.by.map(|by| by.raising(&choice.model, wanted))).flatten()
}

/// Ollama's documentation: 4k tokens below 24 GiB of graphics memory, 32k below 48 GiB, 256k above; what is too long is
/// cut without a word.
fn undecided(choice: &Choice) -> String {
    let raise = Program::Ollama.raising(&choice.model, ADVISED);
    format!(
        "Ollama sizes the window of {} when it loads it: 4,096 tokens with less than 24 GiB of graphics memory, and what does not fit is cut without a word. To be sure, {raise}.",
        choice.model
    )
}

fn program(choice: &Choice) -> Option<Program> {
    choice.served.as_ref()?.by
}

#[cfg(test)]
mod tests;
