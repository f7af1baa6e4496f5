//! A list of what was said on all branches, with light lines for the branches and a line to search it.
//!
//! The present conversation is the trunk and is never indented; what was left behind hangs beside the place where it
//! was left. Stands in the live region in place of the input line. Knows nothing of what is chosen.

mod shape;
#[cfg(test)]
mod tests;
mod view;

use std::collections::HashSet;

use crate::front::repl::complete::field::Field;
use crate::front::repl::complete::rank::{Of, Ranker};
use crate::front::repl::key::{Code, Key};
use shape::Shape;

/// Rows that Page Up and Page Down go.
const PAGE: usize = 10;

/// Something that was said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Node {
    /// What it follows, by its place among the nodes; an earlier one.
    pub parent: Option<usize>,
    /// Who said it.
    pub who: Who,
    /// Its first words; may be empty.
    pub text: Box<str>,
    /// What it did, in a few words; empty where it did nothing.
    pub tools: Box<str>,
    /// A note on it.
    pub label: Option<Box<str>>,
    /// How long ago it was said.
    pub age: Box<str>,
    /// Whether it is part of the present conversation.
    pub is_present: bool,
}

/// Who said something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Who {
    /// A person.
    #[default]
    Person,
    /// The agent.
    Agent,
    /// The program: a summary, a note to the agent.
    Program,
}

/// What of the tree is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filter {
    /// Everything.
    All,
    /// What people and the agent said, without the steps in which it only called tools.
    Talk,
    /// What people said.
    People,
    /// What has a label.
    Labelled,
}

impl Filter {
    const ORDER: [Self; 4] = [Self::All, Self::Talk, Self::People, Self::Labelled];

    fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Talk => "without tools",
            Self::People => "people only",
            Self::Labelled => "labelled",
        }
    }

    fn shows(self, node: &Node) -> bool {
        match self {
            Self::All => true,
            Self::Talk => node.who != Who::Agent || node.tools.is_empty(),
            Self::People => node.who == Who::Person,
            Self::Labelled => node.label.is_some(),
        }
    }

    /// The one `steps` further in the order, around.
    fn after(self, steps: usize) -> Self {
        let at = Self::ORDER.iter().position(|filter| *filter == self).unwrap_or(0);
        Self::ORDER[(at + steps) % Self::ORDER.len()]
    }
}

/// The list.
#[derive(Clone, Debug)]
pub struct Tree {
    nodes: Vec<Node>,
    here: Option<usize>,
    filter: Filter,
    query: Field,
    /// Branches of which only the first row is shown, by that node.
    folded: HashSet<usize>,
    shape: Shape,
    /// A number among the rows.
    selected: usize,
    /// The label that is being written.
    labelling: Option<Field>,
}

/// What a key did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The list stays.
    Open,
    /// Nothing was chosen.
    Closed,
    /// The conversation is to go on at this node.
    Chosen(usize),
    /// A new session is to go on at this node.
    Forked(usize),
    /// This node has another label now, which is to be kept; an empty one is none.
    Labelled(usize, String),
}

impl Tree {
    /// The tree of these nodes; the conversation stands at `here`, or at the beginning.
    pub fn new(nodes: Vec<Node>, here: Option<usize>) -> Self {
        let (filter, query, folded, labelling) = (Filter::All, Field::default(), HashSet::new(), None);
        let shape = Shape::default();
        let mut tree = Self { nodes, here, filter, query, folded, shape, selected: 0, labelling };
        tree.arrange(here);
        tree
    }

    /// The selected node, if there is any.
    pub fn selected(&self) -> Option<usize> {
        self.shape.rows.get(self.selected).map(|row| row.node)
    }

