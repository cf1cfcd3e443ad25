//! Which field of the dissectors shows which line of a vector's header, and in what form.

/// How the value of a header line is to be read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// As it stands.
    Same,
    /// As it stands, among other values: an object within the packet has the field, too.
    Among,
    /// As it stands, the list's elements separated by this.
    List(char),
    /// `true`, or a line that is there: the field is.
    Presence,
    /// As it stands; 0 is for a field that is not there, too.
    OrZero,
    /// So many bytes.
    Length,
    /// A BLOB of seconds with twelve bits behind the point.
    Lifetime,
    /// The same, since 1970.
    Time,
    /// Milliseconds since 1970.
    Millis,
    /// Sixteen hex digits of a decimal number, or of several.
    Sequence,
    /// A component of CCNx as URI: the field has its bytes.
    ComponentBytes,
    /// A component of NDN as canonical URI.
    Component,
}

use Form::{
    Among, Component, ComponentBytes, Length, Lifetime, List, Millis, OrZero, Presence, Same, Sequence, Time,
};

/// A line of the header, the field, and the form.
pub(super) type Line = (&'static str, &'static str, Form);

pub(super) const NDN: &[Line] = &[
    ("can-be-prefix", "ndn.can_be_prefix", Presence),
    ("must-be-fresh", "ndn.must_be_fresh", Presence),
    ("forwarding-hint", "ndn.delegation", List(' ')),
    ("nonce", "ndn.nonce", Same),
    ("lifetime-ms", "ndn.lifetime", Same),
    ("hop-limit", "ndn.hop_limit", Same),
    ("parameters-len", "ndn.parameters", Length),
    ("content-type", "ndn.content_type", OrZero),
    ("freshness-ms", "ndn.freshness", Same),
    ("content-len", "ndn.content", Length),
    ("final-block", "ndn.final_block_id", Component),
    ("signature-type", "ndn.signature_type", Same),
    ("signature-nonce", "ndn.signature_nonce", Same),
    ("signature-time-ms", "ndn.signature_time", Millis),
    ("signature-seq-num", "ndn.signature_seq_num", Same),
    ("not-before", "ndn.not_before", Same),
    ("not-after", "ndn.not_after", Same),
];

pub(super) const LP: &[Line] = &[
    ("sequence", "ndnlpv2.sequence", Sequence),
    ("tx-sequence", "ndnlpv2.tx_sequence", Sequence),
    ("frag-index", "ndnlpv2.frag_index", Same),
    ("frag-count", "ndnlpv2.frag_count", Same),
    ("pit-token", "ndnlpv2.pit_token", Same),
    ("nack", "ndnlpv2.nack", Presence),
    ("incoming-face", "ndnlpv2.incoming_face_id", Same),
    ("next-hop-face", "ndnlpv2.next_hop_face_id", Same),
    ("congestion-mark", "ndnlpv2.congestion_mark", Same),
    ("explicit-rate-per-1000-s", "ndnlpv2.explicit_rate", OrZero),
    ("cache-policy", "ndnlpv2.cache_policy_type", Presence),
    ("acks", "ndnlpv2.ack", Sequence),
    ("non-discovery", "ndnlpv2.non_discovery", Presence),
    ("prefix-announcement-bytes", "ndnlpv2.prefix_announcement", Presence),
    ("parity", "ndnlpv2.parity", Same),
    ("fragment-bytes", "ndnlpv2.fragment", Length),
];

pub(super) const NDNLP: &[Line] = &[
    ("sequence", "ndnlp.sequence", Same),
    ("payload-len", "ndnlp.payload", Length),
    ("acknowledged", "ndnlp.acknowledges", List(' ')),
];

