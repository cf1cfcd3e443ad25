//! What the runs beyond the paper say: tables and figures.

use super::{Experiment, Job, SeveralFlows};
use crate::figure::{GridCell, GridChart, GridRow};
use crate::stats::mean;
use crate::study::clock::experiment::tick_text;
use crate::study::clock::scenario::Outcome;
use crate::study::report::{Report, StudyCell, StudyFigure, StudyTable};

/// A tick is fine enough if it leaves so much of what the fine clock brings.
const MIN_PART_OF_BEST: f64 = 0.9;
/// The answer says nothing of a controller that does not get so many percent of the link with the fine clock.
const WORTH_ASKING: f64 = 20.0;

impl Experiment {
    /// Percent of the link that a flow gets alone.
    fn part(&self, cells: &[(Job, Outcome)], variant: usize, link_mbps: f64, tick: f64) -> f64 {
        let alone = |job: &Job| job.pairs == 1 && job.variant == variant && job.link_mbps == link_mbps;
        let cell = cells.iter().find(|(job, _)| alone(job) && job.ticks_ms == [tick]);
        cell.map_or(f64::NAN, |(_, outcome)| outcome.received_mbps() / link_mbps * 100.0)
    }

    /// The coarsest tick that is fine enough, by its place in the list of ticks.
    fn coarsest(&self, cells: &[(Job, Outcome)], variant: usize, link_mbps: f64) -> Option<usize> {
        let fine = self.part(cells, variant, link_mbps, 0.0);
        let enough = |tick: f64| self.part(cells, variant, link_mbps, tick) >= MIN_PART_OF_BEST * fine;
        self.speeds.ticks_ms.iter().take_while(|tick| enough(**tick)).count().checked_sub(1)
    }

    /// Which clock is fine enough for which controller at which speed, and the numbers that say so.
    pub(super) fn report_speeds(&self, cells: &[(Job, Outcome)], report: &mut Report) {
        self.report_coarsest(cells, report);
        for (place, &speed) in self.speeds.links_mbps.iter().enumerate() {
            let text = speed_text(speed);
            let file = text.replace(' ', "-").to_lowercase();
            let (warm_up, length) = (self.speeds.warm_ups_s[place], self.speeds.lengths_s[place]);
            let title = format!(
                "Data received by one flow over links of {text}, % of the link, in {length} s after the first {warm_up} s"
            );
            let mut table = StudyTable::new(&format!("speeds-{file}"), &title, &[]);
            table.columns = vec!["variant".into()];
            table.columns.extend(self.speeds.ticks_ms.iter().map(|tick| tick_text(*tick)));
            let mut rows = Vec::new();
            for (number, variant) in self.variants.iter().enumerate() {
                let parts: Vec<f64> =
                    self.speeds.ticks_ms.iter().map(|&tick| self.part(cells, number, speed, tick)).collect();
                let mut row = vec![StudyCell::from(variant.name.as_str())];
                row.extend(parts.iter().map(|part| StudyCell::Number(*part, 1)));
                table.rows.push(row);
                let shown =
                    parts.iter().map(|&part| GridCell { text: format!("{part:.1}"), shade: part / 100.0 });
                rows.push(GridRow { name: variant.name.clone(), cells: shown.collect() });
            }
            for again in &self.speeds.again {
                if let (Some(warm_up), Some(length)) =
                    (again.warm_ups_s.get(place), again.lengths_s.get(place))
                {
                    let percent = again.below_percent;
                    table.notes.push(format!(
                        "Runs with Nacks that brought less than {percent} %: in {length} s after the first {warm_up} s."
                    ));
                }
            }
            report.tables.push(table);
            let chart = GridChart {
                title: format!("One flow over links of {text}: Data received, % of the link"),
                x: format!("tick of the consumer's clock; {length} s after the first {warm_up} s"),
                y: "controller".into(),
                columns: self.speeds.ticks_ms.iter().map(|tick| tick_text(*tick)).collect(),
                rows,
            };
            report.figures.push(StudyFigure::grid(&format!("which-clock-{file}"), &chart));
        }
    }

