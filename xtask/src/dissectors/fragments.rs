//! Fragments that belong together, packets that are sent again, and acknowledgements: figures 4 and 5 of
//! NDN-0006, and the same for NDNLPv2.

use std::collections::HashMap;

use super::elements::{blob, element};
use super::frames::{self, CCNX, Direction, NDN, Sent, ethernet, in_turn, ip_packet, tcp, udp};
use super::tshark::{Row, Tshark};

/// Message bytes of a packet of an Ethernet whose MTU is 1,500.
const PER_PACKET: usize = 1452;

/// A file of 6,600 bytes as an object of 6,994, as in the paper.
fn object() -> Vec<u8> {
    let component = |bytes: &[u8]| element(15, &blob(bytes));
    let signature = element(37, &element(54, &blob(&[0x5a; 128])));
    let signed = [element(60, &blob(&[0x11; 32])), element(39, &blob(&[4, 0x99, 0x60, 0x2d, 0x20, 0]))];
    let content = element(19, &blob(&[b'.'; 6600]));
    let whole = |padding: usize| {
        let name = element(14, &[component(b"r1"), component(&vec![b'f'; padding])].concat());
        element(64, &[&signature[..], &name, &element(20, &signed.concat()), &content].concat())
    };
    // The name is as long as it must be.
    let missing = 6994 - whole(130).len();
    whole(130 + missing)
}

/// A packet of NDNLP version 1 that wants to be acknowledged.
fn data(sequence: u64, fragment: Option<(u16, u16)>, payload: &[u8]) -> Vec<u8> {
    let number = |tag: u32, bytes: &[u8]| element(tag, &blob(bytes));
    let mut inner = number(20_653_249, &sequence.to_be_bytes()[2..]);
    inner.extend(number(20_653_250, &[0x80, 0]));
    if let Some((index, count)) = fragment {
        inner.extend(number(20_653_251, &index.to_be_bytes()));
        inner.extend(number(20_653_252, &count.to_be_bytes()));
    }
    inner.extend(number(20_653_253, payload));
    element(20_653_248, &inner)
}

fn ack(base: u64, bitmap: &[u8]) -> Vec<u8> {
    let base = element(20_653_256, &blob(&base.to_be_bytes()[2..]));
    element(20_653_254, &element(20_653_255, &[base, element(20_653_257, &blob(bitmap))].concat()))
}

/// The object in packets that count from `first`.
fn packets(first: u64) -> Vec<Vec<u8>> {
    let object = object();
    let count = object.len().div_ceil(PER_PACKET) as u16;
    let parts = object.chunks(PER_PACKET).zip(0..);
    parts.map(|(part, index)| data(first + u64::from(index), Some((index, count)), part)).collect()
}

/// The columns of a capture as they are in the figures: length, protocol, info.
fn columns(tshark: &Tshark, file: &std::path::Path) -> Result<Vec<String>, String> {
    let rows = tshark.fields(file, &["frame.len", "_ws.col.Protocol", "_ws.col.Info"], &[])?;
    Ok(rows.iter().map(|row| row.concat().join(" ")).collect())
}

fn equal<T: PartialEq + std::fmt::Debug>(what: &str, shown: &T, wanted: &T) -> Result<(), String> {
    if shown == wanted { Ok(()) } else { Err(format!("{what}: {shown:?} instead of {wanted:?}")) }
}

/// Writes frames; gives what `fields` show once all of them are known.
fn shown(tshark: &Tshark, sent: &[Sent], fields: &[&str]) -> Result<Vec<Row>, String> {
    let file = tshark.path("frames.pcapng");
    frames::write(&file, sent, frames::WHOLE)?;
    let faults = tshark.faults(&file, &["-2"])?;
    if !faults.is_empty() {
        return Err(faults.join("\n"));
    }
    tshark.fields(&file, fields, &["-2"])
}

const LINKS: &[&str] = &[
    "ndnlp.reassembled_in",
    "ndnlp.fragment_frame",
    "ndnlp.reassembled_length",
    "ndnlp.acknowledged_in",
    "ndnlp.acknowledges_frame",
    "ndnlp.retransmission_of",
];

/// A row of links, as text: fields separated by blanks, values by commas.
fn links(rows: &[Row]) -> Vec<String> {
    let text = |row: &Row| {
        let cells =
            row.iter().map(|values| if values.is_empty() { "-".to_owned() } else { values.join(",") });
        cells.collect::<Vec<_>>().join(" ")
    };
    rows.iter().map(text).collect()
}

