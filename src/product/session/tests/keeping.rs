//! What is too long for a line, and what a copy takes along.

use super::*;
use crate::kernel::compact::Folded;
use crate::model::message::Image;

/// As much as a line holds, and one byte more.
const FITS: usize = INLINE_BYTES;
const LONG: usize = FITS + 1;

fn blobs(disk: &Disk) -> usize {
    disk.store().blobs().all().unwrap().len()
}

fn picture(bytes: usize) -> Part {
    Part::Image(Image { media_type: "image/png".into(), data: vec![7; bytes].into() })
}

fn texts(messages: &[Arc<Message>]) -> Vec<usize> {
    said(messages).iter().map(String::len).collect()
}

fn fork(disk: &Disk, id: &str, at: Option<u64>) -> Opened {
    disk.store().fork(&Selector::Id(id.to_owned()), at, Path::new(CWD)).unwrap().unwrap()
}

#[test]
fn long_content_is_kept_once_and_beside() {
    let disk = Disk::new();
    let mut session = disk.create();
    let parts = vec![picture(LONG), picture(FITS), Part::Text("é".repeat(FITS)), Part::Text("x".repeat(FITS))];
    let question = Message::User(parts);
    session.append(&question).unwrap();
    let reply = answer(&"y".repeat(LONG), &["a", "b"]);
    session.append(&reply).unwrap();
    let results = ["a", "b"].map(|id| ToolResult::text(id, "é".repeat(FITS), false));
    session.append(&Message::Tool(results.to_vec())).unwrap();
    session.sync().run().unwrap();
    // The picture and two texts, one of which was said three times.
    assert_eq!(blobs(&disk), 3);
    let path = session.path().unwrap().to_owned();
    assert!(fs::metadata(&path).unwrap().len() < 50_000);
    let lines = records(&path);
    let image = &lines[1]["content"][0];
    assert!(image.get("data").is_none() && image["blob"].as_str().is_some_and(blob::is_hash), "{image}");
    assert!(lines[1]["content"][1].get("blob").is_none() && lines[1]["content"][3].get("blob").is_none());
    let result = &lines[3]["content"][0]["content"][0];
    assert_eq!((result.get("text"), &result["blob"]), (None, &lines[1]["content"][2]["blob"]));
    let content = fs::read(disk.store().blobs().path(result["blob"].as_str().unwrap()).unwrap()).unwrap();
    assert_eq!(content, "é".repeat(FITS).as_bytes());

    drop(session);
    let expected = [question, reply, Message::Tool(results.to_vec())];
    assert!(disk.newest().messages.iter().map(Arc::as_ref).eq(&expected));
    // Also where the file lies elsewhere.
    let elsewhere = disk.data.path().join("copy.jsonl");
    fs::copy(&path, &elsewhere).unwrap();
    let opened = disk.open(&Selector::Path(elsewhere));
    assert!(opened.messages.iter().map(Arc::as_ref).eq(&expected) && opened.notices.is_empty());
    let history = disk.store().history(&Selector::Newest, Path::new(CWD)).unwrap().unwrap();
    assert_eq!(history.records, lines[1..]);
}

#[test]
fn a_long_question_has_a_title_and_a_long_result_is_compared() {
    let disk = Disk::new();
    let mut session = disk.create();
    session.append(&Message::user("why does it fail? ".repeat(2000))).unwrap();
    session.append(&answer("so", &["a"])).unwrap();
    let result = ToolResult::text("a", "line\n".repeat(4000), false);
    session.append_result(&result).unwrap();
    assert!(disk.store().list_all().infos[0].title.as_deref().unwrap().starts_with("why does it fail?"));
    let blobs = disk.store().blobs().clone();
    let mut recording = recording::Recording::read(session.path().unwrap(), &blobs).unwrap();
    assert_eq!(recording.results.compare(&result), None);
}

#[test]
fn what_is_lost_is_said_and_counted() {
    let disk = Disk::new();
    let mut session = disk.create();
    for byte in ["a", "b", "c"] {
        session.append(&Message::user(byte.repeat(LONG))).unwrap();
    }
    drop(session);
    let blobs = disk.store().blobs().clone();
    let path = |byte: &str| blobs.path(&blob::hash(byte.repeat(LONG).as_bytes())).unwrap();
    fs::remove_file(path("a")).unwrap();
    fs::write(path("b"), "x".repeat(LONG)).unwrap();
    let Opened { mut session, messages, notices, .. } = disk.newest();
    let said = said(&messages);
    assert!(said[..2].iter().all(|text| text.starts_with("[this was kept outside")) && said[2].len() == LONG);
    assert!(notices[0].text.starts_with("2 damaged lines"), "{notices:?}");
    session.append(&Message::user("on")).unwrap();
    drop(session);
    assert_eq!(disk.newest().messages.len(), 4);
}

