//! What the paper says of hits and misses, sentence by sentence, held against the literal reading.

use repo::evaluation::{CLASSES, Outcome};

use super::experiment::Experiment;
use super::results::Results;
use super::setup::Configuration;
use crate::stats::{Interval, Level, Sample, mean};
use crate::study::report::{StudyCell, StudyTable};
use crate::study::statement::Verdict;

/// How far an overall rate may be from the paper's, in points.
const NEAR: f64 = 2.0;

struct Finding {
    section: &'static str,
    statement: &'static str,
    verdict: Verdict,
    evidence: String,
}

pub(super) fn table(experiment: &Experiment, results: &Results) -> StudyTable {
    let mut table = StudyTable::new(
        "statements",
        "What the paper says, and what came of it (literal reading)",
        &["section", "statement", "verdict", "here"],
    );
    let numbers = Numbers { experiment, results };
    for Finding { section, statement, verdict, evidence } in numbers.findings() {
        let cells = [section, statement, verdict.word()].map(StudyCell::from);
        table.rows.push(cells.into_iter().chain([evidence.into()]).collect());
    }
    table.notes.push(format!(
        "A rate is as the paper says within {NEAR} points; that one is above another is known when all of the \
         95 % interval of their difference, repeat by repeat, says so."
    ));
    table
}

struct Numbers<'a> {
    experiment: &'a Experiment,
    results: &'a Results,
}

/// The names of the paper's workloads.
const WEB: &str = "webserver";
const VIDEO: &str = "youtube";
const HALF: f64 = 0.5;
const QUARTER: f64 = 0.25;

