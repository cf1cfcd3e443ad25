//! An experiment with the seed that a run was given in place of the file's.

use toml::{Table, Value};

use super::Experiment;

impl Experiment {
    /// The same as if its file said this seed, so that what is drawn in it is what such a file draws. A seed
    /// that no file can say leaves it as it is.
    #[must_use]
    pub fn with_seed(&self, seed: u64) -> Experiment {
        let mut seeded = self.clone();
        let Some(number) = i64::try_from(seed).ok().filter(|_| self.file.seed != Some(seed)) else {
            return seeded;
        };
        seeded.file.seed = Some(seed);
        seeded.content.insert("seed".to_owned(), Value::Integer(number));
        seeded.text = text_with(&self.text, number);
        seeded
    }
}

/// A file's text with another seed, and everything else in its place.
fn text_with(text: &str, seed: i64) -> String {
    let Ok(mut wanted) = text.parse::<Table>() else { return text.to_owned() };
    wanted.insert("seed".to_owned(), Value::Integer(seed));
    let is_seed = |line: &str| {
        line.trim_start().strip_prefix("seed").is_some_and(|rest| rest.trim_start().starts_with('='))
    };
    let line = format!("seed = {seed}");
    let mut lines: Vec<&str> = text.lines().collect();
    let of_tables = lines.iter().position(|line| line.trim_start().starts_with('[')).unwrap_or(lines.len());
    match lines.iter().take(of_tables).position(|line| is_seed(line)) {
        Some(place) => lines[place] = &line,
        None => lines.insert(0, &line),
    }
    let written = lines.join("\n") + "\n";
    // A line of a text of many lines may look like one that says the seed.
    if written.parse::<Table>().is_ok_and(|table| table == wanted) { written } else { wanted.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_of_the_run_stands_where_that_of_the_file_stood_or_in_front() {
        let file = "# about it\ntitle = 't'\n seed = 4 # by dice\n[node]\na = {}\n";
        assert_eq!(text_with(file, 9), "# about it\ntitle = 't'\nseed = 9\n[node]\na = {}\n");
        assert_eq!(
            text_with("title = 't'\n[node]\nseed = {}\n", 2),
            "seed = 2\ntitle = 't'\n[node]\nseed = {}\n"
        );
        let confusing = "about = '''\nseed = 3\n'''\nseed = 4\n";
        let table: Table = text_with(confusing, 5).parse().unwrap();
        assert_eq!((table["about"].as_str(), table["seed"].as_integer()), (Some("seed = 3\n"), Some(5)));
    }

    #[test]
    fn a_seed_given_to_the_run_draws_what_the_same_seed_in_the_file_draws() {
        let text = |seed: &str| {
            format!(
                "title = 't'\nduration = '9 s'\n{seed}[node]\na = {{}}\nb = {{}}\nc = {{}}\n[link]\na-b = {{}}\nb-c = {{}}\n\
                 [[route]]\nprefix = '/f'\npath = ['a', 'b', 'c']\n[content.f]\nprefix = '/f'\nat = 'c'\nsize = '1 kB'\n[download.d]\nat = {{ random = 1 }}\n\
                 content = 'f'\ncount = 2\n[[sweep]]\nkey = 'download.d.count'\nfrom = 1\nto = 900\nwhole = true\n\
                 sample = 'random'\ncases = 4\n"
            )
        };
        let parsed =
            |text: String| Experiment::parse("t", "t.toml", &text).unwrap_or_else(|wrong| panic!("{wrong}"));
        let plans = |experiment: &Experiment| experiment.plans("sim").unwrap();
        let (plain, nine) = (parsed(text("")), parsed(text("seed = 9\n")));
        assert_ne!(plans(&plain), plans(&nine));
        let seeded = plain.with_seed(9);
        assert_eq!(plans(&seeded), plans(&nine));
        assert_eq!(plans(&parsed(seeded.text.clone())), plans(&nine));
        assert!(plans(&nine).iter().all(|plan| plan.schedule.drawn), "each repeat draws its own place");
    }
}
