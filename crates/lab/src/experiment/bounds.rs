//! Bounds with units: `"14.4 Mbit/s"` is the number of bytes a second that measures are counted in.

use std::fmt;

use packet::units::{FREQUENCY, Quantity, RATE, SHARE, SIZE, SPAN, ungrouped};
use serde::de::{self, Deserialize, Deserializer, Visitor};
use serde::{Serialize, Serializer};
use toml::Value;

use super::measure::Measure;
use super::model::{Expect, File};
use super::reference::describe::Described;

/// A number that a measure must be near, as a file has it.
#[derive(Debug, Clone, PartialEq)]
pub enum About {
    /// In the unit of the measure.
    Number(f64),
    /// With a unit of its own, until the measure's is known.
    Text(String),
}

impl Described for About {
    fn kind() -> String {
        "number, or one with its unit".to_owned()
    }
}

impl Serialize for About {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            About::Number(number) => serializer.serialize_f64(*number),
            About::Text(text) => serializer.serialize_str(text),
        }
    }
}

impl<'de> Deserialize<'de> for About {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl Visitor<'_> for Reader {
            type Value = About;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number, or one with its unit")
            }

            fn visit_f64<E: de::Error>(self, number: f64) -> Result<About, E> {
                Ok(About::Number(number))
            }

            fn visit_i64<E: de::Error>(self, number: i64) -> Result<About, E> {
                Ok(About::Number(number as f64))
            }

            fn visit_u64<E: de::Error>(self, number: u64) -> Result<About, E> {
                Ok(About::Number(number as f64))
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<About, E> {
                Ok(About::Text(text.to_owned()))
            }
        }
        deserializer.deserialize_any(Reader)
    }
}

impl Expect {
    /// The number that the value must be near, in the unit of the measure.
    #[must_use]
    pub fn about_number(&self) -> Option<f64> {
        match self.about {
            Some(About::Number(number)) => Some(number),
            _ => None,
        }
    }

    /// Its bounds that are texts, by their keys.
    pub(super) fn texts(&self) -> Vec<(&'static str, &str)> {
        let bounds = [
            ("at_least", &self.at_least),
            ("at_most", &self.at_most),
            ("more_than", &self.more_than),
            ("less_than", &self.less_than),
        ];
        let texts = bounds.into_iter().filter_map(|(key, bound)| Some((key, bound.as_ref()?.as_str()?)));
        let about = match &self.about {
            Some(About::Text(text)) => Some(("about", text.as_str())),
            _ => None,
        };
        texts.chain(about).collect()
    }
}

/// How a unit of measures is written, what one of it is in what the quantity is read in, and its name.
const KINDS: [(&str, Quantity, f64, &str); 6] = [
    ("%", SHARE, 0.01, "percent"),
    ("s", SPAN, 1e9, "seconds"),
    ("ms", SPAN, 1e6, "milliseconds"),
    ("B", SIZE, 1.0, "bytes"),
    ("B/s", RATE, 8.0, "bytes a second"),
    ("1/s", FREQUENCY, 1.0, "a number a second"),
];

/// A bound as it is written in files: as results print it, with its digits in groups and `1/s` for its unit,
/// it is the same.
fn as_in_files(text: &str) -> String {
    let text = ungrouped(text.trim()).replace('_', "").replace('\u{a0}', " ");
    text.strip_suffix(" 1/s").map_or_else(|| text.clone(), |number| format!("{number}/s"))
}

/// What a text with a unit is, where it is one and no measure; whether anybody knows the unit or not.
fn is_quantity(text: &str) -> Option<Option<Quantity>> {
    let text = &as_in_files(text);
    let known = [SHARE, SPAN, SIZE, RATE, FREQUENCY].into_iter().find(|kind| kind.read(text).is_ok());
    let begins = text.trim_start().starts_with(|first: char| first.is_ascii_digit() || "+-.".contains(first));
    let is_number = text.trim().replace('_', "").parse::<f64>().is_ok();
    let is_spaced = text.trim().contains(' ') && !text.contains(" @ ");
    (known.is_some() || is_number || begins && is_spaced).then_some(known)
}

/// A text with a unit as the number of this unit that it is; nothing where it is another kind.
fn number(text: &str, unit: &str) -> Option<f64> {
    if unit.is_empty() {
        return bare(text);
    }
    let (_, kind, one, _) = KINDS.iter().find(|(name, ..)| *name == unit)?;
    // Percent of a percent: what is read as a part is written with all of its digits.
    kind.read(&as_in_files(text))
        .ok()
        .map(|number| format!("{:.14e}", number / one).parse().unwrap_or(number / one))
}

/// A text without a unit as the number that it is, as results print counts.
fn bare(text: &str) -> Option<f64> {
    let text = as_in_files(text);
    let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
    number.filter(|_| text.starts_with(|first: char| first.is_ascii_digit()))
}

/// Why a text that is no measure is no bound of one in this unit, and what would be; nothing where it may be
/// a measure.
pub(super) fn wrong_unit(text: &str, measure: &Measure, unit: &str) -> Option<(String, String)> {
    let found = is_quantity(text)?;
    let is = found.map_or("is in no unit that is known", |kind| match kind.what {
        "a share" => "is in percent",
        "a span of time" => "is a span of time",
        "a size" => "is a size",
        "a rate" => "is a rate",
        _ => "is a number a second",
    });
    let message = |words: &str| format!("`{text}` {is}, and `{measure}` is {words}");
    Some(match KINDS.iter().find(|(name, ..)| *name == unit) {
        Some((_, kind, _, words)) => {
            let hint = format!("write it as in \"{}\", or without a unit in {words}", kind.example);
            (message(&format!("in {words}")), hint)
        }
        None => (message("a bare number"), "write the number without quotes and without a unit".to_owned()),
    })
}

