//! From the lines of a file to the conversation it stands at: pure.
//!
//! Every message and summary follows another one, so that a file is a tree; the last leaf or message says which branch
//! is the conversation. A link only ever leads to an earlier line, which makes cycles impossible whatever a file says.
//! Files have millions of lines, nearly all of them messages that follow the line before and count on from it: only
//! what is different takes memory. No text is looked at here.

use std::collections::HashMap;

use super::entry::Link;

/// A message, a summary, or something between them that a later version knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeKind {
    /// A message.
    Message,
    /// A summary of what came before it.
    Summary {
        /// The oldest message before it that is still sent to the model.
        first_kept: Link,
    },
    /// Part of the path, but not of the conversation.
    Other,
}

/// The tree of one file. Nodes are named by their number, counting from 0 in the order of the file.
#[derive(Debug, Default)]
pub struct Tree {
    count: usize,
    ids: Ids,
    /// The parents of those that do not follow the one before, by number.
    turns: Vec<(usize, Option<usize>)>,
    /// The kinds of those that are no messages, by number.
    kinds: Vec<(usize, NodeKind)>,
    leaf: Option<usize>,
    last_id: u64,
}

/// What of a path is sent to the model.
#[derive(Debug, PartialEq, Eq)]
pub struct Active {
    /// The summary that stands for what is missing before.
    pub summary: Option<usize>,
    /// Messages, oldest first.
    pub messages: Vec<usize>,
}

impl Tree {
    /// Adds the next line that is part of the tree and returns its number.
    ///
    /// A parent that does not exist was lost to damage: the line before takes its place. A line without an id gets
    /// the next free one. Of several lines with one id, a later link means the last of those before it.
    pub fn add(&mut self, id: Link, parent: Link, kind: NodeKind) -> usize {
        let number = self.count;
        let before = number.checked_sub(1);
        let parent = match parent {
            Link::Root => None,
            Link::Absent => before,
            Link::Id(id) => self.ids.latest(id).or(before),
        };
        let id = match id {
            Link::Id(id) => id,
            Link::Absent | Link::Root => self.last_id.saturating_add(1),
        };
        self.ids.push(id);
        self.count += 1;
        self.reserve(id);
        if parent != before {
            self.turns.push((number, parent));
        }
        match kind {
            NodeKind::Message => self.leaf = Some(number),
            NodeKind::Summary { .. } => {
                self.kinds.push((number, kind));
                self.leaf = Some(number);
            }
            NodeKind::Other => self.kinds.push((number, kind)),
        }
        number
    }

    /// Takes an id out of use that belongs to a line outside of the tree.
    pub fn reserve(&mut self, id: u64) {
        self.last_id = self.last_id.max(id);
    }

    /// Moves the conversation to another line, and says whether it is there. A target that does not exist is ignored.
    pub fn stand_at(&mut self, target: Link) -> bool {
        let found = match target {
            Link::Absent => return false,
            Link::Root => None,
            Link::Id(id) => match self.ids.latest(id) {
                Some(number) => Some(number),
                None => return false,
            },
        };
        self.leaf = found;
        true
    }

    /// Moves the conversation to the line with this number; nothing is the beginning.
    pub fn stand_on(&mut self, number: Option<usize>) {
        self.leaf = number.filter(|number| *number < self.count);
    }

    /// How many lines are part of the tree; their numbers are those below.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The id of the line the conversation stands at.
    pub fn leaf_id(&self) -> Option<u64> {
        self.leaf.and_then(|leaf| self.id(leaf))
    }

    /// The id of a line.
    pub fn id(&self, number: usize) -> Option<u64> {
        if number < self.count { self.ids.id(number) } else { None }
    }

    /// The last line with an id.
    pub fn number(&self, id: u64) -> Option<usize> {
        self.ids.latest(id)
    }

    /// What a line follows; nothing for a beginning.
    pub fn parent(&self, number: usize) -> Option<usize> {
        match found(&self.turns, number) {
            Some(parent) => parent,
            None => number.checked_sub(1),
        }
    }

