//! The status page of ccnd 0.8.2, as XML for `ccndstatus` and its kin and as HTML for people.
//!
//! It shows the CCNx side of the node: its faces, its registrations. What ccnd counts and Cairn does not, or
//! counts for both dialects together, is said in `docs/ccnx.md`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use engine::{FaceId, FaceScope};
use formats::markup::escaped;
use packet::ccnx::management::ForwardingFlags;
use packet::ccnx::uri::{self, Escaping};
use packet::time::Instant;
use packet::{LinkType, Name, Now, UnixTime, hex};

use super::faces::FOR_EVER;
use super::{Ccnd, DIALECT};
use crate::control::{FacePersistency, FaceSnapshot, FaceState, FaceUri, NodeControl, NodeStatus};
use crate::plane::BUSY;

/// What faces had counted when the page was last shown, and when that was.
#[derive(Debug, Default)]
pub(super) struct Meters {
    at: Instant,
    totals: BTreeMap<FaceId, [u64; 6]>,
}

/// The interface that clients know: that of CCNx 0.8.2.
const API_VERSION: u32 = 8002;
const NOT_ALLOWED: &str = "HTTP/1.1 405 Method Not Allowed\r\nConnection: close\r\n\r\n";
/// The names of the meters of a face, in their order.
const METERS: [&str; 6] = ["bytein", "byteout", "datain", "introut", "dataout", "intrin"];

/// A face as the page shows it.
struct FaceRow {
    id: u32,
    flags: u32,
    received: u64,
    address: Option<String>,
    /// In the order of [`METERS`].
    meters: [Meter; 6],
}

/// What a meter counted.
#[derive(Clone, Copy)]
struct Meter {
    total: u64,
    rate_per_second: u64,
}

/// All that a page says.
struct Page {
    id: String,
    listens_at: String,
    started: String,
    now: String,
    status: NodeStatus,
    faces: Vec<FaceRow>,
    /// Prefix, face, flags, seconds left.
    forwarding: Vec<Forwarding>,
}

/// Where a prefix leads; sorted by it.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Forwarding {
    prefix: String,
    face: u32,
    flags: u32,
    seconds_left: u64,
}

impl Ccnd {
    /// The answer to a request, header included.
    pub(super) fn status_page(&mut self, now: Now, node: &mut dyn NodeControl, request: &[u8]) -> Vec<u8> {
        let (kind, body) = match request {
            b"GET / " | b"GET /? " => ("text/html", self.page(now, node).html()),
            b"GET /?f=xml " => ("text/xml", self.page(now, node).xml()),
            _ => return NOT_ALLOWED.as_bytes().to_vec(),
        };
        self.counters.pages += 1;
        let length = body.len();
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: {kind}; charset=utf-8\r\nConnection: close\r\n\
             Content-Length: {length}\r\n\r\n"
        );
        (head + &body).into_bytes()
    }

    /// The answer to a request of a neighbour, when neighbours have had their share of the time.
    pub(super) fn refuse_page(&mut self) -> Vec<u8> {
        self.counters.pages_refused += 1;
        BUSY.as_bytes().to_vec()
    }

    fn page(&mut self, now: Now, node: &mut dyn NodeControl) -> Page {
        let mut faces = node.faces();
        faces.retain(|face| face.dialect == DIALECT);
        let shown = faces.iter().map(|face| self.shown(now.instant, face)).collect();
        let totals = faces.iter().map(|face| (face.id, totals(face))).collect();
        self.meters = Meters { at: now.instant, totals };
        let routes = node.routes(DIALECT);
        let hops =
            routes.iter().flat_map(|route| route.next_hops.iter().map(|hop| (&route.prefix, hop.face)));
        let hops = hops.filter(|(prefix, face)| !self.registrations.is_inherited(prefix, *face));
        let mut forwarding: Vec<_> =
            hops.map(|(prefix, face)| self.forwarding(now.instant, prefix, face)).collect();
        forwarding.sort();
        Page {
            id: hex::encode_upper(self.id()),
            listens_at: self.listens_at.map_or_else(String::new, |address| address.port().to_string()),
            started: seconds(self.started),
            now: seconds(now.unix),
            status: node.status(),
            faces: shown,
            forwarding,
        }
    }

    fn shown(&self, now: Instant, face: &FaceSnapshot) -> FaceRow {
        let elapsed = now.saturating_since(self.meters.at).as_nanos().max(1);
        let before = self.meters.totals.get(&face.id);
        let totals = totals(face);
        let mut meters = totals.map(|total| Meter { total, rate_per_second: 0 });
        for (meter, before) in meters.iter_mut().zip(before.copied().unwrap_or(totals)) {
            let since = u128::from(meter.total.saturating_sub(before)) * 1_000_000_000;
            meter.rate_per_second = u64::try_from(since / u128::from(elapsed)).unwrap_or(u64::MAX);
        }
        FaceRow {
            id: face.id.0,
            flags: flags(face),
            received: face.traffic.in_frames,
            address: address(face),
            meters,
        }
    }

    fn forwarding(&self, now: Instant, prefix: &Name, face: FaceId) -> Forwarding {
        let registered = self.registrations.get(prefix, face);
        let flags = registered.map_or(ForwardingFlags::default(), |entry| entry.flags);
        let left = registered.map_or(u64::from(FOR_EVER), |entry| {
            (entry.until.saturating_since(now).as_nanos() / 1_000_000_000).min(FOR_EVER.into())
        });
        let components = prefix.as_ref().components().map(|component| component.value);
        Forwarding {
            prefix: uri::format(components, Escaping::Mixed),
            face: face.0,
            flags: flags.0 & 0xff,
            seconds_left: left,
        }
    }
}

