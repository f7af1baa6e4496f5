//! A list of sessions to choose from, with a look at the selected one; there they are named and taken away as well.
//!
//! Stands in the live region in place of the input line. Knows nothing of where sessions are.

use std::collections::HashMap;

use ratatui::text::{Line, Span};

use crate::base::text::visible;
use crate::base::text::width::{cut, split, width};
use crate::front::repl::complete::field::{Field, hints};
use crate::front::repl::complete::picker::{Item, Picker, PickerOutcome};
use crate::front::repl::complete::view::line_width;
use crate::front::repl::key::{Code, Key};
use crate::front::repl::view::confirm::{Answer, Confirm};
use crate::front::repl::view::{Caret, Frame, Look};

/// From so many columns on the look at a session stands beside the list, else below it.
const BESIDE_COLUMNS: usize = 100;
/// Fewer rows than these are the list's alone.
const LEAST_ROWS: usize = 10;
/// With fewer rows no row says what keys do.
const LEAST_HINTED: usize = 6;
/// Columns before a row.
const MARGIN: usize = 2;
/// What keys do, the most needed first.
const HINTS: &[&str] = &["enter go on", "ctrl-r rename", "ctrl-x delete", "ctrl-a this folder/all", "esc close"];
/// The same while a name is written.
const NAME_HINTS: &[&str] = &["enter keep the name", "esc leave it"];

/// A session to choose.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Volume {
    /// How it stands in the list; its key is the session's id.
    pub item: Item,
    /// The name that it was given.
    pub name: Option<String>,
    /// Whether it is the open one.
    pub is_open: bool,
}

/// Who says a paragraph of the look at a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Voice {
    /// A person.
    Person,
    /// The agent.
    Agent,
    /// The program.
    Fact,
}

/// What a session was about: paragraphs, the most telling first.
pub type Glance = Vec<(Voice, String)>;

/// The list.
#[derive(Clone, Debug)]
pub struct Shelf {
    picker: Picker,
    volumes: Vec<Volume>,
    glances: HashMap<String, Glance>,
    /// The session whose glance was asked for and has not come.
    asked: Option<String>,
    mode: Mode,
}

/// Who gets the keys.
#[derive(Clone, Debug)]
enum Mode {
    List,
    Naming(Field),
    Removing(Confirm),
}

/// What a key did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The list stays.
    Open,
    /// Nothing was chosen.
    Closed,
    /// This session, by its number, was chosen.
    Chosen(usize),
    /// Others are to be listed: those of all directories, or of this one again.
    Turned,
    /// This session has another name now, which is to be kept.
    Named(usize, String),
    /// This session is to be taken away.
    Removed(usize),
    /// The open session was meant, which cannot be taken away.
    IsOpen,
}

impl Shelf {
    /// A list of these sessions. Where it follows `before`, it is searched for the same.
    pub fn new(title: &str, volumes: Vec<Volume>, before: Option<&Self>) -> Self {
        let items = volumes.iter().map(|volume| volume.item.clone()).collect();
        let picker = Picker::new(title, items);
        let picker = before.map_or(picker.clone(), |before| picker.like(&before.picker));
        let glances = before.map(|before| before.glances.clone()).unwrap_or_default();
        Self { picker, volumes, glances, asked: None, mode: Mode::List }
    }

    /// What a key does.
    pub fn key(&mut self, key: Key) -> Outcome {
        match &mut self.mode {
            Mode::List => self.list_key(key),
            Mode::Naming(field) => {
                if field.key(key) {
                    return Outcome::Open;
                }
                let name = field.text().trim().to_owned();
                match (key.code, key.mods.ctrl) {
                    (Code::Enter, _) if !name.is_empty() => {
                        self.mode = Mode::List;
                        // By its new name it may not be found.
                        self.picker.search_no_more();
                        self.picker.selected().map_or(Outcome::Open, |number| Outcome::Named(number, name))
                    }
                    (Code::Enter | Code::Esc, _) | (Code::Char('c' | 'g'), true) => {
                        self.mode = Mode::List;
                        Outcome::Open
                    }
                    _ => Outcome::Open,
                }
            }
            Mode::Removing(confirm) => {
                let Some(answer) = confirm.key(key) else { return Outcome::Open };
                self.mode = Mode::List;
                match answer {
                    Answer::Yes => self.picker.selected().map_or(Outcome::Open, Outcome::Removed),
                    Answer::No => Outcome::Open,
                }
            }
        }
    }

