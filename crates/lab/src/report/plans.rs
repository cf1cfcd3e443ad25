//! In what two plans differ, key by key.

use serde_json::Value;

use crate::experiment::Plan;

/// What is of the report, and not of what was done: keys of the plan, and keys of its parts.
const NOT_DONE: &[&str] = &["title", "case", "control", "scaling"];
const NOT_DONE_IN_PARTS: &[(&str, &str)] =
    &[("evaluation", "expectations"), ("evaluation", "elsewhere"), ("routing", "routes")];

/// Each key that two plans have otherwise, with both values.
pub(super) fn differences(a: &Plan, b: &Plan) -> Vec<String> {
    let mut found = Vec::new();
    let value = |plan: &Plan| {
        let mut value = serde_json::to_value(plan).unwrap_or_default();
        if let Some(map) = value.as_object_mut() {
            NOT_DONE.iter().for_each(|key| drop(map.remove(*key)));
            for (part, key) in NOT_DONE_IN_PARTS {
                map.get_mut(*part).and_then(Value::as_object_mut).and_then(|part| part.remove(*key));
            }
        }
        value
    };
    walk("", &value(a), &value(b), &mut found);
    found
}

fn walk(path: &str, a: &Value, b: &Value, found: &mut Vec<String>) {
    let below = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    match (a, b) {
        _ if a == b => {}
        (Value::Object(left), Value::Object(right)) => {
            let mut keys: Vec<&String> = left.keys().chain(right.keys()).collect();
            keys.sort_unstable();
            keys.dedup();
            for key in keys {
                let of = |map: &serde_json::Map<String, Value>| map.get(key).cloned().unwrap_or_default();
                walk(&below(key), &of(left), &of(right), found);
            }
        }
        (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
            for (place, (one, other)) in left.iter().zip(right).enumerate() {
                let name = one.get("name").and_then(Value::as_str);
                let key = name.map_or_else(|| place.to_string(), str::to_owned);
                walk(&below(&key), one, other, found);
            }
        }
        (Value::Array(left), Value::Array(right)) => {
            found.push(format!("{path}: {} entries / {}", left.len(), right.len()));
        }
        _ => found.push(format!("{path}: {a} / {b}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Experiment;

    #[test]
    fn plans_differ_in_what_is_done_and_not_in_what_is_expected() {
        let plan = |head: &str, rest: &str| {
            let text = format!("title = 't'\n{head}\n{}{rest}", testkit::experiment::ROW);
            Experiment::parse("t", "t.toml", &text).unwrap().plans("netns").unwrap().remove(0)
        };
        let one = plan("duration = '9 s'", "");
        let expect = "[[expect]]\nsay = 'S'\nvalue = 'files.loss'\nat_most = 0\n";
        assert_eq!(differences(&one, &plan("duration = '9 s'", expect)), [""; 0]);
        let other = plan("duration = '8 s'\nrepeats = 2", "rate = '3/s'\n");
        let found = differences(&one, &other);
        assert!(found.contains(&"schedule.repeats: 1 / 2".to_owned()), "{found:?}");
        assert!(found.iter().any(|line| line.starts_with("workloads.files.does.Download.per_second: ")));
        assert!(found.iter().any(|line| line.starts_with("schedule.duration_ns: 9000000000 / 8000000000")));
    }
}
