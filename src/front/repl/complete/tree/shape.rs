//! From nodes to rows: which are shown, in which order, and which lines stand before them.
//!
//! Without recursion and in time that grows with the nodes: a conversation is as deep as it is long.

use std::collections::HashSet;

use super::Node;

/// Rows, from top to bottom.
#[derive(Clone, Debug, Default)]
pub(super) struct Shape {
    pub(super) rows: Vec<Row>,
    /// What stands before the rows of a branch. The first one is the trunk's: nothing.
    leads: Vec<Lead>,
}

/// A row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Row {
    /// The node that it shows.
    pub(super) node: usize,
    /// Its branch, by the place of its lead.
    lead: usize,
    /// Whether it is the first of a branch.
    is_head: bool,
    /// How many rows are folded behind it.
    pub(super) folded: usize,
}

/// What stands before the rows of a branch.
#[derive(Clone, Copy, Debug)]
struct Lead {
    /// The branch beside which it hangs.
    outer: Option<usize>,
    /// Whether that one goes on below it.
    goes_on: bool,
    /// Its first node; nothing for the trunk.
    head: Option<usize>,
}

/// A line before a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// A branch begins here, and something follows beside it.
    Begins,
    /// A branch begins here, the last one.
    BeginsLast,
    /// Something goes on beside it.
    Beside,
    /// Nothing does.
    Blank,
}

impl Shape {
    /// The rows of those nodes that are `shown`, without what is behind the heads of `folded` branches.
    pub(super) fn of(nodes: &[Node], shown: &[bool], folded: &HashSet<usize>) -> Self {
        let family = Family::of(nodes, shown);
        let mut shape = Self { rows: Vec::new(), leads: vec![Lead { outer: None, goes_on: false, head: None }] };
        let mut waiting = Vec::new();
        shape.branch_off(&family, None, 0, nodes, &mut waiting);
        while let Some((node, lead, is_head)) = waiting.pop() {
            let behind = if folded.contains(&node) && is_head { family.size(node).saturating_sub(1) } else { 0 };
            shape.rows.push(Row { node, lead, is_head, folded: behind });
            if behind == 0 {
                shape.branch_off(&family, Some(node), lead, nodes, &mut waiting);
            }
        }
        shape
    }

    /// Puts what follows `node` on the heap: what comes first on top.
    fn branch_off(
        &mut self,
        family: &Family,
        node: Option<usize>,
        lead: usize,
        nodes: &[Node],
        waiting: &mut Vec<(usize, usize, bool)>,
    ) {
        let children = family.children(node);
        let is_present = |node: usize| nodes.get(node).is_some_and(|node| node.is_present);
        // The present conversation has nothing behind where it stands.
        let ends_here = node.is_none_or(is_present) && !children.iter().any(|child| is_present(*child));
        let trunk = children.iter().copied().find(|child| is_present(*child));
        let trunk = trunk.or_else(|| children.last().copied().filter(|_| !ends_here));
        waiting.extend(trunk.map(|trunk| (trunk, lead, false)));
        let aside = children.iter().copied().filter(|child| Some(*child) != trunk);
        for (number, child) in aside.rev().enumerate() {
            self.leads.push(Lead { outer: Some(lead), goes_on: trunk.is_some() || number > 0, head: Some(child) });
            waiting.push((child, self.leads.len() - 1, true));
        }
    }

    /// The first node of the branch that a row is part of; nothing for the trunk.
    pub(super) fn head_of(&self, row: usize) -> Option<usize> {
        self.rows.get(row).and_then(|row| self.leads.get(row.lead)).and_then(|lead| lead.head)
    }

    /// The lines before a row, from the left.
    pub(super) fn lines(&self, row: &Row) -> Vec<Line> {
        let mut lines = Vec::new();
        let mut at = Some(row.lead);
        while let Some(lead) = at.and_then(|at| self.leads.get(at)).filter(|lead| lead.outer.is_some()) {
            lines.push(match (lines.is_empty() && row.is_head, lead.goes_on) {
                (true, true) => Line::Begins,
                (true, false) => Line::BeginsLast,
                (false, true) => Line::Beside,
                (false, false) => Line::Blank,
            });
            at = lead.outer;
        }
        lines.reverse();
        lines
    }
}

/// Who follows whom among the nodes that are shown.
struct Family {
    /// The children of all, one after the other: first those of nobody.
    children: Vec<usize>,
    /// Where the children of a node begin; the first place is nobody's.
    begin: Vec<usize>,
    /// How many nodes there are from each one on.
    sizes: Vec<usize>,
}

impl Family {
    fn of(nodes: &[Node], shown: &[bool]) -> Self {
        let is_shown = |node: usize| shown.get(node) == Some(&true);
        // The nearest node before each that is shown, as a place: one more than its number.
        let mut parents = vec![0; nodes.len()];
        for (number, node) in nodes.iter().enumerate() {
            let parent = node.parent.filter(|parent| *parent < number);
            parents[number] = parent.map_or(0, |parent| if is_shown(parent) { parent + 1 } else { parents[parent] });
        }
        let mut begin = vec![0; nodes.len() + 2];
        let mut sizes: Vec<usize> = shown.iter().map(|shown| usize::from(*shown)).collect();
        for number in (0..nodes.len()).rev().filter(|number| is_shown(*number)) {
            begin[parents[number] + 1] += 1;
            if let Some(parent) = parents[number].checked_sub(1) {
                sizes[parent] += sizes[number];
            }
        }
        for place in 1..begin.len() {
            begin[place] += begin[place - 1];
        }
        let mut next = begin.clone();
        let mut children = vec![0; begin.last().copied().unwrap_or(0)];
        for number in (0..nodes.len()).filter(|number| is_shown(*number)) {
            let place = &mut next[parents[number]];
            children[*place] = number;
            *place += 1;
        }
        Self { children, begin, sizes }
    }

    fn children(&self, of: Option<usize>) -> &[usize] {
        let place = of.map_or(0, |node| node + 1);
        let range = self.begin.get(place).zip(self.begin.get(place + 1)).map(|(begin, end)| *begin..*end);
        range.and_then(|range| self.children.get(range)).unwrap_or_default()
    }

    fn size(&self, node: usize) -> usize {
        self.sizes.get(node).copied().unwrap_or(0)
    }
}
