//! Which item is next.

use std::sync::Arc;

use packet::random::{Random, Zipf};

use super::Setting;
use packet::parameters::{ParameterError, Parameters};

/// How popular items are, which are numbers from 0 on: the law by which the next one is drawn. Workloads,
/// simulated consumers and generated traffic draw by these.
///
/// ```
/// use cairn_flow::workload::Popularity;
/// use packet::random::Random;
///
/// let mut random = Random::from_seed(1);
/// let mut popularity = Popularity::zipf(1_000, 0.8, 0.0)?;
/// assert!(popularity.next(&mut random) < 1_000);
/// # Ok::<(), packet::random::ZipfError>(())
/// ```
#[derive(Clone, Debug)]
pub enum Popularity {
    /// One after the other; after so many the first again, if there is an end.
    Sequential {
        /// The next one.
        next: u64,
        /// How many there are, if there is an end.
        items: Option<u64>,
    },
    /// Each as likely.
    Uniform {
        /// How many there are.
        items: u64,
    },
    /// By the law of Zipf and Mandelbrot. Its table may be shared by many consumers.
    Zipf(Arc<Zipf>),
}

impl Popularity {
    /// Zipf's law takes a table of eight bytes for each item; so many are drawn from at most where users say
    /// how many there are.
    pub const MAX_ITEMS: u64 = 10_000_000;

    /// 0, 1, 2 and so on without an end.
    pub const fn sequential() -> Self {
        Popularity::Sequential { next: 0, items: None }
    }

    /// Zipf's law over so many items, with a table of its own.
    ///
    /// # Errors
    /// No items or more than there can be, or an exponent or shift that is none.
    pub fn zipf(items: u64, exponent: f64, shift: f64) -> Result<Self, packet::random::ZipfError> {
        let items = usize::try_from(items).unwrap_or(usize::MAX);
        Ok(Popularity::Zipf(Arc::new(Zipf::new(items, exponent, shift)?)))
    }

    /// The next item.
    #[inline]
    pub fn next(&mut self, random: &mut Random) -> u64 {
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

    /// `sequential`, with its parameters.
    pub(super) fn parse_sequential(p: &mut Parameters, setting: &Setting) -> Result<Self, ParameterError> {
        Ok(Popularity::Sequential { next: 0, items: items(p, setting)? })
    }

    /// `uniform`, with its parameters.
    pub(super) fn parse_uniform(p: &mut Parameters, setting: &Setting) -> Result<Self, ParameterError> {
        Ok(Popularity::Uniform { items: known_items(p, setting)? })
    }

    /// `zipf`, with its parameters.
    pub(super) fn parse_zipf(p: &mut Parameters, setting: &Setting) -> Result<Self, ParameterError> {
        let items = known_items(p, setting)?;
        let exponent = p.number("exponent", 1.0, (0.0, 10.0))?;
        let shift = p.number("shift", 0.0, (0.0, 999_999.0))?;
        // Of more, only the most popular are asked for.
        Popularity::zipf(items.min(Popularity::MAX_ITEMS), exponent, shift)
            .map_err(|error| ParameterError::new("items", &error.to_string()))
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_takes_some_of_the_items_and_never_more_than_there_are() {
        let setting = Setting { items: Some(3), ..Setting::forever(1) };
        for (given, expected) in [("2", 2), ("9", 3)] {
            let mut parameters = Parameters::default();
            parameters.set("items", given);
            let mut sequential = Popularity::parse_sequential(&mut parameters, &setting).unwrap();
            let mut random = Random::from_seed(1);
            let drawn: Vec<u64> = (0..7).map(|_| sequential.next(&mut random)).collect();
            let model: Vec<u64> = (0..7).map(|number| number % expected).collect();
            assert_eq!(drawn, model);
        }
    }
}
