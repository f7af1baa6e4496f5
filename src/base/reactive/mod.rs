//! A reactive graph: events are reduced into stores, derived cells follow from cells, watchers hear of what changed.
//!
//! A flush has two phases: all events are reduced into the stores first; then each derived cell with a changed input is
//! computed anew, once and in topological order, and each watcher with a changed cell is told, once. So nothing ever sees
//! a mix of old and new. One thread, one owner; no clock, no tasks, and nothing in it knows what the values mean.

mod cell;
mod inputs;
mod order;
#[cfg(test)]
mod tests;

use std::cell::Ref;
use std::collections::VecDeque;
use std::rc::Rc;

use thiserror::Error;

pub use cell::{Cell, Derived, Store};
pub use inputs::Inputs;

/// The most rounds of one flush. Watchers answer each other in two or three; a hundred are two that never agree.
pub const MAX_ROUNDS: usize = 100;

/// What a graph refuses.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum GraphError {
    /// A cell would follow from itself.
    #[error("a cell would follow from itself: {}", cells.join(" <- "))]
    Cycle {
        /// The cells by name, each followed by one it is derived from; the first one is also the last.
        cells: Vec<&'static str>,
    },
    /// A cell belongs to another graph.
    #[error("{cell} is a cell of another graph")]
    Foreign {
        /// The cell's name.
        cell: &'static str,
    },
    /// Watchers went on sending events; what was not yet reduced is dropped.
    #[error("watchers still send events after {rounds} rounds; the last ones to hear: {}", watchers.join(", "))]
    Endless {
        /// How many rounds there were.
        rounds: usize,
        /// Who heard the last one, by name.
        watchers: Vec<&'static str>,
    },
}

/// The owner of stores, derived cells and watchers; `E` is what happens.
pub struct Graph<E> {
    home: Rc<()>,
    /// Of each cell the round in which it changed last.
    changed: Vec<u64>,
    reducers: Vec<Reducer<E>>,
    /// In topological order.
    nodes: Vec<Node>,
    watchers: Vec<Listener<E>>,
    next_watcher: usize,
    queue: VecDeque<E>,
    round: u64,
}

/// A watcher, to be removed by it.
#[derive(Debug, PartialEq, Eq)]
pub struct Watcher(usize);

/// Takes the events of a watcher; they are reduced in the next round of the same flush.
pub struct Outbox<'a, E>(&'a mut VecDeque<E>);

struct Reducer<E> {
    store: usize,
    reduce: Box<dyn Fn(&E) -> bool>,
}

struct Node {
    cell: usize,
    name: &'static str,
    inputs: Vec<usize>,
    /// Whether the value has changed.
    recompute: Box<dyn Fn() -> bool>,
}

type Notify<E> = dyn FnMut(&mut Outbox<'_, E>);

struct Listener<E> {
    id: usize,
    name: &'static str,
    cells: Vec<usize>,
    notify: Box<Notify<E>>,
}

impl<E> Outbox<'_, E> {
    /// Sends an event.
    pub fn send(&mut self, event: E) {
        self.0.push_back(event);
    }
}

/// Puts a value in place of another one; says whether they differ, as a reducer does.
pub fn set<T: PartialEq>(place: &mut T, value: T) -> bool {
    let differs = *place != value;
    *place = value;
    differs
}

impl<E: 'static> Default for Graph<E> {
    fn default() -> Self {
        Self::new()
    }
}