pub(super) const CCNX: &[Line] = &[
    ("name", "ccnx.name", Among),
    ("min-suffix-components", "ccnx.min_suffix_components", Same),
    ("max-suffix-components", "ccnx.max_suffix_components", Same),
    ("publisher-public-key", "ccnx.publisher_public_key_digest", Among),
    ("publisher-certificate", "ccnx.publisher_certificate_digest", Same),
    ("publisher-issuer-key", "ccnx.publisher_issuer_key_digest", Same),
    ("publisher-issuer-certificate", "ccnx.publisher_issuer_certificate_digest", Same),
    ("child-selector", "ccnx.child_selector", Same),
    ("answer-origin-kind", "ccnx.answer_origin_kind", Same),
    ("scope", "ccnx.scope", Same),
    ("interest-lifetime", "ccnx.interest_lifetime", Lifetime),
    ("nonce", "ccnx.nonce", Same),
    ("face-id", "ccnx.face_id", Among),
    ("digest-algorithm", "ccnx.digest_algorithm", Same),
    ("witness", "ccnx.witness", Same),
    ("signature-bits", "ccnx.signature_bits", Among),
    ("publisher", "ccnx.publisher_public_key_digest", Among),
    ("timestamp", "ccnx.timestamp", Time),
    ("type", "ccnx.type", Among),
    ("freshness-seconds", "ccnx.freshness_seconds", Among),
    ("final-block-id", "ccnx.final_block_id", ComponentBytes),
    ("key", "ccnx.key", Presence),
    ("certificate", "ccnx.certificate", Presence),
    ("key-name", "ccnx.name", Among),
    ("key-publisher-public-key", "ccnx.publisher_public_key_digest", Among),
    ("key-publisher-certificate", "ccnx.publisher_certificate_digest", Same),
    ("key-publisher-issuer-key", "ccnx.publisher_issuer_key_digest", Same),
    ("key-publisher-issuer-certificate", "ccnx.publisher_issuer_certificate_digest", Same),
    ("ext-opt", "ccnx.ext_opt", Same),
    ("content-len", "ccnx.content", Length),
    ("action", "ccnx.action", Among),
    ("ccnd-id", "ccnx.publisher_public_key_digest", Among),
    ("ip-protocol", "ccnx.ip_proto", Same),
    ("host", "ccnx.host", Same),
    ("port", "ccnx.port", Same),
    ("multicast-interface", "ccnx.multicast_interface", Same),
    ("multicast-ttl", "ccnx.multicast_ttl", Same),
    ("strategy", "ccnx.strategy_id", Same),
    ("parameters", "ccnx.strategy_parameters", Same),
    ("status-code", "ccnx.status_code", Same),
    ("status", "ccnx.status_code", Same),
    ("status-text", "ccnx.status_text", Same),
    ("label", "ccnx.label", Same),
    ("version", "ccnx.version", Same),
    ("repository-version", "ccnx.repository_version", Same),
    ("global-prefix", "ccnx.global_prefix_name", Same),
    ("local-name", "ccnx.local_name", Same),
    ("policy-version", "ccnx.policy_version", Same),
    ("policy-prefix", "ccnx.global_prefix", Same),
    ("namespaces", "ccnx.namespace", List(' ')),
    ("number", "ccnx.sequence_number", Same),
    ("lower-protocol", "ccnx.ndnld_lower_protocol", Same),
    ("local-interface", "ccnx.ndnld_local_interface", Same),
    ("sent-packets-capacity", "ccnx.ndnld_sent_pkts_capacity", Same),
    ("retransmit-count", "ccnx.ndnld_retransmit_count", Same),
    ("retransmit-millis", "ccnx.ndnld_retransmit_time", Same),
    ("acknowledge-millis", "ccnx.ndnld_acknowledge_time", Same),
];

/// Header lines that say nothing a dissector shows, and those that `fields` has a rule of its own for.
pub(super) const OTHER: &[&str] = &[
    "source",
    "kind",
    "about",
    "capture",
    "components",
    "also-parses-from",
    "signed-range",
    "signed-len",
    "signed-sha256",
    "payload-sha256",
    "implicit-digest",
    "hmac-key",
    "parameters-digest-valid",
    "canonical",
    "width-bytes",
    "error",
    "error-at",
    // These have a rule of their own.
    "name-alternate",
    "key-locator",
    "exclude",
    "flags",
    "forwarding-flags",
    "fragment",
    "blocks",
    "items",
    "messages",
];

