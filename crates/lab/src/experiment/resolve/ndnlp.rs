//! How a link of CCNx cuts and acknowledges messages: as said, as the paper has it, or by the link's delay.

use link::v1::Timings;
use packet::Dialect;
use packet::time::Duration;

use super::link_keys::LinkKeys;
use crate::experiment::model::Acknowledgement;
use crate::experiment::plan::{LinkKind, LinkPlan, Ndnlp1Plan};
use crate::experiment::problem::suggest;
use crate::experiment::read::findings::Findings;
use crate::experiment::units::Span;

/// NDNLP v1 on a link that has it: every one of Ethernet, and one of UDP that carries frames.
pub(super) fn ndnlp1(
    said: LinkKeys<'_>,
    link: &LinkPlan,
    dialect: Dialect,
    f: &mut Findings,
) -> Option<Ndnlp1Plan> {
    let key = format!("link.{}", link.name);
    let given = said.of(|link| link.acknowledgement.clone());
    if dialect == Dialect::Ndn {
        if given.is_some() {
            let message = "the link protocol of NDN measures its links, and has none of these parameters";
            f.add(format!("{key}.acknowledgement"), message, Some("leave it out".to_owned()));
        }
        return None;
    }
    let frames = link.simulated.frames;
    let given = given.as_ref();
    match link.kind {
        LinkKind::Tcp if frames => {
            let message = "a connection loses nothing, and messages travel on it whole";
            f.add(format!("{key}.frames"), message, Some("leave it out".to_owned()));
            return None;
        }
        LinkKind::Udp if frames => {}
        LinkKind::Ether => {}
        LinkKind::Tcp | LinkKind::Udp => {
            if given.is_some() {
                let message = "only packets of NDNLP v1 are acknowledged, and this link carries none";
                let hint = Some("add frames = true to a link of UDP, or leave it out".to_owned());
                f.add(format!("{key}.acknowledgement"), message, hint);
            }
            return None;
        }
    }
    let timings = timings(&key, given.and_then(|given| given.timing.as_deref()), link, f);
    let span = |of: fn(&Acknowledgement) -> Option<Span>| given.and_then(of).map(|span| span.0);
    let count = |of: fn(&Acknowledgement) -> Option<u32>| given.and_then(of);
    Some(Ndnlp1Plan {
        mtu_bytes: Ndnlp1Plan::mtu_bytes(link.kind == LinkKind::Udp, link.mtu),
        acknowledged: link.simulated.reliable,
        sent_packets: count(|given| given.sent_packets).unwrap_or(timings.sent_packets_capacity),
        retries: count(|given| given.retries).unwrap_or(timings.retry_count),
        retransmit_ns: span(|given| given.retransmit).unwrap_or(timings.retransmit_time.as_nanos()),
        acknowledge_ns: span(|given| given.acknowledge).unwrap_or(timings.acknowledge_time.as_nanos()),
    })
}

fn timings(key: &str, word: Option<&str>, link: &LinkPlan, f: &mut Findings) -> Timings {
    let word = word.unwrap_or("paper");
    let round_trip = Duration::from_nanos(link.delay_ns.saturating_mul(2)).max(Duration::from_millis(1));
    match word {
        "paper" => Timings::PAPER,
        // Section 2.3: acknowledged within two link delays, sent again after four of them, and twice.
        "link-delay" => Timings {
            retry_count: 2,
            retransmit_time: round_trip * 2,
            acknowledge_time: round_trip,
            ..Timings::PAPER
        },
        // What section 3.3.1 recommends in place of its defaults.
        "round-trip" => Timings {
            sent_packets_capacity: sent_in(round_trip * 2, link),
            retransmit_time: round_trip * 3,
            acknowledge_time: round_trip,
            ..Timings::PAPER
        },
        other => {
            let hint = Some(suggest(other, &["paper", "link-delay", "round-trip"]));
            f.add(format!("{key}.acknowledgement.timing"), format!("`{other}` is not known here"), hint);
            Timings::PAPER
        }
    }
}

