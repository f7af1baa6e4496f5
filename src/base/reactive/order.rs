//! The order in which derived cells are computed: each after everything it follows from.

use std::collections::{HashMap, HashSet};

use super::Node;

/// The names on a way from `target` over one of `inputs` back to `target`, if there is one.
pub(super) fn cycle(nodes: &[Node], target: usize, inputs: &[usize]) -> Option<Vec<&'static str>> {
    let by_cell: HashMap<usize, &Node> = nodes.iter().map(|node| (node.cell, node)).collect();
    let own = by_cell.get(&target)?.name;
    let mut seen = HashSet::new();
    // Each cell still to be looked at, with the names from it back to the target.
    let mut open: Vec<(usize, Vec<&'static str>)> = inputs.iter().map(|cell| (*cell, vec![own])).collect();
    while let Some((cell, mut way)) = open.pop() {
        if cell == target {
            way.push(own);
            return Some(way);
        }
        if let Some(node) = by_cell.get(&cell).filter(|_| seen.insert(cell)) {
            way.push(node.name);
            open.extend(node.inputs.iter().map(|input| (*input, way.clone())));
        }
    }
    None
}

/// Sorts nodes without a cycle so that each stands behind its inputs; what need not move keeps its order.
pub(super) fn sort(nodes: &mut [Node]) {
    let depths = depths(nodes);
    nodes.sort_by_key(|node| depths.get(&node.cell).copied());
}

/// Of each derived cell how many others stand in a row before it.
fn depths(nodes: &[Node]) -> HashMap<usize, usize> {
    let mut depths: HashMap<usize, usize> = nodes.iter().map(|node| (node.cell, 0)).collect();
    // The longest way through `n` nodes has `n - 1` steps.
    for _ in nodes {
        let mut moved = false;
        for node in nodes {
            let below = node.inputs.iter().filter_map(|input| depths.get(input)).max().map_or(0, |most| most + 1);
            moved |= depths.insert(node.cell, below) != Some(below);
        }
        if !moved {
            break;
        }
    }
    depths
}
