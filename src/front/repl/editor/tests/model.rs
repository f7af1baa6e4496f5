//! A model of the editor that is too plain to be wrong: a row of characters, each with its origin, and a caret between two
//! of them. Clusters are found by segmenting everything.

use proptest::prelude::*;
use unicode_segmentation::UnicodeSegmentation;

use crate::front::repl::editor::draft::Piece;
use crate::front::repl::editor::{Editing, Editor};
use crate::front::repl::key::action::Edit;

/// What somebody does.
#[derive(Clone, Debug)]
pub enum Step {
    Insert(String),
    Paste(String),
    Edit(Edit),
    Expand,
}

/// A character: text, or a long paste.
#[derive(Clone, Debug, PartialEq)]
enum Unit {
    Text(char, bool),
    Chip(String),
}

#[derive(Default)]
struct Model {
    units: Vec<Unit>,
    caret: usize,
}

const EDITS: [Edit; 16] = [
    Edit::Newline,
    Edit::Left,
    Edit::Right,
    Edit::WordLeft,
    Edit::WordRight,
    Edit::LineStart,
    Edit::LineEnd,
    Edit::DraftStart,
    Edit::DraftEnd,
    Edit::DeleteLeft,
    Edit::DeleteRight,
    Edit::KillBlankWordLeft,
    Edit::KillToEnd,
    Edit::KillToStart,
    Edit::KillWordLeft,
    Edit::KillWordRight,
];

/// Edits whose effect is told by other tests; here they only must do no harm.
const WILD: [Edit; 8] =
    [Edit::Yank, Edit::YankPop, Edit::Undo, Edit::Redo, Edit::Transpose, Edit::Upper, Edit::Lower, Edit::Capitalize];

const TEXT: &str =
    "([a-c .]|\n|\t|天|👩‍💻|e\u{301}|\u{301}|🇩🇪|🇩|\u{200d}|ᄒ|ᅡ|ᆫ|⚠\u{fe0f}|\u{fe0f}|\u{200f}|\u{fff0}){1,4}";

fn modelled() -> impl Strategy<Value = Step> {
    let long = TEXT.prop_map(|text| "line\n".repeat(11) + &text);
    prop_oneof![
        4 => TEXT.prop_map(Step::Insert),
        1 => TEXT.prop_map(Step::Paste),
        1 => long.prop_map(Step::Paste),
        8 => prop::sample::select(EDITS.to_vec()).prop_map(Step::Edit),
        1 => Just(Step::Expand),
    ]
}

/// Any step.
pub fn step() -> impl Strategy<Value = Step> {
    prop_oneof![3 => modelled(), 1 => prop::sample::select(WILD.to_vec()).prop_map(Step::Edit)]
}

impl Step {
    /// Whether it goes through the history.
    pub fn travels(&self) -> bool {
        matches!(self, Self::Edit(Edit::Undo | Edit::Redo))
    }

    pub fn apply(&self, editor: &mut Editor) {
        match self {
            Self::Insert(text) => editor.insert(text),
            Self::Paste(text) => editor.paste(text),
            Self::Edit(edit) => editor.edit(*edit),
            Self::Expand => drop(editor.expand_chip_at_caret()),
        }
    }
}

impl Model {
    fn letter(unit: &Unit) -> char {
        match unit {
            Unit::Text(letter, _) => *letter,
            Unit::Chip(_) => '\u{fff0}',
        }
    }

    /// Places where the caret may be, as numbers of units.
    fn stops(&self) -> Vec<usize> {
        let text: String = self.units.iter().map(Self::letter).collect();
        let mut at = 0;
        let ends = text.graphemes(true).map(|cluster| {
            at += cluster.chars().count();
            at
        });
        std::iter::once(0).chain(ends).collect()
    }

    fn replace(&mut self, from: usize, to: usize, with: Vec<Unit>) {
        let end = from + with.len();
        self.units.splice(from..to, with);
        self.caret = self.stops().into_iter().find(|stop| *stop >= end).unwrap();
    }

    fn insert(&mut self, text: &str, typed: bool) {
        let units = text.chars().map(|letter| Unit::Text(letter, typed)).collect();
        self.replace(self.caret, self.caret, units);
    }

    fn apply(&mut self, step: &Step) {
        let at = |index: Option<usize>| index.and_then(|index| self.units.get(index));
        match step {
            Step::Insert(text) => self.insert(text, true),
            Step::Paste(text) if text.lines().count() > 10 => {
                self.replace(self.caret, self.caret, vec![Unit::Chip(text.clone())]);
            }
            Step::Paste(text) => self.insert(text, false),
            Step::Expand => {
                let right = Some(self.caret);
                let left = self.caret.checked_sub(1);
                let any = (0..self.units.len()).rev().map(Some);
                let mut places = [right, left].into_iter().chain(any);
                let found = places.find(|index| matches!(at(*index), Some(Unit::Chip(_))));
                let Some(Some(index)) = found else { return };
                let Unit::Chip(text) = self.units[index].clone() else { return };
                let caret = self.caret;
                self.replace(index, index + 1, text.chars().map(|letter| Unit::Text(letter, false)).collect());
                let letters = text.chars().count();
                let caret = if caret > index { caret - 1 + letters } else { caret };
                self.caret = self.stops().into_iter().find(|stop| *stop >= caret).unwrap();
            }
            Step::Edit(edit) => self.edit(*edit),
        }
    }

