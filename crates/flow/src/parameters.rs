//! Parameters of a controller or a workload: `key~value`, as strategies have them.

use thiserror::Error;

/// A parameter that is not taken.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("parameter {key}: {problem}")]
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

/// Parameters not yet taken by what they are for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parameters {
    pub(super) pairs: Vec<(String, String)>,
}

impl Parameters {
    /// Takes a number within bounds, both allowed, or gives the default.
    ///
    /// # Errors
    /// It is no number, or out of bounds.
    pub fn number(&mut self, key: &str, default: f64, bounds: (f64, f64)) -> Result<f64, ParameterError> {
        let (low, high) = bounds;
        let Some(text) = self.take(key) else { return Ok(default) };
        match text.parse::<f64>() {
            Ok(number) if (low..=high).contains(&number) => Ok(number),
            _ if high == f64::INFINITY => {
                Err(ParameterError::new(key, &format!("must be a number of {low} or more")))
            }
            _ => Err(ParameterError::new(key, &format!("must be a number from {low} to {high}"))),
        }
    }

    /// Takes a size of a window or a rate: 1 or more.
    ///
    /// # Errors
    /// It is no such number.
    pub fn size(&mut self, key: &str, default: f64) -> Result<f64, ParameterError> {
        self.number(key, default, (1.0, f64::INFINITY))
    }

    /// Takes a factor from 0 to 1.
    ///
    /// # Errors
    /// It is no such number.
    pub fn factor(&mut self, key: &str, default: f64) -> Result<f64, ParameterError> {
        self.number(key, default, (0.0, 1.0))
    }

    /// Takes `yes` or `no`.
    ///
    /// # Errors
    /// It is neither.
    pub fn yes(&mut self, key: &str, default: bool) -> Result<bool, ParameterError> {
        match self.take(key).as_deref() {
            None => Ok(default),
            Some("yes") => Ok(true),
            Some("no") => Ok(false),
            Some(_) => Err(ParameterError::new(key, "must be yes or no")),
        }
    }

    /// Takes a whole number of 1 or more, if it is given.
    ///
    /// # Errors
    /// It is no such number.
    pub fn count(&mut self, key: &str) -> Result<Option<u64>, ParameterError> {
        let Some(text) = self.take(key) else { return Ok(None) };
        match text.parse() {
            Ok(count) if count > 0 => Ok(Some(count)),
            _ => Err(ParameterError::new(key, "must be a whole number of 1 or more")),
        }
    }

    /// Takes one of these words and gives what it stands for, or gives the default.
    ///
    /// # Errors
    /// It is none of them.
    pub fn word<T: Copy>(&mut self, key: &str, default: T, words: &[(&str, T)]) -> Result<T, ParameterError> {
        let Some(text) = self.take(key) else { return Ok(default) };
        let found = words.iter().find(|(word, _)| *word == text).map(|(_, meaning)| *meaning);
        found.ok_or_else(|| {
            let words: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            ParameterError::new(key, &format!("must be {}", words.join(" or ")))
        })
    }

    /// Fails if a parameter is left that nobody took; `what` they were for.
    pub(super) fn finish(self, what: &str) -> Result<(), ParameterError> {
        match self.pairs.into_iter().next() {
            Some((key, _)) => Err(ParameterError { key, problem: format!("is not known to this {what}") }),
            None => Ok(()),
        }
    }

    fn take(&mut self, key: &str) -> Option<String> {
        let place = self.pairs.iter().position(|(other, _)| other == key)?;
        Some(self.pairs.remove(place).1)
    }
}
