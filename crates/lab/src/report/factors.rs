//! What a sweep varies, as columns of its own: numbers as numbers, with their unit in the column's name.

use std::collections::{HashMap, HashSet};

use toml::Value;

use super::data::{CaseData, RunData};
use crate::figure::Data;

/// The values that cases have of a factor, in the order of the cases.
pub(super) enum Factor {
    /// Numbers of one unit, which the label names.
    Numbers(Vec<f64>),
    /// Anything else.
    Words(Vec<String>),
}

/// Each factor with the label of its column, and what the cases of a run have of it.
pub(super) fn of_cases(run: &RunData) -> Vec<(String, Factor)> {
    let factors = run.experiment.factors(&run.record.backend);
    let of_case: HashMap<&str, &[(String, Value)]> =
        factors.iter().map(|(name, factors)| (name.as_str(), factors.as_slice())).collect();
    let (mut labels, mut seen): (Vec<&str>, HashSet<&str>) = Default::default();
    for (label, _) in factors.iter().flat_map(|(_, factors)| factors) {
        if seen.insert(label) {
            labels.push(label);
        }
    }
    let column = |label: &str| {
        let value = |case: &CaseData| {
            let list = of_case.get(case.plan.case.as_str()).copied().unwrap_or_default();
            list.iter().find(|(other, _)| other == label).map(|(_, value)| word(value))
        };
        let words: Vec<String> = run.cases.iter().map(|case| value(case).unwrap_or_default()).collect();
        match numbers(&words) {
            Some(("", numbers)) => (label.to_owned(), Factor::Numbers(numbers)),
            Some((unit, numbers)) => (format!("{label} ({unit})"), Factor::Numbers(numbers)),
            None => (label.to_owned(), Factor::Words(words)),
        }
    };
    labels.into_iter().map(column).collect()
}

/// The table with a column for each factor; `places` are the places of the rows' cases among all.
pub(super) fn add(varied: &[(String, Factor)], places: &[usize], data: Data) -> Data {
    varied.iter().fold(data, |data, (label, factor)| match factor {
        Factor::Numbers(list) => {
            let of = |place: &usize| list.get(*place).copied().unwrap_or(f64::NAN);
            data.numbers(label, places.iter().map(of).collect())
        }
        Factor::Words(list) => {
            let of = |place: &usize| list.get(*place).cloned().unwrap_or_default();
            data.words(label, places.iter().map(of).collect())
        }
    })
}

pub(super) fn word(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The words as numbers of one unit, if they are.
pub(super) fn numbers(words: &[String]) -> Option<(&str, Vec<f64>)> {
    let parts = words.iter().map(|word| parted(word)).collect::<Option<Vec<_>>>()?;
    let unit = parts.first()?.1;
    let numbers = parts.iter().map(|(number, _)| *number).collect();
    parts.iter().all(|(_, other)| *other == unit).then_some((unit, numbers))
}

/// A number and its unit: `25 %`, `1.5`, `10 Mbit/s`. No word is a number because it begins with one.
fn parted(word: &str) -> Option<(f64, &str)> {
    let is_of_number = |letter: char| letter.is_ascii_digit() || matches!(letter, '.' | '_' | '-' | '+');
    let end = word.find(|letter| !is_of_number(letter)).unwrap_or(word.len());
    let (number, unit) = word.split_at_checked(end)?;
    let unit = unit.trim();
    let is_unit = unit.chars().all(|letter| letter.is_alphabetic() || matches!(letter, '%' | '/'));
    let number = number.replace('_', "").parse::<f64>().ok()?;
    is_unit.then_some((number, unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_with_one_unit_are_numbers_and_others_are_words() {
        let list = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        assert_eq!(numbers(&list(&["10 Mbit/s", "2.5 Mbit/s"])), Some(("Mbit/s", vec![10.0, 2.5])));
        assert_eq!(numbers(&list(&["1", "-2", "1_000"])), Some(("", vec![1.0, -2.0, 1000.0])));
        assert_eq!(numbers(&list(&["25 %"])), Some(("%", vec![25.0])));
        for words in [&["1 ms", "1 s"][..], &["lru", "sieve"], &["1 s", ""], &["2 of 3"], &[]] {
            assert_eq!(numbers(&list(words)), None, "{words:?}");
        }
    }
}