    fn list_key(&mut self, key: Key) -> Outcome {
        let selected = self.picker.selected().and_then(|number| self.volumes.get(number));
        match (key.code, key.mods.ctrl) {
            (Code::Char('a'), true) => return Outcome::Turned,
            (Code::Char('r'), true) => {
                if let Some(volume) = selected {
                    self.mode = Mode::Naming(Field::of(volume.name.as_deref().unwrap_or_default()));
                }
                return Outcome::Open;
            }
            (Code::Char('x'), true) => {
                return match selected {
                    Some(volume) if volume.is_open => Outcome::IsOpen,
                    Some(volume) => {
                        let question = format!("Delete \"{}\" for good?", volume.item.label);
                        self.mode = Mode::Removing(Confirm::new(question, "[y]es, delete it"));
                        Outcome::Open
                    }
                    None => Outcome::Open,
                };
            }
            _ => {}
        }
        match self.picker.key(key) {
            PickerOutcome::Open => Outcome::Open,
            PickerOutcome::Chosen(number) => Outcome::Chosen(number),
            PickerOutcome::Closed => Outcome::Closed,
        }
    }

    /// The id of a session by its number.
    pub fn id(&self, number: usize) -> &str {
        self.volumes.get(number).map_or("", |volume| volume.item.key.as_str())
    }

    /// Whether that is the open one.
    pub fn is_open(&self, number: usize) -> bool {
        self.volumes.get(number).is_some_and(|volume| volume.is_open)
    }

    /// Something was pasted: it is searched for, or is a name. It never answers.
    pub fn paste(&mut self, text: &str) {
        match &mut self.mode {
            Mode::List => self.picker.paste(text),
            Mode::Naming(field) => field.paste(text),
            Mode::Removing(_) => {}
        }
    }

    /// A picture of it is on the screen.
    pub fn painted(&mut self) {
        if let Mode::Removing(confirm) = &mut self.mode {
            confirm.shown = true;
        }
    }

    /// The id of the session that is to be looked at, if that is not known and nothing else is asked for.
    pub fn wants(&mut self) -> Option<String> {
        let id = &self.picker.selected().and_then(|number| self.volumes.get(number))?.item.key;
        if self.asked.is_some() || self.glances.contains_key(id) {
            return None;
        }
        self.asked = Some(id.clone());
        Some(id.clone())
    }

    /// A session was looked at.
    pub fn looked(&mut self, id: &str, glance: Glance) {
        self.asked.take_if(|asked| asked == id);
        self.glances.insert(id.to_owned(), glance);
    }

    /// The list in at most `most` rows, none wider than the screen.
    pub fn rows(&self, look: &Look, most: usize) -> Frame {
        match &self.mode {
            Mode::List => self.list(look, most),
            Mode::Naming(field) => self.naming(field, look, most),
            Mode::Removing(confirm) => {
                let mut rows = confirm.rows(look);
                // The answers are what may not be missed.
                rows.drain(..rows.len().saturating_sub(most));
                Frame { rows, caret: None }
            }
        }
    }

    fn naming(&self, field: &Field, look: &Look, most: usize) -> Frame {
        let inner = look.width.saturating_sub(MARGIN);
        let margin = " ".repeat(MARGIN.min(look.width));
        let selected = self.picker.selected().and_then(|number| self.volumes.get(number));
        let label = selected.map(|volume| volume.item.label.as_str()).unwrap_or_default();
        let title = cut(
            &format!("another name for \"{}\"", visible::line(label).replace('\t', " ")),
            inner,
            look.glyphs.ellipsis,
        );
        let (row, column) = field.row(Span::raw(margin.clone()), "its name", look);
        let dim = |text: String| Line::from(vec![Span::raw(margin.clone()), Span::styled(text, look.theme.dim)]);
        let mut rows = vec![row];
        if most > 1 {
            rows.insert(0, dim(title));
        }
        let caret = Caret { row: u16::from(most > 1), column: u16::try_from(column).unwrap_or(u16::MAX) };
        rows.push(dim(hints(NAME_HINTS, inner, look)));
        rows.truncate(most);
        Frame { caret: Some(caret).filter(|_| most > 0), rows }
    }

