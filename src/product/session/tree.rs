//! From the lines of a file to the conversation it stands at: pure.
//!
//! Every message and summary follows another one, so that a file is a tree; the last leaf or message says which branch
//! is the conversation. A link only ever leads to an earlier line, which makes cycles impossible whatever a file says.
//! No text is looked at here.

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

#[derive(Clone, Copy, Debug)]
struct Node {
    id: u64,
    parent: Option<usize>,
    kind: NodeKind,
}

/// The tree of one file. Nodes are named by their number, counting from 0 in the order of the file.
#[derive(Debug, Default)]
pub struct Tree {
    nodes: Vec<Node>,
    latest: HashMap<u64, usize>,
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
        let number = self.nodes.len();
        let before = number.checked_sub(1);
        let parent = match parent {
            Link::Root => None,
            Link::Absent => before,
            Link::Id(id) => self.latest.get(&id).copied().or(before),
        };
        let id = match id {
            Link::Id(id) => id,
            Link::Absent | Link::Root => self.last_id.saturating_add(1),
        };
        self.nodes.push(Node { id, parent, kind });
        self.latest.insert(id, number);
        self.reserve(id);
        match kind {
            NodeKind::Message | NodeKind::Summary { .. } => self.leaf = Some(number),
            NodeKind::Other => {}
        }
        number
    }

    /// Takes an id out of use that belongs to a line outside of the tree.
    pub fn reserve(&mut self, id: u64) {
        self.last_id = self.last_id.max(id);
    }

    /// Moves the conversation to another line. A target that does not exist is ignored.
    pub fn stand_at(&mut self, target: Link) {
        match target {
            Link::Absent => {}
            Link::Root => self.leaf = None,
            Link::Id(id) => self.leaf = self.latest.get(&id).copied().or(self.leaf),
        }
    }

    /// The id of the line the conversation stands at.
    pub fn leaf_id(&self) -> Option<u64> {
        self.leaf.and_then(|leaf| self.nodes.get(leaf)).map(|node| node.id)
    }

    /// The id of a line.
    pub fn id(&self, number: usize) -> Option<u64> {
        self.nodes.get(number).map(|node| node.id)
    }

    /// The place in `path` of the last line with this id.
    pub fn place(&self, path: &[usize], id: u64) -> Option<usize> {
        path.iter().rposition(|number| self.id(*number) == Some(id))
    }

    /// The highest id in use.
    pub fn last_id(&self) -> u64 {
        self.last_id
    }

    /// From the beginning to where the conversation stands.
    pub fn path(&self) -> Vec<usize> {
        let parent = |number: &usize| self.nodes.get(*number).and_then(|node| node.parent);
        let mut path: Vec<_> = std::iter::successors(self.leaf, parent).collect();
        path.reverse();
        path
    }

    /// What of `path` is sent to the model: from the last summary on, and what it keeps.
    pub fn active(&self, path: &[usize]) -> Active {
        let kind = |number: &usize| self.nodes.get(*number).map_or(NodeKind::Other, |node| node.kind);
        let is_message = |number: &&usize| kind(number) == NodeKind::Message;
        let summary = path.iter().enumerate().rev().find_map(|(place, number)| match kind(number) {
            NodeKind::Summary { first_kept } => Some((place, *number, first_kept)),
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
        tree.stand_at(Link::Id(3));
        assert_eq!((tree.path(), tree.leaf_id()), (vec![0, 1, 2], Some(3)));
        tree.stand_at(Link::Id(99));
        tree.stand_at(Link::Absent);
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

    proptest! {
        #[test]
        fn a_path_only_ever_goes_forward(
            lines in proptest::collection::vec((link(), link(), link(), 0..4u8), 0..40)
        ) {
            let mut tree = Tree::default();
            for (id, parent, kept, kind) in lines {
                match kind {
                    0 => tree.stand_at(parent),
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
    }
}
