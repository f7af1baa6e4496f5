//! What the model is told for which tools, and that it stays short.

use super::*;
use proptest::prelude::*;

const ALL: [&str; 7] =
    ["read_file", "list_files", "find_files", "search_files", "write_file", "edit_file", "execute_bash"];

#[test]
fn the_whole_prompt() {
    insta::assert_snapshot!(system(&ALL, Size::Full, None, &[], None));
}

#[test]
fn a_session_that_only_reads_hears_nothing_of_writing() {
    insta::assert_snapshot!(system(&ALL[..4], Size::Full, None, &[], None));
}

#[test]
fn a_session_without_tools_hears_of_none() {
    let text = system(&[], Size::Full, None, &[], None);
    assert!(text.contains("No tools are offered") && !text.contains('_'), "{text}");
}

#[test]
fn only_a_session_of_readers_is_told_that_it_cannot_change_anything() {
    let told = |offered: &[&str]| system(offered, Size::Full, None, &[], None).contains("not change anything");
    assert!(told(&["read_file", "list_files"]));
    assert!(!told(&["read_file", "mcp__tracker__close"]) && !told(&ALL) && !told(&[]));
}

#[test]
fn own_text_replaces_or_follows() {
    assert_eq!(system(&ALL, Size::Full, Some(" You keep a lighthouse.\n"), &[], None), "You keep a lighthouse.");
    assert_eq!(system(&ALL, Size::Full, Some("Keep it."), &[], Some("In rhymes.\n")), "Keep it.\n\nIn rhymes.");
    assert_eq!(system(&ALL, Size::Full, Some(""), &[], Some("In rhymes.")), "In rhymes.");
    let built_in = system(&ALL, Size::Full, None, &[], None);
    assert_eq!(system(&ALL, Size::Full, None, &[], Some("In rhymes.")), format!("{built_in}\n\nIn rhymes."));
    assert_eq!(system(&ALL, Size::Full, None, &[], Some(" \n")), built_in);
}

#[test]
fn the_lean_prompt_names_no_tool() {
    let text = system(&ALL, Size::Lean, None, &[], Some("In rhymes."));
    assert!(text.ends_with("\n\nIn rhymes.") && !ALL.iter().any(|name| text.contains(name)), "{text}");
    assert_eq!(system(&ALL, Size::Lean, Some("Keep it."), &[], None), "Keep it.");
}

#[test]
fn own_text_is_cut_and_says_so() {
    let long = "ß".repeat(OWN_TEXT_CHARS + 1);
    let text = system(&[], Size::Full, Some(&long), &[], None);
    assert!(text.ends_with("ß\n[... cut after 50000 characters]"));
    assert_eq!(text.matches('ß').count(), OWN_TEXT_CHARS);
}

#[test]
fn fragments_are_tidy() {
    for fragment in FRAGMENTS.iter().chain([&LEAN]) {
        let text = fragment.text;
        assert!(text.ends_with('\n') && !text.ends_with("\n\n") && text.is_ascii(), "{text}");
        assert!(text.lines().all(|line| !line.ends_with(' ')), "{text}");
    }
}

proptest! {
    #[test]
    fn no_tool_is_named_that_is_not_offered(offered in prop::sample::subsequence(ALL.to_vec(), 0..=ALL.len())) {
        let text = system(&offered, Size::Full, None, &[], None);
        for name in ALL.iter().filter(|name| !offered.contains(name)) {
            prop_assert!(!text.contains(name), "{name} in {text}");
        }
        prop_assert!(text.len() <= BUILT_IN_BYTES);
        prop_assert!(!text.contains("\n\n\n") && !text.ends_with('\n'));
        for section in text.split("\n\n").skip(1) {
            prop_assert!(section.starts_with("# ") && section.lines().count() > 1, "{section}");
        }
        let mut reversed = offered.clone();
        reversed.reverse();
        prop_assert_eq!(text, system(&reversed, Size::Full, None, &[], None));
    }
}