pub(super) fn check(tshark: &Tshark) -> Result<String, String> {
    figure_4(tshark)?;
    figure_5(tshark)?;
    retransmission(tshark)?;
    any_order(tshark)?;
    any_carrier(tshark)?;
    version_2(tshark)?;
    version_2_again(tshark)?;
    nfd_again(tshark)?;
    Ok("figures 4 and 5, any order, five carriers, both versions".to_owned())
}

fn figure_4(tshark: &Tshark) -> Result<(), String> {
    const FIRST: u64 = 0x8a48_10d0_f08b;
    let micros = [24_903, 24_912, 24_922, 24_932, 24_941];
    let mut sent: Vec<Sent> = packets(FIRST)
        .iter()
        .zip(micros)
        .map(|(packet, micros)| Sent { micros, bytes: ethernet(Direction::There, packet) })
        .collect();
    sent.push(Sent { micros: 133_674, bytes: ethernet(Direction::Back, &ack(FIRST, &[0xf8])) });
    let file = tshark.path("figure-4.pcapng");
    frames::write(&file, &sent, frames::WHOLE)?;
    let wanted = [
        "1514 NDNLP Data 8a4810d0f08b 0/5",
        "1514 NDNLP Data 8a4810d0f08c 1/5",
        "1514 NDNLP Data 8a4810d0f08d 2/5",
        "1514 NDNLP Data 8a4810d0f08e 3/5",
        "1248 NDNLP Data 8a4810d0f08f 4/5",
        "43 NDNLP Ack 8a4810d0f08b",
    ];
    equal("figure 4", &columns(tshark, &file)?, &wanted.map(str::to_owned).to_vec())?;
    let wanted = [
        "5 - - 6 - -",
        "5 - - 6 - -",
        "5 - - 6 - -",
        "5 - - 6 - -",
        "- 1,2,3,4,5 6994 6 - -",
        "- - - - 1,2,3,4,5 -",
    ];
    equal("links of figure 4", &links(&shown(tshark, &sent, LINKS)?), &wanted.map(str::to_owned).to_vec())?;
    let content = shown(tshark, &sent, &["ccnx.content"])?;
    let length = content.get(4).map_or(0, |row| row.concat().concat().len() / 2);
    equal("bytes of the file of figure 4", &length, &6600)
}

/// As R0 sees it: the third packet of the message does not arrive at first.
fn figure_5(tshark: &Tshark) -> Result<(), String> {
    const FIRST: u64 = 0xaaaf_95d9_067e;
    let interest = element(26, &element(14, &element(15, &blob(&[b'i'; 39]))));
    let there = |micros, packet: &[u8]| Sent { micros, bytes: ethernet(Direction::There, packet) };
    let back = |micros, packet: &[u8]| Sent { micros, bytes: ethernet(Direction::Back, packet) };
    let parts = packets(FIRST);
    let [first, second, third, fourth, fifth] = parts.as_slice() else {
        return Err(format!("{} packets", parts.len()));
    };
    let sent = [
        back(21_313_683, &data(0xce99_2d23_2b89, None, &interest)),
        there(21_345_770, first),
        there(21_345_820, second),
        there(21_345_832, fourth),
        there(21_345_843, fifth),
        back(21_496_909, &ack(FIRST, &[0xd8])),
        there(22_031_574, &ack(0xce99_2d23_2b89, &[0x80])),
        there(22_396_187, third),
        back(22_446_651, &ack(FIRST + 2, &[0x80])),
    ];
    let file = tshark.path("figure-5.pcapng");
    frames::write(&file, &sent, frames::WHOLE)?;
    let wanted = [
        "94 NDNLP Data ce992d232b89",
        "1514 NDNLP Data aaaf95d9067e 0/5",
        "1514 NDNLP Data aaaf95d9067f 1/5",
        "1514 NDNLP Data aaaf95d90681 3/5",
        "1248 NDNLP Data aaaf95d90682 4/5",
        "43 NDNLP Ack aaaf95d9067e",
        "43 NDNLP Ack ce992d232b89",
        "1514 NDNLP Data aaaf95d90680 2/5",
        "43 NDNLP Ack aaaf95d90680",
    ];
    equal("figure 5", &columns(tshark, &file)?, &wanted.map(str::to_owned).to_vec())?;
    let wanted = [
        "- - - 7 - -",
        "8 - - 6 - -",
        "8 - - 6 - -",
        "8 - - 6 - -",
        "8 - - 6 - -",
        "- - - - 2,3,4,5 -",
        "- - - - 1 -",
        "- 2,3,8,4,5 6994 9 - -",
        "- - - - 8 -",
    ];
    equal("links of figure 5", &links(&shown(tshark, &sent, LINKS)?), &wanted.map(str::to_owned).to_vec())
}

