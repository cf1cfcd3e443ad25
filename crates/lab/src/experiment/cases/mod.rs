//! The cases of an experiment: the file as it stands, its named variants, and every combination of its
//! sweeps.

mod changed;
pub(super) mod controls;
pub(super) mod drawn_again;
mod ranged;
mod samples;
pub(super) mod swept;

use std::collections::BTreeMap;

use toml::{Table, Value};

use self::ranged::{MAX_CASES, ranged};
use crate::experiment::model::{File, Sweep};
use crate::experiment::read::findings::Finding;
use crate::experiment::read::origin::{self, KeyPath, Origins};
use crate::experiment::reference::describe::Described;
use crate::experiment::reference::earlier::{entry_of_today, key_of_today};

/// The tables that cases are made of.
const CASES: [&str; 2] = ["case", "sweep"];

/// One case before it is resolved.
#[derive(Debug, Clone)]
pub(super) struct Variant {
    /// Its name.
    pub(super) name: String,
    /// The file's content with this case's values in it.
    pub(super) content: Table,
    /// The key mistakes of this case are reported at.
    pub(super) key: String,
    /// Where its values were said that the file's own tables do not say.
    pub(super) origins: Origins,
    /// What tells it from others: which named case it is, if there are any, and its value of each sweep.
    pub(super) factors: Vec<(String, Value)>,
}

/// Every case of `file`, whose content is `content`, of which `origins` were set already.
pub(super) fn variants(
    file: &File,
    content: &Table,
    origins: &Origins,
) -> Result<Vec<Variant>, Vec<Finding>> {
    let mut findings = Vec::new();
    let mut content = content.clone();
    // No case needs the list of all of them, and each with a list as long as there are cases is a square.
    CASES.iter().for_each(|key| drop(content.remove(*key)));
    let plain = Variant {
        name: String::new(),
        content,
        key: String::new(),
        origins: origins.clone(),
        factors: Vec::new(),
    };
    let mut variants = Vec::new();
    for (number, case) in file.case.iter().enumerate() {
        let factors = vec![("variant".to_owned(), Value::String(case.name.clone()))];
        let (name, key) = (case.name.clone(), format!("case.{number}"));
        let mut variant = Variant { name, key, factors, ..plain.clone() };
        let set = origins.of_set(&format!("case.{number}.set"));
        if let Err(more) = apply_all(&mut variant.content, &mut variant.origins, &case.set, &set) {
            findings.extend(more);
        }
        variants.push(variant);
    }
    if variants.is_empty() {
        variants.push(plain);
    }
    let sweeps = sweeps(file, &mut findings);
    match too_many(variants.len(), &sweeps) {
        // They are not made: they may be more than memory holds.
        Some(finding) => findings.push(finding),
        None => {
            for together in &sweeps {
                variants = swept(&variants, together, &mut findings);
            }
        }
    }
    if file.sweep.iter().any(|sweep| sweep.sample.is_some()) {
        number_drawn_again(&mut variants);
    }
    findings
        .extend(twice(variants.iter().map(|variant| (variant.name.as_str(), variant.key.clone())), "cases"));
    let named = |place: usize, name: &Option<String>| Some((name.clone()?, format!("expect.{place}")));
    let expects: Vec<_> =
        file.expect.iter().enumerate().filter_map(|(n, expect)| named(n, &expect.name)).collect();
    findings.extend(twice(expects.iter().map(|(name, key)| (name.as_str(), key.clone())), "expectations"));
    let controls = file.control.iter().enumerate();
    let controls = controls.map(|(n, control)| (control.name.as_str(), format!("control.{n}")));
    findings.extend(twice(controls, "controls"));
    findings.dedup();
    if findings.is_empty() { Ok(variants) } else { Err(findings) }
}

/// The sweeps of a file, each with those that are changed together with it.
fn sweeps<'a>(file: &'a File, findings: &mut Vec<Finding>) -> Vec<Vec<PlacedSweep<'a>>> {
    let mut drawn = samples::drawn(file, findings);
    let mut sweeps = Vec::new();
    for (number, sweep) in file.sweep.iter().enumerate() {
        let at = format!("sweep.{number}");
        let together = if sweep.sample.is_none() {
            values(sweep).map(|values| vec![PlacedSweep { sweep, at: at.clone(), values }])
        } else {
            // All that are drawn stand where the first of them does.
            let drawn = std::mem::take(&mut drawn);
            Ok(drawn
                .into_iter()
                .filter_map(|(n, values)| {
                    Some(PlacedSweep { sweep: file.sweep.get(n)?, at: format!("sweep.{n}"), values })
                })
                .collect())
        };
        match together {
            Ok(together) if together.is_empty() => {}
            Ok(together) => sweeps.push(together),
            Err(message) => findings.push(finding(&at, message)),
        }
    }
    sweeps
}

