//! What a session was about, for somebody who chooses among several: how it began and how it stands.
//!
//! Of a file only the ends are read, however large it is. Nothing is changed, and nothing is put into words.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};

use crate::base::jsonl::Reader;
use crate::base::text::cut;
use crate::model::message::{Message, Origin};

use super::blob::Blobs;
use super::entry::{Kind, MessageLine, Outline};
use super::list::END_BYTES;
use super::spent::Tally;
use super::tree::{NodeKind, Tree};
use super::{convert, title};

/// How much of a text is shown: more than a screen holds beside a list.
const TEXT_CHARS: usize = 2_000;
/// How many of the last exchanges are shown.
const EXCHANGES: usize = 2;

/// A session, for a look at it.
#[derive(Clone, Debug, PartialEq)]
pub struct Preview {
    /// Its id.
    pub id: String,
    /// Its name, else a title made of the first question.
    pub title: String,
    /// What was asked first, cut to 2,000 characters.
    pub question: Option<String>,
    /// The last exchanges of the branch it stands on, oldest first, as far as the end of the file has them.
    pub last: Vec<Exchange>,
    /// Who answered last, or will answer first.
    pub model: Origin,
    /// What its answers took, where that was added up already.
    pub spent: Option<Tally>,
    /// The folder it works in.
    pub cwd: String,
    /// The id of the session it was copied from.
    pub parent: Option<String>,
    /// Milliseconds since 1970.
    pub created_at: i64,
    /// When something was last said, in milliseconds since 1970.
    pub updated_at: i64,
    /// How many messages there are, on all branches.
    pub messages: u64,
}

/// What was asked, and the last text that answered it; each cut to 2,000 characters, and empty where there is none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exchange {
    /// The question.
    pub question: String,
    /// The answer.
    pub answer: String,
}

/// How a session began, and how it stands.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Talk {
    pub(super) question: Option<String>,
    pub(super) last: Vec<Exchange>,
}

/// Looks at the ends of a file.
pub(super) fn talk(mut file: &File, blobs: &Blobs) -> io::Result<Talk> {
    let length = file.metadata()?.len();
    let mut begin = Lines::new(blobs);
    if length <= 2 * END_BYTES {
        begin.read(Reader::new(BufReader::new(file), 0))?;
        return Ok(Talk { question: begin.question(), last: begin.exchanges() });
    }
    begin.read(Reader::new(BufReader::new(file.take(END_BYTES)), 0))?;
    let question = begin.question();
    let mut end = Lines::new(blobs);
    file.seek(SeekFrom::Start(length - END_BYTES))?;
    let mut tail = BufReader::new(file);
    // The first line is a part of one.
    tail.skip_until(b'\n')?;
    end.read(Reader::new(tail, length))?;
    Ok(Talk { question, last: end.exchanges() })
}

/// What somebody said.
enum Said {
    Question(String),
    Answer(String),
}

/// Lines in a row, and how they hang together.
struct Lines<'a> {
    blobs: &'a Blobs,
    tree: Tree,
    said: Vec<Option<Said>>,
}

impl<'a> Lines<'a> {
    fn new(blobs: &'a Blobs) -> Self {
        Self { blobs, tree: Tree::default(), said: Vec::new() }
    }

    fn read(&mut self, mut reader: Reader<impl BufRead>) -> io::Result<()> {
        while let Some(record) = reader.read::<Outline>()? {
            let Outline { kind, id, parent_id, target_id, first_kept_id } = record.value;
            let (node, said) = match kind {
                Kind::Message => (NodeKind::Message, said(record.text, self.blobs)),
                Kind::Summary => (NodeKind::Summary { first_kept: first_kept_id }, None),
                Kind::Leaf => {
                    self.tree.stand_at(target_id);
                    continue;
                }
                Kind::Session
                | Kind::Label
                | Kind::Name
                | Kind::Model
                | Kind::Grant
                | Kind::Refused
                | Kind::Prune
                | Kind::Checkpoint
                | Kind::Unknown => continue,
            };
            self.tree.add(id, parent_id, node);
            self.said.push(said);
        }
        Ok(())
    }

