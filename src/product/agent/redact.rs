//! Keeps the values of known secrets out of everything that tools return.

use crate::kernel::port::Hooks;
use crate::kernel::tool::Output;
use crate::model::message::ToolCall;

/// Shorter values are too likely to be ordinary words.
const SHORTEST_SECRET_BYTES: usize = 8;
/// What stands in a secret's place.
const MASK: &str = "[secret]";

/// Replaces known secret values in outputs and progress.
#[derive(Clone, Default)]
pub struct Redactor {
    secrets: Vec<String>,
}

impl Redactor {
    /// A redactor of these values; those of fewer than 8 bytes are left alone.
    pub fn new(secrets: impl IntoIterator<Item = String>) -> Self {
        let mut secrets: Vec<_> = secrets.into_iter().filter(|secret| secret.len() >= SHORTEST_SECRET_BYTES).collect();
        // A secret within another one must not leave the rest of the longer one behind.
        secrets.sort_unstable_by_key(|secret| std::cmp::Reverse(secret.len()));
        secrets.dedup();
        Self { secrets }
    }

    /// Replaces every known value in `text`.
    pub fn redact(&self, text: &mut String) {
        for secret in &self.secrets {
            if text.contains(secret.as_str()) {
                *text = text.replace(secret.as_str(), MASK);
            }
        }
    }
}

impl Hooks for Redactor {
    fn tool_progress(&self, text: &mut String) {
        self.redact(text);
    }

    fn tool_finished(&self, _: &ToolCall, output: &mut Output) {
        self.redact(&mut output.text.head);
        self.redact(&mut output.text.tail);
        if let Some(footer) = &mut output.footer {
            self.redact(footer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values_are_replaced_and_short_ones_are_not() {
        let redactor = Redactor::new(["sk-12345678".to_owned(), "sk-12345678-more".to_owned(), "abc".to_owned()]);
        let mut text = "abc sk-12345678-more sk-12345678".to_owned();
        redactor.redact(&mut text);
        assert_eq!(text, "abc [secret] [secret]");
    }
}
