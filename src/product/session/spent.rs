//! What answers took and what they cost: of one session, of all that was said since a moment. Of a file only the lines of
//! answers, summaries and names are read, on whatever branch they are: they were paid, too.
//!
//! What has no price is counted as that and never as nothing. No words here, and no guesses.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufReader};
use std::path::Path;

use serde::Deserialize;

use crate::base::jsonl::{BUFFER_BYTES, Reader};
use crate::model::message::Origin;
use crate::model::usage::Usage;

use super::entry::{Kind, Link, Role, UsageLine};
use super::given;

/// What some answers took.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tally {
    /// How many there were.
    pub answers: u64,
    /// Their tokens.
    pub usage: Usage,
    /// US dollars, of those with a price.
    pub dollars: f64,
    /// How many had none.
    pub unpriced: u64,
}

impl Tally {
    /// One more answer, with what it cost in US dollars; `None` where the price is unknown.
    pub fn add(&mut self, usage: &Usage, cost: Option<f64>) {
        self.answers += 1;
        self.usage += *usage;
        match cost {
            Some(dollars) => self.dollars += dollars,
            None => self.unpriced += 1,
        }
    }

    /// What all of them cost, in US dollars; `None` where a part of it is unknown.
    pub fn cost(&self) -> Option<f64> {
        (self.unpriced == 0).then_some(self.dollars)
    }

    fn join(&mut self, other: &Self) {
        let Self { answers, usage, dollars, unpriced } = other;
        self.answers += answers;
        self.usage += *usage;
        self.dollars += dollars;
        self.unpriced += unpriced;
    }
}

/// What answers took, model by model, in the order in which the models first answered.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spent {
    /// The models.
    pub models: Vec<(Origin, Tally)>,
}

impl Spent {
    /// One more answer of a model.
    pub fn add(&mut self, origin: &Origin, usage: &Usage, cost: Option<f64>) {
        self.of(origin).add(usage, cost);
    }

    /// All of another one, too.
    pub fn join(&mut self, other: &Self) {
        for (origin, tally) in &other.models {
            self.of(origin).join(tally);
        }
    }

    /// All models together.
    pub fn total(&self) -> Tally {
        let mut total = Tally::default();
        self.models.iter().for_each(|(_, tally)| total.join(tally));
        total
    }

    fn of(&mut self, origin: &Origin) -> &mut Tally {
        let place = self.models.iter().position(|(known, _)| known == origin).unwrap_or_else(|| {
            self.models.push((origin.clone(), Tally::default()));
            self.models.len() - 1
        });
        &mut self.models[place].1
    }
}

/// What the answers in a session's file took, on all its branches; as far as it can be read.
pub fn of(path: &Path) -> Spent {
    let mut sum = Sum::since(i64::MIN);
    sum.add_with_workers(path);
    sum.spent
}

/// Adds up what sessions took.
#[derive(Debug)]
pub(super) struct Sum {
    pub(super) spent: Spent,
    /// From here on, in milliseconds since 1970.
    since: i64,
    seen: Seen,
}

/// A copy of a session holds the answers of the one it was copied from; each was paid once.
#[derive(Debug, Default)]
pub(super) struct Seen(HashSet<(i64, u64, u64, u64)>);

impl Seen {
    /// Whether this was not counted before.
    pub(super) fn is_new(&mut self, answer: &Answer) -> bool {
        let Answer { timestamp, id, usage, .. } = answer;
        self.0.insert((*timestamp, *id, usage.input, usage.output))
    }
}

/// Something that a model was asked for, and what it took.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Answer {
    /// Milliseconds since 1970; 0 where nobody kept it.
    pub(super) timestamp: i64,
    id: u64,
    /// Who answered.
    pub(super) origin: Origin,
    /// Its tokens.
    pub(super) usage: Usage,
    /// US dollars; nothing where the price is unknown.
    pub(super) cost: Option<f64>,
}

/// The little of a line that is read.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Line {
    #[serde(rename = "type")]
    kind: Kind,
    id: Link,
    pub(super) role: Option<Role>,
    pub(super) timestamp: i64,
    provider: Option<String>,
    model: Option<String>,
    usage: Option<UsageLine>,
}

impl Line {
    /// What a model was asked for, if the line is about that: a message, a summary, a name.
    pub(super) fn answer(self) -> Option<Answer> {
        let Self { kind, id, role, timestamp, provider, model, usage } = self;
        let usage = match kind {
            Kind::Message => usage.or_else(|| Some(UsageLine::default())).filter(|_| role == Some(Role::Assistant)),
            Kind::Summary | Kind::Name => usage,
            Kind::Session
            | Kind::Label
            | Kind::Model
            | Kind::Grant
            | Kind::Refused
            | Kind::Prune
            | Kind::Leaf
            | Kind::Checkpoint
            | Kind::Unknown => None,
        };
        let UsageLine {
            input_tokens,
            output_tokens,
            cache_read_tokens,
            cache_write_tokens,
            reasoning_tokens,
            cost_usd,
        } = usage?;
        let tokens = [input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens];
        if kind == Kind::Message && cost_usd == Some(0.0) && tokens == [0; 5] {
            // It is told again, and counted where it was said; what nobody counted has no cost.
            return None;
        }
        let id = match id {
            Link::Id(id) => id,
            Link::Absent | Link::Root => 0,
        };
        let usage = Usage {
            input: input_tokens,
            output: output_tokens,
            cache_read: cache_read_tokens,
            cache_write: cache_write_tokens,
            reasoning: reasoning_tokens,
        };
        let origin = Origin { provider: provider.unwrap_or_default(), model: model.unwrap_or_default() };
        Some(Answer { timestamp, id, origin, usage, cost: cost_usd })
    }
}

