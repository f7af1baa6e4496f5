//! What answers took and what they cost: of one session, of all that was said since a moment. Of a file only the lines of
//! answers are read, on whatever branch they are: they were paid, too.
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
    // What was read until then was paid.
    let _ = sum.add(path);
    sum.spent
}

/// Adds up what sessions took.
#[derive(Debug)]
pub(super) struct Sum {
    pub(super) spent: Spent,
    /// From here on, in milliseconds since 1970.
    since: i64,
    /// A copy of a session holds the answers of the one it was copied from; each was paid once.
    seen: HashSet<(i64, u64, u64, u64)>,
}

/// The little of a line that is read.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Line {
    #[serde(rename = "type")]
    kind: Kind,
    id: Link,
    role: Option<Role>,
    timestamp: i64,
    provider: String,
    model: String,
    usage: UsageLine,
}

impl Sum {
    /// Nothing yet, of what was said since that moment (milliseconds since 1970).
    pub(super) fn since(since: i64) -> Self {
        Self { spent: Spent::default(), since, seen: HashSet::new() }
    }

    /// Adds what is in a file.
    pub(super) fn add(&mut self, path: &Path) -> io::Result<()> {
        let mut reader = Reader::new(BufReader::with_capacity(BUFFER_BYTES, File::open(path)?), 0);
        while let Some(record) = reader.read::<Line>()? {
            let Line { kind, id, role, timestamp, provider, model, usage } = record.value;
            if kind != Kind::Message || role != Some(Role::Assistant) || timestamp < self.since {
                continue;
            }
            let UsageLine {
                input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens, ..
            } = usage;
            let id = match id {
                Link::Id(id) => id,
                Link::Absent | Link::Root => 0,
            };
            if self.seen.insert((timestamp, id, input_tokens, output_tokens)) {
                let tokens = Usage {
                    input: input_tokens,
                    output: output_tokens,
                    cache_read: cache_read_tokens,
                    cache_write: cache_write_tokens,
                    reasoning: reasoning_tokens,
                };
                self.spent.add(&Origin { provider, model }, &tokens, usage.cost_usd);
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
