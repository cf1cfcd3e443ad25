//! Films as web servers keep them for players: a head, and segments of a second each (fragmented MP4 in the
//! form that HLS and DASH share, ISO/IEC 23000-19). Each segment has four key frames, and room.

use testkit::bytes::hex;

/// Key frames in VP9 of 64 by 48 pixels in one colour each: red, green, blue and yellow.
const FRAMES: [&str; 4] = [
    "824983420003f002f60038241c188c00003060000013bffff1a2e00047ffffff5e7cffffffff6a010000",
    "824983420003f002f60038241c188c00003060000013bfff8f80008fffffff803b3fffffffd2580000",
    "824983420003f002f60038241c188c000030600000177ffffe55d40008fffffffb5688fffffff1d000",
    "824983420003f002f60038241c188c0000306000001cdffffc3a2800047ffffffdaba67ffffff5d000",
];
/// What the codec is called in playlists: VP9, profile 0, level 1, 8 bits.
pub(crate) const CODEC: &str = "vp09.00.10.08";
/// Ticks of a second.
const TIMESCALE: u32 = 1_000;
const FRAME_TICKS: u32 = TIMESCALE / 4;
const MATRIX: [u32; 9] = [0x1_0000, 0, 0, 0, 0x1_0000, 0, 0, 0, 0x4000_0000];

/// A box: its length, its type, and what it holds.
fn atom(kind: &[u8; 4], content: &[u8]) -> Vec<u8> {
    let length = u32::try_from(8 + content.len()).unwrap();
    [&length.to_be_bytes(), &kind[..], content].concat()
}

/// One with a version, flags, and numbers.
fn full(kind: &[u8; 4], version: u8, flags: u32, numbers: &[u32]) -> Vec<u8> {
    full_with(kind, version, flags, numbers, &[])
}

fn full_with(kind: &[u8; 4], version: u8, flags: u32, numbers: &[u32], rest: &[u8]) -> Vec<u8> {
    let head = (u32::from(version) << 24 | flags).to_be_bytes();
    let numbers: Vec<u8> = numbers.iter().flat_map(|number| number.to_be_bytes()).collect();
    atom(kind, &[&head, &numbers[..], rest].concat())
}

/// What comes before all segments: a film of so many seconds, with one track of video.
pub(crate) fn head(seconds: u32) -> Vec<u8> {
    let duration = seconds * TIMESCALE;
    // Volume and layer are zero: there is no sound.
    let header = [&[0, 0, TIMESCALE, duration, 0x1_0000, 0, 0, 0], &MATRIX[..], &[0; 6], &[2]].concat();
    let extends =
        [full(b"mehd", 0, 0, &[duration]), full(b"trex", 0, 0, &[1, 1, FRAME_TICKS, 0, 0])].concat();
    let movie = [full(b"mvhd", 0, 0, &header), track(duration), atom(b"mvex", &extends)].concat();
    [atom(b"ftyp", b"iso6\0\0\0\0iso6cmfcdash"), atom(b"moov", &movie)].concat()
}

fn track(duration: u32) -> Vec<u8> {
    let header = [&[0, 0, 1, 0, duration, 0, 0, 0, 0], &MATRIX[..], &[64 << 16, 48 << 16]].concat();
    let places = full_with(b"dref", 0, 0, &[1], &full(b"url ", 0, 1, &[]));
    let tables = [
        full_with(b"stsd", 0, 0, &[1], &sample_entry()),
        full(b"stts", 0, 0, &[0]),
        full(b"stsc", 0, 0, &[0]),
        full(b"stsz", 0, 0, &[0, 0]),
        full(b"stco", 0, 0, &[0]),
    ]
    .concat();
    let information = [full(b"vmhd", 0, 1, &[0, 0]), atom(b"dinf", &places), atom(b"stbl", &tables)].concat();
    let media = [
        // Language: undetermined.
        full(b"mdhd", 0, 0, &[0, 0, TIMESCALE, duration, 0x55c4_0000]),
        full_with(b"hdlr", 0, 0, &[0, u32::from_be_bytes(*b"vide"), 0, 0, 0], b"\0"),
        atom(b"minf", &information),
    ]
    .concat();
    let track = [full(b"tkhd", 0, 7, &header), atom(b"mdia", &media)].concat();
    atom(b"trak", &track)
}

fn sample_entry() -> Vec<u8> {
    // Profile 0, level 1, 8 bits of 4:2:0, and colours of BT.709.
    let configuration = full_with(b"vpcC", 1, 0, &[], &[0, 10, 0x82, 1, 1, 1, 0, 0]);
    let mut entry = vec![0; 78];
    entry[7] = 1;
    entry[25] = 64;
    entry[27] = 48;
    // 72 dots an inch, a frame in each sample, 24 bits, no palette.
    entry[28..36].copy_from_slice(&[0, 0x48, 0, 0, 0, 0x48, 0, 0]);
    entry[41] = 1;
    entry[75..78].copy_from_slice(&[0x18, 0xff, 0xff]);
    entry.extend(configuration);
    atom(b"vp09", &entry)
}

/// The segment of a second, with so many bytes of room.
pub(crate) fn segment(second: u32, room: usize) -> Vec<u8> {
    let frames = FRAMES.map(hex);
    let media = atom(b"mdat", &[frames.concat(), vec![0; room]].concat());
    let fragment = |offset| {
        let sizes = frames.iter().map(|frame| u32::try_from(frame.len()).unwrap());
        let samples: Vec<u32> = [4, offset].into_iter().chain(sizes).collect();
        let track = [
            // Places count from here, and all samples are key frames of the usual length.
            full(b"tfhd", 0, 0x2_0020, &[1, 0x0200_0000]),
            full(b"tfdt", 0, 0, &[second * TIMESCALE]),
            full(b"trun", 0, 0x201, &samples),
        ]
        .concat();
        atom(b"moof", &[full(b"mfhd", 0, 0, &[second + 1]), atom(b"traf", &track)].concat())
    };
    let offset = u32::try_from(fragment(0).len() + 8).unwrap();
    [atom(b"styp", b"msdh\0\0\0\0msdhcmfs"), fragment(offset), media].concat()
}