    /// What a key does.
    pub fn key(&mut self, key: Key) -> Outcome {
        if self.labelling.is_some() {
            return self.label_key(key);
        }
        if self.query.key(key) {
            self.arrange(self.selected());
            return Outcome::Open;
        }
        let chosen = self.selected();
        match (key.code, key.mods.ctrl, key.mods.shift) {
            (Code::Enter, _, _) => return chosen.map_or(Outcome::Open, Outcome::Chosen),
            (Code::Char('f'), true, _) => return chosen.map_or(Outcome::Open, Outcome::Forked),
            (Code::Char('t'), true, _) => {
                let label = chosen.and_then(|node| self.nodes.get(node)).map(|node| node.label.as_deref());
                self.labelling = label.map(|label| Field::of(label.unwrap_or_default()));
            }
            (Code::Esc, _, _) | (Code::Char('c' | 'g'), true, _) => return Outcome::Closed,
            (Code::Char('d'), true, _) if self.query.text().is_empty() => return Outcome::Closed,
            (Code::Tab, _, shift) => {
                self.filter = self.filter.after(if shift { Filter::ORDER.len() - 1 } else { 1 });
                self.arrange(chosen);
            }
            (Code::Left, _, _) => self.fold(),
            (Code::Right, _, _) => {
                if chosen.is_some_and(|node| self.folded.remove(&node)) {
                    self.arrange(chosen);
                }
            }
            (code, ctrl, _) => self.go(code, ctrl),
        }
        Outcome::Open
    }

    /// Something was pasted: its first line is searched for, or is the label.
    pub fn paste(&mut self, text: &str) {
        match &mut self.labelling {
            Some(label) => label.paste(text),
            None => {
                self.query.paste(text);
                self.arrange(self.selected());
            }
        }
    }

    fn go(&mut self, code: Code, ctrl: bool) {
        let last = self.shape.rows.len().saturating_sub(1);
        self.selected = match (code, ctrl) {
            // Around, since one row further is also how one comes to the other end.
            (Code::Up, _) | (Code::Char('p'), true) => self.selected.checked_sub(1).unwrap_or(last),
            (Code::Down, _) | (Code::Char('n'), true) => {
                if self.selected < last {
                    self.selected + 1
                } else {
                    0
                }
            }
            (Code::PageUp, _) => self.selected.saturating_sub(PAGE),
            (Code::PageDown, _) => (self.selected + PAGE).min(last),
            (Code::Home, _) => 0,
            (Code::End, _) => last,
            _ => self.selected,
        };
    }

    fn label_key(&mut self, key: Key) -> Outcome {
        let Some(field) = &mut self.labelling else { return Outcome::Open };
        if field.key(key) {
            return Outcome::Open;
        }
        match (key.code, key.mods.ctrl) {
            (Code::Enter, _) => {}
            (Code::Esc, _) | (Code::Char('c' | 'g'), true) => {
                self.labelling = None;
                return Outcome::Open;
            }
            _ => return Outcome::Open,
        }
        let label = field.text().trim().to_owned();
        self.labelling = None;
        let Some(chosen) = self.selected() else { return Outcome::Open };
        if let Some(node) = self.nodes.get_mut(chosen) {
            node.label = Some(label.as_str().into()).filter(|_| !label.is_empty());
        }
        self.arrange(Some(chosen));
        Outcome::Labelled(chosen, label)
    }

    /// Folds the branch that the selected row is part of.
    fn fold(&mut self) {
        if let Some(head) = self.shape.head_of(self.selected).filter(|_| self.query.is_blank()) {
            self.folded.insert(head);
            self.arrange(Some(head));
        }
    }

    /// Lays out anew what is to be shown, with this node selected, or the nearest one that is shown.
    fn arrange(&mut self, selected: Option<usize>) {
        let Self { nodes, filter, query, .. } = self;
        let mut ranker = (!query.is_blank()).then(|| Ranker::new(query.text(), Of::Words));
        let mut shows = |node: &Node| {
            let fits = |ranker: &mut Ranker| ranker.quick(&searched(node)).is_some();
            filter.shows(node) && ranker.as_mut().is_none_or(fits)
        };
        let shown: Vec<bool> = nodes.iter().map(&mut shows).collect();
        // A branch is not to hide what is looked for.
        let none = HashSet::new();
        let folded = if query.is_blank() { &self.folded } else { &none };
        self.shape = Shape::of(nodes, &shown, folded);
        let wanted = std::iter::successors(selected, |node| nodes.get(*node).and_then(|node| node.parent));
        let place = |node: usize| self.shape.rows.iter().position(|row| row.node == node);
        let nearest = wanted.filter(|node| shown.get(*node) == Some(&true)).find_map(place);
        self.selected = nearest.unwrap_or(self.shape.rows.len().saturating_sub(1));
    }
}

/// What a query is compared with; the text comes first.
fn searched(node: &Node) -> String {
    let label = node.label.as_deref().unwrap_or_default();
    format!("{} {} {label}", node.text, node.tools)
}
