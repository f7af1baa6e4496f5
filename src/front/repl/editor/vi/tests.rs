//! Each command of vi: a text with `|` before the character under the caret, keys, and the text after them.

use proptest::prelude::*;

use super::{Mode, Outcome};
use crate::front::repl::editor::{Editing, Editor};
use crate::front::repl::key::action::Edit;
use crate::front::repl::key::{Code, Key};

fn editor(text: &str) -> Editor {
    let mut editor = Editor::new(Editing::Vi);
    let (before, after) = text.split_once('|').unwrap();
    editor.insert(before);
    editor.insert(after);
    editor.vi_key(Key::plain(Code::Esc));
    editor.caret = before.len();
    editor.settle();
    editor
}

/// Types keys: `␛` is Esc, `®` is Ctrl-R, `⌫` is Backspace, `⏎` a line break.
fn press(editor: &mut Editor, keys: &str) {
    for key in keys.chars() {
        let pressed = match key {
            '␛' => Key::plain(Code::Esc),
            '®' => Key::ctrl('r'),
            '⌫' => Key::plain(Code::Backspace),
            '⏎' => Key::plain(Code::Enter),
            letter => Key::plain(Code::Char(letter)),
        };
        if editor.vi_key(pressed) == Outcome::PassOn {
            match key {
                '⌫' => editor.edit(Edit::DeleteLeft),
                '⏎' => editor.edit(Edit::Newline),
                '␛' | '®' => {}
                letter => editor.insert(letter.encode_utf8(&mut [0; 4])),
            }
        }
    }
}

fn shown(editor: &Editor) -> String {
    let (before, after) = editor.text.as_str().split_at(editor.caret);
    format!("{before}|{after}")
}

fn all(table: &[(&str, &str, &str)]) {
    for (text, keys, expected) in table {
        let mut editor = editor(text);
        press(&mut editor, keys);
        assert_eq!(shown(&editor), *expected, "{text:?} {keys}");
    }
}

#[test]
fn motions() {
    all(&[
        ("ab|c", "h", "a|bc"),
        ("ab|c", "5h", "|abc"),
        ("a\n|bc", "h", "a\n|bc"),
        ("|abc", "l", "a|bc"),
        ("|abc", "9l", "ab|c"),
        ("|abc", " ", "a|bc"),
        ("|天👩‍💻e\u{301}x", "ll", "天👩‍💻|e\u{301}x"),
        ("|one two.x", "w", "one |two.x"),
        ("|one two.x", "2w", "one two|.x"),
        ("|one two.x", "W", "one |two.x"),
        ("one |two.x  y", "W", "one two.x  |y"),
        ("|one\n\n  two", "w", "one\n|\n  two"),
        ("|one\n\n  two", "ww", "one\n\n  |two"),
        ("|one", "w", "on|e"),
        ("one two.|x", "b", "one two|.x"),
        ("one two.|x", "B", "one |two.x"),
        ("one two|.x", "2b", "|one two.x"),
        ("one\n\n  |two", "b", "one\n|\n  two"),
        ("one\n\n  |two", "bb", "|one\n\n  two"),
        ("  |one", "b", "|  one"),
        ("|one two.x", "e", "on|e two.x"),
        ("on|e two.x", "e", "one tw|o.x"),
        ("|one two.x", "2E", "one two.|x"),
        ("on|e", "e", "on|e"),
        ("  ab |c", "0", "|  ab c"),
        ("  ab |c", "^", "  |ab c"),
        ("a|b c\nx", "$", "ab |c\nx"),
        ("|ab\ncd", "2$", "ab\nc|d"),
        ("a\nb\n  |c", "gg", "|a\nb\n  c"),
        ("|a\nb\n  c", "G", "a\nb\n  |c"),
        ("|a\nb\n  c", "2G", "a\n|b\n  c"),
        ("|a\nb", "9G", "a\n|b"),
        ("ab|c\nx\nabcd", "j", "abc\n|x\nabcd"),
        ("ab|c\nx\nabcd", "jj", "abc\nx\nab|cd"),
        ("ab|c\nx\nabcd", "$jj", "abc\nx\nabc|d"),
        ("天|天\nabcd", "j", "天天\nab|cd"),
        ("abc\nab|cd", "k", "ab|c\nabcd"),
        ("abc\nx\nab|cd", "9k", "ab|c\nx\nabcd"),
    ]);
}

