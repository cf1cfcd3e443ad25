//! The paper's outlook, held against the runs.

use super::{Experiment, Job};
use crate::study::clock::scenario::{Outcome, Routers};
use crate::study::report::{Cell, Report, Table};
use crate::study::statement::Verdict;

/// What is at least so much of the link, in all and with shares so similar (Jain), has no problem.
const OF_THE_LINK: f64 = 0.9;
const SIMILAR: f64 = 0.98;

/// What a kind of methods brings at worst.
struct Worst {
    of_the_link: f64,
    fairness: f64,
}

impl Worst {
    fn is_good(&self) -> bool {
        self.of_the_link >= OF_THE_LINK && self.fairness >= SIMILAR
    }

    fn text(&self) -> String {
        format!("at worst {:.1} % of the link, Jain's index {:.2}", self.of_the_link * 100.0, self.fairness)
    }
}

impl Experiment {
    /// Several flows, fine clocks: with methods that report a rate, and in the control with those that police
    /// one.
    pub(super) fn report_statement(&self, cells: &[(Job, Outcome)], report: &mut Report) {
        let reporting = self.worst(cells, |routers| matches!(routers, Routers::Hobhis | Routers::Mircc));
        let policing = self.worst(cells, Routers::police);
        let (Some(reporting), Some(policing)) = (reporting, policing) else { return };
        let (verdict, control) = match policing.is_good() {
            true => (Verdict::NotTestable, format!("does not fail without a rate: {}", policing.text())),
            false => (
                Verdict::when(reporting.is_good()),
                format!("fails where rates are policed: {}", policing.text()),
            ),
        };
        let mut table = Table::new(
            "statements",
            "What the paper expects, and what came of it",
            &["section", "statement", "verdict", "here", "control"],
        );
        let says =
            "Methods that report a rate will solve the problems of stateful forwarding with several flows.";
        let cells = ["VI", says, verdict.word()].map(Cell::from);
        table.rows.push(cells.into_iter().chain([reporting.text().into(), control.into()]).collect());
        report.tables.push(table);
    }

    /// The worst of the variants with such routers, of all numbers of flows with the finest clock; means over
    /// the repeats.
    fn worst(&self, cells: &[(Job, Outcome)], are_meant: impl Fn(Routers) -> bool) -> Option<Worst> {
        let finest = self.several.ticks_ms.first()?;
        let variants = self.variants.iter().enumerate().filter(|(_, variant)| are_meant(variant.routers));
        let all =
            variants.flat_map(|(number, _)| self.several.pairs.iter().map(move |pairs| (number, *pairs)));
        let each = all.map(|(number, pairs)| {
            let outcomes = || self.several_cells(cells, number, pairs, std::slice::from_ref(finest));
            Worst {
                of_the_link: super::findings::mean(outcomes().map(Outcome::received_mbps))
                    / self.several.link_mbps,
                fairness: super::findings::mean(outcomes().map(Outcome::fairness)),
            }
        });
        each.reduce(|one, two| Worst {
            of_the_link: one.of_the_link.min(two.of_the_link),
            fairness: one.fairness.min(two.fairness),
        })
    }
}
