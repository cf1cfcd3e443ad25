//! Samples of ranges: cases that are drawn instead of every combination.

use packet::random::Random;
use toml::Value;

use super::ranged::{MAX_CASES, ranged};
use crate::experiment::model::{File, Sweep};
use crate::experiment::read::findings::Finding;

/// The stream of an experiment's randomness that samples are drawn from.
const SAMPLES: u64 = 0x7361_6d70;

/// How values are drawn.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Method {
    /// Each value from another part of the range.
    LatinHypercube,
    /// Each value from all of the range.
    Random,
}

const METHODS: [(&str, Method); 2] =
    [("latin-hypercube", Method::LatinHypercube), ("random", Method::Random)];

/// The values of each sweep that is drawn, by its place in the file; as many of each.
pub(super) fn drawn(file: &File, findings: &mut Vec<Finding>) -> Vec<(usize, Vec<Value>)> {
    let sweeps: Vec<(usize, &Sweep)> =
        file.sweep.iter().enumerate().filter(|(_, sweep)| sweep.sample.is_some()).collect();
    let Some((first, method)) = sweeps.first().and_then(|(at, sweep)| Some((at, sweep.sample.as_deref()?)))
    else {
        return Vec::new();
    };
    let mut wrong = |key: String, message: String| {
        findings.push(Finding { key, message, ..Finding::default() });
    };
    let Some((_, method)) = METHODS.into_iter().find(|(word, _)| *word == method) else {
        let message = format!("`{method}` is no way to draw; there are latin-hypercube and random");
        wrong(format!("sweep.{first}.sample"), message);
        return Vec::new();
    };
    let Some(cases) = sweeps.iter().find_map(|(_, sweep)| sweep.cases) else {
        let message = "how many `cases` are drawn must be said in one of the sweeps with `sample`";
        wrong(format!("sweep.{first}"), message.to_owned());
        return Vec::new();
    };
    if cases == 0 || cases as usize > MAX_CASES {
        wrong(format!("sweep.{first}.cases"), format!("it is a number from 1 to {MAX_CASES}"));
        return Vec::new();
    }
    let mut all = Vec::new();
    for (at, sweep) in &sweeps {
        let is_same = |other: &(&str, Method)| Some(other.0) == sweep.sample.as_deref() && other.1 == method;
        if !METHODS.iter().any(is_same) {
            wrong(format!("sweep.{at}.sample"), "all sweeps with `sample` draw the same way".to_owned());
        }
        if sweep.cases.is_some_and(|other| other != cases) {
            wrong(format!("sweep.{at}.cases"), format!("another sweep says {cases}"));
        }
        // A stream for each key: another sweep does not shift the values of this one. `keys::key` multiplies
        // behind the byte and not before it: to do the same here would draw other cases from the same seed.
        let stream =
            sweep.key.bytes().fold(SAMPLES, |sum, byte| sum.wrapping_mul(0x0100_0000_01b3) ^ u64::from(byte));
        let mut random = Random::derive(file.seed.unwrap_or(1), stream);
        match of_range(sweep, method, cases, &mut random) {
            Ok(values) => all.push((*at, values)),
            Err(message) => wrong(format!("sweep.{at}"), message.to_owned()),
        }
    }
    all
}

/// So many values of a range.
fn of_range(
    sweep: &Sweep,
    method: Method,
    cases: u32,
    random: &mut Random,
) -> Result<Vec<Value>, &'static str> {
    let (Some(from), Some(to), None, None) = (sweep.from, sweep.to, sweep.step, &sweep.values) else {
        return Err("a sweep with `sample` has `from` and `to`, and neither `values` nor `step`");
    };
    if !(from.is_finite() && to.is_finite() && from < to) {
        return Err("`from` must be less than `to`");
    }
    let is_logarithmic = sweep.logarithmic.unwrap_or(false);
    if is_logarithmic && from <= 0.0 {
        return Err("with `logarithmic`, `from` must be above 0");
    }
    let mut parts: Vec<u32> = (0..cases).collect();
    for place in (1..parts.len()).rev() {
        parts.swap(place, random.below(place as u64 + 1) as usize);
    }
    let number = |part: u32| {
        let part = match method {
            Method::LatinHypercube => (f64::from(part) + random.unit()) / f64::from(cases),
            Method::Random => random.unit(),
        };
        let number = if is_logarithmic {
            // Computed the same on every machine, so that a run goes on with the same cases elsewhere.
            from * libm::pow(to / from, part)
        } else {
            from + (to - from) * part
        };
        if sweep.whole.unwrap_or(false) { number.round() } else { five_digits(number) }
    };
    let unit = sweep.unit.as_deref().unwrap_or("");
    Ok(parts.into_iter().map(number).map(|number| ranged(number, unit)).collect())
}

