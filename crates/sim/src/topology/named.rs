//! The form of our own: nodes and links by name, as TOML or as JSON.
//!
//! ```toml
//! [[node]]
//! name = "london"
//!
//! [[node]]
//! name = "paris"
//!
//! [[link]]
//! from = "london"
//! to = "paris"
//! rate = "10 Gbps"
//! delay = "1.7 ms"
//! ```

use packet::time::Duration;
use packet::units::{self, UnitError};
use serde::Deserialize;
use serde::de::{Deserializer, Error as _};
use thiserror::Error;

use super::{Collector, Topology, TopologyError, TopologyLink};

/// A node of a file or of a scenario.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NamedNode {
    /// What links call it.
    pub name: String,
    /// Where it is.
    pub x: Option<f64>,
    /// Where it is.
    pub y: Option<f64>,
}

/// A link between two nodes. What is `None` is not known.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NamedLink {
    /// The name of one end.
    pub from: String,
    /// The name of the other.
    pub to: String,
    /// Bits a second, written as `"10 Mbps"`.
    #[serde(default, deserialize_with = "rate")]
    pub rate: Option<u64>,
    /// One way, written as `"5 ms"`.
    #[serde(default, deserialize_with = "span")]
    pub delay: Option<Duration>,
    /// For routing.
    pub metric: Option<u32>,
    /// Packets that may wait.
    pub queue_packets: Option<u32>,
    /// Probability that a packet is lost.
    pub loss: Option<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    node: Vec<NamedNode>,
    #[serde(default)]
    link: Vec<NamedLink>,
}

/// Why nodes and links by name are no topology.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NamedTopologyError {
    /// Not TOML, or not with these keys; with line and column.
    #[error("{0}")]
    Toml(String),
    /// Not JSON, or not with these keys; with line and column.
    #[error("{0}")]
    Json(String),
    /// What the node of this number, from 1, says cannot be.
    #[error("node {0}: {1}")]
    Node(usize, String),
    /// What the link of this number, from 1, says cannot be.
    #[error("link {0}: {1}")]
    Link(usize, String),
}

impl Topology {
    /// Reads our own form as TOML.
    ///
    /// # Errors
    /// What cannot be read, and where.
    pub fn read_toml(text: &str) -> Result<Topology, NamedTopologyError> {
        let file: File = toml::from_str(text).map_err(|error| NamedTopologyError::Toml(error.to_string()))?;
        Topology::of_names(&file.node, &file.link)
    }

    /// Reads our own form as JSON.
    ///
    /// # Errors
    /// What cannot be read, and where.
    pub fn read_json(text: &str) -> Result<Topology, NamedTopologyError> {
        let file: File =
            serde_json::from_str(text).map_err(|error| NamedTopologyError::Json(error.to_string()))?;
        Topology::of_names(&file.node, &file.link)
    }

    /// The graph of these nodes and links.
    ///
    /// # Errors
    /// A name that is there twice or not at all, a link from a node to itself, a number that cannot be.
    pub fn of_names(nodes: &[NamedNode], links: &[NamedLink]) -> Result<Topology, NamedTopologyError> {
        let mut collector = Collector::default();
        let wrong_node = |error: TopologyError| NamedTopologyError::Node(error.line, error.problem);
        let wrong_link = |error: TopologyError| NamedTopologyError::Link(error.line, error.problem);
        for (number, node) in (1..).zip(nodes) {
            let position = node.x.zip(node.y).filter(|(x, y)| x.is_finite() && y.is_finite());
            collector.node(number, &node.name, position).map_err(wrong_node)?;
        }
        for (number, link) in (1..).zip(links) {
            if link.loss.is_some_and(|loss| !(0.0..=1.0).contains(&loss)) {
                let problem = "the loss must be between 0 and 1".to_owned();
                return Err(NamedTopologyError::Link(number, problem));
            }
            let from = collector.known(number, &link.from).map_err(wrong_link)?;
            let to = collector.known(number, &link.to).map_err(wrong_link)?;
            let link = TopologyLink {
                from,
                to,
                rate_bits_per_second: link.rate,
                delay: link.delay,
                metric: link.metric,
                queue_packets: link.queue_packets,
                loss: link.loss,
            };
            collector.link(number, link).map_err(wrong_link)?;
        }
        Ok(collector.topology)
    }
}

fn rate<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    quantity(deserializer, units::rate)
}

fn span<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    quantity(deserializer, units::duration)
}

fn quantity<'de, D: Deserializer<'de>, T>(
    deserializer: D,
    read: fn(&str) -> Result<T, UnitError>,
) -> Result<Option<T>, D::Error> {
    let text = Option::<String>::deserialize(deserializer)?;
    text.map(|text| read(&text).map_err(D::Error::custom)).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::TopologyNodeId;

    const PAIR: &str = r#"
[[node]]
name = "a"
x = 1.0
y = 2.0
[[node]]
name = "b"
[[link]]
from = "a"
to = "b"
rate = "10 Mbps"
delay = "5 ms"
queue_packets = 20
"#;

    #[test]
    fn toml_and_json_say_the_same() {
        let topology = Topology::read_toml(PAIR).unwrap();
        assert_eq!(topology.nodes[TopologyNodeId(0)].position, Some((1.0, 2.0)));
        let link = &topology.links[0];
        assert_eq!((link.from.0, link.to.0, link.queue_packets, link.metric), (0, 1, Some(20), None));
        assert_eq!(link.rate_bits_per_second, Some(10_000_000));
        assert_eq!(link.delay, Some(Duration::from_millis(5)));
        let json = r#"{"node": [{"name": "a", "x": 1.0, "y": 2.0}, {"name": "b"}],
            "link": [{"from": "a", "to": "b", "rate": "10 Mbps", "delay": "5 ms", "queue_packets": 20}]}"#;
        assert_eq!(Topology::read_json(json).unwrap(), topology);
    }

    #[test]
    fn mistakes_are_told_with_their_place() {
        let error = |text: &str| Topology::read_toml(text).unwrap_err().to_string();
        assert_eq!(error("node = [{name='a'}, {name='a'}]"), "node 2: node \"a\" is there twice");
        let link = |rest: &str| error(&format!("node = [{{name='a'}}, {{name='b'}}]\nlink = [{{{rest}}}]"));
        assert_eq!(link("from='a', to='c'"), "link 1: there is no node \"c\"");
        assert_eq!(link("from='a', to='a'"), "link 1: a link from a node to itself");
        assert_eq!(link("from='a', to='b', loss=1.5"), "link 1: the loss must be between 0 and 1");
        assert!(link("from='a', to='b', rate='fast'").contains("\"fast\" is not a rate"));
        assert!(link("from='a', to='b', color='red'").contains("unknown field `color`"));
        let error = Topology::read_json("{\"node\": [{}]}").unwrap_err().to_string();
        assert!(error.contains("missing field `name` at line 1"), "{error}");
    }
}
