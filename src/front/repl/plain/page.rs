//! What is shown line by line: the answer as it comes, a line for each call, sentences, the question, the prompt.
//!
//! Makes text of what the screen would show, and adds none of its own but for the prompts; writes nothing itself.

use ratatui::text::Line;

use crate::base::text::{clean, visible};
use crate::front::repl::state::paper::Kind;
use crate::front::repl::state::{Overlay, State};
use crate::front::repl::view::{Block, Look, ask};
use crate::kernel::event::Event;

/// At rest.
const PROMPT: &str = "> ";
/// Spaces between a text and the fact that the screen has at its right edge.
const GAP: &str = "  ";
/// The calls of a person's own have ids that begin so.
const OWN: char = '!';

/// Text on its way to the terminal.
#[derive(Debug, Default)]
pub struct Page {
    text: String,
    /// Whether the cursor stands in the first column.
    fresh: bool,
    prompt: Prompt,
    /// What the call of the person's own that has just ended came to.
    own: Option<String>,
    begun: bool,
    /// How many answers to what was entered last are still to come.
    awaited: u32,
}

/// What invites to write.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum Prompt {
    /// Nothing: something runs.
    #[default]
    None,
    /// A message.
    Message,
    /// An answer.
    Answer,
}

impl Page {
    /// A line was entered: the cursor is in a new one.
    pub fn entered(&mut self) {
        self.fresh = true;
        self.prompt = Prompt::None;
        self.awaited = 0;
    }

    /// Something is to be shown before it is invited to write again.
    pub fn awaits(&mut self) {
        self.awaited += 1;
    }

    /// That is there, or will not come.
    pub fn answered(&mut self) {
        self.awaited = self.awaited.saturating_sub(1);
    }

    /// There is something else to be asked.
    pub fn renew(&mut self) {
        self.prompt = Prompt::None;
    }

    /// The cursor is behind what was being written, or `^C`.
    pub fn disturbed(&mut self) {
        self.fresh = false;
        self.prompt = Prompt::None;
    }

    /// Something happened: what the agent says is shown at once.
    pub fn hear(&mut self, event: &Event) {
        match event {
            Event::Text(text) => {
                let text = text.replace('\r', "");
                if self.prompt != Prompt::None {
                    self.break_line();
                }
                self.prompt = Prompt::None;
                self.push(&visible::lines(&text));
            }
            Event::ToolFinished { id, output, .. } if id.starts_with(OWN) => {
                self.own = Some(visible::lines(clean::clean(output).trim_end()).into_owned());
            }
            Event::TurnStarted { .. }
            | Event::Reasoning(_)
            | Event::ToolStarted { .. }
            | Event::ToolProgress { .. }
            | Event::ToolFinished { .. }
            | Event::Steered { .. }
            | Event::Question { .. }
            | Event::Within(..)
            | Event::Notice(_)
            | Event::TurnFinished { .. }
            | Event::Failed { .. } => {}
        }
    }

    /// Shows what is finished. What the person said is shown by the terminal where it was just `entered`.
    pub fn show(&mut self, state: &mut State, entered: bool) {
        let failure = state.look.glyphs.failure;
        let mut gap = false;
        for (kind, block) in state.paper.take_pieces() {
            let lines: Vec<String> = match kind {
                Kind::Prose => continue,
                Kind::Person if entered => continue,
                Kind::Tool => match self.own.take() {
                    Some(output) => output.lines().map(str::to_owned).collect(),
                    None => called(&block, failure),
                },
                Kind::Banner | Kind::Person | Kind::Reasoning | Kind::Notice | Kind::Report => {
                    block.iter().map(|line| told(kind, line)).collect()
                }
            };
            if lines.iter().all(String::is_empty) {
                gap = true;
                continue;
            }
            self.break_line();
            if std::mem::take(&mut gap) && self.begun {
                self.push("\n");
            }
            self.begun = true;
            for line in lines {
                self.push(&line);
                self.push("\n");
            }
        }
    }

