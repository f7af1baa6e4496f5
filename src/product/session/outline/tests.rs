//! Files in, trees out.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn of_text(text: &str) -> Outline {
    let find = |hash: &str| (hash == "ab").then(|| b"long  text".to_vec());
    let mut scan = Scan::new(&find);
    let mut reader = Reader::new(text.as_bytes(), 0);
    while let Some(record) = reader.read::<Links>().unwrap() {
        scan.add(record.value, record.text);
    }
    scan.outline()
}

fn of_lines(lines: &[Value]) -> Outline {
    of_text(&lines.iter().map(|line| format!("{line}\n")).collect::<String>())
}

fn said(id: u64, parent: Option<u64>, role: &str, text: &str) -> Value {
    json!({"type": "message", "id": id, "parent_id": parent, "timestamp": id * 1000, "role": role,
           "content": [{"type": "text", "text": text}]})
}

fn calls(id: u64, parent: u64, names: &[&str]) -> Value {
    let content: Vec<Value> =
        names.iter().map(|name| json!({"type": "tool_use", "id": "c", "name": name, "input": {"text": "x"}})).collect();
    json!({"type": "message", "id": id, "parent_id": parent, "role": "assistant", "content": content})
}

fn result(id: u64, parent: u64) -> Value {
    json!({"type": "message", "id": id, "parent_id": parent, "role": "tool",
           "content": [{"type": "tool_result", "tool_use_id": "c", "content": [{"type": "text", "text": "out"}]}]})
}

/// Each entry: its id, its parent's place, its text, and a mark if it is present.
fn shown(outline: &Outline) -> Vec<String> {
    let entry = |entry: &Entry| {
        let mark = if entry.is_present { "*" } else { "" };
        let parent = entry.parent.map_or_else(|| "-".to_owned(), |parent| parent.to_string());
        format!("{}<{parent} {}{mark}", entry.id, entry.text)
    };
    outline.entries.iter().map(entry).collect()
}

#[test]
fn branches_are_shown_with_where_it_stands_and_results_are_part_of_their_calls() {
    let mut lines = vec![
        json!({"type": "session", "version": 1, "id": "x"}),
        said(1, None, "user", " fix\n  it "),
        calls(2, 1, &["read_file", "edit_file", "read_file"]),
        result(3, 2),
        result(4, 3),
        json!({"type": "checkpoint", "id": 5, "entry_id": 1, "ref": "r"}),
        said(6, Some(4), "assistant", "done"),
        said(7, Some(6), "user", "and more"),
        json!({"type": "leaf", "target_id": 4}),
        said(8, Some(4), "assistant", "otherwise"),
        json!({"type": "label", "target_id": 6, "label": "good"}),
        json!({"type": "label", "target_id": 8, "label": "bad"}),
        json!({"type": "label", "target_id": 8}),
    ];
    let outline = of_lines(&lines);
    assert_eq!(shown(&outline), ["1<- fix it*", "2<0 *", "6<1 done", "7<2 and more", "8<1 otherwise*"]);
    assert_eq!(outline.here, Some(4));
    let calling = &outline.entries[1];
    let tools: Vec<_> = calling.tools.iter().map(|(name, times)| (name.as_ref(), *times)).collect();
    assert_eq!((tools, calling.before, calling.end), (vec![("read_file", 2), ("edit_file", 1)], Some(1), 4));
    assert_eq!((outline.entries[2].label.as_deref(), outline.entries[4].label.as_deref()), (Some("good"), None));
    assert_eq!(outline.entries[2].before, Some(4), "a result is where it stood");
    assert_eq!((outline.left_behind(Some(3)), outline.left_behind(Some(0)), outline.left_behind(None)), (1, 2, 3));

    lines.push(json!({"type": "leaf", "target_id": 3}));
    let outline = of_lines(&lines);
    assert_eq!((outline.here, outline.left_behind(Some(4))), (Some(1), 0));
    lines.push(json!({"type": "leaf", "target_id": null}));
    let outline = of_lines(&lines);
    assert!(outline.here.is_none() && outline.entries.iter().all(|entry| !entry.is_present));
}