    fn list(&self, look: &Look, most: usize) -> Frame {
        let id = self.picker.selected().and_then(|number| self.volumes.get(number)).map(|volume| &volume.item.key);
        let glance = id.and_then(|id| self.glances.get(id)).filter(|glance| !glance.is_empty());
        let hint = hints(HINTS, look.width.saturating_sub(MARGIN), look);
        let hint = Line::from(vec![Span::raw(" ".repeat(MARGIN.min(look.width))), Span::styled(hint, look.theme.dim)]);
        if most < LEAST_ROWS {
            let is_hinted = most >= LEAST_HINTED;
            let mut frame = self.picker.rows(look, most - usize::from(is_hinted));
            frame.rows.extend(is_hinted.then_some(hint));
            return frame;
        }
        if look.width >= BESIDE_COLUMNS {
            let (left, most) = (look.width / 2, most - 1);
            let mut frame = self.picker.rows(&Look { width: left, ..look.clone() }, most);
            let beside = glance.map(|glance| paragraphs(glance, look.width - left, most, look)).unwrap_or_default();
            // As high as the higher one.
            frame.rows.resize(frame.rows.len().max(beside.len()), Line::default());
            for (row, beside) in frame.rows.iter_mut().zip(beside) {
                let gap = left.saturating_sub(line_width(row));
                row.spans.push(Span::raw(" ".repeat(gap)));
                row.spans.extend(beside.spans);
            }
            frame.rows.push(hint);
            return frame;
        }
        // The list keeps its height while one goes through it.
        let below = most / 3;
        let mut frame = self.picker.rows(look, most - below - 1);
        frame.rows.push(hint);
        frame.rows.extend(glance.map(|glance| paragraphs(glance, look.width, below, look)).unwrap_or_default());
        frame
    }
}

/// What a session was about in at most so many rows and columns, behind a light line.
fn paragraphs(glance: &Glance, columns: usize, most: usize, look: &Look) -> Vec<Line<'static>> {
    let lead = format!("  {} ", look.glyphs.quote);
    let room = columns.saturating_sub(width(&lead));
    let mut rows = Vec::new();
    for (voice, text) in glance {
        let (mark, style) = match voice {
            Voice::Person => (format!("{} ", look.glyphs.person), look.theme.person),
            Voice::Agent => ("  ".to_owned(), look.theme.agent),
            Voice::Fact => (String::new(), look.theme.dim),
        };
        let lines = text.lines().map(str::trim_end).filter(|line| !line.trim().is_empty());
        let mut first = true;
        for line in lines {
            let line = visible::line(line).replace('\t', " ");
            let mut rest = line.as_str();
            while !rest.is_empty() && rows.len() < most {
                let indent = if first { mark.clone() } else { " ".repeat(width(&mark)) };
                let (row, more) = broken(rest, room.saturating_sub(width(&indent)));
                if row.is_empty() {
                    break;
                }
                let indent = Span::styled(indent, style);
                rows.push(Line::from(vec![
                    Span::styled(lead.clone(), look.theme.dim),
                    indent,
                    Span::styled(row.to_owned(), style),
                ]));
                (first, rest) = (false, more);
            }
        }
    }
    rows
}

/// A row of at most so many columns, broken between words where that is possible, and what is left.
fn broken(text: &str, columns: usize) -> (&str, &str) {
    let (row, rest) = split(text, columns);
    if rest.is_empty() || rest.starts_with(' ') {
        return (row, rest.trim_start());
    }
    match row.rfind(' ').filter(|at| *at > 0) {
        Some(at) => (text.get(..at).unwrap_or(row), text.get(at..).unwrap_or(rest).trim_start()),
        None => (row, rest),
    }
}

#[cfg(test)]
mod tests;