#[test]
fn finding() {
    all(&[
        ("|a b c b", "fb", "a |b c b"),
        ("|a b c b", "2fb", "a b c |b"),
        ("|a b c b", "fb;", "a b c |b"),
        ("|a b c b", "fb;,", "a |b c b"),
        ("|a b c b", "fz", "|a b c b"),
        ("|a\nb", "fb", "|a\nb"),
        ("|a b c b", "tb", "a| b c b"),
        ("|a b c b", "tb;", "a b c| b"),
        ("a b c |b", "Fa", "|a b c b"),
        ("a b c |b", "Ta", "a| b c b"),
        ("a b c |b", "Tb", "a b| c b"),
        ("|x 天 y", "f天", "x |天 y"),
        ("|a b c b", "dfb", "| c b"),
        ("|a b c b", "dtb", "|b c b"),
        ("a b c |b", "dFa", "|b"),
        ("a b c |b", "dTa", "a|b"),
        ("|a b c b", "dfb.", "|"),
        ("|a b c b", "d;", "|a b c b"),
    ]);
}

#[test]
fn deleting() {
    all(&[
        ("|abc", "x", "|bc"),
        ("|abc", "2x", "|c"),
        ("ab|c", "x", "a|b"),
        ("a|👩‍💻b", "x", "a|b"),
        ("|\nb", "x", "|\nb"),
        ("ab|c", "X", "a|c"),
        ("ab|c", "9X", "|c"),
        ("|one two", "dw", "|two"),
        ("|one two three", "d2w", "|three"),
        ("|one two three", "2dw", "|three"),
        ("one |two\n  three", "dw", "one| \n  three"),
        ("|one two\nthree", "d2w", "|\nthree"),
        ("|one two\nthree", "d3w", "|"),
        ("one |two", "db", "|two"),
        ("one\n|two", "db", "|\ntwo"),
        ("|one two", "de", "| two"),
        ("|one.x two", "dW", "|two"),
        ("|one.x two", "dE", "| two"),
        ("one |two", "d$", "one| "),
        ("one |two\nx", "d$", "one| \nx"),
        ("one |two\nx", "D", "one| \nx"),
        ("one |two", "d0", "|two"),
        ("  one |two", "d^", "  |two"),
        ("a|bc", "dl", "a|c"),
        ("a|bc", "dh", "|bc"),
        ("a\n|b\nc", "dd", "a\n|c"),
        ("a\nb\n|c", "dd", "a\n|b"),
        ("|a", "dd", "|"),
        ("|a\nb\nc", "2dd", "|c"),
        ("|a\nb\nc", "9dd", "|"),
        ("|a\nb\nc", "dj", "|c"),
        ("a\nb\n|c", "dk", "|a"),
        ("a\n|b\nc", "dG", "|a"),
        ("a\n|b\nc", "dgg", "|c"),
        ("a\nb\n|c", "dj", "a\nb\n|c"),
    ]);
}

#[test]
fn changing() {
    all(&[
        ("|one two", "cwX␛", "|X two"),
        ("|one  two", "c2wX␛", "|X"),
        ("on|e two", "cwX␛", "on|X two"),
        ("one| two", "cwX␛", "one|Xtwo"),
        ("|one two", "ceX␛", "|X two"),
        ("one |two", "cbX␛", "|Xtwo"),
        ("one |two", "CX␛", "one |X"),
        ("one |two", "c0X␛", "|Xtwo"),
        ("a\n  |b\nc", "ccX␛", "a\n|X\nc"),
        ("a\n  |b\nc", "SX␛", "a\n|X\nc"),
        ("a\n|b\nc", "cjX␛", "a\n|X"),
        ("|abc", "sX␛", "|Xbc"),
        ("|abc", "2sX␛", "|Xc"),
        ("a\n|", "sX␛", "a\n|X"),
        ("|abc", "rX", "|Xbc"),
        ("|abc", "2rX", "X|Xc"),
        ("|abc", "9rX", "|abc"),
        ("a|👩‍💻b", "rX", "a|Xb"),
        ("|aBc", "~", "A|Bc"),
        ("|aBc", "9~", "Ab|C"),
        ("|straße", "6~", "STRASS|E"),
        ("|a\n  b\nc", "J", "a| b\nc"),
        ("|a\n  b\nc", "3J", "a b| c"),
        ("|a\n)", "J", "a|)"),
        ("|a", "J", "|a"),
    ]);
}

#[test]
fn inserting() {
    all(&[
        ("a|b", "iX␛", "a|Xb"),
        ("a|b", "aX␛", "ab|X"),
        ("|", "aX␛", "|X"),
        ("  a|b", "IX␛", "  |Xab"),
        ("|ab\nc", "AX␛", "ab|X\nc"),
        ("|a\nc", "ob␛", "a\n|b\nc"),
        ("a\n|c", "Ob␛", "a\n|b\nc"),
        ("|a", "3ix␛", "xx|xa"),
        ("|a", "2ob␛", "a\nb\n|b"),
        ("|a", "iXY⌫␛", "|Xa"),
        ("|a", "iX⏎Y␛", "X\n|Ya"),
        ("|", "i天␛", "|天"),
    ]);
}

