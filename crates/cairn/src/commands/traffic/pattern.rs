//! Names by recipe.

use std::str::FromStr;

use flow::workload::Popularity;
use packet::AnyName;
use packet::Dialect;
use packet::name::AnyNameError;
use packet::random::Random;

/// A name with fields.
#[derive(Clone, Debug)]
pub(super) struct NameTemplate {
    parts: Vec<TemplatePart>,
}

#[derive(Clone, Debug)]
enum TemplatePart {
    Text(String),
    Random,
    /// A number that this law draws.
    Number(Popularity),
    /// What a workload asks for.
    Item,
}

/// So many numbers at most.
const MAX_CATALOGUE: u64 = Popularity::MAX_ITEMS;

impl NameTemplate {
    /// Whether a workload has to say which item the name is of.
    pub(super) fn needs_item(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, TemplatePart::Item))
    }

    /// The language of its names, which its text begins with.
    pub(super) fn dialect(&self) -> Dialect {
        let probe = self.clone().next(&mut Random::from_seed(1), 0);
        probe.map_or(Dialect::Ndn, |name| name.dialect)
    }

    /// The next name, of this item where the pattern has a place for one.
    pub(super) fn next(&mut self, random: &mut Random, item: u64) -> Result<AnyName, AnyNameError> {
        let mut uri = String::new();
        for part in &mut self.parts {
            match part {
                TemplatePart::Text(text) => uri.push_str(text),
                TemplatePart::Random => uri.push_str(&random.next_u64().to_string()),
                TemplatePart::Item => uri.push_str(&item.to_string()),
                TemplatePart::Number(law) => uri.push_str(&law.next(random).to_string()),
            }
        }
        uri.parse()
    }
}

impl FromStr for NameTemplate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some((before, field)) = rest.split_once('{') {
            parts.push(TemplatePart::Text(before.to_owned()));
            let (field, after) = field.split_once('}').ok_or("a { without a }")?;
            parts.push(parse_field(field)?);
            rest = after;
        }
        parts.push(TemplatePart::Text(rest.to_owned()));
        let pattern = NameTemplate { parts };
        // What makes no name now never will.
        pattern.clone().next(&mut Random::from_seed(1), 0).map_err(|error| error.to_string())?;
        Ok(pattern)
    }
}

fn parse_field(field: &str) -> Result<TemplatePart, String> {
    let wrong = || {
        format!("{{{field}}} is no field: use {{seq}}, {{random}}, {{uniform:N}}, {{zipf:N:A}} or {{item}}")
    };
    let count = |text: &str| match text.parse() {
        Ok(count @ 1..=MAX_CATALOGUE) => Ok(count),
        _ => Err(format!("{text:?}: a catalogue has 1 to {MAX_CATALOGUE} names")),
    };
    match field.split(':').collect::<Vec<_>>()[..] {
        ["seq"] => Ok(TemplatePart::Number(Popularity::sequential())),
        ["random"] => Ok(TemplatePart::Random),
        ["item"] => Ok(TemplatePart::Item),
        ["uniform", number] => Ok(TemplatePart::Number(Popularity::Uniform { items: count(number)? })),
        ["zipf", number, exponent] => {
            let exponent: f64 = exponent.parse().map_err(|_| wrong())?;
            if !(0.0..=10.0).contains(&exponent) {
                return Err(wrong());
            }
            let zipf = Popularity::zipf(count(number)?, exponent, 0.0);
            zipf.map(TemplatePart::Number).map_err(|error| error.to_string())
        }
        _ => Err(wrong()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_filled_and_mistakes_refused() {
        let mut random = Random::from_seed(1);
        let mut pattern: NameTemplate = "/a/{seq}/{uniform:3}".parse().unwrap();
        for number in 0..50 {
            let name = pattern.next(&mut random, 0).unwrap().to_string();
            assert!((0..3).any(|last| name == format!("/a/{number}/{last}")), "{name}");
        }
        for text in [
            "/a/{seq",
            "ccnx:a/{seq}",
            "/a/{other}",
            "/a/{zipf:0:1}",
            "/a/{zipf:5:x}",
            "a/{seq}",
            "/a/{uniform:99999999999}",
        ] {
            assert!(text.parse::<NameTemplate>().is_err(), "{text}");
        }
    }

    #[test]
    fn zipf_draws_ranks_as_often_as_its_law_says() {
        let (mut pattern, mut random) =
            ("/{zipf:100:1}".parse::<NameTemplate>().unwrap(), Random::from_seed(7));
        let mut seen = vec![0u32; 100];
        for _ in 0..200_000 {
            let name = pattern.next(&mut random, 0).unwrap().to_string();
            seen[name[1..].parse::<usize>().unwrap()] += 1;
        }
        let harmonic: f64 = (1..=100).map(|rank| 1.0 / f64::from(rank)).sum();
        for rank in [1u32, 2, 5, 20] {
            let expected = 200_000.0 / f64::from(rank) / harmonic;
            let found = f64::from(seen[rank as usize - 1]);
            assert!((found / expected - 1.0).abs() < 0.08, "rank {rank}: {found} of {expected}");
        }
    }
}
