//! One more key that an experiment is run over, said beside its file.

use toml::{Table, Value};

/// A value of a sweep that somebody has written or computed.
#[derive(Debug, Clone, PartialEq)]
pub struct SweepValue(Value);

impl SweepValue {
    /// What reads as a number or a truth value is one, and all else is text.
    #[must_use]
    pub fn written(text: &str) -> Self {
        let whole = || text.parse().ok().map(Value::Integer);
        let real = || text.parse().ok().map(Value::Float);
        let truth = || text.parse().ok().map(Value::Boolean);
        SweepValue(whole().or_else(real).or_else(truth).unwrap_or_else(|| Value::String(text.to_owned())))
    }
}

impl From<&str> for SweepValue {
    fn from(text: &str) -> Self {
        SweepValue(Value::String(text.to_owned()))
    }
}

impl From<i64> for SweepValue {
    fn from(number: i64) -> Self {
        SweepValue(Value::Integer(number))
    }
}

impl From<f64> for SweepValue {
    fn from(number: f64) -> Self {
        SweepValue(Value::Float(number))
    }
}

impl From<bool> for SweepValue {
    fn from(truth: bool) -> Self {
        SweepValue(Value::Boolean(truth))
    }
}

/// The text of an experiment with one more sweep behind all that it says. It is read and checked like any
/// other: a key that does not exist is found then, and a value that cannot be one of it.
#[must_use]
pub fn with_sweep(text: &str, key: &str, values: &[SweepValue]) -> String {
    let values = Value::Array(values.iter().map(|value| value.0.clone()).collect());
    format!("{text}\n[[sweep]]\nkey = {}\nvalues = {values}\n", Value::String(key.to_owned()))
}

/// What [`with_sweep`] has put behind the text of an experiment: the key, and its values as somebody writes
/// them. Nothing where the text ends otherwise.
pub(crate) fn added_sweep(text: &str) -> Option<(String, Vec<String>)> {
    let (_, added) = text.rsplit_once("\n[[sweep]]\n")?;
    let added: Table = added.parse().ok()?;
    let (key, values) = (added.get("key")?.as_str()?, added.get("values")?.as_array()?);
    let written = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    (added.len() == 2).then(|| (key.to_owned(), values.iter().map(written).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sweep_reads_back_whatever_stands_in_its_values() {
        let written = ["10", "0.5", "true", "10 Mbit/s", "a \"quoted\" \u{1b} word"].map(SweepValue::written);
        let text = with_sweep("title = 't'", "link.\"a-b\".rate", &written);
        let read: Table = toml::from_str(&text).unwrap();
        let sweep = &read["sweep"][0];
        assert_eq!(sweep["key"].as_str(), Some("link.\"a-b\".rate"));
        let values: Vec<SweepValue> =
            sweep["values"].as_array().unwrap().iter().cloned().map(SweepValue).collect();
        assert_eq!(values, written);
        assert_eq!(values[..3], [10.into(), 0.5.into(), true.into()]);
    }

    #[test]
    fn a_sweep_that_was_said_beside_a_file_is_found_behind_it_as_it_was_said() {
        let said = ["10", "0.5", "true", "1e-7", "10 Mbit/s", "-5 ms", "it's"];
        let text = with_sweep(
            "title = 't'\n[[sweep]]\nkey = 'a'\nvalues = [1]",
            "link.*.rate",
            &said.map(SweepValue::written),
        );
        let (key, values) = added_sweep(&text).unwrap();
        let read: Vec<SweepValue> = values.iter().map(|value| SweepValue::written(value)).collect();
        assert_eq!((key.as_str(), read), ("link.*.rate", said.map(SweepValue::written).to_vec()));
        assert_eq!((values[1].as_str(), values[4].as_str()), ("0.5", "10 Mbit/s"));
        for other in
            ["title = 't'\n", "[[sweep]]\nkey = 'a'\nvalues = [1]\n[[sweep]]\nkey = 'b'\nfrom = 1\nto = 2"]
        {
            assert_eq!(added_sweep(other), None, "{other}");
        }
    }
}
