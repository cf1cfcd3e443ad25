//! A choice from a registry, with parameters: `<word>/<key>~<value>/<key>~<value>…`.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use super::{Named, Registry, UnknownWord};
use crate::parameters::{ParameterError, Parameters};

/// Something that is chosen by name and started with parameters.
pub trait Startable: Named + Copy + fmt::Debug + Sized + 'static {
    /// What it needs beside its parameters in order to start.
    type Setting<'a>;
    /// What is started, or why not if not all that was checked can start everywhere.
    type Started;

    /// All of them.
    fn registry() -> &'static Registry<Self>;

    /// Whether it would start with these parameters.
    ///
    /// # Errors
    /// A value is wrong.
    fn check(&self, parameters: &mut Parameters) -> Result<(), ParameterError>;

    /// Starts one, with parameters that have been checked.
    fn start(&self, parameters: Parameters, setting: Self::Setting<'_>) -> Self::Started;
}

/// A choice that cannot be had.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SpecError {
    /// There is nothing of this name.
    #[error(transparent)]
    Unknown(#[from] UnknownWord),
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

impl<K: Startable> PartialEq for Spec<K> {
    fn eq(&self, other: &Self) -> bool {
        self.word() == other.word() && self.parameters == other.parameters
    }
}

impl<K: Startable> Eq for Spec<K> {}

impl<K: Startable> Spec<K> {
    /// One of this kind, without parameters: also for a kind that was added nowhere.
    ///
    /// # Errors
    /// It does not start without parameters.
    pub fn of(kind: K) -> Result<Self, SpecError> {
        Ok(Spec::new(kind, Parameters::default())?)
    }

    /// One of this kind with these parameters.
    ///
    /// # Errors
    /// It does not start with them.
    pub fn new(kind: K, parameters: Parameters) -> Result<Self, ParameterError> {
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
        Ok(Spec::new(self.kind, self.parameters)?)
    }

    /// Starts one.
    pub fn start(&self, setting: K::Setting<'_>) -> K::Started {
        self.kind.start(self.parameters.clone(), setting)
    }
}

impl<K: Startable + Default> Default for Spec<K> {
    /// The usual one of its kind, which is known to start without parameters.
    fn default() -> Self {
        Spec { kind: K::default(), parameters: Parameters::default() }
    }
}

impl<K: Startable> FromStr for Spec<K> {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        let mut parts = text.split('/');
        let kind = K::registry().named(parts.next().unwrap_or_default())?;
        let mut parameters = Parameters::default();
        for part in parts {
            parameters.add(part)?;
        }
        Ok(Spec::new(*kind, parameters)?)
    }
}

impl<K: Startable> fmt::Display for Spec<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())?;
        for (key, value) in self.parameters.iter() {
            write!(f, "/{key}~{value}")?;
        }
        Ok(())
    }
}