    fn report_coarsest(&self, cells: &[(Job, Outcome)], report: &mut Report) {
        let title = "The coarsest tick that leaves 90 % of what the fine clock brings, one flow";
        let mut table = StudyTable::new("fine-enough", title, &[]);
        let speeds: Vec<String> = self.speeds.links_mbps.iter().map(|speed| speed_text(*speed)).collect();
        table.columns = vec!["variant".into()];
        table.columns.extend(speeds.iter().cloned());
        let mut rows = Vec::new();
        for (number, variant) in self.variants.iter().enumerate() {
            let mut row = vec![StudyCell::from(variant.name.as_str())];
            let mut shown = Vec::new();
            for &speed in &self.speeds.links_mbps {
                let fine = self.part(cells, number, speed, 0.0);
                let place = self.coarsest(cells, number, speed);
                let text = place.map_or("none".into(), |place| tick_text(self.speeds.ticks_ms[place]));
                let (text, shade) = match place {
                    Some(place) if fine >= WORTH_ASKING => {
                        (text, place as f64 / (self.speeds.ticks_ms.len().max(2) - 1) as f64)
                    }
                    _ => (format!("{text}, of {fine:.1} %"), f64::NAN),
                };
                row.push(text.clone().into());
                shown.push(GridCell { text, shade });
            }
            table.rows.push(row);
            rows.push(GridRow { name: variant.name.clone(), cells: shown });
        }
        table.notes.push(self.rule());
        table.notes.push(format!(
            "\"Of so many %\": the fine clock itself brings less than {WORTH_ASKING} % of the link, and the answer means little."
        ));
        report.tables.push(table);
        let chart = GridChart {
            title: "Which clock is fine enough for which controller at which speed?".into(),
            x: "link; in the cells the coarsest tick that leaves 90 % of what the fine clock brings, darker for coarser"
                .into(),
            y: "controller".into(),
            columns: speeds,
            rows,
        };
        report.figures.push(StudyFigure::grid("which-clock", &chart));
    }

    /// What theory says about the coarsest tick.
    fn rule(&self) -> String {
        let depth = self.network.bucket_depth;
        let ticks = self.speeds.links_mbps.iter().map(|speed| {
            let tick_ms = f64::from(depth) / self.carried(*speed) * 1e3;
            format!("{} at {}", tick_text((tick_ms * 1e3).round() / 1e3), speed_text(*speed))
        });
        let ticks = ticks.collect::<Vec<_>>().join(", ");
        format!("A burst at the link's rate fits into a bucket of {depth} packets up to a tick of {ticks}.")
    }

