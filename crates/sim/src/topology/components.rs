//! What hangs together.

/// The number of each node's connected component, from zero in the order of their first nodes; `neighbours`
/// are those of each node.
pub(crate) fn components(neighbours: &[Vec<usize>]) -> Vec<usize> {
    let mut component_of = vec![usize::MAX; neighbours.len()];
    let mut count = 0;
    for start in 0..neighbours.len() {
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
