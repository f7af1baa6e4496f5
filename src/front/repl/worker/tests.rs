//! The agent's thread, given all its orders beforehand; the model is a record.

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::mpsc::unbounded_channel;

use super::telling::JOINED_BYTES;
use super::*;
use crate::front::term::mailbox::mailbox;
use crate::model::message::{Image, Message};
use crate::product::config::{self, Flag};
use crate::product::job::Jobs;
use crate::product::journal::Journal;

/// What an agent is made of in a folder of its own, with a record in which a model says hello.
pub(super) fn setup(session: Which) -> (TempDir, Setup) {
    let folder = tempfile::tempdir().unwrap();
    let top = folder.path().canonicalize().unwrap();
    for name in ["config", "data", "work"] {
        std::fs::create_dir(top.join(name)).unwrap();
    }
    let said = |id: u64, role: &str| {
        json!({"type": "message", "id": id, "parent_id": id.checked_sub(2).map(|_| id - 1), "timestamp": 0, "role": role,
               "content": [{"type": "text", "text": "hello"}], "stop_reason": "stop", "model": "m", "provider": "p"})
    };
    let header = json!({"type": "session", "version": 1, "id": "r", "created_at": 0, "cwd": "/", "provider": "p",
                        "model": "m", "parent": null});
    let record = [header, said(1, "user"), said(2, "assistant")].map(|line| format!("{line}\n")).concat();
    std::fs::write(top.join("record.jsonl"), record).unwrap();
    let vars = [("VIOLA_CONFIG_DIR", "config"), ("VIOLA_DATA_DIR", "data")];
    let vars = vars.map(|(name, folder)| (name.into(), top.join(folder).into()));
    let env = Env { vars: vars.into(), cwd: top.join("work"), home: Some(top.clone()) };
    let flag = |option, key, value: String| Flag { option, key, value: Value::String(value) };
    let values = vec![
        flag("--provider", "provider", "replay".to_owned()),
        flag("--model", "model", top.join("record.jsonl").display().to_string()),
    ];
    let flags = Flags { values, ..Flags::default() };
    let loaded = config::load(&env, &flags).unwrap();
    let (clock, cancel) = (Clock::System, Cancel::new());
    let jobs = Jobs::new(&loaded.paths.data_dir, clock);
    (
        folder,
        Setup {
            loaded,
            flags,
            env,
            clock,
            session,
            pictures: Vec::new(),
            cancel,
            pace: None,
            journal: Journal::default(),
            until: None,
            plan: false,
            jobs,
        },
    )
}

/// What the thread tells that is no step of a task.
fn told(setup: &Setup, orders: Vec<Order>) -> Vec<News> {
    let (news, mail) = mailbox().unwrap();
    let (sender, receiver) = unbounded_channel();
    for order in orders {
        sender.send(order).unwrap();
    }
    drop(sender);
    run(setup, receiver, &news);
    let mut messages = Vec::new();
    mail.drain(&mut messages);
    let news = messages.into_iter().filter_map(|message| match message {
        Msg::News(News::Event(_)) => None,
        Msg::News(news) => Some(news),
        Msg::Input(_)
        | Msg::Line(_)
        | Msg::Interrupt
        | Msg::End
        | Msg::Resized { .. }
        | Msg::Tick
        | Msg::Found(_)
        | Msg::Signal(_)
        | Msg::Resumed
        | Msg::Edited(_)
        | Msg::Recalled { .. }
        | Msg::Sessions { .. }
        | Msg::Preview { .. }
        | Msg::Models(_)
        | Msg::Offers(_)
        | Msg::Helpers(_)
        | Msg::Spent { .. }
        | Msg::Theme { .. }
        | Msg::Seen { .. }
        | Msg::Clipboard(_)
        | Msg::Told(_) => panic!("{message:?}"),
    });
    news.collect()
}

pub(super) fn say() -> Order {
    Order::Say { draft: Draft::typed("hello"), cancel: Cancel::new() }
}

fn newest() -> Order {
    Order::Open(Session::Stored(Selector::Newest))
}

#[test]
fn the_open_session_is_not_opened_again_and_a_chosen_effort_goes_along() {
    let (_folder, setup) = setup(Which::New);
    let orders = vec![say(), newest(), Order::Effort(Effort::High), Order::Open(Session::New), newest()];
    let told = told(&setup, orders);
    let [
        News::Opened(first),
        News::Finished(_),
        News::Told(same),
        News::Ran,
        News::Opened(second),
        News::Opened(again),
    ] = told.as_slice()
    else {
        panic!("{told:?}")
    };
    assert_eq!(same, "This session is open already.");
    assert_eq!((first.kept, first.effort), (true, None));
    assert_eq!((second.effort, second.messages.len()), (Some(Effort::High), 0));
    assert_eq!((&again.id, again.effort, again.messages.len()), (&first.id, Some(Effort::High), 2));
    assert!(again.notices.iter().all(|notice| !notice.text.contains("copy")), "{:?}", again.notices);
}

