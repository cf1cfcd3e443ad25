//! ndnSIM's annotated text. Whatever is read is a topology that can be built, and written again reads as the
//! same one.

#![no_main]

use std::fmt::Write;

use cairn_fuzz::topology::check;
use sim::topology::{Topology, TopologyNodeId};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(topology) = Topology::read_ndnsim(text) else { return };
    check(&topology);
    let written = write(&topology);
    let again = Topology::read_ndnsim(&written).unwrap_or_else(|error| panic!("{error}\n{written}"));
    assert_eq!(again.nodes, topology.nodes, "{written}");
    assert_eq!(again.links.len(), topology.links.len(), "{written}");
    for (one, other) in again.links.iter().zip(&topology.links) {
        assert_eq!((one.from, one.to, one.metric), (other.from, other.to, other.metric));
        assert_eq!((one.queue_packets, one.loss), (other.queue_packets, other.loss));
        // Numbers pass through 53 bits.
        let near = |a: u64, b: u64| a.abs_diff(b) <= b >> 50;
        let (rates, delays) =
            (one.rate_bits_per_second.zip(other.rate_bits_per_second), one.delay.zip(other.delay));
        assert!(rates.is_some_and(|(a, b)| near(a, b)), "{written}");
        assert!(delays.is_none_or(|(a, b)| near(a.as_nanos(), b.as_nanos())), "{written}");
        assert_eq!(one.delay.is_some(), other.delay.is_some());
    }
});

fn write(topology: &Topology) -> String {
    let mut text = "router\n".to_owned();
    for node in &topology.nodes {
        let _ = match node.position {
            Some((x, y)) => writeln!(text, "{} NA {y:e} {x:e}", node.name),
            None => writeln!(text, "{} NA", node.name),
        };
    }
    text.push_str("link\n");
    for link in &topology.links {
        let name = |node: TopologyNodeId| &topology.nodes[node].name;
        let (rate, metric) = (link.rate_bits_per_second.unwrap_or(0), link.metric.unwrap_or(0));
        let _ = write!(text, "{} {} {rate}bps {metric}", name(link.from), name(link.to));
        if let Some(delay) = link.delay {
            let _ = write!(text, " {}ns", delay.as_nanos());
        }
        if let Some(packets) = link.queue_packets {
            let _ = write!(text, " {packets}");
        }
        if let Some(loss) = link.loss {
            let _ = write!(text, " {loss:e}");
        }
        text.push('\n');
    }
    text
}
