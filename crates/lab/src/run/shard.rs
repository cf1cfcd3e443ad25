//! The cases of an experiment shared out over machines.

use std::collections::HashSet;
use std::fmt;
use std::str::FromStr;

use crate::experiment::Plan;

/// One of several shares of an experiment's cases: `3/16` is the third of sixteen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    number: u32,
    of: u32,
}

/// It does not name a share.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no share of cases; write for example 3/16, the third of sixteen")]
pub struct ShardError(String);

impl FromStr for Shard {
    type Err = ShardError;

    fn from_str(text: &str) -> Result<Self, ShardError> {
        let numbers = || {
            let (number, of) = text.split_once('/')?;
            let (number, of) = (number.trim().parse().ok()?, of.trim().parse().ok()?);
            Shard::new(number, of)
        };
        numbers().ok_or_else(|| ShardError(text.to_owned()))
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

impl Shard {
    /// The share of this number, from 1, of so many; nothing where there is none.
    pub(super) fn new(number: u32, of: u32) -> Option<Self> {
        (1 <= number && number <= of).then_some(Shard { number, of })
    }

    /// Keeps what is in the share: every so manieth case, with its controls.
    pub(super) fn retain(self, plans: &mut Vec<Plan>) {
        let cases = plans.iter().filter(|plan| plan.control.is_none()).map(|plan| plan.case.clone());
        let mine: HashSet<String> = cases.skip(self.number as usize - 1).step_by(self.of as usize).collect();
        plans.retain(|plan| {
            let case = plan.control.as_ref().map_or(&plan.case, |control| &control.case);
            mine.contains(case)
        });
    }

    /// How many of the first cases of the whole are in the share.
    pub(super) fn of_first(self, cases: usize) -> usize {
        cases.saturating_sub(self.number as usize - 1).div_ceil(self.of as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Experiment;

    #[test]
    fn shares_are_written_as_one_of_so_many() {
        assert_eq!("3/16".parse::<Shard>().unwrap().to_string(), "3/16");
        for text in ["", "3", "0/4", "5/4", "1/0", "a/b", "-1/2"] {
            assert!(text.parse::<Shard>().is_err(), "{text}");
        }
    }

    #[test]
    fn the_first_cases_of_the_whole_are_shared_out_like_all() {
        for (of, cases) in [(1, 16), (3, 16), (5, 3), (16, 16), (40, 16)] {
            let shares: Vec<usize> = (1..=of).map(|number| Shard { number, of }.of_first(cases)).collect();
            assert_eq!(shares.iter().sum::<usize>(), cases, "{shares:?}");
            assert!(shares.is_sorted_by(|one, next| one >= next), "{shares:?}");
        }
    }

    #[test]
    fn every_case_is_in_one_share() {
        let text =
            "title = 't'\nduration = '1 s'\n[node.a]\n[[sweep]]\nkey = 'seed'\nvalues = [1, 2, 3, 4, 5]\n";
        let plans = Experiment::parse("t", "t.toml", text).unwrap().plans("sim").unwrap();
        let mut found = Vec::new();
        for number in 1..=3 {
            let mut share = plans.clone();
            Shard { number, of: 3 }.retain(&mut share);
            assert!(share.len() < 3);
            found.extend(share.into_iter().map(|plan| plan.case));
        }
        found.sort();
        assert_eq!(found, ["seed 1", "seed 2", "seed 3", "seed 4", "seed 5"]);
    }
}
