//! Sessions on a real disk: kept, damaged, shared, found again.

mod fixture;
mod keeping;
mod laws;

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::load::Handled;
use super::look::Depth;
use super::shelf::Scope;
use super::store::{Opened, Selector, Store};
use super::*;
use crate::base::json::Object;
use crate::model::message::{Assistant, AssistantPart, Part, ToolCall, ToolInput};
use crate::model::reply::StopReason;
use crate::model::usage::Usage;
use crate::product::permission::Grant;

const MOMENT: i64 = 1_796_028_350_123;
const CWD: &str = "/srv/project";

struct Disk {
    data: tempfile::TempDir,
}

impl Disk {
    fn new() -> Self {
        Self { data: tempfile::tempdir().unwrap() }
    }

    fn store(&self) -> Store {
        Store::new(self.data.path(), Clock::Fixed(MOMENT))
    }

    fn create(&self) -> Session {
        self.store().create(Path::new(CWD), &origin())
    }

    fn open(&self, selector: &Selector) -> Opened {
        self.store().open(selector, Path::new(CWD)).unwrap().unwrap()
    }

    fn newest(&self) -> Opened {
        self.open(&Selector::Newest)
    }

    fn files(&self) -> Vec<PathBuf> {
        let mut files = Vec::new();
        for folder in fs::read_dir(self.data.path().join("sessions")).into_iter().flatten().flatten() {
            files.extend(fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()));
        }
        files.sort();
        files
    }

    /// Writes a session file of these lines after its header, and returns its path.
    fn write(&self, id: &str, lines: &str) -> PathBuf {
        let folder = self.data.path().join("sessions").join(name::folder(Path::new(CWD)));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join(format!("{id}.jsonl"));
        let header = format!(
            r#"{{"type": "session", "version": 1, "id": "{id}", "created_at": 1, "cwd": "{CWD}", "provider": "p", "model": "m", "parent": null}}"#
        );
        fs::write(&path, format!("{header}\n{lines}")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        path
    }
}

fn origin() -> Origin {
    Origin { provider: "p".into(), model: "m".into() }
}

fn answer(text: &str, calls: &[&str]) -> Message {
    let mut content = vec![AssistantPart::Text(text.into())];
    content.extend(calls.iter().map(|id| {
        let input = ToolInput::Object(Object::new());
        AssistantPart::ToolUse(ToolCall { id: (*id).into(), name: "t".into(), input })
    }));
    let usage = Usage { input: 1_000_000, ..Usage::default() };
    Message::Assistant(Assistant { content, origin: Arc::new(origin()), stop: StopReason::Stop, usage })
}

fn user_line(id: u64, parent: &str, text: &str) -> String {
    format!(
        r#"{{"type":"message","id":{id},"parent_id":{parent},"timestamp":{id},"role":"user","content":[{{"type":"text","text":"{text}"}}]}}"#
    ) + "\n"
}

fn said(messages: &[Arc<Message>]) -> Vec<String> {
    let text = |message: &Arc<Message>| match message.as_ref() {
        Message::User(parts) => match parts.last() {
            Some(Part::Text(text)) => text.clone(),
            other => panic!("{other:?}"),
        },
        Message::Assistant(answer) => answer.text(),
        Message::Tool(results) => results.iter().map(|result| result.call_id.as_str()).collect::<Vec<_>>().join("+"),
    };
    messages.iter().map(text).collect()
}

