//! GraphML as the Topology Zoo writes it (Knight et al., "The Internet Topology Zoo", JSAC 2011): nodes with
//! label, longitude and latitude, edges with `LinkSpeedRaw` in bits a second.

use std::collections::BTreeMap;

use packet::time::Duration;

use super::xml::{Reader, Token};
use super::{Collector, Topology, TopologyError, TopologyLink};

/// What is known of the element that is being read.
#[derive(Default)]
struct Item {
    line: usize,
    id: Option<String>,
    source: Option<String>,
    target: Option<String>,
    values: BTreeMap<String, String>,
}

impl Topology {
    /// Reads GraphML. Nodes are called by their ids, or by their labels if every label is there once. Where
    /// both ends of an edge have a longitude and a latitude, its delay is that of light in a fibre
    /// (200,000 km/s) along the great circle.
    ///
    /// # Errors
    /// The line that cannot be read, and why.
    pub fn read_graphml(text: &str) -> Result<Topology, TopologyError> {
        let mut reader = Reader::new(text);
        let (mut keys, mut nodes, mut edges) = (BTreeMap::new(), Vec::new(), Vec::new());
        let mut item: Option<(usize, &str, Item)> = None;
        let mut data: Option<String> = None;
        let mut depth = 0;
        while let Some(token) = reader.token()? {
            match token {
                Token::Open { name, attributes } => {
                    depth += 1;
                    let attribute = |wanted: &str| {
                        attributes.iter().find(|(key, _)| key == wanted).map(|(_, v)| v.clone())
                    };
                    match (name.as_str(), &item) {
                        ("key", _) => {
                            if let (Some(id), Some(name)) = (attribute("id"), attribute("attr.name")) {
                                keys.insert(id, name);
                            }
                        }
                        (kind @ ("node" | "edge"), None) => {
                            let kind = if kind == "node" { "node" } else { "edge" };
                            let found = Item {
                                line: reader.line(),
                                id: attribute("id"),
                                source: attribute("source"),
                                target: attribute("target"),
                                values: BTreeMap::new(),
                            };
                            item = Some((depth, kind, found));
                        }
                        ("data", Some(_)) => data = attribute("key"),
                        _ => {}
                    }
                }
                Token::Text(text) => {
                    if let (Some((_, _, item)), Some(key)) = (&mut item, &data) {
                        let name = keys.get(key).unwrap_or(key).clone();
                        item.values.insert(name, text);
                    }
                }
                Token::Close => {
                    data = None;
                    if let Some((_, kind, found)) = item.take_if(|(at, _, _)| *at == depth) {
                        if kind == "node" { nodes.push(found) } else { edges.push(found) }
                    }
                    depth -= 1;
                }
            }
        }
        assemble(&nodes, &edges)
    }
}

fn assemble(nodes: &[Item], edges: &[Item]) -> Result<Topology, TopologyError> {
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
        let place = |place: usize| collector.topology.nodes.get(place).and_then(|node| node.position);
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ZOO: &str = r#"<?xml version="1.0" encoding="utf-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key attr.name="label" attr.type="string" for="node" id="d33" />
  <key attr.name="Longitude" attr.type="double" for="node" id="d32" />
  <key attr.name="Latitude" attr.type="double" for="node" id="d29" />
  <key attr.name="LinkSpeedRaw" attr.type="double" for="edge" id="d35" />
  <graph edgedefault="undirected">
    <data key="d0">not of a node</data>
    <node id="0"><data key="d29">51.5</data><data key="d32">0.0</data><data key="d33">London</data></node>
    <node id="1"><data key="d29">48.85</data><data key="d32">2.35</data><data key="d33">Paris &amp; more</data></node>
    <node id="2"><data key="d33">Somewhere</data></node>
    <edge source="0" target="1"><data key="d35">10000000000.0</data></edge>
    <edge source="1" target="2" />
    <edge source="2" target="2" />
  </graph>
</graphml>
"#;

    #[test]
    fn nodes_places_and_speeds_are_read() {
        let topology = Topology::read_graphml(ZOO).unwrap();
        let names: Vec<&str> = topology.nodes.iter().map(|node| node.name.as_str()).collect();
        assert_eq!(names, ["London", "Paris & more", "Somewhere"]);
        assert_eq!(topology.links.len(), 2);
        let link = &topology.links[0];
        assert_eq!(link.rate_bits_per_second, Some(10_000_000_000));
        // London to Paris is 340 km or so.
        let micros = link.delay.unwrap().as_nanos() / 1000;
        assert!((1_650..1_750).contains(&micros), "{micros}");
        assert_eq!(topology.links[1], TopologyLink::between(1, 2));
    }

    #[test]
    fn mistakes_are_told_with_their_line() {
        let error = |text: &str| Topology::read_graphml(text).unwrap_err().to_string();
        assert_eq!(error("<graph>\n<node/></graph>"), "line 2: a node without an id");
        assert_eq!(
            error("<graph>\n<edge source=\"a\" target=\"b\"/></graph>"),
            "line 2: there is no node \"a\""
        );
        assert_eq!(
            error("<graph>\n<edge source=\"a\"/></graph>"),
            "line 2: an edge without source and target"
        );
    }

    proptest! {
        #[test]
        fn a_damaged_file_does_not_panic(place in 0..ZOO.len(), len in 0..40usize, put in ".{0,4}") {
            let mut text = ZOO.to_owned();
            let end = (place + len).min(text.len());
            if text.is_char_boundary(place) && text.is_char_boundary(end) {
                text.replace_range(place..end, &put);
            }
            let _ = Topology::read_graphml(&text);
        }
    }
}
