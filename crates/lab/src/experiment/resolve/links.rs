//! What links are like: as said of each, as their topology knows, as the defaults say.

use packet::Dialect;

use super::link_keys::LinkKeys;
use super::ndnlp;
use super::network::{Joined, Shape};
use crate::experiment::model::{self, File};
use crate::experiment::plan::{CoDelPlan, LinkKind, LinkPlan, Links, SharedPlan, SimulatedLink};
use crate::experiment::problem::suggest;
use crate::experiment::read::findings::Findings;
use crate::experiment::units::{Share, Size, Span};

/// The links of a file, complete.
pub(super) fn links(file: &File, shape: &Shape, dialect: Dialect, f: &mut Findings) -> Links {
    let defaults = file.defaults.as_ref().and_then(|defaults| defaults.link.as_ref());
    let one = |joined: &Joined| {
        let said = LinkKeys { own: file.link.get(&joined.name), defaults };
        let mut link = link(said, joined, f);
        link.ndnlp1 = ndnlp::ndnlp1(said, &link, dialect, f);
        check_frames(&link, dialect, f);
        link
    };
    shape.links.iter().map(one).collect()
}

/// Only what travels in frames can be sent again by the link. Over Ethernet CCNx always does.
fn check_frames(link: &LinkPlan, dialect: Dialect, f: &mut Findings) {
    let always = dialect == Dialect::Ccnx && link.kind == LinkKind::Ether;
    if link.simulated.reliable && !link.simulated.frames && !always {
        let hint = Some("add frames = true".to_owned());
        let message = "only links with frames can send what was lost again";
        f.add(format!("link.{}.reliable", link.name), message, hint);
    }
}

fn link(said: LinkKeys<'_>, joined: &Joined, f: &mut Findings) -> LinkPlan {
    let LinkKeys { own, defaults } = said;
    let key = format!("link.{}", joined.name);
    let known = &joined.known;
    let kind = said.of(|link| link.kind.clone()).unwrap_or_else(|| "udp".to_owned());
    let kinds = [("udp", LinkKind::Udp), ("tcp", LinkKind::Tcp), ("ether", LinkKind::Ether)];
    let kind = f.word(&format!("{key}.kind"), &kind, &kinds).unwrap_or(LinkKind::Udp);
    let mut part = |name: &str, share: Option<Share>, known: Option<f64>| {
        let value = share.map(|share| share.0).or(known).unwrap_or(0.0);
        if !(0.0..=1.0).contains(&value) {
            let hint = Some(format!("write for example {name} = \"1 %\""));
            f.add(format!("{key}.{name}"), format!("a {name} lies between 0 % and 100 %"), hint);
        }
        value
    };
    // What a topology knows of a link goes before what is said of all.
    let own_loss = own.and_then(|link| link.loss);
    let default_loss = defaults.and_then(|link| link.loss).map(|share| share.0);
    let loss = part("loss", own_loss, known.loss.or(default_loss));
    let duplicate = part("duplicate", said.of(|link| link.duplicate), None);
    let reorder = part("reorder", said.of(|link| link.reorder), None);
    let mtu = said.of(|link| link.mtu).unwrap_or(1500);
    if !(576..=65_000).contains(&mtu) {
        f.add(format!("{key}.mtu"), "an MTU lies between 576 and 65000", None);
    }
    let own_rate = own.and_then(|link| link.rate).map(|rate| rate.0).or(known.rate_bits_per_second);
    let rate = own_rate.or_else(|| defaults.and_then(|link| link.rate).map(|rate| rate.0));
    if rate.is_some_and(|rate| rate < 8_000) {
        f.add(format!("{key}.rate"), "a rate of less than 8 kbit/s does not carry a packet", None);
    }
    let own_delay = own.and_then(|link| link.delay).map(|span| span.0);
    let own_delay = own_delay.or(known.delay.map(packet::time::Duration::as_nanos));
    let delay = own_delay.or_else(|| defaults.and_then(|link| link.delay).map(|span| span.0));
    let own_metric = own.and_then(|link| link.metric).or(known.metric);
    let own_queue = own.and_then(|link| link.queue_packets).or(known.queue_packets);
    let simulated = SimulatedLink {
        queue_packets: own_queue.or(defaults.and_then(|link| link.queue_packets)),
        duplicate,
        reorder,
        ..simulated(&key, said, rate, f)
    };
    LinkPlan {
        name: joined.name.clone(),
        between: joined.between,
        shared: shared(&key, joined, said, f),
        kind,
        rate_bps: rate,
        delay_ns: delay.unwrap_or(0),
        loss,
        // What a map says of packets are frames where the kernel keeps the queue.
        queue: own
            .and_then(|link| link.queue)
            .or(known.queue_packets)
            .or_else(|| defaults.and_then(|link| link.queue))
            .unwrap_or(100),
        mtu,
        metric: own_metric.or(defaults.and_then(|link| link.metric)).unwrap_or(1),
        simulated,
        ndnlp1: None,
    }
}

