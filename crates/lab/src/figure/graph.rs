//! Where the nodes of a graph are drawn: as far from each other as the shortest path between them has links.
//!
//! The start are two principal axes of distances to some pivots (Brandes and Pich, "Eigensolver Methods for
//! Progressive Multidimensional Scaling of Large Data", GD 2006), from which stress majorization goes on
//! (Gansner, Koren and North, "Graph Drawing by Stress Majorization", GD 2004). The same graph is always
//! drawn alike.

use packet::random::Random;

use super::Point;

/// Of more nodes the places are those of the start: what follows looks at all pairs, again and again.
const MAX_PAIRED: usize = 1_000;
const PIVOTS: usize = 30;
const SWEEPS: usize = 120;
/// A sweep that moves no node by more than this part of a link is the last.
const STILL: f64 = 0.002;

/// A place for each of so many nodes, in units of a link; the long side of all lies across.
pub(crate) fn places(nodes: usize, links: &[[usize; 2]]) -> Vec<Point> {
    let neighbours = neighbours(nodes, links);
    let mut places = start(&neighbours);
    if nodes <= MAX_PAIRED {
        let distances: Vec<Vec<f64>> = (0..nodes).map(|from| distances(&neighbours, from)).collect();
        for _ in 0..SWEEPS {
            if sweep(&mut places, &distances) < STILL {
                break;
            }
        }
    }
    lie_down(&mut places);
    places
}

fn neighbours(nodes: usize, links: &[[usize; 2]]) -> Vec<Vec<usize>> {
    let mut neighbours = vec![Vec::new(); nodes];
    for &[a, b] in links {
        for (from, to) in [(a, b), (b, a)] {
            if let Some(list) = neighbours.get_mut(from).filter(|_| to < nodes) {
                list.push(to);
            }
        }
    }
    neighbours
}

/// How many links away each node is; those that cannot be reached are a link beyond the farthest that can.
fn distances(neighbours: &[Vec<usize>], from: usize) -> Vec<f64> {
    let mut distances = vec![f64::NAN; neighbours.len()];
    let mut order = vec![from];
    if let Some(own) = distances.get_mut(from) {
        *own = 0.0;
    }
    let (mut next, mut farthest) = (0, 0.0);
    while let Some(node) = order.get(next).copied() {
        next += 1;
        farthest = distances[node];
        for &to in &neighbours[node] {
            if distances[to].is_nan() {
                distances[to] = farthest + 1.0;
                order.push(to);
            }
        }
    }
    distances.iter_mut().filter(|distance| distance.is_nan()).for_each(|distance| *distance = farthest + 1.0);
    distances
}

/// Distances to pivots, each as far as can be from those before it, along their two principal axes.
fn start(neighbours: &[Vec<usize>]) -> Vec<Point> {
    let nodes = neighbours.len();
    let mut random = Random::from_seed(1);
    let mut columns: Vec<Vec<f64>> = Vec::new();
    let (mut pivot, mut nearest) = (0, vec![f64::INFINITY; nodes]);
    while columns.len() < PIVOTS.min(nodes) {
        let from_pivot = distances(neighbours, pivot);
        for (near, distance) in nearest.iter_mut().zip(&from_pivot) {
            *near = near.min(*distance);
        }
        columns.push(from_pivot.iter().map(|distance| distance * distance).collect());
        let farthest = nearest.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1));
        pivot = farthest.map_or(0, |(node, _)| node);
    }
    centre(&mut columns);
    let first = axis(&columns, None, &mut random);
    let second = axis(&columns, Some(&first), &mut random);
    let along = |axis: &[f64], node: usize| -> f64 {
        columns.iter().zip(axis).map(|(column, part)| column[node] * part).sum()
    };
    let mut places: Vec<Point> = (0..nodes).map(|node| (along(&first, node), along(&second, node))).collect();
    // In the sizes of links, roughly, and none on another: leaves of one node are alike to all pivots.
    let widest = places.iter().map(|place| place.0.abs().max(place.1.abs())).fold(1e-9, f64::max);
    let size = (nodes as f64).sqrt();
    for place in &mut places {
        place.0 = place.0 / widest * size + random.unit() * 0.02;
        place.1 = place.1 / widest * size + random.unit() * 0.02;
    }
    places
}

/// Takes the means of rows and of columns away.
fn centre(columns: &mut [Vec<f64>]) {
    let count = columns.len().max(1) as f64;
    for column in columns.iter_mut() {
        let mean = column.iter().sum::<f64>() / column.len().max(1) as f64;
        column.iter_mut().for_each(|value| *value -= mean);
    }
    for row in 0..columns.first().map_or(0, Vec::len) {
        let mean = columns.iter().map(|column| column[row]).sum::<f64>() / count;
        columns.iter_mut().for_each(|column| column[row] -= mean);
    }
}

