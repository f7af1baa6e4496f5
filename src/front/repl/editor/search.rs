//! Searching earlier drafts while one types. The draft being written is not touched before one is taken.
//!
//! Earlier drafts belong to the caller, who gives them oldest first.

use std::ops::Range;

use ratatui::text::{Line, Span};

use super::Editor;
use super::draft::{Draft, Piece};
use super::layout::{Laid, Sheet};
use super::text::Text;
use super::wrap;
use crate::base::text::{visible, width};
use crate::front::repl::view::{Caret, Look};

/// A search that goes on.
#[derive(Clone, Debug, Default)]
pub struct Search {
    query: String,
    found: Option<Found>,
    /// Whether nothing more was found.
    exhausted: bool,
}

/// An earlier draft that has what is searched for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Which draft.
    pub index: usize,
    /// In which of its pieces.
    pub piece: usize,
    /// Where in that piece, in bytes.
    pub range: Range<usize>,
}

impl Search {
    /// What is searched for. Without upper case letters, their case does not matter.
    pub fn query(&self) -> &str {
        &self.query
    }

    /// What has been found.
    pub fn found(&self) -> Option<&Found> {
        self.found.as_ref()
    }

    /// Searches for more text, from the draft that was found on.
    pub fn push(&mut self, text: &str, earlier: &[Draft]) {
        self.query.push_str(text);
        let from = self.found.as_ref().map_or(earlier.len(), |found| found.index + 1);
        self.find_before(from, earlier, None);
    }

    /// Takes the last character back, and searches from the latest draft on.
    pub fn pop(&mut self, earlier: &[Draft]) {
        let last = super::segment::previous(&self.query, self.query.len());
        self.query.truncate(last);
        self.found = None;
        self.find_before(earlier.len(), earlier, None);
    }

    /// Goes on to an earlier draft, another one than that which was found.
    pub fn older(&mut self, earlier: &[Draft]) {
        let from = self.found.as_ref().map_or(earlier.len(), |found| found.index);
        self.find_before(from, earlier, earlier.get(from));
    }

    /// Puts what was found in the place of the draft; `false` if that is nothing.
    pub fn take(self, editor: &mut Editor, earlier: &[Draft]) -> bool {
        let draft = self.found.and_then(|found| earlier.get(found.index));
        draft.inspect(|draft| editor.set(draft)).is_some()
    }

    /// The search on a screen: what is searched for, with the caret, and below it what was found, in at most `most_rows`
    /// rows together.
    pub fn layout(&self, earlier: &[Draft], look: &Look, most_rows: usize) -> Laid {
        let label = match (self.exhausted, &self.found) {
            (false, _) => "search: ",
            (true, Some(_)) => "no other match: ",
            (true, None) => "no match: ",
        };
        // A tab would move the cursor by as much as it likes.
        let shown = visible::line(&self.query).replace('\t', " ");
        let room = look.width.saturating_sub(width::width(label) + wrap::indent(look.width) + 1);
        let query = width::tail(&shown, room).to_owned();
        let indent = Span::raw(" ".repeat(wrap::indent(look.width)));
        let label = width::head(label, look.width.saturating_sub(wrap::indent(look.width) + width::width(&query) + 1));
        let line = Line::from(vec![indent.clone(), Span::styled(label.to_owned(), look.theme.dim), Span::raw(query)]);
        let column = u16::try_from(line.spans.iter().map(|span| width::width(&span.content)).sum::<usize>());
        let mut laid = Laid { rows: vec![line], ..Laid::default() };
        laid.caret = Caret { row: 0, column: column.unwrap_or(u16::MAX) };
        let found = self.found.as_ref().and_then(|found| Some((found, earlier.get(found.index)?)));
        if let Some((found, draft)) = found.filter(|_| most_rows > 1) {
            let (text, part) = shown_match(found, draft);
            let marked = Some((part.clone(), look.theme.matched));
            let sheet = Sheet { text: &text, caret: part.start, marked, prompt: &indent, most_rows: most_rows - 1 };
            let below = sheet.lay(look);
            laid.rows.extend(below.rows);
            (laid.more_above, laid.more_below) = (below.more_above, below.more_below);
        }
        laid
    }

    /// The last draft before `from` that has what is searched for, and is not `unlike`. What was found stays if there is
    /// none.
    fn find_before(&mut self, from: usize, earlier: &[Draft], unlike: Option<&Draft>) {
        self.exhausted = false;
        if self.query.is_empty() {
            self.found = None;
            return;
        }
        let exact = self.query.chars().any(char::is_uppercase);
        let drafts = earlier.get(..from.min(earlier.len())).unwrap_or_default().iter().enumerate().rev();
        let mut others = drafts.filter(|(_, draft)| unlike != Some(*draft));
        let found = others.find_map(|(index, draft)| {
            draft.pieces.iter().enumerate().find_map(|(piece, text)| {
                find(&text.text(), &self.query, exact).map(|range| Found { index, piece, range })
            })
        });
        self.exhausted = found.is_none();
        let still_fits = |found: &Found| {
            let piece = earlier.get(found.index).and_then(|draft| draft.pieces.get(found.piece));
            piece.is_some_and(|piece| find(&piece.text(), &self.query, exact).is_some())
        };
        self.found = found.or_else(|| self.found.take().filter(still_fits));
    }
}