impl<E: 'static> Graph<E> {
    /// An empty graph.
    pub fn new() -> Self {
        Self {
            home: Rc::new(()),
            changed: Vec::new(),
            reducers: Vec::new(),
            nodes: Vec::new(),
            watchers: Vec::new(),
            next_watcher: 0,
            queue: VecDeque::new(),
            round: 0,
        }
    }

    /// A new store, which `reduce` lets events change; it says whether it changed the value. `name` is for errors.
    pub fn store<T: 'static>(
        &mut self,
        name: &'static str,
        initial: T,
        reduce: impl Fn(&mut T, &E) -> bool + 'static,
    ) -> Store<T> {
        let cell = self.cell(name, initial);
        let own = cell.clone();
        self.reducers.push(Reducer { store: cell.index(), reduce: Box::new(move |event| own.change(event, &reduce)) });
        Store(cell)
    }

    /// A new cell that follows from others: `inputs` is a tuple of references to them. It changes when `compute` gives
    /// a value that is not equal to the last one. A cell of another graph counts as a constant.
    pub fn derived<I: Inputs, T: PartialEq + 'static>(
        &mut self,
        name: &'static str,
        inputs: I,
        compute: impl for<'v> Fn(I::Values<'v>) -> T + 'static,
    ) -> Derived<T> {
        let from = self.own(&inputs);
        let bound = inputs.bind();
        let initial = I::with(&bound, &compute);
        let cell = self.cell(name, initial);
        let own = cell.clone();
        let recompute = Box::new(move || own.replace(I::with(&bound, &compute)));
        self.nodes.push(Node { cell: cell.index(), name, inputs: from, recompute });
        Derived(cell)
    }

    /// Lets a derived cell follow from other cells than before, and computes what comes of it.
    ///
    /// # Errors
    ///
    /// [`GraphError::Cycle`] where one of `inputs` follows from the cell, and [`GraphError::Foreign`] where it is not this
    /// graph's; nothing has changed then. Also as [`Graph::emit`].
    pub fn rewire<I: Inputs, T: PartialEq + 'static>(
        &mut self,
        derived: &Derived<T>,
        inputs: I,
        compute: impl for<'v> Fn(I::Values<'v>) -> T + 'static,
    ) -> Result<(), GraphError> {
        let cell = &derived.0;
        let from = self.own(&inputs);
        let at = cell.index();
        let known = self.nodes.iter().position(|node| node.cell == at).filter(|_| cell.is_of(&self.home));
        let Some(place) = known else { return Err(GraphError::Foreign { cell: cell.name() }) };
        if let Some(cells) = order::cycle(&self.nodes, at, &from) {
            return Err(GraphError::Cycle { cells });
        }
        let bound = inputs.bind();
        let own = cell.clone();
        let recompute = Box::new(move || own.replace(I::with(&bound, &compute)));
        if let Some(node) = self.nodes.get_mut(place) {
            *node = Node { cell: at, name: cell.name(), inputs: from, recompute };
        }
        order::sort(&mut self.nodes);
        self.round += 1;
        self.settle(Some(at));
        self.notify();
        self.flush()
    }

    /// Tells `notify` whenever one of the cells has changed: once a round, after everything has been computed.
    pub fn watch<I: Inputs>(
        &mut self,
        name: &'static str,
        inputs: I,
        mut notify: impl for<'v, 'o> FnMut(I::Values<'v>, &mut Outbox<'o, E>) + 'static,
    ) -> Watcher {
        let cells = self.own(&inputs);
        let bound = inputs.bind();
        let id = self.next_watcher;
        self.next_watcher += 1;
        let notify = Box::new(move |outbox: &mut Outbox<'_, E>| I::with(&bound, |values| notify(values, outbox)));
        self.watchers.push(Listener { id, name, cells, notify });
        Watcher(id)
    }

    /// Removes a watcher.
    #[expect(clippy::needless_pass_by_value, reason = "a watcher that is gone must not be named again")]
    pub fn unwatch(&mut self, watcher: Watcher) {
        self.watchers.retain(|listener| listener.id != watcher.0);
    }

    /// What a cell holds.
    pub fn get<'a, T>(&'a self, cell: &'a Cell<T>) -> Ref<'a, T> {
        cell.borrow()
    }

    /// Something happens: it is reduced, and what follows from it is computed and told.
    ///
    /// # Errors
    ///
    /// [`GraphError::Endless`]; what was reduced by then stays.
    pub fn emit(&mut self, event: E) -> Result<(), GraphError> {
        self.queue.push_back(event);
        self.flush()
    }

    /// Several things happen at once: watchers hear of them together.
    ///
    /// # Errors
    ///
    /// As [`Graph::emit`].
    pub fn emit_all(&mut self, events: impl IntoIterator<Item = E>) -> Result<(), GraphError> {
        self.queue.extend(events);
        self.flush()
    }

    fn flush(&mut self) -> Result<(), GraphError> {
        for _ in 0..MAX_ROUNDS {
            if self.queue.is_empty() {
                return Ok(());
            }
            self.round += 1;
            if self.reduce() {
                self.settle(None);
                self.notify();
            }
        }
        if self.queue.is_empty() {
            return Ok(());
        }
        self.queue.clear();
        let heard = self.watchers.iter().filter(|listener| self.is_stirred(&listener.cells));
        Err(GraphError::Endless { rounds: MAX_ROUNDS, watchers: heard.map(|listener| listener.name).collect() })
    }

    /// Phase one: all events that are waiting, in order. Says whether a store has changed.
    fn reduce(&mut self) -> bool {
        let mut any = false;
        while let Some(event) = self.queue.pop_front() {
            for Reducer { store, reduce } in &self.reducers {
                if reduce(&event) {
                    any = true;
                    mark(&mut self.changed, *store, self.round);
                }
            }
        }
        any
    }

    /// Phase two, its first half: every derived cell with a changed input, and `also`.
    fn settle(&mut self, also: Option<usize>) {
        for node in &self.nodes {
            let stirred = stirred(&self.changed, &node.inputs, self.round) || also == Some(node.cell);
            if stirred && (node.recompute)() {
                mark(&mut self.changed, node.cell, self.round);
            }
        }
    }

    /// Phase two, its second half: every watcher with a changed cell.
    fn notify(&mut self) {
        for listener in &mut self.watchers {
            if stirred(&self.changed, &listener.cells, self.round) {
                (listener.notify)(&mut Outbox(&mut self.queue));
            }
        }
    }

    fn is_stirred(&self, cells: &[usize]) -> bool {
        stirred(&self.changed, cells, self.round)
    }

    fn cell<T>(&mut self, name: &'static str, value: T) -> Cell<T> {
        let index = self.changed.len();
        self.changed.push(0);
        Cell::new(Rc::clone(&self.home), index, name, value)
    }

    /// The indices of those cells that are this graph's own.
    fn own(&self, inputs: &impl Inputs) -> Vec<usize> {
        let mut indices = Vec::new();
        inputs.each(&mut |home, index| {
            if Rc::ptr_eq(home, &self.home) {
                indices.push(index);
            }
        });
        indices
    }
}

fn mark(changed: &mut [u64], cell: usize, round: u64) {
    if let Some(last) = changed.get_mut(cell) {
        *last = round;
    }
}

fn stirred(changed: &[u64], cells: &[usize], round: u64) -> bool {
    cells.iter().any(|cell| changed.get(*cell) == Some(&round))
}
