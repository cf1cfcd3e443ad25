//! What a program can choose by name: ours, and what the program adds. Strategies, eviction policies,
//! controllers and workloads are chosen this way.
//!
//! A [`Registry`] holds ours and those that a program adds; a [`Spec`] is a choice from it, with parameters.

mod spec;

use std::sync::OnceLock;

use thiserror::Error;

pub use spec::{Spec, SpecError, Startable};

/// Something with a name of its own among its kind.
pub trait Named {
    /// What such a thing is called, for messages.
    const WHAT: &'static str;

    /// What it is called.
    fn word(&self) -> &'static str;
}

/// All that can be chosen of a kind. Which code a program has is settled when it is linked: what is added to
/// ours is said once, before any name is looked up, and never changes after that, so that a run can be
/// repeated.
#[derive(Debug)]
pub struct Registry<K: 'static> {
    ours: &'static [K],
    added: OnceLock<Vec<K>>,
}

/// Why something cannot be added.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum AddError {
    /// There is one of this name already.
    #[error("there is a {0} already")]
    Taken(&'static str),
    /// A name has been looked up, or others were added before: all are added at once, when a program begins.
    #[error("all must be added at once, and before a name is looked up")]
    TooLate,
}

/// A word for nothing that can be chosen, from a registry or of an enum.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("there is no {what} {word}; there are {}", .known.join(", "))]
pub struct UnknownWord {
    /// What was looked for.
    pub what: &'static str,
    /// The word.
    pub word: String,
    /// The words there are.
    pub known: Vec<&'static str>,
}

impl UnknownWord {
    /// That `word` is not among `known`, which are all words for `what`.
    pub fn new(what: &'static str, word: &str, known: impl IntoIterator<Item = &'static str>) -> Self {
        UnknownWord { what, word: word.to_owned(), known: known.into_iter().collect() }
    }
}

impl<K: Named> Registry<K> {
    /// With these, and nothing added yet.
    pub const fn new(ours: &'static [K]) -> Self {
        Registry { ours, added: OnceLock::new() }
    }

    /// Adds to ours, once.
    ///
    /// # Errors
    /// A name is taken, or it is too late.
    pub fn add(&self, added: Vec<K>) -> Result<(), AddError> {
        let mut words: Vec<&str> = self.ours.iter().map(K::word).collect();
        for kind in &added {
            if words.contains(&kind.word()) {
                return Err(AddError::Taken(kind.word()));
            }
            words.push(kind.word());
        }
        self.added.set(added).map_err(|_| AddError::TooLate)
    }

    /// Ours, and then what was added. Nothing can be added from now on.
    pub fn iter(&self) -> impl Iterator<Item = &K> {
        self.ours.iter().chain(self.added.get_or_init(Vec::new))
    }

    /// The one of this name.
    pub fn find(&self, word: &str) -> Option<&K> {
        self.iter().find(|kind| kind.word() == word)
    }

    /// The one of this name.
    ///
    /// # Errors
    /// There is none, and which there are.
    pub fn named(&self, word: &str) -> Result<&K, UnknownWord> {
        self.find(word).ok_or_else(|| self.unknown(word))
    }

    /// Says of a name that it is not here, and which are.
    pub fn unknown(&self, word: &str) -> UnknownWord {
        UnknownWord::new(K::WHAT, word, self.words())
    }

    /// All names.
    pub fn words(&self) -> impl Iterator<Item = &'static str> {
        self.iter().map(K::word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq)]
    struct Kind(&'static str);

    impl Named for Kind {
        const WHAT: &'static str = "letter";

        fn word(&self) -> &'static str {
            self.0
        }
    }

    #[test]
    fn names_are_taken_once_and_nothing_is_added_after_one_was_looked_up() {
        let early = Registry::new(&[Kind("a")]);
        assert_eq!(early.add(vec![Kind("b"), Kind("a")]), Err(AddError::Taken("a")));
        assert_eq!(early.add(vec![Kind("b"), Kind("b")]), Err(AddError::Taken("b")));
        assert_eq!(early.add(vec![Kind("b")]), Ok(()));
        assert_eq!((early.find("b"), early.words().count()), (Some(&Kind("b")), 2));
        let late = Registry::new(&[Kind("a")]);
        let unknown = late.named("b").unwrap_err();
        assert_eq!(unknown.to_string(), "there is no letter b; there are a");
        assert_eq!(late.add(vec![Kind("b")]), Err(AddError::TooLate));
    }
}