/// A principal axis of rows, apart from another, by iteration.
fn axis(columns: &[Vec<f64>], apart_from: Option<&[f64]>, random: &mut Random) -> Vec<f64> {
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let squares: Vec<Vec<f64>> =
        columns.iter().map(|a| columns.iter().map(|b| product(a, b)).collect()).collect();
    let mut axis: Vec<f64> = columns.iter().map(|_| random.unit() - 0.5).collect();
    for _ in 0..100 {
        if let Some(other) = apart_from {
            let part = product(&axis, other);
            axis.iter_mut().zip(other).for_each(|(own, other)| *own -= part * other);
        }
        axis = squares.iter().map(|row| product(row, &axis)).collect();
        let length = product(&axis, &axis).sqrt().max(1e-300);
        axis.iter_mut().for_each(|part| *part /= length);
    }
    axis
}

/// Moves each node to where its distances fit best, with the others as they are; near ones count most. Gives
/// the longest way that any went.
fn sweep(places: &mut [Point], distances: &[Vec<f64>]) -> f64 {
    let mut longest = 0.0f64;
    for node in 0..places.len() {
        let own = places[node];
        let (mut across, mut down, mut weights) = (0.0, 0.0, 0.0);
        for (other, wanted) in places.iter().zip(&distances[node]) {
            // Only the node itself is no link away.
            if *wanted <= 0.0 {
                continue;
            }
            let (x, y) = (own.0 - other.0, own.1 - other.1);
            let stretch = wanted / x.hypot(y).max(1e-6);
            let weight = 1.0 / (wanted * wanted);
            across += weight * (other.0 + x * stretch);
            down += weight * (other.1 + y * stretch);
            weights += weight;
        }
        if weights > 0.0 {
            let next = (across / weights, down / weights);
            longest = longest.max((next.0 - own.0).hypot(next.1 - own.1));
            places[node] = next;
        }
    }
    longest
}

/// Turns all so that they are spread most from left to right.
fn lie_down(places: &mut [Point]) {
    let count = places.len().max(1) as f64;
    let sum = places.iter().fold((0.0, 0.0), |sum, place| (sum.0 + place.0, sum.1 + place.1));
    let middle = (sum.0 / count, sum.1 / count);
    let (mut xx, mut xy, mut yy) = (0.0, 0.0, 0.0);
    for place in places.iter() {
        let (x, y) = (place.0 - middle.0, place.1 - middle.1);
        (xx, xy, yy) = (xx + x * x, xy + x * y, yy + y * y);
    }
    let angle = 0.5 * (2.0 * xy).atan2(xx - yy);
    let (sine, cosine) = angle.sin_cos();
    for place in places.iter_mut() {
        let (x, y) = (place.0 - middle.0, place.1 - middle.1);
        *place = (x * cosine + y * sine, y * cosine - x * sine);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn apart(a: Point, b: Point) -> f64 {
        (a.0 - b.0).hypot(a.1 - b.1)
    }

    fn grid(columns: usize, rows: usize) -> Vec<[usize; 2]> {
        let nodes = 0..columns * rows;
        let across = nodes.clone().filter(|node| node % columns + 1 < columns).map(|node| [node, node + 1]);
        let down = nodes.filter(|node| node + columns < columns * rows).map(|node| [node, node + columns]);
        across.chain(down).collect()
    }

    #[test]
    fn a_chain_becomes_a_straight_line_from_left_to_right() {
        let links: Vec<[usize; 2]> = (0..9).map(|node| [node, node + 1]).collect();
        let places = places(10, &links);
        for pair in places.windows(2) {
            assert!((apart(pair[0], pair[1]) - 1.0).abs() < 0.02, "{places:?}");
            assert!((pair[0].1 - pair[1].1).abs() < 0.05, "{places:?}");
        }
    }

    #[test]
    fn a_grid_unfolds_so_that_no_two_nodes_are_nearer_than_half_a_link() {
        let places = places(80, &grid(10, 8));
        for a in 0..80 {
            for b in 0..a {
                assert!(apart(places[a], places[b]) > 0.5, "{a} and {b}: {:?}, {:?}", places[a], places[b]);
            }
        }
        let long = grid(10, 8).into_iter().map(|[a, b]| apart(places[a], places[b])).fold(0.0, f64::max);
        assert!(long < 1.6, "{long}");
    }

    #[test]
    fn leaves_of_one_node_and_parts_without_a_link_between_them_lie_apart() {
        let star: Vec<[usize; 2]> = (1..7).map(|leaf| [0, leaf]).collect();
        for (nodes, links) in [(7, star), (4, vec![[0, 1], [2, 3]]), (1, vec![]), (0, vec![])] {
            let places = places(nodes, &links);
            assert_eq!(places.len(), nodes);
            for a in 0..nodes {
                assert!(places[a].0.is_finite() && places[a].1.is_finite());
                assert!((0..a).all(|b| apart(places[a], places[b]) > 0.4), "{places:?}");
            }
        }
    }

    #[test]
    fn the_same_graph_is_always_drawn_alike() {
        assert_eq!(places(30, &grid(6, 5)), places(30, &grid(6, 5)));
    }
}
