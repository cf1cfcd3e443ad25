//! Two runs side by side: the same experiment twice, or in virtual time and on real forwarders.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::data::{CaseData, ReportError, RunData};
use super::document::{Block, Cell, Document, Figure, Table};
use super::figures::of_case;
use super::files::write_figures;
use super::plans;
use super::quantity::{Quantity, SIX};
use super::{html, pdf, undecided};
use crate::analysis::RepeatResult;
use crate::experiment::measure::Measure;
use crate::experiment::plan::NodeIndex;
use crate::figure::number::{estimated, short};
use crate::figure::{Axis, BarChart, BarGroup, Frame, LineChart, Series};
use crate::prose::sentence;
use crate::run::RunRecord;
use crate::stats::{ByOrder, Claim, Compared, Estimate, FEWEST_ORDERS, Level, OfOrders, Sample, mean};

/// A smaller difference than this part of a number is none to speak of, however sure it is.
const MIN_PART: f64 = 0.01;
/// So many of the greatest differences are named first.
const MAX_NAMED: usize = 8;
/// And of differences of plan of a case.
const MAX_OF_A_PLAN: usize = 12;

/// A measure in both runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Pair {
    /// The case in the first run.
    pub case: String,
    /// The case in the second run; another name only where cases were matched by their order.
    pub case_b: String,
    /// The measure, such as `n2.pending`.
    pub measure: String,
    /// The unit of both means; nothing of bare numbers.
    pub unit: &'static str,
    /// Its mean in the first run.
    pub a: Estimate,
    /// Its mean in the second run.
    pub b: Estimate,
    /// Which of the two have nothing random in them: such a mean is exact, also of a single repeat.
    pub exact: [bool; 2],
    /// The numbers of their repeats.
    #[serde(skip)]
    pub samples: [Sample; 2],
}

impl Pair {
    /// Do the 95 % confidence intervals of the two means not meet, and is that more than anybody would care
    /// for? Few repeats and equal ones leave them as open as for [verdicts](super::verdicts): where they then
    /// meet, nobody can say. What hangs on the order of what happens at one instant is compared in each
    /// order.
    #[must_use]
    pub fn differs(&self) -> Option<bool> {
        self.judged().map(|(differs, _)| differs)
    }

    /// Where the two hang on the order of what happens at one instant, of what it is known whether they
    /// differ.
    #[must_use]
    pub fn of(&self) -> Option<Claim> {
        self.judged().and_then(|(_, claim)| claim)
    }

    fn judged(&self) -> Option<(bool, Option<Claim>)> {
        let [one, two] = &self.samples;
        if let Some(by_order) = one.by_order(1.0, two) {
            return differs_in_orders(&by_order).map(|(differs, claim)| (differs, Some(claim)));
        }
        if one.is_mixed_with(two) {
            return self.differs_from_random();
        }
        self.differs_by_intervals([one, two]).map(|differs| (differs, None))
    }

    /// The same where one is random, and of the other orders were drawn.
    fn differs_from_random(&self) -> Option<(bool, Option<Claim>)> {
        let [one, two] = &self.samples;
        if !one.has_enough_orders() || !two.has_enough_orders() {
            return None;
        }
        let differs = self.differs_by_intervals([&one.beside_random(), &two.beside_random()])?;
        let tied = if one.hangs_on_order() { one } else { two };
        if !tied.is_of_most_orders() {
            return Some((differs, None));
        }
        // In one order, drawn or planned, it may be otherwise: then nobody can say.
        let is_so_in = |number: f64| {
            let number = Sample { values: vec![number], exact: true, ..Sample::default() };
            let pair = if one.hangs_on_order() { [&number, two] } else { [one, &number] };
            self.differs_by_intervals(pair) == Some(differs)
        };
        tied.all().all(is_so_in).then_some((differs, Some(Claim::MostOrders)))
    }

    fn differs_by_intervals(&self, [one, two]: [&Sample; 2]) -> Option<bool> {
        let (a, b) = one.interval(Level::NinetyFive).zip(two.interval(Level::NinetyFive))?;
        let do_meet = a.low <= b.high && b.low <= a.high;
        if do_meet && !(one.has_enough() && two.has_enough()) {
            return None;
        }
        let means = Compared { value: one.mean(), other: two.mean() };
        Some(!do_meet && is_more_than_nothing(means))
    }