#[test]
fn what_sessions_name_is_kept_when_the_rest_is_swept() {
    let disk = Disk::new();
    let mut session = disk.create();
    session.append(&Message::user("x".repeat(LONG))).unwrap();
    let store = disk.store();
    store.blobs().put(b"left behind").unwrap();
    let long_after = i64::MAX / 2;
    let swept = store.blobs().sweep(&store.named_blobs().unwrap(), long_after).unwrap();
    assert_eq!((swept.blobs, blobs(&disk)), (1, 1));
    fs::remove_file(session.path().unwrap()).unwrap();
    store.blobs().sweep(&store.named_blobs().unwrap(), long_after).unwrap();
    assert_eq!(blobs(&disk), 0);
}

#[test]
fn what_finds_no_room_beside_stays_in_its_line() {
    let disk = Disk::new();
    fs::write(disk.data.path().join("blobs"), "a file where the folder should be").unwrap();
    let mut session = disk.create();
    let question = Message::User(vec![picture(LONG), Part::Text("x".repeat(LONG))]);
    session.append(&question).unwrap();
    session.sync().run().unwrap();
    drop(session);
    fs::remove_file(disk.data.path().join("blobs")).unwrap();
    assert_eq!(*disk.newest().messages[0], question, "as earlier versions wrote it");
}

#[test]
fn memory_keeps_long_content_too() {
    let mut session = Session::in_memory(Clock::Fixed(MOMENT));
    session.append(&Message::user("x".repeat(LONG))).unwrap();
    assert!(session.sync().is_empty());
}

#[test]
fn a_fork_takes_along_what_leads_to_its_message() {
    let disk = Disk::new();
    let mut session = disk.create();
    session.append_grant(Grant::Write).unwrap();
    session.append(&Message::user("x".repeat(LONG))).unwrap();
    session.append(&answer("one", &[])).unwrap();
    session.append(&Message::user("second")).unwrap();
    session.append_name("a name".to_owned()).unwrap();
    session.append_label(1, Some("start".to_owned())).unwrap();
    session.append_label(2, Some("gone".to_owned())).unwrap();
    session.append_label(2, None).unwrap();
    session.append_label(3, Some("later".to_owned())).unwrap();
    session.append_checkpoint(1, "before".to_owned()).unwrap();
    session.append_checkpoint(3, "after".to_owned()).unwrap();
    session.append_refused(["p".to_owned()]).unwrap();
    session.append_pruned(2).unwrap();
    session.append_pruned(1).unwrap();
    let (id, path) = (session.id().to_owned(), session.path().unwrap().to_owned());
    let before = fs::read(&path).unwrap();

    let Opened { session: mut copy, messages, grant, notices, .. } = fork(&disk, &id, Some(2));
    assert_eq!((texts(&messages), grant, notices.len()), (vec![LONG, 3], Some(Grant::Write), 0));
    assert_eq!(disk.files().len(), 1, "nothing was said in it");
    copy.append(&Message::user("second, differently")).unwrap();
    assert_eq!(fs::read(&path).unwrap(), before);
    let lines = records(copy.path().unwrap());
    assert_eq!((&lines[0]["parent"], &lines[0]["id"]), (&Value::from(id.as_str()), &Value::from(copy.id())));
    assert_eq!(lines[1..3], records(&path)[2..4]);
    let last = lines.last().unwrap();
    assert_eq!((last["parent_id"].as_u64(), last["id"].as_u64() > Some(5)), (Some(2), true));

    let copy_id = copy.id().to_owned();
    drop(copy);
    let looked = |id: &str| disk.store().look(&Selector::Id(id.to_owned()), Path::new(CWD)).unwrap().unwrap().loaded;
    let loaded = looked(&copy_id);
    assert_eq!(loaded.name.as_deref(), Some("a name"));
    assert_eq!(loaded.labels.into_iter().collect::<Vec<_>>(), [(1, "start".to_owned())]);
    assert_eq!(loaded.checkpoints.into_iter().collect::<Vec<_>>(), [(1, "before".to_owned())]);
    assert_eq!((loaded.pruned, loaded.refused.len()), (vec![2], 1));
    assert_eq!(looked(&id).labels.len(), 2);

    // Also of what stands on another branch, and of all of it.
    session.append_leaf(Some(1), None).unwrap();
    session.append(&Message::user("another way")).unwrap();
    assert_eq!(said(&fork(&disk, &id, Some(3)).messages)[1..], ["one", "second"]);
    assert_eq!(said(&fork(&disk, &id, None).messages)[1..], ["another way"]);
}