/// What makes it a link of more than two nodes.
fn shared(key: &str, joined: &Joined, said: LinkKeys<'_>, f: &mut Findings) -> Option<SharedPlan> {
    let share = said.of(|link| link.share).unwrap_or(false);
    if joined.others.is_empty() {
        if said.own.is_some_and(|link| link.share == Some(true)) {
            let hint = Some("name more of them in `between`".to_owned());
            f.add(format!("{key}.share"), "two nodes have nobody to share what they fetch with", hint);
        }
        return None;
    }
    if said.of(|link| link.rate_control.clone()).is_some() {
        f.add(format!("{key}.rate_control"), "a link of more than two nodes has none", None);
    }
    Some(SharedPlan { others: joined.others.clone(), share })
}

fn simulated(key: &str, said: LinkKeys<'_>, rate: Option<u64>, f: &mut Findings) -> SimulatedLink {
    let bytes = |size: fn(&model::Link) -> Option<Size>| said.of(size).map(|size| size.0);
    let span = |span: fn(&model::Link) -> Option<Span>| said.of(span).map_or(0, |span| span.0);
    let control = said.of(|link| link.rate_control.clone());
    let rate_control = control.and_then(|control| rate_control(key, &control, rate, f));
    let frames = said.of(|link| link.frames).unwrap_or(false);
    let reliable = said.of(|link| link.reliable).unwrap_or(false);
    let token_bucket = said.of(|link| link.token_bucket).unwrap_or(false);
    if token_bucket && said.of(|link| link.codel.clone()).is_some() {
        f.add(format!("{key}.token_bucket"), "a queue under CoDel has no token bucket", None);
    }
    SimulatedLink {
        token_bucket,
        queue_bytes: bytes(|link| link.queue_bytes),
        mark_above_bytes: bytes(|link| link.mark_above),
        codel: said.of(|link| link.codel.clone()).map(|codel| CoDelPlan {
            target_ns: codel.target.map_or(5_000_000, |span| span.0),
            interval_ns: codel.interval.map_or(100_000_000, |span| span.0),
            mark: codel.mark.unwrap_or(false),
        }),
        rate_control,
        overhead_bytes: bytes(|link| link.overhead).map(|bytes| u32::try_from(bytes).unwrap_or(u32::MAX)),
        reorder_delay_ns: span(|link| link.reorder_delay),
        jitter_ns: span(|link| link.jitter),
        frames,
        reliable,
        ..SimulatedLink::default()
    }
}

fn rate_control(
    key: &str,
    control: &model::RateControl,
    rate: Option<u64>,
    f: &mut Findings,
) -> Option<(String, u32)> {
    let key = format!("{key}.rate_control");
    if let Err(error) = control.method.parse::<engine::RateMethod>() {
        let hint = Some(suggest(&control.method, &["hobhis", "mircc"]));
        f.add(format!("{key}.method"), error.to_string(), hint);
        return None;
    }
    if rate.is_none() {
        let hint = Some("write for example rate = \"10 Mbit/s\"".to_owned());
        f.add(&key, "it divides what the link carries, and the link has no rate", hint);
        return None;
    }
    Some((control.method.clone(), control.max_held.unwrap_or(100)))
}
