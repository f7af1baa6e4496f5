//! Tests of diffs: their pictures, what is read from text, that a diff applied is the new text.

use proptest::prelude::*;

use super::*;
use crate::front::repl::view::testing::{assert_committed, look, picture, styled, text};

const BEFORE: &str = "one\nnine\nten\neleven\ndivide() {\necho $(( $1 / $2 ))\n}\n";

/// What a reader of the diff would make of the old text.
fn applied(before: &str, diff: &Diff<'_>) -> String {
    let old: Vec<&str> = before.split_inclusive('\n').collect();
    let (mut after, mut at) = (String::new(), 0);
    for hunk in &diff.hunks {
        after.extend(old[at..hunk.old_start].iter().copied());
        at = hunk.old_start;
        for row in &hunk.rows {
            let line = format!("{}{}", row.text, if row.is_ended { "\n" } else { "" });
            if row.sign != Sign::Added {
                assert_eq!(old[at], line);
                at += 1;
            }
            if row.sign != Sign::Removed {
                after.push_str(&line);
            }
        }
    }
    after.extend(old[at..].iter().copied());
    after
}

fn painted(before: &str, after: &str, fold: Fold, width: usize) -> String {
    let lines = Diff::between(Some(before), after).lines(fold, Numbers::Shown, &look(width));
    assert_committed(&lines);
    picture(&lines)
}

