//! Which item is next.

use packet::random::{Random, Zipf};

use super::Setting;
use packet::parameters::{ParameterError, Parameters};

/// A catalogue by Zipf's law has so many items at most: its table takes eight bytes for each.
const MAX_CATALOGUE: u64 = 10_000_000;

/// How popular items are.
#[derive(Debug)]
pub(super) enum Popularity {
    /// One after the other; so many, if there is an end.
    Sequential { next: u64, items: Option<u64> },
    /// Each as likely.
    Uniform { items: u64 },
    /// By the law of Zipf and Mandelbrot.
    Zipf(Zipf),
}

/// How many items there are: what a parameter says, or else the setting.
fn items(parameters: &mut Parameters, setting: &Setting) -> Result<Option<u64>, ParameterError> {
    let given = parameters.limit("items")?;
    Ok(match (given, setting.items) {
        (Some(given), Some(known)) => Some(given.min(known.max(1))),
        (given, known) => given.or(known),
    })
}

fn known_items(parameters: &mut Parameters, setting: &Setting) -> Result<u64, ParameterError> {
    let needed = || ParameterError::new("items", "is needed, because nothing else says how many there are");
    items(parameters, setting)?.ok_or_else(needed)
}

impl Popularity {
    pub(super) fn sequential(parameters: &mut Parameters, setting: &Setting) -> Result<Self, ParameterError> {
        Ok(Popularity::Sequential { next: 0, items: items(parameters, setting)? })
    }

    pub(super) fn uniform(parameters: &mut Parameters, setting: &Setting) -> Result<Self, ParameterError> {
        Ok(Popularity::Uniform { items: known_items(parameters, setting)? })
    }

    pub(super) fn zipf(parameters: &mut Parameters, setting: &Setting) -> Result<Self, ParameterError> {
        let items = known_items(parameters, setting)?;
        let exponent = parameters.number("exponent", 1.0, (0.0, 10.0))?;
        let shift = parameters.number("shift", 0.0, (0.0, 999_999.0))?;
        // Of more, only the most popular are asked for.
        let zipf = Zipf::new(items.min(MAX_CATALOGUE) as usize, exponent, shift);
        zipf.map(Popularity::Zipf).map_err(|error| ParameterError::new("items", &error.to_string()))
    }

    pub(super) fn next(&mut self, random: &mut Random) -> u64 {
        match self {
            Popularity::Sequential { next, items } => {
                let item = *next;
                *next = item.wrapping_add(1) % items.unwrap_or(u64::MAX).max(1);
                item
            }
            Popularity::Uniform { items } => random.below(*items),
            Popularity::Zipf(zipf) => u64::from(zipf.draw(random)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_takes_some_of_the_items_and_never_more_than_there_are() {
        let setting = Setting { items: Some(3), ..Setting::forever(1) };
        for (given, expected) in [("2", 2), ("9", 3)] {
            let mut parameters = Parameters::default();
            parameters.set("items", given);
            let mut sequential = Popularity::sequential(&mut parameters, &setting).unwrap();
            let mut random = Random::from_seed(1);
            let drawn: Vec<u64> = (0..7).map(|_| sequential.next(&mut random)).collect();
            let model: Vec<u64> = (0..7).map(|number| number % expected).collect();
            assert_eq!(drawn, model);
        }
    }
}
