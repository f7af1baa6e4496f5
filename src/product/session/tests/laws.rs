//! What holds for every session, however it came about and wherever it was cut off.

use std::collections::HashMap;

use proptest::prelude::*;

use super::*;
use crate::kernel::compact::{self, Folded};
use crate::kernel::history::legal;

/// Something that happens to a session. Numbers choose among what there is.
#[derive(Clone, Debug)]
enum Step {
    Say(usize),
    Answer(usize),
    Result(usize, usize),
    Stand(usize),
    Fold { kept: usize, pinned: Vec<usize> },
    Prune(usize),
    Aside(usize),
    Reopen,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    // Short, long enough to be pruned, too long for a line.
    let length = prop_oneof![6 => 1..40_usize, 2 => Just(3_000), 1 => Just(INLINE_BYTES + 1)];
    let step = prop_oneof![
        4 => length.clone().prop_map(Step::Say),
        5 => (0..4_usize).prop_map(Step::Answer),
        6 => (0..4_usize, length).prop_map(|(call, length)| Step::Result(call, length)),
        2 => any::<usize>().prop_map(Step::Stand),
        1 => (0..6_usize, proptest::collection::vec(any::<usize>(), 0..3))
            .prop_map(|(kept, pinned)| Step::Fold { kept, pinned }),
        1 => (1..6_usize).prop_map(Step::Prune),
        1 => any::<usize>().prop_map(Step::Aside),
        1 => Just(Step::Reopen),
    ];
    proptest::collection::vec(step, 1..25)
}

/// A session on disk, and the conversation as a running agent has it.
struct World {
    disk: Disk,
    session: Session,
    live: Vec<Message>,
    /// What was said in each message, by its id.
    all: HashMap<u64, Message>,
    calls: usize,
}

