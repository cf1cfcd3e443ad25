//! Packets that are broken, and packets made to take time or memory: never an error of Lua, and an end.

use std::time::{Duration, Instant};

use testkit::vectors::{self, Vector};

use super::elements::{blob, block, element};
use super::frames::{self, CCNX, Direction, NDN, ethernet, in_turn, ip_packet, tcp, udp};
use super::tshark::Tshark;

/// How long the slowest hostile packet may take on an idle machine, with all others in its capture.
const LIMIT: Duration = Duration::from_secs(60);

/// Places at which each vector is cut, and times that it is changed.
const CUTS: usize = 24;
const CHANGES: usize = 40;

/// The random numbers of this check: the same every time. Not those of `packet`, without which `xtask` is
/// built: it must not wait for what it checks.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        // xorshift64*.
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % limit.max(1)
    }

    fn byte(&mut self) -> u8 {
        self.below(256) as u8
    }
}

pub(super) fn check(tshark: &Tshark) -> Result<String, String> {
    canary(tshark)?;
    let broken = mutants();
    let count = broken.len();
    let file = tshark.path("broken.pcapng");
    frames::write(&file, &in_turn(broken), frames::WHOLE)?;
    refuse_lua_errors(tshark, &file)?;
    let hostile = hostile();
    let (hostile_count, start) = (hostile.len(), Instant::now());
    let file = tshark.path("hostile.pcapng");
    frames::write(&file, &in_turn(hostile), frames::WHOLE)?;
    refuse_lua_errors(tshark, &file)?;
    let time = start.elapsed();
    if time > LIMIT {
        return Err(format!("{hostile_count} hostile packets took {time:?}; {LIMIT:?} are allowed"));
    }
    limits(tshark)?;
    oldest_message(tshark)?;
    cut_captures(tshark)?;
    Ok(format!("{count} broken packets, {hostile_count} hostile ones in {:.1} s", time.as_secs_f64()))
}

/// A planted error of Lua must be found, or nothing else would be.
fn canary(tshark: &Tshark) -> Result<(), String> {
    let text = "local p = Proto(\"canary\", \"canary\")\n\
                function p.dissector() error(\"planted\") end\n\
                DissectorTable.get(\"udp.port\"):add(40404, p)\n";
    let planted = tshark.plant("canary.lua", text)?;
    let file = tshark.path("canary.pcapng");
    frames::write(&file, &in_turn(vec![udp(Direction::There, 40404, &[1, 2, 3])]), frames::WHOLE)?;
    let found = refuse_lua_errors(tshark, &file);
    std::fs::remove_file(&planted).map_err(|error| format!("{}: {error}", planted.display()))?;
    if found.is_err() { Ok(()) } else { Err("a planted error of Lua is not found".to_owned()) }
}

fn refuse_lua_errors(tshark: &Tshark, file: &std::path::Path) -> Result<(), String> {
    // Twice over, for what is kept of a frame is read again then.
    for passes in [&[][..], &["-2"]] {
        let faults = tshark.faults(file, passes)?;
        let mut errors = faults.iter().filter(|fault| fault.contains("Lua Error"));
        if let Some(first) = errors.next() {
            return Err(format!("{first}, and {} more", errors.count()));
        }
    }
    Ok(())
}

/// A packet on the carrier that its dialect has.
fn carried(kind: &str, bytes: &[u8]) -> Vec<u8> {
    match kind {
        kind if kind.starts_with("ndnlp1") => ethernet(Direction::There, bytes),
        kind if kind.starts_with("ndn-") => udp(Direction::There, NDN, bytes),
        _ => udp(Direction::There, CCNX, bytes),
    }
}

