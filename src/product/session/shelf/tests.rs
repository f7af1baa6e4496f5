//! Sessions that are looked at, named, taken away and added up.

use super::*;
use crate::base::clock::Clock;
use crate::model::message::{Assistant, AssistantPart, Message, Origin};
use crate::model::reply::StopReason;
use crate::model::usage::{Price, Usage};
use crate::product::session::preview::Exchange;
use crate::product::session::store::Selector;
use std::sync::Arc;

const MOMENT: i64 = 1_796_028_350_123;

struct Shelf {
    data: tempfile::TempDir,
}

impl Shelf {
    fn new() -> Self {
        Self { data: tempfile::tempdir().unwrap() }
    }

    fn store(&self) -> Store {
        Store::new(self.data.path(), Clock::Fixed(MOMENT))
    }

    /// A session of a question and its answer, still open.
    fn begun(&self, cwd: &str, question: &str) -> Session {
        let mut session = self.store().create(Path::new(cwd), &origin());
        session.set_price(Some(Price { input: 1.0, output: 1.0, cache_read: 1.0, cache_write: 1.0 }));
        session.append(&Message::user(question)).unwrap();
        session.append(&answer("the answer")).unwrap();
        session
    }

    fn closed(&self, cwd: &str, question: &str) -> (String, PathBuf) {
        let session = self.begun(cwd, question);
        (session.id().to_owned(), session.path().unwrap().to_owned())
    }
}

fn origin() -> Origin {
    Origin { provider: "p".into(), model: "m".into() }
}

fn answer(text: &str) -> Message {
    let content = vec![AssistantPart::Text(text.to_owned())];
    let usage = Usage { input: 500_000, output: 1, ..Usage::default() };
    Message::Assistant(Assistant { content, origin: Arc::new(origin()), stop: StopReason::Stop, usage })
}

fn titled(name: &str) -> Titled {
    let usage = Usage { input: 100, ..Usage::default() };
    let origin = Origin { provider: "p".into(), model: "small".into() };
    Titled { name: name.to_owned(), origin, usage, cost: Some(0.25) }
}

#[test]
fn a_preview_has_what_a_choice_needs() {
    let shelf = Shelf::new();
    let (id, _) = shelf.closed("/srv/one", "Why does it fail? It should not.");
    let preview = shelf.store().preview(&id[..17]).unwrap();
    let exchange =
        Exchange { question: "Why does it fail? It should not.".to_owned(), answer: "the answer".to_owned() };
    assert_eq!((preview.title.as_str(), preview.last.as_slice()), ("Why does it fail?", [exchange].as_slice()));
    assert_eq!((preview.cwd.as_str(), preview.model, preview.messages), ("/srv/one", origin(), 2));
    assert!(preview.spent.unwrap().dollars > 0.5 && preview.parent.is_none());
    assert!(shelf.store().preview("20").is_ok() && shelf.store().preview("x").is_err());
}

#[test]
fn a_name_is_given_under_the_lock_and_the_last_one_counts() {
    let shelf = Shelf::new();
    let (id, path) = shelf.closed("/srv/one", "question");
    let store = shelf.store();
    let name = || store.list_all().infos[0].name.clone();
    assert_eq!(store.rename(&id, " a\nname \u{1b}[2J").unwrap(), id);
    assert_eq!(name().as_deref(), Some("a name"));
    assert!(store.rename(&id, "--").is_err() && store.rename("x", "name").is_err());
    // A torn end swallows no name.
    let torn = fs::read_to_string(&path).unwrap() + r#"{"type":"mess"#;
    fs::write(&path, torn).unwrap();
    store.rename(&id, "again").unwrap();
    assert_eq!(name().as_deref(), Some("again"));
    let opened = store.open(&Selector::Id(id.clone()), Path::new("/srv/one")).unwrap().unwrap();
    assert_eq!(opened.session.name(), Some("again"));
    let error = store.rename(&id, "third").unwrap_err();
    assert!(error.to_string().contains("is open in another process"), "{error}");
    drop(opened);
    // Of a later version it is left alone.
    let later = r#"{"type":"session","version":99,"id":"x"}"#;
    fs::write(&path, later).unwrap();
    assert!(store.rename(&id, "name").is_err());
    assert_eq!(fs::read_to_string(&path).unwrap(), later);
}

