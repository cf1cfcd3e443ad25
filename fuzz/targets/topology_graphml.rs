//! GraphML of the Topology Zoo. Whatever is read is a topology that can be built; blanks behind the document
//! change nothing, and a document cut short is refused or says less.

#![no_main]

use cairn_fuzz::topology::check;
use sim::topology::Topology;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(topology) = Topology::read_graphml(text) else { return };
    check(&topology);
    let padded = Topology::read_graphml(&format!("{text}\n <!-- the end -->\n"));
    assert_eq!(padded.as_ref(), Ok(&topology));
    let half = text.char_indices().nth(text.chars().count() / 2).map_or(0, |(place, _)| place);
    if let Ok(part) = Topology::read_graphml(&text[..half]) {
        assert!(part.nodes.len() <= topology.nodes.len() && part.links.len() <= topology.links.len());
    }
});