/// That there would be more cases than can be, once: where a sweep makes them too many, and how many all
/// sweeps make.
fn too_many(variants: usize, sweeps: &[Vec<PlacedSweep<'_>>]) -> Option<Finding> {
    let mut cases = variants as u128;
    let mut first = None;
    for together in sweeps {
        cases = cases.saturating_mul(values_of(together) as u128);
        if cases > MAX_CASES as u128 {
            first = first.or(together.first());
        }
    }
    let message = format!("{cases} cases are too many: {MAX_CASES} are the most");
    first.map(|along| finding(&along.at, message))
}

/// How many values sweeps have that are changed together.
fn values_of(together: &[PlacedSweep<'_>]) -> usize {
    together.iter().map(|along| along.values.len()).min().unwrap_or(0)
}

/// A sweep with its place in the file and its values.
struct PlacedSweep<'a> {
    sweep: &'a Sweep,
    at: String,
    values: Vec<Value>,
}

/// Every variant with every value of a sweep, or with every value of several that are changed together.
fn swept(variants: &[Variant], together: &[PlacedSweep<'_>], findings: &mut Vec<Finding>) -> Vec<Variant> {
    let count = values_of(together);
    let mut next = Vec::new();
    for variant in variants {
        for index in 0..count {
            let mut variant = variant.clone();
            for along in together {
                set_swept(&mut variant, along, index, findings);
            }
            next.push(variant);
        }
    }
    next
}

/// Draws of whole numbers from a small range come out alike now and then: the second of a name is `name (2)`.
fn number_drawn_again(variants: &mut [Variant]) {
    let mut seen = std::collections::HashMap::new();
    for variant in variants {
        let count = seen.entry(variant.name.clone()).or_insert(0u32);
        *count += 1;
        if *count > 1 {
            variant.name = format!("{} ({count})", variant.name);
        }
    }
}

/// A variant with one value of a sweep.
fn set_swept(
    variant: &mut Variant,
    PlacedSweep { sweep, at, values }: &PlacedSweep<'_>,
    index: usize,
    findings: &mut Vec<Finding>,
) {
    let Some(value) = values.get(index) else { return };
    let label = sweep.label.clone().unwrap_or_else(|| last(&sweep.key).to_owned());
    let key = origin::plain(&format!("{at}.key"));
    // A range has no values of its own to point at.
    let of_value = || origin::plain(&format!("{at}.values.{index}"));
    let place = if sweep.values.is_some() { of_value() } else { key.clone() };
    let before = findings.len();
    apply(&mut variant.content, &mut variant.origins, &sweep.key, value, place, findings);
    // A key that leads nowhere is no value's fault.
    for finding in findings.iter_mut().skip(before) {
        finding.place.clone_from(&key);
    }
    let word = match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let join = if variant.name.is_empty() { "" } else { ", " };
    variant.name = format!("{}{join}{label} {word}", variant.name);
    at.clone_into(&mut variant.key);
    variant.factors.push((label, value.clone()));
}

/// Puts values at their keys, as for the overrides of a backend. A key that stands there by two names has no
/// value.
pub(super) fn apply_all<'a>(
    content: &mut Table,
    origins: &mut Origins,
    values: impl IntoIterator<Item = (&'a String, &'a Value)>,
    set: &KeyPath,
) -> Result<(), Vec<Finding>> {
    let (mut seen, mut findings) = (BTreeMap::new(), Vec::new());
    for (key, value) in values {
        let place: KeyPath = set.iter().cloned().chain([key.clone()]).collect();
        if let Some(other) = seen.insert(key_of_today(key), key) {
            let message = format!("`{other}` and `{key}` are the same key: say one of them");
            findings.push(Finding { place: place.clone(), ..finding(&set.join("."), message) });
        }
        apply(content, origins, key, value, place, &mut findings);
    }
    if findings.is_empty() { Ok(()) } else { Err(findings) }
}

/// Names that stand twice, at the second place.
fn twice<'a>(names: impl Iterator<Item = (&'a str, String)>, what: &str) -> Vec<Finding> {
    let (mut seen, mut findings) = (std::collections::HashSet::new(), Vec::new());
    for (name, key) in names {
        if !seen.insert(name) {
            findings.push(finding(&key, format!("two {what} are called `{name}`")));
        }
    }
    findings
}

