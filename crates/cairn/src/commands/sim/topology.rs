//! From the topology of a scenario to nodes and links of a network.

use std::path::Path;

use packet::random::Random;
use packet::time::Duration;
use sim::topology::Topology as Graph;
use sim::{LinkConfig, Network, NodeId};

use super::Failure;
use super::quantity::NodeRef;
use super::scenario::{Topology, TopologyKind};

/// The nodes of a network by their names.
pub(super) struct Nodes {
    pub(super) ids: Vec<NodeId>,
    pub(super) names: Vec<String>,
}

impl Nodes {
    pub(super) fn find(&self, node: &NodeRef) -> Result<NodeId, Failure> {
        let place = match node {
            NodeRef::Number(number) => Some(*number),
            NodeRef::Name(name) => self.names.iter().position(|other| other == name),
        };
        place.and_then(|place| self.ids.get(place).copied()).ok_or_else(|| {
            let some = self.names.iter().take(5).map(String::as_str).collect::<Vec<_>>().join(", ");
            format!("there is no node {node}; there are {}: {some} …", self.ids.len()).into()
        })
    }

    pub(super) fn name(&self, node: NodeId) -> &str {
        let place = self.ids.iter().position(|other| *other == node);
        place.and_then(|place| self.names.get(place)).map_or("?", String::as_str)
    }

    fn numbered(ids: Vec<NodeId>) -> Self {
        let names = ids.iter().map(|id| format!("node-{id}")).collect();
        Nodes { ids, names }
    }
}

/// Builds the topology. Files are looked for in `folder`, and `seed` draws what is random.
pub(super) fn build(
    network: &mut Network,
    topology: &Topology,
    link: &LinkConfig,
    bottleneck: &LinkConfig,
    folder: &Path,
    seed: u64,
) -> Result<Nodes, Failure> {
    let need = |value: Option<usize>, key: &str| -> Result<usize, Failure> {
        value.ok_or_else(|| format!("topology.{key} is missing: a {:?} needs it", topology.kind).into())
    };
    let numbered = match topology.kind {
        TopologyKind::Chain => network.chain(need(topology.nodes, "nodes")?, link)?,
        TopologyKind::Star => network.star(need(topology.leaves, "leaves")?, link)?,
        TopologyKind::Tree => {
            network.tree(need(topology.children, "children")?, need(topology.depth, "depth")?, link)?
        }
        TopologyKind::Grid => {
            network.grid(need(topology.columns, "columns")?, need(topology.rows, "rows")?, link)?
        }
        TopologyKind::Dumbbell => {
            return build_dumbbell(network, need(topology.pairs, "pairs")?, link, bottleneck);
        }
        _ => {
            let graph = graph(topology, folder, seed)?;
            let ids = graph.build(network, link)?;
            return Ok(Nodes { ids, names: graph.nodes.into_iter().map(|node| node.name).collect() });
        }
    };
    Ok(Nodes::numbered(numbered))
}

fn build_dumbbell(
    network: &mut Network,
    pairs: usize,
    link: &LinkConfig,
    bottleneck: &LinkConfig,
) -> Result<Nodes, Failure> {
    let dumbbell = network.dumbbell(pairs, link, bottleneck)?;
    let mut nodes = Nodes { ids: Vec::new(), names: Vec::new() };
    let sides = [("router", &dumbbell.routers[..]), ("left", &dumbbell.left), ("right", &dumbbell.right)];
    for (side, ids) in sides {
        for (number, id) in ids.iter().enumerate() {
            nodes.ids.push(*id);
            nodes.names.push(format!("{side}-{number}"));
        }
    }
    Ok(nodes)
}

/// A graph that is drawn, or read from a file.
fn graph(topology: &Topology, folder: &Path, seed: u64) -> Result<Graph, Failure> {
    let need = |value: Option<usize>, key: &str| -> Result<usize, Failure> {
        value.ok_or_else(|| format!("topology.{key} is missing: a {:?} needs it", topology.kind).into())
    };
    let mut random = Random::derive(seed, 0x746f_706f);
    let graph = match topology.kind {
        TopologyKind::Waxman => Graph::waxman(
            need(topology.nodes, "nodes")?,
            topology.alpha.unwrap_or(0.4),
            topology.beta.unwrap_or(0.1),
            topology.diagonal_delay.map_or(Duration::from_millis(50), |span| span.0),
            &mut random,
        )?,
        TopologyKind::BarabasiAlbert => Graph::barabasi_albert(
            need(topology.nodes, "nodes")?,
            topology.links_each.unwrap_or(2),
            &mut random,
        )?,
        TopologyKind::Explicit => Graph::of_names(&topology.node, &topology.link)?,
        _ => return read(topology, folder),
    };
    Ok(graph)
}

fn read(topology: &Topology, folder: &Path) -> Result<Graph, Failure> {
    let Some(file) = &topology.file else {
        return Err(format!("topology.file is missing: a {:?} needs it", topology.kind).into());
    };
    let path = folder.join(file);
    let shown = path.display();
    let text = crate::tool::files::read_text(&path).map_err(|error| format!("{shown}: {error}"))?;
    let found = match topology.kind {
        TopologyKind::Ndnsim => Graph::read_ndnsim(&text),
        TopologyKind::Rocketfuel => Graph::read_rocketfuel(&text),
        TopologyKind::RocketfuelWeights => Graph::read_rocketfuel_weights(&text),
        TopologyKind::RocketfuelLatencies => Graph::read_rocketfuel_latencies(&text),
        TopologyKind::Graphml => Graph::read_graphml(&text),
        _ => {
            let named =
                if file.ends_with(".json") { Graph::read_json(&text) } else { Graph::read_toml(&text) };
            return named.map_err(|error| format!("{shown}: {error}").into());
        }
    };
    let graph = found.map_err(|error| format!("{shown}, {error}"))?;
    // Maps of the world have corners that nothing leads to; nobody could fetch anything there.
    Ok(graph.largest_component())
}
