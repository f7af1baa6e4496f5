//! What drafts look like: rows, carets, and how long it takes.

use proptest::prelude::*;
use ratatui::style::Style;
use ratatui::text::Span;

use super::{editor, model};
use crate::base::text::{visible, width};
use crate::front::repl::editor::layout::Laid;
use crate::front::repl::editor::{Editing, Editor};
use crate::front::repl::key::action::Edit;
use crate::front::repl::view::Look;
use crate::front::repl::view::theme::{Glyphs, Theme};

fn lay(editor: &Editor, width: usize, most_rows: usize) -> Laid {
    let look = Look { theme: Theme::ansi(), glyphs: Glyphs::UNICODE, width };
    editor.layout(&look, &Span::styled("› ", look.theme.person), most_rows)
}

/// The rows with `▏` where the caret is, as a terminal would show it.
fn drawn(laid: &Laid) -> String {
    let rows = laid.rows.iter().enumerate().map(|(number, row)| {
        let text = row.to_string();
        if number != usize::from(laid.caret.row) {
            return text.trim_end().to_owned();
        }
        let (before, after) = width::split(&text, usize::from(laid.caret.column));
        format!("{before}▏{after}").trim_end().to_owned()
    });
    rows.collect::<Vec<_>>().join("\n")
}

const LETTER: &str = "Why is 天天向上 wrapped here, 👩‍💻? Because\tit does not fit.\n\n  indented:\u{1b}[31m \u{202e}x";