fn mutants() -> Vec<Vec<u8>> {
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let dialects = ["ndn", "ndn-lp", "ccnx", "ccnx-exchanges"];
    let all: Vec<Vector> = dialects.iter().flat_map(|name| vectors::load(name)).collect();
    let mut packets = Vec::new();
    for vector in &all {
        let length = vector.bytes.len();
        for at in 0..CUTS.min(length) {
            packets.push(carried(vector.kind(), &vector.bytes[..length * at / CUTS.min(length)]));
        }
        for _ in 0..CHANGES {
            let mut bytes = vector.bytes.clone();
            for _ in 0..=random.below(4) {
                change(&mut bytes, &all, &mut random);
            }
            bytes.truncate(60_000);
            packets.push(carried(vector.kind(), &bytes));
            if random.below(8) == 0 {
                packets.push(ethernet(Direction::There, &bytes));
            }
        }
    }
    // Nonsense, with beginnings that lead somewhere.
    for _ in 0..2000 {
        let begins: [&[u8]; 6] = [&[], b"NdL\x82", b"NdL\xb2", &[1, 0xd2, 0xf2], &[100], &[5, 253]];
        let mut bytes = begins[random.below(begins.len())].to_vec();
        bytes.extend((0..random.below(80)).map(|_| random.byte()));
        packets.push(ethernet(Direction::There, &bytes));
    }
    packets
}

fn change(bytes: &mut Vec<u8>, all: &[Vector], random: &mut Random) {
    let at = random.below(bytes.len());
    match random.below(6) {
        0 => bytes.insert(at, random.byte()),
        1 if !bytes.is_empty() => _ = bytes.remove(at),
        2 if !bytes.is_empty() => bytes[at] ^= 1 << random.below(8),
        3 if !bytes.is_empty() => bytes[at] = [0, 1, 0x7f, 0x80, 0xfd, 0xff][random.below(6)],
        4 => {
            // A piece of another packet.
            let other = &all[random.below(all.len())].bytes;
            let from = random.below(other.len());
            let piece = other.iter().skip(from).take(random.below(40)).copied().collect::<Vec<_>>();
            bytes.splice(at..at, piece);
        }
        _ => {
            let until = at + random.below(bytes.len() - at);
            bytes.drain(at..until);
        }
    }
}

/// One number of NDNLP in its element.
fn number(tag: u32, bytes: &[u8]) -> Vec<u8> {
    element(tag, &blob(bytes))
}

fn fragment(sequence: u64, index: u16, count: u16, payload: &[u8]) -> Vec<u8> {
    let parts = [
        number(20_653_249, &sequence.to_be_bytes()[2..]),
        number(20_653_250, &[0, 0]),
        number(20_653_251, &index.to_be_bytes()),
        number(20_653_252, &count.to_be_bytes()),
        number(20_653_253, payload),
    ];
    element(20_653_248, &parts.concat())
}

/// An element of NDN with a length of four bytes.
fn tlv(kind: &[u8], inner: &[u8]) -> Vec<u8> {
    [kind, &[254], &(inner.len() as u32).to_be_bytes(), inner].concat()
}

const LARGE: usize = 60_000;

/// Packets that a sender would make who wants to see Wireshark stand still.
fn hostile() -> Vec<Vec<u8>> {
    let mut packets = Vec::new();
    let mut ccnx =
        |bytes: &[u8]| packets.push(udp(Direction::There, CCNX, bytes.get(..LARGE).unwrap_or(bytes)));
    // Elements in elements, and as many elements, messages and values as there is room for.
    ccnx(&[0xf2; LARGE]);
    ccnx(&[&[1, 0xd2, 0xf2][..], &[0xfa, 0].repeat(LARGE / 2)].concat());
    ccnx(&[0xf2, 0].repeat(LARGE / 2));
    ccnx(&[&[1, 0xd2][..], &[0x8d, b'x'].repeat(LARGE / 2)].concat());
    ccnx(&element(19, &blob(&element(17, &element(31, &[]).repeat(15_000)))));
    // Objects in names of objects in names.
    let mut nested = element(14, &[]);
    while nested.len() < 20_000 {
        nested = element(64, &element(14, &element(15, &blob(&nested)).repeat(2)));
    }
    ccnx(&nested);
    // Lengths that are not there, and numbers without end.
    ccnx(&[&[1, 0xd2, 0xf2, 0xfa][..], &block(u32::MAX, 5), &[0; 40]].concat());
    ccnx(&[1; LARGE]);
    ccnx(&[&[1, 0xd2, 0xf2, 0xfa][..], &[0x7f; 30], &[0xfd]].concat());
    // Tag names, attributes, and text that is no text.
    ccnx(&[&block(5, 1)[..], b"abcdef", &block(3, 3), b"attr", &block(1, 6), b"v", &[0]].concat());
    ccnx(&element(81, &element(73, &[&block(4, 6)[..], &[0, 0xff, 0xfe, b'%']].concat())));
    ccnx(&element(26, &[element(14, &[]), element(48, &blob(&[0xff; 8]))].concat()));
    ccnx(&element(20, &element(39, &blob(&[0xff; 8]))));
    ccnx(&element(37, &element(53, &blob(&[0x30; 40]))));
    hostile_links(&mut packets);
    hostile_ndn(&mut packets);
    // A connection whose message does not end, one that is nonsense, and one that starts in the middle.
    let endless = [&[4, 0x82, 1, 0x9a][..], &block(4_000_000, 5)].concat();
    packets.push(tcp(50100, CCNX, 0, &endless));
    for at in 0..60 {
        packets.push(tcp(50100, CCNX, endless.len() + at * LARGE, &[b'x'; LARGE]));
        packets.push(tcp(50101, CCNX, at * 1000, &[0xf2; 1000]));
        packets.push(tcp(50102, NDN, at * 1000, &[0xff; 1000]));
        packets.push(tcp(50103, NDN, at * 1000, &[6, 254, 0x7f, 0xff, 0xff, 0xff].repeat(100)));
        packets.push(tcp(50104, CCNX, at * 4, b"NdL\x82"));
    }
    packets
}

