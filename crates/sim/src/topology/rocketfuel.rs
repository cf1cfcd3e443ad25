//! Rocketfuel's maps of networks of providers (Spring, Mahajan, Wetherall: "Measuring ISP topologies with
//! Rocketfuel", SIGCOMM 2002): the maps of routers (`.cch`), and the weights or latencies between places
//! (`weights.intra`, `latencies.intra`).

use std::collections::BTreeSet;

use packet::time::Duration;

use super::{Collector, Topology, TopologyError, TopologyLink};

impl Topology {
    /// Reads a map of routers: lines like
    /// `7 @Sydney,+Australia + bb (2) &1 -> <3> <12> {-5} =core1.example.net r0`.
    ///
    /// Neighbours in `{}` are outside the network; they, and lines that begin with a negative number, are
    /// left out. A link that both ends name is one link.
    ///
    /// # Errors
    /// The line that cannot be read, and why.
    pub fn read_rocketfuel(text: &str) -> Result<Topology, TopologyError> {
        let mut collector = Collector::default();
        let mut wanted = Vec::new();
        for (line, text) in (1..).zip(text.lines()) {
            let mut words = text.split_whitespace().peekable();
            let Some(id) = words.next().filter(|word| !word.starts_with(['#', '-'])) else { continue };
            if !is_number(id) {
                let problem = format!("a router begins with its number, not with {id:?}");
                return Err(TopologyError::new(line, problem));
            }
            collector.node(line, id, None)?;
            let mut arrow = false;
            for word in words {
                if word == "->" {
                    arrow = true;
                } else if let Some(rest) = word.strip_prefix('<') {
                    let neighbour = rest.strip_suffix('>').filter(|id| arrow && is_number(id));
                    let problem = || TopologyError::new(line, format!("{word:?} is not a neighbour"));
                    wanted.push((line, id, neighbour.ok_or_else(problem)?));
                }
            }
        }
        let mut seen = BTreeSet::new();
        for (line, id, neighbour) in wanted {
            let (from, to) = (collector.known(line, id)?, collector.known(line, neighbour)?);
            if from != to && seen.insert((from.min(to), from.max(to))) {
                collector.link(line, TopologyLink::between(from, to))?;
            }
        }
        Ok(collector.topology)
    }

    /// Reads weights between places, which become metrics: lines of two names and a number. A link that is
    /// there in both directions is one link.
    ///
    /// # Errors
    /// The line that cannot be read, and why.
    pub fn read_rocketfuel_weights(text: &str) -> Result<Topology, TopologyError> {
        read_pairs(text, |link, weight| link.metric = Some((weight as u32).max(1)))
    }

    /// Reads latencies between places, which become delays: lines of two names and milliseconds.
    ///
    /// # Errors
    /// The line that cannot be read, and why.
    pub fn read_rocketfuel_latencies(text: &str) -> Result<Topology, TopologyError> {
        read_pairs(text, |link, millis| link.delay = Some(Duration::from_secs_f64(millis / 1000.0)))
    }
}

fn is_number(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit())
}

fn read_pairs(text: &str, set: impl Fn(&mut TopologyLink, f64)) -> Result<Topology, TopologyError> {
    let mut collector = Collector::default();
    let mut seen = BTreeSet::new();
    for (line, text) in (1..).zip(text.lines()) {
        let words: Vec<&str> = text.split_whitespace().collect();
        if words.first().is_none_or(|word| word.starts_with('#')) {
            continue;
        }
        let number = words.get(2).and_then(|word| word.parse::<f64>().ok());
        let number = number.filter(|number| (0.0..4e9).contains(number));
        let (&[from, to, _], Some(number)) = (words.as_slice(), number) else {
            return Err(TopologyError::new(line, "expected two names and a number"));
        };
        let (from, to) = (collector.any_node(line, from)?, collector.any_node(line, to)?);
        if from != to && seen.insert((from.min(to), from.max(to))) {
            let mut link = TopologyLink::between(from, to);
            set(&mut link, number);
            collector.link(line, link)?;
        }
    }
    Ok(collector.topology)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::TopologyNodeId;
    use proptest::prelude::*;

    const MAP: &str = "\
1 @Sydney,+Australia + bb (2) &1 -> <2> <30> {-5} =core1.example.net r0
2 @Perth,+Australia (1) -> <1> =edge.example.net! r1
30 @? -> <1> =other r2
-5 =outside.example.org r1
";

    #[test]
    fn routers_and_their_neighbours_are_read_and_the_outside_is_left_out() {
        let topology = Topology::read_rocketfuel(MAP).unwrap();
        assert_eq!(topology.nodes.len(), 3);
        let link = |to| TopologyLink::between(TopologyNodeId(0), TopologyNodeId(to));
        assert_eq!(topology.links, [link(1), link(2)]);
    }

    #[test]
    fn weights_and_latencies_join_places() {
        let topology = Topology::read_rocketfuel_weights("A,+X1 B 3.5\nB A,+X1 3.5\nB C 2\n").unwrap();
        assert_eq!((topology.nodes.len(), topology.links.len()), (3, 2));
        assert_eq!(topology.links[0].metric, Some(3));
        let topology = Topology::read_rocketfuel_latencies("A B 4\n").unwrap();
        assert_eq!(topology.links[0].delay, Some(Duration::from_millis(4)));
    }

    #[test]
    fn mistakes_are_told_with_their_line() {
        let error = |text: &str| Topology::read_rocketfuel(text).unwrap_err().to_string();
        assert_eq!(error("1 @x -> <2>\n"), "line 1: there is no node \"2\"");
        assert_eq!(error("x @x -> <2>\n"), "line 1: a router begins with its number, not with \"x\"");
        assert_eq!(error("1 @x -> <2\n"), "line 1: \"<2\" is not a neighbour");
        let error = Topology::read_rocketfuel_weights("A B C\n").unwrap_err().to_string();
        assert_eq!(error, "line 1: expected two names and a number");
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "([0-9]{1,2} |@x |-> |<[0-9]?>? |\\{-1\\}|=a|\n|é){0,40}") {
            let _ = Topology::read_rocketfuel(&text);
            let _ = Topology::read_rocketfuel_weights(&text);
        }
    }
}
