//! One expectation against the intervals of what it names.

use toml::Value;

use super::super::data::{CaseData, RunData};
use super::super::numbers::Numbers;
use super::finding::{Difference, Finding, all_of};
use super::more_repeats;
use crate::analysis::{IdleWindow, RepeatResult, is_counted};
use crate::experiment::check::notes::{rare_losses, rare_words};
use crate::experiment::measure::Measure;
use crate::experiment::model::Expect;
use crate::experiment::units::Span;
use crate::figure::number::{apart, difference_words, exact, short, with_unit};
use crate::prose::was;
use crate::run::named;
use crate::stats::{Counted, Estimate, Interval, Level, Sample, are_equal, pooled};

/// The cases that measures are looked up in: those of the experiment, or those of one of its controls.
#[derive(Debug, Clone, Copy)]
pub(super) struct Evaluation<'a> {
    pub(super) run: &'a RunData,
    pub(super) control: Option<&'a str>,
}

/// A difference as small as this part of the numbers themselves is one of rounding.
const ROUNDING: f64 = 1e-9;

impl<'a> Evaluation<'a> {
    /// Is it one of the cases that are looked at?
    pub(super) fn is_mine(self, case: &CaseData) -> bool {
        case.plan.control.as_ref().map(|control| control.name.as_str()) == self.control
    }