fn records(path: &Path) -> Vec<Value> {
    fs::read_to_string(path).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_conversation_is_kept_as_documented_and_goes_on() {
    let disk = Disk::new();
    let mut session = disk.create();
    session.set_price(Some(Price { input: 2.5, output: 0.0, cache_read: 0.0, cache_write: 0.0 }));
    session.append_grant(Grant::Write).unwrap();
    assert!(disk.files().is_empty(), "nothing was said yet");
    session.append(&Message::user("first")).unwrap();
    session.append(&answer("one", &["a", "b"])).unwrap();
    session.append_result(&ToolResult::text("b", "of b", false)).unwrap();
    session.append_result(&ToolResult::text("a", "of a", false)).unwrap();
    let both = ["a", "b"].map(|id| ToolResult::text(id, "again", false));
    session.append(&Message::Tool(both.into())).unwrap();
    session.append(&Message::User(vec![])).unwrap();
    session.sync().run().unwrap();
    let (id, path) = (session.id().to_owned(), session.path().unwrap().to_owned());
    drop(session);

    let lines = records(&path);
    assert_eq!((&lines[0]["id"], &lines[0]["parent"]), (&Value::from(id.as_str()), &Value::Null));
    let kinds: Vec<_> = lines.iter().map(|line| line["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["session", "grant", "message", "message", "message", "message"]);
    let links: Vec<_> = lines[2..].iter().map(|line| (line["id"].as_u64(), line["parent_id"].as_u64())).collect();
    assert_eq!(links, [(Some(1), None), (Some(2), Some(1)), (Some(3), Some(2)), (Some(4), Some(3))]);
    assert_eq!(lines[3]["usage"]["cost_usd"], 2.5);
    assert_eq!(lines[4]["content"][0]["tool_use_id"], "b");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    for folder in [path.parent().unwrap(), path.parent().unwrap().parent().unwrap()] {
        assert_eq!(fs::metadata(folder).unwrap().permissions().mode() & 0o777, 0o700);
    }

    let Opened { mut session, messages, grant, model, notices, .. } = disk.newest();
    assert_eq!(said(&messages), ["first", "one", "a+b"]);
    assert_eq!((grant, model, notices.len()), (Some(Grant::Write), Some(origin()), 0));
    assert_eq!(session.id(), id);
    session.append_result(&ToolResult::text("a", "a third time", false)).unwrap();
    let other = Origin { provider: "q".into(), model: "n".into() };
    session.append_model(&origin()).unwrap();
    session.append_model(&other).unwrap();
    session.append(&Message::user("second")).unwrap();
    drop(session);
    let last = records(&path).pop().unwrap();
    assert_eq!((last["id"].as_u64(), last["parent_id"].as_u64()), (Some(5), Some(4)));
    let opened = disk.newest();
    assert_eq!((said(&opened.messages).len(), opened.model), (4, Some(other)));
}

#[test]
fn nothing_is_kept_of_a_session_in_memory() {
    let mut session = Session::in_memory(Clock::Fixed(MOMENT));
    session.append(&Message::user("x")).unwrap();
    session.append_grant(Grant::All).unwrap();
    assert!(name::is_id(session.id()) && session.path().is_none());
}

#[test]
fn six_sessions_begun_in_one_second_are_six() {
    let disk = Disk::new();
    let store = disk.store();
    std::thread::scope(|scope| {
        for number in 0..6 {
            let store = &store;
            scope.spawn(move || {
                let mut session = store.create(Path::new(CWD), &origin());
                session.append(&Message::user(format!("task {number}"))).unwrap();
                session.append(&answer("done", &[])).unwrap();
            });
        }
    });
    let files = disk.files();
    assert_eq!(files.len(), 6);
    assert!(files.iter().all(|path| records(path).len() == 3 && records(path)[0]["id"] == name::id_of(path).unwrap()));
}

#[test]
fn a_taken_name_is_left_alone() {
    let disk = Disk::new();
    let mut session = disk.create();
    let taken = disk.write(session.id(), "");
    let before = fs::read(&taken).unwrap();
    session.append(&Message::user("x")).unwrap();
    assert_ne!(session.path().unwrap(), taken);
    assert_eq!(records(session.path().unwrap())[0]["id"], session.id());
    assert_eq!(fs::read(&taken).unwrap(), before);
}

#[test]
fn a_grant_that_was_withdrawn_is_none_and_one_that_nobody_knows_changes_nothing() {
    let disk = Disk::new();
    let mut session = disk.create();
    session.append(&Message::user("start")).unwrap();
    let path = session.path().unwrap().to_owned();
    for (decision, grant) in [
        (Decision::Allow(Grant::All), Some(Grant::All)),
        (Decision::Ask, None),
        (Decision::Allow(Grant::Write), Some(Grant::Write)),
    ] {
        session.append_grant(decision).unwrap();
        drop(session);
        let store = disk.store();
        assert!(store.is(&Selector::Newest, Path::new(CWD), &path));
        assert!(!store.is(&Selector::Id("none".to_owned()), Path::new(CWD), &path));
        let opened = disk.newest();
        assert_eq!(opened.grant, grant);
        session = opened.session;
    }
    drop(session);
    let mut text = fs::read_to_string(&path).unwrap();
    text.push_str("{\"type\":\"grant\",\"mode\":\"later\"}\n");
    fs::write(&path, text).unwrap();
    assert_eq!(disk.newest().grant, Some(Grant::Write));
}

#[test]
fn the_second_opener_gets_a_copy() {
    let disk = Disk::new();
    let mut first = disk.create();
    first.append_grant(Grant::Safe).unwrap();
    first.append(&Message::user("start")).unwrap();
    first.append(&answer("so", &[])).unwrap();
    let mut second = disk.newest();
    assert_eq!(disk.files().len(), 1, "nothing was said in the copy");
    assert!(second.notices[0].text.contains(first.id()) && second.notices[0].text.contains(second.session.id()));
    assert_eq!(said(&second.messages), ["start", "so"]);
    first.append(&Message::user("mine")).unwrap();
    second.session.append(&Message::user("yours")).unwrap();
    let lines = records(second.session.path().unwrap());
    assert_eq!((&lines[0]["parent"], lines.len()), (&Value::from(first.id()), 5));
    assert_eq!((&lines[3]["type"], &lines[4]["parent_id"]), (&Value::from("grant"), &Value::from(2)));
    assert!(!fs::read_to_string(first.path().unwrap()).unwrap().contains("yours"));

    let id = second.session.id().to_owned();
    drop((first, second));
    let opened = disk.open(&Selector::Id(id));
    assert_eq!(
        (said(&opened.messages), opened.grant, opened.notices.len()),
        (vec!["start".into(), "so".into(), "yours".into()], Some(Grant::Safe), 0)
    );
}

#[test]
fn damage_is_skipped_and_counted() {
    let disk = Disk::new();
    let torn = r#"{"type":"message","id":3,"parent_id":2,"role":"user","content":[{"type":"te"#;
    let lines = format!(
        "{}\0\0\0\0{}garbage\n{}{torn}",
        user_line(1, "null", "one"),
        user_line(2, "1", "two"),
        user_line(4, "3", "four")
    );
    let path = disk.write("20260101-120000-abcd", &lines);
    let Opened { mut session, messages, notices, .. } = disk.newest();
    assert_eq!(said(&messages), ["one", "two", "four"]);
    assert!(notices[0].text.starts_with("3 damaged lines"), "{notices:?}");
    session.append(&Message::user("five")).unwrap();
    session.append(&Message::user("six")).unwrap();
    drop(session);
    assert!(fs::read_to_string(&path).unwrap().contains(&format!("{torn}\n{{")));
    assert_eq!(said(&disk.newest().messages), ["one", "two", "four", "five", "six"]);
}

#[test]
fn a_lost_header_loses_only_the_header() {
    let disk = Disk::new();
    let path = disk.write("20260101-120000-abcd", &user_line(1, "null", "one"));
    let text = fs::read_to_string(&path).unwrap().replacen("{\"type\"", "\0\0\0\0\0\0\0\0", 1);
    fs::write(&path, text).unwrap();
    let opened = disk.open(&Selector::Path(path));
    assert_eq!((said(&opened.messages), opened.model, opened.notices.len()), (vec!["one".into()], None, 1));
}

#[test]
fn a_missing_first_line_loses_only_that() {
    let disk = Disk::new();
    let id = "20260101-120000-abcd";
    let path = disk.write(id, "");
    fs::write(&path, user_line(1, "null", "one") + &user_line(2, "1", "two")).unwrap();
    for selector in [Selector::Newest, Selector::Id("20260101".into()), Selector::Path(path.clone())] {
        let Opened { session, messages, notices, .. } = disk.open(&selector);
        assert_eq!((session.id(), said(&messages)), (id, vec!["one".into(), "two".into()]), "{selector:?}");
        assert_eq!(notices.len(), 1);
        assert!(notices[0].text.starts_with("1 damaged line of"), "{notices:?}");
    }
    let history = disk.store().history(&Selector::Newest, Path::new(CWD)).unwrap().unwrap();
    assert_eq!((history.id.as_str(), history.header.cwd.as_str(), history.records.len()), (id, CWD, 2));
    assert_eq!(history.header.created_at, name::moment(id));
    let listed = disk.store().list(Path::new(CWD)).infos;
    assert_eq!((listed[0].id.as_str(), listed[0].cwd.as_str(), listed[0].messages), (id, CWD, 2));
    assert_eq!(disk.store().list_all().infos[0].cwd, "", "nothing says where");
    disk.write("20250101-120000-abcd", &user_line(1, "null", "a neighbour"));
    assert!(disk.store().list_all().infos.iter().all(|info| info.cwd == CWD));

    let mut session = disk.open(&Selector::Id(id.into())).session;
    session.append(&Message::user("three")).unwrap();
    drop(session);
    assert_eq!(said(&disk.open(&Selector::Id(id.into())).messages), ["one", "two", "three"]);
}

#[test]
fn what_only_has_a_session_s_name_is_none() {
    let disk = Disk::new();
    let path = disk.write("20260101-120000-abcd", "");
    for content in ["", "{\"some\": \"json\"}\n", "{\"type\":\"name\",\"name\":\"x\"}\n"] {
        fs::write(&path, content).unwrap();
        assert!(disk.store().open(&Selector::Newest, Path::new(CWD)).unwrap().is_none(), "{content}");
        assert!(disk.store().open(&Selector::Path(path.clone()), Path::new(CWD)).is_err(), "{content}");
    }
}

#[test]
fn the_leaf_and_the_summary_are_honoured() {
    let disk = Disk::new();
    let mut lines = user_line(1, "null", "one") + &user_line(2, "1", "two") + &user_line(3, "2", "three");
    lines += "{\"type\":\"summary\",\"id\":4,\"parent_id\":3,\"text\":\"all of it\",\"first_kept_id\":3,\"tokens_before\":9}\n";
    lines += &(user_line(5, "4", "five") + &user_line(6, "5", "six"));
    lines += "{\"type\":\"checkpoint\",\"id\":7,\"entry_id\":1,\"ref\":\"x\"}\n{\"type\":\"leaf\",\"target_id\":5}\n";
    let path = disk.write("20260101-120000-abcd", &lines);
    let Opened { mut session, messages, .. } = disk.newest();
    let said = said(&messages);
    assert!(said[0].contains("<summary>\nall of it\n</summary>"));
    assert_eq!(said[1..], ["three", "five"]);
    session.append(&Message::user("instead")).unwrap();
    let last = records(&path).pop().unwrap();
    assert_eq!((last["id"].as_u64(), last["parent_id"].as_u64()), (Some(8), Some(5)));
    let history = disk.store().history(&Selector::Newest, Path::new(CWD)).unwrap().unwrap();
    let ids: Vec<_> = history.records.iter().map(|record| record["id"].as_u64().unwrap()).collect();
    assert_eq!(ids, [1, 2, 3, 4, 5, 8]);
}

#[test]
fn what_is_not_ours_is_refused_and_untouched() {
    let disk = Disk::new();
    let later = r#"{"type":"session","version":2,"id":"x"}"#;
    for content in [
        "",
        "not a session\n",
        "{\"some\": \"json\"}\n{\"lines\": 1}\n",
        later,
        "bad\n{\"type\":\"message\",\"id\":1}\n",
    ] {
        let path = disk.data.path().join("notes.jsonl");
        fs::write(&path, content).unwrap();
        let error = disk.store().open(&Selector::Path(path.clone()), Path::new(CWD)).unwrap_err();
        assert!(error.message.contains("notes.jsonl"), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), content);
    }
    let folder = disk.data.path().to_owned();
    assert!(disk.store().open(&Selector::Path(folder.clone()), Path::new(CWD)).is_err());
    let pipe = folder.join("pipe.jsonl");
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU, 0).unwrap();
    assert!(disk.store().open(&Selector::Path(pipe), Path::new(CWD)).is_err());
}

#[test]
fn a_grant_counts_only_where_this_user_gave_it() {
    let disk = Disk::new();
    let nested = r#"{"type":"message","id":2,"role":"assistant","content":[{"type":"tool_use","id":"c","name":"t","input":{"x":{"type":"grant","mode":"all"}"#;
    let path = disk.write(
        "20260101-120000-abcd",
        &(user_line(1, "null", "one") + "{\"type\":\"grant\",\"mode\":\"write\"}\n" + nested),
    );
    assert_eq!(disk.newest().grant, Some(Grant::Write), "what a model wrote is no grant");
    assert_eq!(disk.open(&Selector::Path(path.clone())).grant, None);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
    assert_eq!(disk.newest().grant, None, "anybody could have written it");
}

#[test]
fn a_prefix_is_enough_if_it_is_unique() {
    let disk = Disk::new();
    for id in ["20260101-120000-aaaa", "20260101-120000-aabb", "20260102-120000-aaaa"] {
        disk.write(id, &user_line(1, "null", id));
    }
    let open = |id: &str| disk.store().open(&Selector::Id(id.into()), Path::new("/elsewhere"));
    for (prefix, id) in [("20260102", "20260102-120000-aaaa"), ("20260101-120000-aab", "20260101-120000-aabb")] {
        assert_eq!(said(&open(prefix).unwrap().unwrap().messages), [id]);
    }
    let ambiguous = open("20260101").unwrap_err();
    assert!(ambiguous.hints[0].contains("20260101-120000-aaaa") && ambiguous.hints[0].contains("-aabb"));
    assert!(open("3").is_err());
    assert_eq!(Selector::parse("2026", Path::new("/a")), Selector::Id("2026".into()));
    assert_eq!(Selector::parse("x.jsonl", Path::new("/a")), Selector::Path("/a/x.jsonl".into()));
}

#[test]
fn the_newest_is_the_one_in_which_something_was_said_last() {
    let disk = Disk::new();
    let none = disk.store().open(&Selector::Newest, Path::new(CWD)).unwrap();
    assert!(none.is_none());
    // Written in another order than what they say: a copy or a restored backup.
    disk.write("20260101-120000-aaaa", &user_line(1, "null", "older"));
    let long = "x".repeat(200_000);
    disk.write("20260101-120000-bbbb", &(user_line(1, "null", &long) + &user_line(9, "1", "newer")));
    disk.write("20260101-120000-cccc", &user_line(2, "null", "old"));
    disk.write("20260101-120000-dddd", "");
    assert_eq!(said(&disk.newest().messages)[1], "newer");
    let listed = disk.store().listed(Scope::All, Depth::Ends).infos;
    let ids: Vec<_> = listed.iter().map(|info| &info.id[16..]).collect();
    assert_eq!(ids, ["bbbb", "cccc", "dddd", "aaaa"]);
    // What lies between the two ends that are read is not known.
    assert_eq!((listed[0].messages, listed[0].title.as_deref()), (9, None));
    assert_eq!(listed[3].title.as_deref(), Some("older"));
}

#[test]
fn a_file_that_may_not_be_written_is_copied() {
    let disk = Disk::new();
    let path = disk.write("20260101-120000-abcd", &user_line(1, "null", "one"));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o400)).unwrap();
    if OpenOptions::new().append(true).open(&path).is_ok() {
        return; // The superuser may write anything.
    }
    let mut opened = disk.newest();
    assert!(opened.notices[0].text.contains("cannot be written"));
    opened.session.append(&Message::user("two")).unwrap();
    assert_eq!(disk.files().len(), 2);
}