    /// What was asked first, on whichever branch.
    fn question(&self) -> Option<String> {
        self.said.iter().flatten().find_map(|said| match said {
            Said::Question(text) => Some(text.clone()),
            Said::Answer(_) => None,
        })
    }

    /// The last exchanges of the branch the lines end on.
    fn exchanges(&self) -> Vec<Exchange> {
        let mut exchanges: Vec<Exchange> = Vec::new();
        for said in self.tree.path().iter().filter_map(|number| self.said.get(*number)?.as_ref()) {
            match (said, exchanges.last_mut()) {
                (Said::Question(question), _) => {
                    exchanges.push(Exchange { question: question.clone(), answer: String::new() });
                }
                (Said::Answer(answer), Some(exchange)) => exchange.answer.clone_from(answer),
                (Said::Answer(answer), None) => {
                    exchanges.push(Exchange { question: String::new(), answer: answer.clone() });
                }
            }
        }
        exchanges.split_off(exchanges.len().saturating_sub(EXCHANGES))
    }
}

fn said(text: &str, blobs: &Blobs) -> Option<Said> {
    let line: MessageLine = serde_json::from_str(text).ok()?;
    let short = |text: &str| Some(cut::ellipsis(text.trim(), TEXT_CHARS)).filter(|text| !text.is_empty());
    match convert::message(line, &mut |hash| blobs.get(hash))? {
        Message::User(parts) => title::words(&parts).and_then(short).map(Said::Question),
        Message::Assistant(answer) => short(&answer.text()).map(Said::Answer),
        Message::Tool(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Write as _;
    use std::io::Write as _;

    fn line(id: u64, parent: u64, role: &str, text: &str) -> String {
        let parent = if parent == 0 { "null".to_owned() } else { parent.to_string() };
        format!(
            r#"{{"type":"message","id":{id},"parent_id":{parent},"timestamp":{id},"role":"{role}","content":[{{"type":"text","text":"{text}"}}]}}"#
        ) + "\n"
    }

    fn talk_of(text: &str) -> Talk {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        talk(&File::open(file.path()).unwrap(), &Blobs::new(file.path())).unwrap()
    }

    fn exchange(question: &str, answer: &str) -> Exchange {
        Exchange { question: question.to_owned(), answer: answer.to_owned() }
    }

    #[test]
    fn a_preview_follows_the_branch_the_session_stands_on() {
        let mut text = line(1, 0, "user", "one") + &line(2, 1, "assistant", "a") + &line(3, 2, "user", "left");
        text += &(line(4, 3, "assistant", "gone") + r#"{"type":"leaf","target_id":2}"# + "\n");
        text += &(line(5, 2, "user", "two") + &line(6, 5, "assistant", "b") + &line(7, 6, "assistant", "c"));
        let seen = talk_of(&text);
        assert_eq!(seen.question.as_deref(), Some("one"));
        assert_eq!(seen.last, [exchange("one", "a"), exchange("two", "c")]);
        let seen = talk_of(&(text + &line(8, 7, "user", "three") + "torn {"));
        assert_eq!(seen.last, [exchange("two", "c"), exchange("three", "")]);
        assert_eq!(talk_of(""), Talk::default());
    }

    #[test]
    fn of_a_long_session_both_ends_are_seen() {
        let mut text = line(1, 0, "user", "how it began");
        let filler = "x".repeat(10_000);
        for id in 2..60 {
            write!(text, "{}", line(id, id - 1, "assistant", &filler)).unwrap();
        }
        text += &(line(60, 59, "user", "the last question") + &line(61, 60, "assistant", "the last answer"));
        let seen = talk_of(&text);
        assert_eq!(seen.question.as_deref(), Some("how it began"));
        assert_eq!(seen.last.last(), Some(&exchange("the last question", "the last answer")));
        assert!(seen.last[0].answer.chars().count() == TEXT_CHARS && seen.last[0].answer.ends_with('…'));
    }
}