    /// Shows a sentence.
    pub fn tell(&mut self, text: &str) {
        self.break_line();
        self.push(&visible::lines(text));
        self.push("\n");
    }

    /// Invites to write, once, where there is something to be written.
    pub fn prompt(&mut self, state: &State) {
        let wanted = match (&state.asked, &state.task, &state.session) {
            (Some(_), _, _) => Prompt::Answer,
            _ if matches!(state.overlay, Overlay::Confirm(..)) => Prompt::Answer,
            (None, None, Some(_)) if self.awaited == 0 && state.opening == 0 => Prompt::Message,
            (None, None | Some(_), None | Some(_)) => Prompt::None,
        };
        if wanted == self.prompt {
            return;
        }
        self.break_line();
        if let Some(asked) = &state.asked {
            for line in ask::expanded(&asked.question, &state.look) {
                self.push(line.to_string().trim_end());
                self.push("\n");
            }
            self.push(&invited(&asked.question.kind, &state.look));
        } else if let Overlay::Confirm(confirm, _) = &state.overlay {
            self.push(&format!("  {}\ny/n> ", visible::lines(confirm.question())));
        } else if wanted == Prompt::Message {
            self.push(PROMPT);
        }
        self.prompt = wanted;
    }

    /// The last line ends.
    pub fn end(&mut self) {
        self.break_line();
    }

    /// Takes what is to be written.
    pub fn take(&mut self) -> String {
        std::mem::take(&mut self.text)
    }

    fn push(&mut self, text: &str) {
        if !text.is_empty() {
            self.text.push_str(text);
            self.fresh = text.ends_with('\n');
        }
    }

    /// Begins a new line, unless the cursor stands in one. A prompt that stood there will have to be shown again.
    fn break_line(&mut self) {
        if !self.fresh && (self.begun || !self.text.is_empty()) {
            self.push("\n");
        }
        self.prompt = Prompt::None;
    }
}

/// What can be answered, and what invites to.
fn invited(kind: &ask::Kind, look: &Look) -> String {
    // A line has no draft that could be mended.
    let answers = kind.answers(look).into_iter().filter(|(letter, _)| *letter != 'e');
    let (letters, words): (Vec<String>, Vec<String>) =
        answers.map(|(letter, words)| (letter.to_string(), words)).unzip();
    match kind {
        ask::Kind::Words { options, .. } if options.is_empty() => "\nan answer, or an empty line for none> ".to_owned(),
        ask::Kind::Words { .. } => format!("\n{}, another answer, or an empty line for none> ", letters.join("/")),
        ask::Kind::Session | ask::Kind::Each { .. } | ask::Kind::Plan { .. } => {
            format!("\n  {}\n{}> ", words.join("   "), letters.join("/"))
        }
    }
}

/// A call: its line, and where it failed also what there is to know.
fn called(block: &Block, failure: &str) -> Vec<String> {
    let failed = block.first().is_some_and(|line| line.spans.iter().take(2).any(|span| span.content == failure));
    let shown = if failed { block.len() } else { 1 };
    block.iter().take(shown).map(|line| told(Kind::Tool, line)).collect()
}

/// A line without its colours, and without the way to the right edge.
fn told(kind: Kind, line: &Line<'_>) -> String {
    let mut text = String::new();
    for (number, span) in line.spans.iter().enumerate() {
        let is_way = number > 0 && span.content.len() > GAP.len() && span.content.bytes().all(|byte| byte == b' ');
        match kind {
            Kind::Banner | Kind::Tool if is_way => text.push_str(GAP),
            Kind::Banner | Kind::Person | Kind::Prose | Kind::Reasoning | Kind::Tool | Kind::Notice | Kind::Report => {
                text.push_str(&span.content);
            }
        }
    }
    text.truncate(text.trim_end().len());
    text
}