    pub(super) fn several_cells<'a>(
        &'a self,
        cells: &'a [(Job, Outcome)],
        variant: usize,
        pairs: usize,
        ticks_ms: &'a [f64],
    ) -> impl Iterator<Item = &'a Outcome> + 'a {
        cells
            .iter()
            .filter(move |(job, _)| {
                job.variant == variant
                    && job.pairs == pairs
                    && job.ticks_ms == ticks_ms
                    && job.link_mbps == self.several.link_mbps
                    && job.start_spread_ms == self.several.start_spread_ms
            })
            .map(|(_, outcome)| outcome)
    }

    /// Sum and fairness of several flows, means over the repeats.
    pub(super) fn report_several(&self, cells: &[(Job, Outcome)], report: &mut Report) {
        let SeveralFlows { link_mbps, start_spread_ms, repeats, .. } = self.several;
        let mut table = StudyTable::new(
            "several",
            &format!(
                "Several flows over {link_mbps} Mbps, starts spread over {start_spread_ms} ms, means of {repeats} runs: Mbps (fairness)"
            ),
            &[],
        );
        table.columns = vec!["variant, tick".into()];
        table.columns.extend(self.several.pairs.iter().map(|pairs| format!("{pairs} pairs")));
        for (number, variant) in self.variants.iter().enumerate() {
            for tick in &self.several.ticks_ms {
                let mut row = vec![StudyCell::Text(format!("{}, {}", variant.name, tick_text(*tick)))];
                for &pairs in &self.several.pairs {
                    let outcomes = || self.several_cells(cells, number, pairs, std::slice::from_ref(tick));
                    let (mbps, fair) =
                        (mean_of(outcomes(), Outcome::received_mbps), mean_of(outcomes(), Outcome::fairness));
                    row.push(format!("{mbps:.1} ({fair:.2})").into());
                }
                table.rows.push(row);
            }
        }
        report.tables.push(table);
        for &pairs in &self.several.pairs {
            let chart = self.several_chart(cells, pairs);
            report.figures.push(StudyFigure::grid(&format!("several-{pairs}"), &chart));
        }
    }

    fn several_chart(&self, cells: &[(Job, Outcome)], pairs: usize) -> GridChart {
        let SeveralFlows { link_mbps, .. } = self.several;
        let ticks = &self.several.ticks_ms;
        let row = |number: usize| {
            let cell = |tick| {
                let outcomes = || self.several_cells(cells, number, pairs, std::slice::from_ref(tick));
                let mbps = mean_of(outcomes(), Outcome::received_mbps);
                let fair = mean_of(outcomes(), Outcome::fairness);
                GridCell { text: format!("{mbps:.1}  ({fair:.2})"), shade: mbps * fair / link_mbps }
            };
            GridRow { name: self.variants[number].name.clone(), cells: ticks.iter().map(cell).collect() }
        };
        GridChart {
            title: format!(
                "{pairs} flows over one link of {link_mbps} Mbps: sum of Data received, Mbps (fairness, Jain)"
            ),
            x: "tick of the consumers' clocks; the shade is the product of both numbers".into(),
            y: "controller".into(),
            columns: ticks.iter().map(|tick| tick_text(*tick)).collect(),
            rows: (0..self.variants.len()).map(row).collect(),
        }
    }

    /// Who wins when clocks differ.
    pub(super) fn report_mixed(&self, cells: &[(Job, Outcome)], report: &mut Report) {
        let ticks: Vec<String> = self.mixed.ticks_ms.iter().map(|tick| tick_text(*tick)).collect();
        let title = format!("{} flows with different clocks: mean Mbps of a flow", self.mixed.pairs);
        let mut table = StudyTable::new("mixed-ticks", &title, &["variant"]);
        table.columns.extend(ticks.iter().cloned());
        table.columns.push("sum".into());
        table.columns.push("fairness".into());
        for (number, variant) in self.variants.iter().enumerate() {
            let outcomes = || self.several_cells(cells, number, self.mixed.pairs, &self.mixed.ticks_ms);
            let mut row = vec![StudyCell::from(variant.name.as_str())];
            for class in 0..ticks.len() {
                let flows = outcomes().flat_map(|outcome| {
                    outcome.flow_mbps().into_iter().skip(class).step_by(ticks.len()).collect::<Vec<_>>()
                });
                row.push(StudyCell::Number(mean(&flows.collect::<Vec<f64>>()), 2));
            }
            row.push(StudyCell::Number(mean_of(outcomes(), Outcome::received_mbps), 1));
            row.push(StudyCell::Number(mean_of(outcomes(), Outcome::fairness), 3));
            table.rows.push(row);
        }
        report.tables.push(table);
    }
}

pub(super) fn mean_of<'a>(outcomes: impl Iterator<Item = &'a Outcome>, of: fn(&Outcome) -> f64) -> f64 {
    mean(&outcomes.map(of).collect::<Vec<f64>>())
}

fn speed_text(mbps: f64) -> String {
    if mbps >= 1000.0 { format!("{} Gbps", mbps / 1000.0) } else { format!("{mbps} Mbps") }
}