/// What a field shows for the value of a header line; nothing for forms that need the packet.
pub(super) fn shown(form: Form, value: &str) -> Vec<String> {
    match form {
        Same | Among | OrZero | Presence | Length => vec![value.to_owned()],
        List(between) => value.split(between).map(str::to_owned).collect(),
        Lifetime => vec![seconds(value)],
        Time => vec![utc(number(value) * 1_000_000_000 / 4096, number(value) % 4096 * 1_000_000_000 % 4096)],
        Millis => vec![utc(value.parse::<u128>().unwrap_or(0) * 1_000_000, 0)],
        Sequence => {
            value.split(' ').map(|word| format!("{:016x}", word.parse::<u64>().unwrap_or(0))).collect()
        }
        ComponentBytes => {
            vec![unescaped(value).iter().map(|byte| format!("{byte:02x}")).collect()]
        }
        Component => vec![alternate(value)],
    }
}

fn number(hex: &str) -> u128 {
    u128::from_str_radix(hex, 16).unwrap_or(0)
}

fn seconds(hex: &str) -> String {
    let nanos = (number(hex) * 1_000_000_000 * 2 / 4096).div_ceil(2);
    format!("{}.{:09}", nanos / 1_000_000_000, nanos % 1_000_000_000)
}

/// A moment as Wireshark shows it, `nanos` since 1970; half a nanosecond or more in `rest` is rounded up. Its
/// calendar is an oracle: it shares nothing with `packet::UnixTime`, which Cairn's own texts are made with.
fn utc(nanos: u128, rest: u128) -> String {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let nanos = nanos + u128::from(rest >= 2048);
    let seconds = (nanos / 1_000_000_000) as i64;
    // Days since 1 March of the year 0; years that begin in March have their leap day at their end.
    let days = seconds / 86_400 + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = (month_from_march + 2) % 12;
    let year = era * 400 + year_of_era + i64::from(month < 2);
    let name = MONTHS.get(month as usize).unwrap_or(&"?");
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    let fraction = nanos % 1_000_000_000;
    format!("{name} {day:2}, {year} {hour:02}:{minute:02}:{second:02}.{fraction:09} UTC")
}

/// The bytes of an escaped component. Three periods and more stand for three less.
fn unescaped(text: &str) -> Vec<u8> {
    if text.starts_with("...") && text.bytes().all(|byte| byte == b'.') {
        return text.as_bytes()[3..].to_vec();
    }
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let escaped = (first == b'%').then(|| after.split_at_checked(2)).flatten();
        let byte = escaped.and_then(|(digits, _)| {
            u8::from_str_radix(std::str::from_utf8(digits).unwrap_or_default(), 16).ok()
        });
        match (byte, escaped) {
            (Some(byte), Some((_, after))) => {
                bytes.push(byte);
                rest = after;
            }
            _ => {
                bytes.push(first);
                rest = after;
            }
        }
    }
    bytes
}

/// A component as canonical URI in its alternate form.
fn alternate(text: &str) -> String {
    let names = [("50=", "seg"), ("52=", "off"), ("54=", "v"), ("56=", "t"), ("58=", "seq")];
    for (number, name) in names {
        if let Some(value) = text.strip_prefix(number) {
            let bytes = unescaped(value);
            let number = bytes.iter().fold(0_u128, |number, &byte| number << 8 | u128::from(byte));
            return format!("{name}={number}");
        }
    }
    text.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_those_of_the_calendar() {
        assert_eq!(utc(0, 0), "Jan  1, 1970 00:00:00.000000000 UTC");
        assert_eq!(utc(951_782_400_000_000_000, 0), "Feb 29, 2000 00:00:00.000000000 UTC");
        assert_eq!(shown(Time, "0499602d2000"), ["Feb 13, 2009 23:31:30.000000000 UTC"]);
    }

    #[test]
    fn components_lose_their_escapes() {
        assert_eq!(shown(ComponentBytes, "%00a%FF"), ["0061ff"]);
        assert_eq!(shown(ComponentBytes, "..."), [""]);
        assert_eq!(shown(Component, "50=%01%00"), ["seg=256"]);
    }
}
