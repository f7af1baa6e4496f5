//! What the agent is saying and doing at the moment: the streaming text, the calls that run, and what they came to.

use std::collections::VecDeque;
use std::time::Duration;

use ratatui::text::Line;

use crate::base::json::Object;
use crate::base::text::numbers;
use crate::front::repl::view::markdown::Stream;
use crate::front::repl::view::tool::{self, Call, Finish};
use crate::front::repl::view::{Block, Look, notice};

use super::paper::{Kind, Paper};
use within::Within;
pub use within::{Paid, innermost};

mod within;

/// How many calls can be shown whole: each holds what the model got to see, some 30 KB at most.
const MOST_DONE: usize = 30;

/// What the agent is saying and doing.
#[derive(Default)]
pub struct Turn {
    speech: Option<Speech>,
    calls: Vec<Running>,
    /// The last calls that are done, oldest first.
    done: VecDeque<Done>,
    /// How many of them, from the newest on, have been shown whole since the last one was done.
    opened: usize,
    within: Within,
    /// Reasoning that was folded.
    pub thoughts: String,
}

struct Speech {
    kind: Kind,
    stream: Stream,
    /// Folded reasoning is gathered and not shown.
    folded: bool,
    since: Duration,
    printed: bool,
}

struct Running {
    call: Call,
    finish: Option<Finish>,
}

/// What a call came to.
#[derive(Clone, Debug)]
pub struct Done {
    /// The call.
    pub call: Call,
    /// What it came to.
    pub finish: Finish,
}

impl Turn {
    /// More of the answer, or of the reasoning, which is gathered where it is `folded`.
    pub fn say(&mut self, kind: Kind, text: &str, folded: bool, now: Duration, look: &Look, paper: &mut Paper) {
        if self.speech.as_ref().is_none_or(|speech| speech.kind != kind) {
            self.fall_silent(now, look, paper);
            if folded {
                self.thoughts.clear();
            }
            self.speech = Some(Speech { kind, stream: Stream::new(), folded, since: now, printed: false });
        }
        let Some(speech) = &mut self.speech else { return };
        if speech.folded {
            self.thoughts.push_str(text);
            return;
        }
        for block in speech.stream.push(text, &speech.look(look)) {
            speech.print(block, paper);
        }
    }

    /// The answer, or the reasoning, is complete.
    pub fn fall_silent(&mut self, now: Duration, look: &Look, paper: &mut Paper) {
        let Some(mut speech) = self.speech.take() else { return };
        if speech.folded {
            let text = format!("thought for {}", numbers::took(now.saturating_sub(speech.since)));
            paper.print(Kind::Reasoning, notice::remark(&text, look));
            return;
        }
        for block in speech.stream.finish(&speech.look(look)) {
            speech.print(block, paper);
        }
    }

    /// The answer starts again: what was not printed yet is forgotten.
    pub fn start_again(&mut self) {
        self.speech = None;
    }

    /// A call begins.
    pub fn start(&mut self, call: Call) {
        self.calls.push(Running { call, finish: None });
    }

    /// A running call has something to show.
    pub fn progress(&mut self, id: &str, text: &str) {
        if let Some(running) = self.open(id) {
            running.call.say(text);
        }
    }

    /// A call is done; what is done from the top on goes to `paper`, in the order of the calls.
    pub fn finish(&mut self, id: &str, finish: Finish, look: &Look, paper: &mut Paper) {
        let Some(running) = self.open(id) else { return };
        running.finish = Some(finish.clone());
        let call = running.call.clone();
        if self.done.len() == MOST_DONE {
            self.done.pop_front();
        }
        self.done.push_back(Done { call, finish });
        self.opened = 0;
        let done = self.calls.iter().take_while(|running| running.finish.is_some()).count();
        for Running { call, finish } in self.calls.drain(..done) {
            let finish = finish.filter(|finish| !finish.ok || ![tool::PLAN, tool::ASK].contains(&call.name.as_str()));
            paper.print(Kind::Tool, finish.map_or_else(Block::new, |finish| tool::finished(&call, &finish, look)));
        }
    }

