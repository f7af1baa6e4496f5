//! Lists of candidates, and what choosing one does to a draft.

use super::*;
use crate::front::repl::editor::draft::Draft;
use proptest::prelude::*;

fn commands() -> Vec<Candidate> {
    let of = |text: &str, then| Candidate { help: format!("about {text}"), ..Candidate::new(text, then) };
    let mut exit = of("exit", Then::Whole);
    exit.aliases = vec!["quit".to_owned(), "q".to_owned()];
    vec![
        of("help", Then::Whole),
        of("resume", Then::Words),
        of("sessions", Then::Whole),
        of("theme", Then::Words),
        exit,
    ]
}

/// A list for the word at the `|`.
fn listed(marked: &str, candidates: Vec<Candidate>) -> (String, Completion) {
    let caret = marked.find('|').unwrap();
    let text = marked.replace('|', "");
    let word = word::at(&Draft::typed(text.clone()), caret).unwrap();
    let completion = match word.kind {
        Kind::Path => {
            let mut completion = Completion::paths(word);
            let rows: Vec<_> = candidates.into_iter().map(|candidate| Row { candidate, matched: Vec::new() }).collect();
            let total = rows.len();
            completion.found(rows, total, Extent::All);
            completion
        }
        Kind::Command | Kind::Argument(_) => Completion::of(word, candidates),
    };
    (text, completion)
}

fn names(completion: &Completion) -> Vec<&str> {
    completion.rows().iter().map(|row| row.candidate.text.as_str()).collect()
}

/// The draft after a choice, with the caret as `|`, and what follows.
fn chosen((text, completion): &(String, Completion), by: By) -> String {
    let Some(Accepted { range, text: new, caret, next }) = completion.accept(by) else { return "as it is".to_owned() };
    let mut draft = text.clone();
    draft.replace_range(range, &new);
    draft.insert(caret, '|');
    format!("{draft} {next:?}")
}

fn path(text: &str) -> Vec<Candidate> {
    vec![Candidate::new(text, if text.ends_with('/') { Then::Inside } else { Then::Words })]
}

#[test]
fn names_that_begin_with_the_word_come_first() {
    let of = |text: &str| listed(text, commands()).1;
    assert_eq!(names(&of("/|")), ["help", "resume", "sessions", "theme", "exit"]);
    assert_eq!(names(&of("/e|")), ["exit"]);
    assert_eq!(names(&of("/Q|")), ["exit"]);
    assert_eq!(names(&of("/sm|")), ["resume"], "letters in order");
    assert_eq!(names(&of("/ses|")), ["sessions"]);
    assert_eq!(of("/ses|").rows()[0].matched, [0, 1, 2]);
    assert!(names(&of("/zzz|")).is_empty());
    let mut used = commands();
    used[3].used = Some(0);
    assert_eq!(names(&listed("/|", used).1), ["theme", "help", "resume", "sessions", "exit"]);
}

#[test]
fn a_choice_replaces_the_word() {
    for (marked, candidates, tab, enter) in [
        ("/he|", commands(), "/help| Close", "/help| Submit"),
        ("/q|", commands(), "/exit| Close", "as it is"),
        ("/EXIT|", commands(), "/exit| Close", "as it is"),
        ("/qu|", commands(), "/exit| Close", "/exit| Submit"),
        ("/xt|", commands(), "/exit| Close", "/exit| Close"),
        ("/|", commands(), "/help| Close", "/help| Close"),
        ("/res|", commands(), "/resume | Complete", "/resume | Complete"),
        ("/re| x", commands(), "/resume |x Complete", "/resume |x Complete"),
        ("/theme da|", vec![Candidate::new("dark", Then::Whole)], "/theme dark| Close", "/theme dark| Submit"),
        ("/theme |", vec![Candidate::new("dark", Then::Whole)], "/theme dark| Close", "as it is"),
        ("see @ma|", path("src/main.rs"), "see @src/main.rs | Close", "see @src/main.rs | Close"),
        ("see @ma|in ok", path("src/main.rs"), "see @src/main.rs |ok Close", "see @src/main.rs |ok Close"),
        ("see @src/main.rs|", path("src/main.rs"), "see @src/main.rs | Close", "as it is"),
        ("@s|", path("src/"), "@src/| Complete", "@src/| Complete"),
        ("@m|", path("my dir/"), "@\"my dir/|\" Complete", "@\"my dir/|\" Complete"),
        (
            "@\"my dir/f|\"",
            path("my dir/a \"b\""),
            "@\"my dir/a \\\"b\\\"\" | Close",
            "@\"my dir/a \\\"b\\\"\" | Close",
        ),
        ("ä @ö|", path("天\u{1b}\n"), "ä @\"天\u{1b}\\n\" | Close", "ä @\"天\u{1b}\\n\" | Close"),
    ] {
        let list = listed(marked, candidates);
        assert_eq!([chosen(&list, By::Tab), chosen(&list, By::Enter)], [tab, enter], "{marked}");
    }
    assert_eq!(chosen(&listed("/zzz|", commands()), By::Enter), "as it is");
}