    fn edit(&mut self, edit: Edit) {
        let (stops, caret) = (self.stops(), self.caret);
        let end = self.units.len();
        let left = stops.iter().copied().rfind(|stop| *stop < caret).unwrap_or(0);
        let right = stops.iter().copied().find(|stop| *stop > caret).unwrap_or(end);
        let breaks = |index: &usize| Self::letter(&self.units[*index]) == '\n';
        let line_start = (0..caret).rev().find(breaks).map_or(0, |index| index + 1);
        let line_end = (caret..end).find(breaks).unwrap_or(end);
        let in_word = |stop: usize| Self::letter(&self.units[stop]).is_alphanumeric();
        let clusters_before = || stops.iter().rev().copied().filter(move |stop| *stop < caret);
        let word_left = || {
            let inside: Vec<usize> =
                clusters_before().skip_while(|stop| !in_word(*stop)).take_while(|stop| in_word(*stop)).collect();
            inside.last().copied().unwrap_or(0)
        };
        let word_right = || {
            let clusters = stops.iter().copied().filter(|stop| *stop >= caret && *stop < end);
            let after = clusters.skip_while(|stop| !in_word(*stop)).find(|stop| !in_word(*stop));
            after.unwrap_or(end)
        };
        match edit {
            Edit::Left => self.caret = left,
            Edit::Right => self.caret = right,
            Edit::WordLeft => self.caret = word_left(),
            Edit::WordRight => self.caret = word_right(),
            Edit::LineStart => self.caret = line_start,
            Edit::LineEnd => self.caret = line_end,
            Edit::DraftStart => self.caret = 0,
            Edit::DraftEnd => self.caret = end,
            Edit::DeleteLeft => self.replace(left, caret, Vec::new()),
            Edit::DeleteRight => self.replace(caret, right, Vec::new()),
            Edit::KillToEnd => self.replace(caret, if line_end == caret { right } else { line_end }, Vec::new()),
            Edit::KillToStart => self.replace(if line_start == caret { left } else { line_start }, caret, Vec::new()),
            Edit::KillWordLeft => self.replace(word_left(), caret, Vec::new()),
            Edit::KillWordRight => self.replace(caret, word_right(), Vec::new()),
            Edit::KillBlankWordLeft => {
                let cluster_is = |stop: usize, is: fn(char) -> bool| {
                    let next = stops.iter().copied().find(|other| *other > stop).unwrap_or(end);
                    self.units[stop..next].iter().map(Self::letter).all(is)
                };
                let mut from = clusters_before().skip_while(|stop| cluster_is(*stop, char::is_whitespace)).peekable();
                let chip = |letter: char| letter == '\u{fff0}';
                let start = match from.peek().copied() {
                    None => 0,
                    Some(stop) if cluster_is(stop, chip) => stop,
                    Some(_) => {
                        let word = from.take_while(|stop| !cluster_is(*stop, chip));
                        let word = word.take_while(|stop| !cluster_is(*stop, char::is_whitespace));
                        word.last().unwrap_or(0)
                    }
                };
                self.replace(start, caret, Vec::new());
            }
            Edit::Newline => self.insert("\n", true),
            Edit::Yank
            | Edit::YankPop
            | Edit::Undo
            | Edit::Redo
            | Edit::Transpose
            | Edit::Upper
            | Edit::Lower
            | Edit::Capitalize => panic!("{edit:?} is not modelled"),
        }
    }

    fn pieces(&self) -> Vec<Piece> {
        let mut pieces: Vec<Piece> = Vec::new();
        for unit in &self.units {
            let (text, typed) = match unit {
                Unit::Text(letter, typed) => (letter.to_string(), *typed),
                Unit::Chip(text) => (text.clone(), false),
            };
            match (pieces.last_mut(), typed) {
                (Some(Piece::Typed(last)), true) | (Some(Piece::Pasted(last)), false) => last.push_str(&text),
                (_, true) => pieces.push(Piece::Typed(text)),
                (_, false) => pieces.push(Piece::Pasted(text)),
            }
        }
        pieces
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn the_editor_is_as_the_model(script in prop::collection::vec(modelled(), 0..50)) {
        let (mut editor, mut model) = (Editor::new(Editing::Emacs), Model::default());
        for step in &script {
            step.apply(&mut editor);
            model.apply(step);
            prop_assert_eq!(&editor.draft().pieces, &model.pieces(), "{:?}", step);
            let before: String = model.units[..model.caret].iter().map(Model::letter).collect();
            prop_assert_eq!(editor.caret, before.len(), "{:?}", step);
        }
    }
}