#[test]
fn a_title_yields_to_a_name_and_its_cost_counts_all_the_same() {
    let shelf = Shelf::new();
    let store = shelf.store();
    let mut session = shelf.begun("/srv/one", "question");
    session.append_title(titled("thought of")).unwrap();
    assert_eq!(session.name(), Some("thought of"));
    session.append_name("given".to_owned()).unwrap();
    session.append_title(titled("too late")).unwrap();
    let id = session.id().to_owned();
    drop(session);
    assert_eq!(store.entitle(&id, titled("much too late")).unwrap(), id);
    let info = store.list_all().infos.remove(0);
    assert_eq!(info.name.as_deref(), Some("given"));
    let spent = info.spent.unwrap();
    let small = &spent.models.iter().find(|(origin, _)| origin.model == "small").unwrap().1;
    // Said in the same moment, all three are told apart by nothing.
    assert!(small.answers >= 1 && small.dollars >= 0.25, "{small:?}");
    assert_eq!(store.spent(&id), spent);
}

#[test]
fn what_is_removed_is_gone_with_its_checkpoints_and_nothing_else() {
    let shelf = Shelf::new();
    let store = shelf.store();
    let (id, path) = shelf.closed("/srv/one", "first");
    let (other, kept) = shelf.closed("/srv/two", "second");
    let checkpoints = |id: &str| shelf.data.path().join(CHECKPOINTS).join(id);
    for id in [&id, &other] {
        fs::create_dir_all(checkpoints(id).join("deep")).unwrap();
    }
    assert!(store.remove("").is_err() && store.remove("20").is_err(), "not clear which");
    let open = store.open(&Selector::Id(id.clone()), Path::new("/srv/one")).unwrap().unwrap();
    assert!(store.remove(&id).unwrap_err().to_string().contains("is open in another process"));
    assert!(path.exists() && checkpoints(&id).exists());
    drop(open);
    assert_eq!(store.remove(&id).unwrap().title, "first");
    assert!(!path.exists() && !checkpoints(&id).exists());
    assert!(kept.exists() && checkpoints(&other).exists());
    assert_eq!(store.list_all().infos.len(), 1);
    assert!(store.remove(&id).is_err());
}

#[test]
fn strange_files_are_removed_only_where_they_look_like_sessions() {
    let shelf = Shelf::new();
    let (_, path) = shelf.closed("/srv/one", "first");
    let folder = path.parent().unwrap();
    let file = |name: &str| {
        let file = folder.join(name);
        fs::write(&file, "garbage\n").unwrap();
        file
    };
    let (notes, dots, broken) = (file("notes.jsonl"), file("...jsonl"), file("20200101-000000-abcd.jsonl"));
    let store = shelf.store();
    assert!(store.remove("notes").unwrap_err().to_string().contains("is not a session"));
    assert!(store.remove("..").is_err());
    assert_eq!(store.remove("20200101-000000-abcd").unwrap().title, "(unreadable)");
    assert!(notes.exists() && dots.exists() && !broken.exists() && shelf.data.path().exists());
}

#[test]
fn answers_that_sessions_share_are_added_up_once() {
    let shelf = Shelf::new();
    let store = shelf.store();
    assert_eq!(store.stats().sessions, 0);
    let session = shelf.begun("/srv/one", "first");
    // Open in this process: the second opener goes on in a copy.
    let mut copy = store.open(&Selector::Newest, Path::new("/srv/one")).unwrap().unwrap().session;
    copy.append(&answer("another")).unwrap();
    drop((session, copy));
    let stats = store.stats();
    assert_eq!((stats.sessions, stats.messages, stats.spent.total().answers), (2, 5, 2));
    let days: Vec<_> = stats.days.values().map(|tally| tally.answers).collect();
    assert_eq!(days, [2]);
    let sessions = &stats.folders[0];
    assert!(sessions.name == "sessions" && sessions.bytes > 500 && sessions.files >= 2, "{sessions:?}");
    assert_eq!((stats.folders[1].name, stats.folders[1].files), ("blobs", 0));
}