#[test]
fn lines_have_one_column_of_numbers() {
    let after = BEFORE.replace("echo", "[ \"$2\" -ne 0 ] || exit 1\necho");
    insta::assert_snapshot!(painted(BEFORE, &after, Fold::Folded, 80), @r#"
    |       3    ten
    |       4    eleven
    |       5    divide() {
    |       6  + [ "$2" -ne 0 ] || exit 1
    |       7    echo $(( $1 / $2 ))
    |       8    }
    "#);
    insta::assert_snapshot!(painted(BEFORE, &after, Fold::Folded, 40), @r#"|    6 + [ "$2" -ne 0 ] || exit 1"#);
}

#[test]
fn words_that_differ_stand_out() {
    let diff = Diff::between(Some("let total = count(first);\n"), "let total = count(last);\n");
    insta::assert_snapshot!(styled(&diff.lines(Fold::Folded, Numbers::Hidden, &look(80))), @r"
    {dim:    }  {red:- }{red:let total = count(}{red bold underlined:first}{red:);}
    {dim:    }  {green:+ }{green:let total = count(}{green bold underlined:last}{green:);}
    ");
    let other = Diff::between(Some("alpha beta\n"), "nothing alike here\n");
    assert!(!styled(&other.lines(Fold::Folded, Numbers::Hidden, &look(80))).contains("underlined"));
}

#[test]
fn far_changes_have_a_gap_between_them() {
    let before: String = (1..=30).map(|number| format!("{number}\n")).collect();
    let after = before.replace("2\n3\n", "2\n3 x\n").replace("29\n", "");
    insta::assert_snapshot!(painted(&before, &after, Fold::Folded, 80), @r"
    |       1    1
    |       2    2
    |       3  - 3
    |       3  + 3 x
    |       4    4
    |       5    5
    |       6    6
    |      …
    |      26    26
    |      27    27
    |      28    28
    |      29  - 29
    |      29    30
    ");
    insta::assert_snapshot!(painted(&before, &after, Fold::Folded, 40), @r"
    |     3 - 3
    |     3 + 3 x
    |    …
    |    29 - 29
    ");
}

#[test]
fn what_cannot_be_seen_is_shown_in_changed_lines() {
    insta::assert_snapshot!(painted("a\n\tb\nc\u{1b}[2J\n", "a  \n\tb\nc\u{202e}", Fold::Folded, 80), @r"
    |       1  - a
    |       1  + a··
    |       2        b
    |       3  - c␛[2J
    |       3  + c⟨RLO⟩  (no line end)
    ");
    insta::assert_snapshot!(painted("a\r\nb\r\n", "a\nb\n", Fold::Folded, 80), @r"
    |       1  - a␍
    |       2  - b␍
    |       1  + a
    |       2  + b
    ");
    insta::assert_snapshot!(painted("a\r\nb\r\n", "a\r\nc\r\n", Fold::Folded, 80), @r"
    |       1    a
    |       2  - b
    |       2  + c
    ");
}

#[test]
fn a_long_diff_is_folded() {
    let before: String = (1..=142).map(|number| format!("{number}\n")).collect();
    let shown = painted(&before, "", Fold::Folded, 80);
    assert_eq!(shown.lines().count(), 31);
    assert!(shown.ends_with("\n|      … 112 more lines, ctrl-o shows all"), "{shown}");
    assert_eq!(painted(&before, "", Fold::Whole, 80).lines().count(), 142);
    let new = Diff::between(None, &before).lines(Fold::New, Numbers::Shown, &look(40));
    assert!(text(&new).ends_with("    10 + 10\n    … 132 more lines, ctrl-o shows all"), "{}", text(&new));
    let minified = painted("", &"x".repeat(100_000), Fold::Whole, 80);
    assert!(minified.len() < 3_000 && minified.contains("x…"));
}

#[test]
fn a_unified_diff_is_read() {
    let told = "edited f: 1 edit, +2 −1\n@@ -1,3 +1,4 @@\n one\n-two\n+2\n+zwei\n three\n@@ -9,1 +10,0 @@\n-nine\n\
                \\ No newline at end of file\n(more)\n-no row";
    let diff = Diff::parse(told);
    assert_eq!((diff.added, diff.removed, diff.hunks.len()), (2, 2, 2));
    let lines = diff.lines(Fold::Folded, Numbers::Shown, &look(80));
    insta::assert_snapshot!(picture(&lines), @r"
    |       1    one
    |       2  - two
    |       2  + 2
    |       3  + zwei
    |       4    three
    |      …
    |       9  - nine  (no line end)
    ");
    for broken in
        ["", "@@ -x,1 +1 @@\n+a", "@@ -1,99999999999999999999 +1 @@\n a", "@@ -18446744073709551615,1 +1,1 @@\n-a\n+b"]
    {
        Diff::parse(broken).lines(Fold::Whole, Numbers::Shown, &look(80));
    }
}

#[test]
fn large_texts_take_a_bounded_time() {
    let line = |number: usize, salt: usize| format!("{} {}\n", number * 31 % 977, number * salt);
    let before: String = (0..30_000).map(|number| line(number, 7)).collect();
    let after: String = (0..30_000).map(|number| line(number, 11)).collect();
    let diff = Diff::between(Some(&before), &after);
    assert_eq!(applied(&before, &diff), after);
}

proptest! {
    #[test]
    fn a_diff_applied_is_the_new_text(before in "[ab\r\n]{0,40}", after in "[abc\n]{0,40}") {
        prop_assert_eq!(applied(&before, &Diff::between(Some(&before), &after)), after);
    }

    #[test]
    fn any_diff_can_be_committed(before in "([ab \t\r\n]|\\PC|\\pC){0,30}", after in "([ab \t\r\n]|\\PC|\\pC){0,30}", width in 0usize..100) {
        let diff = Diff::between(Some(&before), &after);
        assert_committed(&diff.lines(Fold::Folded, Numbers::Shown, &look(width)));
        let lines = diff.lines(Fold::Whole, Numbers::Hidden, &look(width));
        assert_committed(&lines);
        prop_assert_eq!(width < 60 || before == after || !lines.is_empty(), true);
    }

    #[test]
    fn any_text_is_read_as_a_diff(told in "(@@ -[0-9]{1,2},[0-9] \\+[0-9],[0-9] @@\n|[-+ \\\\]\\PC{0,5}\n|\\PC{0,5}\n){0,12}") {
        assert_committed(&Diff::parse(&told).lines(Fold::Folded, Numbers::Shown, &look(80)));
    }
}