#[test]
fn a_recording_has_both_sides() {
    let disk = Disk::new();
    let mut session = disk.create();
    session.append(&Message::user("go")).unwrap();
    session.append(&answer("working", &["a"])).unwrap();
    session.append_result(&ToolResult::text("a", "found 3 in 0.5s", false)).unwrap();
    session.append(&answer("done", &[])).unwrap();
    let mut recording = recording::Recording::read(session.path().unwrap(), disk.store().blobs()).unwrap();
    assert_eq!((recording.origin, recording.replies.len()), (origin(), 2));
    let mut again = recording.results.clone();
    assert_eq!(again.compare(&ToolResult::text("a", "found 3 in 9s", false)), None);
    assert_eq!(again.compare(&ToolResult::text("a", "once more", false)), None);
    let drift = recording.results.compare(&ToolResult::text("a", "found 4 in 0.5s", false)).unwrap();
    assert!(drift.starts_with("The result of t is not the recorded one: line 1 was"), "{drift}");
    assert!(recording::Recording::read(disk.data.path(), disk.store().blobs()).is_err());
}

/// Files that were or could be found after crashes: none may hang, panic, or lose its marked messages.
#[test]
fn the_corpus_of_damaged_files_can_be_read() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/jsonl");
    let mut count = 0;
    for entry in fs::read_dir(corpus).unwrap() {
        let path = entry.unwrap().path();
        let bytes = fs::read(&path).unwrap();
        let disk = Disk::new();
        let copy = disk.write("20260101-120000-abcd", "");
        OpenOptions::new().append(true).open(&copy).unwrap().write_all(&bytes).unwrap();
        let Opened { mut session, messages, .. } = disk.newest();
        // The conversation of each file is KEEP-1, KEEP-2, KEEP-3, whatever else is in it.
        let kept: Vec<_> = said(&messages).into_iter().filter(|text| text.starts_with("KEEP")).collect();
        assert_eq!(kept, ["KEEP-1", "KEEP-2", "KEEP-3"], "{}", path.display());
        session.append(&Message::user("KEEP-4")).unwrap();
        drop(session);
        assert_eq!(said(&disk.newest().messages).last().map(String::as_str), Some("KEEP-4"), "{}", path.display());
        count += 1;
    }
    assert!(count >= 8);
}

