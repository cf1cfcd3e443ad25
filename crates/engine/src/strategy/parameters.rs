//! Parameters of a strategy: components `key~value` behind its name and version, as NFD has them.

use std::str::FromStr;

use packet::time::Duration;
use thiserror::Error;

/// A parameter that a strategy does not take. Its text stays one line, whatever the parameter is called: it
/// may come from a command, and go into a log.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("parameter {}: {problem}", key.escape_debug())]
pub struct ParameterError {
    /// The parameter.
    pub key: String,
    /// What is wrong with it.
    pub problem: String,
}

impl ParameterError {
    /// What is wrong with the parameter `key`.
    pub fn new(key: &str, problem: &str) -> Self {
        ParameterError { key: key.into(), problem: problem.into() }
    }
}

/// What is wrong with a parameter that a strategy does not have.
const UNKNOWN: &str = "is not known to this strategy";

impl ParameterError {
    /// Whether the strategy has no such parameter, whatever its value.
    pub fn is_of_unknown_key(&self) -> bool {
        self.problem == UNKNOWN
    }
}

/// Parameters not yet taken by the strategy they are for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parameters {
    pairs: Vec<(String, String)>,
}

impl Parameters {
    /// Adds one parameter.
    pub(super) fn set(&mut self, key: &str, value: &str) {
        self.pairs.push((key.into(), value.into()));
    }

    /// Takes a span of whole milliseconds, or gives the default.
    ///
    /// # Errors
    /// It is no whole number.
    pub fn millis(&mut self, key: &str, default: Duration) -> Result<Duration, ParameterError> {
        Ok(self
            .parse::<u64>(key, "must be a whole number of milliseconds")?
            .map_or(default, Duration::from_millis))
    }

    /// Takes a count, or gives the default.
    ///
    /// # Errors
    /// It is no whole number of 32 bits.
    pub fn count(&mut self, key: &str, default: u32) -> Result<u32, ParameterError> {
        Ok(self.parse::<u32>(key, "must be a whole number")?.unwrap_or(default))
    }

    /// Takes a finite number, or gives the default.
    ///
    /// # Errors
    /// It is no finite number.
    pub fn number(&mut self, key: &str, default: f64) -> Result<f64, ParameterError> {
        match self.parse::<f64>(key, "must be a number")? {
            Some(number) if !number.is_finite() => Err(ParameterError::new(key, "must be a finite number")),
            number => Ok(number.unwrap_or(default)),
        }
    }

    /// Takes one of several words, or gives the default.
    ///
    /// # Errors
    /// It is none of them.
    pub fn word(
        &mut self,
        key: &str,
        words: &[&'static str],
        default: &'static str,
    ) -> Result<&'static str, ParameterError> {
        match self.take(key) {
            None => Ok(default),
            Some(value) => words
                .iter()
                .find(|word| **word == value)
                .copied()
                .ok_or_else(|| ParameterError::new(key, &format!("must be one of {}", words.join(", ")))),
        }
    }

    /// Fails if a parameter is left that nobody took.
    pub(super) fn finish(self) -> Result<(), ParameterError> {
        match self.pairs.first() {
            Some((key, _)) => Err(ParameterError::new(key, UNKNOWN)),
            None => Ok(()),
        }
    }

    fn parse<T: FromStr>(&mut self, key: &str, problem: &str) -> Result<Option<T>, ParameterError> {
        self.take(key).map(|value| value.parse().map_err(|_| ParameterError::new(key, problem))).transpose()
    }

    fn take(&mut self, key: &str) -> Option<String> {
        let place = self.pairs.iter().position(|(other, _)| other == key)?;
        Some(self.pairs.remove(place).1)
    }
}
