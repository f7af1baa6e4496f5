//! What is kept, what the line between says, and what holds for every text.

use std::path::PathBuf;

use proptest::prelude::*;

use super::*;

fn limits(chars: usize, lines: usize) -> Limits {
    Limits { chars, lines }
}

fn fitted(text: &str, limits: Limits) -> String {
    fit(&Output::ok(text), limits).text
}

#[test]
fn what_fits_is_not_touched() {
    let output = Output { footer: Some("exit code: 0".into()), ..Output::ok("one\ntwo\n") };
    let all = Fitted { text: "one\ntwo\nexit code: 0".into(), truncated: false };
    assert_eq!(fit(&output, limits(8, 2)), all);
    assert!(fit(&output, limits(7, 2)).truncated && fit(&output, limits(8, 1)).truncated);
    assert_eq!(fitted("", limits(0, 0)), "");
    let silent = Output { footer: Some("exit code: 0".into()), ..Output::default() };
    assert_eq!(fit(&silent, limits(8, 2)).text, "exit code: 0");
}

#[test]
fn the_middle_goes_by_characters() {
    let output = Output {
        footer: Some("exit code: 1".into()),
        full_output: Some(PathBuf::from("/data/output/x.txt")),
        ..Output::ok(format!("{}THE END", "A".repeat(71_206)))
    };
    let fitted = fit(&output, limits(30_000, 256));
    let marker = "\n[... 41,213 of 71,213 characters omitted (lines 1–1 of 1); full output: /data/output/x.txt ...]\n";
    let (head, rest) = fitted.text.split_once(marker).unwrap();
    assert_eq!(head, "A".repeat(15_000));
    assert_eq!(rest, format!("{}THE END\nexit code: 1", "A".repeat(14_993)));
}

#[test]
fn what_could_not_be_kept_is_told() {
    let mut output = Output { not_kept: Some("no space left on the disk".into()), ..Output::ok("x".repeat(9)) };
    let marker = "[... 5 of 9 characters omitted (lines 1–1 of 1); the full output could not be kept: no space left on the disk ...]";
    assert_eq!(fit(&output, limits(4, 9)).text, format!("xx\n{marker}\nxx"));
    assert_eq!(fit(&output, limits(9, 9)).text, "x".repeat(9));
    output.not_kept = None;
    assert!(fit(&output, limits(4, 9)).text.contains("(lines 1–1 of 1) ...]"));
}

#[test]
fn then_by_lines() {
    let text: String = (1..=3000).map(|number| format!("row {number}\n")).collect();
    let shown = fitted(&text, limits(100_000, 4));
    assert_eq!(
        shown,
        "row 1\nrow 2\n[... 25,863 of 25,893 characters omitted (lines 3–2,998 of 3,000) ...]\nrow 2999\nrow 3000\n"
    );
    // Both passes cut, one line tells of both.
    let shown = fitted(&text, limits(500, 20));
    assert!(shown.contains("(lines 11–2,990 of 3,000)"), "{shown}");
    assert_eq!(shown.lines().count(), 21);
}

#[test]
fn a_gap_counts_as_what_it_was() {
    let gap = Some(Gap { chars: 1_000_000, line_breaks: 5000 });
    let text = Captured { head: "first\nsecond\nth".into(), gap, tail: "e end\nlast\n".into() };
    let shown = fit(&Output { text, ..Output::default() }, limits(100, 10)).text;
    assert_eq!(
        shown,
        "first\nsecond\nth\n[... 1,000,000 of 1,000,026 characters omitted (lines 3–5,003 of 5,004) ...]\ne end\nlast\n"
    );
}

#[test]
fn clusters_stay_whole() {
    let family = "👩‍👩‍👧‍👦";
    for shift in 0..8 {
        for budget in 20..40 {
            let shown = fitted(&format!("{}{}", "x".repeat(shift), family.repeat(20)), limits(budget, 5));
            let kept: String = shown.lines().filter(|line| !line.starts_with("[...")).collect();
            assert!(kept.replace(family, "").chars().all(|char| char == 'x'), "{shown}");
        }
    }
}

fn captured() -> impl Strategy<Value = Captured> {
    let text = || "(\\PC|[a-c]|\n|👩‍👩‍👧‍👦|e\u{301}|🇩🇪){0,60}";
    prop_oneof![
        text().prop_map(Captured::whole),
        (text(), 1u64..1000, 0u64..50, text()).prop_map(|(head, chars, line_breaks, tail)| Captured {
            head,
            gap: Some(Gap { chars, line_breaks: line_breaks.min(chars) }),
            tail
        }),
    ]
}

/// What holds for every text and every limit.
fn check(text: &Captured, limits: Limits) {
    let cut = Cut::new(text, limits);
    let all: String = [text.head.as_str(), text.tail.as_str()].concat();
    let gap = text.gap.unwrap_or(Gap { chars: 0, line_breaks: 0 });
    assert!(text.head.starts_with(cut.head));
    assert!(all.ends_with(cut.tail));
    let Some(omitted) = cut.omitted else {
        assert!(text.gap.is_none() && [cut.head, cut.tail].concat() == all);
        assert!(chars(&all) <= limits.chars as u64 && lines(&all) <= limits.lines as u64);
        return;
    };
    assert!(chars(cut.head) + chars(cut.tail) <= limits.chars as u64);
    assert!(lines(cut.head) + lines(cut.tail) <= limits.lines as u64);
    assert!(cut.head.len() + cut.tail.len() <= all.len(), "the ends do not overlap");
    assert_eq!(omitted.all_chars, chars(&all) + gap.chars);
    assert_eq!(omitted.chars, omitted.all_chars - chars(cut.head) - chars(cut.tail));
    assert!(omitted.chars > 0);
    assert!(1 <= omitted.first_line && omitted.first_line <= omitted.last_line);
    assert!(omitted.last_line <= omitted.all_lines.max(1));
}

#[test]
fn seeds_of_the_corpus_hold_too() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/corpus/truncate");
    let mut seeds = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        for max_chars in (0..=text.chars().count() + 3).step_by(1 + text.len() / 200) {
            for max_lines in [0, 1, 2, 3, 7, 1_000] {
                check(&Captured::whole(text.as_str()), limits(max_chars, max_lines));
                fitted(&text, limits(max_chars, max_lines));
            }
        }
        seeds += 1;
    }
    assert!(seeds >= 12, "the corpus is gone");
}

proptest! {
    #[test]
    fn budgets_are_kept_and_counts_add_up(text in captured(), max_chars in 0usize..80, max_lines in 0usize..20) {
        check(&text, limits(max_chars, max_lines));
    }

    #[test]
    fn one_line_between_and_the_footer_last(text in "(x|\n){0,200}", max_chars in 0usize..50, max_lines in 0usize..10) {
        let output = Output { footer: Some("exit code: 0".into()), ..Output::ok(text) };
        let fitted = fit(&output, limits(max_chars, max_lines));
        prop_assert_eq!(fitted.text.lines().last(), Some("exit code: 0"));
        let markers = fitted.text.lines().filter(|line| line.starts_with("[... ") && line.ends_with(" ...]")).count();
        prop_assert_eq!(markers, usize::from(fitted.truncated));
    }
}