#[test]
fn summaries_and_what_a_later_version_wrote() {
    let outline = of_lines(&[
        said(1, None, "user", "one"),
        json!({"type": "summary", "id": 2, "parent_id": 1, "text": "so far", "first_kept_id": 1}),
        json!({"type": "news", "id": 3, "parent_id": 2}),
        said(4, Some(3), "wizard", "abracadabra"),
        said(5, Some(4), "user", "two"),
        json!({"type": "message", "id": 6, "parent_id": 5, "role": "user",
               "content": [{"type": "text", "text": "context"}, {"type": "text", "blob": "ab"}, {"type": "image"}]}),
    ]);
    assert_eq!(shown(&outline), ["1<- one*", "2<0 so far*", "5<1 two*", "6<2 long text*"]);
    assert_eq!((outline.entries[1].who, outline.entries[1].end), (Who::Summary, 4));
}

#[test]
fn a_message_is_found_again() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let blobs = Blobs::new(Path::new("/nowhere"));
    let lines = [said(1, None, "user", "one"), said(2, Some(1), "user", "two")];
    std::fs::write(file.path(), lines.map(|line| format!("{line}\n")).concat() + "torn").unwrap();
    assert_eq!(message(file.path(), 1, &blobs).unwrap(), Some(Message::user("one")));
    assert_eq!(message(file.path(), 9, &blobs).unwrap(), None);
    let outline = of(file.path(), &blobs).unwrap();
    assert_eq!(
        (outline.said_after(Some(1)), outline.said_after(None), outline.said_after(Some(2))),
        (Some(1), Some(0), None)
    );
    assert!(of(&file.path().join("none"), &blobs).is_err());
}

#[test]
fn a_long_session_takes_a_moment_and_little_memory() {
    let mut text = String::new();
    let long = "word ".repeat(400);
    for id in 1..=30_000u64 {
        let role = if id % 2 == 1 { "user" } else { "assistant" };
        let _ = writeln!(text, "{}", said(id, id.checked_sub(1).filter(|id| *id > 0), role, &long));
    }
    let begun = Instant::now();
    let outline = of_text(&text);
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    assert_eq!(outline.entries.len(), 30_000);
    let kept = |place: usize| outline.entries[place].text.chars().count();
    assert!(kept(0) <= TEXT_CHARS + 1 && kept(29_999) <= LEAN_CHARS + 1, "{} {}", kept(0), kept(29_999));
}

proptest! {
    #[test]
    fn whatever_the_lines_are_it_is_a_tree(
        lines in prop::collection::vec((0u64..9, prop::option::of(0u64..9), 0..5u8, "\\PC{0,6}"), 0..30),
    ) {
        let line = |(id, parent, kind, text): &(u64, Option<u64>, u8, String)| match kind {
            0 => said(*id, *parent, "user", text),
            1 => said(*id, *parent, "assistant", text),
            2 => result(*id, parent.unwrap_or(0)),
            3 => json!({"type": "leaf", "target_id": parent}),
            _ => json!({"type": "label", "target_id": id, "label": text}),
        };
        let outline = of_lines(&lines.iter().map(line).collect::<Vec<_>>());
        for (place, entry) in outline.entries.iter().enumerate() {
            prop_assert!(entry.parent.is_none_or(|parent| parent < place));
            prop_assert!(outline.left_behind(Some(place)) <= outline.entries.len());
        }
        // What is present are the entries that lead to where it stands, and no others.
        let mut present: Vec<usize> = outline.ancestors(outline.here).collect();
        present.reverse();
        let marked = outline.entries.iter().enumerate().filter(|(_, entry)| entry.is_present).map(|(place, _)| place);
        prop_assert!(marked.eq(present));
    }
}