    /// The arguments of a running call of this tool.
    pub fn arguments(&self, id: &str, name: &str) -> Option<&Object> {
        let running = self.calls.iter().find(|running| running.call.id == id && running.call.name == name);
        running.map(|running| &running.call.arguments)
    }

    /// The newest call that has not been shown whole yet: each time an earlier one.
    pub fn open_next(&mut self) -> Option<&Done> {
        let place = self.done.len().checked_sub(self.opened + 1)?;
        self.opened += 1;
        self.done.get(place)
    }

    /// The task is over: nothing runs any more.
    pub fn end(&mut self, now: Duration, look: &Look, paper: &mut Paper) {
        self.fall_silent(now, look, paper);
        self.within = Within::default();
        for Running { call, finish } in std::mem::take(&mut self.calls) {
            if let Some(finish) = finish {
                paper.print(Kind::Tool, tool::finished(&call, &finish, look));
            }
        }
    }

    /// Whether calls run.
    pub fn has_calls(&self) -> bool {
        !self.calls.is_empty()
    }

    /// What the agent is saying: the answer or the reasoning.
    pub fn speaks(&self) -> Option<Kind> {
        self.speech.as_ref().map(|speech| speech.kind)
    }

    /// What is going on, in at most `most` rows; the kind says what stands before it.
    pub fn rows(&self, now: Duration, most: usize, look: &Look) -> Option<(Kind, Vec<Line<'static>>)> {
        if !self.calls.is_empty() {
            let rows = self.call_rows(now, most, look);
            return (!rows.is_empty()).then_some((Kind::Tool, rows));
        }
        let speech = self.speech.as_ref()?;
        if speech.folded {
            return None;
        }
        let rows = speech.stream.tail(&speech.look(look), most);
        (!rows.is_empty()).then_some((speech.kind, rows))
    }

    /// Whether the first row goes on with a piece that is already printed.
    pub fn goes_on(&self) -> bool {
        self.calls.is_empty() && self.speech.as_ref().is_some_and(|speech| speech.printed)
    }

    fn open(&mut self, id: &str) -> Option<&mut Running> {
        self.calls.iter_mut().find(|running| running.call.id == id && running.finish.is_none())
    }

    fn call_rows(&self, now: Duration, most: usize, look: &Look) -> Vec<Line<'static>> {
        // What these do stands elsewhere on the screen.
        let seen = |running: &&Running| ![tool::PLAN, tool::ASK].contains(&running.call.name.as_str());
        let rows = |running: &Running| match &running.finish {
            // It waits for the calls before it; its line is enough until then.
            Some(finish) => tool::finished(&running.call, finish, look).into_iter().take(1).collect(),
            None => tool::running(&running.call, now, look),
        };
        let all: Vec<_> = self.calls.iter().filter(seen).map(rows).collect();
        if all.iter().map(Vec::len).sum::<usize>() <= most {
            return all.into_iter().flatten().collect();
        }
        // Short of room, each call keeps its line only, and the last ones give way.
        let mut rows: Vec<_> = all.into_iter().filter_map(|rows| rows.into_iter().next()).collect();
        if rows.len() > most {
            let hidden = rows.len() - most.saturating_sub(1);
            rows.truncate(most.saturating_sub(1));
            rows.extend(notice::remark(&format!("{} {hidden} more", look.glyphs.ellipsis), look));
        }
        rows
    }
}

impl Speech {
    fn look(&self, look: &Look) -> Look {
        if self.kind == Kind::Reasoning { Look { theme: look.theme.faded(), ..*look } } else { look.clone() }
    }

    fn print(&mut self, block: Block, paper: &mut Paper) {
        if self.printed {
            paper.go_on(self.kind, block);
        } else {
            paper.print(self.kind, block);
            self.printed = true;
        }
    }
}