impl Page {
    fn xml(&self) -> String {
        let (tables, engine) = (&self.status.tables, &self.status.engine);
        let mut out = format!(
            "<ccnd><identity><ccndid>{}</ccndid><apiversion>{API_VERSION}</apiversion>\
             <starttime>{}</starttime><now>{}</now></identity>",
            self.id, self.started, self.now
        );
        let _ = write!(
            out,
            "<cobs><accessioned>{}</accessioned><stored>{}</stored><stale>0</stale><sparse>0</sparse>\
             <duplicate>0</duplicate><sent>{}</sent></cobs>",
            self.status.packets.in_data, tables.cached, engine.data_sent
        );
        let _ = write!(
            out,
            "<interests><names>{}</names><pending>{}</pending><propagating>{}</propagating>\
             <noted>0</noted><accepted>{}</accepted><dropped>{}</dropped><sent>{}</sent>\
             <stuffed>0</stuffed></interests><faces>",
            tables.routes,
            tables.pending,
            tables.pending,
            self.status.packets.in_interests,
            self.dropped(),
            engine.interests_sent
        );
        for face in &self.faces {
            face.write_xml(&mut out);
        }
        out.push_str("</faces><forwarding>");
        for Forwarding { prefix, face, flags, seconds_left: left } in &self.forwarding {
            let _ = write!(
                out,
                "<fentry><prefix>{}</prefix><dest><faceid>{face}</faceid><flags>{flags:x}</flags>\
                 <expires>{left}</expires></dest></fentry>",
                escaped(prefix)
            );
        }
        out.push_str("</forwarding></ccnd>\n");
        out
    }

    fn html(&self) -> String {
        let (tables, engine) = (&self.status.tables, &self.status.engine);
        let title = format!("cairn ccnd[{}]", std::process::id());
        let mut out = format!(
            "<html xmlns='http://www.w3.org/1999/xhtml'><head><title>{title}</title></head>\n\
             <body><p class='header'>{title} local port {} api {API_VERSION} start {} now {}</p>\n",
            self.listens_at, self.started, self.now
        );
        let _ = write!(
            out,
            "<div><b>Content items:</b> {} accessioned, {} stored, 0 stale, 0 sparse, 0 duplicate, \
             {} sent</div>\n<div><b>Interests:</b> {} names, {} pending, {} propagating, 0 noted</div>\n\
             <div><b>Interest totals:</b> {} accepted, {} dropped, {} sent, 0 stuffed</div>\n\
             <h4>Faces</h4>\n<ul>",
            self.status.packets.in_data,
            tables.cached,
            engine.data_sent,
            tables.routes,
            tables.pending,
            tables.pending,
            self.status.packets.in_interests,
            self.dropped(),
            engine.interests_sent
        );
        for face in &self.faces {
            face.write_html(&mut out);
        }
        out.push_str("</ul><h4>Face Activity Rates</h4><table><tbody>\n");
        for face in &self.faces {
            let [bytes_in, bytes_out, data_in, interests_out, data_out, interests_in] =
                face.meters.map(|meter| meter.rate_per_second);
            let _ = writeln!(
                out,
                " <tr><td><b>face:</b> {}</td>\t<td>{bytes_in:6} / {bytes_out}</td>\t\t\
                 <td>{data_in:9} / {interests_out}</td>\t\t<td>{data_out:9} / {interests_in}</td></tr>",
                face.id
            );
        }
        out.push_str("</tbody></table><h4>Forwarding</h4>\n<ul>");
        for Forwarding { prefix, face, flags, seconds_left: left } in &self.forwarding {
            let _ = writeln!(
                out,
                " <li>{} <b>face:</b> {face} <b>flags:</b> 0x{flags:x} <b>expires:</b> {left}</li>",
                escaped(prefix)
            );
        }
        out.push_str("</ul></body></html>\n");
        out
    }

