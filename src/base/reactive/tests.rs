//! A small graph by hand, what is refused, and random graphs against a model that computes everything anew.

use std::cell::{Cell as Counter, RefCell};
use std::rc::Rc;

use proptest::prelude::*;

use super::*;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Change {
    Left(u64),
    Right(u64),
    Nothing,
}

fn left(value: &mut u64, change: &Change) -> bool {
    match change {
        Change::Left(new) => set(value, *new),
        Change::Right(_) | Change::Nothing => false,
    }
}

fn right(value: &mut u64, change: &Change) -> bool {
    match change {
        Change::Right(new) => set(value, *new),
        Change::Left(_) | Change::Nothing => false,
    }
}

type Heard<T> = Rc<RefCell<Vec<T>>>;

#[test]
fn watchers_see_all_events_and_never_half_of_them() {
    let mut graph = Graph::new();
    let (a, b) = (graph.store("a", 1, left), graph.store("b", 2, right));
    let sum = graph.derived("sum", (&a, &b), |(a, b)| a + b);
    let check = graph.derived("check", (&a, &b, &sum), |(a, b, sum)| a + b == *sum);
    let heard: Heard<(u64, bool)> = Rc::default();
    let own = Rc::clone(&heard);
    graph.watch("w", (&sum, &check), move |(sum, check), _| own.borrow_mut().push((*sum, *check)));
    graph.emit_all([Change::Left(10), Change::Right(20)]).unwrap();
    graph.emit(Change::Nothing).unwrap();
    graph.emit(Change::Left(10)).unwrap();
    assert_eq!(*heard.borrow(), [(30, true)]);
    graph.emit_all([Change::Left(20), Change::Right(10)]).unwrap();
    assert_eq!(*heard.borrow(), [(30, true)], "the sum is what it was");
    assert_eq!((*graph.get(&a), *graph.get(&sum), *graph.get(&check)), (20, 30, true));
    assert_eq!(format!("{sum:?}"), "Derived(sum: 30)");
}

#[test]
fn a_watcher_that_is_removed_hears_nothing() {
    let mut graph = Graph::new();
    let a = graph.store("a", 0, left);
    let heard: Rc<Counter<u32>> = Rc::default();
    let (one, two) = (Rc::clone(&heard), Rc::clone(&heard));
    let first = graph.watch("first", (&a,), move |_, _| one.set(one.get() + 1));
    graph.watch("second", (&a,), move |_, _| two.set(two.get() + 100));
    graph.emit(Change::Left(1)).unwrap();
    graph.unwatch(first);
    graph.emit(Change::Left(2)).unwrap();
    assert_eq!(heard.get(), 201);
}

#[test]
fn what_watchers_send_is_reduced_after_all_have_heard() {
    let mut graph = Graph::new();
    let (a, b) = (graph.store("a", 0, left), graph.store("b", 0, right));
    let heard: Heard<(u64, u64)> = Rc::default();
    graph.watch("copy", (&a,), |(a,), outbox| outbox.send(Change::Right(*a)));
    let own = Rc::clone(&heard);
    graph.watch("both", (&a, &b), move |(a, b), _| own.borrow_mut().push((*a, *b)));
    graph.emit(Change::Left(5)).unwrap();
    assert_eq!(*heard.borrow(), [(5, 0), (5, 5)]);
}

#[test]
fn watchers_that_never_agree_are_stopped() {
    let mut graph = Graph::new();
    let a = graph.store("a", 0, left);
    graph.watch("counter", (&a,), |(a,), outbox| outbox.send(Change::Left(a + 1)));
    let quiet = graph.store("b", 0, right);
    graph.watch("quiet", (&quiet,), |_, _| {});
    let error = graph.emit(Change::Left(1)).unwrap_err();
    assert_eq!(error, GraphError::Endless { rounds: MAX_ROUNDS, watchers: vec!["counter"] });
    assert_eq!(*graph.get(&a), MAX_ROUNDS as u64);
    graph.emit(Change::Right(1)).unwrap();
    assert_eq!((*graph.get(&a), *graph.get(&quiet)), (MAX_ROUNDS as u64, 1), "what was sent last is gone");
}

#[test]
fn as_many_rounds_as_are_allowed_are_no_error() {
    let mut graph = Graph::new();
    let a = graph.store("a", 0, left);
    let last = MAX_ROUNDS as u64;
    let up = move |(a,): (&u64,), outbox: &mut Outbox<'_, Change>| {
        if *a < last {
            outbox.send(Change::Left(a + 1));
        }
    };
    graph.watch("counter", (&a,), up);
    graph.emit(Change::Left(1)).unwrap();
    assert_eq!(*graph.get(&a), last);
}

