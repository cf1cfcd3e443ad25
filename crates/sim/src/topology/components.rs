//! What hangs together.

use crate::arena::{Arena, Id};

/// The number of each node's connected component, from zero in the order of their first nodes; `neighbours`
/// are those of each node.
pub(crate) fn components<I: Id>(neighbours: &Arena<I, Vec<I>>) -> Arena<I, usize> {
    let mut component_of = Arena::filled(neighbours, usize::MAX);
    let mut count = 0;
    for start in neighbours.ids() {
        if component_of[start] != usize::MAX {
            continue;
        }
        let mut waiting = vec![start];
        component_of[start] = count;
        while let Some(node) = waiting.pop() {
            for &next in &neighbours[node] {
                if component_of[next] == usize::MAX {
                    component_of[next] = count;
                    waiting.push(next);
                }
            }
        }
        count += 1;
    }
    component_of
}
