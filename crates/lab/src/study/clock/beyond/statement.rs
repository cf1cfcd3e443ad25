//! The paper's outlook, held against the runs.

use super::findings::mean_of;
use super::{Experiment, Job, Variant};
use crate::study::clock::SIMILAR;
use crate::study::clock::scenario::{Outcome, Routers};
use crate::study::report::{Report, StudyCell, StudyTable};
use crate::study::statement::Verdict;

/// What is at least so much of the link, in all and with similar shares, has no problem.
const OF_THE_LINK: f64 = 0.9;

/// What a kind of methods brings at worst.
#[derive(Clone, Copy)]
struct Worst {
    of_the_link: f64,
    fairness: f64,
}

impl Worst {
    fn is_good(&self) -> bool {
        self.of_the_link >= OF_THE_LINK && self.fairness >= SIMILAR
    }

    /// The worse of both numbers.
    fn and(self, other: Worst) -> Worst {
        Worst {
            of_the_link: self.of_the_link.min(other.of_the_link),
            fairness: self.fairness.min(other.fairness),
        }
    }

    fn text(&self) -> String {
        format!("at worst {:.1} % of the link, Jain's index {:.2}", self.of_the_link * 100.0, self.fairness)
    }
}

impl Experiment {
    /// Several flows, fine clocks: with methods that report a rate, and in the control with the paper's.
    pub(super) fn report_statement(&self, cells: &[(Job, Outcome)], report: &mut Report) {
        let is_of_the_paper = |variant: &Variant| variant.controller.starts_with("stateful-forwarding");
        let reports = |variant: &Variant| matches!(variant.routers, Routers::Hobhis | Routers::Mircc);
        let worst_of = |is_meant: &dyn Fn(&Variant) -> bool| {
            let meant = self.variants.iter().enumerate().filter(|(_, variant)| is_meant(variant));
            meant.map(|(number, _)| self.worst(cells, number)).collect::<Option<Vec<Worst>>>()
        };
        let least = |all: Option<Vec<Worst>>| all?.into_iter().reduce(Worst::and);
        let (Some(reporting), Some(papers)) = (least(worst_of(&reports)), least(worst_of(&is_of_the_paper)))
        else {
            return;
        };
        let (verdict, control) = match papers.is_good() {
            true => {
                (Verdict::NotTestable, format!("does not fail with stateful forwarding: {}", papers.text()))
            }
            false => (
                Verdict::when(reporting.is_good()),
                format!("fails with stateful forwarding: {}", papers.text()),
            ),
        };
        let mut table = StudyTable::new(
            "statements",
            "What the paper expects, and what came of it (several flows, fine clock)",
            &["section", "statement", "verdict", "here", "control"],
        );
        let says =
            "Methods that report a rate will solve the problems of stateful forwarding with several flows.";
        let row = ["VI", says, verdict.word()].map(StudyCell::from);
        table.rows.push(row.into_iter().chain([reporting.text().into(), control.into()]).collect());
        let others = self.variants.iter().enumerate().filter(|(number, variant)| {
            let is_other = variant.routers.police() && !is_of_the_paper(variant);
            is_other && self.worst(cells, *number).is_some_and(|worst| worst.is_good())
        });
        let others: Vec<&str> = others.map(|(_, variant)| variant.name.as_str()).collect();
        if !others.is_empty() {
            table.notes.push(format!("So do some that report none: {}.", others.join(", ")));
        }
        table.notes.push(format!("Means of {} runs.", self.several.repeats));
        report.tables.push(table);
    }

    /// The worst of a variant, of all numbers of flows with the finest clock; means over the repeats.
    fn worst(&self, cells: &[(Job, Outcome)], variant: usize) -> Option<Worst> {
        let finest = self.several.ticks_ms.iter().copied().min_by(f64::total_cmp)?;
        let each = self.several.pairs.iter().map(|&pairs| {
            let outcomes = || self.several_cells(cells, variant, pairs, std::slice::from_ref(&finest));
            outcomes().next()?;
            Some(Worst {
                of_the_link: mean_of(outcomes(), Outcome::received_mbps) / self.several.link_mbps,
                fairness: mean_of(outcomes(), Outcome::fairness),
            })
        });
        each.collect::<Option<Vec<Worst>>>()?.into_iter().reduce(Worst::and)
    }
}
