//! Mini-NDN's topology files.
//!
//! Sections in brackets; in `[nodes]` a name and a colon, in `[links]` two names with a colon between them,
//! and behind them parameters: `bw` in Mbit/s, `delay`, `loss` in percent, `max_queue_size` in packets.
//! `[faces]` may give a link a `cost`. Lines that begin with `#` or `;` are comments. Letters are the same in
//! either case.

use std::collections::{BTreeMap, BTreeSet};

use packet::units;

use super::{Collector, Topology, TopologyError, TopologyLink, TopologyNodeId};

#[derive(Clone, Copy, PartialEq)]
enum Section {
    None,
    Nodes,
    Links,
    Faces,
    /// One that has nothing to say of a network of cables.
    Other,
}

impl Topology {
    /// Reads a topology file of Mini-NDN. Parameters of nodes, which only its applications read, are left
    /// out.
    ///
    /// # Errors
    /// The line that cannot be read, and why; switches and stations, which are no links between two nodes.
    pub fn read_minindn(text: &str) -> Result<Topology, TopologyError> {
        let mut reader = Reader::default();
        let mut section = Section::None;
        for (line, text) in (1..).zip(text.lines()) {
            let text = text.trim();
            if text.is_empty() || text.starts_with(['#', ';']) {
                continue;
            }
            if let Some(name) = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
                section = match name {
                    "nodes" => Section::Nodes,
                    "links" => Section::Links,
                    "faces" => Section::Faces,
                    "switches" | "stations" | "accessPoints" | "cars" => Section::Other,
                    _ => return Err(TopologyError::new(line, format!("there is no section [{name}]"))),
                };
                reader.section = name.to_owned();
                continue;
            }
            let mut words = text.split_whitespace();
            let first = words.next().unwrap_or_default();
            let parameters: Vec<&str> = words.collect();
            match section {
                Section::Nodes => reader.node(line, first)?,
                Section::Links => reader.link(line, first, &parameters)?,
                Section::Faces => reader.face(line, first, &parameters)?,
                Section::Other => {
                    let problem = format!("[{}] is not supported: a link joins two nodes", reader.section);
                    return Err(TopologyError::new(line, problem));
                }
                Section::None => {
                    let problem = format!("expected a section such as [nodes], found {first:?}");
                    return Err(TopologyError::new(line, problem));
                }
            }
        }
        Ok(reader.named())
    }
}

#[derive(Default)]
struct Reader {
    /// Nodes by their names in small letters.
    collector: Collector,
    /// Their names as they were written.
    names: Vec<String>,
    /// Links by their ends, the lesser first.
    links: BTreeMap<(TopologyNodeId, TopologyNodeId), usize>,
    section: String,
}

impl Reader {
    fn node(&mut self, line: usize, word: &str) -> Result<(), TopologyError> {
        let name = word.split(':').next().unwrap_or_default();
        if name.is_empty() {
            return Err(TopologyError::new(line, format!("{word:?} is not a name and a colon")));
        }
        self.collector.node(line, &name.to_lowercase(), None)?;
        self.names.push(name.to_owned());
        Ok(())
    }

    /// The two nodes of a link.
    fn ends(&self, line: usize, word: &str) -> Result<(TopologyNodeId, TopologyNodeId), TopologyError> {
        let parts: Vec<&str> = word.split(':').collect();
        let &[a, b] = parts.as_slice() else {
            let problem = format!("expected two nodes with a colon between them, found {word:?}");
            return Err(TopologyError::new(line, problem));
        };
        let place = |name: &str| self.collector.known(line, &name.to_lowercase());
        Ok((place(a)?, place(b)?))
    }

    fn link(&mut self, line: usize, word: &str, parameters: &[&str]) -> Result<(), TopologyError> {
        let (from, to) = self.ends(line, word)?;
        let mut link = TopologyLink::between(from, to);
        let mut given = BTreeSet::new();
        for parameter in parameters {
            let Some((key, value)) = parameter.split_once('=') else {
                return Err(TopologyError::new(line, format!("expected key=value, found {parameter:?}")));
            };
            if !given.insert(key) {
                return Err(TopologyError::new(line, format!("{key} is there twice")));
            }
            set(&mut link, key, value).map_err(|problem| TopologyError::new(line, problem))?;
        }
        let number = self.collector.topology.links.len();
        self.collector.link(line, link)?;
        self.links.insert((from.min(to), from.max(to)), number);
        Ok(())
    }

    fn face(&mut self, line: usize, word: &str, parameters: &[&str]) -> Result<(), TopologyError> {
        let (a, b) = self.ends(line, word)?;
        let Some(cost) = parameters.iter().find_map(|parameter| parameter.strip_prefix("cost=")) else {
            return Ok(());
        };
        let problem = || TopologyError::new(line, format!("the cost must be a number, not {cost:?}"));
        let cost: u32 = cost.parse().map_err(|_| problem())?;
        let number = self.links.get(&(a.min(b), a.max(b)));
        match number.and_then(|number| self.collector.topology.links.get_mut(*number)) {
            Some(link) => link.metric = Some(cost),
            None => return Err(TopologyError::new(line, format!("there is no link {word}"))),
        }
        Ok(())
    }

