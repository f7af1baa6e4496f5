//! Whether a model can work here at all: its window holds prompt and tools with room to spare, and it can be offered tools.
//!
//! Said before the first request, since servers cut what does not fit without a word, or refuse it in odd ones.

use crate::base::text::numbers::grouped;
use crate::kernel::event::{Notice, NoticeCode};
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
pub(super) fn check(choice: &Choice, load: Load) -> Result<Option<Notice>, Error> {
    let by = choice.served.as_ref().and_then(|served| served.by);
    if load.tools > 0 && choice.served.as_ref().is_some_and(|served| served.tools == Some(false)) {
        let message = format!("{} at {} cannot call tools", choice.model, choice.base_url);
        return Err(Error::provider(message)
            .hint("choose a model that can; `ollama show MODEL` lists `tools` among its capabilities")
            .hint("or go without tools: `--exclude-tools '*'`"));
    }
    let Some(window) = choice.info.window else {
        let text = by.is_some_and(|by| by == Program::Ollama).then(|| undecided(choice));
        return Ok(text.map(notice));
    };
    if load.tokens + ROOM > window {
        return Err(too_small(choice, load, window));
    }
    let raise = raising(choice, window);
    let about = grouped(load.tokens);
    if load.tokens.saturating_mul(2) > window {
        let mut text = format!(
            "The system prompt and the tools take about {about} of the {} tokens that {} has for everything.",
            grouped(window),
            choice.model
        );
        if !load.is_lean {
            text += &format!(" `--tools lean` takes about {}.", grouped(LEAN_TOKENS));
        }
        if let Some(raise) = raise {
            text += &format!(" For a larger window, {raise}.");
        }
        return Ok(Some(notice(text)));
    }
    let small = (window < SMALL).then_some(raise).flatten();
    let text = small.map(|raise| {
        format!(
            "{} has a window of {} tokens here, which a few files fill. For a larger one, {raise}.",
            choice.model,
            grouped(window)
        )
    });
    Ok(text.map(notice))
}

fn too_small(choice: &Choice, load: Load, window: u64) -> Error {
    let message = format!(
        "the system prompt and the tools take about {} tokens, and the window of {} holds {}",
        grouped(load.tokens),
        choice.model,
        grouped(window)
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

fn notice(text: String) -> Notice {
    Notice::new(NoticeCode::Config, text)
}

#[cfg(test)]
mod tests;