/// As the sender sees it: the third packet is sent again, and so is the fifth although it had arrived.
fn retransmission(tshark: &Tshark) -> Result<(), String> {
    let parts = packets(1 << 47);
    let order = [0, 1, 2, 3, 4, 2, 4].iter().filter_map(|&at| parts.get(at));
    let sent = in_turn(order.map(|packet| ethernet(Direction::There, packet)).collect());
    let rows =
        shown(tshark, &sent, &["ndnlp.retransmission_of", "ndnlp.reassembled_in", "ndnlp.fragment_frame"])?;
    let wanted = ["- 5 -", "- 5 -", "- 5 -", "- 5 -", "- - 1,2,3,4,5", "3 5 -", "5 5 -"];
    equal("links of a retransmission", &links(&rows), &wanted.map(str::to_owned).to_vec())
}

/// Fragments in any order, those of the other host with the same numbers between them, numbers that wrap, and
/// a sender that begins anew with numbers it had.
fn any_order(tshark: &Tshark) -> Result<(), String> {
    const LAST: u64 = (1 << 48) - 1;
    let number = |at: u64| (LAST - 1 + at) & LAST;
    let part = |at: u16, message: u8| {
        let bytes = element(26, &element(14, &element(15, &blob(&[message; 30]))));
        let piece = bytes.chunks(bytes.len().div_ceil(4)).nth(usize::from(at)).unwrap_or_default();
        data(number(at.into()), Some((at, 4)), piece)
    };
    let mut packets = Vec::new();
    for at in [3, 1, 0, 2] {
        packets.push(ethernet(Direction::There, &part(at, b'a')));
        packets.push(ethernet(Direction::Back, &part(at, b'b')));
    }
    packets.extend([0, 1, 2, 3].map(|at| ethernet(Direction::There, &part(at, b'c'))));
    let rows = shown(tshark, &in_turn(packets), &["ndnlp.message", "ndnlp.fragment_frame", "ccnx.name"])?;
    let name = |letter: &str| format!("ccnx:/{}", letter.repeat(30));
    let whole =
        |at: usize| rows.get(at).map(|row| row[1..].iter().map(|cell| cell.join(",")).collect::<Vec<_>>());
    equal("a message out of order", &whole(6), &Some(vec!["5,3,7,1".to_owned(), name("a")]))?;
    equal("the other host's", &whole(7), &Some(vec!["6,4,8,2".to_owned(), name("b")]))?;
    equal("one with numbers that were", &whole(11), &Some(vec!["9,10,11,12".to_owned(), name("c")]))?;
    let bases = rows.iter().filter(|row| row[0] == ["fffffffffffe"]).count();
    equal("packets with the message's number", &bases, &12)
}

/// The same packets in frames, datagrams on both ports, packets of IP, and a connection.
fn any_carrier(tshark: &Tshark) -> Result<(), String> {
    let parts = packets(77);
    let stream = parts.concat();
    let carriers: [(&str, Vec<Vec<u8>>); 5] = [
        ("Ethernet with padding", {
            let padded = |packet: &Vec<u8>| ethernet(Direction::There, &[&packet[..], &[0; 18]].concat());
            parts.iter().map(padded).collect()
        }),
        ("UDP 9695", parts.iter().map(|packet| udp(Direction::There, CCNX, packet)).collect()),
        ("UDP 29695", parts.iter().map(|packet| udp(Direction::There, 29695, packet)).collect()),
        ("IP protocol 150", parts.iter().map(|packet| ip_packet(150, packet)).collect()),
        ("TCP", {
            let pieces = stream.chunks(1000).enumerate();
            pieces.map(|(at, piece)| tcp(50001, CCNX, at * 1000, piece)).collect()
        }),
    ];
    for (carrier, frames) in carriers {
        let rows = shown(tshark, &in_turn(frames), &["ndnlp.sequence", "ndnlp.reassembled_length"])?;
        let sequences: Vec<String> = rows.iter().flat_map(|row| row[0].clone()).collect();
        let wanted: Vec<String> = (77..82).map(|number| format!("{number:012x}")).collect();
        equal(carrier, &sequences, &wanted)?;
        let lengths: Vec<String> = rows.iter().flat_map(|row| row[1].clone()).collect();
        equal(carrier, &lengths, &vec!["6994".to_owned()])?;
    }
    Ok(())
}

