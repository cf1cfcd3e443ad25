//! Cases that are called alike, and values of a sweep that are one value or change no packet.

use std::collections::{BTreeMap, BTreeSet};

use toml::Value;

use crate::experiment::cases::Variant;
use crate::experiment::model::File;
use crate::experiment::plan::{EvaluationPlan, NodePlan, Plan, RecordingPlan, SchedulePlan, TracePlan};
use crate::experiment::read::findings::Finding;

/// Of more cases than these nobody looks whether two are one.
const MAX_COMPARED: usize = 1000;

/// Cases whose names differ in blanks or capitals only: a reader takes them for one name.
pub(super) fn names(variants: &[Variant]) -> Vec<Finding> {
    let mut seen: BTreeMap<String, &str> = BTreeMap::new();
    let mut findings = Vec::new();
    for variant in variants {
        let plain = variant.name.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
        let Some(other) = seen.insert(plain, &variant.name) else { continue };
        findings.push(Finding {
            key: variant.key.clone(),
            message: format!(
                "the cases \"{other}\" and \"{}\" differ in blanks or capitals only",
                variant.name
            ),
            suggestion: Some("give one another name".to_owned()),
            ..Finding::default()
        });
    }
    findings
}

/// Values of sweeps by which no packet differs from those of another value, in whichever case.
pub(super) fn values(file: &File, variants: &[Variant], plans: &[Plan]) -> Vec<Finding> {
    if file.sweep.is_empty()
        || file.sweep.iter().any(|sweep| sweep.sample.is_some())
        || variants.len() > MAX_COMPARED
    {
        return Vec::new();
    }
    let is_case = |plan: &&Plan| plan.control.is_none();
    let packets: BTreeMap<&str, Plan> =
        plans.iter().filter(is_case).map(|plan| (plan.case.as_str(), what_happens(plan))).collect();
    let before = variants.first().map_or(0, |variant| variant.factors.len().saturating_sub(file.sweep.len()));
    let mut findings = Vec::new();
    for (number, sweep) in file.sweep.iter().enumerate() {
        // By all that else tells a case from others: the values, with what happens.
        let mut groups: BTreeMap<String, Vec<(&Value, &Plan)>> = BTreeMap::new();
        for variant in variants {
            let mut others = variant.factors.clone();
            let (Some(packets), Some((_, value))) =
                (packets.get(variant.name.as_str()), variant.factors.get(before + number))
            else {
                continue;
            };
            others.remove(before + number);
            groups.entry(format!("{others:?}")).or_default().push((value, packets));
        }
        let pairs: Vec<BTreeSet<(usize, usize)>> = groups.values().map(|group| alike(group)).collect();
        let everywhere = pairs.iter().cloned().reduce(|all, more| all.intersection(&more).copied().collect());
        let Some((group, (one, two))) =
            groups.values().next().zip(everywhere.and_then(|mut all| all.pop_first()))
        else {
            continue;
        };
        let value = |place: usize| group.get(place).map_or_else(String::new, |(value, _)| value.to_string());
        findings.push(Finding {
            key: format!("sweep.{number}.key"),
            message: format!(
                "no packet differs between {} = {} and {}: they are one case",
                sweep.key,
                value(one),
                value(two)
            ),
            suggestion: Some("sweep over a key by which what happens is another, each value once".to_owned()),
            ..Finding::default()
        });
    }
    findings
}

/// The places of those of which the same happens as in an earlier one, with that.
fn alike(group: &[(&Value, &Plan)]) -> BTreeSet<(usize, usize)> {
    let first = |packets: &Plan| group.iter().position(|(_, other)| *other == packets);
    let places = group.iter().enumerate().filter_map(|(place, (_, packets))| Some((first(packets)?, place)));
    places.filter(|(earlier, place)| earlier != place).collect()
}

/// All of a plan that a packet can depend on.
fn what_happens(plan: &Plan) -> Plan {
    let Plan { evaluation, recording, schedule, .. } = plan;
    let mut evaluation = EvaluationPlan {
        window: Default::default(),
        prefixes: Vec::new(),
        expectations: Vec::new(),
        elsewhere: Vec::new(),
        gates: evaluation.gates.clone(),
    };
    evaluation.gates.forget();
    Plan {
        title: String::new(),
        case: String::new(),
        scaling: None,
        schedule: SchedulePlan { repeats: 1, ..*schedule },
        recording: RecordingPlan {
            trace: TracePlan::default(),
            is_sampling_stated: true,
            ..recording.clone()
        },
        evaluation,
        nodes: plan.nodes.iter().map(|node| NodePlan { watch: None, ..node.clone() }).collect(),
        ..plan.clone()
    }
}

#[cfg(test)]
mod tests {
    use crate::experiment::Experiment;

    fn told(rest: &str) -> String {
        let text = format!(
            "title = 't'\nduration = '9 s'\n[node]\na = {{}}\nb = {{}}\n[link]\na-b = {{ delay = '1 ms' }}\n[content.c]\n\
             prefix = '/c'\nat = 'b'\nsize = '1 kB'\n[download.d]\nat = 'a'\ncontent = 'c'\n[[route]]\n\
             prefix = '/c'\npath = ['a', 'b']\n[[expect]]\nsay = 'S'\nvalue = 'd.duration'\nless_than = 2\n{rest}"
        );
        Experiment::parse("t", "t.toml", &text).map_or_else(|wrong| wrong.to_string(), |_| String::new())
    }

    #[test]
    fn names_of_cases_that_differ_in_blanks_only_are_one_name() {
        let cases = |name: &str| {
            let set = "set = { 'link.*.delay' = '2 ms' }";
            told(&format!("[[case]]\nname = 'x y'\n[[case]]\nname = '{name}'\n{set}\n"))
        };
        for name in [" x y", "x  y", "x y "] {
            assert!(cases(name).contains("differ in blanks or capitals only"), "{}", cases(name));
        }
        assert_eq!(cases("xy"), "");
    }

    #[test]
    fn a_sweep_over_what_changes_no_packet_or_over_one_value_in_two_units_is_a_mistake() {
        let sweep =
            |key: &str, values: &str| told(&format!("[[sweep]]\nkey = '{key}'\nvalues = [{values}]\n"));
        for (key, values) in [
            ("title", "'one', 'two'"),
            ("gates", "{ steal = '5 %' }, { steal = '6 %' }"),
            ("repeats", "5, 6"),
            ("link.*.delay", "'1 ms', '2 ms', '1000 us'"),
            ("link.*.loss", "'0.5 %', '0.50 %'"),
        ] {
            assert!(
                sweep(key, values).contains("no packet differs between"),
                "{key}: {}",
                sweep(key, values)
            );
        }
        assert_eq!(sweep("link.*.delay", "'1 ms', '2 ms'"), "");
        assert_eq!(sweep("seed", "1, 2"), "");
        // What changes nothing for one kind of case may change another.
        let cases = "[[case]]\nname = 'few'\nset = { 'download.d.controller' = 'fixed' }\n[[case]]\nname = 'many'\n\
                     set = { 'download.d.controller' = 'pcon' }\n";
        let both = told(&format!("{cases}[[sweep]]\nkey = 'link.*.delay'\nvalues = ['1 ms', '2 ms']\n"));
        assert_eq!(both, "");
    }
}
