//! Files that several processes write, that were torn, that are too large; drafts of chats that are gone.

use std::os::unix::fs::PermissionsExt;
use std::time::Instant;

use tempfile::TempDir;

use super::drafts::{Drafts, Piece};
use super::*;

const SECRET: &str = "sk-1234567890";

fn history(folder: &TempDir, cwd: &str) -> History {
    History::new(folder.path().join("data").join(FILE), Path::new(cwd), Mask::new([SECRET]))
}

fn typed(text: &str) -> Vec<Piece> {
    vec![Piece::Typed(text.to_owned())]
}

fn texts(drafts: &[Vec<Piece>]) -> Vec<String> {
    let text = |piece: &Piece| match piece {
        Piece::Typed(text) | Piece::Pasted(text) | Piece::Picture(text) => text.clone(),
    };
    drafts.iter().map(|pieces| pieces.iter().map(text).collect()).collect()
}

fn file(folder: &TempDir) -> PathBuf {
    folder.path().join("data").join(FILE)
}

#[test]
fn what_was_typed_here_comes_first_from_the_end() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(texts(&history(&folder, "/a").load(10).unwrap()), [""; 0]);
    for (cwd, text) in
        [("/a", "one"), ("/b", "two"), ("/a", "three\nlines\n"), ("/b", "four"), ("/b", "four"), ("/b", " \n")]
    {
        history(&folder, cwd).add(&typed(text), 7).unwrap();
    }
    assert_eq!(texts(&history(&folder, "/a").load(10).unwrap()), ["two", "four", "one", "three\nlines\n"]);
    assert_eq!(texts(&history(&folder, "/b").load(10).unwrap()), ["one", "three\nlines\n", "two", "four"]);
    assert_eq!(texts(&history(&folder, "/c").load(2).unwrap()), ["three\nlines\n", "four"]);
    assert_eq!(texts(&history(&folder, "/c").load(0).unwrap()), [""; 0]);
    let mode = fs::metadata(file(&folder)).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let first = fs::read_to_string(file(&folder)).unwrap();
    assert_eq!(first.lines().next().unwrap(), r#"{"timestamp":7,"cwd":"/a","text":"one"}"#);
}

#[test]
fn what_was_pasted_is_still_that() {
    let folder = tempfile::tempdir().unwrap();
    let pasted = |text: &str| Piece::Pasted(text.to_owned());
    let mut history = history(&folder, "/a");
    let pieces = [Piece::Typed("explain ".to_owned()), pasted("!ä @b"), Piece::Typed(" ".to_owned()), pasted(SECRET)];
    history.add(&pieces, 7).unwrap();
    history.add(&[pasted("!ls")], 7).unwrap();
    history.add(&typed("!ls"), 7).unwrap();
    // A secret in two pieces.
    let (begin, rest) = SECRET.split_at(5);
    history.add(&[Piece::Typed(begin.to_owned()), pasted(rest)], 7).unwrap();
    let lines = fs::read_to_string(file(&folder)).unwrap();
    let line = r#"{"timestamp":7,"cwd":"/a","text":"explain !ä @b [secret]","pasted":[[8,14],[15,23]]}"#;
    assert_eq!(lines.lines().next().unwrap(), line);
    // Spans that are none.
    let odd = r#"{"timestamp":7,"cwd":"/a","text":"äb","pasted":[[1,2],[2,9],[2,1],[2,3],[0,2]]}"#;
    fs::write(file(&folder), format!("{lines}{odd}\n")).unwrap();
    let hidden =
        [Piece::Typed("explain ".to_owned()), pasted("!ä @b"), Piece::Typed(" ".to_owned()), pasted("[secret]")];
    let spans = vec![Piece::Typed("ä".to_owned()), pasted("b")];
    let expected = [hidden.to_vec(), vec![pasted("!ls")], typed("!ls"), vec![pasted("[secret]")], spans];
    assert_eq!(history.load(10).unwrap(), expected);
}

#[test]
fn of_pictures_the_path_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let mut history = history(&folder, "/a");
    let picture = |text: &str| Piece::Picture(text.to_owned());
    let pieces = [
        Piece::Typed("see ".to_owned()),
        picture("/shots/a.png"),
        picture("clipboard"),
        Piece::Pasted("!x".to_owned()),
        picture(&format!("/{SECRET}.png")),
    ];
    history.add(&pieces, 7).unwrap();
    // The same words without pictures are something else.
    history.add(&typed("see /shots/a.pngclipboard!x/[secret].png"), 7).unwrap();
    let lines = fs::read_to_string(file(&folder)).unwrap();
    assert!(
        lines.lines().next().unwrap().ends_with(r#""pasted":[[25,27]],"pictures":[[4,16],[16,25],[27,40]]}"#),
        "{lines}"
    );
    let [kept, other] = history.load(10).unwrap().try_into().unwrap();
    assert_eq!(kept[..4], pieces[..4]);
    assert_eq!((&kept[4], other.len()), (&picture("/[secret].png"), 1));
    let mut drafts = Drafts::new(folder.path().join("drafts"), Path::new("/a"), Mask::default());
    drafts.save(&pieces, 7).unwrap();
    drop(drafts);
    let mut drafts = Drafts::new(folder.path().join("drafts"), Path::new("/a"), Mask::default());
    assert_eq!(drafts.recover().unwrap(), pieces);
}

