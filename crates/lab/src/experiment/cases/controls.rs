//! Controls: cases once more, without the cause of what is expected of them.

use std::collections::BTreeSet;

use toml::Value;

use super::{Variant, apply_all};
use crate::experiment::measure::Measure;
use crate::experiment::model::{Control, Expect, File};
use crate::experiment::plan::{ControlPlan, Plan};
use crate::experiment::problem::suggest;
use crate::experiment::read::findings::Finding;
use crate::experiment::reference::earlier::key_of_today;

impl Expect {
    /// The measures it is held against, with their keys.
    pub(crate) fn others(&self) -> Vec<(&'static str, &str)> {
        let bounds = [
            ("at_least", &self.at_least),
            ("at_most", &self.at_most),
            ("more_than", &self.more_than),
            ("less_than", &self.less_than),
        ];
        let mut list: Vec<(&'static str, &str)> = Vec::new();
        for (key, bound) in bounds {
            if let Some(Value::String(text)) = bound {
                list.push((key, text.as_str()));
            }
        }
        list.extend(self.same_as.as_deref().map(|text| ("same_as", text)));
        list.extend(self.falls.iter().map(|text| ("falls", text.as_str())));
        list.extend(self.rises.iter().map(|text| ("rises", text.as_str())));
        list
    }

    /// The measure that it is about, and those that it is held against.
    pub(crate) fn measures(&self) -> Vec<Measure> {
        let texts = self.others().into_iter().map(|(_, text)| text).chain([self.value.as_str()]);
        texts.filter_map(|text| text.parse().ok()).collect()
    }

    /// Is anything expected of the value?
    pub(crate) fn says_something(&self) -> bool {
        let bounds = [&self.at_least, &self.at_most, &self.more_than, &self.less_than];
        self.not_testable.is_some()
            || bounds.iter().any(|bound| bound.is_some())
            || self.about.is_some()
            || self.same_as.is_some()
            || !self.falls.is_empty()
            || !self.rises.is_empty()
    }

    /// The cases it names; nothing when it is about each case.
    fn cases(&self) -> Option<Vec<String>> {
        let texts = self.others().into_iter().map(|(_, text)| text).chain([self.value.as_str()]);
        texts.map(|text| text.parse::<Measure>().ok()?.case).collect()
    }
}

/// Does a key say how an experiment is looked at, and nothing of what happens in it?
fn is_about_looking(key: &str) -> bool {
    let first = key.split('.').next().unwrap_or_default();
    let last = key.rsplit('.').next().unwrap_or_default();
    matches!(
        first,
        "measure"
            | "sample_every"
            | "seed"
            | "repeats"
            | "software"
            | "title"
            | "expect"
            | "figure"
            | "trace"
    ) || matches!(last, "watch" | "capture")
}

fn looking(key: &str, set: &str) -> Finding {
    Finding {
        key: format!("{key}.set.{set}"),
        message: "a control runs the same software, as often and as long as its case, and is measured alike, so that only what happens can differ"
            .to_owned(),
        ..Finding::default()
    }
}

/// Every control of every case that it is about.
pub(in crate::experiment) fn controls(
    file: &File,
    variants: &[Variant],
) -> Result<Vec<(ControlPlan, Variant)>, Vec<Finding>> {
    let (mut list, mut findings) = (Vec::new(), Vec::new());
    for (number, control) in file.control.iter().enumerate() {
        let key = format!("control.{number}");
        if control.set.is_empty() {
            findings.push(Finding {
                key: format!("{key}.set"),
                message: "a control that changes nothing removes no cause".to_owned(),
                suggestion: Some("say in `set` what takes the cause away".to_owned()),
                ..Finding::default()
            });
        }
        if let Some(gate) = control.set.keys().find(|set| *set == "gates" || set.starts_with("gates.")) {
            findings.push(Finding {
                key: format!("{key}.set.{gate}"),
                message: "a control is held to the gates of its case, so that both are valid alike"
                    .to_owned(),
                ..Finding::default()
            });
        }
        findings.extend(control.set.keys().find(|set| is_about_looking(set)).map(|set| looking(&key, set)));
        let concerned = match concerned(file, control, &key) {
            Ok(concerned) => concerned,
            Err(finding) => {
                findings.push(finding);
                continue;
            }
        };
        let mut changes_something = control.set.is_empty();
        let is_meant =
            |variant: &&Variant| concerned.as_ref().is_none_or(|cases| cases.contains(&variant.name));
        for variant in variants.iter().filter(is_meant) {
            let (mut content, mut origins) = (variant.content.clone(), variant.origins.clone());
            let set = origins.of_set(&format!("{key}.set"));
            if let Err(more) = apply_all(&mut content, &mut origins, &control.set, &set) {
                findings.extend(more);
            }
            // Where it is about several cases, one of them may be as it sets them all.
            changes_something |= content != variant.content;
            let join = if variant.name.is_empty() { "" } else { ", " };
            let name = format!("{}{join}control {}", variant.name, control.name);
            let plan = ControlPlan {
                name: control.name.clone(),
                removes: control.removes.clone(),
                case: variant.name.clone(),
                fails: control.fails.clone(),
            };
            list.push((plan, Variant { name, content, key: key.clone(), origins, factors: Vec::new() }));
        }
        if !changes_something {
            findings.push(Finding {
                key: format!("{key}.set"),
                message: "the control sets what is so anyway, and removes no cause".to_owned(),
                ..Finding::default()
            });
        }
    }
    if findings.is_empty() { Ok(list) } else { Err(findings) }
}

/// What controls take away without saying which part of their cause that is, or do not take away though they
/// say it. One key is the cause that `removes` names; where there are several, or a whole table, one of them
/// may be another.
pub(in crate::experiment) fn unsaid(file: &File, variants: &[Variant]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (number, control) in file.control.iter().enumerate() {
        let key = format!("control.{number}");
        // A run that was made when this was allowed is still read.
        let duration = control.set.keys().find(|set| matches!(set.as_str(), "duration" | "until_done"));
        findings.extend(duration.map(|set| Finding {
            suggestion: Some("give the case as long".to_owned()),
            ..looking(&key, set)
        }));
        let Ok(concerned) = concerned(file, control, &key) else { continue };
        let meant: Vec<&Variant> = variants
            .iter()
            .filter(|variant| concerned.as_ref().is_none_or(|cases| cases.contains(&variant.name)))
            .collect();
        findings.extend(of_control(control, &key, &meant));
    }
    findings
}

fn of_control(control: &Control, key: &str, variants: &[&Variant]) -> Vec<Finding> {
    let mut findings = Vec::new();
    // What must be said of, and below which key of `set` it is.
    let mut changed: Vec<(String, &String)> = Vec::new();
    let mut has_table = false;
    for (set, value) in &control.set {
        let mut keys = BTreeSet::new();
        for variant in variants {
            let (mut content, mut origins) = (variant.content.clone(), variant.origins.clone());
            if apply_all(&mut content, &mut origins, [(set, value)], &Vec::new()).is_ok() {
                differing("", Some(&variant.content), Some(&content), &mut keys);
            }
        }
        if keys.is_empty() && control.set.len() > 1 {
            findings.push(Finding {
                key: format!("{key}.set.{set}"),
                message: "the control changes nothing by this".to_owned(),
                suggestion: Some("leave it out".to_owned()),
                ..Finding::default()
            });
        }
        if value.is_table() {
            has_table = true;
            changed.extend(keys.into_iter().map(|key| (key, set)));
        } else {
            changed.push((set.clone(), set));
        }
    }
    let is_same = |one: &str, other: &str| key_of_today(one) == key_of_today(other);
    // Each key by its own name: a table's would hide what else it holds.
    if changed.len() > 1 || has_table {
        let is_said = |key: &str| {
            let mut parts = control.parts.iter().filter(|(part, _)| is_same(part, key));
            parts.any(|(_, text)| !text.trim().is_empty())
        };
        findings.extend(changed.iter().filter(|(key, _)| !is_said(key)).map(|(changed, set)| Finding {
            key: format!("{key}.set.{set}"),
            message: format!(
                "the control changes more than one thing, and does not say which part of its cause `{changed}` is"
            ),
            suggestion: Some(format!(
                "say it below `parts`: \"{changed}\" = \"…\"; what is no part of it stays"
            )),
            ..Finding::default()
        }));
    }
    let unknown =
        control.parts.keys().filter(|part| !changed.iter().any(|(changed, _)| is_same(changed, part)));
    findings.extend(unknown.map(|part| {
        let known: Vec<&str> = changed.iter().map(|(changed, _)| changed.as_str()).collect();
        Finding {
            key: format!("{key}.parts.{part}"),
            message: format!("the control does not change `{part}`"),
            suggestion: Some(suggest(part, &known)),
            ..Finding::default()
        }
    }));
    findings
}

/// The keys whose values differ, as far down as both are tables; one that is missing is an empty one.
pub(super) fn differing(
    at: &str,
    one: Option<&toml::Table>,
    other: Option<&toml::Table>,
    keys: &mut BTreeSet<String>,
) {
    let names = one.into_iter().chain(other).flat_map(toml::Table::keys);
    let names: BTreeSet<&String> = names.collect();
    for name in names {
        let key = if at.is_empty() { name.clone() } else { format!("{at}.{name}") };
        match (one.and_then(|table| table.get(name)), other.and_then(|table| table.get(name))) {
            (one, other) if one == other => {}
            (Some(Value::Table(one)), Some(Value::Table(other))) => {
                differing(&key, Some(one), Some(other), keys);
            }
            (Some(Value::Table(one)), None) if !one.is_empty() => differing(&key, Some(one), None, keys),
            (None, Some(Value::Table(other))) if !other.is_empty() => {
                differing(&key, None, Some(other), keys);
            }
            (Some(Value::Table(_)), None) | (None, Some(Value::Table(_))) => {}
            _ => {
                keys.insert(key);
            }
        }
    }
}

/// Controls, by their keys, of which every case is as it is without them: what they set is so anyway.
pub(in crate::experiment) fn idle(cases: &[Plan], controls: &[(String, Plan)]) -> Vec<Finding> {
    let changes = |control: &Plan| {
        let of = control.control.as_ref().map_or("", |plan| plan.case.as_str());
        let case = cases.iter().find(|case| case.case == of);
        case.is_none_or(|case| Plan { case: case.case.clone(), control: None, ..control.clone() } != *case)
    };
    let mut keys: Vec<&String> = controls.iter().map(|(key, _)| key).collect();
    keys.dedup();
    let is_idle = |key: &&String| {
        controls.iter().filter(|(other, _)| other == *key).all(|(_, control)| !changes(control))
    };
    let told = |key: &String| Finding {
        key: format!("{key}.set"),
        message: "the control sets what is so anyway, and removes no cause".to_owned(),
        ..Finding::default()
    };
    keys.into_iter().filter(is_idle).map(told).collect()
}

/// The cases that the expectations of a control name; nothing when any is about each case.
pub(super) fn concerned(file: &File, control: &Control, key: &str) -> Result<Option<Vec<String>>, Finding> {
    let mut cases = Some(Vec::new());
    for name in &control.fails {
        let Some(expect) = file.expect.iter().find(|expect| expect.name.as_ref() == Some(name)) else {
            let known: Vec<&str> = file.expect.iter().filter_map(|expect| expect.name.as_deref()).collect();
            return Err(Finding {
                key: format!("{key}.fails"),
                message: format!("no expectation is called `{name}`"),
                suggestion: Some(suggest(name, &known)),
                ..Finding::default()
            });
        };
        cases = match (cases, expect.cases()) {
            (Some(mut all), Some(more)) => {
                all.extend(more);
                Some(all)
            }
            _ => None,
        };
    }
    if control.fails.is_empty() {
        let message = "a control must fail something".to_owned();
        return Err(Finding { key: format!("{key}.fails"), message, suggestion: None, ..Finding::default() });
    }
    Ok(cases)
}