    fn dropped(&self) -> u64 {
        self.status.engine.drops.iter().map(|(_, count)| count).sum()
    }
}

impl FaceRow {
    fn write_xml(&self, out: &mut String) {
        let _ = write!(
            out,
            "<face><faceid>{}</faceid><faceflags>{:04x}</faceflags><pending>0</pending>\
             <recvcount>{}</recvcount>",
            self.id, self.flags, self.received
        );
        if let Some(address) = &self.address {
            let _ = write!(out, "<ip>{}</ip>", escaped(address));
        }
        out.push_str("<meters>");
        for (name, Meter { total, rate_per_second: rate }) in METERS.into_iter().zip(self.meters) {
            let _ = write!(out, "<{name}><total>{total}</total><persec>{rate}</persec></{name}>");
        }
        out.push_str("</meters></face>\n");
    }

    fn write_html(&self, out: &mut String) {
        let _ =
            write!(out, " <li><b>face:</b> {} <b>flags:</b> 0x{:x} <b>pending:</b> 0", self.id, self.flags);
        if self.received > 0 {
            let _ = write!(out, " <b>activity:</b> {}", self.received);
        }
        if let Some(address) = &self.address {
            let _ = write!(out, " <b>remote:</b> {}", escaped(address));
        }
        out.push_str("</li>\n");
    }
}

/// In the order of [`METERS`].
fn totals(face: &FaceSnapshot) -> [u64; 6] {
    let (traffic, packets) = (&face.traffic, &face.traffic.packets);
    [
        traffic.in_bytes,
        traffic.out_bytes,
        packets.in_data,
        packets.out_interests,
        packets.out_data,
        packets.in_interests,
    ]
}

/// The flags by which ccnd tells faces apart.
fn flags(face: &FaceSnapshot) -> u32 {
    const LINK: u32 = 0x1;
    const DATAGRAMS: u32 = 0x2;
    const FRIENDLY: u32 = 0x4;
    const LOCAL: u32 = 0x8;
    const INET: u32 = 0x10;
    const MULTICAST: u32 = 0x20;
    const INET6: u32 = 0x40;
    const PERMANENT: u32 = 0x400;
    const CONNECTING: u32 = 0x800;
    const LOOPBACK: u32 = 0x1000;
    let is_friendly = face.scope == FaceScope::Local;
    let mut flags = if is_friendly { FRIENDLY } else { 0 };
    let address = match &face.remote {
        FaceUri::Udp(address) | FaceUri::Ip(address) => {
            flags |= DATAGRAMS;
            Some(address)
        }
        FaceUri::Tcp(address) => Some(address),
        FaceUri::Unix(_) | FaceUri::FileDescriptor(_) => {
            flags |= if is_friendly { LOCAL } else { LOCAL | LINK };
            None
        }
        _ => None,
    };
    if let Some(address) = address {
        flags |= if address.is_ipv4() { INET } else { INET6 };
        flags |= if address.ip().to_canonical().is_loopback() { LOOPBACK } else { 0 };
    }
    for (flag, is_set) in [
        (MULTICAST, face.link_type != LinkType::PointToPoint),
        (PERMANENT, face.persistency != FacePersistency::OnDemand),
        (CONNECTING, face.state == FaceState::Down),
    ] {
        flags |= if is_set { flag } else { 0 };
    }
    flags
}

fn address(face: &FaceSnapshot) -> Option<String> {
    match &face.remote {
        FaceUri::Udp(address) | FaceUri::Tcp(address) => Some(address.to_string()),
        FaceUri::Ip(address) => Some(address.ip().to_string()),
        _ => None,
    }
}

fn seconds(time: UnixTime) -> String {
    format!("{}.{:06}", time.as_secs(), time.as_millis() % 1000 * 1000)
}