/// The draft as it is shown, and the part of it that was found; within a chip, the chip.
fn shown_match(found: &Found, draft: &Draft) -> (Text, Range<usize>) {
    let part = |pieces: &[Piece]| Text::from_draft(&Draft { pieces: pieces.to_vec() });
    let before = part(draft.pieces.get(..found.piece).unwrap_or_default()).len();
    let piece = part(draft.pieces.get(found.piece..=found.piece).unwrap_or_default());
    let within = if piece.label(0).is_some() { 0..piece.len() } else { found.range.clone() };
    (Text::from_draft(draft), before + within.start..before + within.end)
}

/// Where `text` has `query`, exactly or in any case.
fn find(text: &str, query: &str, exact: bool) -> Option<Range<usize>> {
    if exact {
        return text.find(query).map(|at| at..at + query.len());
    }
    let begins_at = |at: usize| folded_prefix(super::segment::after(text, at), query).map(|length| at..at + length);
    match query.bytes().next()? {
        first if first.is_ascii() => {
            let (lower, upper) = (first.to_ascii_lowercase(), first.to_ascii_uppercase());
            memchr::memchr2_iter(lower, upper, text.as_bytes()).find_map(begins_at)
        }
        _ => text.char_indices().find_map(|(at, _)| begins_at(at)),
    }
}

/// How many bytes of `text` are `query` when case does not matter; nothing if it does not begin with it.
fn folded_prefix(text: &str, query: &str) -> Option<usize> {
    let mut wanted = query.chars().flat_map(char::to_lowercase).peekable();
    for (at, letter) in text.char_indices() {
        if wanted.peek().is_none() {
            return Some(at);
        }
        if !letter.to_lowercase().all(|letter| wanted.next() == Some(letter)) {
            return None;
        }
    }
    wanted.peek().is_none().then_some(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::front::repl::editor::Editing;
    use crate::front::repl::view::theme::{Glyphs, Theme};

    fn history() -> Vec<Draft> {
        ["cargo test", "Größe ändern", "fix the Test", "run cargo test", "run cargo test"].map(Draft::typed).to_vec()
    }

    fn found(search: &Search) -> Option<(usize, Range<usize>)> {
        search.found().map(|found| (found.index, found.range.clone()))
    }

    #[test]
    fn typing_narrows_and_again_goes_back() {
        let (earlier, mut search) = (history(), Search::default());
        search.older(&earlier);
        assert_eq!(found(&search), None);
        search.push("te", &earlier);
        search.push("st", &earlier);
        assert_eq!(found(&search), Some((4, 10..14)));
        search.older(&earlier);
        assert_eq!(found(&search), Some((2, 8..12)));
        search.older(&earlier);
        search.older(&earlier);
        assert_eq!((found(&search), search.exhausted), (Some((0, 6..10)), true));
        search.pop(&earlier);
        assert_eq!((found(&search), search.query()), (Some((4, 10..13)), "tes"));
        search.push("x", &earlier);
        assert_eq!((found(&search), search.exhausted), (None, true));
    }

    #[test]
    fn case_matters_when_it_is_typed() {
        let earlier = history();
        for (query, expected) in
            [("Test", Some((2, 8..12))), ("ÄND", None), ("änd", Some((1, 8..12))), ("GRÖSSE", None)]
        {
            let mut search = Search::default();
            search.push(query, &earlier);
            assert_eq!(found(&search), expected, "{query}");
        }
    }

    #[test]
    fn what_is_found_is_taken_and_the_draft_can_be_undone_to() {
        let (earlier, mut search) = (history(), Search::default());
        let mut editor = Editor::new(Editing::Emacs);
        editor.insert("unsent");
        search.push("größe", &earlier);
        assert!(search.take(&mut editor, &earlier));
        assert_eq!(editor.draft().text(), "Größe ändern");
        editor.edit(crate::front::repl::key::action::Edit::Undo);
        assert_eq!(editor.draft().text(), "unsent");
        assert!(!Search::default().take(&mut editor, &earlier));
    }

    #[test]
    fn it_fits_every_screen() {
        let mut earlier = history();
        let chip = Piece::Pasted("天needle天\n".repeat(30));
        earlier.push(Draft { pieces: vec![Piece::Typed("see ".to_owned()), chip] });
        let mut search = Search::default();
        search.push("needle", &earlier);
        for width in 0..60 {
            let look = Look { theme: Theme::ansi(), glyphs: Glyphs::UNICODE, width };
            for most_rows in 0..4 {
                let laid = search.layout(&earlier, &look, most_rows);
                assert!(laid.rows.len() <= most_rows.max(1));
                assert!(laid.rows.iter().all(|row| width::width(&row.to_string()) <= width), "{width}");
                assert!(usize::from(laid.caret.column) < width.max(1));
            }
        }
        let look = Look { theme: Theme::ansi(), glyphs: Glyphs::UNICODE, width: 60 };
        let rows = search.layout(&earlier, &look, 5).rows;
        let rows: Vec<_> = rows.iter().map(ToString::to_string).collect();
        assert_eq!(rows, ["  search: needle", "  see [pasted 30 lines, 390 B]"]);
    }
}