#[test]
fn a_cycle_is_refused_and_named() {
    let mut graph = Graph::new();
    let a = graph.store("a", 1, left);
    let b = graph.derived("b", (&a,), |(a,)| a + 1);
    let c = graph.derived("c", (&b,), |(b,)| b + 1);
    let d = graph.derived("d", (&a, &c), |(a, c)| a + c);
    let error = graph.rewire(&b, (&a, &d), |(a, d)| a + d).unwrap_err();
    assert_eq!(error, GraphError::Cycle { cells: vec!["b", "d", "c", "b"] });
    assert_eq!(error.to_string(), "a cell would follow from itself: b <- d <- c <- b");
    let error = graph.rewire(&b, (&b,), |(b,)| *b).unwrap_err();
    assert_eq!(error, GraphError::Cycle { cells: vec!["b", "b"] });
    graph.emit(Change::Left(2)).unwrap();
    assert_eq!((*graph.get(&b), *graph.get(&c), *graph.get(&d)), (3, 4, 6), "everything is as it was");
}

#[test]
fn a_cell_can_follow_from_a_later_one() {
    let mut graph = Graph::new();
    let a = graph.store("a", 1, left);
    let b = graph.derived("b", (&a,), |(a,)| a + 1);
    let user = graph.derived("user", (&b,), |(b,)| b * 100);
    let c = graph.derived("c", (&a,), |(a,)| a * 10);
    let heard: Heard<(u64, u64)> = Rc::default();
    let own = Rc::clone(&heard);
    graph.watch("w", (&user, &c), move |(user, c), _| own.borrow_mut().push((*user, *c)));
    graph.rewire(&b, (&c,), |(c,)| c + 1).unwrap();
    graph.emit(Change::Left(2)).unwrap();
    assert_eq!(*heard.borrow(), [(1100, 10), (2100, 20)]);
}

#[test]
fn cells_of_another_graph_are_constants_and_not_rewired() {
    let (mut one, mut two) = (Graph::new(), Graph::new());
    let a = one.store("a", 1, left);
    let own = two.store("own", 1, left);
    let sum = two.derived("sum", (&own, &a), |(own, a)| own + a);
    let b = one.derived("b", (&a,), |(a,)| *a);
    one.emit(Change::Left(5)).unwrap();
    assert_eq!(*two.get(&sum), 2, "nobody has told this graph");
    two.emit(Change::Left(2)).unwrap();
    assert_eq!(*two.get(&sum), 7);
    assert_eq!(two.rewire(&b, (&own,), |(own,)| *own).unwrap_err(), GraphError::Foreign { cell: "b" });
}

/// Cells below this number are stores, each later one a derived cell.
const STORES: usize = 4;
/// Values are kept small, so that many computations come to the same and the cut there is tried.
const VALUES: u64 = 5;

/// A derived cell of the model: two inputs by number, and what to do with them.
#[derive(Clone, Copy, Debug)]
struct Plan {
    inputs: (usize, usize),
    kind: u8,
}

fn combine(kind: u8, a: u64, b: u64) -> u64 {
    match kind % 4 {
        0 => (a + b) % VALUES,
        1 => a.min(b),
        2 => a * b % VALUES,
        _ => u64::from(a > b),
    }
}

/// All values, computed anew.
fn naive(stores: &[u64; STORES], plans: &[Plan]) -> Vec<u64> {
    let mut values = stores.to_vec();
    for Plan { inputs: (a, b), kind } in plans {
        values.push(combine(*kind, values[*a], values[*b]));
    }
    values
}

fn plans() -> impl Strategy<Value = Vec<Plan>> {
    let plan = |at: usize| {
        let reach = STORES + at;
        (0..reach, 0..reach, any::<u8>()).prop_map(|(a, b, kind)| Plan { inputs: (a, b), kind })
    };
    (0usize..12).prop_flat_map(move |count| (0..count).map(plan).collect::<Vec<_>>())
}

/// A real graph of such plans; events set one store each.
struct Built {
    graph: Graph<(usize, u64)>,
    cells: Vec<Cell<u64>>,
    /// How often each derived cell was computed since it was looked at last.
    computed: Rc<RefCell<Vec<u32>>>,
    /// What each watcher saw, by the number of its cell.
    heard: Heard<(usize, u64, Vec<u64>)>,
}

