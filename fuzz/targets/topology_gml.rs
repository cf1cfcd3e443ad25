//! GML of the Topology Zoo. Whatever is read is a topology that can be built; comments around the text change
//! nothing, and a text cut short is refused.

#![no_main]

use cairn_fuzz::topology::check;
use sim::topology::Topology;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(topology) = Topology::read_gml(text) else { return };
    check(&topology);
    let padded = Topology::read_gml(&format!("# the beginning\n{text}\n # the end"));
    assert_eq!(padded.as_ref(), Ok(&topology));
    // Where the first graph begins and does not end.
    let begun = text.find('[').and_then(|place| text.get(..=place)).unwrap_or_default();
    assert!(Topology::read_gml(begun).is_err());
});