/// A Data of NFD in seven fragments, whose numbers wrap.
fn version_2(tshark: &Tshark) -> Result<(), String> {
    let vectors = testkit::vectors::load("ndn-lp");
    let mut parts =
        vectors.iter().filter(|vector| vector.name.starts_with("nfd-fragment-")).collect::<Vec<_>>();
    parts.rotate_left(3);
    let sent: Vec<Vec<u8>> = parts.iter().map(|vector| udp(Direction::There, NDN, &vector.bytes)).collect();
    let fields = ["ndnlpv2.reassembled_in", "ndnlpv2.fragment_frame", "ndnlpv2.reassembled_length"];
    let rows = links(&shown(tshark, &in_turn(sent), &fields)?);
    let mut wanted = vec!["7 - -".to_owned(); 6];
    wanted.push("- 5,6,7,1,2,3,4 8171".to_owned());
    equal("fragments of NDNLPv2", &rows, &wanted)
}

/// A packet that is sent again: its Sequence is the same, its TxSequence is not, and the second is
/// acknowledged.
fn version_2_again(tshark: &Tshark) -> Result<(), String> {
    let interest = [5, 11, 7, 3, 8, 1, b'A', 10, 4, 1, 2, 3, 4];
    let eight = |number: u64| number.to_be_bytes();
    let send = |tx: u64| {
        let head = [&[0x51, 8], &eight(9)[..], &[0xfd, 3, 0x48, 8], &eight(tx)].concat();
        let inner = [&head[..], &[0x50, interest.len() as u8], &interest].concat();
        udp(Direction::There, NDN, &[&[100, inner.len() as u8], &inner[..]].concat())
    };
    let acks = [&[100, 24, 0xfd, 3, 0x44, 8], &eight(6)[..], &[0xfd, 3, 0x44, 8], &eight(99)].concat();
    let sent = in_turn(vec![send(5), send(6), udp(Direction::Back, NDN, &acks)]);
    let fields = ["ndnlpv2.retransmission_of", "ndnlpv2.acknowledged_in", "ndnlpv2.ack_frame"];
    let rows = links(&shown(tshark, &sent, &fields)?);
    equal("a packet of NDNLPv2 sent again", &rows, &["- - -", "1 3 -", "- - 2"].map(str::to_owned).to_vec())?;
    let file = tshark.path("again.pcapng");
    frames::write(&file, &sent, frames::WHOLE)?;
    let lines = columns(tshark, &file)?;
    let last = lines.last().map(String::as_str);
    equal("an acknowledgement", &last, &Some("68 NDNLPv2 Ack 0000000000000006 0000000000000063"))
}

/// An NFD whose neighbour does not acknowledge sends each Interest again after a second: the same Sequence.
fn nfd_again(tshark: &Tshark) -> Result<(), String> {
    let file = tshark.vector("captures/nfd-udp.pcap");
    let fields = [
        "frame.number",
        "ndnlpv2.retransmission_of",
        "udp.srcport",
        "ndnlpv2.sequence",
        "ndnlpv2.tx_sequence",
    ];
    let rows = tshark.fields(&file, &fields, &super::captures::ports())?;
    let mut first: HashMap<(String, String), String> = HashMap::new();
    let mut count = 0;
    for row in &rows {
        let [number, again, port, sequence, sent] = row.as_slice() else { return Err(format!("{row:?}")) };
        if sequence.is_empty() {
            continue;
        }
        let key = (port.concat(), sequence.concat());
        let before = first.entry(key).or_insert_with(|| number.concat()).clone();
        let wanted = if before == number.concat() { Vec::new() } else { vec![before] };
        equal(&format!("frame {} of NFD, sent as {}", number.concat(), sent.concat()), again, &wanted)?;
        count += again.len();
    }
    equal("packets that NFD sent again", &count, &13)
}