mod properties {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        /// Cut anywhere, written on, cut again: what stood whole before the cut is there, and so is what came after.
        #[test]
        fn a_crash_at_any_byte_loses_only_what_was_torn(cut in 0usize..2000, nuls in 0usize..20) {
            let disk = Disk::new();
            let lines: String = (1..=6).map(|id| {
                let parent = if id == 1 { "null".to_owned() } else { (id - 1).to_string() };
                user_line(id, &parent, &format!("text {id}"))
            }).collect();
            let path = disk.write("20260101-120000-abcd", &lines);
            let header = fs::read(&path).unwrap().len() - lines.len();
            let cut = cut.min(lines.len());
            let mut bytes = fs::read(&path).unwrap();
            bytes.truncate(header + cut);
            bytes.extend(vec![0; nuls]);
            fs::write(&path, &bytes).unwrap();
            let whole = lines[..cut].matches('\n').count();
            let Opened { mut session, messages, .. } = disk.newest();
            prop_assert!(messages.len() >= whole && messages.len() <= whole + 1);
            session.append(&Message::user("after")).unwrap();
            drop(session);
            let after = said(&disk.newest().messages);
            prop_assert_eq!(after.len(), messages.len() + 1);
            prop_assert_eq!(after.last().map(String::as_str), Some("after"));
        }
    }
}

