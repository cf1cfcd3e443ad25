//! Which nodes there are and which links join them, before anything is said of what they are like: as the
//! file lists them, or as its topology makes them.

use std::collections::BTreeSet;
use std::path::Path;

use packet::random::Random;
use packet::time::Duration;
use sim::topology::{Topology as Graph, TopologyLink, TopologyNodeId};

use super::choice::{Draw, Purpose};
use crate::experiment::model::{self, File, Topology};
use crate::experiment::names;
use crate::experiment::plan::NodeIndex;
use crate::experiment::problem::suggest;
use crate::experiment::read::findings::Findings;
use crate::experiment::read::named_files::Files;
use crate::experiment::units::Span;

/// Nodes and links by name.
#[derive(Debug, Default)]
pub(super) struct Shape {
    /// Names of nodes.
    pub(super) nodes: Vec<String>,
    /// Links.
    pub(super) links: Vec<Joined>,
    /// Links of the file that are not understood; what follows from those is no mistake of its own.
    pub(super) lacks_links: bool,
}

/// A link, and what its topology knows of it.
#[derive(Debug)]
pub(super) struct Joined {
    pub(super) name: String,
    pub(super) between: [NodeIndex; 2],
    /// Where more than two nodes share it, the others.
    pub(super) others: Vec<NodeIndex>,
    pub(super) known: TopologyLink,
}

/// Kinds of topologies that are drawn with the seed.
pub(in crate::experiment) fn is_random(topology: &Topology) -> bool {
    matches!(topology.kind.as_str(), "waxman" | "barabasi-albert")
}

/// The nodes and links of a file, drawn with `seed` where they are drawn.
pub(super) fn shape(file: &File, files: &Files, seed: u64, f: &mut Findings) -> Shape {
    let before = f.0.len();
    let mut shape = match &file.topology {
        None => listed(file, seed, f),
        Some(topology) => match graph(topology, files, seed) {
            Ok(graph) => generated(file, &graph, seed, f),
            Err((key, message, hint)) => {
                f.add(format!("topology.{key}"), message, hint);
                return Shape { lacks_links: true, ..Shape::default() };
            }
        },
    };
    shape.lacks_links = f.0.len() > before;
    if shape.nodes.is_empty() {
        f.add("node", "there is no node", Some("add for example: node.a = {}".to_owned()));
    }
    shape
}

/// As the file lists them, in natural order of their names.
fn listed(file: &File, seed: u64, f: &mut Findings) -> Shape {
    let mut nodes: Vec<&str> = file.node.keys().map(String::as_str).collect();
    nodes.sort_by(|a, b| names::natural(a, b));
    let links = further(file, &nodes, &BTreeSet::new(), seed, f);
    Shape { nodes: nodes.into_iter().map(str::to_owned).collect(), links, lacks_links: false }
}

/// As a graph has them, and further links of the file.
fn generated(file: &File, graph: &Graph, seed: u64, f: &mut Findings) -> Shape {
    let nodes = told_apart(graph.nodes.iter().map(|node| node.name.as_str()));
    let known: Vec<&str> = nodes.iter().map(String::as_str).collect();
    for name in file.node.keys() {
        f.node(&format!("node.{name}"), name, &known);
    }
    let mut taken = BTreeSet::new();
    let mut links: Vec<Joined> = Vec::new();
    for link in &graph.links {
        let (Some(from), Some(to)) = (nodes.get(link.from.0), nodes.get(link.to.0)) else { continue };
        let name = first_free(&format!("{from}-{to}"), &taken);
        taken.insert(name.clone());
        links.push(Joined {
            name,
            between: [link.from, link.to].map(|TopologyNodeId(place)| NodeIndex(place)),
            others: Vec::new(),
            known: link.clone(),
        });
    }
    links.extend(further(file, &known, &taken, seed, f));
    Shape { links, nodes, lacks_links: false }
}

