//! Captures of other implementations: the line of every packet, and no fault in any.

use super::Tshark;
use super::frames::{self, CCNX, in_turn, tcp};

/// The captures in `vectors/captures`, and whether a list of what is in there stands beside it.
const CAPTURES: &[(&str, bool)] = &[
    ("ccnd-control-newface-prefixreg-tcp", true),
    ("ccnd-hmac-content-tcp", false),
    ("ccnd-local-put-get-tcp", true),
    ("ccnd-udp-interest-content", true),
    ("ccnping-udp", true),
    ("ccnr-checked-startwrite-tcp", true),
    ("ccnr-startup-startwrite-tcp", true),
    ("ndnld-control-and-ccnd-pdu", true),
    ("ndnlp-ether-rla", true),
    ("ndnlp-udp", true),
    ("nfd-tcp-clients", true),
    ("nfd-udp", true),
];

/// Ports that are not those of the protocols, and which protocol is spoken there.
const PORTS: &[&str] = &[
    "tcp.port==9999,ccnx",
    "tcp.port==19720,ccnx",
    "udp.port==19720,ccnx",
    "udp.port==19721,ccnx",
    "tcp.port==17363,ndn",
    "tcp.port==17364,ndn",
    "udp.port==17363,ndn",
    "udp.port==17364,ndn",
];

const COLUMNS: &[&str] = &["frame.number", "_ws.col.Protocol", "_ws.col.Info"];

/// The arguments that say who speaks what at which port.
pub(super) fn ports() -> Vec<&'static str> {
    PORTS.iter().flat_map(|&port| ["-d", port]).collect()
}

pub(super) fn check(tshark: &Tshark) -> Result<String, String> {
    let mut count = 0;
    for &(name, is_listed) in CAPTURES {
        let file = tshark.vector(&format!("captures/{name}.pcap"));
        for passes in [&[][..], &["-2"]] {
            let faults = tshark.faults(&file, &[&ports()[..], passes].concat())?;
            if !faults.is_empty() {
                return Err(format!("{name}: {}", faults.join("\n")));
            }
        }
        let shown = lines(tshark, &file, &ports())?;
        if shown.is_empty() {
            return Err(format!("{name}: nothing is shown"));
        }
        if is_listed {
            let path = tshark.vector(&format!("captures/{name}.tsv"));
            let text =
                std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
            compare(name, &text.lines().map(str::to_owned).collect::<Vec<_>>(), &shown)?;
        }
        count += shown.len();
    }
    streams(tshark)?;
    status_page(tshark)?;
    Ok(format!("{count} packets of {} captures", CAPTURES.len()))
}

/// The lines of packets, as the lists have them.
fn lines(tshark: &Tshark, file: &std::path::Path, arguments: &[&str]) -> Result<Vec<String>, String> {
    let mut shown = Vec::new();
    for row in tshark.fields(file, COLUMNS, arguments)? {
        let [number, protocol, info] = row.as_slice() else { return Err(format!("{row:?}")) };
        if ["CCNx", "NDNLP", "NDN", "NDNLPv2"].contains(&protocol.concat().as_str()) {
            let info = info.concat();
            shown.extend(info.split("  ").map(|line| format!("{}\t{}", number.concat(), objects(line))));
        }
    }
    Ok(shown)
}

/// A component that is a whole object has no length in the lists.
fn objects(line: &str) -> String {
    let mut words = Vec::new();
    for (at, part) in line.split('(').enumerate() {
        match part.split_once(" bytes)") {
            Some((digits, rest)) if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
                words.push(format!("(object){rest}"));
            }
            _ if at > 0 => words.push(format!("({part}")),
            _ => words.push(part.to_owned()),
        }
    }
    words.concat()
}

fn compare(name: &str, wanted: &[String], shown: &[String]) -> Result<(), String> {
    match wanted.iter().zip(shown).find(|(wanted, shown)| wanted != shown) {
        Some((wanted, shown)) => Err(format!("{name}:\n{wanted}\nis shown as\n{shown}")),
        None if wanted.len() != shown.len() => {
            Err(format!("{name}: {} packets instead of {}", shown.len(), wanted.len()))
        }
        None => Ok(()),
    }
}

/// What one side of a connection sends, cut into segments of any size, is the same messages.
fn streams(tshark: &Tshark) -> Result<(), String> {
    for vector in testkit::vectors::load("ccnx-exchanges") {
        if vector.kind() != "ccnx-stream" {
            continue;
        }
        let messages = vector.get("messages").unwrap_or_default().split(", ");
        let wanted: Vec<&str> =
            messages.map(|message| message.split(' ').next().unwrap_or_default()).collect();
        for size in [1, 7, 333, 1460, vector.bytes.len()] {
            let segments = vector.bytes.chunks(size).enumerate();
            let segments = segments.map(|(at, bytes)| tcp(50000, CCNX, at * size, bytes)).collect();
            let file = tshark.path("stream.pcapng");
            frames::write(&file, &in_turn(segments), frames::WHOLE)?;
            let faults = tshark.faults(&file, &[])?;
            let shown = lines(tshark, &file, &[])?;
            let kind = |line: &String| {
                let line = line.split('\t').nth(1).unwrap_or_default();
                let word = line.split(' ').next().unwrap_or_default();
                if word == "PDU" { "CCNProtocolDataUnit".to_owned() } else { word.to_owned() }
            };
            let kinds: Vec<String> = shown.iter().map(kind).collect();
            if !faults.is_empty() || kinds != wanted {
                let name = &vector.name;
                let at = kinds.iter().zip(&wanted).position(|(kind, wanted)| kind != wanted);
                let counts = format!("{} of {} messages", kinds.len(), wanted.len());
                return Err(format!("{name} in segments of {size}: {counts}, wrong at {at:?}: {faults:?}"));
            }
        }
    }
    Ok(())
}

/// A request for ccnd's status page is HTTP, as a browser sends it and as ccndsmoketest does.
fn status_page(tshark: &Tshark) -> Result<(), String> {
    let requests: [&[u8]; 2] = [b"GET /?f=xml HTTP/1.1\r\nHost: a\r\n\r\n", b"GET / HT"];
    let frames = requests.iter().zip(50200..).map(|(request, port)| tcp(port, CCNX, 0, request)).collect();
    let file = tshark.path("status.pcapng");
    frames::write(&file, &in_turn(frames), frames::WHOLE)?;
    let rows = tshark.fields(&file, &["frame.protocols"], &[])?;
    let is_http = |row: &super::tshark::Row| row.concat().concat().ends_with(":http");
    if rows.iter().all(is_http) { Ok(()) } else { Err(format!("a status page is shown as {rows:?}")) }
}