#[test]
fn calls_that_succeeded_on_a_path_are_told() {
    let disk = Disk::new();
    let mut session = disk.create();
    session.append(&Message::user("go")).unwrap();
    let calls =
        [("a", json!({"path": "x"})), ("b", json!({"path": "/y"})), ("c", json!({"path": "~/z"})), ("d", json!({}))];
    let content = calls.map(|(id, input)| {
        let input = ToolInput::Object(input.as_object().unwrap().clone());
        AssistantPart::ToolUse(ToolCall { id: id.into(), name: format!("tool_{id}"), input })
    });
    let usage = Usage::default();
    let stop = StopReason::ToolUse;
    session
        .append(&Message::Assistant(Assistant { content: content.into(), origin: origin().into(), stop, usage }))
        .unwrap();
    for (id, is_error) in [("c", false), ("b", true), ("a", false), ("d", false)] {
        session.append_result(&ToolResult::text(id, "r", is_error)).unwrap();
    }
    drop(session);
    let told = |tool: &str, path: &str| Handled { tool: tool.into(), path: path.into(), at_ms: MOMENT };
    assert_eq!(disk.newest().handled, [told("tool_c", "~/z"), told("tool_a", &format!("{CWD}/x"))]);
}

#[test]
fn what_cannot_be_looked_into_is_not_called_absent() {
    let disk = Disk::new();
    assert!(disk.store().list_all().unread.is_none(), "nothing is there yet");
    // Root may look everywhere, but not through a link to itself.
    std::os::unix::fs::symlink("sessions", disk.data.path().join("sessions")).unwrap();
    let says = |error: Error| assert!(error.message.starts_with("cannot look for sessions in /"), "{}", error.message);
    for selector in [Selector::Newest, Selector::Id("2026".into())] {
        says(disk.store().open(&selector, Path::new(CWD)).unwrap_err());
    }
    says(disk.store().list(Path::new(CWD)).unread.unwrap());
    says(disk.store().list_all().unread.unwrap());
}