    /// With the names as they were written.
    fn named(self) -> Topology {
        let mut topology = self.collector.topology;
        for (node, name) in topology.nodes.iter_mut().zip(self.names) {
            node.name = name;
        }
        topology
    }
}

/// Sets a parameter of a link.
fn set(link: &mut TopologyLink, key: &str, value: &str) -> Result<(), String> {
    let number = || value.parse::<f64>().ok().filter(|number| number.is_finite());
    match key {
        "bw" => {
            let bits =
                number().map(|megabits| (megabits * 1e6).round()).filter(|bits| (1.0..1e18).contains(bits));
            let bits = bits.ok_or_else(|| format!("bw must be Mbit/s, not {value:?}"))?;
            link.rate_bits_per_second = Some(bits as u64);
        }
        "delay" => link.delay = Some(units::duration(value).map_err(|error| error.to_string())?),
        "loss" => {
            let percent = number().filter(|percent| (0.0..=100.0).contains(percent));
            let percent = percent.ok_or_else(|| format!("loss must be a percentage, not {value:?}"))?;
            link.loss = Some(percent / 100.0);
        }
        "max_queue_size" => {
            let packets =
                value.parse().map_err(|_| format!("max_queue_size must be packets, not {value:?}"))?;
            link.queue_packets = Some(packets);
        }
        // How the kernel does it is the lab's own business.
        "use_htb" | "use_tbf" | "use_hfsc" => {}
        _ => return Err(format!("{key} is not supported; a link has bw, delay, loss and max_queue_size")),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use packet::time::Duration;
    use proptest::prelude::*;

    const FILE: &str = "\
# a comment
[nodes]
A: _ network=/world router=/a.Router/ radius=0.5 angle=2.6
b: _
c:

[links]
a:b delay=10ms bw=1.5 loss=2.5 max_queue_size=30
B:C delay=1.5ms
[faces]
c:b cost=7
";

    #[test]
    fn nodes_links_and_costs_are_read() {
        let topology = Topology::read_minindn(FILE).unwrap();
        let names: Vec<&str> = topology.nodes.iter().map(|node| node.name.as_str()).collect();
        assert_eq!(names, ["A", "b", "c"]);
        let [first, second] = topology.links.as_slice() else { panic!("{:?}", topology.links) };
        assert_eq!((first.from.0, first.to.0, first.metric), (0, 1, None));
        assert_eq!(first.rate_bits_per_second, Some(1_500_000));
        assert_eq!(first.delay, Some(Duration::from_millis(10)));
        assert_eq!((first.loss, first.queue_packets), (Some(0.025), Some(30)));
        assert_eq!((second.from.0, second.to.0, second.metric), (1, 2, Some(7)));
        assert_eq!(second.delay, Some(Duration::from_micros(1500)));
    }

    #[test]
    fn mistakes_are_told_with_their_line() {
        let error = |text: &str| Topology::read_minindn(text).unwrap_err().to_string();
        let nodes = "[nodes]\na: _\nb: _\n";
        assert_eq!(error("a: _\n"), "line 1: expected a section such as [nodes], found \"a:\"");
        assert_eq!(error("[node]\n"), "line 1: there is no section [node]");
        assert_eq!(error("[nodes]\na: _\nA: _\n"), "line 3: node \"a\" is there twice");
        assert_eq!(
            error("[nodes]\na: _\n[switches]\ns1: _\n"),
            "line 4: [switches] is not supported: a link joins two nodes"
        );
        for (link, said) in [
            ("a:x", "there is no node \"x\""),
            ("a", "expected two nodes with a colon between them, found \"a\""),
            ("a:b delay", "expected key=value, found \"delay\""),
            ("a:b jitter=1ms", "jitter is not supported; a link has bw, delay, loss and max_queue_size"),
            ("a:b loss=200", "loss must be a percentage, not \"200\""),
            ("a:b bw=0", "bw must be Mbit/s, not \"0\""),
            ("a:b bw=1 bw=2", "bw is there twice"),
            ("a:a", "a link from a node to itself"),
        ] {
            assert_eq!(error(&format!("{nodes}[links]\n{link}\n")), format!("line 5: {said}"));
        }
        assert_eq!(error(&format!("{nodes}[faces]\na:b cost=1\n")), "line 5: there is no link a:b");
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "(\\[nodes\\]\n|\\[links\\]\n|\\[faces\\]\n|[ab]:|bw=|loss=1|cost=|[0-9.]+|\n| ){0,40}") {
            let _ = Topology::read_minindn(&text);
        }
    }
}