#[test]
fn a_row_that_was_gone_to_is_meant() {
    let (text, mut list) = listed("/|", commands());
    list.up();
    assert_eq!(list.selected(), 4);
    list.down();
    list.down();
    assert_eq!(chosen(&(text.clone(), list.clone()), By::Enter), "/resume | Complete");
    list.down();
    assert_eq!(chosen(&(text, list), By::Enter), "/sessions| Submit");
    let (_, mut empty) = listed("/zzz|", commands());
    empty.up();
    empty.down();
    assert_eq!((empty.selected(), empty.accept(By::Tab)), (0, None));
}

#[test]
fn rows_stay_until_better_ones_are_found() {
    let rows = |names: &[&str]| -> Vec<Row> {
        names.iter().map(|name| Row { candidate: path(name).remove(0), matched: Vec::new() }).collect()
    };
    let word = |text: &str| word::at(&Draft::typed(text), text.len()).unwrap();
    let mut list = Completion::paths(word("@"));
    assert_eq!((list.accept(By::Enter), list.extent()), (None, Extent::Growing));
    list.found(rows(&["src/", "main.rs", "maze"]), 500, Extent::All);
    assert_eq!((list.total(), list.extent()), (500, Extent::All));
    assert!(list.is_for(&word("@ma")) && !list.is_for(&word("a @ma")) && !list.is_for(&word("/")));
    list.retype(word("@ma"));
    assert_eq!((names(&list), list.extent()), (vec!["main.rs", "maze"], Extent::Growing));
    assert_eq!(list.rows()[0].matched, [0, 1]);
    list.down();
    list.found(rows(&["mad", "maze", "main.rs"]), 3, Extent::All);
    assert_eq!(list.selected(), 1, "still the row that was gone to");
    list.found(rows(&["mad"]), 1, Extent::All);
    assert_eq!(list.selected(), 0);
}

proptest! {
    #[test]
    fn exactly_the_candidate_stands_there(
        before in "([a-zä]{1,3} ){0,2}",
        typed in "[a-z/]{0,4}",
        behind in "( [a-z]{1,3})?",
        chosen in "[\\PC\\pC]{1,10}|[ab\"\\\\ @\n/]{1,8}",
    ) {
        let marked = format!("{before}@{typed}|{behind}");
        prop_assume!(!chosen.contains('|'));
        let (text, list) = listed(&marked, path(&chosen));
        let accepted = list.accept(By::Tab).unwrap();
        let mut draft = text.clone();
        draft.replace_range(accepted.range.clone(), &accepted.text);
        prop_assert!(draft.is_char_boundary(accepted.caret));
        let mentions = mention::all(&draft);
        prop_assert_eq!(mentions.len(), 1);
        prop_assert_eq!(&mentions[0].path, &chosen);
        prop_assert!(draft.starts_with(&before) && draft.ends_with(&behind));
        if chosen.ends_with('/') {
            let word = word::at(&Draft::typed(draft), accepted.caret).unwrap();
            prop_assert_eq!(word.query, chosen);
        }
    }

    #[test]
    fn ranking_is_stable_and_loses_nothing(names in prop::collection::vec("[a-cA ä]{1,4}", 0..12), query in "[a-cA]{0,3}") {
        let candidates: Vec<_> = names.iter().enumerate().map(|(at, name)| Candidate {
            help: at.to_string(), ..Candidate::new(name.clone(), Then::Whole)
        }).collect();
        let (_, list) = listed(&format!("/{query}|"), candidates.clone());
        let again = listed(&format!("/{query}|"), candidates).1;
        prop_assert_eq!(list.rows(), again.rows());
        if query.is_empty() {
            prop_assert_eq!(list.rows().len(), names.len());
        }
        let place = |row: &Row| row.candidate.help.parse::<usize>().unwrap();
        for pair in list.rows().windows(2) {
            // The same name twice stays in its order.
            prop_assert!(pair[0].candidate.text != pair[1].candidate.text || place(&pair[0]) < place(&pair[1]));
        }
    }
}