impl World {
    fn play(steps: &[Step]) -> Self {
        let disk = Disk::new();
        let mut session = disk.create();
        session.append(&Message::user("begin")).unwrap();
        let begun = Message::user("begin");
        let mut world = Self { disk, session, live: vec![begun.clone()], all: HashMap::from([(1, begun)]), calls: 0 };
        for step in steps {
            world.step(step);
        }
        world
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Say(length) => self.say(Message::user("u".repeat(*length))),
            Step::Answer(calls) => {
                self.calls += 1;
                let ids: Vec<_> = (0..*calls).map(|call| format!("{}-{call}", self.calls)).collect();
                self.say(answer("so", &ids.iter().map(String::as_str).collect::<Vec<_>>()));
            }
            Step::Result(call, length) => {
                let result = ToolResult::text(format!("{}-{call}", self.calls), "r".repeat(*length), false);
                if !self.session.answered.contains(&result.call_id) {
                    self.say(Message::Tool(vec![result]));
                }
            }
            Step::Stand(place) => {
                let ids: Vec<_> = std::iter::once(None).chain((1..self.session.next_id).map(Some)).collect();
                let target = ids[place % ids.len()].filter(|id| self.all.contains_key(id));
                self.session.append_leaf(target, self.session.last_id()).unwrap();
                self.reopen();
                assert_eq!(self.session.last_id(), target);
            }
            Step::Fold { kept, pinned } => self.fold(*kept, pinned),
            Step::Prune(kept) => {
                if self.session.nth_last(*kept).is_some() {
                    self.session.append_pruned(*kept).unwrap();
                    let from = self.place_of_last(*kept);
                    for message in &mut self.live[..from] {
                        *message = compact::pruned(message).unwrap_or_else(|| message.clone());
                    }
                }
            }
            Step::Aside(number) => {
                let id = *number as u64 % self.session.next_id;
                match number % 4 {
                    0 => self.session.append_label(id, Some("l".to_owned())).unwrap(),
                    1 => self.session.append_checkpoint(id, "c".to_owned()).unwrap(),
                    2 => self.session.append_name("n".to_owned()).unwrap(),
                    _ => self.session.append_grant(Grant::Write).unwrap(),
                }
            }
            Step::Reopen => {
                let before = (self.session.lines.clone(), self.session.pinned, self.session.next_id);
                let messages = self.reopen();
                assert_eq!(legal(&messages), legal(&self.grouped()));
                assert_eq!(before, (self.session.lines.clone(), self.session.pinned, self.session.next_id));
            }
        }
    }

    fn say(&mut self, message: Message) {
        self.session.append(&message).unwrap();
        self.all.insert(self.session.last_id().unwrap(), message.clone());
        self.live.push(message);
    }

    fn fold(&mut self, kept: usize, pinned: &[usize]) {
        let lines = self.live.iter().filter(|message| self.is_line(message)).count();
        let kept = kept.min(lines);
        let older = lines - kept;
        // Of the oldest first, each once.
        let mut pinned: Vec<_> = pinned.iter().filter(|_| older > 0).map(|place| kept + 1 + place % older).collect();
        pinned.sort_unstable_by(|one, other| other.cmp(one));
        pinned.dedup();
        let from = self.place_of_last(kept);
        let mut live = vec![compact::stand_in(None, "sum")];
        live.extend(pinned.iter().map(|place| self.live[self.place_of_last(*place)].clone()));
        live.extend(self.live.drain(from..));
        let folded = Folded {
            opening: None,
            text: "sum".to_owned(),
            pinned,
            kept,
            tokens_before: 9,
            tokens_after: 1,
            origin: Arc::new(origin()),
            usage: Usage::default(),
            cost: None,
        };
        self.session.append_summary(&folded).unwrap();
        self.live = live;
    }

    /// A summary is nothing that a person or model said.
    fn is_line(&self, message: &Message) -> bool {
        compact::is_line(message) && *message != compact::stand_in(None, "sum")
    }

    /// Where in the live conversation the message of a person or model stands that is this far from the end.
    fn place_of_last(&self, place: usize) -> usize {
        let lines: Vec<_> = (0..self.live.len()).filter(|place| self.is_line(&self.live[*place])).collect();
        lines.len().checked_sub(place).and_then(|place| lines.get(place)).copied().unwrap_or(self.live.len())
    }

    fn grouped(&self) -> Vec<Arc<Message>> {
        convert::grouped(self.live.clone())
    }

    fn reopen(&mut self) -> Vec<Arc<Message>> {
        self.session = Session::in_memory(Clock::Fixed(MOMENT));
        let Opened { session, messages, notices, .. } = self.disk.newest();
        assert!(notices.is_empty(), "{notices:?}");
        self.session = session;
        self.live = messages.iter().map(|message| message.as_ref().clone()).collect();
        messages
    }

    fn loaded(&self) -> load::Loaded {
        self.disk.store().look(&Selector::Newest, Path::new(CWD)).unwrap().unwrap().loaded
    }
}

