//! Parameter sweeps: every combination of the values that keys are to take.

use std::collections::BTreeMap;

use toml::{Table, Value};

use super::Failure;

/// One combination: keys and their values, in the order of the keys.
pub(super) type Point = Vec<(String, Value)>;

/// All combinations, the last key running fastest. Without keys there is one, of nothing.
pub(super) fn points(sweep: &BTreeMap<String, Vec<Value>>) -> Result<Vec<Point>, Failure> {
    let mut points: Vec<Point> = vec![Vec::new()];
    for (key, values) in sweep {
        if values.is_empty() {
            return Err(format!("sweep.{key:?} has no values").into());
        }
        let longer = |point: &Point| {
            let point = point.clone();
            values.iter().map(move |value| {
                let mut longer = point.clone();
                longer.push((key.clone(), value.clone()));
                longer
            })
        };
        points = points.iter().flat_map(longer).collect();
        if points.len() > 100_000 {
            return Err("the sweep has more than 100,000 combinations".into());
        }
    }
    Ok(points)
}

/// Sets the keys of a point in a scenario. A number in a key is a place in a list, counted from 0.
pub(super) fn apply(scenario: &mut Table, point: &Point) -> Result<(), Failure> {
    for (key, value) in point {
        set(scenario, key, value)?;
    }
    Ok(())
}

fn set(table: &mut Table, key: &str, value: &Value) -> Result<(), Failure> {
    let (path, last) = key.rsplit_once('.').unwrap_or(("", key));
    let mut here = table;
    let mut steps = path.split('.').filter(|step| !step.is_empty()).peekable();
    while let Some(step) = steps.next() {
        let inside = here.entry(step).or_insert_with(|| Value::Table(Table::new()));
        here = match inside {
            Value::Table(table) => table,
            Value::Array(list) => {
                let place: Option<usize> = steps.next().and_then(|place| place.parse().ok());
                match place.and_then(|place| list.get_mut(place)) {
                    Some(Value::Table(table)) => table,
                    _ => return Err(format!("sweep: {key:?}: {step} has no entry of that number").into()),
                }
            }
            _ => return Err(format!("sweep: {key:?}: {step} is a value and has nothing inside").into()),
        };
    }
    here.insert(last.to_owned(), value.clone());
    Ok(())
}

/// How a point is shown: `link.rate=10 Mbps`.
pub(super) fn show(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_take_all_combinations_of_their_values() -> Result<(), Failure> {
        let text = "[sweep]\n\"link.rate\" = [\"1 Mbps\", \"2 Mbps\"]\n\"consumer.0.window\" = [1, 2, 3]\n";
        let table: Table = text.parse()?;
        let sweep: BTreeMap<String, Vec<Value>> = table["sweep"].clone().try_into()?;
        let points = points(&sweep)?;
        assert_eq!(points.len(), 6);
        let mut scenario: Table = "[[consumer]]\nwindow = 9\n".parse()?;
        apply(&mut scenario, &points[3])?;
        // Keys in order: the consumer's window runs slower than the link's rate.
        assert_eq!(scenario["consumer"][0]["window"].as_integer(), Some(2));
        assert_eq!(scenario["link"]["rate"].as_str(), Some("2 Mbps"));
        Ok(())
    }

    #[test]
    fn a_key_that_leads_nowhere_is_refused() -> Result<(), Failure> {
        let mut scenario: Table = "seed = 1\n[[consumer]]\nwindow = 9\n".parse()?;
        for key in ["consumer.1.window", "seed.x", "consumer.window"] {
            assert!(apply(&mut scenario, &vec![(key.to_owned(), Value::Integer(1))]).is_err(), "{key}");
        }
        Ok(())
    }
}
