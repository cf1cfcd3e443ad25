//! What measures are counted in: two of different units are never more or less than each other.

use crate::experiment::measure::Measure;
use crate::experiment::model::Expect;
use crate::experiment::plan::Plan;
use crate::experiment::read::findings::Finding;

/// Measures that a statement holds against its value though they are counted in something else.
pub(super) fn of_expectation(plan: &Plan, expect: &Expect, key: &str) -> Vec<Finding> {
    let Some(measure) = super::decided::here(plan, &expect.value) else { return Vec::new() };
    let unit_of_value = unit(plan, &measure);
    let others =
        expect.others().into_iter().filter_map(|(field, text)| Some((field, text.parse::<Measure>().ok()?)));
    let differs = others.map(|(field, other)| (field, unit(plan, &other), other));
    let told = |(field, unit, other): (&str, &str, Measure)| Finding {
        key: format!("{key}.{field}"),
        message: format!(
            "`{measure}` is in {unit_of_value}, and `{other}` in {unit}: neither is more than the other"
        ),
        suggestion: Some("hold it against what is counted in the same".to_owned()),
        ..Finding::default()
    };
    differs.filter(|(_, unit, _)| *unit != unit_of_value).map(told).collect()
}

/// What a measure is counted in, in words.
fn unit(plan: &Plan, measure: &Measure) -> &'static str {
    match measure.unit_in(plan) {
        "%" => "percent",
        "B" => "bytes",
        "B/s" => "bytes a second",
        "1/s" => "a number a second",
        "s" => "seconds",
        "ms" => "milliseconds",
        _ if measure.quantity == "fairness" && measure.summary != "count" => "parts of 1",
        _ => "a number",
    }
}

#[cfg(test)]
mod tests {
    use crate::experiment::Experiment;

    #[test]
    fn measures_of_different_units_are_not_held_against_each_other_and_both_units_are_told() {
        let told = |value: &str, other: &str| {
            let text = format!(
                "title = 't'\nduration = '9 s'\n[node]\na = {{}}\nb = {{}}\n[link]\na-b = {{}}\n[content.c]\n\
                 prefix = '/c'\nat = 'b'\nsize = '1 kB'\n[download.d]\nat = 'a'\ncontent = 'c'\n[ping.p]\nat = 'a'\n\
                 to = 'b'\nprefix = '/c/p'\ncount = 4\n[[route]]\nprefix = '/c'\npath = ['a', 'b']\n[[expect]]\n\
                 say = 'S'\nvalue = '{value}'\nless_than = '{other}'\n"
            );
            Experiment::parse("t", "t.toml", &text).map_or_else(|wrong| wrong.to_string(), |_| String::new())
        };
        let wrong = told("d.duration", "p.rtt");
        assert!(
            wrong.contains("`d.duration.mean` is in seconds, and `p.rtt.mean` in milliseconds"),
            "{wrong}"
        );
        for (value, other, units) in [
            ("d.goodput", "b.out_data.last", "in bytes a second, and `b.out_data.last` in a number"),
            ("b.goodput.sum", "b.goodput.mean", "in bytes, and `b.goodput.mean` in bytes a second"),
            ("d.loss", "p.started", "in percent, and `p.started.mean` in a number"),
            ("a.retransmissions", "d.retransmissions", "in a number a second, and"),
        ] {
            assert!(told(value, other).contains(units), "{}", told(value, other));
        }
        for (value, other) in
            [("d.goodput", "b.goodput"), ("c.served", "b.out_data.last"), ("d.loss", "p.loss")]
        {
            assert_eq!(told(value, other), "", "{value}");
        }
    }
}