    /// What kind of line it is.
    pub fn kind(&self, number: usize) -> NodeKind {
        found(&self.kinds, number).unwrap_or(NodeKind::Message)
    }

    /// The place in `path` of the last line with this id.
    pub fn place(&self, path: &[usize], id: u64) -> Option<usize> {
        let latest = self.ids.latest(id)?;
        match path.binary_search(&latest) {
            Ok(place) => Some(place),
            // An earlier one with the same id, where a later one is on another branch.
            Err(_) if self.ids.has_doubles() => path.iter().rposition(|number| self.id(*number) == Some(id)),
            Err(_) => None,
        }
    }

    /// The highest id in use.
    pub fn last_id(&self) -> u64 {
        self.last_id
    }

    /// From the beginning to where the conversation stands.
    pub fn path(&self) -> Vec<usize> {
        let mut path = Vec::new();
        let (mut turns, mut next) = (self.turns.as_slice(), self.leaf);
        while let Some(number) = next {
            path.push(number);
            // Numbers only become smaller, so that no turn is looked at twice.
            while turns.last().is_some_and(|(turn, _)| *turn > number) {
                turns = turns.split_last().map_or(&[], |(_, rest)| rest);
            }
            next = match turns.last() {
                Some((turn, parent)) if *turn == number => *parent,
                Some(_) | None => number.checked_sub(1),
            };
        }
        path.reverse();
        path
    }

    /// What of `path` is sent to the model: from the last summary on, and what it keeps.
    pub fn active(&self, path: &[usize]) -> Active {
        let is_message = |number: &&usize| self.kind(**number) == NodeKind::Message;
        let summary = self.kinds.iter().rev().find_map(|(number, kind)| match kind {
            NodeKind::Summary { first_kept } => Some((path.binary_search(number).ok()?, *number, *first_kept)),
            NodeKind::Message | NodeKind::Other => None,
        });
        let Some((place, number, first_kept)) = summary else {
            return Active { summary: None, messages: path.iter().filter(is_message).copied().collect() };
        };
        let (before, after) = path.split_at(place);
        let kept = match first_kept {
            Link::Absent => None,
            Link::Root => Some(0),
            Link::Id(id) => self.place(before, id),
        };
        let kept = kept.and_then(|kept| before.get(kept..)).unwrap_or_default();
        Active { summary: Some(number), messages: kept.iter().chain(after).filter(is_message).copied().collect() }
    }
}

fn found<T: Copy>(sorted: &[(usize, T)], number: usize) -> Option<T> {
    let place = sorted.binary_search_by_key(&number, |(number, _)| *number).ok()?;
    sorted.get(place).map(|(_, value)| *value)
}

/// Which number has which id. While ids go up, only where they skip some takes memory.
#[derive(Debug, Default)]
struct Ids {
    count: usize,
    last: Option<u64>,
    /// Numbers and ids of those whose id is not the next one.
    runs: Vec<(usize, u64)>,
    /// The last number of each id, once one did not go up.
    latest: Option<HashMap<u64, usize>>,
}

impl Ids {
    fn push(&mut self, id: u64) {
        let number = self.count;
        if self.latest.is_none() && self.last.is_some_and(|last| id <= last) {
            self.latest = Some((0..number).filter_map(|number| Some((self.id(number)?, number))).collect());
        }
        if let Some(latest) = &mut self.latest {
            latest.insert(id, number);
        }
        if self.last.is_none_or(|last| last.checked_add(1) != Some(id)) {
            self.runs.push((number, id));
        }
        self.last = Some(id);
        self.count += 1;
    }

    fn id(&self, number: usize) -> Option<u64> {
        let run = self.runs.partition_point(|(first, _)| *first <= number).checked_sub(1)?;
        let (first, id) = self.runs.get(run)?;
        Some(id + (number - first) as u64)
    }

