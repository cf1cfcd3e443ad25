//! Vectors: each field that one has is shown with its value, and those that are bad are found fault with.

use testkit::vectors::{self, Vector};

use super::expected::{self, Form, Line};
use super::frames::{self, CCNX, Direction, ethernet, in_turn, udp};
use super::tshark::{Row, Tshark};

/// Bad vectors in which the dissectors find no fault, and why.
const UNNOTICED: &[(&str, &str)] = &[("bad-tlv-empty", "there is nothing to find fault with")];

/// Good vectors in which fault is found all the same, and why.
pub(super) const NOTICED: &[(&str, &str)] = &[("worked-ndnlp1-data-whole", "its payload is no message")];

/// Shown beside the fields of the header lines.
const MORE: &[&str] = &[
    "_ws.lua.error",
    "_ws.expert.severity",
    "ndn.name",
    "ndn.key_name",
    "ndn.key_digest",
    "ndnlp.flags",
    "ndnlp.frag_index",
    "ndnlp.frag_count",
    "ndnlp.sequence_base",
    "ndnlp.bitmap",
    "ccnx.forwarding_flags",
    "ccnx.component",
    "ccnx.bloom",
    "ccnx.any",
];

/// PI_ERROR of Wireshark.
const ERROR: &str = "8388608";

/// A vector as a packet on a wire, and which header lines go with which fields.
fn frame(vector: &Vector) -> (Vec<u8>, &'static [Line]) {
    match vector.kind() {
        "ndn-name" => {
            // A name is no packet: in an Interest it is.
            let inner = [&vector.bytes[..], &[0x0a, 4, 1, 2, 3, 4]].concat();
            let mut packet = vec![5, 253];
            packet.extend((inner.len() as u16).to_be_bytes());
            if inner.len() < 253 {
                packet = vec![5, inner.len() as u8];
            }
            packet.extend(inner);
            (ethernet(Direction::There, &packet), expected::NDN)
        }
        "ndn-lp" => (udp(Direction::There, frames::NDN, &vector.bytes), expected::LP),
        kind if kind.starts_with("ndnlp1") => (ethernet(Direction::There, &vector.bytes), expected::NDNLP),
        kind if kind.starts_with("ndn-") => {
            (udp(Direction::There, frames::NDN, &vector.bytes), expected::NDN)
        }
        _ => (udp(Direction::There, CCNX, &vector.bytes), expected::CCNX),
    }
}

/// The values of one frame, by the names of the fields.
struct Shown<'a> {
    fields: &'a [&'a str],
    row: &'a Row,
}

impl Shown<'_> {
    fn get(&self, field: &str) -> &[String] {
        let at = self.fields.iter().position(|&known| known == field);
        at.and_then(|at| self.row.get(at)).map_or(&[], Vec::as_slice)
    }

    fn first(&self, field: &str) -> &str {
        self.get(field).first().map_or("", String::as_str)
    }
}

pub(super) fn check(tshark: &Tshark) -> Result<String, String> {
    let mut fields = MORE.to_vec();
    for (_, field, _) in [expected::NDN, expected::LP, expected::NDNLP, expected::CCNX].concat() {
        if !fields.contains(&field) {
            fields.push(field);
        }
    }
    let all: Vec<Vector> = ["ndn", "ndn-lp", "ccnx"].iter().flat_map(|name| vectors::load(name)).collect();
    let file = tshark.path("vectors.pcapng");
    let packets = all.iter().map(|vector| frame(vector).0).collect();
    frames::write(&file, &in_turn(packets), frames::WHOLE)?;
    let rows = tshark.fields(&file, &fields, &[])?;
    if rows.len() != all.len() {
        return Err(format!("{} rows for {} vectors", rows.len(), all.len()));
    }
    let (mut problems, mut lines, mut bad) = (Vec::new(), 0, 0);
    for (vector, row) in all.iter().zip(&rows) {
        let shown = Shown { fields: &fields, row };
        let result = match vector.get("error") {
            Some(_) => {
                bad += 1;
                check_bad(vector, &shown)
            }
            None => check_good(vector, &shown).map(|count| lines += count),
        };
        if let Err(problem) = result {
            problems.push(format!("{}: {problem}", vector.name));
        }
    }
    if problems.is_empty() {
        Ok(format!("{lines} fields of {} vectors, and faults of {bad} others", all.len() - bad))
    } else {
        Err(problems.join("\n"))
    }
}