#[test]
fn pictures_of_the_command_line_go_with_the_first_message_alone() {
    let (_folder, mut setup) = setup(Which::New);
    let picture = Part::Image(Image { media_type: "image/png".into(), data: Arc::from(&b"x"[..]) });
    setup.pictures = vec![Part::Text("a.png".into()), picture.clone()];
    let orders = vec![Order::Open(Session::New), say(), say(), Order::Open(Session::New), newest()];
    let told = told(&setup, orders);
    let opened: Vec<_> =
        told.iter().filter_map(|news| if let News::Opened(opened) = news { Some(opened) } else { None }).collect();
    let notices =
        |place: usize| opened[place].notices.iter().filter(|notice| notice.text.contains("One picture goes")).count();
    assert_eq!((notices(0), notices(1)), (1, 0));
    let said: Vec<&Message> = opened.last().unwrap().messages.iter().map(Arc::as_ref).collect();
    let pictures = said.iter().map(|message| match message {
        Message::User(parts) => parts.iter().filter(|part| **part == picture).count(),
        Message::Assistant(_) | Message::Tool(_) => 0,
    });
    assert_eq!(pictures.sum::<usize>(), 1);
    assert!(matches!(said[0], Message::User(parts) if parts.contains(&picture)));
}

#[test]
fn where_no_session_is_kept_a_stored_one_is_left_alone() {
    let (_folder, mut setup) = setup(Which::New);
    told(&setup, vec![say()]);
    setup.session = Which::Unkept;
    let told = told(&setup, vec![newest(), Order::Open(Session::New), say()]);
    let [News::Opened(first), News::NotOpened(why), News::Opened(second), News::Finished(_)] = told.as_slice() else {
        panic!("{told:?}")
    };
    assert!(!first.kept && !second.kept && why.to_string().contains("--no-session"), "{why}");
}

#[test]
fn a_stopped_command_that_does_not_end_is_left_to_itself() {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let (release, held) = std::sync::mpsc::channel::<()>();
    let running = runtime.spawn_blocking(move || {
        let _ = held.recv();
        Output::ok("done")
    });
    let cancel = Cancel::new();
    cancel.cancel();
    assert_eq!(runtime.block_on(ended(running, &cancel, Duration::from_millis(1))), Output::error(LEFT));
    drop(release);
    let running = runtime.spawn_blocking(|| Output::ok("done"));
    assert_eq!(runtime.block_on(ended(running, &Cancel::new(), Duration::ZERO)), Output::ok("done"));
}

#[test]
fn what_a_call_has_to_show_waits_as_one_message_with_its_last_lines() {
    let (news, mail) = mailbox().unwrap();
    let say = |id: &str, text: String| tell_event(&news, &Event::ToolProgress { id: id.to_owned(), text });
    for number in 0..10_000 {
        say("a", format!("line {number}"));
        say("b", "other".to_owned());
    }
    let mut messages = Vec::new();
    mail.drain(&mut messages);
    let shown = messages.into_iter().map(|message| {
        let Msg::News(News::Event(Event::ToolProgress { id, text })) = message else { panic!("{message:?}") };
        (id, text)
    });
    let shown: Vec<_> = shown.collect();
    assert!(shown.len() == 2 && shown[1].0 == "b" && shown[1].1.ends_with("other\nother"), "{}", shown.len());
    assert!(shown[0].1.len() <= JOINED_BYTES && shown[0].1.ends_with("\nline 9999"), "{}", shown[0].1);
}

#[test]
fn pieces_that_nobody_has_looked_at_are_one_message() {
    let (news, mail) = mailbox().unwrap();
    let piece = "some ";
    for _ in 0..20_000 {
        tell_event(&news, &Event::Text(piece.to_owned()));
    }
    for text in ["hm", ", well"] {
        tell_event(&news, &Event::Reasoning(text.to_owned()));
    }
    tell_event(&news, &Event::Text("so".to_owned()));
    let mut messages = Vec::new();
    mail.drain(&mut messages);
    assert!(messages.len() <= 10, "{}", messages.len());
    let mut texts: Vec<(bool, String)> = Vec::new();
    for message in messages {
        let Msg::News(News::Event(event)) = message else { panic!("{message:?}") };
        let thinks = matches!(event, Event::Reasoning(_));
        let (Event::Text(text) | Event::Reasoning(text)) = event else { panic!("{event:?}") };
        assert!(text.len() <= JOINED_BYTES);
        match texts.last_mut().filter(|(before, _)| *before == thinks) {
            Some((_, before)) => before.push_str(&text),
            None => texts.push((thinks, text)),
        }
    }
    let said = [(false, piece.repeat(20_000)), (true, "hm, well".to_owned()), (false, "so".to_owned())];
    assert_eq!(texts, said);
}
