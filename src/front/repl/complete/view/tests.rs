//! What lists look like.

use super::*;
use crate::front::repl::complete::word::{self, Word};
use crate::front::repl::complete::{Candidate, Then};
use crate::front::repl::editor::draft::Draft;
use crate::front::repl::view::theme::{Glyphs, Theme};
use proptest::prelude::*;
use ratatui::style::Modifier;

fn look(width: usize) -> Look {
    Look { theme: Theme::ansi(), glyphs: Glyphs::UNICODE, width }
}

fn word(text: &str) -> Word {
    word::at(&Draft::typed(text), text.len()).unwrap()
}

fn text(lines: &[Line<'_>]) -> String {
    let line = |line: &Line<'_>| line.spans.iter().map(|span| span.content.as_ref()).collect::<String>();
    lines.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn commands() -> Completion {
    let rows = [
        ("model", "choose a model", "sonnet-4-5"),
        ("models", "list what is available", ""),
        ("effort", "how hard the model thinks", "high"),
        ("permissions", "what is done without asking", "write"),
        ("context", "what the model is sent, and what takes how much", ""),
        ("copy", "copy the last answer as it was written", ""),
        ("cost", "tokens and money so far", "$0.02"),
    ];
    let candidate = |(name, help, value): (&str, &str, &str)| Candidate {
        help: help.to_owned(),
        value: value.to_owned(),
        ..Candidate::new(name, Then::Whole)
    };
    Completion::of(word("/"), rows.map(candidate).to_vec())
}

fn paths(names: &[&str], query: &str) -> Completion {
    let mut completion = Completion::paths(word(query));
    let row = |name: &&str| Row { candidate: Candidate::new(*name, Then::Words), matched: vec![0, 1] };
    completion.found(names.iter().map(row).collect(), 1234, Extent::Growing);
    completion
}

#[test]
fn a_list_at_three_widths() {
    let mut list = commands();
    list.down();
    insta::assert_snapshot!(text(&rows(&list, &look(40))), @"
      /model         sonnet-4-5
    ▸ /models
      /effort              high
      /permissions        write
      /context
      … 2 more
    ");
    insta::assert_snapshot!(text(&rows(&list, &look(80))), @"
      /model         choose a model                                    sonnet-4-5
    ▸ /models        list what is available
      /effort        how hard the model thinks                               high
      /permissions   what is done without asking                            write
      /context       what the model is sent, and what takes how much
      … 2 more
    ");
    insta::assert_snapshot!(text(&rows(&list, &look(120))), @"
      /model         choose a model                                    sonnet-4-5
    ▸ /models        list what is available
      /effort        how hard the model thinks                               high
      /permissions   what is done without asking                            write
      /context       what the model is sent, and what takes how much
      … 2 more
    ");
    list.up();
    list.up();
    insta::assert_snapshot!(text(&rows(&list, &look(60))), @"
      /effort        how hard the model thinks              high
      /permissions   what is done without asking           write
      /context       what the model is sent, and what t…
      /copy          copy the last answer as it was wri…
    ▸ /cost          tokens and money so far               $0.02
    ");
}

#[test]
fn paths_keep_their_ends() {
    let list = paths(
        &["src/front/repl/complete/index/listing.rs", "a\tb\u{1b}[2J", "天天天天天天天天天天天天天天天天天天.rs"],
        "@a",
    );
    insta::assert_snapshot!(text(&rows(&list, &look(30))), @"
    ▸ …l/complete/index/listing.rs
      a b␛[2J
      …天天天天天天天天天天天天.rs
      … 1,231 more so far
    ");
    assert!(rows(&paths(&[], "@"), &look(80)).is_empty());
}

#[test]
fn the_chosen_row_and_what_was_looked_for_stand_out() {
    let lines = rows(&paths(&["main.rs", "map"], "@ma"), &look(80));
    assert!(lines[0].spans.iter().all(|span| span.style.add_modifier.contains(Modifier::BOLD)));
    let underlined: Vec<_> =
        lines[1].spans.iter().filter(|span| span.style.add_modifier.contains(Modifier::UNDERLINED)).collect();
    assert_eq!(underlined.iter().map(|span| span.content.as_ref()).collect::<Vec<_>>(), ["ma"]);
}

proptest! {
    #[test]
    fn rows_fit_whatever_is_in_them(
        names in prop::collection::vec(("[\\PC\\pC]{0,20}", "\\PC{0,40}", "\\PC{0,12}"), 1..9),
        width in 0usize..100,
        places in prop::collection::btree_set(0usize..40, 0..5),
        down in 0usize..9,
    ) {
        let matched: Vec<_> = places.into_iter().collect();
        let row = |(name, help, value): &(String, String, String)| Row {
            candidate: Candidate { help: help.clone(), value: value.clone(), ..Candidate::new(name.clone(), Then::Words) },
            matched: matched.clone(),
        };
        let mut list = Completion::paths(word("@"));
        list.found(names.iter().map(row).collect(), 2000, Extent::Capped);
        (0..down).for_each(|_| list.down());
        let lines = rows(&list, &look(width));
        prop_assert!(lines.len() <= ROWS + 1);
        for line in &lines {
            prop_assert!(line_width(line) <= width, "{} of {width}: {line:?}", line_width(line));
            prop_assert!(line.spans.iter().all(|span| !span.content.contains(char::is_control)));
        }
    }
}