fn check_bad(vector: &Vector, shown: &Shown<'_>) -> Result<(), String> {
    let is_error = shown.get("_ws.expert.severity").iter().any(|value| value == ERROR);
    let is_known = UNNOTICED.iter().any(|(name, _)| *name == vector.name);
    match (is_error, is_known, shown.first("_ws.lua.error")) {
        (_, _, error) if !error.is_empty() => Err(error.to_owned()),
        (false, false, _) => Err(format!("no fault is found: {}", vector.get("error").unwrap_or_default())),
        (true, true, _) => Err("a fault is found although the list says it is not".to_owned()),
        _ => Ok(()),
    }
}

/// Whether a header line is compared with something, or known to say nothing that a dissector shows.
fn has_rule(lines: &[Line], key: &str) -> bool {
    let is_name = lines == expected::NDN && key == "name";
    is_name || expected::OTHER.contains(&key) || lines.iter().any(|(line, ..)| *line == key)
}

/// Gives how many fields were compared.
fn check_good(vector: &Vector, shown: &Shown<'_>) -> Result<usize, String> {
    let is_packet = vector.kind() != "ndn-name";
    let is_noticed = NOTICED.iter().any(|(name, _)| *name == vector.name);
    if is_packet && !is_noticed && shown.get("_ws.expert.severity").iter().any(|value| value == ERROR) {
        return Err("a fault is found".to_owned());
    }
    let lines = frame(vector).1;
    let mut count = 0;
    for (key, value) in &vector.header {
        if !has_rule(lines, key) {
            return Err(format!("no rule for the line {key}"));
        }
        for (_, field, form) in lines.iter().filter(|(line, ..)| line == key) {
            if key == "fragment-bytes" && vector.bytes.first() != Some(&100) {
                // A packet that is in no LpPacket is in no Fragment.
                continue;
            }
            count += 1;
            compare(key, value, *form, shown.get(field))?;
        }
    }
    if lines == expected::NDN || lines == expected::LP {
        for (key, field, form) in lines.iter().filter(|(key, ..)| vector.get(key).is_none()) {
            let is_none = *form == Form::OrZero && shown.get(field) == ["0"];
            if !shown.get(field).is_empty() && is_packet && !is_none {
                return Err(format!("{field} is shown, and there is no {key}"));
            }
        }
    }
    Ok(count + check_own(vector, shown)?)
}

fn compare(key: &str, value: &str, form: Form, shown: &[String]) -> Result<(), String> {
    let wanted = expected::shown(form, value);
    let length = |hex: &String| if hex == "<MISSING>" { 0 } else { hex.len() / 2 };
    let fits = match form {
        Form::Presence => (value == "false") == shown.is_empty(),
        Form::OrZero => wanted == shown || value == "0" && shown.is_empty(),
        Form::Length => match shown {
            [] => value == "0",
            shown => shown.iter().any(|hex| length(hex).to_string() == value),
        },
        // What is there and empty looks like what is not there.
        Form::Same if value.is_empty() => shown.is_empty(),
        Form::Among | Form::Time | Form::ComponentBytes => wanted.iter().all(|wanted| shown.contains(wanted)),
        _ => wanted == shown,
    };
    if fits { Ok(()) } else { Err(format!("{key} is {wanted:?}, and {shown:?} is shown")) }
}

