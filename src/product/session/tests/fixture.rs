//! A file of version 1 with a line of every kind: what it says must stay what it says, whatever later versions write.

use super::*;
use crate::kernel::compact;
use crate::model::message::{Image, Reasoning};

const ID: &str = "20260101-120000-abcd";

fn disk() -> (Disk, PathBuf) {
    let disk = Disk::new();
    let path = disk.write(ID, "");
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/session-v1.jsonl");
    fs::write(&path, fs::read(fixture).unwrap()).unwrap();
    (disk, path)
}

fn text(text: &str) -> Part {
    Part::Text(text.to_owned())
}

fn by(provider: &str, model: &str, stop: StopReason, usage: Usage, content: Vec<AssistantPart>) -> Message {
    let origin = Arc::new(Origin { provider: provider.into(), model: model.into() });
    Message::Assistant(Assistant { content, origin, stop, usage })
}

fn says(words: &str) -> Vec<AssistantPart> {
    vec![AssistantPart::Text(words.to_owned())]
}

/// What was said up to the first branch.
fn beginning() -> Vec<Message> {
    let picture = Part::Image(Image {
        media_type: "image/png".into(),
        data: vec![0x89, b'P', b'N', b'G', 13, 10, 26, 10].into(),
    });
    let call =
        |id: &str, input| AssistantPart::ToolUse(ToolCall { id: id.to_owned(), name: "read_file".to_owned(), input });
    let broken = ToolInput::Invalid { raw: "{broken".to_owned(), problem: "EOF while parsing".to_owned() };
    let reasoning = Reasoning {
        text: "Hm.".to_owned(),
        signature: Some("seal".to_owned()),
        opaque: Some(json!({"opaque": [1, 2]})),
    };
    let content = vec![
        AssistantPart::Reasoning(reasoning),
        AssistantPart::Text("Reading.".to_owned()),
        call("call_1", ToolInput::parse(r#"{"path": "a.txt"}"#)),
        call("call_2", broken),
        call("call_3", ToolInput::parse(r#"{"path": "/b.txt"}"#)),
    ];
    let usage = Usage { input: 10, output: 20, cache_read: 30, cache_write: 40, reasoning: 5 };
    let result = |id: &str, content, is_error| ToolResult { call_id: id.to_owned(), content, is_error };
    vec![
        Message::User(vec![
            text("<environment>…</environment>"),
            text("what is in the picture\nand in a.txt?"),
            picture.clone(),
        ]),
        by("first", "small", StopReason::ToolUse, usage, content),
        Message::Tool(vec![
            result("call_1", vec![text("of a")], false),
            result("call_2", vec![text("not JSON")], true),
            result("call_3", vec![text("of b"), picture], false),
        ]),
        by("first", "small", StopReason::Stop, Usage { input: 50, output: 6, ..Usage::default() }, says("A cat.")),
    ]
}

#[test]
fn a_file_of_version_1_is_understood() {
    let (disk, path) = disk();
    let Opened { session, messages, stale, handled, grant, model, notices } = disk.newest();
    let large = |words| by("second", "large", StopReason::Stop, Usage::default(), says(words));
    let missing = "[this was kept outside of the session's file and could not be found]";
    let usage = Usage { input: 1, output: 2, ..Usage::default() };
    let expected = [
        compact::stand_in(Some("<environment>new</environment>"), "They looked at a picture."),
        beginning().pop().unwrap(),
        Message::user("and now?"),
        by("second", "large", StopReason::Stop, usage, says("A dog.")),
        Message::user(missing),
        large("So it is."),
    ];
    assert!(messages.iter().map(Arc::as_ref).eq(&expected), "{messages:#?}");
    assert_eq!((stale, handled.len(), grant), (4, 0, Some(Grant::Safe)));
    assert_eq!(model, Some(Origin { provider: "second".into(), model: "large".into() }));
    assert!(notices.len() == 1 && notices[0].text.starts_with("1 damaged line"), "{notices:?}");
    assert_eq!((session.id(), session.last_id(), session.next_id), (ID, Some(15), 16));
    assert_eq!(session.refused().collect::<Vec<_>>(), ["0123456789abcdef"]);
    assert_eq!((session.lines.as_slice(), session.pinned), (&[7, 10, 11, 13, 15][..], 1));
    drop(session);

    let load::Loaded { header, name, labels, checkpoints, undone, pruned, broken, .. } =
        disk.store().look(&Selector::Newest, Path::new(CWD)).unwrap().unwrap().loaded;
    assert_eq!((header.parent.as_deref(), header.created_at), (Some("20251231-120000-0001"), 1_767_268_800_000));
    assert_eq!((name.as_deref(), undone, pruned, broken), (Some("the last name"), None, vec![10], 0));
    assert_eq!(labels.into_iter().collect::<Vec<_>>(), [(7, "cat".to_owned())]);
    assert_eq!(checkpoints.into_iter().collect::<Vec<_>>(), [(1, "snapshot-1".to_owned())]);

    let history = disk.store().history(&Selector::Newest, Path::new(CWD)).unwrap().unwrap();
    let ids: Vec<_> = history.records.iter().map(|record| record["id"].as_u64().unwrap()).collect();
    assert_eq!(ids, [1, 2, 3, 4, 5, 7, 10, 11, 12, 13, 14, 15]);
    let spent = disk.store().spent(ID).total();
    // A summary costs as well.
    assert_eq!((spent.answers, spent.usage.output, spent.dollars), (6, 36, 0.75));
    let listed = disk.store().list(Path::new(CWD)).infos;
    assert_eq!((listed[0].name.as_deref(), listed[0].updated_at), (Some("the last name"), 1_767_268_800_015));

    let mut session = disk.newest().session;
    session.append(&Message::user("on")).unwrap();
    let last = records(&path).pop().unwrap();
    assert_eq!((last["id"].as_u64(), last["parent_id"].as_u64()), (Some(16), Some(15)));
}

#[test]
fn every_place_in_it_can_be_gone_back_to() {
    let (disk, _) = disk();
    let at = |id| {
        let opened = disk.store().fork(&Selector::Newest, Some(id), Path::new(CWD)).unwrap().unwrap();
        opened.messages
    };
    assert!(at(7).iter().map(Arc::as_ref).eq(&beginning()));
    let wrong = at(9);
    assert_eq!(said(&wrong[4..]), ["a wrong turn", "half of"]);
    let Message::Assistant(aborted) = wrong[5].as_ref() else { panic!("{wrong:?}") };
    assert_eq!(aborted.stop, StopReason::Other("aborted".to_owned()));
    assert_eq!(said(&at(11)[4..]), ["and now?", "A dog."]);
    // Results that came before others of their answer.
    let Message::Tool(results) = at(4)[2].as_ref().clone() else { panic!("no results") };
    assert_eq!(results.iter().map(|result| result.call_id.as_str()).collect::<Vec<_>>(), ["call_1", "call_3"]);
}