impl Numbers<'_> {
    fn place(&self, workload: &str, gb: u64, ratio: f64) -> Configuration {
        let number = self.experiment.setup.workloads.iter().position(|section| section.name == workload);
        Configuration { workload: number.unwrap_or(usize::MAX), gb, ratio }
    }

    /// Overall hits in per cent, of each repeat.
    fn hits(&self, workload: &str, gb: u64, ratio: f64) -> Sample {
        self.results.sample(self.place(workload, gb, ratio), |outcome| outcome.hit_rate() * 100.0)
    }

    fn mean(&self, workload: &str, gb: u64, ratio: f64, of: impl Fn(&Outcome) -> f64) -> f64 {
        self.results.sample(self.place(workload, gb, ratio), of).mean()
    }

    /// Mean hits of a class in per cent.
    fn class(&self, workload: &str, gb: u64, ratio: f64, class: usize) -> f64 {
        self.results.class_mean(self.place(workload, gb, ratio), class)
    }

    /// By how much a quarter hits more often than a half, class by class.
    fn gains(&self, workload: &str, gb: u64) -> [f64; CLASSES] {
        std::array::from_fn(|class| {
            self.class(workload, gb, QUARTER, class) - self.class(workload, gb, HALF, class)
        })
    }

    /// The last class up to which hits are more than misses in all classes.
    fn last_mostly_hit(&self, workload: &str, gb: u64, ratio: f64) -> Option<usize> {
        let classes = (0..CLASSES).take_while(|class| self.class(workload, gb, ratio, *class) > 50.0);
        classes.last()
    }

    fn has(&self, workload: &str, gbs: &[u64]) -> bool {
        let places = gbs.iter().flat_map(|&gb| [HALF, QUARTER].map(|ratio| self.place(workload, gb, ratio)));
        places.into_iter().all(|place| self.results.of_place(place).len() > 1)
    }

    fn findings(&self) -> Vec<Finding> {
        let mut findings = Vec::new();
        if self.has(WEB, &[2, 4, 8]) {
            self.web(&mut findings);
        }
        if self.has(VIDEO, &[8, 12, 16]) {
            self.video(&mut findings);
            self.largest_video(&mut findings);
        }
        if self.has(WEB, &[2, 4, 8]) && self.has(VIDEO, &[8, 12, 16]) {
            self.both(&mut findings);
            self.conclusions(&mut findings);
        }
        let untested = [
            (
                "IV-C",
                "All of figure 6: what sorting, copying and cleaning up take of a deletion.",
                "needs a disk: `cairn bench repository` deletes a quarter in both ways",
            ),
            (
                "V-A",
                "Storing segments alone may harm download performance.",
                "measured in the tables of what is kept together",
            ),
        ];
        findings.extend(untested.map(|(section, statement, why)| Finding {
            section,
            statement,
            verdict: Verdict::NotTestable,
            evidence: why.to_owned(),
        }));
        findings
    }

    fn web(&self, findings: &mut Vec<Finding>) {
        let mut add = adder(findings);
        let level = |gb, ratio, paper: f64| self.level(WEB, gb, ratio, paper);
        let (verdict, evidence) = level(2, HALF, 77.5).and(level(2, QUARTER, 81.0));
        add("IV-B", "Web server, 2 GB: overall 77.5 % with DR50, 81 % with DR25.", verdict, evidence);
        let (verdict, evidence) = level(4, HALF, 90.7).and(level(4, QUARTER, 93.0));
        add("IV-B", "Web server, 4 GB: overall 90.7 % with DR50, 93 % with DR25.", verdict, evidence);
        let (verdict, evidence) = self.quarter_is_better(WEB, &[2, 4, 8]);
        add(
            "IV-B",
            "Web server: deleting a quarter hits more often than deleting a half.",
            verdict,
            evidence,
        );
        let gains = self.gains(WEB, 2);
        let (first, others) = (f64::max(gains[0], gains[1]), mean(&gains[3..=17]));
        add(
            "IV-B",
            "Web server, 2 GB: DR25 gains less in classes 0 and 1 than in classes 3 to 17.",
            Verdict::when(first < others),
            format!("at most {first:.1} points in 0 and 1, {others:.1} in the mean of 3 to 17"),
        );
        let most = gains[3..=17].iter().copied().fold(f64::NEG_INFINITY, f64::max);
        add(
            "IV-B",
            "Web server, 2 GB: DR25 gains up to 6.3 points in classes 3 to 17.",
            Verdict::when((most - 6.3).abs() <= NEAR),
            format!("up to {most:.1} points"),
        );
        let (half, quarter) = (self.last_mostly_hit(WEB, 2, HALF), self.last_mostly_hit(WEB, 2, QUARTER));
        add(
            "IV-B",
            "Web server, 2 GB: more hits than misses up to class 11 with DR50, up to 13 with DR25.",
            Verdict::when(half == Some(11) && quarter == Some(13)),
            format!("up to class {} and {}", number(half), number(quarter)),
        );
        let miss = |ratio| 100.0 - self.class(WEB, 2, ratio, 19);
        let (half, quarter) = (miss(HALF), miss(QUARTER));
        add(
            "IV-B",
            "Web server, 2 GB, class 19: 61.5 % misses with DR50, 58.1 % with DR25.",
            Verdict::when((half - 61.5).abs() <= NEAR && (quarter - 58.1).abs() <= NEAR),
            format!("{half:.1} % and {quarter:.1} %"),
        );
        let gigabytes = self.mean(WEB, 4, HALF, |outcome| outcome.created_bytes as f64 / 1e9);
        add(
            "IV-A",
            "Web server: a day creates 18.67 GB.",
            Verdict::when((gigabytes / 18.67 - 1.0).abs() < 0.01),
            format!("{gigabytes:.2} GB"),
        );
    }

    fn video(&self, findings: &mut Vec<Finding>) {
        let mut add = adder(findings);
        let level = |gb, ratio, paper: f64| self.level(VIDEO, gb, ratio, paper);
        let (verdict, evidence) = level(8, HALF, 95.3).and(level(8, QUARTER, 96.9));
        add("IV-B", "YouTube, 8 GB: overall 95.3 % with DR50, 96.9 % with DR25.", verdict, evidence);
        let (verdict, evidence) = level(12, HALF, 98.1).and(level(12, QUARTER, 99.0));
        add("IV-B", "YouTube, 12 GB: overall 98.1 % with DR50, 99 % with DR25.", verdict, evidence);
        let (verdict, evidence) = self.quarter_is_better(VIDEO, &[8, 12, 16]);
        add("IV-B", "YouTube: deleting a quarter hits more often than deleting a half.", verdict, evidence);
        add(
            "IV-B",
            "YouTube: more than 78 % of all requests are for classes 0 and 1.",
            Verdict::ByConstruction,
            "Zipf's law with exponent 2 over 20 classes".to_owned(),
        );
        let gains = self.gains(VIDEO, 8);
        let (first, least, most) = (
            f64::max(gains[0].abs(), gains[1].abs()),
            gains[3..].iter().copied().fold(f64::INFINITY, f64::min),
            gains[3..].iter().copied().fold(f64::NEG_INFINITY, f64::max),
        );
        add(
            "IV-B",
            "YouTube, 8 GB: no difference between DR50 and DR25 for most requests, those for classes 0 and 1.",
            Verdict::when(first < 1.0),
            format!("at most {first:.1} points in classes 0 and 1"),
        );
        add(
            "IV-B",
            "YouTube, 8 GB: in classes above 2, DR25 gains 4.9 to 12 points.",
            Verdict::when((least - 4.9).abs() <= NEAR && (most - 12.0).abs() <= NEAR),
            format!("{least:.1} to {most:.1} points in classes above 2"),
        );
        let (half, quarter) = (self.last_mostly_hit(VIDEO, 8, HALF), self.last_mostly_hit(VIDEO, 8, QUARTER));
        add(
            "IV-B",
            "YouTube, 8 GB: more hits than misses up to class 10 with DR50, up to 17 with DR25.",
            Verdict::when(half == Some(10) && quarter == Some(17)),
            format!("up to class {} and {}", number(half), number(quarter)),
        );
        let gigabytes = self.mean(VIDEO, 12, HALF, |outcome| outcome.created_bytes as f64 / 1e9);
        add(
            "IV-A",
            "YouTube: a day creates 85.54 GB.",
            Verdict::when((gigabytes / 85.54 - 1.0).abs() < 0.01),
            format!("{gigabytes:.2} GB"),
        );
    }

    fn largest_video(&self, findings: &mut Vec<Finding>) {
        let mut add = adder(findings);
        let difference =
            self.hits(VIDEO, 16, QUARTER).less(1.0, &self.hits(VIDEO, 16, HALF), true, Level::NinetyFive);
        let below = Verdict::above(difference, 1.0).of_the_opposite();
        add(
            "IV-C",
            "YouTube, 16 GB: overall, DR25 and DR50 differ by less than one point.",
            below,
            interval_text(difference),
        );
        let worst = (0..CLASSES).flat_map(|class| {
            [HALF, QUARTER].map(|ratio| self.results.class(self.place(VIDEO, 16, ratio), class)).concat()
        });
        let worst = worst.fold(f64::INFINITY, f64::min);
        add(
            "IV-B",
            "YouTube, 16 GB: hits are more than misses in every class even in the worst case.",
            Verdict::when(worst > 50.0),
            format!("the worst of all repeats has {worst:.1} % hits in a class"),
        );
    }

    fn both(&self, findings: &mut Vec<Finding>) {
        let mut add = adder(findings);
        let lowest = |workload, gb| {
            let rates = (0..CLASSES)
                .flat_map(|class| [HALF, QUARTER].map(|ratio| self.class(workload, gb, ratio, class)));
            rates.fold(f64::INFINITY, f64::min)
        };
        let (web, video) = (lowest(WEB, 8), lowest(VIDEO, 16));
        add(
            "IV-B",
            "With 8 GB (web server) and 16 GB (YouTube) no class has fewer than 80 % hits in the mean.",
            Verdict::when(web >= 80.0 && video >= 80.0),
            format!("the lowest class has {web:.1} % and {video:.1} %"),
        );
        let spread = |workload, gb| {
            let spreads = (4..CLASSES).map(|class| {
                let rates = self.results.class(self.place(workload, gb, HALF), class);
                crate::stats::Summary::of(&rates).map_or(f64::NAN, |summary| summary.deviation)
            });
            mean(&spreads.collect::<Vec<_>>())
        };
        let (web, video) = (spread(WEB, 2), spread(VIDEO, 8));
        add(
            "IV-B",
            "In classes above 3 hits vary more between repeats in YouTube (8 GB) than in the web server (2 GB).",
            Verdict::when(video > web),
            format!("standard deviations of {video:.1} and {web:.1} points in the mean"),
        );
        let times = |workload: &str, gb| {
            let deletions = |ratio| self.mean(workload, gb, ratio, |outcome| outcome.deletions as f64);
            deletions(QUARTER) / deletions(HALF)
        };
        let all = [(WEB, 2), (WEB, 4), (WEB, 8), (VIDEO, 8), (VIDEO, 12), (VIDEO, 16)];
        let (least, most) = all
            .iter()
            .map(|(workload, gb)| times(workload, *gb))
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), one| (least.min(one), most.max(one)));
        add(
            "IV-C",
            "DR25 needs nearly twice as many deletions a day as DR50.",
            Verdict::when(least > 1.6 && most <= 2.05),
            format!("{least:.2} to {most:.2} times as many"),
        );
    }

    fn conclusions(&self, findings: &mut Vec<Finding>) {
        let mut add = adder(findings);
        let least = |workload, gb, above| {
            Verdict::all([HALF, QUARTER].map(|ratio| {
                Verdict::above(self.hits(workload, gb, ratio).interval(Level::NinetyFive), above)
            }))
        };
        let found = |workload, gb| [HALF, QUARTER].map(|ratio| self.hits(workload, gb, ratio).mean());
        let ([a, b], [c, d]) = (found(WEB, 4), found(VIDEO, 12));
        add(
            "VI",
            "4 GB (web server) give more than 90 % hits, and 12 GB (YouTube) more than 98 %.",
            Verdict::all([least(WEB, 4, 90.0), least(VIDEO, 12, 98.0)]),
            format!("{a:.1} and {b:.1} %, {c:.1} and {d:.1} %"),
        );
        let sizes = |workload, gbs: [u64; 3]| {
            let pairs = gbs.windows(2).flat_map(|pair| {
                [HALF, QUARTER]
                    .map(|ratio| (self.hits(workload, pair[0], ratio), self.hits(workload, pair[1], ratio)))
            });
            let verdicts = pairs
                .map(|(small, large)| Verdict::above(large.less(1.0, &small, false, Level::NinetyFive), 0.0));
            Verdict::all(verdicts)
        };
        add(
            "IV-B",
            "Larger repositories hit more often.",
            Verdict::all([sizes(WEB, [2, 4, 8]), sizes(VIDEO, [8, 12, 16])]),
            "in both workloads, from each threshold to the next".to_owned(),
        );
    }

    /// An overall rate beside the paper's.
    fn level(&self, workload: &str, gb: u64, ratio: f64, paper: f64) -> Rate {
        let interval = self.hits(workload, gb, ratio).interval(Level::NinetyFive);
        let verdict = match interval {
            Some(Interval { low, high }) if low > paper - NEAR && high < paper + NEAR => Verdict::Confirmed,
            Some(Interval { low, high }) if high < paper - NEAR || low > paper + NEAR => {
                Verdict::Contradicted
            }
            _ => Verdict::NotTestable,
        };
        Rate { verdict, mean: self.hits(workload, gb, ratio).mean() }
    }

    fn quarter_is_better(&self, workload: &str, gbs: &[u64]) -> (Verdict, String) {
        let differences: Vec<Option<Interval>> = gbs
            .iter()
            .map(|&gb| {
                let half = self.hits(workload, gb, HALF);
                self.hits(workload, gb, QUARTER).less(1.0, &half, true, Level::NinetyFive)
            })
            .collect();
        let verdict = Verdict::all(differences.iter().map(|difference| Verdict::above(*difference, 0.0)));
        let texts = gbs.iter().zip(&differences).map(|(gb, one)| format!("{gb} GB {}", interval_text(*one)));
        (verdict, texts.collect::<Vec<_>>().join("; "))
    }
}

/// An overall rate and whether it is as the paper says.
#[derive(Clone, Copy)]
struct Rate {
    verdict: Verdict,
    mean: f64,
}

impl Rate {
    fn and(self, other: Rate) -> (Verdict, String) {
        let evidence = format!("{:.1} % and {:.1} %", self.mean, other.mean);
        (Verdict::all([self.verdict, other.verdict]), evidence)
    }
}

fn adder(findings: &mut Vec<Finding>) -> impl FnMut(&'static str, &'static str, Verdict, String) {
    |section, statement, verdict, evidence| {
        findings.push(Finding { section, statement, verdict, evidence });
    }
}

fn number(class: Option<usize>) -> String {
    class.map_or_else(|| "none".to_owned(), |class| class.to_string())
}

fn interval_text(interval: Option<Interval>) -> String {
    interval.map_or_else(String::new, |Interval { low, high }| format!("{low:+.1} to {high:+.1} points"))
}