#[test]
fn what_another_process_is_at_is_not_copied() {
    let disk = Disk::new();
    let mut session = disk.create();
    let copied = |notice: &str| {
        let Opened { messages, notices, .. } = disk.newest();
        assert!(notices.len() == 1 && notices[0].text.contains(notice), "{notices:?}");
        said(&messages)
    };
    let running = "is open in another process, and its last turn has not ended; this goes on in a copy";
    session.append(&Message::user("one")).unwrap();
    assert!(copied(running).is_empty());
    session.append(&answer("two", &[])).unwrap();
    assert_eq!(copied("is open in another process; this"), ["one", "two"]);
    for message in [Message::user("three"), answer("four", &["a"])] {
        session.append(&message).unwrap();
        assert_eq!(copied(running), ["one", "two"]);
    }
    session.append_result(&ToolResult::text("a", "r", false)).unwrap();
    assert_eq!(copied(running), ["one", "two"]);
    session.append(&answer("five", &[])).unwrap();
    assert_eq!(copied("process; this").len(), 6);
}

#[test]
fn a_message_that_is_not_there_cannot_be_forked_at() {
    let disk = Disk::new();
    let lines = [1, 2, 3, 7].map(|id| user_line(id, "null", "x")).concat();
    disk.write("20260101-120000-abcd", &lines);
    let error = disk.store().fork(&Selector::Id("2026".into()), Some(4), Path::new(CWD)).unwrap_err();
    assert_eq!(error.message, "session 20260101-120000-abcd has no message 4");
    assert!(error.hints[0].starts_with("Its messages are 1-3, 7; "), "{:?}", error.hints);
    assert!(Disk::new().store().fork(&Selector::Newest, None, Path::new(CWD)).unwrap().is_none());
}

#[test]
fn a_fork_by_path_takes_no_grant_along() {
    let disk = Disk::new();
    let path =
        disk.write("20260101-120000-abcd", &(user_line(1, "null", "one") + "{\"type\":\"grant\",\"mode\":\"all\"}\n"));
    let mut opened = disk.store().fork(&Selector::Path(path), None, Path::new(CWD)).unwrap().unwrap();
    opened.session.append(&Message::user("x")).unwrap();
    assert_eq!(opened.grant, None);
    assert!(!fs::read_to_string(opened.session.path().unwrap()).unwrap().contains("grant"));
}

#[test]
fn the_leaf_remembers_what_was_taken_back() {
    let disk = Disk::new();
    let mut session = disk.create();
    session.append(&Message::user("one")).unwrap();
    session.append(&Message::user("two")).unwrap();
    let undone = || disk.store().look(&Selector::Newest, Path::new(CWD)).unwrap().unwrap().loaded.undone;
    assert_eq!(undone(), None);
    session.append_leaf(Some(1), Some(2)).unwrap();
    assert_eq!(undone(), Some(2));
    session.append_leaf(None, Some(1)).unwrap();
    session.append_name("n".into()).unwrap();
    assert_eq!(undone(), Some(1));
    session.append(&Message::user("three")).unwrap();
    assert_eq!(undone(), None, "something was said since");
    session.append_leaf(Some(1), None).unwrap();
    assert_eq!(undone(), None);
}

#[test]
fn a_second_summary_keeps_what_the_first_one_pinned() {
    let disk = Disk::new();
    let mut session = disk.create();
    for text in ["rules", "old", "older", "kept"] {
        session.append(&Message::user(text)).unwrap();
    }
    let fold = |pinned: &[usize], kept| Folded {
        opening: None,
        text: "sum".to_owned(),
        pinned: pinned.to_vec(),
        kept,
        tokens_before: 1,
        tokens_after: 1,
        origin: Arc::new(origin()),
        usage: Usage::default(),
        cost: None,
    };
    let reopened = |session: Session| {
        drop(session);
        let Opened { session, messages, .. } = disk.newest();
        (session, said(&messages)[1..].to_vec())
    };
    session.append_summary(&fold(&[4], 1)).unwrap();
    let (mut session, said) = reopened(session);
    assert_eq!(said, ["rules", "kept"]);
    session.append_summary(&fold(&[], 2)).unwrap();
    let (mut session, said) = reopened(session);
    assert_eq!(said, ["rules", "kept"], "and not what stood between them");
    session.append_summary(&fold(&[], 0)).unwrap();
    let (_, said) = reopened(session);
    assert!(said.is_empty(), "{said:?}");
}