fn hostile_links(packets: &mut Vec<Vec<u8>>) {
    let mut link = |bytes: &[u8]| packets.push(ethernet(Direction::There, bytes));
    // Bitmaps that acknowledge everything, fragments of nothing, of too many, and of too much.
    let bits = element(20_653_257, &blob(&[0xff; 50_000]));
    link(&element(20_653_254, &element(20_653_255, &[number(20_653_256, &[0xff; 6]), bits].concat())));
    for index in 0..3000_u16 {
        link(&fragment(u64::from(index) * 70_000, index, 65_535, b"x"));
    }
    for index in 0..40 {
        link(&fragment(1 << 40 | u64::from(index), index, 40, &[b'y'; LARGE]));
    }
    link(&fragment(5, 3, 3, b""));
    link(&fragment(5, 0, 0, b"z"));
    for index in [1, 0] {
        // A message that is nothing.
        link(&fragment(2_000_000 + u64::from(index), index, 2, b"\0"));
    }
    packets.push(ip_packet(150, b"NdL"));
}

fn hostile_ndn(packets: &mut Vec<Vec<u8>>) {
    let mut ndn = |bytes: &[u8]| packets.push(udp(Direction::There, NDN, bytes));
    ndn(&tlv(&[5], &tlv(&[7], &[8, 0].repeat(LARGE / 2 - 10))));
    ndn(&tlv(&[5], &[200, 0].repeat(LARGE / 2)));
    ndn(&tlv(&[100], &[0xfd, 3, 0x44, 8, 0, 0, 0, 0, 0, 0, 0, 1].repeat(5000)));
    ndn(&[6, 255, 255, 255, 255, 255, 255, 255, 255, 255]);
    ndn(&[255; 40]);
    // Announcements in announcements.
    let mut nested = tlv(&[6], &tlv(&[7], &[8, 1, b'a']));
    for _ in 0..500 {
        nested = tlv(
            &[100],
            &[tlv(&[0xfd, 3, 0x50], &nested), tlv(&[80], nested.get(..20).unwrap_or(&nested))].concat(),
        );
    }
    ndn(&nested);
    let eight = |number: u64| number.to_be_bytes();
    let part = |sequence: u64, index: u64, count: u64| {
        let head = [&[0x51, 8], &eight(sequence)[..], &[0x52, 8], &eight(index), &[0x53, 8], &eight(count)];
        tlv(&[100], &[&head.concat()[..], &[80, 1, b'x']].concat())
    };
    for (sequence, index, count) in [
        (0, u64::MAX, u64::MAX),
        (3, 1 << 60, u64::MAX),
        (u64::MAX, 0, u64::MAX),
        (7, 0, 0),
        (9, 0, 1),
        (1, 5, 65_000),
    ] {
        ndn(&part(sequence, index, count));
    }
}