    /// How far apart the means are, as a part of the greater one.
    #[must_use]
    pub fn part(&self) -> f64 {
        let greater = self.a.mean.abs().max(self.b.mean.abs());
        if greater > 0.0 { (self.a.mean - self.b.mean).abs() / greater } else { 0.0 }
    }

    /// The second mean as a multiple of the first.
    #[must_use]
    pub fn ratio(&self) -> Option<f64> {
        (self.a.mean != 0.0).then(|| self.b.mean / self.a.mean)
    }

    /// Both means in words, in the measure's unit.
    #[must_use]
    pub fn words(&self) -> (String, String) {
        let words = |estimate: &Estimate| {
            let (mean, spread) = estimated(estimate.half95, estimate, self.unit);
            spread.map_or_else(|| mean.clone(), |spread| format!("{mean} {spread}"))
        };
        (words(&self.a), words(&self.b))
    }
}

/// Is a difference one to speak of?
fn is_more_than_nothing(pair: Compared) -> bool {
    pair.difference().abs() > MIN_PART * pair.value.abs().max(pair.other.abs())
}

/// Whether the two differ in most orders, and always the same way; of many orders that say different things,
/// whether their means do.
fn differs_in_orders(by_order: &ByOrder) -> Option<(bool, Claim)> {
    match by_order.say(FEWEST_ORDERS, is_more_than_nothing) {
        OfOrders::All { met: true } => {
            let all = || by_order.drawn.iter().chain(&by_order.planned);
            let is_one_way = [1.0, -1.0].iter().any(|way| all().all(|pair| pair.difference() * way > 0.0));
            is_one_way.then_some((true, Claim::MostOrders))
        }
        OfOrders::All { met: false } => Some((false, Claim::MostOrders)),
        OfOrders::Many => {
            let interval = by_order.interval(Level::NinetyFive)?;
            let mean = |of: fn(&Compared) -> f64| mean(&by_order.drawn.iter().map(of).collect::<Vec<_>>());
            let means = Compared { value: mean(|pair| pair.value), other: mean(|pair| pair.other) };
            let differs = (interval.low > 0.0 || interval.high < 0.0) && is_more_than_nothing(means);
            Some((differs, Claim::MeanOfOrders))
        }
        OfOrders::NotAsPlanned { .. } | OfOrders::Mixed { .. } | OfOrders::TooFew => None,
    }
}

/// Two runs and what both have measured.
#[derive(Debug)]
pub struct Comparison {
    runs: [RunData; 2],
    /// Places of cases that belong together.
    cases: Vec<(usize, usize)>,
    /// Every measure that both have.
    pub pairs: Vec<Pair>,
}

impl Comparison {
    /// Puts two runs side by side. Cases belong together when they have the same name; when none has and
    /// there are as many in both, such as where values are scaled for a backend, by their order.
    #[must_use]
    pub fn of(a: RunData, b: RunData) -> Self {
        let same = |case: &CaseData| b.cases.iter().position(|other| other.plan.case == case.plan.case);
        let named = a.cases.iter().enumerate().filter_map(|(place, case)| Some((place, same(case)?)));
        let mut cases: Vec<(usize, usize)> = named.collect();
        if cases.is_empty() && a.cases.len() == b.cases.len() {
            cases = (0..a.cases.len()).map(|place| (place, place)).collect();
        }
        let keys = |case: &CaseData| -> BTreeSet<String> {
            case.results.iter().flat_map(|result| result.values.keys().cloned()).collect()
        };
        let mut pairs = Vec::new();
        for (left, right) in &cases {
            let (Some(left), Some(right)) = (a.cases.get(*left), b.cases.get(*right)) else { continue };
            for measure in keys(left).intersection(&keys(right)) {
                let numbers = [left, right].map(|case| case.numbers(measure, "mean").without_changed(case));
                let means = numbers[0].estimate().zip(numbers[1].estimate());
                let parsed = measure.parse::<Measure>().ok();
                let most = parsed.as_ref().and_then(Measure::most);
                let samples = numbers.map(|numbers| numbers.sample(most));
                let exact = [samples[0].exact, samples[1].exact];
                pairs.extend(means.map(|(a, b)| Pair {
                    case: left.plan.case.clone(),
                    case_b: right.plan.case.clone(),
                    measure: measure.clone(),
                    unit: parsed.as_ref().map_or("", |measure| measure.unit_in(&left.plan)),
                    a,
                    b,
                    exact,
                    samples,
                }));
            }
        }
        Comparison { runs: [a, b], cases, pairs }
    }