#[test]
fn secrets_and_very_long_texts_stay_out() {
    let folder = tempfile::tempdir().unwrap();
    let mut history = history(&folder, "/a");
    history.add(&typed(&format!("use {SECRET} please")), 0).unwrap();
    history.add(&typed(&"x".repeat(LONGEST_TEXT + 1)), 0).unwrap();
    assert_eq!(texts(&history.load(10).unwrap()), ["use [secret] please"]);
}

#[test]
fn broken_lines_are_passed_over() {
    let folder = tempfile::tempdir().unwrap();
    let mut history = history(&folder, "/a");
    history.add(&typed("first"), 0).unwrap();
    let mut bytes = fs::read(file(&folder)).unwrap();
    bytes.extend(b"garbage\n{\"text\":5}\n[1]\n\0\0\0\n{\"other\":true}\n\xff\xfe\n{\"timestamp\":1,\"cwd\":\"/a\",\"text\":\"to");
    fs::write(file(&folder), bytes).unwrap();
    fs::set_permissions(file(&folder), fs::Permissions::from_mode(0o644)).unwrap();
    history.add(&typed("second"), 0).unwrap();
    assert_eq!(texts(&history.load(100).unwrap()), ["first", "second"]);
    assert!(!files::is_open_to_others(&file(&folder)));
}

#[test]
fn many_writers_lose_nothing() {
    const WRITERS: usize = 4;
    const TEXTS: usize = 50;
    let folder = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            let mut history = history(&folder, "/a");
            scope.spawn(move || {
                (0..TEXTS).for_each(|text| history.add(&typed(&format!("{writer} {text}")), 0).unwrap());
            });
        }
    });
    let texts = texts(&history(&folder, "/a").load(1000).unwrap());
    assert_eq!(texts.len(), WRITERS * TEXTS);
    for writer in 0..WRITERS {
        let own: Vec<&String> = texts.iter().filter(|text| text.starts_with(&format!("{writer} "))).collect();
        assert_eq!(
            own,
            (0..TEXTS).map(|text| format!("{writer} {text}")).collect::<Vec<_>>().iter().collect::<Vec<_>>()
        );
    }
}

/// A file of so many entries, the first of them number 0.
fn filled(folder: &TempDir, count: usize, length: usize) {
    let line = |number| {
        let text = format!("{number} {}", "x".repeat(length));
        serde_json::to_string(&Entry::new(&typed(&text), 0, &format!("/{}", number % 3), &Mask::new([""; 0]))).unwrap()
            + "\n"
    };
    fs::create_dir_all(file(folder).parent().unwrap()).unwrap();
    fs::write(file(folder), (0..count).map(line).collect::<String>()).unwrap();
}

#[test]
fn a_file_with_too_many_entries_or_bytes_is_cut_back() {
    for (count, length) in [(MOST_ENTRIES, 10), (5000, 1000)] {
        let folder = tempfile::tempdir().unwrap();
        filled(&folder, count, length);
        let mut history = history(&folder, "/new");
        history.add(&typed("last"), 0).unwrap();
        let size = fs::metadata(file(&folder)).unwrap().len();
        let lines = fs::read_to_string(file(&folder)).unwrap().lines().count();
        assert!(lines <= MOST_ENTRIES * LEFT_PERCENT / 100 && lines > 2000, "{lines}");
        assert!(size <= MOST_BYTES * 4 / 5, "{size}");
        assert_eq!(texts(&history.load(usize::MAX).unwrap()).last().unwrap(), "last");
        history.add(&typed("more"), 0).unwrap();
        assert_eq!(fs::read_to_string(file(&folder)).unwrap().lines().count(), lines + 1);
    }
}

#[test]
fn ten_thousand_entries_are_read_in_an_instant() {
    let folder = tempfile::tempdir().unwrap();
    filled(&folder, MOST_ENTRIES, 200);
    let history = history(&folder, "/1");
    for limit in [USUAL_LIMIT, MOST_ENTRIES] {
        let begun = Instant::now();
        let texts = texts(&history.load(limit).unwrap());
        println!("{limit} of {MOST_ENTRIES} entries: {:?}", begun.elapsed());
        assert_eq!(texts.len(), limit);
        assert!(texts.last().unwrap().starts_with("9997 "));
        // A hundred times what it takes; tests run unoptimised beside others.
        assert!(begun.elapsed() < Duration::from_secs(3));
    }
}