fn build(plans: &[Plan], seams: &[usize]) -> Built {
    let mut graph = Graph::new();
    let mut cells: Vec<Cell<u64>> = Vec::new();
    for store in 0..STORES {
        let reduce = move |value: &mut u64, (at, new): &(usize, u64)| *at == store && set(value, *new);
        cells.push(graph.store("store", 0, reduce).0);
    }
    let computed = Rc::new(RefCell::new(vec![0; plans.len()]));
    for (at, plan) in plans.iter().enumerate() {
        let (own, kind) = (Rc::clone(&computed), plan.kind);
        let compute = move |(a, b): (&u64, &u64)| {
            own.borrow_mut()[at] += 1;
            combine(kind, *a, *b)
        };
        let (a, b) = (Derived(cells[plan.inputs.0].clone()), Derived(cells[plan.inputs.1].clone()));
        // Some cells are built on stand-ins first and get their inputs later, so that order has to be found.
        if seams.contains(&at) {
            let (c, d) = (Derived(cells[0].clone()), Derived(cells[1].clone()));
            let derived = graph.derived("derived", (&c, &d), |(c, _)| *c);
            graph.rewire(&derived, (&a, &b), compute).unwrap();
            cells.push(derived.0);
        } else {
            cells.push(graph.derived("derived", (&a, &b), compute).0);
        }
    }
    let heard: Heard<(usize, u64, Vec<u64>)> = Rc::default();
    for (at, cell) in cells.iter().enumerate() {
        let (own, all) = (Rc::clone(&heard), cells.clone());
        let see = move |(value,): (&u64,), _: &mut Outbox<'_, (usize, u64)>| {
            own.borrow_mut().push((at, *value, all.iter().map(|cell| *cell.borrow()).collect()));
        };
        graph.watch("watcher", (&Derived(cell.clone()),), see);
    }
    computed.borrow_mut().fill(0);
    Built { graph, cells, computed, heard }
}

proptest! {
    #[test]
    fn a_graph_is_what_computing_everything_would_give(
        plans in plans(),
        seams in prop::collection::vec(0usize..12, 0..4),
        flushes in prop::collection::vec(prop::collection::vec((0..STORES, 0..VALUES), 0..4), 0..12),
    ) {
        let Built { mut graph, cells, computed, heard } = build(&plans, &seams);
        let mut stores = [0; STORES];
        let mut before = naive(&stores, &plans);
        for flush in flushes {
            let mut touched = [false; STORES];
            for (at, value) in &flush {
                touched[*at] |= stores[*at] != *value;
                stores[*at] = *value;
            }
            graph.emit_all(flush).unwrap();
            let after = naive(&stores, &plans);
            let real: Vec<u64> = cells.iter().map(|cell| *graph.get(cell)).collect();
            prop_assert_eq!(&real, &after);
            // Each at most once, and only where an input may have changed.
            let changed = |at: usize| if at < STORES { touched[at] } else { before[at] != after[at] };
            for (plan, times) in plans.iter().zip(computed.borrow().iter()) {
                prop_assert_eq!(*times, u32::from(changed(plan.inputs.0) || changed(plan.inputs.1)));
            }
            // Once for each changed cell, with everything new by then.
            let expected: Vec<_> = (0..cells.len()).filter(|at| changed(*at)).collect();
            let told: Vec<_> = heard.borrow().iter().map(|(at, ..)| *at).collect();
            prop_assert_eq!(told, expected);
            for (at, value, all) in heard.borrow().iter() {
                prop_assert_eq!(*value, after[*at]);
                prop_assert_eq!(all, &after);
            }
            heard.borrow_mut().clear();
            computed.borrow_mut().fill(0);
            before = after;
        }
    }

    #[test]
    fn whatever_is_wired_a_cell_never_follows_from_itself(
        plans in plans(),
        wires in prop::collection::vec((0usize..12, 0usize..16, 0usize..16), 0..12),
    ) {
        let Built { mut graph, cells, .. } = build(&plans, &[]);
        let mut inputs: Vec<_> = plans.iter().map(|plan| vec![plan.inputs.0, plan.inputs.1]).collect();
        for (at, a, b) in wires {
            if at >= plans.len() || a >= cells.len() || b >= cells.len() {
                continue;
            }
            let reaches = |from: usize| {
                let mut open = vec![from];
                while let Some(cell) = open.pop() {
                    if cell == STORES + at {
                        return true;
                    }
                    open.extend(cell.checked_sub(STORES).into_iter().flat_map(|derived| inputs[derived].clone()));
                }
                false
            };
            let handle = |cell: usize| Derived(cells[cell].clone());
            let wired = graph.rewire(&handle(STORES + at), (&handle(a), &handle(b)), |(a, b)| (a + b) % VALUES);
            prop_assert_eq!(wired.is_err(), reaches(a) || reaches(b));
            if wired.is_ok() {
                inputs[at] = vec![a, b];
            }
            let before = graph.nodes.iter().map(|node| node.cell).collect::<Vec<_>>();
            for (place, node) in graph.nodes.iter().enumerate() {
                prop_assert!(node.inputs.iter().all(|input| *input < STORES || before[..place].contains(input)));
            }
        }
    }
}