    /// What was noted of both runs.
    #[must_use]
    pub fn records(&self) -> [&RunRecord; 2] {
        let [a, b] = &self.runs;
        [&a.record, &b.record]
    }

    /// Is one of them not complete, or not as it was left?
    #[must_use]
    pub fn is_incomplete(&self) -> bool {
        self.runs.iter().any(|run| !run.record.complete || run.is_damaged)
    }

    /// Cases that only one of the two has, which are not compared, a sentence for each side.
    fn without_partner(&self) -> Vec<String> {
        let [a, b] = &self.runs;
        let (left, right): (Vec<usize>, Vec<usize>) = self.cases.iter().copied().unzip();
        let sides = [("A", a, left), ("B", b, right)];
        let alone = sides.map(|(side, run, paired)| {
            let cases = run.cases.iter().enumerate().filter(|(place, _)| !paired.contains(place));
            let names: Vec<&str> = cases.map(|(_, case)| case.name()).collect();
            let named = names.iter().take(MAX_NAMED).copied().collect::<Vec<_>>().join("; ");
            let more = names.len().saturating_sub(MAX_NAMED);
            let more = if more > 0 { format!("; and {more} more") } else { String::new() };
            let (count, all) = (names.len(), run.cases.len());
            (count > 0).then(|| {
                sentence(&format!("Only in {side}, and not compared: {count} of {all} cases: {named}{more}"))
            })
        });
        alone.into_iter().flatten().collect()
    }

    /// Is a repeat of a case that is compared not as it was left? Its numbers are in none of these.
    #[must_use]
    pub fn leaves_some_out(&self) -> bool {
        let [a, b] = &self.runs;
        let pairs = self.cases.iter().map(|(left, right)| [a.cases.get(*left), b.cases.get(*right)]);
        pairs.flatten().flatten().any(|case| case.as_left.contains(&false))
    }

    /// In what plans of the same case differ, and which of their repeats are not valid.
    fn of_plans(&self) -> Vec<String> {
        let [a, b] = &self.runs;
        let mut lines = Vec::new();
        for (left, right) in &self.cases {
            let (Some(left), Some(right)) = (a.cases.get(*left), b.cases.get(*right)) else { continue };
            let differences = plans::differences(&left.plan, &right.plan);
            // That there is one more takes no less room than to name it.
            let shown =
                if differences.len() == MAX_OF_A_PLAN + 1 { differences.len() } else { MAX_OF_A_PLAN };
            let named = differences.iter().take(shown).cloned().collect::<Vec<_>>().join("; ");
            let more = differences.len().saturating_sub(shown);
            let more = if more > 0 { format!("; and {more} more") } else { String::new() };
            if !differences.is_empty() {
                lines.push(sentence(&format!("Not the same plan: {}: {named}{more}", left.name())));
            }
            for (side, case) in [("A", left), ("B", right)] {
                let invalid = case.results.iter().filter(|result| !result.is_valid()).count();
                if invalid > 0 {
                    let all = case.results.len();
                    let why = case.results.iter().flat_map(RepeatResult::reasons).next().unwrap_or_default();
                    let name = case.name();
                    let words = format!("Not valid in {side}: {name}: {invalid} of {all} repeats: {why}");
                    lines.push(sentence(&words));
                }
            }
        }
        lines
    }