#[test]
fn objects() {
    all(&[
        ("one t|wo three", "diw", "one | three"),
        ("one t|wo three", "daw", "one |three"),
        ("one t|wo", "daw", "on|e"),
        ("one| two", "diw", "one|two"),
        ("one| two", "daw", "on|e"),
        ("one t|wo.x y", "diW", "one | y"),
        ("one t|wo.x y", "daW", "one |y"),
        ("|one two three", "d2aw", "|three"),
        ("a\n|\nb", "diw", "a\n|\nb"),
        ("say \"h|i you\" now", "di\"", "say \"|\" now"),
        ("say \"h|i you\" now", "da\"", "say |now"),
        ("say \"hi\"|", "da\"", "sa|y"),
        ("s|ay \"hi\"", "ci\"X␛", "say \"|X\""),
        (r#"a "x\"|y" b"#, "di\"", r#"a "|" b"#),
        ("a 'b|c' d", "di'", "a '|' d"),
        ("a `b|c` d", "ci`X␛", "a `|X` d"),
        ("no q|uote\"", "di\"", "no q|uote\""),
        ("f(a, (b|), c)", "di(", "f(a, (|), c)"),
        ("f(a, (b|), c)", "2di(", "f(|)"),
        ("f(a|, (b), c)", "di(", "f(|)"),
        ("f(a|, b) c", "da(", "f| c"),
        ("f(a|, b) c", "dib", "f(|) c"),
        ("f|(a, b)", "di(", "f(|)"),
        ("x[a|b]", "di[", "x[|]"),
        ("{\n  a|\n}", "di{", "{|}"),
        ("<a|b>", "di<", "<|>"),
        ("a|b)", "di(", "a|b)"),
    ]);
}

#[test]
fn copying_and_putting() {
    all(&[
        ("|ab cd", "ywP", "ab| ab cd"),
        ("|ab cd", "yiw$p", "ab cda|b"),
        ("a|b", "xp", "a|b"),
        ("|ab", "xp", "b|a"),
        ("|a\nb", "yyp", "a\n|a\nb"),
        ("a\n|b", "yyp", "a\nb\n|b"),
        ("a\n|b", "yyP", "a\n|b\nb"),
        ("|a\nb", "Y2p", "a\n|a\na\nb"),
        ("|a\nb", "ddp", "b\n|a"),
        ("a\n|b\nc", "ykp", "a\n|a\nb\nb\nc"),
        ("|ab", "p", "|ab"),
        ("|ab", "x3p", "baa|a"),
        ("|a\nb", "vjyP", "|a\nba\nb"),
    ]);
}

#[test]
fn taking_back_and_repeating() {
    all(&[
        ("|abc", "xxu", "|bc"),
        ("|abc", "xxuu", "|abc"),
        ("|abc", "xx2u", "|abc"),
        ("|abc", "xxuu®", "|bc"),
        ("|abc", "xxuu®®", "|c"),
        ("|one two", "cwnew␛u", "|one two"),
        ("|one two", "cwnew␛w.", "new ne|w"),
        ("|a b c d", "dw.", "|c d"),
        ("|a b c d e", "dw2.", "|d e"),
        ("|ab", "ix␛.", "|xxab"),
        ("|ab\ncd", "A;␛j.", "ab;\ncd|;"),
        ("|a", "ob␛.", "a\nb\n|b"),
        ("|abcd", "rxl.", "x|xcd"),
        ("|a\nb\nc\nd", "J.", "a b| c\nd"),
        ("|a\nb\nc\nd", "2JuJ", "a| b\nc\nd"),
        ("|one two", "yiwP.", "onon|eeone two"),
        ("|abcdef", "vld.", "|ef"),
        ("|a\nb\nc\nd\ne", "Vjd.", "|e"),
        ("|ab", "~.", "A|B"),
        ("|", "Ab␛.", "b|b"),
        ("|a", ".", "|a"),
    ]);
}

#[test]
fn selecting() {
    all(&[
        ("a|bcd", "vld", "a|d"),
        ("ab|cd", "vhd", "a|d"),
        ("|ab\ncd", "vjx", "|d"),
        ("a|bcd", "vlcX␛", "a|Xd"),
        ("a|bcd", "vly$p", "abcdb|c"),
        ("a\n|b\nc", "Vd", "a\n|c"),
        ("|a\nb\nc", "Vjd", "|c"),
        ("|a\nb\nc", "VjcX␛", "|X\nc"),
        ("|a\nb\nc", "Vyjp", "a\nb\n|a\nc"),
        ("|one two", "veU", "|ONE two"),
        ("|ONE two", "veu", "|one two"),
        ("|One two", "ve~", "|oNE two"),
        ("|one two", "verx", "|xxx two"),
        ("|a\nb\nc", "VGJ", "a b| c"),
        ("one t|wo three", "viwd", "one | three"),
        ("f(a|b)", "vi(d", "f(|)"),
        ("a|bcd", "vlohd", "|d"),
        ("a|bcd", "vVd", "|"),
        ("a|bcd", "v␛x", "a|cd"),
        ("a|bcd", "vvx", "a|cd"),
        ("|ab cd ef", "yiwwvep", "ab a|b ef"),
        ("|12 x", "veUx", "|2 x"),
        ("|a", "vJx", "|"),
        ("|天👩‍💻x", "vld", "|x"),
    ]);
}

#[test]
fn keys_that_are_not_for_vi_are_passed_on() {
    let mut editor = editor("|one\ntwo");
    let plain = |letter| Key::plain(Code::Char(letter));
    assert_eq!(editor.vi_key(Key::plain(Code::Esc)), Outcome::PassOn);
    assert_eq!(editor.vi_key(Key::plain(Code::Enter)), Outcome::PassOn);
    assert_eq!(editor.vi_key(Key::ctrl('c')), Outcome::PassOn);
    assert_eq!(editor.vi_key(plain('k')), Outcome::Earlier);
    assert_eq!(editor.vi_key(plain('j')), Outcome::Handled);
    assert_eq!(editor.vi_key(plain('j')), Outcome::Later);
    assert_eq!(editor.vi_key(plain('/')), Outcome::Search);
    assert_eq!(editor.vi_key(plain('d')), Outcome::Handled);
    assert_eq!(editor.vi_key(Key::plain(Code::Esc)), Outcome::Handled);
    assert_eq!(editor.vi_key(Key::plain(Code::Esc)), Outcome::PassOn);
    let mut modes = vec![editor.mode()];
    for key in [plain('v'), plain('V'), Key::plain(Code::Esc), plain('i')] {
        assert_eq!(editor.vi_key(key), Outcome::Handled);
        modes.push(editor.mode());
    }
    let expected = [Mode::Normal, Mode::Visual, Mode::VisualLines, Mode::Normal, Mode::Insert].map(Some);
    assert_eq!(modes, expected);
    assert_eq!(editor.vi_key(plain('x')), Outcome::PassOn);
    let mut emacs = Editor::new(Editing::Emacs);
    assert_eq!((emacs.vi_key(Key::plain(Code::Esc)), emacs.mode()), (Outcome::PassOn, None));
}

#[test]
fn a_new_draft_begins_with_text() {
    let mut editor = editor("|one");
    press(&mut editor, "x");
    editor.take();
    assert_eq!(editor.mode(), Some(Mode::Insert));
    press(&mut editor, "two␛.p");
    assert_eq!(shown(&editor), "tw|o");
}

#[test]
fn a_chip_is_one_character_and_one_word() {
    let chip = "line\n".repeat(20);
    for (keys, expected) in [("0wx", "a b"), ("0dwx", "b"), ("$bdw", "a b"), ("0wdiw", "a b"), ("0wviwd", "a b")] {
        let mut editor = Editor::new(Editing::Vi);
        editor.insert("a ");
        editor.paste(&chip);
        editor.insert("b");
        press(&mut editor, "␛");
        press(&mut editor, keys);
        assert_eq!(editor.draft().text(), expected, "{keys}");
    }
}

#[test]
fn counts_do_not_fill_the_memory() {
    let mut editor = editor(&format!("|{}", "x".repeat(10_000)));
    press(&mut editor, "yy9999p9999.");
    assert!(editor.text.len() <= 3 * 1024 * 1024);
}

proptest! {
    #[test]
    fn any_keys_leave_a_legal_draft(
        text in "([a-c .(\"]|\n|天|👩‍💻|e\u{301}){0,12}",
        keys in "[hjklwbeWBE0^$gGfFtT;,xXr~JiaIAoOdcyDCYSspPu.vV123(\"\u{301}天/␛®⌫⏎]{0,40}",
    ) {
        let mut editor = editor(&format!("|{}", text.replace('|', "")));
        press(&mut editor, &keys);
        let string = editor.text.as_str();
        prop_assert_eq!(crate::front::repl::editor::segment::snap(string, editor.caret), editor.caret);
        press(&mut editor, "␛␛");
        let end = editor.draft();
        (0..100).for_each(|_| press(&mut editor, "u"));
        prop_assert_eq!(editor.draft().text(), "");
        (0..100).for_each(|_| press(&mut editor, "®"));
        // Changes that were taken back by these keys are made again too.
        if !keys.contains(['u', '®']) {
            prop_assert_eq!(editor.draft(), end);
        }
    }
}
