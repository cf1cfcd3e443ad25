//! How sure a number is of which nothing is random, when what happens at one instant at different nodes has
//! no order in the world and one in every repeat.

use super::super::data::CaseData;
use super::super::numbers::{Basis, Numbers, are_enough};
use crate::order::Simultaneous;
use crate::stats::{Sample, are_equal};

/// How sure the numbers of a case are, one of each valid repeat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sureness {
    /// Something is random, or it was measured on a clock of the world.
    Random,
    /// Nothing could make them others, or nothing did of so many orders that it is taken for that.
    Exact,
    /// Nothing is random, and all repeats took what happens at one instant in the same order: those of
    /// earlier versions did.
    OfEarlierVersion,
    /// Nothing is random, something came together at one instant, and few other orders of it were tried.
    OfFewOrders,
    /// Nothing is random, and with another order of what happens at one instant they are others.
    HangsOnOrder,
}

impl Sureness {
    /// How sure these numbers are: of the valid repeats of a case, in virtual time or not, of what is random
    /// only if `is_of_chance` says so whatever the plan does.
    pub(crate) fn of(case: &CaseData, is_virtual: bool, is_of_chance: bool, numbers: &Numbers) -> Self {
        if !is_virtual || is_of_chance || !case.plan.is_deterministic() {
            return Sureness::Random;
        }
        let Some(seen) = numbers.orders() else { return Sureness::OfEarlierVersion };
        let values = numbers.all();
        match () {
            () if values.len() > 1 && !are_equal(&values) => Sureness::HangsOnOrder,
            () if seen.iter().any(|one| !one.may_matter) || are_enough(&seen) => Sureness::Exact,
            () => Sureness::OfFewOrders,
        }
    }

    /// Is one repeat as good as many?
    pub(crate) fn is_exact(self) -> bool {
        matches!(self, Sureness::Exact | Sureness::OfEarlierVersion)
    }

    /// The numbers as a sample, which has an interval only where enough orders were tried.
    pub(crate) fn sample(self, numbers: &Numbers, most: Option<f64>) -> Sample {
        Sample {
            values: numbers.values(),
            exact: self.is_exact(),
            most,
            counts: numbers.counts(),
            beside: numbers.fixed().into_iter().map(|(_, value)| value).collect(),
            is_no_draw: self == Sureness::OfFewOrders || numbers.basis() == Basis::TooFewDrawn,
            ..Sample::default()
        }
    }

    /// Why nobody can say what other orders would bring, and what to do.
    pub(crate) fn few_orders(self, numbers: &Numbers) -> Option<String> {
        let all = numbers.all().len();
        let repeats =
            if all == 1 { "a single repeat has" } else { &format!("{all} repeats that agree have") };
        match (self, numbers.basis()) {
            (Sureness::OfFewOrders, _) => Some(format!(
                "{repeats} seen too few orders of what happens at one instant at different nodes, which has none in \
                 the world: say `repeats = 5`, and each takes another"
            )),
            (_, Basis::TooFewDrawn) => Some(format!(
                "it may hang on the order of what happens at one instant, and fewer than three of {all} repeats have \
                 drawn theirs: say `repeats = 5`, and three do"
            )),
            (_, Basis::All | Basis::Drawn) => None,
        }
    }

    /// What stands beside the number; `words` writes it with its unit.
    pub(crate) fn detail(self, numbers: &Numbers, words: impl Fn(f64) -> String) -> Option<String> {
        let hangs = "hangs on the order of what happens at one instant";
        let beside = || -> String {
            let word = |order| if order == Simultaneous::Reversed { "reversed" } else { "as planned" };
            let each = numbers.fixed().into_iter();
            each.map(|(order, value)| format!("; {} it is {}", word(order), words(value))).collect()
        };
        let (used, all) = (numbers.values().len(), numbers.all().len());
        match (self, numbers.basis()) {
            (Sureness::OfEarlierVersion, _) => Some(
                "of one order of what happens at one instant, as runs of earlier versions are".to_owned(),
            ),
            (Sureness::HangsOnOrder, Basis::Drawn) => {
                Some(format!("{hangs}, and rests on the {used} of {all} repeats that drew it{}", beside()))
            }
            (_, Basis::Drawn) => Some(format!(
                "rests on the {used} of {all} repeats that drew the order of what happens at one instant{}",
                beside()
            )),
            (Sureness::HangsOnOrder, _) => Some(hangs.to_owned()),
            _ => None,
        }
    }
}