    /// What must be known before any number: cases that only one has, what was changed since a run ended,
    /// plans that differ, sides that are not valid; then how many measures differ, and which most.
    #[must_use]
    pub fn summary(&self) -> Vec<String> {
        let mut lines = self.without_partner();
        let [a, b] = &self.runs;
        for (side, run) in [("A", a), ("B", b)].into_iter().filter(|(_, run)| !run.record.complete) {
            lines.push(format!("{side} is not complete; {}.", run.folder.going_on()));
        }
        for (side, run) in [("A", a), ("B", b)] {
            lines.extend(run.faults.iter().map(|fault| format!("{side} is not as it was left: {fault}.")));
        }
        if self.leaves_some_out() {
            lines.push("Repeats that are not as they were left are not compared.".to_owned());
        }
        lines.extend(self.of_plans());
        if self.pairs.is_empty() {
            let words = match self.leaves_some_out() {
                true => "No number is left that could be compared.",
                false => "No case of one has a measure in common with a case of the other.",
            };
            lines.push(words.to_owned());
            return lines;
        }
        let count = |wanted| self.pairs.iter().filter(|pair| pair.differs() == wanted).count();
        lines.push(format!(
            "Of {} {} {} differ beyond their 95 % intervals and by more than 1 %, {} do not; {}.",
            self.pairs.len(),
            if self.pairs.len() == 1 { "measure" } else { "measures" },
            count(Some(true)),
            count(Some(false)),
            undecided::words(
                self.pairs.iter().filter(|pair| pair.differs().is_none()).map(|pair| &pair.samples)
            )
        ));
        let in_orders = self.pairs.iter().filter(|pair| pair.of().is_some()).count();
        if in_orders > 0 {
            lines.push(format!(
                "{in_orders} of them hang on the order of what happens at one instant, or may do so: of these it \
                 is said of most orders."
            ));
        }
        let mut most: Vec<&Pair> = self.pairs.iter().filter(|pair| pair.differs() == Some(true)).collect();
        most.sort_by(|one, other| other.part().total_cmp(&one.part()));
        let named = most.iter().take(MAX_NAMED).map(|pair| {
            let ((left, right), case) = (pair.words(), &pair.case);
            let case = if case.is_empty() { String::new() } else { format!(" ({case})") };
            format!("{}{case}: {left} / {right}", pair.measure)
        });
        let named: Vec<String> = named.collect();
        if !named.is_empty() {
            lines.push(sentence(&format!("Most of all: {}", named.join("; "))));
        }
        lines
    }

    /// How the two are called in figures: by backend where that tells them apart.
    fn names(&self) -> [String; 2] {
        let [a, b] = self.records();
        if a.backend == b.backend {
            ["A".to_owned(), "B".to_owned()]
        } else {
            [format!("A: {}", a.backend), format!("B: {}", b.backend)]
        }
    }

    /// Writes the comparison into a folder as a page, as a PDF and as figures. Returns the page's path.
    ///
    /// # Errors
    ///
    /// A file that cannot be written.
    pub fn write(&self, folder: &Path) -> Result<PathBuf, ReportError> {
        std::fs::create_dir_all(folder)?;
        let document = self.document();
        let page = folder.join("comparison.html");
        std::fs::write(&page, html::page(&document))?;
        std::fs::write(page.with_extension("pdf"), pdf::render(&document))?;
        write_figures(&document, &folder.join("figures"))?;
        Ok(page)
    }

    fn document(&self) -> Document {
        let [a, b] = self.records();
        let mut document = Document {
            title: if a.title == b.title { a.title.clone() } else { format!("{} / {}", a.title, b.title) },
            place: "Cairn lab · two runs side by side".to_owned(),
            blocks: Vec::new(),
        };
        let blocks = &mut document.blocks;
        for (name, record) in ["A", "B"].iter().zip([a, b]) {
            blocks.push(Block::Paragraph(format!(
                "{name}: {}, {}, {}, {} repeats, seed {}.",
                record.backend, record.began, record.software, record.repeats, record.seed
            )));
        }
        blocks.extend(self.summary().into_iter().map(Block::Paragraph));
        let [first, second] = &self.runs;
        for (number, (left, right)) in self.cases.iter().enumerate() {
            let (Some(left), Some(right)) = (first.cases.get(*left), second.cases.get(*right)) else {
                continue;
            };
            blocks.push(Block::Chapter {
                title: left.name().to_owned(),
                anchor: format!("case-{}", number + 1),
            });
            blocks.push(Block::Gallery(self.means(number, left, right)));
            let (differing, others) = (self.table(&left.plan.case, true), self.table(&left.plan.case, false));
            if differing.rows.is_empty() {
                blocks.push(Block::Paragraph("No measure is known to differ.".to_owned()));
            } else {
                blocks.push(Block::Table(differing));
            }
            let title = "Measures that do not differ, or of which nobody can say".to_owned();
            blocks.push(Block::Folded { title, blocks: vec![Block::Table(others)] });
            let mut graphs = Vec::new();
            for node in left.plan.nodes.ids().take(right.plan.nodes.len()) {
                graphs.push(Block::Heading(left.plan.node_name(node).to_owned()));
                graphs.push(Block::Gallery(self.graphs(number, left, right, node)));
            }
            blocks.push(Block::Folded { title: "Every node over time".to_owned(), blocks: graphs });
        }
        document.numbered(0)
    }

