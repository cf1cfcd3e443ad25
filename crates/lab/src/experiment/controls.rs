//! Controls: cases once more, without the cause of what is expected of them.

use toml::Value;

use super::cases::{Variant, apply_all};
use super::findings::Finding;
use super::measure::Measure;
use super::model::{Control, Expect, File};
use super::plan::{ControlPlan, Plan};
use super::problem::suggest;

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

    /// Is anything expected of the value?
    pub(crate) fn says_something(&self) -> bool {
        let bounds = [&self.at_least, &self.at_most, &self.more_than, &self.less_than];
        bounds.iter().any(|bound| bound.is_some())
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
    matches!(first, "measure" | "sample_every" | "seed" | "title" | "expect" | "figure" | "trace")
        || matches!(last, "watch" | "capture")
}

/// Every control of every case that it is about.
pub(super) fn controls(
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
        if let Some(about) = control.set.keys().find(|set| is_about_looking(set)) {
            findings.push(Finding {
                key: format!("{key}.set.{about}"),
                message: "a control is measured as its case is, so that only what happens can differ"
                    .to_owned(),
                ..Finding::default()
            });
        }
        findings.extend(unsaid(file, control, &key));
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
            if let Err(more) = apply_all((&mut content, &mut origins), &control.set, &set) {
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

/// What a control takes away without saying which part of its cause that is. One key is the cause that
/// `removes` names; where there are several, or a whole table, one of them may be another.
fn unsaid(file: &File, control: &Control, key: &str) -> Vec<Finding> {
    // How long a run may take at most is no cause of anything where it ends with its work.
    let is_limit = |set: &str| set == "duration" && file.until_done == Some(true);
    let set: Vec<(&String, &Value)> = control.set.iter().filter(|(set, _)| !is_limit(set)).collect();
    let needs_parts = set.len() > 1 || set.iter().any(|(_, value)| value.is_table());
    let is_said = |set: &String| control.parts.get(set).is_some_and(|part| !part.trim().is_empty());
    let unsaid = set.iter().filter(|(set, _)| needs_parts && !is_said(set)).map(|(set, _)| Finding {
        key: format!("{key}.set.{set}"),
        message: "the control changes more than one thing, and does not say which part of its cause this is"
            .to_owned(),
        suggestion: Some(format!("say it below `parts`: \"{set}\" = \"…\"; what is no part of it stays")),
        ..Finding::default()
    });
    let unknown = control.parts.keys().filter(|part| !control.set.contains_key(*part)).map(|part| {
        let known: Vec<&str> = control.set.keys().map(String::as_str).collect();
        Finding {
            key: format!("{key}.parts.{part}"),
            message: format!("`{part}` is not in `set`"),
            suggestion: Some(suggest(part, &known)),
            ..Finding::default()
        }
    });
    unsaid.chain(unknown).collect()
}

/// Controls, by their keys, of which every case is as it is without them: what they set is so anyway.
pub(super) fn idle(cases: &[Plan], controls: &[(String, Plan)]) -> Vec<Finding> {
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
fn concerned(file: &File, control: &Control, key: &str) -> Result<Option<Vec<String>>, Finding> {
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
