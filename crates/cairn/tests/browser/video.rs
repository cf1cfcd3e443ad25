//! A film in WebM that a browser can seek in: each second a cluster with four key frames, and then nothing
//! but room, so that the file is large although the frames are small.

use testkit::bytes::hex;

/// Key frames in VP8 of 64 by 48 pixels in one colour each: red, green, blue and yellow.
const FRAMES: [&str; 4] = [
    "7003009d012a400030003fcde6ef71bfb832ac22a803f039896700d0cc092c26d318e13000fed0cac2ed1fe47610dd85fe924eb764a7d1c000\
     000000",
    "5003009d012a400030003fcde6ef71bfb7b2ac22a803f0398967000013f18e1f08458000fe9717dcde0e577f7b968a04400c794080000000\
     00",
    "7003009d012a400030003fcde6ef71bfb832ac22a803f039896700cdc0077bb534f8410000fee0b97eeced1698e3197184a11134453ac055f3\
     000000",
    "5003009d012a400030003fcde6ef71bfb7b2ac22a803f0398967000013f18e1f08458000fedb51ffe1deecf3ad189a03181cce3c20000000\
     00",
];

/// An element of EBML: its identifier, its length in eight bytes, and what it holds.
fn element(id: u32, content: &[u8]) -> Vec<u8> {
    let id = id.to_be_bytes();
    let from = id.iter().position(|byte| *byte != 0).unwrap();
    let length = (1u64 << 56 | content.len() as u64).to_be_bytes();
    [&id[from..], &length, content].concat()
}

fn number(id: u32, value: u64) -> Vec<u8> {
    element(id, &value.to_be_bytes())
}

fn cluster(second: u64, room: usize) -> Vec<u8> {
    let mut content = number(0xe7, second * 1_000);
    for (quarter, frame) in (0u8..).zip(FRAMES) {
        let offset = (u16::from(quarter) * 250).to_be_bytes();
        // Track 1, so long after the cluster's time, a key frame.
        let block = [&[0x81], &offset[..], &[0x80], &hex(frame)].concat();
        content.extend(element(0xa3, &block));
    }
    content.extend(element(0xec, &vec![0; room]));
    element(0x1f43_b675, &content)
}

/// A film of so many seconds, each with so many bytes of room.
pub(crate) fn film(seconds: u64, room: usize) -> Vec<u8> {
    let head = [
        number(0x4286, 1),
        number(0x42f7, 1),
        number(0x42f2, 4),
        number(0x42f3, 8),
        element(0x4282, b"webm"),
        number(0x4287, 4),
        number(0x4285, 2),
    ]
    .concat();
    let duration = element(0x4489, &(seconds as f64 * 1_000.0).to_be_bytes());
    let info =
        [number(0x2a_d7b1, 1_000_000), duration, element(0x4d80, b"test"), element(0x5741, b"test")].concat();
    let picture = element(0xe0, &[number(0xb0, 64), number(0xba, 48)].concat());
    let track =
        [number(0xd7, 1), number(0x73c5, 1), number(0x83, 1), element(0x86, b"V_VP8"), picture].concat();
    let tracks = element(0x1654_ae6b, &element(0xae, &track));
    let clusters: Vec<Vec<u8>> = (0..seconds).map(|second| cluster(second, room)).collect();
    let before = [element(0x1549_a966, &info), tracks].concat();
    // All its numbers take eight bytes, so that its length does not depend on them.
    let cues_length = cues(&clusters, 0).len();
    let cues = cues(&clusters, (before.len() + cues_length) as u64);
    let segment = [before, cues, clusters.concat()].concat();
    [element(0x1a45_dfa3, &head), element(0x1853_8067, &segment)].concat()
}

/// Where each cluster begins, the first of them at `first` bytes into the segment.
fn cues(clusters: &[Vec<u8>], first: u64) -> Vec<u8> {
    let mut place = first;
    let mut points = Vec::new();
    for (second, cluster) in (0u64..).zip(clusters) {
        let position = element(0xb7, &[number(0xf7, 1), number(0xf1, place)].concat());
        points.extend(element(0xbb, &[number(0xb3, second * 1_000), position].concat()));
        place += cluster.len() as u64;
    }
    element(0x1c53_bb6b, &points)
}
