//! Mistakes in an experiment file: where they are, what is wrong, and what would be right.

use std::fmt;
use std::io::ErrorKind;

use formats::printable::printable;
use formats::spelling;

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
        let suggestion = match error.kind() {
            ErrorKind::NotFound => Some("`cairn lab new FILE` writes one to begin with".to_owned()),
            ErrorKind::InvalidData => Some(
                "an experiment is a text in TOML: name its file, and not a packed or a compiled one"
                    .to_owned(),
            ),
            _ => None,
        };
        let message = format!("cannot be read: {error}");
        let problem = Problem { line: 0, key: String::new(), message, suggestion };
        Problems { file, list: vec![problem] }
    }
}

/// Nobody reads more at once, and what is wrong with one case is often wrong with thousands.
const MAX_SHOWN: usize = 30;

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Whoever gave the file its name, and wrote the keys in it, begins no line.
        let file = printable(&self.file);
        for (number, problem) in self.list.iter().take(MAX_SHOWN).enumerate() {
            if number > 0 {
                writeln!(f)?;
            }
            match problem.line {
                // Of the file as a whole.
                0 => write!(f, "{file}: ")?,
                line => write!(f, "{file}:{line}: ")?,
            }
            if !problem.key.is_empty() {
                write!(f, "{}: ", printable(&problem.key))?;
            }
            write!(f, "{}", problem.message)?;
            if let Some(suggestion) = &problem.suggestion {
                write!(f, "\n    {suggestion}")?;
            }
        }
        match self.list.len().saturating_sub(MAX_SHOWN) {
            0 => Ok(()),
            more => write!(f, "\n{file}: and {more} more"),
        }
    }
}

impl std::error::Error for Problems {}

/// "write `x`" when there is a near word, or the list of what is known.
#[must_use]
pub fn suggest(given: &str, known: &[&str]) -> String {
    match spelling::nearest(given, known.iter().copied()) {
        Some(word) => format!("did you mean `{word}`?"),
        None if known.is_empty() => "none is declared in this file".to_owned(),
        None => format!("known are: {}", known.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_thousands_of_mistakes_the_first_are_shown_and_the_rest_counted() {
        let problem =
            |line| Problem { line, key: "k".to_owned(), message: "is wrong".to_owned(), suggestion: None };
        let shown = |count| Problems { file: "x".to_owned(), list: (1..=count).map(problem).collect() };
        let text = shown(2_731).to_string();
        assert_eq!(text.lines().count(), MAX_SHOWN + 1);
        assert!(text.ends_with("\nx: and 2701 more"), "{text}");
        assert_eq!(shown(MAX_SHOWN).to_string().lines().count(), MAX_SHOWN);
    }

    #[test]
    fn who_names_a_binary_file_is_told_to_name_a_text() {
        let told = |kind, words: &str| {
            Problems::unreadable("x".to_owned(), &std::io::Error::new(kind, words.to_owned())).to_string()
        };
        let binary = told(ErrorKind::InvalidData, "it is not text");
        assert!(binary.contains("is a text in TOML") && !binary.contains("lab new"), "{binary}");
        assert!(told(ErrorKind::NotFound, "no such file").contains("lab new"));
    }

    #[test]
    fn the_name_of_a_file_and_a_key_in_it_begin_no_line() {
        let problem = Problem {
            line: 1,
            key: "k\nall is well".to_owned(),
            message: "is wrong".to_owned(),
            suggestion: None,
        };
        let text = Problems { file: "x\ny".to_owned(), list: vec![problem] }.to_string();
        assert_eq!(text, "x\u{fffd}y:1: k\u{fffd}all is well: is wrong");
    }
}
