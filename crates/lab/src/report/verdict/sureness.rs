//! How sure a number is of which nothing is random, when what happens at one instant at different nodes has
//! no order in the world and one in every repeat.

use std::collections::BTreeSet;

use super::super::data::CaseData;
use crate::analysis::RepeatResult;
use crate::stats::are_equal;

/// How sure the numbers of a case are, one of each valid repeat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sureness {
    /// Something is random, or it was measured on a clock of the world.
    Random,
    /// Nothing could make them others.
    Exact,
    /// Nothing is random, and all repeats took what happens at one instant in the same order: those of
    /// earlier versions did.
    OfEarlierVersion,
    /// Nothing is random, and something came together at one instant; no other order of it was tried.
    OfOneOrder,
    /// Nothing is random, and with another order of what happens at one instant they are others.
    HangsOnOrder,
}

impl Sureness {
    /// How sure `values` are: of the valid repeats of a case, in virtual time or not, of what is random only
    /// if `is_of_chance` says so whatever the plan does.
    pub(crate) fn of(case: &CaseData, is_virtual: bool, is_of_chance: bool, values: &[f64]) -> Self {
        if !is_virtual || is_of_chance || !case.plan.is_deterministic() {
            return Sureness::Random;
        }
        let valid = case.results.iter().filter(|result| result.is_valid());
        let seen: Option<Vec<_>> = valid.map(|RepeatResult { outcome, .. }| outcome.simultaneous).collect();
        let Some(seen) = seen else { return Sureness::OfEarlierVersion };
        let orders: BTreeSet<_> = seen.iter().map(|one| one.order).collect();
        match () {
            () if seen.iter().any(|one| !one.may_matter) => Sureness::Exact,
            () if values.len() > 1 && !are_equal(values) => Sureness::HangsOnOrder,
            () if orders.len() < 2 => Sureness::OfOneOrder,
            () => Sureness::Exact,
        }
    }

    /// Is one repeat as good as many?
    pub(crate) fn is_exact(self) -> bool {
        matches!(self, Sureness::Exact | Sureness::OfEarlierVersion)
    }

    /// What stands beside the number.
    pub(crate) fn detail(self) -> Option<&'static str> {
        match self {
            Sureness::Random | Sureness::Exact | Sureness::OfOneOrder => None,
            Sureness::OfEarlierVersion => {
                Some("of one order of what happens at one instant, as runs of earlier versions are")
            }
            Sureness::HangsOnOrder => Some("hangs on the order of what happens at one instant"),
        }
    }
}