    /// The case that a measure is of, when it ran.
    pub(super) fn case(self, here: &CaseData, measure: &Measure) -> Option<&'a CaseData> {
        let name = measure.case.as_ref().unwrap_or(&here.plan.case);
        let (cases, control) = match self.control {
            None => (&self.run.cases, None),
            Some(control) => (&self.run.controls, Some(control)),
        };
        cases.iter().find(|case| match (&case.plan.control, control) {
            (None, None) => case.plan.case == *name,
            (Some(plan), Some(control)) => plan.name == control && plan.case == *name,
            _ => false,
        })
    }

    /// A measure in the valid repeats of its case.
    pub(super) fn sample(self, here: &CaseData, measure: &Measure) -> Option<Sample> {
        let sample = self.numbers(here, measure)?.sample(measure.most());
        // Of one number a repeat each of these is that number.
        let is_number = !matches!(measure.summary.as_str(), "deviation" | "count");
        sample.all().next()?;
        let counts = if is_number { sample.counts } else { Vec::new() };
        Some(Sample { counts, ..sample })
    }

    /// Its mean over the repeats that count.
    pub(super) fn estimate(self, here: &CaseData, measure: &Measure) -> Option<Estimate> {
        self.numbers(here, measure).and_then(|numbers| numbers.estimate())
    }

    /// The numbers of a measure.
    fn numbers(self, here: &CaseData, measure: &Measure) -> Option<Numbers> {
        let key = format!("{}.{}", measure.subject, measure.quantity);
        Some(self.case(here, measure)?.numbers(&key, &measure.summary))
    }

    /// A measure, or why there is none.
    fn found(self, here: &CaseData, measure: &Measure) -> Result<Sample, String> {
        let of = self.of_whom(measure.case.as_deref().unwrap_or(&here.plan.case));
        let Some(case) = self.case(here, measure) else { return Err(format!("there is no run{of}")) };
        if !case.is_valid() {
            let reasons: Vec<String> = case.results.iter().flat_map(RepeatResult::reasons).collect();
            let first = reasons.first().map_or_else(String::new, |reason| format!(": {reason}"));
            return Err(format!("no valid run{of}{first}"));
        }
        self.as_left(case).map_err(|what| format!("of the repeats{of} {what}"))?;
        if !self.run.changed_plan.is_empty() {
            let parts = named(&self.run.changed_plan);
            let were = was(self.run.changed_plan.len());
            return Err(format!("{parts} of the experiment {were} changed since the run began"));
        }
        // Those that did finish are the lucky ones.
        let unfinished = case.results.iter().filter(|result| result.is_unfinished()).count();
        if unfinished > 0 {
            return Err(format!(
                "{unfinished} of {} repeats{of} did not finish their work, and the others are no fair choice: \
                 give them more time, or say with `gates.unfinished` how much may be left",
                case.results.len()
            ));
        }
        self.is_measured(case, measure)?;
        let why = match measure.quantity.as_str() {
            "loss" => ": no Interest was waited for as long as it lives",
            _ => "",
        };
        let sample =
            self.sample(here, measure).ok_or_else(|| format!("`{measure}` was not measured{why}"))?;
        // What is known only of the repeats that went well is not known.
        let valid = case.results.iter().filter(|result| result.is_valid()).count();
        match valid - sample.all().count().min(valid) {
            0 => Ok(sample),
            missing => Err(format!("`{measure}` was not measured in {missing} of {valid} valid repeats")),
        }
    }

    /// Whose repeats they are, behind a word for them: those of a control are not those of its case.
    fn of_whom(self, case: &str) -> String {
        match (self.control, case) {
            (None, "") => String::new(),
            (None, case) => format!(" of “{case}”"),
            (Some(control), "") => format!(" of control “{control}”"),
            (Some(control), case) => format!(" of control “{control}” in “{case}”"),
        }
    }

    /// Whether the repeats of a case are all there, and as they were written.
    fn as_left(self, case: &CaseData) -> Result<(), String> {
        let are = |count: usize| if count == 1 { "is" } else { "are" };
        let numbered = |repeats: &[u32]| {
            let numbers: Vec<String> = repeats.iter().map(u32::to_string).collect();
            let word = if repeats.len() == 1 { "number" } else { "numbers" };
            format!("{word} {}", numbers.join(", "))
        };
        let (missing, altered) = (case.missing.as_slice(), case.altered.as_slice());
        if !missing.is_empty() {
            return Err(format!("{} {} missing from the folder", numbered(missing), are(missing.len())));
        }
        if !altered.is_empty() {
            let were = was(altered.len());
            return Err(format!(
                "{} {were} changed after {} written",
                numbered(altered),
                it_was(altered.len())
            ));
        }
        Ok(())
    }

    /// Whether what was measured can say anything of the measure: something happened meanwhile, unless it is
    /// of the whole run; and how often samples were taken is a part of what is stated, where it is a part of
    /// the number.
    fn is_measured(self, case: &CaseData, measure: &Measure) -> Result<(), String> {
        let valid = case.results.iter().filter(|result| result.is_valid());
        let mut of_window = valid.filter(|_| !measure.is_of_whole_run(&case.plan));
        let idle = of_window.find_map(RepeatResult::idle_window);
        if let Some(IdleWindow { measured, .. }) =
            idle.filter(|idle| idle.measured.until < idle.measured.from)
        {
            return Err(format!(
                "the run ended after {} s, before what was to be measured from {} s on",
                short(measured.until),
                short(measured.from)
            ));
        }
        if let Some(IdleWindow { measured, active }) = idle {
            return Err(format!(
                "nothing happened while it was measured, from {} s to {} s: the workloads were active from {} s to \
                 {} s",
                short(measured.from),
                short(measured.until),
                short(active.from),
                short(active.until)
            ));
        }
        let is_virtual = self.run.record.is_virtual();
        match measure.is_of_samples(&case.plan, is_virtual) && !case.plan.recording.is_sampling_stated {
            true => Err(format!(
                "`{measure}` depends on how often samples are taken, and the file does not say `sample_every`"
            )),
            false => Ok(()),
        }
    }

    /// Whether a workload whose speed is measured finished nothing in any repeat: then its speed says nothing
    /// of what made it so.
    pub(super) fn did_nothing(self, here: &CaseData, measure: &Measure) -> bool {
        let is_speed = matches!(measure.quantity.as_str(), "goodput" | "throughput" | "duration");
        let finished =
            Measure { quantity: "finished".to_owned(), summary: "max".to_owned(), ..measure.clone() };
        let finished = is_speed.then(|| self.sample(here, &finished)).flatten();
        finished.is_some_and(|sample| sample.all().all(|count| count == 0.0))
    }

    /// What a number rests on beside what was counted.
    pub(super) fn details(self, here: &CaseData, measure: &Measure, sample: Option<&Sample>) -> Vec<String> {
        let mut details = Vec::new();
        let plan = self.case(here, measure).map(|case| &case.plan);
        if let Some(plan) = plan.filter(|plan| measure.is_of_samples(plan, self.run.record.is_virtual())) {
            let every = Span(plan.recording.sample_every_ns);
            details.push(format!("of samples, one every {every}"));
        }
        if let Some(numbers) = self.numbers(here, measure).filter(|_| sample.is_some()) {
            let unit = measure.unit_in(&here.plan);
            let orders = numbers.estimate().and_then(|found| found.orders);
            details.extend(numbers.detail(|value| match orders {
                // With the digits of the numbers beside it.
                Some(orders) => apart(orders.least, orders.most, unit)(value),
                None => with_unit(value, unit),
            }));
        }
        if let Some(sample) = sample.filter(|sample| sample.rests_on_spread()) {
            let count = sample.values.len();
            let losses = plan.and_then(|plan| Some((plan.schedule.repeats, rare_losses(plan, measure)?)));
            let rare = losses.map_or_else(String::new, |(repeats, losses)| {
                format!(", where {}", rare_words(repeats, losses))
            });
            details.push(format!("assuming that all repeats spread as these {count} do{rare}"));
        }
        details.extend(sample.and_then(|sample| self.of_counts(here, measure, sample)));
        details
    }

    /// What is taken for known of orders that something random is held against.
    pub(super) fn of_mixed(self, here: &CaseData, expect: &Expect, measure: &Measure) -> Vec<String> {
        let Some(value) = self.sample(here, measure) else { return Vec::new() };
        let others = expect.others().into_iter().filter_map(|(_, text)| text.parse::<Measure>().ok());
        let told = others.filter_map(|other| {
            let sample = self.sample(here, &other)?;
            let (tied, name) = if value.hangs_on_order() { (&value, measure) } else { (&sample, &other) };
            let drawn = tied.values.len();
            match value.is_mixed_with(&sample) && tied.has_enough_orders() {
                false => None,
                true if tied.is_one_in_most_orders() => Some(format!(
                    "`{name}` taken as it is in most orders of what happens at one instant: the same in all {drawn} \
                     that were drawn"
                )),
                true => Some(format!("assuming that all orders of `{name}` spread as the {drawn} that were drawn do")),
            }
        });
        let mut told: Vec<String> = told.collect();
        told.dedup();
        told
    }

    /// That losses are rare in what a number is held against.
    pub(super) fn rare_beside(self, here: &CaseData, expect: &Expect) -> Vec<String> {
        let others = expect.others().into_iter().filter_map(|(_, text)| text.parse::<Measure>().ok());
        let told = others.filter_map(|other| {
            let plan = &self.case(here, &other)?.plan;
            let losses =
                self.sample(here, &other).filter(Sample::rests_on_spread).and(rare_losses(plan, &other))?;
            Some(format!("of `{other}` {}", rare_words(plan.schedule.repeats, losses)))
        });
        told.collect()
    }

    /// What was counted of a part of a whole, and what that leaves open; or that nobody knows any more.
    fn of_counts(self, here: &CaseData, measure: &Measure, sample: &Sample) -> Option<String> {
        if let Some(interval) = sample.by_counts(Level::NinetyFive) {
            let Counted { part, whole } = pooled(&sample.counts);
            let [low, high] =
                [interval.low, interval.high].map(|end| with_unit(end, measure.unit_in(&here.plan)));
            return Some(format!("{part} of {whole} were counted, which alone leaves {low} to {high}"));
        }
        let is_open = !sample.exact && !sample.hangs_on_order() && !are_equal(&sample.values);
        let case = self.case(here, measure)?;
        let notes_none = case.results.iter().all(|result| result.counts.is_empty());
        let is_counted = is_counted(&case.plan, &measure.subject, &measure.quantity);
        (is_open && notes_none && is_counted)
            .then(|| "without the counts, which this run has not noted".to_owned())
    }

    /// Judges an expectation.
    pub(super) fn judge(self, here: &CaseData, expect: &Expect, measure: &Measure) -> Finding {
        let found = match self.parts(here, expect, measure, expect.by_construction.is_some()) {
            Err(why) => return Finding::Unknown(why),
            Ok(parts) => all_of(parts),
        };
        match found {
            Finding::Unknown(why) => Finding::Unknown(self.with_chance(here, expect, measure, why)),
            known => known,
        }
    }

    /// Says that it is the number of repeats that leaves something unknown, where more of the same would do.
    fn with_chance(self, here: &CaseData, expect: &Expect, measure: &Measure, why: String) -> String {
        let others = expect.others().into_iter().filter_map(|(_, text)| text.parse::<Measure>().ok());
        let others: Vec<Measure> = others.collect();
        let samples = others.iter().chain([measure]).filter_map(|measure| self.sample(here, measure));
        let samples: Vec<Sample> = samples.collect();
        let is_mixed = samples.iter().any(|one| samples.iter().any(|two| one.is_mixed_with(two)));
        if !is_mixed && samples.iter().any(Sample::hangs_on_order) {
            return why;
        }
        if !matches!(
            self.parts(here, expect, measure, true).map(all_of),
            Ok(Finding::Confirmed(_) | Finding::Contradicted(_))
        ) {
            return why;
        }
        let differences = || {
            let value = self.sample(here, measure)?;
            let times = expect.times.unwrap_or(1.0);
            let paired = others.iter().filter(|other| other.case == measure.case);
            let samples = paired.filter_map(|other| value.differences(times, &self.sample(here, other)?));
            more_repeats::advice(
                "the difference is the same in every repeat, and ",
                &samples.collect::<Vec<_>>(),
            )
        };
        more_repeats::advice("", &samples).or_else(differences).unwrap_or(why)
    }

    /// A measure of an expectation. What the setting makes so is no chance, however few repeats show it.
    fn settled(self, here: &CaseData, measure: &Measure, by_construction: bool) -> Result<Sample, String> {
        Ok(Sample { by_construction, ..self.found(here, measure)? })
    }

    /// Every comparison that an expectation asks for.
    fn parts(
        self,
        here: &CaseData,
        expect: &Expect,
        measure: &Measure,
        by_construction: bool,
    ) -> Result<Vec<Finding>, String> {
        let value = self.settled(here, measure, by_construction)?;
        let times = expect.times.unwrap_or(1.0);
        let mut parts = Vec::new();
        // The difference to a bound that is a number or another measure.
        let against = |bound: &Value| -> Result<(Difference, f64), String> {
            let (other, are_paired) = match bound {
                Value::String(text) => {
                    let other: Measure = text.parse().map_err(|_| format!("`{text}` is no measure"))?;
                    let sample = self.settled(here, &other, by_construction)?;
                    something(&value, &sample)?;
                    (sample, measure.case == other.case)
                }
                number => {
                    let number =
                        number.as_float().or_else(|| number.as_integer().map(|number| number as f64));
                    let number = number.ok_or_else(|| format!("`{bound}` is no number"))?;
                    (Sample { values: vec![number], exact: true, ..Sample::default() }, false)
                }
            };
            let rounding = ROUNDING * f64::max(greatest(&value), times.abs() * greatest(&other));
            Ok((self.less(&value, times, &other, are_paired, Level::NinetyFive), rounding))
        };
        let mut bound = |value: &Option<Value>, holds: fn(f64, f64) -> bool| -> Result<(), String> {
            let Some(value) = value else { return Ok(()) };
            let (difference, rounding) = against(value)?;
            parts.push(difference.is(|difference| holds(difference, rounding)));
            Ok(())
        };
        bound(&expect.at_least, |difference, rounding| difference >= -rounding)?;
        bound(&expect.at_most, |difference, rounding| difference <= rounding)?;
        bound(&expect.more_than, |difference, rounding| difference > rounding)?;
        bound(&expect.less_than, |difference, rounding| difference < -rounding)?;
        if let Some(about) = expect.about_number() {
            let within = about.abs() * expect.within.map_or(0.2, |share| share.0) * (1.0 + ROUNDING);
            let nothing = Sample { values: vec![0.0], exact: true, ..Sample::default() };
            let found = self.less(&value, 1.0, &nothing, false, Level::NinetyFive);
            parts.push(found.is_within(about - within, about + within));
        }
        if let Some(text) = &expect.same_as {
            let other: Measure = text.parse().map_err(|_| format!("`{text}` is no measure"))?;
            let sample = self.settled(here, &other, by_construction)?;
            something(&value, &sample)?;
            let part = expect.margin.map_or(0.05, |share| share.0) + ROUNDING;
            let difference = self.less(&value, times, &sample, measure.case == other.case, Level::Ninety);
            parts.push(difference.is_within_part(part, sample.mean() * times));
        }
        parts.extend(self.links(here, expect, measure, &value, by_construction)?);
        Ok(parts)
    }

    /// Every link of the chains that an expectation asks for, from its value on.
    fn links(
        self,
        here: &CaseData,
        expect: &Expect,
        measure: &Measure,
        value: &Sample,
        by_construction: bool,
    ) -> Result<Vec<Finding>, String> {
        let mut links = Vec::new();
        for (chain, holds) in [
            (&expect.falls, (|difference, rounding| difference > rounding) as fn(f64, f64) -> bool),
            (&expect.rises, |difference, rounding| difference < -rounding),
        ] {
            let (mut before, mut case) = (value.clone(), measure.case.clone());
            for text in chain {
                let next: Measure = text.parse().map_err(|_| format!("`{text}` is no measure"))?;
                let sample = self.settled(here, &next, by_construction)?;
                let rounding = ROUNDING * f64::max(greatest(&before), greatest(&sample));
                let difference = self.less(&before, 1.0, &sample, case == next.case, Level::NinetyFive);
                links.push(match something(&before, &sample) {
                    Ok(()) => difference.is(|difference| holds(difference, rounding)),
                    Err(why) => Finding::Unknown(why),
                });
                (before, case) = (sample, next.case);
            }
        }
        Ok(links)
    }

    /// Where a difference lies. A number of the file has no repeats and no doubt.
    fn less(self, value: &Sample, times: f64, other: &Sample, paired: bool, level: Level) -> Difference {
        if let Some(by_order) = value.by_order(times, other) {
            return Difference::in_orders(by_order, value.by_construction || other.by_construction, level);
        }
        if value.is_mixed_with(other) {
            return Difference::mixed(value, times, other, level);
        }
        if other.exact && other.values.len() == 1 && !value.exact {
            let bound = times * other.values.first().copied().unwrap_or_default();
            let moved =
                |interval: Interval| Interval { low: interval.low - bound, high: interval.high - bound };
            return Difference::Lies(value.interval(level).map(moved));
        }
        Difference::Lies(value.less(times, other, paired, level))
    }

    /// The interval that decides where a measure is held against so many times another; nothing where both
    /// are exact, and where repeats leave open how far it reaches to either side.
    pub(super) fn difference(
        self,
        here: &CaseData,
        [measure, other]: [&str; 2],
        times: f64,
        level: Level,
        by_construction: bool,
    ) -> Option<DecidingInterval> {
        let (measure, other): (Measure, Measure) = (measure.parse().ok()?, other.parse().ok()?);
        let sample = |measure| Some(Sample { by_construction, ..self.sample(here, measure)? });
        let (value, held_against) = (sample(&measure)?, sample(&other)?);
        let is_paired = measure.case == other.case;
        let interval = self.less(&value, times, &held_against, is_paired, level).interval()?;
        // What arithmetic leaves of exact numbers is no width.
        let rounding = ROUNDING * f64::max(greatest(&value), times.abs() * greatest(&held_against));
        let has_end = interval.high - interval.low > rounding
            && (interval.low.is_finite() || interval.high.is_finite());
        let has_enough = |sample: &Sample| sample.hangs_on_order() || sample.has_enough();
        has_end.then(|| DecidingInterval {
            interval,
            is_around_the_mean: has_enough(&value) && has_enough(&held_against),
        })
    }

    /// What is expected, in words, with what was measured of what it is held against.
    pub(super) fn words(self, here: &CaseData, expect: &Expect, unit: &str) -> String {
        let times = expect.times.unwrap_or(1.0);
        let compared = |pair: [&str; 2], times: f64, level: Level| {
            let [_, text] = pair;
            let sample = text.parse().ok().and_then(|other: Measure| self.sample(here, &other));
            let found = sample.map(|sample| format!(" = {}", with_unit(sample.mean() * times, unit)));
            let by_construction = expect.by_construction.is_some();
            let difference = self.difference(here, pair, times, level, by_construction);
            let difference = difference.and_then(|found| found.words(unit));
            let difference = difference.map(|words| format!(" (the difference {words})"));
            format!("{text}{}{}", found.unwrap_or_default(), difference.unwrap_or_default())
        };
        let measured = |text: &str, level: Level| {
            let factor = if (times - 1.0).abs() < 1e-9 { String::new() } else { format!("{times} × ") };
            format!("{factor}{}", compared([expect.value.as_str(), text], times, level))
        };
        let bound = |value: &Value| match value {
            Value::String(text) => measured(text, Level::NinetyFive),
            Value::Integer(number) => exact(*number as f64 * times, unit),
            Value::Float(number) => exact(number * times, unit),
            other => written(other),
        };
        let mut words = Vec::new();
        for (word, value) in [
            ("at least", &expect.at_least),
            ("at most", &expect.at_most),
            ("more than", &expect.more_than),
            ("less than", &expect.less_than),
        ] {
            words.extend(value.as_ref().map(|value| format!("{word} {}", bound(value))));
        }
        if let Some(about) = expect.about_number() {
            let part = expect.within.map_or(0.2, |share| share.0);
            words.push(format!("{} within {}", exact(about, unit), percent(part)));
        }
        if let Some(text) = &expect.same_as {
            let margin = percent(expect.margin.map_or(0.05, |share| share.0));
            words.push(format!("{} within {margin} either way", measured(text, Level::Ninety)));
        }
        for (word, chain) in [("falling", &expect.falls), ("rising", &expect.rises)] {
            // Each is held against the one before.
            let before = std::iter::once(&expect.value).chain(chain);
            let pairs = before.zip(chain).map(|(before, text)| [before.as_str(), text.as_str()]);
            let numbers: Vec<String> = pairs.map(|pair| compared(pair, 1.0, Level::NinetyFive)).collect();
            if !numbers.is_empty() {
                words.push(format!("{word} strictly to {}", numbers.join(", ")));
            }
        }
        words.join(" and ")
    }
}