    /// A pair of bars for each node.
    fn means(&self, number: usize, left: &CaseData, right: &CaseData) -> Vec<Figure> {
        let mut figures = Vec::new();
        for quantity in SIX {
            let estimates = |node: &str| {
                let key = format!("{node}.{}", quantity.key);
                [left, right].map(|case| case.numbers(&key, "mean").without_changed(case).estimate())
            };
            let number_of = |value: Option<f64>| value.map_or(f64::NAN, |value| value * quantity.factor);
            let nodes = left.plan.nodes.iter().map(|node| node.name.as_str());
            let (mut groups, mut deviations) = (Vec::new(), Vec::new());
            for node in nodes {
                let both = estimates(node);
                let values = both.iter().map(|found| number_of(found.map(|found| found.mean))).collect();
                groups.push(BarGroup { name: node.to_owned(), values });
                deviations
                    .push(both.iter().map(|found| number_of(found.map(|found| found.spread()))).collect());
            }
            let is_missing = |side: usize| {
                groups.iter().all(|group| group.values.get(side).is_none_or(|value| value.is_nan()))
            };
            if is_missing(0) || is_missing(1) {
                continue;
            }
            let title = quantity.title.to_owned();
            let y = quantity.axis(0.0);
            let labels = self.names().to_vec();
            let chart = BarChart { title, x: "node".to_owned(), y, labels, groups };
            figures.push(Figure {
                name: format!("case-{:02}-{}", number + 1, quantity.key),
                drawing: chart.draw(Frame::new(344.0, 225.0), &deviations, 0),
                caption: format!("{} of each node in both runs{}.", quantity.title, of_case(left)),
                data: Some(chart.data(&deviations)),
            });
        }
        figures
    }

    fn graphs(&self, number: usize, left: &CaseData, right: &CaseData, node: NodeIndex) -> Vec<Figure> {
        let end = left.shown.seconds.max(right.shown.seconds).max(1.0);
        let draw = |quantity: Quantity| {
            let [a, b] = self.names();
            let line = |label: String, case: &CaseData| Series { label, points: quantity.points(case, node) };
            let series = vec![line(a, left), line(b, right)];
            if series.iter().any(|line| line.points.is_empty()) {
                return None;
            }
            let chart = LineChart {
                title: quantity.title.to_owned(),
                x: Axis::new("time", "s").exactly(0.0, end),
                y: quantity.axis(0.0),
                series,
            };
            Some(Figure {
                name: format!("case-{:02}-{}-{}", number + 1, left.plan.node_name(node), quantity.key),
                drawing: chart.draw(Frame::new(344.0, 180.0), 0),
                caption: format!(
                    "{} of `{}` in both runs{}.",
                    quantity.title,
                    left.plan.node_name(node),
                    of_case(left)
                ),
                data: Some(chart.data()),
            })
        };
        SIX.into_iter().filter_map(draw).collect()
    }