/// Writes the bounds that have units as numbers in the units of what they are bounds of. What cannot be
/// written so stays as it is.
pub(super) fn in_units(file: &mut File) {
    let names = file.download.keys().chain(file.program.keys()).chain(file.flood.keys());
    let names = names.chain(file.ping.keys()).chain(file.traffic.keys()).chain(file.consumer.keys());
    let clients: std::collections::BTreeSet<String> = names.cloned().collect();
    for expect in &mut file.expect {
        let Ok(measure) = expect.value.parse::<Measure>() else { continue };
        let unit = measure.unit(!clients.contains(&measure.subject));
        for bound in [&mut expect.at_least, &mut expect.at_most, &mut expect.more_than, &mut expect.less_than]
        {
            let Some(Value::String(text)) = bound else { continue };
            if let Some(number) = number(text, unit) {
                *bound = Some(Value::Float(number));
            }
        }
        if let Some(About::Text(text)) = &expect.about
            && let Some(number) = number(text, unit)
        {
            expect.about = Some(About::Number(number));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::experiment::Experiment;

    fn read(value: &str, bound: &str) -> Result<Experiment, String> {
        let text = format!(
            "title = 't'\nduration = '9 s'\n[node]\na = {{}}\nb = {{}}\n[link]\na-b = {{ rate = '50 Mbit/s' }}\n\
             [content.c]\nprefix = '/c'\nat = 'b'\nsize = '1 kB'\ncount = 9\n[download.d]\nat = 'a'\ncontent = 'c'\n\
             [[route]]\nprefix = '/c'\npath = ['a', 'b']\n[ping.p]\nat = 'a'\nto = 'b'\nprefix = '/c/p'\n\
             count = 40\n[[expect]]\nsay = 'S'\nvalue = '{value}'\n{bound}\n"
        );
        Experiment::parse("t", "t.toml", &text).map_err(|wrong| wrong.to_string())
    }

    #[test]
    fn a_bound_with_a_unit_is_the_number_that_it_would_be_without() {
        for (value, with, without) in [
            ("d.goodput", "at_least = '14.4 Mbit/s'", "at_least = 1_800_000.0"),
            ("b.throughput.sum", "at_least = '3 kB'", "at_least = 3000.0"),
            ("p.rtt", "at_most = '20 ms'", "at_most = 20.0"),
            ("p.rtt", "about = '2 s'", "about = 2000"),
            ("d.duration", "less_than = '20 ms'", "less_than = 0.02"),
            ("p.loss", "at_most = '2.9 %'", "at_most = 2.9"),
            ("network.cache_hits", "at_least = '2.9 %'", "at_least = 2.9"),
            ("b.retransmissions", "at_most = '3/s'", "at_most = 3.0"),
            ("b.retransmissions", "at_most = '40 1/s'", "at_most = 40.0"),
            ("b.retransmissions", "at_most = '12\u{202f}345.5\u{a0}1/s'", "at_most = 12_345.5"),
            ("d.goodput", "at_least = '14.4\u{a0}Mbit/s'", "at_least = 1_800_000.0"),
            ("p.loss", "about = '2.9\u{a0}%'", "about = 2.9"),
            ("network.hops", "at_least = '10\u{202f}623'", "at_least = 10623.0"),
            ("network.hops", "about = '10 623'", "about = 10623"),
            ("b.throughput.sum", "at_least = '10 623 kB'", "at_least = 10_623_000.0"),
            ("d.duration", "less_than = '9000 \u{3bc}s'", "less_than = 0.009"),
        ] {
            let plan = |bound: &str| read(value, bound).unwrap().plans("sim").unwrap().remove(0).evaluation;
            assert_eq!(plan(with), plan(without), "{value} {with}");
        }
    }

    #[test]
    fn a_bound_in_a_unit_of_another_kind_is_refused_with_those_that_there_are() {
        for (value, bound, wrong) in [
            (
                "d.goodput",
                "at_least = '14.4 ms'",
                "`14.4 ms` is a span of time, and `d.goodput.mean` is in bytes a second",
            ),
            (
                "d.goodput",
                "at_least = '14.4 ms'",
                "write it as in \"100 Mbit/s\", or without a unit in bytes a second",
            ),
            (
                "d.duration",
                "at_most = '3 parsecs'",
                "is in no unit that is known, and `d.duration.mean` is in seconds",
            ),
            ("p.loss", "about = '3 s'", "`3 s` is a span of time, and `p.loss.mean` is in percent"),
            ("b.pending.max", "at_most = '3 kB'", "`b.pending.max` is a bare number"),
            ("d.retransmissions", "at_most = '3/s'", "`d.retransmissions.mean` is a bare number"),
            ("p.rtt", "at_most = '20'", "write it as in \"500 ms\""),
        ] {
            let shown = read(value, bound).err().unwrap_or_default();
            assert!(shown.contains(wrong), "{value} {bound}: {shown}");
            assert_eq!(shown.matches("t.toml:").count(), 1, "{shown}");
        }
    }
}