fn finding(key: &str, message: String) -> Finding {
    Finding { key: key.to_owned(), message, suggestion: None, ..Finding::default() }
}

fn last(key: &str) -> &str {
    key.rsplit('.').next().unwrap_or(key)
}

/// The values of a sweep, from its list or its range.
fn values(sweep: &Sweep) -> Result<Vec<Value>, String> {
    if sweep.cases.is_some() || sweep.logarithmic.is_some() || sweep.whole.is_some() {
        return Err("only a sweep with `sample` has `cases`, `logarithmic` or `whole`".to_owned());
    }
    match (&sweep.values, sweep.from, sweep.to, sweep.step) {
        (Some(values), None, None, None) if !values.is_empty() => Ok(values.clone()),
        (None, Some(from), Some(to), Some(step)) if step > 0.0 && to >= from => {
            let unit = sweep.unit.as_deref().unwrap_or("");
            let steps = ((to - from) / step + 1e-9).floor();
            if steps >= MAX_CASES as f64 {
                return Err(format!("a range of more than {MAX_CASES} values"));
            }
            let mut values = Vec::new();
            let mut index = 0.0;
            while index <= steps {
                let number = from + index * step;
                values.push(ranged(number, unit));
                index += 1.0;
            }
            Ok(values)
        }
        (Some(values), None, None, None) if values.is_empty() => Err("a sweep needs values".to_owned()),
        _ => Err("a sweep has either `values` or `from`, `to` and a positive `step`".to_owned()),
    }
}

fn apply(
    content: &mut Table,
    origins: &mut Origins,
    key: &str,
    value: &Value,
    place: KeyPath,
    findings: &mut Vec<Finding>,
) {
    let (today, value) = entry_of_today(key, value);
    let parts: Vec<&str> = today.split('.').collect();
    // Entries of a table of names are what the file has; a key of a name that it has not would make another.
    let is_named =
        |table: &str| File::table().and_then(|file| file.field(table)).is_some_and(|field| field.is_named());
    let is_there = match parts.as_slice() {
        [table, name, _, ..] if *name != "*" && is_named(table) => {
            content.get(*table).and_then(Value::as_table).is_some_and(|entries| entries.contains_key(*name))
        }
        _ => true,
    };
    if is_there && set(content, &parts, &value) {
        origins.note(&today, &value, place);
        return;
    }
    // Shown by what holds the key, such as `case.1.set`.
    let holder: Vec<&str> = place.iter().map(String::as_str).take_while(|part| *part != key).collect();
    findings.push(Finding {
        key: holder.join("."),
        message: format!("`{key}` leads to nothing in this file"),
        suggestion: Some("write it as table.name.key, or with `*` for every name".to_owned()),
        place,
    });
}

/// Sets a value that could be set before.
pub(super) fn set_again(content: &mut Table, key: &str, value: &Value) {
    let parts: Vec<&str> = key.split('.').collect();
    set(content, &parts, value);
}

/// Sets a key, in every entry where a part is `*`. False when there was nowhere to set it.
fn set(table: &mut Table, parts: &[&str], value: &Value) -> bool {
    match parts {
        [] => false,
        ["*"] => false,
        // An empty text takes a key away, such as a refresh that a control does without.
        [key] if value.as_str() == Some("") => table.remove(*key).is_some(),
        [key] => {
            table.insert((*key).to_owned(), value.clone());
            true
        }
        ["*", rest @ ..] => {
            let mut any = false;
            for (_, inner) in table.iter_mut() {
                any |= set_in(inner, rest, value);
            }
            any
        }
        [key, rest @ ..] => {
            let fresh = Value::Table(Table::new());
            let known_table = rest.len() == 1;
            match table.get_mut(*key) {
                Some(inner) => set_in(inner, rest, value),
                None if known_table && !rest.contains(&"*") => {
                    let inner = table.entry((*key).to_owned()).or_insert(fresh);
                    set_in(inner, rest, value)
                }
                None => false,
            }
        }
    }
}

