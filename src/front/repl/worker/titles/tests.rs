//! Titles that come late, for another session, or not at all.

use tokio::sync::mpsc::unbounded_channel;

use super::*;
use crate::front::repl::message::Session;
use crate::front::repl::worker::tests::{say, setup};
use crate::front::term::mailbox::mailbox;
use crate::model::message::Origin;
use crate::model::usage::Usage;
use crate::product::app::Which;

fn titled(name: &str) -> Titled {
    let origin = Origin { provider: "p".to_owned(), model: "m".to_owned() };
    Titled { name: name.to_owned(), origin, usage: Usage::default(), cost: None }
}

#[test]
fn a_title_is_kept_in_the_session_it_is_for_and_yields_to_a_name() {
    let (_folder, setup) = setup(Which::New);
    let (news, _mail) = mailbox().unwrap();
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let mut worker = Worker {
        setup: &setup,
        news: &news,
        runtime,
        desk: None,
        pictures: Vec::new(),
        effort: None,
        start: None,
        chosen: None,
        titles: Titles::default(),
        until: None,
        planning: false,
    };
    let id = |worker: &Worker<'_>| worker.desk.as_ref().unwrap().assembled.agent.session.id().to_owned();
    worker.open(Which::New);
    worker.carry_out(say());
    let first = id(&worker);
    worker.open(Which::New);
    worker.carry_out(say());
    let second = id(&worker);
    worker.desk.as_mut().unwrap().assembled.agent.session.append_name("given".to_owned()).unwrap();
    for (id, name) in [(&first, "of the first"), (&second, "of the second"), (&"gone".to_owned(), "of nobody")] {
        worker.titles.sender.send((id.clone(), titled(name))).unwrap();
    }
    let (sender, mut orders) = unbounded_channel();
    sender.send(Order::Open(Session::New)).unwrap();
    drop(sender);
    assert!(worker.next(&mut orders).is_some(), "orders come first");
    assert!(worker.next(&mut orders).is_none());
    drop(worker);
    let infos = Store::new(&setup.loaded.paths.data_dir, setup.clock).list_all().infos;
    let name = |id: &String| infos.iter().find(|info| info.id == *id).unwrap().name.clone();
    assert_eq!((name(&first).as_deref(), name(&second).as_deref()), (Some("of the first"), Some("given")));
}
