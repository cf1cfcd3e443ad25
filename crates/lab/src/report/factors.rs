//! What a sweep varies, as columns of its own: numbers as numbers, with their unit in the column's name.

use std::collections::HashMap;

use toml::Value;

use super::data::RunData;
use crate::figure::Data;

/// The table with a column for each factor; `cases` are the names of the rows' cases.
pub(super) fn columns(run: &RunData, cases: &[&str], data: Data) -> Data {
    let factors = run.experiment.factors(&run.record.backend);
    let of_case: HashMap<&str, &[(String, Value)]> =
        factors.iter().map(|(name, factors)| (name.as_str(), factors.as_slice())).collect();
    let mut labels: Vec<&str> = Vec::new();
    for (label, _) in factors.iter().flat_map(|(_, factors)| factors) {
        if !labels.contains(&label.as_str()) {
            labels.push(label);
        }
    }
    labels.into_iter().fold(data, |data, label| {
        let value = |case: &&str| {
            let list = of_case.get(case).copied().unwrap_or_default();
            list.iter().find(|(other, _)| other == label).map(|(_, value)| word(value))
        };
        let words: Vec<String> = cases.iter().map(|case| value(case).unwrap_or_default()).collect();
        match numbers(&words) {
            Some(("", numbers)) => data.numbers(label, numbers),
            Some((unit, numbers)) => data.numbers(&format!("{label} ({unit})"), numbers),
            None => data.words(label, words),
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