fn set_in(inner: &mut Value, rest: &[&str], value: &Value) -> bool {
    match (inner, rest) {
        (Value::Table(table), _) => set(table, rest, value),
        (Value::Array(items), ["*", rest @ ..]) => {
            let mut any = false;
            for item in items.iter_mut() {
                any |= set_in(item, rest, value);
            }
            any
        }
        (Value::Array(items), [index, rest @ ..]) => {
            let item = index.parse::<usize>().ok().and_then(|index| items.get_mut(index));
            item.is_some_and(|item| set_in(item, rest, value))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(text: &str) -> Table {
        text.parse().unwrap()
    }

    #[test]
    fn a_star_stands_for_every_name() {
        let mut content = table("[link.a-b]\nrate = 'x'\n[link.b-c]\n");
        assert!(set(&mut content, &["link", "*", "rate"], &Value::Integer(5)));
        assert_eq!(content.to_string(), "[link.a-b]\nrate = 5\n\n[link.b-c]\nrate = 5\n");
    }

    #[test]
    fn an_empty_text_takes_a_key_away() {
        let mut content = table("[flood.f]\nrefresh = '3 s'\n");
        assert!(set(&mut content, &["flood", "f", "refresh"], &Value::String(String::new())));
        assert_eq!(content.to_string(), "[flood.f]\n");
        assert!(
            !set(&mut content, &["flood", "f", "refresh"], &Value::String(String::new())),
            "it is not there"
        );
    }

    #[test]
    fn a_key_below_a_missing_name_is_not_invented() {
        let mut content = table("[node.a]\n");
        assert!(!set(&mut content, &["node", "b", "forwarder", "content_store"], &Value::Integer(5)));
        assert!(!set(&mut content, &["link", "*", "rate"], &Value::Integer(5)));
        assert!(set(&mut content, &["node", "a", "forwarder", "content_store"], &Value::Integer(5)));
    }

    #[test]
    fn a_range_reaches_its_end_in_spite_of_rounding() {
        let sweep = Sweep {
            key: "x".into(),
            values: None,
            from: Some(0.1),
            to: Some(0.3),
            step: Some(0.1),
            unit: None,
            label: None,
            sample: None,
            cases: None,
            logarithmic: None,
            whole: None,
        };
        let values: Vec<String> = values(&sweep).unwrap().iter().map(ToString::to_string).collect();
        assert_eq!(values, ["0.1", "0.2", "0.3"]);
    }

    #[test]
    fn sweeps_that_make_too_many_cases_are_one_mistake_that_names_how_many_all_make() {
        let values: Vec<String> = (1..=100).map(|number| number.to_string()).collect();
        let sweep = format!("[[sweep]]\nkey = 'seed'\nvalues = [{}]\n", values.join(", "));
        let of = |count: usize| {
            let text = format!("title = 't'\nduration = '9 s'\n{}", sweep.repeat(count));
            let file: File = toml::from_str(&text).unwrap();
            variants(&file, &toml::from_str(&text).unwrap(), &Origins::default())
        };
        for (count, cases) in [(6, "1000000000000"), (3, "1000000")] {
            let findings = of(count).unwrap_err();
            assert_eq!(findings.len(), 1, "{findings:?}");
            assert_eq!(findings[0].message, format!("{cases} cases are too many: 100000 are the most"));
            assert_eq!(findings[0].key, "sweep.2", "the first with which they are too many");
        }
    }

    #[test]
    fn whole_numbers_that_are_drawn_twice_are_cases_of_two_names() {
        let text = "title = 't'\nduration = '9 s'\n[[sweep]]\nkey = 'seed'\nfrom = 1\nto = 3\nwhole = true\n\
                    sample = 'latin-hypercube'\ncases = 9\n";
        let file: File = toml::from_str(text).unwrap();
        let variants = variants(&file, &toml::from_str(text).unwrap(), &Origins::default()).unwrap();
        let names: std::collections::BTreeSet<_> = variants.iter().map(|variant| &variant.name).collect();
        assert_eq!((variants.len(), names.len()), (9, 9));
        assert!(names.iter().any(|name| name.ends_with("(2)")), "{names:?}");
    }
}