fn equal(what: &str, wanted: &str, shown: &str) -> Result<usize, String> {
    if wanted == shown { Ok(1) } else { Err(format!("{what} is {wanted}, and {shown} is shown")) }
}

/// Lines of the header that several fields show together.
fn check_own(vector: &Vector, shown: &Shown<'_>) -> Result<usize, String> {
    let mut count = 0;
    let kind = vector.kind();
    if let Some(name) = vector.get("name-alternate").or_else(|| vector.get("name"))
        && kind.starts_with("ndn-")
    {
        count += equal("name", name, shown.first("ndn.name"))?;
    }
    if let Some(locator) = vector.get("key-locator") {
        count += match locator.strip_prefix("key-digest ") {
            Some(digest) => equal("key-locator", digest, shown.first("ndn.key_digest"))?,
            None => equal_name(locator, shown.first("ndn.key_name"))?,
        };
    }
    if let Some(fragment) = vector.get("fragment") {
        let part = |field| shown.get(field).first().map_or("?", String::as_str);
        let whole = format!("{}/{}", part("ndnlp.frag_index"), part("ndnlp.frag_count"));
        count += equal("fragment", fragment, if whole == "?/?" { "0/1" } else { &whole })?;
    }
    if let Some(flags) = vector.get("flags") {
        let field = if kind == "ndnlp1-data" { "ndnlp.flags" } else { "ccnx.forwarding_flags" };
        let text = shown.first(field).trim_start_matches("0x");
        count += equal("flags", flags, text.split(' ').next().unwrap_or_default())?;
    }
    if let Some(flags) = vector.get("forwarding-flags") {
        let text = shown.first("ccnx.forwarding_flags");
        count += equal("forwarding-flags", flags, text.split(' ').next().unwrap_or_default())?;
    }
    if let Some(blocks) = vector.get("blocks") {
        let pairs = shown.get("ndnlp.sequence_base").iter().zip(shown.get("ndnlp.bitmap"));
        let pairs: Vec<String> = pairs.map(|(base, bitmap)| format!("{base}/{bitmap}")).collect();
        count += equal("blocks", blocks, &pairs.join(" "))?;
    }
    if let Some(exclude) = vector.get("exclude") {
        count += check_exclude(exclude, shown)?;
    }
    Ok(count)
}

/// Canonical and alternate forms of one name differ in numbers only.
fn equal_name(canonical: &str, shown: &str) -> Result<usize, String> {
    let parts = canonical.split('/').flat_map(|part| expected::shown(Form::Component, part));
    equal("key-locator", &parts.collect::<Vec<_>>().join("/"), shown)
}

/// Components, filters and gaps are three fields; each has its values in order.
fn check_exclude(exclude: &str, shown: &Shown<'_>) -> Result<usize, String> {
    let words: Vec<&str> = exclude.split(' ').collect();
    let gaps = words.iter().filter(|&&word| word == "Any").count();
    let filters: Vec<&str> = words.iter().filter_map(|word| word.strip_prefix("Bloom=")).collect();
    let components: Vec<&str> = words.iter().filter_map(|word| word.strip_prefix('/')).collect();
    let in_name = shown.get("ccnx.component").len().saturating_sub(components.len());
    if shown.get("ccnx.any").len() != gaps
        || shown.get("ccnx.bloom") != filters
        || shown.get("ccnx.component")[in_name..] != components
    {
        return Err(format!("exclude is {exclude}, and {:?} is shown", shown.get("ccnx.component")));
    }
    Ok(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_every_good_vector_has_a_rule() {
        for vector in ["ndn", "ndn-lp", "ccnx"].iter().flat_map(|name| vectors::load(name)) {
            let lines = frame(&vector).1;
            for (key, _) in vector.header.iter().filter(|_| vector.get("error").is_none()) {
                assert!(has_rule(lines, key), "{}: no rule for the line {key}", vector.name);
            }
        }
    }
}
