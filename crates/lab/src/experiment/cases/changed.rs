//! What a control really changes: its keys, with their values in the case and in the control.

use std::collections::{BTreeMap, BTreeSet};

use toml::{Table, Value};

use super::apply_all;
use super::controls::{concerned, differing};
use crate::experiment::model::Control;
use crate::experiment::read::Experiment;

impl Experiment {
    /// Each key that differs between a control and its cases on a backend, in words: what a run of both has
    /// tested, whatever the file says that it is.
    #[must_use]
    pub fn changed_by(&self, control: &Control, backend: &str) -> Vec<String> {
        let Ok((file, variants)) = self.variants(backend) else { return Vec::new() };
        let Ok(meant) = concerned(&file, control, "control") else { return Vec::new() };
        let mut values: BTreeMap<String, [BTreeSet<String>; 2]> = BTreeMap::new();
        for variant in variants {
            if meant.as_ref().is_some_and(|cases| !cases.contains(&variant.name)) {
                continue;
            }
            let (mut content, mut origins) = (variant.content.clone(), variant.origins);
            if apply_all(&mut content, &mut origins, &control.set, &Vec::new()).is_err() {
                continue;
            }
            let mut keys = BTreeSet::new();
            differing("", Some(&variant.content), Some(&content), &mut keys);
            for key in keys {
                let both = [&variant.content, &content].map(|table| said(table, &key));
                let [from, to] = values.entry(key).or_default();
                let [before, after] = both;
                from.insert(before);
                to.insert(after);
            }
        }
        let any = |values: BTreeSet<String>| values.into_iter().collect::<Vec<_>>().join(" or ");
        values
            .into_iter()
            .map(|(key, [from, to])| format!("`{key}` from {} to {}", any(from), any(to)))
            .collect()
    }
}

/// The value of a key whose parts may have dots in them, as the file has it.
fn said(table: &Table, key: &str) -> String {
    match found(table, key).or_else(|| found(table, &of_defaults(key)?)) {
        None => "what it is by default".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

/// What a key of a link or a node is by if it is not said of that one.
fn of_defaults(key: &str) -> Option<String> {
    let mut parts = key.splitn(3, '.');
    let (table, _, rest) = (parts.next()?, parts.next()?, parts.next()?);
    matches!(table, "link" | "node").then(|| format!("defaults.{table}.{rest}"))
}

fn found<'a>(table: &'a Table, key: &str) -> Option<&'a Value> {
    if let Some(value) = table.get(key) {
        return Some(value);
    }
    let dots = key.match_indices('.').map(|(place, _)| place);
    dots.filter_map(|dot| found(table.get(key.get(..dot)?)?.as_table()?, key.get(dot + 1..)?)).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_control_changes_is_told_from_what_it_says() {
        let text = "title = 't'\nduration = '9 s'\n[node]\na = {}\nb = {}\n[link]\na-b = { rate = '10 Mbit/s' }\n[content.f]\n\
                    prefix = '/f'\nat = 'b'\nsize = '1 kB'\n[download.d]\nat = 'a'\ncontent = 'f'\n[[route]]\nprefix = '/f'\n\
                    path = ['a', 'b']\n[defaults.link]\ndelay = '1 ms'\n[[expect]]\nname = 'e'\nsay = 'S'\nvalue = 'd.duration'\nat_most = 3\n[[control]]\n\
                    name = 'x'\nremoves = 'the full moon'\nset = { 'link.a-b.rate' = '9 kbit/s', 'link.a-b.delay' = '1 s' }\n\
                    parts = { 'link.a-b.rate' = 'light', 'link.a-b.delay' = 'night' }\nfails = ['e']\n";
        let experiment = Experiment::parse("t", "t.toml", text).unwrap_or_else(|wrong| panic!("{wrong}"));
        assert_eq!(
            experiment.changed_by(&experiment.file.control[0], "sim"),
            ["`link.a-b.delay` from 1 ms to 1 s", "`link.a-b.rate` from 10 Mbit/s to 9 kbit/s"]
        );
    }

    #[test]
    fn a_name_with_a_dot_in_it_is_found() {
        let table: Table = "[download.'a.b']\ncount = 3\n".parse().unwrap();
        assert_eq!((said(&table, "download.a.b.count").as_str(), found(&table, "download.a.c")), ("3", None));
    }
}
