//! The values of ranges, and how many cases they may come to.

use toml::Value;

/// More combinations than this are a slip of the pen, or do not fit in memory: the plans and results of all
/// of them are there at once.
pub(super) const MAX_CASES: usize = 100_000;

/// A number of a range as a file would have it, with its unit.
pub(super) fn ranged(number: f64, unit: &str) -> Value {
    let rounded = (number * 1e9).round() / 1e9;
    if !unit.is_empty() {
        Value::String(format!("{rounded}{unit}"))
    } else if rounded.fract() == 0.0 && rounded.abs() < 1e15 {
        Value::Integer(rounded as i64)
    } else {
        Value::Float(rounded)
    }
}
