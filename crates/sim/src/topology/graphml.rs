//! GraphML as the Topology Zoo writes it.

use std::collections::BTreeMap;

use super::xml::{Reader, Token};
use super::zoo::{Item, assemble};
use super::{Topology, TopologyError};

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

#[cfg(test)]
mod tests {
    use super::super::{TopologyLink, TopologyNodeId};
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
        assert_eq!(topology.links[1], TopologyLink::between(TopologyNodeId(1), TopologyNodeId(2)));
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
