//! Rocketfuel's maps, weights and latencies. Whatever is read is a topology that can be built, with one link
//! at most between two nodes; lines that say the same again, and comments, change nothing.

#![no_main]

use std::collections::BTreeSet;

use cairn_fuzz::topology::check;
use sim::topology::Topology;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    for (read, may_repeat) in [
        (Topology::read_rocketfuel as fn(&str) -> _, false),
        (Topology::read_rocketfuel_weights, true),
        (Topology::read_rocketfuel_latencies, true),
    ] {
        let Ok(topology) = read(text) else { continue };
        check(&topology);
        let pairs: BTreeSet<_> =
            topology.links.iter().map(|link| (link.from.min(link.to), link.from.max(link.to))).collect();
        assert_eq!(pairs.len(), topology.links.len(), "two links between two nodes");
        assert_eq!(read(&format!("{text}\n# the end\n")).as_ref(), Ok(&topology));
        if may_repeat {
            assert_eq!(read(&format!("{text}\n{text}")).as_ref(), Ok(&topology));
        }
    }
});
