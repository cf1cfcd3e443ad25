//! Mini-NDN's topologies. Whatever is read is a topology that can be built, and written again reads as the
//! same one.

#![no_main]

use std::fmt::Write;

use cairn_fuzz::topology::check;
use sim::topology::{Topology, TopologyNodeId};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(topology) = Topology::read_minindn(text) else { return };
    check(&topology);
    let written = write(&topology);
    let again = Topology::read_minindn(&written).unwrap_or_else(|error| panic!("{error}\n{written}"));
    assert_eq!(again.nodes, topology.nodes, "{written}");
    assert_eq!(again.links.len(), topology.links.len(), "{written}");
    for (one, other) in again.links.iter().zip(&topology.links) {
        assert_eq!((one.from, one.to, one.queue_packets), (other.from, other.to, other.queue_packets));
        // Numbers pass through 53 bits.
        let near = |a: u64, b: u64| a.abs_diff(b) <= 1 + (b >> 50);
        let rates = one.rate_bits_per_second.zip(other.rate_bits_per_second);
        assert!(rates.is_none_or(|(a, b)| near(a, b)), "{written}");
        assert_eq!(one.rate_bits_per_second.is_some(), other.rate_bits_per_second.is_some());
        let delays = one.delay.zip(other.delay);
        assert!(delays.is_none_or(|(a, b)| near(a.as_nanos(), b.as_nanos())), "{written}");
        let losses = one.loss.zip(other.loss);
        assert!(losses.is_none_or(|(a, b)| (a - b).abs() < 1e-12), "{written}");
    }
});

/// Costs are left out: of several links between the same nodes they mean the last.
fn write(topology: &Topology) -> String {
    let mut text = "[nodes]\n".to_owned();
    for node in &topology.nodes {
        let _ = writeln!(text, "{}: _", node.name);
    }
    text.push_str("[links]\n");
    for link in &topology.links {
        let name = |node: TopologyNodeId| &topology.nodes[node].name;
        let _ = write!(text, "{}:{}", name(link.from), name(link.to));
        if let Some(rate) = link.rate_bits_per_second {
            let _ = write!(text, " bw={:e}", rate as f64 / 1e6);
        }
        if let Some(delay) = link.delay {
            let _ = write!(text, " delay={}ns", delay.as_nanos());
        }
        if let Some(loss) = link.loss {
            let _ = write!(text, " loss={:e}", loss * 100.0);
        }
        if let Some(packets) = link.queue_packets {
            let _ = write!(text, " max_queue_size={packets}");
        }
        text.push('\n');
    }
    text
}
