//! A step's prompt and the three placeholders in it: `{task}`, `{previous}`, `{steps.NAME}`. All other braces are text.
//!
//! Filled in once: what is put in is never looked at again, whatever it says.

use std::ops::Range;
use std::path::PathBuf;

use crate::base::text::likeness::closest;
use crate::kernel::tool::{Limits, Output};
use crate::kernel::truncate::fit;

use super::Chain;

/// The most of one step's answer that a later prompt holds: what a sub-agent's answer may have. The whole of it is in the
/// step's transcript.
pub const ANSWER: Limits = Limits { chars: 20_000, lines: usize::MAX };

/// The placeholders without a name in them.
const PLAIN: [&str; 2] = ["task", "previous"];
/// What begins the placeholder for the answer of a step.
const STEPS: &str = "steps.";

/// A prompt with its placeholders found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Prompt {
    pieces: Vec<Piece>,
}

/// A piece of a prompt.
#[derive(Clone, Debug, PartialEq)]
enum Piece {
    Text(String),
    Task,
    Previous,
    /// The answer of the step with this name.
    Step(String),
    /// What is nearly a placeholder, and the one it is like. It is text where it is filled in; such a chain does not parse.
    Misspelt(String, &'static str),
}

/// Something that is put into prompts, and where in the prompt, as a line counted from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// What is put in.
    pub what: Value,
    /// The line.
    pub line: usize,
}

/// What a placeholder stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// What the person wrote.
    Task,
    /// The answer of the step before, or those of the group before.
    Previous,
    /// The answer of the step with this name.
    Step(String),
    /// Nothing: it is no placeholder, but nearly the other one.
    Misspelt(String, &'static str),
}

/// What a step came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// The whole answer.
    pub text: String,
    /// Where the conversation is that it ended.
    pub transcript: Option<PathBuf>,
}

impl Answer {
    /// The answer as a later prompt holds it.
    fn fitted(&self) -> String {
        let output = Output { full_output: self.transcript.clone(), ..Output::ok(self.text.trim()) };
        fit(&output, ANSWER).text
    }
}

impl Prompt {
    /// Finds the placeholders of a text.
    pub fn new(text: &str) -> Self {
        let mut pieces = Vec::new();
        let (mut rest, mut plain) = (text, String::new());
        while let Some((before, after)) = rest.split_once('{') {
            plain.push_str(before);
            let found = after.split_once('}').and_then(|(inside, behind)| Some((piece(inside)?, behind)));
            match found {
                Some((piece, behind)) => {
                    if !plain.is_empty() {
                        pieces.push(Piece::Text(std::mem::take(&mut plain)));
                    }
                    pieces.push(piece);
                    rest = behind;
                }
                None => {
                    plain.push('{');
                    rest = after;
                }
            }
        }
        plain.push_str(rest);
        if !plain.is_empty() {
            pieces.push(Piece::Text(plain));
        }
        Self { pieces }
    }

    /// What is put in, in order.
    pub fn wanted(&self) -> Vec<Wanted> {
        let mut line = 0;
        let mut wanted = Vec::new();
        for piece in &self.pieces {
            let what = match piece {
                Piece::Text(text) => {
                    line += text.matches('\n').count();
                    continue;
                }
                Piece::Task => Value::Task,
                Piece::Previous => Value::Previous,
                Piece::Step(name) => Value::Step(name.clone()),
                Piece::Misspelt(name, meant) => Value::Misspelt(name.clone(), meant),
            };
            wanted.push(Wanted { what, line });
        }
        wanted
    }

    /// Whether the task is put in.
    pub fn has_task(&self) -> bool {
        self.pieces.contains(&Piece::Task)
    }

    /// The prompt with everything put in. `answers` are those of all steps of `chain` by their places, as far as there are
    /// any; `place` is that of this step.
    pub fn fill(&self, task: &str, chain: &Chain, place: usize, answers: &[Option<Answer>]) -> String {
        let fitted = |place: usize| answers.get(place).and_then(Option::as_ref).map(Answer::fitted).unwrap_or_default();
        let mut filled = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => filled.push_str(text),
                Piece::Task => filled.push_str(task),
                Piece::Previous => {
                    let group = chain.before(place).unwrap_or_default();
                    filled.push_str(&join(chain, group, fitted));
                }
                Piece::Step(name) => {
                    filled.push_str(&chain.place(name).map(fitted).unwrap_or_default());
                }
                Piece::Misspelt(name, _) => filled.push_str(&format!("{{{name}}}")),
            }
        }
        filled
    }
}

/// The answers of a group of steps: one as it is, several each under the name of its step.
pub fn join(chain: &Chain, group: Range<usize>, answer: impl Fn(usize) -> String) -> String {
    if group.len() == 1 {
        return answer(group.start);
    }
    let steps = group.filter_map(|place| Some((place, chain.steps.get(place)?)));
    let texts = steps.map(|(place, step)| format!("## {}\n\n{}", step.name, answer(place)));
    texts.collect::<Vec<_>>().join("\n\n")
}

/// What stands between braces, if it is a placeholder. A step's name is taken as it stands, whether there is one or not.
fn piece(inside: &str) -> Option<Piece> {
    match inside {
        "task" => Some(Piece::Task),
        "previous" => Some(Piece::Previous),
        _ => {
            let Some(name) = inside.strip_prefix(STEPS) else {
                let is_word = inside.chars().all(|letter| letter.is_ascii_lowercase());
                let meant = is_word.then(|| closest(inside, PLAIN)).flatten()?;
                return Some(Piece::Misspelt(inside.to_owned(), meant));
            };
            // Braces that run over lines, or hold others, are code.
            (!name.contains(['\n', '{'])).then(|| Piece::Step(name.trim().to_owned()))
        }
    }
}