/// Each call has one result, right after its message, in the order of the calls.
fn assert_paired(messages: &[Arc<Message>]) {
    let legal = legal(messages);
    for (place, message) in legal.iter().enumerate() {
        let Message::Assistant(answer) = message.as_ref() else { continue };
        let calls: Vec<_> = answer.calls().map(|call| &call.id).collect();
        match legal.get(place + 1).map(Arc::as_ref) {
            Some(Message::Tool(results)) => {
                assert_eq!(calls, results.iter().map(|result| &result.call_id).collect::<Vec<_>>());
            }
            Some(Message::User(_) | Message::Assistant(_)) | None => assert!(calls.is_empty(), "{legal:?}"),
        }
    }
    let results = legal.iter().filter(|message| matches!(message.as_ref(), Message::Tool(_))).count();
    let with_calls = legal
        .iter()
        .filter(|message| matches!(message.as_ref(), Message::Assistant(answer) if answer.calls().count() > 0));
    assert_eq!(results, with_calls.count());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// What goes on after a restart is what went on before it, and it can be sent.
    #[test]
    fn what_is_loaded_is_what_was_there(steps in steps()) {
        let mut world = World::play(&steps);
        let live = world.grouped();
        assert_paired(&live);
        world.step(&Step::Reopen);
        assert_paired(&live);
    }

    /// Branches, summaries and whatever else is written take nothing away.
    #[test]
    fn whatever_was_said_stays_and_can_be_gone_on_from(steps in steps()) {
        let world = World::play(&steps);
        let mut loaded = world.loaded();
        let blobs = world.disk.store().blobs().clone();
        for (id, said) in &world.all {
            prop_assert!(loaded.tree.stand_at(entry::Link::Id(*id)));
            let path = loaded.tree.path();
            let messages = loaded.all_messages(&path, &blobs).unwrap();
            prop_assert_eq!(messages.last(), Some(said));
            assert_paired(&loaded.conversation(&path, &blobs).unwrap().messages);
        }
        // A copy of a few of them is what a place in the original is.
        let original = Selector::Path(world.session.path().unwrap().to_owned());
        for id in world.all.keys().take(3) {
            let store = world.disk.store();
            let Opened { mut session, messages, .. } =
                store.fork(&original, Some(*id), Path::new("/fork")).unwrap().unwrap();
            session.append(&Message::user("on")).unwrap();
            let copy = Selector::Path(session.path().unwrap().to_owned());
            drop(session);
            let Opened { messages: again, notices, .. } = world.disk.open(&copy);
            prop_assert!(notices.is_empty(), "{notices:?}");
            prop_assert_eq!(&again[..messages.len()], &messages[..]);
            prop_assert_eq!(said(&again[messages.len()..]), ["on"]);
        }
    }

    /// Cut off at any byte, a file loads, takes what is said next, and has all that stood in it.
    #[test]
    fn any_beginning_of_a_file_can_be_gone_on_from(steps in steps(), cut in any::<prop::sample::Index>()) {
        let world = World::play(&steps);
        let bytes = fs::read(world.session.path().unwrap()).unwrap();
        let cut = cut.index(bytes.len() + 1);
        let beginning = &bytes[..cut];
        let path = world.disk.data.path().join("cut.jsonl");
        fs::write(&path, beginning).unwrap();
        let (store, selector) = (world.disk.store(), Selector::Path(path.clone()));
        let Ok(opened) = store.open(&selector, Path::new(CWD)) else {
            // Without its first line it is no session, and nobody touches it.
            prop_assert!(memchr::memchr(b'\n', beginning).is_none());
            prop_assert_eq!(fs::read(&path).unwrap(), beginning);
            return Ok(());
        };
        let Opened { mut session, messages: before, .. } = opened.unwrap();
        assert_paired(&before);
        session.append(&Message::user("after")).unwrap();
        drop(session);
        let Opened { messages: after, .. } = world.disk.open(&selector);
        prop_assert_eq!(&after[..before.len()], &before[..]);
        prop_assert_eq!(said(&after[before.len()..]), ["after"]);
        prop_assert!(fs::read(&path).unwrap().starts_with(beginning), "only ever appended to");
        // Whole lines are all there.
        let whole = memchr::memrchr(b'\n', beginning).map_or(0, |end| end + 1);
        if whole == 0 {
            // Its first line lacked its end alone: it is a session, and there is no whole line to compare it with.
            prop_assert!(before.is_empty());
            return Ok(());
        }
        fs::write(&path, &beginning[..whole]).unwrap();
        let looked = |selector: &Selector| store.look(selector, Path::new(CWD)).unwrap().unwrap().loaded.tree;
        let lines = looked(&selector);
        fs::write(&path, beginning).unwrap();
        let torn = looked(&selector);
        prop_assert!(torn.count() == lines.count() || torn.count() == lines.count() + 1);
        prop_assert!((0..lines.count()).all(|number| lines.id(number) == torn.id(number)));
    }
}
