//! Names by recipe.

use std::str::FromStr;

use packet::Dialect;
use packet::random::{Random, Zipf};

use crate::tool::any_name::{AnyName, AnyNameError};

/// A name with fields.
#[derive(Clone, Debug)]
pub(super) struct Pattern {
    pieces: Vec<PatternPart>,
    next: u64,
}

#[derive(Clone, Debug)]
enum PatternPart {
    Text(String),
    Sequence,
    Random,
    Uniform(u64),
    Zipf(Zipf),
    /// What a workload asks for.
    Item,
}

/// So many numbers at most: the table takes eight bytes for each.
const MAX_CATALOGUE: u64 = 10_000_000;

impl Pattern {
    /// Whether a workload has to say which item the name is of.
    pub(super) fn needs_item(&self) -> bool {
        self.pieces.iter().any(|piece| matches!(piece, PatternPart::Item))
    }

    /// The language of its names, which its text begins with.
    pub(super) fn dialect(&self) -> Dialect {
        let probe = self.clone().next(&mut Random::from_seed(1), 0);
        probe.map_or(Dialect::Ndn, |name| name.dialect)
    }

    /// The next name, of this item where the pattern has a place for one.
    pub(super) fn next(&mut self, random: &mut Random, item: u64) -> Result<AnyName, AnyNameError> {
        let mut uri = String::new();
        for piece in &self.pieces {
            match piece {
                PatternPart::Text(text) => uri.push_str(text),
                PatternPart::Sequence => uri.push_str(&self.next.to_string()),
                PatternPart::Random => uri.push_str(&random.next_u64().to_string()),
                PatternPart::Uniform(count) => uri.push_str(&random.below(*count).to_string()),
                PatternPart::Item => uri.push_str(&item.to_string()),
                PatternPart::Zipf(zipf) => uri.push_str(&zipf.draw(random).to_string()),
            }
        }
        self.next += 1;
        uri.parse()
    }
}

impl FromStr for Pattern {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some((before, field)) = rest.split_once('{') {
            pieces.push(PatternPart::Text(before.to_owned()));
            let (field, after) = field.split_once('}').ok_or("a { without a }")?;
            pieces.push(parse_field(field)?);
            rest = after;
        }
        pieces.push(PatternPart::Text(rest.to_owned()));
        let mut pattern = Pattern { pieces, next: 0 };
        // What makes no name now never will.
        pattern.next(&mut Random::from_seed(1), 0).map_err(|error| error.to_string())?;
        pattern.next = 0;
        Ok(pattern)
    }
}

fn parse_field(field: &str) -> Result<PatternPart, String> {
    let wrong = || {
        format!("{{{field}}} is no field: use {{seq}}, {{random}}, {{uniform:N}}, {{zipf:N:A}} or {{item}}")
    };
    let count = |text: &str| match text.parse() {
        Ok(count @ 1..=MAX_CATALOGUE) => Ok(count),
        _ => Err(format!("{text:?}: a catalogue has 1 to {MAX_CATALOGUE} names")),
    };
    match field.split(':').collect::<Vec<_>>()[..] {
        ["seq"] => Ok(PatternPart::Sequence),
        ["random"] => Ok(PatternPart::Random),
        ["item"] => Ok(PatternPart::Item),
        ["uniform", number] => Ok(PatternPart::Uniform(count(number)?)),
        ["zipf", number, exponent] => {
            let exponent: f64 = exponent.parse().map_err(|_| wrong())?;
            if !(0.0..=10.0).contains(&exponent) {
                return Err(wrong());
            }
            let zipf = Zipf::new(count(number)? as usize, exponent, 0.0);
            zipf.map(PatternPart::Zipf).map_err(|error| error.to_string())
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
        let mut pattern: Pattern = "/a/{seq}/{uniform:3}".parse().unwrap();
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
            assert!(text.parse::<Pattern>().is_err(), "{text}");
        }
    }

    #[test]
    fn zipf_draws_ranks_as_often_as_its_law_says() {
        let (zipf, mut random) = (Zipf::new(100, 1.0, 0.0).unwrap(), Random::from_seed(7));
        let mut seen = vec![0u32; 100];
        for _ in 0..200_000 {
            seen[zipf.draw(&mut random) as usize] += 1;
        }
        let harmonic: f64 = (1..=100).map(|rank| 1.0 / f64::from(rank)).sum();
        for rank in [1u32, 2, 5, 20] {
            let expected = 200_000.0 / f64::from(rank) / harmonic;
            let found = f64::from(seen[rank as usize - 1]);
            assert!((found / expected - 1.0).abs() < 0.08, "rank {rank}: {found} of {expected}");
        }
    }
}
