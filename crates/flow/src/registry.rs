//! What can be chosen by name, with parameters: `<word>/<key>~<value>/<key>~<value>…`.
//!
//! A [`Registry`] holds ours and those that a program adds; a [`Spec`] is a choice from it. Controllers and
//! workloads are chosen this way.

use std::fmt;
use std::str::FromStr;
use std::sync::OnceLock;

use thiserror::Error;

use crate::parameters::{ParameterError, Parameters};

/// Something that is chosen by name: a controller or a workload.
pub trait Kind: Copy + fmt::Debug + Sized + 'static {
    /// What such a thing is called, for messages.
    const WHAT: &'static str;

    /// All of them.
    fn registry() -> &'static Registry<Self>;

    /// What it is called.
    fn word(&self) -> &'static str;

    /// Whether it would start with these parameters.
    ///
    /// # Errors
    /// A value is wrong.
    fn check(&self, parameters: &mut Parameters) -> Result<(), ParameterError>;
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

impl<K: Kind> Registry<K> {
    pub(crate) const fn new(ours: &'static [K]) -> Self {
        Registry { ours, added: OnceLock::new() }
    }

    pub(crate) fn add(&self, added: Vec<K>) -> Result<(), AddError> {
        let mut words: Vec<&str> = self.ours.iter().map(K::word).collect();
        for kind in &added {
            if words.contains(&kind.word()) {
                return Err(AddError::Taken(kind.word()));
            }
            words.push(kind.word());
        }
        self.added.set(added).map_err(|_| AddError::TooLate)
    }

    fn kinds(&self) -> impl Iterator<Item = &K> {
        self.ours.iter().chain(self.added.get_or_init(Vec::new))
    }

    pub(crate) fn words(&self) -> impl Iterator<Item = &'static str> {
        self.kinds().map(K::word)
    }
}

/// A choice that cannot be had.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SpecError {
    /// There is nothing of this name.
    #[error("there is no {what} {word}; there are {}", .known.join(", "))]
    Unknown {
        /// What was looked for.
        what: &'static str,
        /// The name.
        word: String,
        /// The names there are.
        known: Vec<&'static str>,
    },
    /// A part that is not `key~value`.
    #[error("parameter {0}: must have the form key~value")]
    Form(String),
    /// A parameter is wrong.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
}

/// Which of a kind, with which parameters.
#[derive(Clone, Debug)]
pub struct Spec<K> {
    kind: K,
    parameters: Parameters,
}

impl<K: Kind> PartialEq for Spec<K> {
    fn eq(&self, other: &Self) -> bool {
        self.word() == other.word() && self.parameters == other.parameters
    }
}

impl<K: Kind> Eq for Spec<K> {}

impl<K: Kind> Spec<K> {
    /// One of this kind, without parameters: also for a kind that was added nowhere.
    ///
    /// # Errors
    /// It does not start without parameters.
    pub fn of(kind: K) -> Result<Self, SpecError> {
        Spec::checked(kind, Parameters::default())
    }

    /// One of ours without parameters, which is known to start.
    pub(crate) fn plain(kind: K) -> Self {
        Spec { kind, parameters: Parameters::default() }
    }

    fn checked(kind: K, parameters: Parameters) -> Result<Self, SpecError> {
        let mut left = parameters.clone();
        kind.check(&mut left)?;
        left.finish(K::WHAT)?;
        Ok(Spec { kind, parameters })
    }

    /// What it is called.
    pub fn word(&self) -> &'static str {
        self.kind.word()
    }

    /// This choice with one parameter set, whether or not it was set before.
    ///
    /// # Errors
    /// The parameter is not taken.
    pub fn with(mut self, key: &str, value: impl fmt::Display) -> Result<Self, SpecError> {
        self.parameters.pairs.retain(|(other, _)| other != key);
        self.parameters.pairs.push((key.into(), value.to_string()));
        Spec::checked(self.kind, self.parameters)
    }

    /// The kind, and a copy of the parameters for it to take.
    pub(crate) fn parts(&self) -> (K, Parameters) {
        (self.kind, self.parameters.clone())
    }
}

impl<K: Kind> FromStr for Spec<K> {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        let mut parts = text.split('/');
        let word = parts.next().unwrap_or_default();
        let registry = K::registry();
        let Some(kind) = registry.kinds().find(|kind| kind.word() == word) else {
            let known = registry.words().collect();
            return Err(SpecError::Unknown { what: K::WHAT, word: word.into(), known });
        };
        let mut parameters = Parameters::default();
        for part in parts {
            let (key, value) = part.split_once('~').ok_or_else(|| SpecError::Form(part.into()))?;
            parameters.pairs.push((key.into(), value.into()));
        }
        Spec::checked(*kind, parameters)
    }
}

impl<K: Kind> fmt::Display for Spec<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())?;
        for (key, value) in &self.parameters.pairs {
            write!(f, "/{key}~{value}")?;
        }
        Ok(())
    }
}
