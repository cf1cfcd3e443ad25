//! ndnSIM's annotated text.
//!
//! Two sections, `router` and `link`, of lines of words; `#` begins a comment. A router has a name, a comment
//! word, and a position as y and x. A link has two names, a rate, a metric, and then, if known, a delay, the
//! packets its queue holds, and a loss.

use packet::units;

use super::{Collector, Topology, TopologyError, TopologyLink};

#[derive(Clone, Copy, PartialEq)]
enum Section {
    None,
    Router,
    Link,
}

impl Topology {
    /// Reads ndnSIM's annotated text.
    ///
    /// # Errors
    /// The line that cannot be read, and why.
    pub fn read_ndnsim(text: &str) -> Result<Topology, TopologyError> {
        let mut collector = Collector::default();
        let mut section = Section::None;
        for (line, text) in (1..).zip(text.lines()) {
            let text = text.split('#').next().unwrap_or_default();
            let words: Vec<&str> = text.split_whitespace().collect();
            match (words.as_slice(), section) {
                ([], _) => {}
                (["router"], _) => section = Section::Router,
                (["link"], _) => section = Section::Link,
                (words, Section::Router) => read_router(&mut collector, line, words)?,
                (words, Section::Link) => read_link(&mut collector, line, words)?,
                ([word, ..], Section::None) => {
                    let problem = format!("expected `router` or `link`, found {word:?}");
                    return Err(TopologyError::new(line, problem));
                }
            }
        }
        Ok(collector.topology)
    }
}

fn read_router(collector: &mut Collector, line: usize, words: &[&str]) -> Result<(), TopologyError> {
    let Some(name) = words.first() else { return Ok(()) };
    let number = |place: usize| words.get(place).and_then(|word| word.parse::<f64>().ok());
    let position = number(3).zip(number(2)).filter(|(x, y)| x.is_finite() && y.is_finite());
    if words.len() > 2 && position.is_none() {
        let problem = format!("the position of {name:?} must be two numbers, y and x");
        return Err(TopologyError::new(line, problem));
    }
    collector.node(line, name, position).map(drop)
}

fn read_link(collector: &mut Collector, line: usize, words: &[&str]) -> Result<(), TopologyError> {
    let &[from, to, rate, metric, ref rest @ ..] = words else {
        let problem = "a link needs two routers, a rate and a metric";
        return Err(TopologyError::new(line, problem));
    };
    let wrong = |error: units::UnitError| TopologyError::new(line, error.to_string());
    let mut link = TopologyLink::between(collector.known(line, from)?, collector.known(line, to)?);
    link.rate_bits_per_second = Some(units::rate(rate).map_err(wrong)?);
    let metric = metric.parse::<f64>().ok().filter(|metric| (0.0..4e9).contains(metric));
    let Some(metric) = metric else {
        return Err(TopologyError::new(line, format!("the metric must be a number, not {:?}", words[3])));
    };
    link.metric = Some(metric as u32);
    if let Some(delay) = rest.first() {
        link.delay = Some(units::duration(delay).map_err(wrong)?);
    }
    if let Some(packets) = rest.get(1) {
        let problem = || TopologyError::new(line, format!("the queue must be packets, not {packets:?}"));
        link.queue_packets = Some(packets.parse().map_err(|_| problem())?);
    }
    if let Some(loss) = rest.get(2) {
        let loss = loss.parse::<f64>().ok().filter(|loss| (0.0..=1.0).contains(loss));
        let problem = || TopologyError::new(line, "the loss must be between 0 and 1");
        link.loss = Some(loss.ok_or_else(problem)?);
    }
    collector.link(line, link)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::TopologyNodeId;
    use packet::time::Duration;
    use proptest::prelude::*;

    const GRID: &str = "\
# topo-grid-3x3.txt in form
router

# node  comment     yPos    xPos
Node0   NA          3       1
Node1   NA          3       2   # a comment
Node2   NA          -3.5    3

link
# srcNode   dstNode     bandwidth   metric  delay   queue
Node0       Node1       1Mbps       1       10ms    10
Node1       Node2       2.5Gbps     7       1us     20  0.25
";

    #[test]
    fn routers_and_links_are_read() {
        let topology = Topology::read_ndnsim(GRID).unwrap();
        assert_eq!(topology.nodes.len(), 3);
        assert_eq!(topology.nodes[TopologyNodeId(2)].position, Some((3.0, -3.5)));
        let link = &topology.links[1];
        assert_eq!((link.from.0, link.to.0, link.metric), (1, 2, Some(7)));
        assert_eq!(link.rate_bits_per_second, Some(2_500_000_000));
        assert_eq!(link.delay, Some(Duration::from_micros(1)));
        assert_eq!((link.queue_packets, link.loss), (Some(20), Some(0.25)));
    }

    #[test]
    fn mistakes_are_told_with_their_line() {
        let error = |text: &str| Topology::read_ndnsim(text).unwrap_err().to_string();
        assert_eq!(error("node a\n"), "line 1: expected `router` or `link`, found \"node\"");
        assert_eq!(error("router\na\na\n"), "line 3: node \"a\" is there twice");
        assert_eq!(error("router\na\nlink\na b 1Mbps 1"), "line 4: there is no node \"b\"");
        assert_eq!(error("router\na\nlink\na a 1Mbps 1"), "line 4: a link from a node to itself");
        assert!(error("router\na\nb\nlink\na b fast 1").starts_with("line 5: \"fast\" is not a rate"));
        assert!(error("router\na x y z\n").starts_with("line 2: the position"));
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "(router|link|[ab] |#|1Mbps |10ms|[0-9.]+|\n| ){0,40}") {
            let _ = Topology::read_ndnsim(&text);
        }
    }
}