/// What is left out, or given up, is said.
fn limits(tshark: &Tshark) -> Result<(), String> {
    let ccnx = |bytes: &[u8]| udp(Direction::There, CCNX, bytes);
    let bits = element(20_653_257, &blob(&[0xff; 2000]));
    let acks = element(20_653_254, &element(20_653_255, &[number(20_653_256, &[1; 6]), bits].concat()));
    let (component, segment) = (element(15, &[]), element(15, &blob(&[0])));
    let mut frames = vec![
        (ccnx(&element(14, &segment.repeat(6_000))), "More than 10000 elements: the rest is not shown"),
        (ccnx(&element(14, &component.repeat(10_000))), "more than 20000 blocks in a message"),
        (ccnx(&[0xf2; 40]), "elements nested deeper than 32"),
        (ccnx(&element(14, &[]).repeat(1001)), "More than 1000 messages: the rest is not shown"),
        (ethernet(Direction::There, &acks), "More than 1000 packets are acknowledged: the rest is not shown"),
    ];
    for index in 0..18 {
        let said = if index == 17 { "A message too large to be put together" } else { "" };
        frames
            .push((ethernet(Direction::There, &fragment(u64::from(index), index, 20, &[b'x'; LARGE])), said));
    }
    let (frames, wanted): (Vec<_>, Vec<_>) = frames.into_iter().unzip();
    let file = tshark.path("limits.pcapng");
    frames::write(&file, &in_turn(frames), frames::WHOLE)?;
    let rows = tshark.fields(&file, &["_ws.expert.message"], &[])?;
    for (row, wanted) in rows.iter().zip(wanted) {
        let said = row.concat().join("; ");
        if !said.contains(wanted) || wanted.is_empty() && !said.is_empty() {
            return Err(format!("{wanted:?} is not said, but {said:?}"));
        }
    }
    Ok(())
}

/// Of messages whose fragments are missing the oldest is given up, and no other.
fn oldest_message(tshark: &Tshark) -> Result<(), String> {
    let part = |message: u64, index: u16| {
        ethernet(Direction::There, &fragment(message * 10 + u64::from(index), index, 2, &element(14, &[])))
    };
    let mut frames: Vec<Vec<u8>> = (0..=2000).map(|message| part(message, 0)).collect();
    frames.extend([part(1, 1), part(0, 1), part(2000, 1)]);
    let file = tshark.path("oldest.pcapng");
    frames::write(&file, &in_turn(frames), frames::WHOLE)?;
    let rows = tshark.fields(&file, &["ndnlp.reassembled_length"], &[])?;
    let whole: Vec<usize> =
        (1..).zip(&rows).filter(|(_, row)| !row.concat().is_empty()).map(|(at, _)| at).collect();
    if whole == [2002, 2004] { Ok(()) } else { Err(format!("messages are whole in frames {whole:?}")) }
}

/// Captures that keep the beginnings of frames are read, and it is not the senders' fault.
fn cut_captures(tshark: &Tshark) -> Result<(), String> {
    let all: Vec<Vector> = ["ndn", "ndn-lp", "ccnx"].iter().flat_map(|name| vectors::load(name)).collect();
    let is_bad = |vector: &&Vector| {
        vector.get("error").is_some() || super::fields::NOTICED.iter().any(|(name, _)| *name == vector.name)
    };
    let good = all.iter().filter(|vector| !is_bad(vector) && vector.kind() != "ndn-name");
    let good: Vec<Vec<u8>> = good.map(|vector| carried(vector.kind(), &vector.bytes)).collect();
    for snap_bytes in [15, 44, 50, 64, 96, 128, 256, 1000] {
        let file = tshark.path("cut.pcapng");
        frames::write(&file, &in_turn(good.clone()), snap_bytes)?;
        let faults = tshark.faults(&file, &[])?;
        let mut ours = faults.iter().filter(|fault| !fault.contains("Malformed Packet"));
        if let Some(first) = ours.next() {
            return Err(format!(
                "frames of which {snap_bytes} bytes are kept: {first}, {} more",
                ours.count()
            ));
        }
    }
    Ok(())
}
