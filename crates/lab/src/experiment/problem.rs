//! Mistakes in an experiment file: where they are, what is wrong, and what would be right.

use std::fmt;

/// One mistake.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The line in the file, counted from 1; 0 when it is about the file as a whole.
    pub line: usize,
    /// The key, such as `link.n1-n2.rate`.
    pub key: String,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub suggestion: Option<String>,
}

/// Everything that is wrong with a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problems {
    /// The file's name.
    pub file: String,
    /// The mistakes, by line.
    pub list: Vec<Problem>,
}

impl Problems {
    /// That a file cannot be read.
    #[must_use]
    pub fn unreadable(file: String, error: &std::io::Error) -> Self {
        let problem = Problem {
            line: 0,
            key: String::new(),
            message: format!("cannot be read: {error}"),
            suggestion: Some("`cairn lab new FILE` writes one to begin with".to_owned()),
        };
        Problems { file, list: vec![problem] }
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, problem) in self.list.iter().enumerate() {
            if number > 0 {
                writeln!(f)?;
            }
            match problem.line {
                // Of the file as a whole.
                0 => write!(f, "{}: ", self.file)?,
                line => write!(f, "{}:{line}: ", self.file)?,
            }
            if !problem.key.is_empty() {
                write!(f, "{}: ", problem.key)?;
            }
            write!(f, "{}", problem.message)?;
            if let Some(suggestion) = &problem.suggestion {
                write!(f, "\n    {suggestion}")?;
            }
        }
        Ok(())
    }
}

impl std::error::Error for Problems {}

/// The known word that someone who wrote `given` most likely meant.
#[must_use]
pub fn nearest<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    known
        .into_iter()
        .map(|word| (distance(given, word), word))
        .filter(|(far, word)| *far <= 1 + word.len().min(given.len()) / 3)
        .min()
        .map(|(_, word)| word)
}

/// How many letters must be put in, taken out, changed or swapped with their neighbour to make `b` of `a`.
pub(super) fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, to) in b.iter().enumerate() {
            let at = |row: &[usize], index: usize| row.get(index).copied().unwrap_or(usize::MAX - 1);
            let changed = at(&last, j) + usize::from(from != to);
            let mut best = changed.min(at(&last, j + 1) + 1).min(at(&row, j) + 1);
            let swapped = i > 0 && j > 0 && a.get(i - 1) == Some(to) && b.get(j - 1) == Some(from);
            if swapped {
                best = best.min(at(&before, j - 1) + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last.last().copied().unwrap_or(0)
}

/// "write `x`" when there is a near word, or the list of what is known.
#[must_use]
pub fn suggest(given: &str, known: &[&str]) -> String {
    match nearest(given, known.iter().copied()) {
        Some(word) => format!("did you mean `{word}`?"),
        None if known.is_empty() => "none is declared in this file".to_owned(),
        None => format!("known are: {}", known.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_finger_finds_its_word() {
        let known = ["rate", "delay", "loss", "queue"];
        assert_eq!(nearest("raet", known), Some("rate"));
        assert_eq!(nearest("dealy", known), Some("delay"));
        assert_eq!(nearest("queues", known), Some("queue"));
        assert_eq!(nearest("bandwidth", known), None);
    }

    #[test]
    fn distance_counts_edits() {
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("ab", "ba"), 1);
        assert_eq!(distance("same", "same"), 0);
    }
}