#[test]
fn the_tail_is_cut_at_lines() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t");
    for (content, count, expected) in [
        ("", 3, ""),
        ("a\nb\nc\n", 2, "b\nc\n"),
        ("a\nb\nc", 2, "b\nc"),
        ("a\nb\nc", 3, "a\nb\nc"),
        ("a\nb\nc\n", 9, "a\nb\nc\n"),
        ("\n\n", 1, "\n"),
    ] {
        fs::write(&path, content).unwrap();
        assert_eq!(tail(&File::open(&path).unwrap(), count).unwrap(), expected.as_bytes(), "{content:?} {count}");
    }
    let long = format!("{}\n{}\nend\n", "x".repeat(BUFFER_BYTES), "y".repeat(BUFFER_BYTES - 4));
    fs::write(&path, &long).unwrap();
    for count in 1..4 {
        let lines: Vec<&str> = long.lines().rev().take(count).collect();
        let expected: String = lines.iter().rev().map(|line| format!("{line}\n")).collect();
        assert!(tail(&File::open(&path).unwrap(), count).unwrap() == expected.as_bytes(), "{count}");
    }
}

#[test]
fn something_else_in_its_place_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(file(&folder)).unwrap();
    let error = history(&folder, "/a").load(1).unwrap_err().to_string();
    assert!(error.ends_with("history.jsonl: expected a regular file"), "{error}");
    assert!(history(&folder, "/a").add(&typed("x"), 0).is_err());
}

fn drafts(folder: &TempDir, cwd: &str) -> Drafts {
    Drafts::new(folder.path().join("data").join(drafts::FOLDER), Path::new(cwd), Mask::new([SECRET]))
}

fn draft(text: &str) -> Vec<Piece> {
    vec![Piece::Typed(text.into()), Piece::Pasted("a\nb".into())]
}

#[test]
fn a_draft_outlives_its_chat() {
    let folder = tempfile::tempdir().unwrap();
    let mut first = drafts(&folder, "/a");
    assert_eq!(first.recover().unwrap(), []);
    assert!(!folder.path().join("data").exists(), "who writes nothing leaves nothing");
    first.save(&draft("one"), 1).unwrap();
    first.save(&draft(&format!("two {SECRET}")), 2).unwrap();
    assert_eq!(drafts(&folder, "/a").recover().unwrap(), [], "its chat is still there");
    assert_eq!(drafts(&folder, "/b").recover().unwrap(), []);
    drop(first);
    let mut second = drafts(&folder, "/a");
    assert_eq!(second.recover().unwrap(), draft("two [secret]"));
    second.clear().unwrap();
    second.clear().unwrap();
    drop(second);
    assert_eq!(drafts(&folder, "/a").recover().unwrap(), []);
}

#[test]
fn chats_side_by_side_keep_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let [mut one, mut two] = [drafts(&folder, "/a"), drafts(&folder, "/a")];
    one.save(&draft("one"), 0).unwrap();
    two.save(&draft("two"), 0).unwrap();
    one.save(&[], 0).unwrap();
    drop((one, two));
    let mut heir = drafts(&folder, "/a");
    assert_eq!(heir.recover().unwrap(), draft("two"));
    // It goes on in that file, and another chat takes the free one.
    heir.save(&draft("three"), 0).unwrap();
    drafts(&folder, "/a").save(&draft("four"), 0).unwrap();
    drop(heir);
    let [mut left, mut other] = [drafts(&folder, "/a"), drafts(&folder, "/a")];
    let mut found = [left.recover().unwrap(), other.recover().unwrap()];
    found.sort_by_key(|pieces| format!("{pieces:?}"));
    assert_eq!(found, [draft("four"), draft("three")]);
}

#[test]
fn what_is_no_draft_is_reported_and_kept() {
    let folder = tempfile::tempdir().unwrap();
    let mut chat = drafts(&folder, "/a");
    chat.save(&draft("x"), 0).unwrap();
    drop(chat);
    let path = fs::read_dir(folder.path().join("data/drafts")).unwrap().map(|entry| entry.unwrap().path());
    let path = path.into_iter().find(|path| path.extension().is_some_and(|ending| ending == "json")).unwrap();
    assert!(!files::is_open_to_others(&path));
    for content in ["{\"half", "{}", r#"{"cwd":"/a","timestamp":1,"pieces":[{"kind":"sung","text":"la"}]}"#] {
        fs::write(&path, content).unwrap();
        let mut chat = drafts(&folder, "/a");
        assert!(chat.recover().is_err());
        chat.save(&draft("new"), 0).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), content);
        chat.clear().unwrap();
    }
    let huge = vec![Piece::Pasted("x".repeat(5 << 20))];
    assert!(drafts(&folder, "/b").save(&huge, 0).unwrap_err().to_string().contains("above 4 MiB"));
}