impl Sum {
    /// Nothing yet, of what was said since that moment (milliseconds since 1970).
    pub(super) fn since(since: i64) -> Self {
        Self { spent: Spent::default(), since, seen: Seen::default() }
    }

    /// Adds what is in a session's file and in those of whom it gave work to, as far as they can be read: what was read
    /// until then was paid.
    pub(super) fn add_with_workers(&mut self, path: &Path) {
        for file in [path.to_owned()].into_iter().chain(given::files(path)) {
            let _ = self.add(&file);
        }
    }

    /// Adds what is in a file.
    pub(super) fn add(&mut self, path: &Path) -> io::Result<()> {
        self.add_each(path, |_| ())
    }

    /// Adds what is in a file, and shows each answer that was not counted before.
    pub(super) fn add_each(&mut self, path: &Path, mut each: impl FnMut(&Answer)) -> io::Result<()> {
        let mut reader = Reader::new(BufReader::with_capacity(BUFFER_BYTES, File::open(path)?), 0);
        while let Some(record) = reader.read::<Line>()? {
            let Some(answer) = record.value.answer() else { continue };
            if answer.timestamp >= self.since && self.seen.is_new(&answer) {
                self.spent.add(&answer.origin, &answer.usage, answer.cost);
                each(&answer);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origin(model: &str) -> Origin {
        Origin { provider: "p".to_owned(), model: model.to_owned() }
    }

    #[test]
    fn an_unknown_price_makes_the_sum_unknown_and_hides_nothing() {
        let usage = Usage { input: 10, output: 5, cache_read: 3, ..Usage::default() };
        let mut spent = Spent::default();
        spent.add(&origin("a"), &usage, Some(0.25));
        assert_eq!(spent.total().cost(), Some(0.25));
        spent.add(&origin("b"), &usage, None);
        spent.add(&origin("a"), &usage, Some(0.5));
        let total = spent.total();
        assert_eq!((total.cost(), total.dollars, total.unpriced, total.answers), (None, 0.75, 1, 3));
        assert_eq!(total.usage.cache_read, 9);
        let models: Vec<_> =
            spent.models.iter().map(|(origin, tally)| (origin.model.as_str(), tally.answers)).collect();
        assert_eq!(models, [("a", 2), ("b", 1)]);
        let mut twice = spent.clone();
        twice.join(&spent);
        assert_eq!((twice.total().answers, twice.models.len()), (6, 2));
    }

    #[test]
    fn what_is_told_again_is_no_answer() {
        let answer = |cost: Option<f64>, output_tokens: u64| {
            let usage = Some(UsageLine { cost_usd: cost, output_tokens, ..UsageLine::default() });
            Line { kind: Kind::Message, role: Some(Role::Assistant), usage, ..Line::default() }.answer()
        };
        assert_eq!(answer(Some(0.0), 0), None);
        assert!(answer(None, 0).is_some() && answer(Some(0.0), 7).is_some());
    }

    #[test]
    fn answers_of_a_file_are_counted_once_and_from_a_moment_on() {
        let folder = tempfile::tempdir().unwrap();
        let answer = |timestamp: i64, tokens: u64, cost: &str| {
            format!(
                r#"{{"type":"message","id":2,"parent_id":1,"timestamp":{timestamp},"role":"assistant","provider":"p","model":"m","usage":{{"input_tokens":{tokens},"output_tokens":1,"cost_usd":{cost}}},"content":[]}}"#
            )
        };
        let head = r#"{"type":"session","version":1,"id":"x"}"#;
        let lines = [head, &answer(5, 1, "1.0"), "torn {", &answer(10, 2, "0.5"), &answer(20, 3, "null")].join("\n");
        let (one, copy) = (folder.path().join("one.jsonl"), folder.path().join("copy.jsonl"));
        std::fs::write(&one, &lines).unwrap();
        std::fs::write(&copy, format!("{lines}\n{}\n", answer(30, 4, "0.25"))).unwrap();
        let mut sum = Sum::since(10);
        sum.add(&one).unwrap();
        assert_eq!((sum.spent.total().answers, sum.spent.total().dollars, sum.spent.total().unpriced), (2, 0.5, 1));
        sum.add(&copy).unwrap();
        assert_eq!((sum.spent.total().answers, sum.spent.total().usage.input), (3, 9));
        assert!(sum.add(&folder.path().join("gone")).is_err());
    }
}
