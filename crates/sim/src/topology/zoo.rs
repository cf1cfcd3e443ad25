//! What maps of the Topology Zoo say in either of their forms (Knight et al., "The Internet Topology Zoo",
//! JSAC 2011): nodes with label, longitude and latitude, edges with `LinkSpeedRaw` in bits a second.

use std::collections::BTreeMap;

use packet::time::Duration;

use super::{Collector, Topology, TopologyError, TopologyLink, TopologyNodeId};

/// A node or an edge of a map as it stands in its file.
#[derive(Default)]
pub(super) struct Item {
    pub(super) line: usize,
    pub(super) id: Option<String>,
    pub(super) source: Option<String>,
    pub(super) target: Option<String>,
    pub(super) values: BTreeMap<String, String>,
}

/// The map of these. Nodes are called by their ids, or by their labels if every label is there once. Where
/// both ends of an edge have a longitude and a latitude, its delay is that of light in a fibre.
pub(super) fn assemble(nodes: &[Item], edges: &[Item]) -> Result<Topology, TopologyError> {
    let mut collector = Collector::default();
    for node in nodes {
        let Some(id) = &node.id else {
            return Err(TopologyError::new(node.line, "a node without an id"));
        };
        collector.node(node.line, id, position(node))?;
    }
    for edge in edges {
        let (Some(source), Some(target)) = (&edge.source, &edge.target) else {
            return Err(TopologyError::new(edge.line, "an edge without source and target"));
        };
        let (from, to) = (collector.known(edge.line, source)?, collector.known(edge.line, target)?);
        if from == to {
            // Some maps have them; they carry nothing.
            continue;
        }
        let place = |node: TopologyNodeId| collector.topology.nodes.get(node).and_then(|node| node.position);
        let mut link = TopologyLink::between(from, to);
        link.delay = place(from).zip(place(to)).map(|(a, b)| light_time(a, b));
        link.rate_bits_per_second =
            number(edge, "LinkSpeedRaw").filter(|rate| *rate >= 1.0).map(|rate| rate as u64);
        collector.link(edge.line, link)?;
    }
    let mut topology = collector.topology;
    let mut labels: Vec<&String> = nodes.iter().filter_map(|node| node.values.get("label")).collect();
    labels.sort();
    labels.dedup();
    if labels.len() == nodes.len() {
        for (node, item) in topology.nodes.iter_mut().zip(nodes) {
            node.name = item.values.get("label").cloned().unwrap_or_default();
        }
    }
    Ok(topology)
}

fn number(item: &Item, key: &str) -> Option<f64> {
    item.values.get(key)?.trim().parse::<f64>().ok().filter(|number| number.is_finite())
}

fn position(node: &Item) -> Option<(f64, f64)> {
    number(node, "Longitude").zip(number(node, "Latitude"))
}

/// How long light takes in a fibre along the great circle between two places in degrees.
fn light_time(a: (f64, f64), b: (f64, f64)) -> Duration {
    const EARTH_RADIUS_KM: f64 = 6371.0;
    const KM_PER_SECOND: f64 = 200_000.0;
    let radians = |degrees: f64| degrees * (std::f64::consts::PI / 180.0);
    let (half_x, half_y) = (radians(b.0 - a.0) / 2.0, radians(b.1 - a.1) / 2.0);
    let squared = |x: f64| x * x;
    // `libm`, which computes the same everywhere.
    let haversine = squared(libm::sin(half_y))
        + libm::cos(radians(a.1)) * libm::cos(radians(b.1)) * squared(libm::sin(half_x));
    let kilometres = 2.0 * EARTH_RADIUS_KM * libm::asin(haversine.clamp(0.0, 1.0).sqrt());
    Duration::from_secs_f64(kilometres / KM_PER_SECOND)
}