/// Full packets that a link sends in that time; as many as by default if that is more or it has no rate.
fn sent_in(time: Duration, link: &LinkPlan) -> u32 {
    let bits = u128::from(link.rate_bps.unwrap_or(0)) * u128::from(time.as_nanos()) / 1_000_000_000;
    let packets = u32::try_from(bits / 8 / u128::from(link.mtu)).unwrap_or(u32::MAX);
    packets.max(Timings::PAPER.sent_packets_capacity)
}

#[cfg(test)]
mod tests {
    use crate::experiment::Experiment;
    use crate::experiment::plan::Ndnlp1Plan;

    fn read(dialect: &str, link: &str) -> Result<Option<Ndnlp1Plan>, String> {
        let text = format!(
            "title = 't'\nduration = '1 s'\ndialect = '{dialect}'\n[node]\na = {{}}\nb = {{}}\n[link]\na-b = {{ {link} }}\n"
        );
        let experiment = Experiment::parse("t", "t.toml", &text).map_err(|wrong| wrong.to_string())?;
        let plan = experiment.plans("sim").map_err(|wrong| format!("{wrong:?}"))?.remove(0);
        Ok(plan.links.as_slice()[0].ndnlp1)
    }

    /// Of a link that has them: packets kept, retries, and milliseconds until a packet is sent again and
    /// until it is acknowledged.
    fn timing(link: &str) -> [u64; 4] {
        let plan = read("ccnx", link).unwrap().unwrap();
        let millis = |nanos: u64| nanos / 1_000_000;
        let counts = [plan.sent_packets, plan.retries].map(u64::from);
        [counts[0], counts[1], millis(plan.retransmit_ns), millis(plan.acknowledge_ns)]
    }

    #[test]
    fn timings_are_the_papers_unless_a_rule_or_a_number_is_said() {
        assert_eq!(timing("kind = 'ether'"), [100, 5, 1000, 300]);
        assert_eq!(timing("kind = 'ether', acknowledgement = { retries = 7 }"), [100, 7, 1000, 300]);
        let by = |rule| format!("kind = 'ether', delay = '10 ms', acknowledgement = {{ timing = '{rule}' }}");
        assert_eq!(timing(&by("link-delay")), [100, 2, 40, 20]);
        assert_eq!(timing(&by("round-trip")), [100, 5, 60, 20]);
        // Two round trips of 20 ms at 60 Mbit/s hold 200 packets of 1,500 bytes.
        assert_eq!(timing(&format!("rate = '60 Mbit/s', {}", by("round-trip"))), [200, 5, 60, 20]);
    }

    #[test]
    fn ethernet_has_packets_of_ndnlp_v1_and_udp_where_they_are_asked_for() {
        let mtu = |link| read("ccnx", link).unwrap().map(|plan| (plan.mtu_bytes, plan.acknowledged));
        assert_eq!(mtu("kind = 'ether', reliable = true"), Some((1500, true)));
        assert_eq!(mtu("frames = true"), Some((1420, false)));
        assert_eq!(mtu("frames = true, mtu = 1000"), Some((972, false)));
        assert_eq!((mtu(""), mtu("kind = 'tcp'")), (None, None));
        assert_eq!(read("ndn", "kind = 'ether', frames = true").unwrap(), None);
    }

    #[test]
    fn what_a_link_cannot_have_is_refused() {
        for (dialect, link) in [
            ("ndn", "kind = 'ether', acknowledgement = {}"),
            ("ccnx", "kind = 'tcp', frames = true"),
            ("ccnx", "acknowledgement = {}"),
            ("ccnx", "reliable = true"),
            ("ccnx", "kind = 'ether', acknowledgement = { timing = 'soon' }"),
            ("latin", ""),
        ] {
            assert!(read(dialect, link).is_err(), "{dialect}: {link}");
        }
    }
}
