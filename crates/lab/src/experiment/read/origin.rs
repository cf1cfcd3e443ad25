//! Where the values of a case were said, so that what is wrong with one is told at its own line: in the
//! file's tables, in `[defaults]`, in a group, a case, a sweep, a control, or for a backend.

use toml::{Table, Value};

/// The way to a value in the file, key by key. Keys of `set` have dots in them.
pub(in crate::experiment) type KeyPath = Vec<String>;

/// One value that something sets.
#[derive(Debug, Clone)]
struct Setting {
    /// The key it is set at; `*` stands for every name.
    key: String,
    value: Value,
    place: KeyPath,
}

/// Everything that was set in the file's content to make a case of it, in this order.
#[derive(Debug, Clone, Default)]
pub(in crate::experiment) struct Origins(Vec<Setting>);

/// The place of a key whose parts have no dots in them.
pub(in crate::experiment) fn plain(key: &str) -> KeyPath {
    key.split('.').filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

impl Origins {
    /// A value was set.
    pub(in crate::experiment) fn note(&mut self, key: &str, value: &Value, place: KeyPath) {
        self.0.push(Setting { key: key.to_owned(), value: value.clone(), place });
    }

    /// Where the values of a `set` at this place were said, which may be the `set` of a backend that replaces
    /// it.
    pub(in crate::experiment) fn of_set(&self, set: &str) -> KeyPath {
        let replaced = self.0.iter().rfind(|setting| setting.key == set);
        replaced.map_or_else(|| plain(set), |setting| setting.place.clone())
    }

    /// Where the value at a key was said, in a file of this content.
    pub(in crate::experiment) fn place(&self, file: &Table, key: &str) -> KeyPath {
        let direct = self.0.iter().rfind(|setting| covers(&setting.key, key));
        if let Some(setting) = direct {
            return setting.place.clone();
        }
        let own = plain(key);
        let (Some(table), Some(rest)) = (own.first(), own.get(2..).filter(|rest| !rest.is_empty())) else {
            return own;
        };
        if is_there(file, &own) {
            return own;
        }
        let inherited = |before: &[&str]| -> KeyPath {
            before.iter().map(|part| (*part).to_owned()).chain(rest.iter().cloned()).collect()
        };
        let groups = file.get("group").and_then(Value::as_table).filter(|_| table == "node");
        let mut in_groups = groups.into_iter().flatten().map(|(name, _)| inherited(&["group", name, "set"]));
        if let Some(place) = in_groups.find(|place| is_there(file, place)) {
            return place;
        }
        let default = inherited(&["defaults", table]);
        let dotted = default.join(".");
        if let Some(setting) = self.0.iter().rfind(|setting| covers(&setting.key, &dotted)) {
            return setting.place.clone();
        }
        if is_there(file, &default) { default } else { own }
    }

    /// The place of the first value with which the file cannot be read any more, as `is_readable` finds, and
    /// what is wrong with it.
    pub(super) fn first_wrong<T, E>(
        &self,
        file: &Table,
        read: impl Fn(&Table) -> Result<T, E>,
        set: impl Fn(&mut Table, &str, &Value),
    ) -> Option<(KeyPath, E)> {
        let mut content = file.clone();
        self.0.iter().find_map(|setting| {
            set(&mut content, &setting.key, &setting.value);
            read(&content).err().map(|error| (setting.place.clone(), error))
        })
    }
}

/// Does a key that may hold `*` set the value at another, or a table around it?
fn covers(pattern: &str, key: &str) -> bool {
    let mut parts = key.split('.');
    pattern.split('.').all(|wanted| parts.next().is_some_and(|part| wanted == "*" || wanted == part))
}

fn is_there(content: &Table, place: &[String]) -> bool {
    let Some((first, rest)) = place.split_first() else { return true };
    match content.get(first) {
        Some(_) if rest.is_empty() => true,
        Some(value) => is_within(value, rest),
        None => false,
    }
}

fn is_within(value: &Value, place: &[String]) -> bool {
    match (value, place.split_first()) {
        (_, None) => true,
        (Value::Table(table), _) => is_there(table, place),
        (Value::Array(items), Some((first, rest))) => {
            let item = first.parse::<usize>().ok().and_then(|index| items.get(index));
            item.is_some_and(|item| is_within(item, rest))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use crate::experiment::Experiment;

    /// The line that a mistake is told at, in a file of three nodes whose lines begin with what is given.
    fn line(head: &str, rest: &str) -> (usize, String) {
        let text = format!("title = 't'\nduration = '9 s'\n{head}{}{rest}", testkit::experiment::ROW);
        let problems = Experiment::parse("t", "t.toml", &text).map(|_| ()).unwrap_err();
        let first = problems.list.first().unwrap();
        let found = text.lines().nth(first.line - 1).unwrap_or_default().to_owned();
        (problems.list.len(), found)
    }

    #[test]
    fn what_comes_from_the_defaults_is_told_there() {
        let wrong = |text: &str, key: &str| {
            let (count, found) = line(text, "");
            assert_eq!((count, found.starts_with(key)), (1, true), "{found}");
        };
        wrong("[defaults.node]\nservice_time = '3 us'\ncpu = '300 %'\n", "cpu");
        wrong("[defaults.link]\nrate = '1 Mbit/s'\nkind = 'smoke'\n", "kind");
        wrong("[defaults.node.forwarder]\npending_limit = 9\nstrategy = 'best-rout'\n", "strategy");
        wrong("[group.all]\nnodes = 'all'\n[group.all.set]\ncpu = '300 %'\n", "cpu");
    }

    #[test]
    fn what_a_case_a_sweep_a_control_or_a_backend_sets_is_told_there() {
        let wrong = |text: &str, key: &str| {
            let (count, found) = line("", text);
            assert_eq!((count, found.starts_with(key)), (1, true), "{text}: {found}");
        };
        wrong("[[case]]\nname = 'x'\n[case.set]\n'seed' = 3\n'node.b.cpu' = '300 %'\n", "'node.b.cpu'");
        wrong("[[case]]\nname = 'x'\n[case.set]\n'seed' = 3\n'link.*.loss' = 0.1\n", "'link.*.loss'");
        wrong("[[case]]\nname = 'x'\n[case.set]\n'seed' = 3\n'defaults.node.cpu' = '300 %'\n", "'defaults");
        wrong("[[sweep]]\nkey = 'node.b.cpu'\nvalues = [\n'20 %',\n'300 %',\n]\n", "'300 %'");
        wrong("[on.netns]\nwhy = 'w'\n[on.netns.set]\nseed = 3\n'node.b.cpu' = '300 %'\n", "'node.b.cpu'");
        wrong("[on.netns]\nwhy = 'w'\n[on.netns.set]\nseed = 3\n'no.such.key' = '300 %'\n", "'no.such.key'");
        let control = "[[expect]]\nname = 'e'\nsay = 'S'\nvalue = 'files.loss'\nat_most = 0\n[[control]]\n\
                       name = 'c'\nremoves = 'r'\nfails = ['e']\n[control.set]\nduration = '8 s'\n'node.b.cpu' = '0 %'\n\
                       [control.parts]\nduration = 'time'\n'node.b.cpu' = 'time'\n";
        wrong(control, "'node.b.cpu'");
    }

    #[test]
    fn what_a_backend_puts_in_place_of_a_cases_values_is_told_at_the_backend() {
        let text = "[[case]]\nname = 'x'\nset = { 'node.b.cpu' = '30 %' }\n[on.netns]\nwhy = 'w'\n[on.netns.set]\n\
                    seed = 3\n'case.0.set' = { 'node.b.cpu' = '300 %' }\n";
        assert_eq!(line("", text).1, "'case.0.set' = { 'node.b.cpu' = '300 %' }");
    }
}