/// Links of the file that are not among those already `there`.
fn further(
    file: &File,
    nodes: &[&str],
    there: &BTreeSet<String>,
    seed: u64,
    f: &mut Findings,
) -> Vec<Joined> {
    let mut order: Vec<(&String, &model::Link)> =
        file.link.iter().filter(|(name, _)| !there.contains(*name)).collect();
    order.sort_by(|a, b| names::natural(a.0, b.0));
    let mut links = Vec::new();
    for (name, link) in order {
        let key = format!("link.{name}");
        if !there.is_empty() && link.between.is_none() {
            let known: Vec<&str> = there.iter().map(String::as_str).collect();
            let hint = match formats::spelling::nearest(name, known.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "a further link says which nodes it is between".to_owned(),
            };
            f.add(&key, format!("the topology has no link called `{name}`"), Some(hint));
            continue;
        }
        // What is wrong with a group is said at the group.
        let groups = |given: &str| {
            let group = file.group.get(given).filter(|_| !nodes.contains(&given))?;
            Some(group.nodes.nodes(
                &key,
                nodes,
                Draw { seed, purpose: Purpose::Settings },
                &mut Findings::default(),
            ))
        };
        let ends = match &link.between {
            Some(given) => ends_given(&format!("{key}.between"), given, nodes, groups, f),
            None => ends_by_name(&key, name, nodes, f),
        };
        let Some(Ends { between, others }) = ends else { continue };
        let all: Vec<NodeIndex> = between.iter().chain(&others).copied().collect();
        if all.iter().collect::<BTreeSet<_>>().len() < all.len() {
            f.add(&key, "a link joins different nodes, each once", None);
        }
        let known = TopologyLink::between(TopologyNodeId(between[0].0), TopologyNodeId(between[1].0));
        links.push(Joined { name: name.clone(), between, others, known });
    }
    links
}

/// The nodes of a link.
struct Ends {
    between: [NodeIndex; 2],
    /// Where more than two share it.
    others: Vec<NodeIndex>,
}

/// The nodes of a link as its name has them.
fn ends_by_name(key: &str, name: &str, names: &[&str], f: &mut Findings) -> Option<Ends> {
    let parts = || name.match_indices('-').filter_map(|(at, _)| Some((name.get(..at)?, name.get(at + 1..)?)));
    let place = |wanted: &str| names.iter().position(|name| *name == wanted).map(NodeIndex);
    let between = parts().find_map(|(a, b)| Some([place(a)?, place(b)?]));
    if let Some(between) = between {
        return Some(Ends { between, others: Vec::new() });
    }
    // Where one end is a node, it is the other that is written wrong. A hyphen may be a name's own: of
    // several parts that may be meant, it is the one that is most like a node's name.
    let wrong = parts().filter_map(|(a, b)| match (names.contains(&a), names.contains(&b)) {
        (true, false) if !b.is_empty() => Some(b),
        (false, true) if !a.is_empty() => Some(a),
        _ => None,
    });
    let likeness = |part: &&str| names.iter().map(|name| formats::spelling::distance(part, name)).min();
    match wrong.min_by_key(likeness) {
        Some(wrong) => drop(f.node(key, wrong, names)),
        None => {
            let hint = Some(suggest(name.split('-').next().unwrap_or(name), names));
            f.add(key, format!("`{name}` does not name two nodes, and `between` is missing"), hint);
        }
    }
    None
}

/// The nodes of a link as the file lists them.
fn ends_given(
    key: &str,
    between: &[String],
    names: &[&str],
    group: impl Fn(&str) -> Option<Vec<NodeIndex>>,
    f: &mut Findings,
) -> Option<Ends> {
    let mut ends = Vec::new();
    for given in between {
        match group(given) {
            Some(nodes) => ends.extend(nodes),
            None => ends.push(f.node(key, given, names)?),
        }
    }
    let [a, b, others @ ..] = ends.as_slice() else {
        let hint = Some("write for example between = [\"a\", \"b\"]".to_owned());
        f.add(key, "a link has two ends at least", hint);
        return None;
    };
    Some(Ends { between: [*a, *b], others: others.to_vec() })
}

/// Names that can be part of a file's name and of a measure, each once. Maps call their nodes what they like.
fn told_apart<'a>(given: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut taken = BTreeSet::new();
    let mut names = Vec::new();
    for name in given {
        let good = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-';
        let plain: String =
            name.chars().map(|letter| if good(letter) { letter } else { '-' }).take(20).collect();
        let plain = if plain.is_empty() { "node".to_owned() } else { plain };
        let name = first_free(&plain, &taken);
        taken.insert(name.clone());
        names.push(name);
    }
    names
}

/// The name, or the first with a number behind it that is not taken.
fn first_free(name: &str, taken: &BTreeSet<String>) -> String {
    if !taken.contains(name) {
        return name.to_owned();
    }
    let mut number = 2;
    loop {
        let longer = format!("{name}-{number}");
        if !taken.contains(&longer) {
            return longer;
        }
        number += 1;
    }
}

