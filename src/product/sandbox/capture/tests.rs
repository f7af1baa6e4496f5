//! That a capture loses nothing but its middle, and that cutting it is the same as cutting the whole.

use proptest::prelude::*;

use super::*;
use crate::kernel::tool::Output;
use crate::kernel::truncate::fit;

fn capture(text: &str, piece: usize, limits: Limits) -> (Outcome, Option<String>) {
    masked(text, piece, limits, Mask::default())
}

fn masked(text: &str, piece: usize, limits: Limits, mask: Mask) -> (Outcome, Option<String>) {
    let folder = tempfile::tempdir().unwrap();
    let mut capture = Capture::new(limits, folder.path(), mask);
    for piece in text.as_bytes().chunks(piece) {
        capture.push(piece);
    }
    let mut outcome = capture.finish("exit code: 0");
    let path = std::mem::replace(&mut outcome.full_output, Ok(None)).unwrap();
    let spilled = path.map(|path| std::fs::read_to_string(path).unwrap());
    (outcome, spilled)
}

#[test]
fn a_flood_is_counted_and_both_ends_are_kept() {
    let text: String = (0..200_000).map(|number| format!("line {number} é\n")).collect();
    let limits = Limits { chars: 30_000, lines: 256 };
    let (outcome, spilled) = capture(&text, 64 * 1024, limits);
    assert_eq!(spilled.as_deref(), Some(text.as_str()));
    let Captured { head, gap, tail } = &outcome.text;
    let gap = gap.unwrap();
    assert!(text.starts_with(head.as_str()) && text.ends_with(tail.as_str()));
    assert!(head.len() + tail.len() < 300_000);
    assert_eq!(count_chars(head) + gap.chars + count_chars(tail), count_chars(&text));
    assert_eq!(count_breaks(head) + gap.line_breaks + count_breaks(tail), 200_000);
    let shown = fit(&Output { text: outcome.text, ..Output::default() }, limits);
    assert_eq!(shown.text, fit(&Output::ok(text), limits).text);
}

#[test]
fn short_output_leaves_no_file() {
    let limits = Limits { chars: 10, lines: 2 };
    for (text, spills) in [
        ("", false),
        ("a\nb\n", false),
        ("a\nb", false),
        ("a\nb\nc", true),
        ("0123456789", false),
        ("0123456789\n", true),
    ] {
        let (outcome, spilled) = capture(text, 3, limits);
        assert_eq!((outcome.text, spilled.is_some()), (Captured::whole(text), spills), "{text:?}");
    }
}

#[test]
fn the_last_line_is_the_one_being_drawn() {
    let mut capture = Capture::new(Limits { chars: 10, lines: 2 }, Path::new("/nonexistent"), Mask::default());
    assert_eq!(capture.last_line(), "");
    capture.push(b"Compiling a\n\n");
    assert_eq!(capture.last_line(), "Compiling a");
    capture.push(b" 10%\r 20%");
    assert_eq!(capture.last_line(), "20%");
}

#[test]
fn a_known_secret_reaches_neither_the_model_nor_the_file() {
    let text = "before\nkey=sk-\u{1b}[1m1234567890 after\n".repeat(40) + "and sk-12345";
    let limits = Limits { chars: 200, lines: 20 };
    for piece in [1, 7, 4096] {
        let (outcome, spilled) = masked(&text, piece, limits, Mask::new(["sk-1234567890"]));
        let kept = spilled.unwrap();
        assert!(kept.starts_with("before\nkey=[secret] after\nbefore\n") && kept.ends_with("\nand sk-12345"), "{kept}");
        let Captured { head, tail, .. } = &outcome.text;
        assert!([&kept, head, tail].iter().all(|text| !text.contains("sk-1234567890")));
    }
}

proptest! {
    #[test]
    fn cutting_a_capture_is_cutting_the_whole(
        text in "(\\PC|[a-c]{1,9}|\n|👩‍👩‍👧‍👦|e\u{301}){0,900}", piece in 1usize..400, chars in 0usize..200, lines in 0usize..40,
    ) {
        let limits = Limits { chars, lines };
        let (outcome, spilled) = capture(&text, piece, limits);
        let whole = fit(&Output::ok(&*text), limits);
        prop_assert_eq!(whole.truncated, spilled.is_some());
        prop_assert!(spilled.is_none_or(|spilled| spilled == text));
        prop_assert_eq!(fit(&Output { text: outcome.text, ..Output::default() }, limits), whole);
        let (again, _) = capture(&text, 7, limits);
        prop_assert_eq!(again.fingerprint, outcome.fingerprint);
    }
}
