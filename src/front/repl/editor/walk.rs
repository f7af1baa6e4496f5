//! Going through earlier drafts and back, without losing what was being written.
//!
//! Earlier drafts belong to the caller, who gives them oldest first and may append to them meanwhile.

use std::collections::BTreeMap;

use super::Editor;
use super::draft::Draft;

/// A walk through earlier drafts.
#[derive(Clone, Debug, Default)]
pub struct Walk {
    stop: Option<Stop>,
    /// What was being written when the walk began.
    unsent: Draft,
    /// Earlier drafts that were changed on the way.
    changed: BTreeMap<usize, Draft>,
}

/// The draft where one is.
#[derive(Clone, Debug)]
struct Stop {
    index: usize,
    /// The draft and its caret as they were brought back.
    draft: Draft,
    caret: usize,
}

impl Walk {
    /// Goes up a row of a screen of `width` columns, and from the first one to the draft before; right after it was brought
    /// back, a draft is left at once. `false` if there is none.
    pub fn up(&mut self, editor: &mut Editor, width: usize, earlier: &[Draft]) -> bool {
        (!self.is_as_brought(editor) && editor.up(width)) || self.earlier(editor, earlier)
    }

    /// Goes down a row, and from the last one to the draft after, in the end to what was being written.
    pub fn down(&mut self, editor: &mut Editor, width: usize, earlier: &[Draft]) -> bool {
        (!self.is_as_brought(editor) && editor.down(width)) || self.later(editor, earlier)
    }

    /// Goes to the draft before; one that looks the same is passed over.
    pub fn earlier(&mut self, editor: &mut Editor, earlier: &[Draft]) -> bool {
        let current = editor.draft();
        let from = self.stop.as_ref().map_or(earlier.len(), |stop| stop.index.min(earlier.len()));
        let differs = |index: &usize| self.entry(*index, earlier).is_some_and(|draft| *draft != current);
        let Some(index) = (0..from).rev().find(differs) else { return false };
        self.leave(current, earlier);
        self.bring(index, editor, earlier);
        true
    }

    /// Goes to the draft after, or to what was being written.
    pub fn later(&mut self, editor: &mut Editor, earlier: &[Draft]) -> bool {
        let Some(stop) = &self.stop else { return false };
        let current = editor.draft();
        let differs = |index: &usize| self.entry(*index, earlier).is_some_and(|draft| *draft != current);
        let index = (stop.index + 1..earlier.len()).find(differs);
        self.leave(current, earlier);
        match index {
            Some(index) => self.bring(index, editor, earlier),
            None => {
                self.stop = None;
                editor.set(&std::mem::take(&mut self.unsent));
            }
        }
        true
    }

    /// Whether an earlier draft is shown.
    pub fn is_walking(&self) -> bool {
        self.stop.is_some()
    }

    /// What was being written when the walk began, while it lasts: it should survive a crash too.
    pub fn unsent(&self) -> Option<&Draft> {
        self.stop.is_some().then_some(&self.unsent)
    }

    /// Ends the walk: what is shown was sent, or is a draft of its own now.
    pub fn end(&mut self) {
        *self = Self::default();
    }

    fn is_as_brought(&self, editor: &Editor) -> bool {
        self.stop.as_ref().is_some_and(|stop| stop.caret == editor.caret && stop.draft == editor.draft())
    }

    fn entry<'a>(&'a self, index: usize, earlier: &'a [Draft]) -> Option<&'a Draft> {
        self.changed.get(&index).or_else(|| earlier.get(index))
    }

    fn leave(&mut self, current: Draft, earlier: &[Draft]) {
        match &self.stop {
            None => self.unsent = current,
            Some(stop) if earlier.get(stop.index) == Some(&current) => drop(self.changed.remove(&stop.index)),
            Some(stop) => drop(self.changed.insert(stop.index, current)),
        }
    }

    fn bring(&mut self, index: usize, editor: &mut Editor, earlier: &[Draft]) {
        let draft = self.entry(index, earlier).cloned().unwrap_or_default();
        editor.set(&draft);
        self.stop = Some(Stop { index, draft, caret: editor.caret });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::front::repl::editor::Editing;

    fn drafts(texts: &[&str]) -> Vec<Draft> {
        texts.iter().map(|text| Draft::typed(*text)).collect()
    }

    #[test]
    fn what_was_being_written_comes_back() {
        let (mut editor, mut walk) = (Editor::new(Editing::Emacs), Walk::default());
        let mut earlier = drafts(&["one", "two\nlines", "three", "three"]);
        editor.insert("unsent");
        let mut shown = Vec::new();
        for _ in 0..4 {
            shown.push((walk.up(&mut editor, 80, &earlier), editor.draft().text()));
        }
        let seen = |moved, text: &str| (moved, text.to_owned());
        assert_eq!(shown, [seen(true, "three"), seen(true, "two\nlines"), seen(true, "one"), seen(false, "one")]);
        assert_eq!(walk.unsent(), Some(&Draft::typed("unsent")));
        editor.insert(" changed");
        earlier.push(Draft::typed("from elsewhere"));
        assert!(walk.down(&mut editor, 80, &earlier));
        assert_eq!(editor.draft().text(), "two\nlines");
        assert!(walk.up(&mut editor, 80, &earlier));
        assert_eq!(editor.draft().text(), "one changed");
        let mut shown = Vec::new();
        while walk.down(&mut editor, 80, &earlier) {
            shown.push(editor.draft().text());
        }
        assert_eq!(shown, ["two\nlines", "three", "from elsewhere", "unsent"]);
        assert!(!walk.is_walking());
    }

    #[test]
    fn rows_come_first_once_a_draft_is_edited() {
        let (mut editor, mut walk) = (Editor::new(Editing::Emacs), Walk::default());
        let earlier = drafts(&["one", "two\nlines"]);
        assert!(walk.up(&mut editor, 80, &earlier));
        editor.insert("!");
        assert!(walk.up(&mut editor, 80, &earlier));
        assert_eq!(editor.draft().text(), "two\nlines!");
        editor.insert("*");
        assert_eq!(editor.draft().text(), "two*\nlines!");
        assert!(walk.up(&mut editor, 80, &earlier));
        assert_eq!(editor.draft().text(), "one");
        assert!(walk.down(&mut editor, 80, &earlier) && walk.down(&mut editor, 80, &earlier));
        assert!(editor.is_empty() && !walk.down(&mut editor, 80, &earlier));
    }

    #[test]
    fn a_list_that_became_shorter_does_no_harm() {
        let (mut editor, mut walk) = (Editor::new(Editing::Emacs), Walk::default());
        assert!(walk.up(&mut editor, 80, &drafts(&["one", "two"])));
        assert!(!walk.up(&mut editor, 80, &[]));
        assert!(walk.down(&mut editor, 80, &[]));
        assert!(editor.is_empty());
    }
}
