//! The draft as those see it who complete its words: one text, with chips written out. Places in it are bytes of
//! [`super::draft::Draft::text`].
//!
//! Which word could be completed, and what it may become, is decided elsewhere.

use std::ops::Range;

use super::Editor;
use super::text::{CHIP, Text};
use super::undo::Join;

impl Editor {
    /// Where the caret stands, in bytes of the draft's text.
    pub fn caret(&self) -> usize {
        self.outer(self.caret)
    }

    /// Puts `text`, typed, in the place of a part of the draft's text; then the caret stands at `caret` of the new text.
    /// A part that lies inside of a chip takes the chip along.
    pub fn replace(&mut self, range: Range<usize>, text: &str, caret: usize) {
        let range = self.inner(range.start)..self.inner(range.end);
        self.fresh();
        self.change(range, &Text::typed(text), Join::Alone);
        self.undo.seal();
        self.caret = self.inner(caret);
        self.settle();
    }

    fn outer(&self, place: usize) -> usize {
        let before = self.text.as_str().get(..place).unwrap_or_default();
        before.char_indices().map(|(at, letter)| self.weight(at, letter)).sum()
    }

    fn inner(&self, place: usize) -> usize {
        let mut passed = 0;
        for (at, letter) in self.text.as_str().char_indices() {
            if passed >= place {
                return at;
            }
            passed += self.weight(at, letter);
        }
        self.text.len()
    }

    /// Bytes of the draft's text that a character of this one stands for.
    fn weight(&self, at: usize, letter: char) -> usize {
        let chip = (letter == CHIP).then(|| self.text.written(at)).flatten();
        chip.unwrap_or(letter.len_utf8())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::front::repl::editor::Editing;

    #[test]
    fn places_count_what_chips_stand_for() {
        let long = "line\n".repeat(20);
        let mut editor = Editor::new(Editing::Emacs);
        editor.insert("ünd ");
        editor.paste(&long);
        editor.insert(" @sr");
        let draft = editor.draft().text();
        assert_eq!(editor.caret(), draft.len());
        let start = draft.len() - "@sr".len();
        editor.replace(start..draft.len(), "@src/", start + 5);
        assert_eq!(editor.draft().text(), format!("ünd {long} @src/"));
        assert_eq!(editor.caret(), start + 5);
        editor.replace(0..5, "so ", 3);
        assert_eq!((editor.caret(), editor.draft().text()), (3, format!("so {long} @src/")));
    }
}