#[test]
fn wrapped_at_twenty_columns() {
    let mut editor = editor(&format!("|{LETTER}"));
    insta::assert_snapshot!(drawn(&lay(&editor, 20, 20)), @r"
    › ▏Why is 天天向上 wr
      apped here, 👩‍💻? Be
      cause   it does no
      t fit.

        indented:␛[31m
      ⟨RLO⟩x
    ");
    (0..11).for_each(|_| editor.edit(Edit::Right));
    insta::assert_snapshot!(drawn(&lay(&editor, 20, 4)), @r"
    › Why is 天天向上▏ wr
      apped here, 👩‍💻? Be
      cause   it does no
      … 3 more lines
    ");
}

#[test]
fn wrapped_at_forty_and_eighty_columns() {
    let mut editor = editor(&format!("{LETTER}|"));
    insta::assert_snapshot!(drawn(&lay(&editor, 40, 20)), @r"
    › Why is 天天向上 wrapped here, 👩‍💻? Beca
      use it does not fit.

        indented:␛[31m ⟨RLO⟩x▏
    ");
    insta::assert_snapshot!(drawn(&lay(&editor, 80, 20)), @r"
    › Why is 天天向上 wrapped here, 👩‍💻? Because   it does not fit.

        indented:␛[31m ⟨RLO⟩x▏
    ");
    editor.edit(Edit::DraftStart);
    editor.paste(&"0123456789 0123456789 0123456789 0123\n".repeat(214));
    insta::assert_snapshot!(drawn(&lay(&editor, 40, 20)), @r"
    › [pasted 214 lines, 8.1 KB]▏Why is 天天
      向上 wrapped here, 👩‍💻? Because  it doe
      s not fit.

        indented:␛[31m ⟨RLO⟩x
    ");
    insta::assert_snapshot!(drawn(&lay(&editor, 20, 3)), @r"
    › [pasted 214 lines…
      ▏Why is 天天向上 wr
      … 3 more lines
    ");
}

#[test]
fn what_is_not_shown_is_counted() {
    let text: Vec<String> = (1..=30).map(|number| format!("line {number}")).collect();
    let mut editor = editor(&format!("|{}", text.join("\n")));
    insta::assert_snapshot!(drawn(&lay(&editor, 40, 4)), @r"
    › ▏line 1
      line 2
      line 3
      … 27 more lines
    ");
    (0..15).for_each(|_| assert!(editor.down(40)));
    insta::assert_snapshot!(drawn(&lay(&editor, 40, 5)), @r"
    › … 14 more lines
      line 15
      ▏line 16
      line 17
      … 13 more lines
    ");
    let laid = lay(&editor, 40, 5);
    assert_eq!((laid.more_above, laid.more_below), (14, 13));
    editor.edit(Edit::DraftEnd);
    insta::assert_snapshot!(drawn(&lay(&editor, 40, 4)), @r"
    › … 27 more lines
      line 28
      line 29
      line 30▏
    ");
    let one = lay(&editor, 40, 1);
    assert_eq!((drawn(&one), one.more_above), ("› line 30▏".to_owned(), 29));
}

#[test]
fn a_full_row_has_its_caret_below() {
    let mut editor = editor("12345678|");
    assert_eq!(drawn(&lay(&editor, 10, 9)), "› 12345678\n  ▏");
    editor.edit(Edit::Left);
    assert_eq!(drawn(&lay(&editor, 10, 9)), "› 1234567▏8");
    editor.insert("天");
    assert_eq!(drawn(&lay(&editor, 10, 9)), "› 1234567\n  天▏8");
    assert!(editor.up(10));
    assert_eq!(drawn(&lay(&editor, 10, 9)), "› 12▏34567\n  天8");
}

#[test]
fn chips_are_dim_and_what_is_selected_is_reversed() {
    let mut editor = Editor::new(Editing::Vi);
    editor.insert("ab");
    editor.paste(&"x\n".repeat(20));
    let styles = |editor: &Editor| -> Vec<(String, Style)> {
        lay(editor, 80, 9).rows[0].spans.iter().map(|span| (span.content.to_string(), span.style)).collect()
    };
    let theme = Theme::ansi();
    let (plain, chip) = (Style::new(), ("[pasted 20 lines, 40 B]".to_owned(), theme.dim));
    assert_eq!(styles(&editor), [("› ".to_owned(), theme.person), ("ab".to_owned(), plain), chip.clone()]);
    for key in [crate::front::repl::key::Code::Esc, crate::front::repl::key::Code::Char('v')] {
        editor.vi_key(crate::front::repl::key::Key::plain(key));
    }
    assert_eq!(styles(&editor)[2], (chip.0, theme.dim.reversed()));
}

/// One cluster of a thousand marks would be written anew with every key.
#[test]
fn endless_clusters_are_cut() {
    let mut editor = Editor::new(Editing::Emacs);
    editor.insert(&format!("a{}", "\u{301}".repeat(100_000)));
    let laid = lay(&editor, 80, 10);
    let bytes: usize = laid.rows.iter().map(|row| row.to_string().len()).sum();
    assert!(bytes < 10_000, "{bytes}");
}

proptest! {
    #[test]
    fn rows_fit_and_the_caret_is_where_the_text_goes(
        script in prop::collection::vec(model::step(), 0..30), width in 1usize..30, most_rows in 0usize..12,
    ) {
        let mut editor = Editor::new(Editing::Emacs);
        script.iter().for_each(|step| step.apply(&mut editor));
        let laid = lay(&editor, width, most_rows);
        prop_assert!(!laid.rows.is_empty() && laid.rows.len() <= most_rows.max(1));
        prop_assert!(laid.rows.iter().all(|row| width::width(&row.to_string()) <= width), "{:?}", laid.rows);
        prop_assert!(usize::from(laid.caret.column) < width && usize::from(laid.caret.row) < laid.rows.len());
        if laid.more_above == 0 && laid.more_below == 0 {
            prop_assert_eq!(lay(&editor, width, most_rows + 1), laid);
        }
    }

    /// Where nothing is spelt, rows are the text, and the caret is behind what is before it.
    #[test]
    fn rows_are_the_text(
        part in "([a-z ]|天|👩‍💻|e\u{301}|\n){0,60}", times in prop::sample::select(vec![1, 1, 1, 90]),
        width in 6usize..30, at in 0usize..80,
    ) {
        let text = part.repeat(times);
        let mut editor = editor(&format!("|{text}"));
        (0..at).for_each(|_| editor.edit(Edit::Right));
        let laid = lay(&editor, width, 9_000);
        let bare = |number: usize| laid.rows[number].to_string().chars().skip(2).collect::<String>();
        let all: String = (0..laid.rows.len()).map(bare).collect();
        prop_assert_eq!(all, text.replace('\n', ""));
        let row = usize::from(laid.caret.row);
        let column = usize::from(laid.caret.column) - 2;
        let before: String = (0..row).map(bare).collect::<String>() + width::head(&bare(row), column);
        prop_assert_eq!(before, text[..editor.caret].replace('\n', ""));
        prop_assert_eq!(width::width(width::head(&bare(row), column)), column);
    }

    #[test]
    fn nothing_drives_the_terminal(text in "[\\PC\\pC]{0,60}", width in 1usize..40) {
        let mut editor = Editor::new(Editing::Emacs);
        editor.insert(&text);
        for row in lay(&editor, width, 100).rows {
            let row = row.to_string();
            prop_assert!(!row.contains('\t') && row.chars().all(|letter| !letter.is_control()));
            prop_assert!(visible::line(&row).chars().eq(row.chars()) || !text.is_ascii());
        }
    }

    /// Up and down meet every row once.
    #[test]
    fn rows_are_walked_one_by_one(text in "([a-c ]|天|\n|\t){0,80}", width in 1usize..20) {
        let mut editor = editor(&format!("|{text}"));
        let rows = lay(&editor, width, 1_000).rows.len();
        let mut down = 0;
        while editor.down(width) {
            down += 1;
            prop_assert_eq!(usize::from(lay(&editor, width, 1_000).caret.row), down);
        }
        prop_assert_eq!(down + 1, rows);
        while editor.up(width) {
            down -= 1;
        }
        prop_assert_eq!(down, 0);
    }
}

/// Long lines are cut into stretches; walking over their seams loses nothing.
#[test]
fn long_lines_are_laid_out_in_stretches() {
    for text in ["0123456789".repeat(2_000), "天👩‍💻".repeat(2_000), format!("a{}", "\u{301}".repeat(9_000))] {
        let mut editor = Editor::new(Editing::Emacs);
        editor.insert(&text);
        editor.edit(Edit::DraftStart);
        let mut rows = 1;
        while editor.down(40) {
            rows += 1;
            assert!(rows < 2_000, "no end");
        }
        while editor.up(40) {
            rows -= 1;
        }
        assert_eq!((rows, editor.caret), (1, 0));
    }
}