    fn latest(&self, id: u64) -> Option<usize> {
        if let Some(latest) = &self.latest {
            return latest.get(&id).copied();
        }
        let run = self.runs.partition_point(|(_, first)| *first <= id).checked_sub(1)?;
        let (number, first) = self.runs.get(run)?;
        let end = self.runs.get(run + 1).map_or(self.count, |(next, _)| *next);
        // An id that no number could be as far away from is none of this run.
        let number = usize::try_from(id - first).ok()?.checked_add(*number)?;
        (number < end).then_some(number)
    }

    fn has_doubles(&self) -> bool {
        self.latest.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn tree(nodes: &[(u64, Link)]) -> Tree {
        let mut tree = Tree::default();
        for (id, parent) in nodes {
            tree.add(Link::Id(*id), *parent, NodeKind::Message);
        }
        tree
    }

    #[test]
    fn the_last_leaf_or_message_is_where_it_stands() {
        let mut tree = tree(&[(1, Link::Root), (2, Link::Id(1)), (3, Link::Id(2)), (4, Link::Id(1))]);
        assert_eq!(tree.path(), [0, 3]);
        assert!(tree.stand_at(Link::Id(3)));
        assert_eq!((tree.path(), tree.leaf_id()), (vec![0, 1, 2], Some(3)));
        assert!(!tree.stand_at(Link::Id(99)) && !tree.stand_at(Link::Absent));
        tree.add(Link::Id(5), Link::Id(2), NodeKind::Message);
        assert_eq!(tree.path(), [0, 1, 4]);
        tree.stand_at(Link::Root);
        assert_eq!((tree.path(), tree.leaf_id(), tree.last_id()), (vec![], None, 5));
    }

    #[test]
    fn lost_parents_cycles_and_doubles_do_no_harm() {
        // 7 was lost; 4 follows itself; 5 and 6 follow each other.
        let links = [(1, Link::Id(0)), (3, Link::Id(7)), (4, Link::Id(4)), (5, Link::Id(6)), (6, Link::Id(5))];
        assert_eq!(tree(&links).path(), [0, 1, 2, 3, 4]);
        // The same id twice: the link means the later one.
        assert_eq!(tree(&[(1, Link::Root), (1, Link::Id(1)), (2, Link::Id(1))]).path(), [0, 1, 2]);
        let mut nameless = Tree::default();
        nameless.add(Link::Absent, Link::Absent, NodeKind::Message);
        nameless.add(Link::Absent, Link::Absent, NodeKind::Other);
        assert_eq!((nameless.path(), nameless.leaf_id(), nameless.last_id()), (vec![0], Some(1), 2));
    }

    #[test]
    fn a_summary_stands_for_what_it_does_not_keep() {
        let mut tree = tree(&[(1, Link::Root), (2, Link::Id(1)), (3, Link::Id(2))]);
        tree.add(Link::Id(4), Link::Id(3), NodeKind::Summary { first_kept: Link::Id(2) });
        tree.add(Link::Id(5), Link::Id(4), NodeKind::Other);
        tree.add(Link::Id(6), Link::Id(5), NodeKind::Message);
        assert_eq!(tree.path(), [0, 1, 2, 3, 4, 5]);
        assert_eq!(tree.active(&tree.path()), Active { summary: Some(3), messages: vec![1, 2, 5] });
        tree.add(Link::Id(7), Link::Id(6), NodeKind::Summary { first_kept: Link::Id(99) });
        assert_eq!(tree.active(&tree.path()), Active { summary: Some(6), messages: vec![] });
        tree.stand_at(Link::Id(3));
        assert_eq!(tree.active(&tree.path()), Active { summary: None, messages: vec![0, 1, 2] });
    }

    fn link() -> impl Strategy<Value = Link> {
        prop_oneof![Just(Link::Absent), Just(Link::Root), (0u64..12).prop_map(Link::Id)]
    }

    /// The same tree with every node spelled out.
    #[derive(Default)]
    struct Plain {
        nodes: Vec<(u64, Option<usize>, NodeKind)>,
        last_id: u64,
    }

    impl Plain {
        fn add(&mut self, id: Link, parent: Link, kind: NodeKind) {
            let before = self.nodes.len().checked_sub(1);
            let parent = match parent {
                Link::Root => None,
                Link::Absent => before,
                Link::Id(id) => self.number(id).or(before),
            };
            let id = if let Link::Id(id) = id { id } else { self.last_id.saturating_add(1) };
            self.last_id = self.last_id.max(id);
            self.nodes.push((id, parent, kind));
        }

        fn number(&self, id: u64) -> Option<usize> {
            self.nodes.iter().rposition(|node| node.0 == id)
        }
    }

    fn id() -> impl Strategy<Value = Link> {
        prop_oneof![
            4 => Just(Link::Absent),
            2 => (0u64..30).prop_map(Link::Id),
            1 => prop_oneof![Just(u64::MAX), Just(u64::MAX - 1)].prop_map(Link::Id)
        ]
    }

    proptest! {
        #[test]
        fn a_path_only_ever_goes_forward(
            lines in proptest::collection::vec((link(), link(), link(), 0..4u8), 0..40)
        ) {
            let mut tree = Tree::default();
            for (id, parent, kept, kind) in lines {
                match kind {
                    0 => { tree.stand_at(parent); }
                    1 => { tree.add(id, parent, NodeKind::Summary { first_kept: kept }); }
                    2 => { tree.add(id, parent, NodeKind::Other); }
                    _ => { tree.add(id, parent, NodeKind::Message); }
                }
            }
            let path = tree.path();
            prop_assert!(path.is_sorted() && path.windows(2).all(|pair| pair[0] != pair[1]));
            let active = tree.active(&path);
            prop_assert!(active.messages.iter().all(|number| path.contains(number)));
        }

        #[test]
        fn what_takes_no_memory_is_known_all_the_same(
            lines in proptest::collection::vec((id(), link(), 0..4u8), 0..40)
        ) {
            let (mut tree, mut plain) = (Tree::default(), Plain::default());
            for (id, parent, kind) in lines {
                let kind = match kind {
                    0 => NodeKind::Summary { first_kept: parent },
                    1 => NodeKind::Other,
                    _ => NodeKind::Message,
                };
                plain.add(id, parent, kind);
                tree.add(id, parent, kind);
            }
            let nodes: Vec<_> = (0..tree.count())
                .map(|number| (tree.id(number).unwrap(), tree.parent(number), tree.kind(number)))
                .collect();
            prop_assert_eq!(&nodes, &plain.nodes);
            for id in (0..35).chain([u64::MAX - 1, u64::MAX]) {
                prop_assert_eq!(tree.number(id), plain.number(id));
            }
            // Whatever was said stays: one can stand at each line, and what is said there follows it.
            for (number, (id, ..)) in nodes.iter().enumerate() {
                let latest = plain.number(*id).unwrap();
                prop_assert!(tree.stand_at(Link::Id(*id)) && latest >= number);
                let path = tree.path();
                prop_assert_eq!(path.last(), Some(&latest));
                let first = path[0];
                prop_assert!(path.windows(2).all(|pair| tree.parent(pair[1]) == Some(pair[0])));
                prop_assert_eq!(tree.parent(first), None);
                for (place, number) in path.iter().enumerate() {
                    let id = tree.id(*number).unwrap();
                    let last = path.iter().rposition(|other| tree.id(*other) == Some(id));
                    prop_assert_eq!(tree.place(&path, id), last, "{}", place);
                }
                let next = tree.add(Link::Absent, Link::Id(*id), NodeKind::Message);
                plain.add(Link::Absent, Link::Id(*id), NodeKind::Message);
                prop_assert_eq!((tree.parent(next), tree.path().pop()), (Some(latest), Some(next)));
            }
        }
    }
}
