//! `edit_file` on real files, and the seeds of `tests/corpus/edit`.

use proptest::prelude::*;

use super::*;
use crate::product::tool::fixture::Bench;

fn bench() -> Bench<EditFile> {
    Bench::new(|workspace, seen| EditFile::new(workspace, seen, LIMITS))
}

impl Bench<EditFile> {
    fn try_edits(&self, path: &str, edits: &serde_json::Value) -> (bool, String) {
        let output = self.call(json!({"path": path, "edits": edits}));
        (!output.is_error, output.text.head)
    }

    fn edit(&self, path: &str, pairs: &[(&str, &str)]) -> (bool, String) {
        self.try_edits(path, &edits(pairs))
    }
}

fn edits(pairs: &[(&str, &str)]) -> serde_json::Value {
    pairs.iter().map(|(old, new)| json!({"old_text": old, "new_text": new})).collect()
}

#[test]
fn the_result_is_a_summary_and_a_diff() {
    let bench = bench();
    let path = bench.file("f.txt", "one\ntwo\nthree\n");
    let (ok, text) = bench.edit("f.txt", &[("one", "1"), ("three", "3\n4")]);
    assert!(ok);
    insta::assert_snapshot!(text, @r"
    edited f.txt: 2 edits, +3 −2
    @@ -1,3 +1,4 @@
    -one
    +1
     two
    -three
    +3
    +4
    ");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "1\ntwo\n3\n4\n");
    assert_eq!(bench.seen.standing(&path, seen::hash(b"1\ntwo\n3\n4\n")), Standing::Current);
    assert_eq!(std::fs::read_dir(&bench.cwd).unwrap().count(), 1);
}

#[test]
fn all_or_nothing() {
    let bench = bench();
    let path = bench.file("f.txt", "one\ntwo\nthree\n");
    let refused = |pairs: &[(&str, &str)], words: &[&str]| {
        let (ok, text) = bench.edit("f.txt", pairs);
        assert!(!ok && words.iter().all(|word| text.contains(word)), "{text}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "one\ntwo\nthree\n");
    };
    refused(&[("one", "1"), ("absent", "x")], &["edits[1]", "absent", "not in the file"]);
    refused(&[("one\ntwo", "1"), ("two", "2")], &["edits[0] and edits[1] overlap on line 2"]);
    refused(&[("one", "alpha"), ("alpha", "beta")], &["what edits[0] would make"]);
    refused(&[("one\ntwo\n", "one\r\ntwo\n"), ("e", "x")], &["edits[1]", "3 times, on lines 1, 3, 3"]);
    refused(&[], &["at least one"]);
    refused(&[("", "x")], &["write_file"]);
    refused(&[("one", "one")], &["edits[0]", "equal"]);
}

#[test]
fn every_occurrence_is_replaced_only_when_asked() {
    let bench = bench();
    let path = bench.file("f.txt", "x = 1\ny = 2\nx = 1\n");
    let (ok, text) = bench.edit("f.txt", &[("x = 1", "x = 9")]);
    assert!(!ok && text.contains("2 times, on lines 1, 3"), "{text}");
    let (ok, text) =
        bench.try_edits("f.txt", &json!([{"old_text": "x = 1", "new_text": "x = 9", "replace_all": true}]));
    assert!(ok && text.starts_with("edited f.txt: 2 edits, +2 −2\n"), "{text}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "x = 9\ny = 2\nx = 9\n");
    let text = json!([{"old_text": "x = 9", "new_text": "x = 1", "replace_all": "true"}]).to_string();
    assert!(bench.try_edits("f.txt", &text.into()).0, "a list as a text");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "x = 1\ny = 2\nx = 1\n");
}

#[test]
fn odd_matches_are_told() {
    let bench = bench();
    bench.file("f.py", "if x:\r\n\treturn  1\r\n");
    let (ok, text) = bench.edit("f.py", &[("1\tif x:\n2\t    return 1\n", "1\tif x:\n2\t    return 2\n")]);
    assert!(ok && text.contains("edits[0] matched without the line numbers in it, but for tabs and spaces"), "{text}");
    assert_eq!(std::fs::read(bench.cwd.join("f.py")).unwrap(), b"if x:\r\n\treturn  2\r\n");
}

#[test]
fn bytes_that_are_no_text_survive() {
    let bench = bench();
    let path = bench.file("latin", b"\xef\xbb\xbfStra\xdfe = OLD\r\n\xff\xfe\n");
    let (ok, text) = bench.edit("latin", &[("OLD", "NEW")]);
    assert!(ok, "{text}");
    assert_eq!(std::fs::read(path).unwrap(), b"\xef\xbb\xbfStra\xdfe = NEW\r\n\xff\xfe\n");
    bench.file("wide", b"\xff\xfea\0");
    assert!(bench.edit("wide", &[("a", "b")]).1.contains("UTF-16"));
    bench.file("blob", b"a\0b");
    assert!(bench.edit("blob", &[("a", "b")]).1.contains("binary"));
    assert!(bench.edit("laton", &[("a", "b")]).1.contains("did you mean latin?"));
    std::fs::create_dir(bench.cwd.join("closed")).unwrap();
    bench.file("closed/key", "PRIVATE");
    let (ok, text) = bench.edit("closed/key", &[("P", "b")]);
    assert!(!ok && text == "reading closed/key is closed by sandbox.deny_read");
}

#[test]
fn no_second_encoding_comes_into_a_file() {
    let bench = bench();
    let path = bench.file("latin", b"one\ncaf\xe9 x\n");
    let (ok, text) = bench.edit("latin", &[("one", "1"), ("x", "5 \u{20ac}")]);
    assert!(!ok && text.contains("edits[1].new_text has `\u{20ac}`, but latin is not UTF-8 (see line 2)"), "{text}");
    assert_eq!(std::fs::read(&path).unwrap(), b"one\ncaf\xe9 x\n");
    assert!(bench.edit("latin", &[("x", "y")]).0);
    // A broken byte elsewhere does not make what is UTF-8 anything else.
    let path = bench.file("broken", b"\xff\n\xc3\xa9 = 1\n");
    assert!(bench.edit("broken", &[("\u{e9} = 1", "\u{e9} = 2")]).0);
    assert_eq!(std::fs::read(path).unwrap(), b"\xff\n\xc3\xa9 = 2\n");
    bench.file("utf", "caf\u{e9} x\n");
    assert!(bench.edit("utf", &[("x", "\u{20ac}")]).0);
}

#[test]
fn somebody_elses_change_is_shown_and_then_edited_on() {
    let bench = bench();
    let path = bench.file("f.txt", "alpha = 100\nbeta  = 2\n");
    bench.seen.record(&path, seen::hash(b"alpha = 1\nbeta  = 2\n"));
    let (ok, text) = bench.edit("f.txt", &[("beta = 2", "beta = 3")]);
    assert!(!ok && text.contains("has changed since") && text.contains("2\tbeta  = 2"), "{text}");
    bench.seen.record(&path, seen::hash(b"alpha = 1\nbeta  = 2\n"));
    let (ok, text) = bench.edit("f.txt", &[("alpha = 1\n", "alpha = 5\n")]);
    assert!(!ok && text.contains("1\talpha = 100"), "{text}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "alpha = 100\nbeta  = 2\n");
    let (ok, text) = bench.edit("f.txt", &[("alpha = 100", "alpha = 500")]);
    assert!(ok, "{text}");
    // The rest of what somebody changed was never shown: the whole file is not to be replaced yet.
    assert_eq!(bench.seen.standing(&path, seen::hash(b"alpha = 500\nbeta  = 2\n")), Standing::Glimpsed);
    std::fs::write(&path, "alpha = 500\nbeta = 7\n").unwrap();
    let (ok, text) = bench.edit("f.txt", &[("alpha = 500", "alpha = 6")]);
    assert!(ok && text.contains("changed by somebody else"), "{text}");
}

#[test]
fn many_problems_are_told_in_part() {
    let bench = bench();
    bench.file("f.txt", "one\n");
    let pairs: Vec<_> = ["q1", "q2", "q3", "q4", "q5"].into_iter().map(|old| (old, "x")).collect();
    let (ok, text) = bench.edit("f.txt", &pairs);
    assert!(!ok && text.contains("edits[2]") && !text.contains("edits[3]") && text.contains("2 more edits"), "{text}");
}

#[test]
fn what_would_grow_without_bound_is_refused() {
    let bench = bench();
    let all = |old: &str, new: &str| json!([{"old_text": old, "new_text": new, "replace_all": true}]);
    for (content, old) in [("a\n".repeat(100_000), "a"), ("a".repeat(100_000), "a"), ("a\r\n".repeat(1_000), "a\n")] {
        let path = bench.file("f.txt", &content);
        let (ok, text) = bench.try_edits("f.txt", &all(old, &format!("{}\n", "b".repeat(100_000))));
        assert!(!ok && text.contains("f.txt larger than the 32"), "{text}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), content);
    }
    let content = "a".repeat(MOST_PLACES + 1);
    bench.file("f.txt", &content);
    for edits in [all("a", "b"), edits(&[("a", "b")])] {
        let (ok, text) = bench.try_edits("f.txt", &edits);
        assert!(!ok && text.contains("more than 1,000,000 times"), "{text}");
    }
    bench.file("f.txt", &content[1..]);
    let (ok, text) = bench.try_edits("f.txt", &all("a", "b"));
    assert!(ok && text.starts_with("edited f.txt: 1,000,000 edits, +1 −1\n"), "{text}");
}

#[test]
fn a_permission_is_for_one_file() {
    let bench = bench();
    let theirs = bench.file("outside", "one\n");
    bench.link("name", "inside");
    let arguments = json!({"path": "name", "edits": edits(&[("one", "1")])});
    let arguments = arguments.as_object().unwrap();
    let subject = bench.tool.subject(arguments).unwrap();
    std::fs::remove_file(bench.cwd.join("name")).unwrap();
    bench.link("name", "outside");
    let told = bench.run_as(&bench.tool, arguments, &subject);
    assert!(told.is_error && told.text.head.starts_with("name leads elsewhere"), "{told:?}");
    assert_eq!(std::fs::read_to_string(theirs).unwrap(), "one\n");
}

#[test]
fn a_stopped_edit_changes_nothing() {
    let bench = bench();
    let path = bench.file("f.txt", "one\n");
    bench.cancel.cancel();
    assert_eq!(bench.edit("f.txt", &[("one", "1")]), (false, "stopped before f.txt was edited".to_owned()));
    assert_eq!(std::fs::read_to_string(path).unwrap(), "one\n");
}

/// Contents, edits and what has to come of them; each was once a doubt.
#[test]
fn the_corpus_is_replayed() {
    let bench = bench();
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/edit");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let seed: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        let content = seed["content"].as_str().unwrap();
        let name = format!("seed{count}");
        let file = bench.file(&name, content);
        let (ok, text) = bench.try_edits(&name, &seed["edits"]);
        let after = std::fs::read_to_string(file).unwrap();
        assert_eq!(after, seed["after"].as_str().unwrap_or(content), "{}: {text}", path.display());
        assert_eq!(ok, seed["after"].is_string(), "{}: {text}", path.display());
        for word in seed["told"].as_array().into_iter().flatten() {
            assert!(text.contains(word.as_str().unwrap()), "{}: {text}", path.display());
        }
        count += 1;
    }
    assert!(count >= 10);
}

proptest! {
    /// Whatever is asked of whatever bytes: those outside the pieces are those from before.
    #[test]
    fn bytes_outside_the_pieces_are_kept(
        before in proptest::collection::vec(prop_oneof![Just(b'a'), Just(b'\r'), Just(b'\n'), Just(b' '), any::<u8>()], 0..30),
        old in "[xyz\t \u{a0}\n]{1,12}", spelled in any::<u64>(), new in "[xyzw \r\n]{0,12}",
        after in proptest::collection::vec(prop_oneof![Just(b'b'), Just(b'\r'), Just(b'\n'), any::<u8>()], 0..30),
    ) {
        let old = format!("<{old}>");
        // The file spells blanks and line ends in its own way.
        let mut spelled = spelled;
        let mut inside = String::new();
        for c in old.chars() {
            let odd = spelled & 1 == 1;
            spelled >>= 1;
            match c {
                '\n' if odd => inside.push_str("\r\n"),
                ' ' if odd => inside.push('\t'),
                c => inside.push(c),
            }
        }
        let content = [before.as_slice(), inside.as_bytes(), after.as_slice()].concat();
        let source = Source::new(&content);
        if let Ok(found) = matching::find(&source, &old, &new, Scope::One) {
            let places = [found];
            let splices = splices(&source, &places, "f", &Cancel::new()).unwrap();
            prop_assert_eq!(splices.len(), 1);
            let result = changes::apply(&content, &splices);
            let span = splices[0].span.clone();
            prop_assert_eq!(&result[..span.start], &content[..span.start]);
            prop_assert_eq!(&result[result.len() - (content.len() - span.end)..], &content[span.end..]);
            // Words are those of the new text, in its order.
            let words = |text: &[u8]| text.iter().copied().filter(u8::is_ascii_graphic).collect::<Vec<_>>();
            prop_assert_eq!(words(&splices[0].text), words(new.as_bytes()));
            changes::describe(&content, &result, &splices);
        }
    }

    #[test]
    fn any_edit_of_any_file_has_an_answer(
        content in proptest::collection::vec(any::<u8>(), 0..60), pairs in proptest::collection::vec(("[ab \t\r\n]{1,4}", "[ab\n]{0,4}"), 1..4),
        all in any::<bool>(),
    ) {
        let edits: Vec<Edit> = pairs.into_iter()
            .map(|(old_text, new_text)| Edit { old_text, new_text, replace_all: Some(all) }).collect();
        let source = Source::new(&content);
        if let Ok(found) = find_all(&source, &edits, "f", Standing::Unknown, &Cancel::new())
            && let Ok(splices) = splices(&source, &found, "f", &Cancel::new())
        {
            let new = changes::apply(&content, &splices);
            report("f", Standing::Changed, &found, &changes::describe(&content, &new, &splices));
        }
    }
}