/// Why a topology cannot be had.
#[derive(Debug)]
pub(crate) struct NoTopology {
    /// The key below `topology`.
    pub(crate) key: &'static str,
    /// What is wrong with it.
    pub(crate) message: String,
    /// What to do.
    pub(crate) hint: Option<String>,
}

/// The graph of a topology, drawn with `seed` where it is drawn.
pub(crate) fn topology_graph(topology: &Topology, files: &Files, seed: u64) -> Result<Graph, NoTopology> {
    graph(topology, files, seed).map_err(|(key, message, hint)| NoTopology { key, message, hint })
}

/// The key below `topology`, what is wrong with it, and what to do.
type TopologyFinding = (&'static str, String, Option<String>);

/// More nodes than this are a slip of the pen.
const MAX_NODES: usize = 100_000;

fn graph(topology: &Topology, files: &Files, seed: u64) -> Result<Graph, TopologyFinding> {
    let kind = topology.kind.as_str();
    let need = |value: Option<u32>, key: &'static str| -> Result<usize, TopologyFinding> {
        let missing = || (key, format!("a {kind} needs `{key}`"), Some(format!("add for example {key} = 3")));
        match value.ok_or_else(missing)? as usize {
            0 => Err((key, "it must be at least 1".to_owned(), None)),
            value if value > MAX_NODES => Err((key, format!("{value} are too many"), None)),
            value => Ok(value),
        }
    };
    let mut random = Random::derive(seed, 0x746f_706f);
    let wrong = |error: sim::SimError| ("kind", error.to_string(), None);
    let bounded = |count: Option<usize>| match count {
        Some(count) if count <= MAX_NODES => Ok(()),
        _ => Err(("kind", format!("more than {MAX_NODES} nodes are too many"), None)),
    };
    Ok(match kind {
        "chain" => Graph::chain(need(topology.nodes, "nodes")?),
        "star" => Graph::tree(need(topology.leaves, "leaves")?, 1),
        "tree" => {
            let (children, depth) = (need(topology.children, "children")?, need(topology.depth, "depth")?);
            let leaves = u32::try_from(depth).ok().and_then(|depth| children.checked_pow(depth));
            bounded(leaves.filter(|_| depth <= MAX_NODES / 10))?;
            Graph::tree(children, depth)
        }
        "grid" => {
            let (columns, rows) = (need(topology.columns, "columns")?, need(topology.rows, "rows")?);
            bounded(columns.checked_mul(rows))?;
            Graph::grid(columns, rows)
        }
        "dumbbell" => Graph::dumbbell(need(topology.pairs, "pairs")?),
        "waxman" => Graph::waxman(
            need(topology.nodes, "nodes")?,
            topology.alpha.unwrap_or(0.4),
            topology.beta.unwrap_or(0.1),
            topology.diagonal_delay.map_or(Duration::from_millis(50), Span::duration),
            &mut random,
        )
        .map_err(wrong)?,
        "barabasi-albert" => Graph::barabasi_albert(
            need(topology.nodes, "nodes")?,
            topology.links_each.unwrap_or(2) as usize,
            &mut random,
        )
        .map_err(wrong)?,
        _ => return read(topology, files),
    })
}

/// Kinds that are not read from a file.
const RULES: [&str; 7] = ["chain", "star", "tree", "grid", "dumbbell", "waxman", "barabasi-albert"];
/// Kinds that are.
const READ: [&str; 8] = [
    "named",
    "ndnsim",
    "minindn",
    "rocketfuel",
    "rocketfuel-weights",
    "rocketfuel-latencies",
    "graphml",
    "gml",
];