/// The number with five digits that count, so that names of cases can be read.
fn five_digits(number: f64) -> f64 {
    format!("{number:.4e}").parse().unwrap_or(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draw(sweeps: &str) -> (Vec<Vec<f64>>, Vec<String>) {
        let file: File = toml::from_str(&format!("title = 't'\nduration = '9 s'\n{sweeps}")).unwrap();
        let mut findings = Vec::new();
        let number = |value: Value| match value {
            Value::Integer(number) => number as f64,
            Value::Float(number) => number,
            other => other.as_str().unwrap().split(' ').next().unwrap().parse().unwrap(),
        };
        let all = drawn(&file, &mut findings);
        let all = all.into_iter().map(|(_, values)| values.into_iter().map(number).collect()).collect();
        let wrong = findings.into_iter().map(|finding| format!("{}: {}", finding.key, finding.message));
        (all, wrong.collect())
    }

    const TWO: &str = "[[sweep]]\nkey = 'a.b'\nfrom = 10\nto = 30\nsample = 'latin-hypercube'\ncases = 20\n\
                       [[sweep]]\nkey = 'c.d'\nfrom = 1\nto = 10000\nunit = ' kB'\nlogarithmic = true\nsample = 'latin-hypercube'\n";

    #[test]
    fn a_latin_hypercube_has_one_value_in_each_part_of_every_range() {
        let (all, wrong) = draw(TWO);
        assert!(wrong.is_empty(), "{wrong:?}");
        let parts = |values: &[f64], part: &dyn Fn(f64) -> f64| {
            let mut parts: Vec<i64> = values.iter().map(|value| part(*value).floor() as i64).collect();
            parts.sort_unstable();
            parts
        };
        assert_eq!(parts(&all[0], &|value| value - 10.0), (0..20).collect::<Vec<i64>>());
        assert_eq!(parts(&all[1], &|value| value.log10() / 4.0 * 20.0), (0..20).collect::<Vec<i64>>());
        assert_ne!(all[0].iter().map(|value| value - 10.0).map(f64::floor).collect::<Vec<_>>(), {
            let mut sorted = all[0].iter().map(|value| (value - 10.0).floor()).collect::<Vec<_>>();
            sorted.sort_by(f64::total_cmp);
            sorted
        });
    }

    #[test]
    fn the_seed_alone_decides_and_another_sweep_shifts_nothing() {
        assert_eq!(draw(TWO).0, draw(TWO).0);
        assert_ne!(draw(TWO).0, draw(&format!("seed = 2\n{TWO}")).0);
        let alone = TWO.split("[[sweep]]").nth(1).map(|text| format!("[[sweep]]{text}")).unwrap();
        assert_eq!(draw(&alone).0[0], draw(TWO).0[0]);
    }

    #[test]
    fn random_samples_spread_over_the_range_and_whole_ones_are_whole() {
        let text =
            "[[sweep]]\nkey = 'a.b'\nfrom = 0\nto = 1000\nwhole = true\nsample = 'random'\ncases = 2000\n";
        let values = draw(text).0.remove(0);
        assert!(values.iter().all(|value| value.fract() == 0.0));
        let mean = values.iter().sum::<f64>() / 2000.0;
        assert!((mean - 500.0).abs() < 25.0, "{mean}");
        let mut once = values.iter().map(|value| *value as i64 / 100).collect::<Vec<_>>();
        once.sort_unstable();
        once.dedup();
        assert!(once.len() >= 10);
    }

    #[test]
    fn what_cannot_be_drawn_is_said_at_its_sweep() {
        let one = |more: &str| draw(&format!("[[sweep]]\nkey = 'a.b'\n{more}\n")).1;
        for (more, expected) in [
            ("sample = 'sobol'\nfrom = 1\nto = 2\ncases = 3", "sweep.0.sample: `sobol` is no way to draw"),
            ("sample = 'random'\nfrom = 1\nto = 2", "sweep.0: how many `cases` are drawn must be said"),
            ("sample = 'random'\nfrom = 1\nto = 2\ncases = 0", "sweep.0.cases: it is a number from 1 to"),
            (
                "sample = 'random'\nvalues = [1, 2]\ncases = 3",
                "sweep.0: a sweep with `sample` has `from` and `to`",
            ),
            ("sample = 'random'\nfrom = 2\nto = 2\ncases = 3", "sweep.0: `from` must be less than `to`"),
            (
                "sample = 'random'\nfrom = 0\nto = 2\nlogarithmic = true\ncases = 3",
                "sweep.0: with `logarithmic`",
            ),
        ] {
            let wrong = one(more);
            assert!(wrong.len() == 1 && wrong[0].starts_with(expected), "{more}: {wrong:?}");
        }
        let both = TWO.replacen("latin-hypercube", "random", 1);
        assert_eq!(draw(&both).1, ["sweep.1.sample: all sweeps with `sample` draw the same way"]);
    }
}
