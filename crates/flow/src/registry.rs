//! What can be chosen by name, with parameters: `<word>/<key>~<value>/<key>~<value>…`.
//!
//! A [`Registry`] holds ours and those that a program adds; a [`Spec`] is a choice from it. Controllers and
//! workloads are chosen this way.

use std::fmt;
use std::str::FromStr;

use packet::parameters::{ParameterError, Parameters};
use packet::registry::{Named, Registry};
use thiserror::Error;

/// Something that is chosen by name: a controller or a workload.
pub trait Kind: Named + Copy + fmt::Debug + Sized + 'static {
    /// What such a thing is called, for messages.
    const WHAT: &'static str;

    /// All of them.
    fn registry() -> &'static Registry<Self>;

    /// Whether it would start with these parameters.
    ///
    /// # Errors
    /// A value is wrong.
    fn check(&self, parameters: &mut Parameters) -> Result<(), ParameterError>;
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
        self.parameters.replace(key, &value.to_string());
        Spec::checked(self.kind, self.parameters)
    }

    /// The kind, and a copy of the parameters for it to take.
    pub fn parts(&self) -> (K, Parameters) {
        (self.kind, self.parameters.clone())
    }
}

impl<K: Kind> FromStr for Spec<K> {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        let mut parts = text.split('/');
        let word = parts.next().unwrap_or_default();
        let registry = K::registry();
        let Some(kind) = registry.find(word) else {
            let known = registry.words().collect();
            return Err(SpecError::Unknown { what: K::WHAT, word: word.into(), known });
        };
        let mut parameters = Parameters::default();
        for part in parts {
            let (key, value) = part.split_once('~').ok_or_else(|| SpecError::Form(part.into()))?;
            parameters.set(key, value);
        }
        Spec::checked(*kind, parameters)
    }
}

impl<K: Kind> fmt::Display for Spec<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())?;
        for (key, value) in self.parameters.iter() {
            write!(f, "/{key}~{value}")?;
        }
        Ok(())
    }
}