/// The interval by which a difference is judged.
#[derive(Debug, Clone, Copy)]
pub(super) struct DecidingInterval {
    interval: Interval,
    /// Where repeats are too few it reaches as far as others might, which is no width around what was found.
    is_around_the_mean: bool,
}

impl DecidingInterval {
    /// Its ends, where it has them.
    pub(super) fn ends(self) -> [Option<f64>; 2] {
        let Interval { low, high } = self.interval;
        [low, high].map(|end| end.is_finite().then_some(end))
    }

    /// As in "the difference …".
    fn words(self, unit: &str) -> Option<String> {
        Some(match self.ends() {
            [Some(low), Some(high)] if self.is_around_the_mean => {
                format!("is {}", difference_words(low, high, unit))
            }
            [Some(low), Some(high)] => {
                let written = apart(low, high, unit);
                format!("is between {} and {}", written(low), written(high))
            }
            [Some(low), None] => format!("is {} or more", with_unit(low, unit)),
            [None, Some(high)] => format!("is {} or less", with_unit(high, unit)),
            [None, None] => return None,
        })
    }
}

fn it_was(count: usize) -> &'static str {
    if count == 1 { "it was" } else { "they were" }
}

/// The greatest of a sample, by its size.
fn greatest(sample: &Sample) -> f64 {
    sample.all().fold(0.0, |most, value| f64::max(most, value.abs()))
}

/// Nothing is as much as nothing, whatever was done.
fn something(value: &Sample, other: &Sample) -> Result<(), String> {
    let is_nothing = |sample: &Sample| sample.all().all(|value| value == 0.0);
    match is_nothing(value) && is_nothing(other) {
        true => Err("both are 0 in every repeat, which says nothing of one against the other".to_owned()),
        false => Ok(()),
    }
}

/// A part in percent with all of its digits.
fn percent(part: f64) -> String {
    format!("{} %", (part * 1e8).round() / 1e6)
}

/// A bound as the file has it, for when it could not be measured.
fn written(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_margin_is_not_written_as_none() {
        assert_eq!([0.0001, 0.05, 0.125, 0.07].map(percent), ["0.01 %", "5 %", "12.5 %", "7 %"]);
    }
}
