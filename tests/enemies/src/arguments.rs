//! What the suite is asked to do.

use std::path::PathBuf;

/// The words of a command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Arguments {
    /// The program that is attacked.
    pub(crate) cairn: PathBuf,
    pub(crate) short: bool,
    /// Which attacks; all if there are none.
    pub(crate) attacks: Vec<String>,
    /// Where numbers go.
    pub(crate) json: Option<PathBuf>,
    pub(crate) seed: u64,
    /// Only tell which attacks there are.
    pub(crate) list: bool,
}

impl Arguments {
    /// Reads them; `known` are the names of attacks.
    pub(crate) fn read(words: &[String], known: &[&str]) -> Result<Arguments, String> {
        let mut read = Arguments { seed: 1, ..Arguments::default() };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or_else(|| format!("{word} needs a value"));
            match word.as_str() {
                "--short" => read.short = true,
                "--list" => read.list = true,
                "--cairn" => read.cairn = value()?.into(),
                "--json" => read.json = Some(value()?.into()),
                "--seed" => read.seed = value()?.parse().map_err(|_| "--seed takes a number".to_owned())?,
                "--attack" => read.attacks.push(value()?.clone()),
                _ => return Err(format!("enemies does not know `{word}`")),
            }
        }
        match read.attacks.iter().find(|attack| !known.contains(&attack.as_str())) {
            Some(attack) => Err(format!("no such attack: `{attack}`; there are {}", known.join(", "))),
            None => Ok(read),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Arguments, String> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        Arguments::read(&words, &["flood", "all"])
    }

    #[test]
    fn every_word_is_understood() {
        let read = read("--short --attack flood --attack all --json a.json --seed 7 --cairn b").unwrap();
        assert!(read.short && !read.list);
        assert_eq!((read.attacks.join(" "), read.seed), ("flood all".to_owned(), 7));
        assert_eq!((read.json, read.cairn), (Some("a.json".into()), "b".into()));
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        assert!(read("--shrt").unwrap_err().contains("--shrt"));
        assert!(read("--attack nothing").unwrap_err().contains("there are flood, all"));
        assert!(read("--seed").unwrap_err().contains("needs a value"));
        assert!(read("--seed x").unwrap_err().contains("number"));
    }
}