    /// The measures of a case that differ, or those that do not or of which nobody can say.
    fn table(&self, case: &str, differing: bool) -> Table {
        let mut table = Table::new(&["measure", "#A", "#B", "#B / A", "do they differ?"]);
        for pair in self.pairs.iter().filter(|pair| pair.case == case) {
            if (pair.differs() == Some(true)) != differing {
                continue;
            }
            let (a, b) = pair.words();
            let differs = match (pair.differs(), pair.of()) {
                (Some(true), None) => "yes, beyond both 95 % intervals".to_owned(),
                (Some(false), None) => "not beyond their 95 % intervals".to_owned(),
                (Some(true), Some(claim)) => format!("yes, {}", claim.place()),
                (Some(false), Some(claim)) => format!("no, {}", claim.place()),
                (None, _) => "–".to_owned(),
            };
            let ratio = pair.ratio().map_or_else(|| "–".to_owned(), short);
            table.rows.push(vec![
                Cell::new(format!("`{}`", pair.measure)),
                a.into(),
                b.into(),
                ratio.into(),
                differs.into(),
            ]);
        }
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(a: &[f64], b: &[f64]) -> Pair {
        let samples = [a, b].map(|values| Sample { values: values.to_vec(), ..Sample::default() });
        let (a, b) = (Estimate::of(a).unwrap(), Estimate::of(b).unwrap());
        Pair {
            samples,
            case: String::new(),
            case_b: String::new(),
            measure: "n1.goodput".into(),
            unit: "B/s",
            a,
            b,
            exact: [false; 2],
        }
    }

    #[test]
    fn means_differ_only_beyond_what_repeats_leave_open() {
        let spread = |middle: f64, by: f64| [-1.0, -0.5, 0.0, 0.5, 1.0].map(|part| middle + by * part);
        assert_eq!(pair(&spread(10.0, 0.1), &spread(20.0, 0.1)).differs(), Some(true));
        assert_eq!(pair(&spread(10.0, 8.0), &spread(12.0, 8.0)).differs(), Some(false));
        let three = pair(&[10.0, 10.1, 9.9], &[20.0, 20.1, 19.9]);
        assert_eq!(three.differs(), None, "half of all repeats may be unlike any of three");
        // What can be 100 at most is known to differ from it all the same.
        let mut parts = pair(&[0.0, 0.1, 0.0, 0.1], &[100.0, 100.0, 99.9, 100.0]);
        assert_eq!(parts.differs(), None);
        parts.samples.iter_mut().for_each(|sample| sample.most = Some(100.0));
        assert_eq!(parts.differs(), None, "the fourth root of 2.5 % of 100 is 40, and 60 is above it");
        assert_eq!(pair(&[10.0], &[20.0]).differs(), None, "one repeat says nothing about that");
        assert_eq!(pair(&[10.0; 3], &[20.0; 3]).differs(), None, "nor do a few equal ones");
        let close = pair(&spread(26.3, 0.001), &spread(26.2, 0.001));
        assert_eq!(close.differs(), Some(false), "sure, and nothing to speak of");
        let mut exact = pair(&[10.0], &[20.0]);
        exact.samples.iter_mut().for_each(|sample| sample.exact = true);
        assert_eq!(exact.differs(), Some(true), "nothing random is in either");
        exact.samples[1].exact = false;
        assert_eq!(exact.differs(), None);
    }

    #[test]
    fn what_is_random_differs_from_orders_by_intervals_and_not_pair_by_pair() {
        let real = [0.09, 0.25, 0.1, 0.11, 0.09, 0.15];
        let beside = |planned: f64, drawn: &[f64]| {
            let mut pair = pair(&real, drawn);
            pair.samples[1].planned = Some(vec![(0, planned)]);
            pair.samples[1].repeats = (1..=drawn.len() as u32).collect();
            (pair.differs(), pair.of())
        };
        // Each pair differs the same way, and the mean of the random ones may be the same.
        let of_most = |differs| (Some(differs), Some(Claim::MostOrders));
        assert_eq!(beside(0.08, &[0.081, 0.08, 0.08, 0.081, 0.08]), of_most(false));
        assert_eq!(beside(0.03, &[0.03, 0.03, 0.031, 0.03, 0.031]), of_most(true));
        assert_eq!(beside(0.03, &[0.03, 0.03, 0.03, 0.03, 0.08]), (None, None), "in one of five it does not");
        assert_eq!(beside(0.08, &[0.08; 5]), of_most(false));
        assert_eq!(beside(0.03, &[0.03; 5]), of_most(true));
        assert_eq!(beside(0.08, &[0.03; 5]), (None, None), "as planned it does not");
        assert_eq!(beside(0.03, &[0.03; 4]), (None, None), "four were drawn");
    }

    #[test]
    fn means_are_written_in_their_unit() {
        assert_eq!(pair(&[1_250_000.0], &[0.0]).words().0, "10\u{a0}Mbit/s");
        assert_eq!(pair(&[0.0], &[1.0]).ratio(), None);
    }
}
