//! What comes out of the cleaner, whole and in pieces.

use proptest::prelude::*;

use super::*;

fn in_pieces(raw: &[u8], length: usize) -> String {
    let mut text = String::new();
    let mut cleaner = Cleaner::default();
    for piece in raw.chunks(length) {
        cleaner.push(piece, &mut |piece| text.push_str(piece));
    }
    cleaner.finish(&mut |piece| text.push_str(piece));
    text
}

#[test]
fn sequences_disappear() {
    for (raw, text) in [
        ("plain\ttext\n", "plain\ttext\n"),
        ("\x1b[1;31mred\x1b[0m\n", "red\n"),
        ("\x1b[?25l\x1b[2Kx\x1b[38;2;1;2;3m\x1b[4:3m", "x"),
        ("\x1b]0;a title\x07after", "after"),
        ("\x1b]8;;http://example.org\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b]0;no end\nnext line", "\nnext line"),
        ("\x1bPq#0;2\x1b\\sixel", "sixel"),
        ("\x1b_apc\u{9c}a\x1b^pm\x18b\x1bXsos\x1b\\c", "abc"),
        ("\x1b(B\x1b=\x1b7\x1b M x", " x"),
        ("\u{9b}31mred\u{9d}0;title\u{9c}.\u{85}\u{90}dcs\x07", "red."),
        ("\x1b\x1b[1mtwice", "twice"),
        ("\x1b[31\ncut\x1b", "\ncut"),
        ("\x1b[12é\x1bü", "éü"),
        ("\x1b]title\x1b[1mnot ended", "not ended"),
        ("a\0b\x01c\x7fd\x0be\x0cf", "abcdef"),
        ("° £ \u{a0} é 設計 👩‍👩‍👧‍👦", "° £ \u{a0} é 設計 👩‍👩‍👧‍👦"),
    ] {
        assert_eq!(clean(raw), text, "{raw:?}");
    }
}

#[test]
fn redraws_leave_their_last_state() {
    for (raw, text) in [
        ("one\r\ntwo\r\n", "one\ntwo\n"),
        ("10%\r20%\r30%\n", "30%\n"),
        ("10%\r20%\r", "20%"),
        ("\rfirst\r\rsecond\r\r\n", "second\n"),
        ("long line\rok\n", "ok\n"),
        ("10%\r\x1b[K20%\r\x1b[K", "20%"),
        ("|\x08/\x08-\x08done\n", "done\n"),
        ("N\x08NA\x08AM\x08ME\x08E _\x08x\n", "NAME x\n"),
        ("ab\n\x08\x08\x08c\x08", "ab\n"),
        ("e\u{301}\x08x", "x"),
        ("a\r\x08b", "b"),
    ] {
        assert_eq!(clean(raw), text, "{raw:?}");
    }
}

#[test]
fn a_line_is_one_and_hides_nothing() {
    assert_eq!(line("  \x1b[1mno\rone\r\n\ttwo\x1b[0m  \u{202e}three\n"), "no one two ⟨RLO⟩three");
}

#[test]
fn broken_bytes_are_replaced() {
    assert_eq!(clean(b"caf\xe9 \xc4\xe3\xba\xc3\n"), "caf\u{fffd} \u{fffd}\u{fffd}\u{fffd}\n");
    assert_eq!(clean(b"cut \xf0\x9f\x91"), "cut \u{fffd}");
    assert_eq!(in_pieces(b"\xe2\x82a\xf0\x9f\x98\x80", 1), "\u{fffd}a😀");
}

#[test]
fn a_line_without_an_end_is_not_held() {
    let mut cleaner = Cleaner::default();
    let mut given = 0;
    for _ in 0..100 {
        cleaner.push(&[b'x'; 10_000], &mut |piece| given += piece.len());
        assert!(cleaner.line.capacity() <= 2 * LINE_HELD);
    }
    assert_eq!(given, 1_000_000);
    let mut after = String::new();
    cleaner.push(b"\rshort\x08\n", &mut |piece| after.push_str(piece));
    assert_eq!(after, "\nshor\n");
}

#[test]
fn a_long_line_comes_out_alike_in_all_pieces() {
    let raw = format!("{}\rnew\x08\x08{}\x08\x08\r\nend", "x".repeat(LINE_HELD + 7), "y".repeat(LINE_HELD));
    for length in [1, 1000, LINE_HELD - 1, LINE_HELD, LINE_HELD + 1, raw.len()] {
        assert_eq!(in_pieces(raw.as_bytes(), length), clean(&raw));
    }
}

fn terminal_output() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        any::<Vec<u8>>(),
        "\\PC{0,80}".prop_map(String::into_bytes),
        prop::sample::select(vec![
            "\x1b", "\x1b[", "\x1b]", "\x1bP", "\x1b\\", "\x07", "\r", "\n", "\r\n", "\x08", "\u{9b}"
        ])
        .prop_map(|text| text.as_bytes().to_vec()),
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn pieces_do_not_matter(raw in terminal_output(), length in 1usize..9) {
        prop_assert_eq!(in_pieces(&raw, length), clean(&raw));
    }

    #[test]
    fn nothing_a_terminal_would_act_on_is_left(raw in terminal_output()) {
        let text = clean(&raw);
        prop_assert!(text.chars().all(|char| !char.is_control() || char == '\n' || char == '\t'));
        prop_assert_eq!(clean(&text), text);
    }

    #[test]
    fn plain_text_stays(text in "(\\PC|\n|\t){0,300}") {
        prop_assert_eq!(clean(&text), text);
    }
}