fn read(topology: &Topology, files: &Files) -> Result<Graph, TopologyFinding> {
    let kind = topology.kind.as_str();
    if !READ.contains(&kind) {
        let known = [&RULES[..], &READ[..]].concat();
        return Err(("kind", format!("`{kind}` is no topology"), Some(suggest(kind, &known))));
    }
    let Some(name) = &topology.file else {
        let hint = Some("add for example file = \"map.txt\"".to_owned());
        return Err(("file", format!("a {kind} is read from a file"), hint));
    };
    let Some(text) = files.text(name) else {
        let hint = Some("it is looked for in the experiment's folder".to_owned());
        return Err(("file", format!("`{name}` cannot be read"), hint));
    };
    let said = |error: String| ("file", format!("{name}: {error}"), None);
    let found = match kind {
        "ndnsim" => Graph::read_ndnsim(text),
        "rocketfuel" => Graph::read_rocketfuel(text),
        "rocketfuel-weights" => Graph::read_rocketfuel_weights(text),
        "rocketfuel-latencies" => Graph::read_rocketfuel_latencies(text),
        "graphml" => Graph::read_graphml(text),
        "gml" => Graph::read_gml(text),
        "minindn" => Graph::read_minindn(text),
        _ => {
            let is_json = Path::new(name).extension().is_some_and(|ending| ending == "json");
            let named = if is_json { Graph::read_json(text) } else { Graph::read_toml(text) };
            return named.map_err(|error| said(error.to_string()));
        }
    };
    // Maps of the world have corners that nothing leads to; nobody could fetch anything there.
    Ok(found.map_err(|error| said(error.to_string()))?.largest_component())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(text: &str, files: &Files, seed: u64) -> (Shape, Vec<String>) {
        let text = format!("title = 't'\nduration = '1 s'\n{text}");
        let file: File = toml::from_str(&text).unwrap_or_else(|error| panic!("{error}"));
        let mut f = Findings::default();
        let shape = shape(&file, files, seed, &mut f);
        (shape, f.0.into_iter().map(|finding| format!("{}: {}", finding.key, finding.message)).collect())
    }

    fn names(shape: &Shape) -> Vec<&str> {
        shape.links.iter().map(|link| link.name.as_str()).collect()
    }

    #[test]
    fn a_dumbbell_has_its_bottleneck_first_and_takes_further_links() {
        let more =
            "[link]\nround = { between = ['left-0', 'right-0'] }\nrouter-0-router-1 = { loss = '1 %' }";
        let (shape, wrong) =
            made(&format!("topology = {{ kind = 'dumbbell', pairs = 1 }}\n{more}"), &Files::default(), 1);
        assert_eq!(wrong, Vec::<String>::new());
        assert_eq!(shape.nodes, ["router-0", "router-1", "left-0", "right-0"]);
        assert_eq!(names(&shape), ["router-0-router-1", "left-0-router-0", "router-1-right-0", "round"]);
    }

    #[test]
    fn names_that_a_topology_does_not_have_are_mistakes() {
        let text = "topology = { kind = 'chain', nodes = 2 }\n[node.node-7]\n[link.node-0-node-2]\n";
        let (_, wrong) = made(text, &Files::default(), 1);
        assert_eq!(wrong.len(), 2, "{wrong:?}");
        for (text, said) in [
            ("topology = { kind = 'chian', nodes = 2 }", "topology.kind: `chian` is no topology"),
            ("topology = { kind = 'chain' }", "topology.nodes: a chain needs `nodes`"),
            ("topology = { kind = 'tree', children = 9, depth = 99 }", "are too many"),
            ("topology = { kind = 'graphml', file = 'no.xml' }", "`no.xml` cannot be read"),
            ("topology = { kind = 'waxman', nodes = 3, alpha = 2.0 }", "topology.kind"),
        ] {
            let (_, wrong) = made(text, &Files::default(), 1);
            assert!(wrong[0].contains(said), "{wrong:?}");
        }
    }

    #[test]
    fn of_a_link_whose_nodes_have_hyphens_the_name_that_is_nearly_right_is_told() {
        let text = "[node]\nconsumer = {}\nconsumer-b = {}\nrouter = {}\n[link.consumer-bb-router]\n";
        let (_, wrong) = made(text, &Files::default(), 1);
        assert_eq!(wrong, ["link.consumer-bb-router: there is no node called `consumer-bb`"]);
    }

    #[test]
    fn places_of_a_map_get_names_that_files_can_have() {
        let text = "node = [{ name = 'Paris & more' }, { name = 'Paris, more' }]\n\
                    link = [{ from = 'Paris & more', to = 'Paris, more', rate = '1 Gbps' }]";
        let files = Files::from_iter([("m.toml".to_owned(), text.as_bytes().to_vec())]);
        let (shape, wrong) = made("topology = { kind = 'named', file = 'm.toml' }", &files, 1);
        assert_eq!(wrong, Vec::<String>::new());
        assert_eq!(shape.nodes, ["Paris---more", "Paris--more"]);
        assert_eq!(shape.links[0].known.rate_bits_per_second, Some(1_000_000_000));
    }

    #[test]
    fn another_seed_draws_another_network() {
        let of = |seed| {
            let (shape, _) = made("topology = { kind = 'waxman', nodes = 20 }", &Files::default(), seed);
            shape.links.iter().map(|link| link.between).collect::<Vec<_>>()
        };
        assert_eq!(of(1), of(1));
        assert_ne!(of(1), of(2));
    }
}
