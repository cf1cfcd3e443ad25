//! Parameters of what is chosen by name: `key~value`, as NFD's strategies have them behind their version, and
//! controllers and workloads behind their word.

use std::str::FromStr;

use thiserror::Error;

use crate::time::Duration;

/// A parameter that is not taken. Its text stays one line, whatever the parameter is called: it may come from
/// a command, and go into a log.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("parameter {}: {problem}", key.escape_debug())]
pub struct ParameterError {
    /// The parameter.
    pub key: String,
    /// What is wrong with it.
    pub problem: String,
    is_of_unknown_key: bool,
}

impl ParameterError {
    /// What is wrong with the parameter `key`.
    pub fn new(key: &str, problem: &str) -> Self {
        ParameterError { key: key.into(), problem: problem.into(), is_of_unknown_key: false }
    }

    /// Whether there is no such parameter, whatever its value.
    pub fn is_of_unknown_key(&self) -> bool {
        self.is_of_unknown_key
    }
}

/// Parameters not yet taken by what they are for.
///
/// ```
/// use cairn_packet::parameters::Parameters;
/// let mut parameters = Parameters::default();
/// parameters.set("beta", "0.8");
/// assert_eq!(parameters.factor("beta", 0.5)?, 0.8);
/// assert_eq!(parameters.count("retries", 3)?, 3);
/// parameters.finish("controller")?;
/// # Ok::<(), cairn_packet::parameters::ParameterError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parameters {
    pairs: Vec<(String, String)>,
}

impl Parameters {
    /// Adds one parameter. What is said twice is taken once, and is then one too many.
    pub fn set(&mut self, key: &str, value: &str) {
        self.pairs.push((key.into(), value.into()));
    }

    /// Adds one parameter that is written `key~value`.
    ///
    /// # Errors
    /// It is written otherwise.
    pub fn add(&mut self, written: &str) -> Result<(), ParameterError> {
        let Some((key, value)) = written.split_once('~') else {
            return Err(ParameterError::new(written, "must have the form key~value"));
        };
        self.set(key, value);
        Ok(())
    }

    /// Sets one parameter, whether or not it was set before.
    pub fn replace(&mut self, key: &str, value: &str) {
        self.pairs.retain(|(other, _)| other != key);
        self.set(key, value);
    }

    /// All that are left, in the order in which they were said.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.pairs.iter().map(|(key, value)| (key.as_str(), value.as_str()))
    }

    /// Takes a number within bounds, both allowed, or gives the default. Without bounds those of `f64`.
    ///
    /// # Errors
    /// It is no number, or out of bounds.
    pub fn number(&mut self, key: &str, default: f64, bounds: (f64, f64)) -> Result<f64, ParameterError> {
        let (low, high) = bounds;
        let Some(text) = self.take(key) else { return Ok(default) };
        match text.parse::<f64>() {
            Ok(number) if (low..=high).contains(&number) => Ok(number),
            _ if bounds == (f64::MIN, f64::MAX) => Err(ParameterError::new(key, "must be a finite number")),
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
        self.word(key, default, &[("yes", true), ("no", false)])
    }

    /// Takes a count, or gives the default.
    ///
    /// # Errors
    /// It is no whole number of 32 bits.
    pub fn count(&mut self, key: &str, default: u32) -> Result<u32, ParameterError> {
        Ok(self.parse(key, "must be a whole number")?.unwrap_or(default))
    }

    /// Takes a limit, a whole number of 1 or more, if it is given.
    ///
    /// # Errors
    /// It is no such number.
    pub fn limit(&mut self, key: &str) -> Result<Option<u64>, ParameterError> {
        const PROBLEM: &str = "must be a whole number of 1 or more";
        match self.parse(key, PROBLEM)? {
            Some(0) => Err(ParameterError::new(key, PROBLEM)),
            limit => Ok(limit),
        }
    }

    /// Takes a span of whole milliseconds, or gives the default.
    ///
    /// # Errors
    /// It is no whole number.
    pub fn millis(&mut self, key: &str, default: Duration) -> Result<Duration, ParameterError> {
        let millis = self.parse(key, "must be a whole number of milliseconds")?;
        Ok(millis.map_or(default, Duration::from_millis))
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
    ///
    /// # Errors
    /// One is left.
    pub fn finish(self, what: &str) -> Result<(), ParameterError> {
        match self.pairs.into_iter().next() {
            Some((key, _)) => {
                let problem = format!("is not known to this {what}");
                Err(ParameterError { key, problem, is_of_unknown_key: true })
            }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_with_a_value_is_said_in_one_line() {
        let problem = |key: &str, value: &str, take: fn(&mut Parameters, &str) -> Option<ParameterError>| {
            let mut parameters = Parameters::default();
            parameters.set(key, value);
            take(&mut parameters, key).map(|error| error.to_string())
        };
        let number: fn(&mut Parameters, &str) -> Option<ParameterError> =
            |parameters, key| parameters.number(key, 0.0, (f64::MIN, f64::MAX)).err();
        assert_eq!(problem("a", "-1e300", number), None);
        for odd in ["inf", "NaN", "much"] {
            assert_eq!(
                problem("a\n", odd, number).as_deref(),
                Some("parameter a\\n: must be a finite number")
            );
        }
        let limit: fn(&mut Parameters, &str) -> Option<ParameterError> =
            |parameters, key| parameters.limit(key).err();
        assert_eq!(problem("n", "1", limit), None);
        assert!(problem("n", "0", limit).is_some_and(|words| words.ends_with("of 1 or more")));
        let yes: fn(&mut Parameters, &str) -> Option<ParameterError> =
            |parameters, key| parameters.yes(key, true).err();
        assert_eq!(problem("x", "maybe", yes).as_deref(), Some("parameter x: must be yes or no"));
    }

    #[test]
    fn a_parameter_that_nobody_took_or_that_was_said_twice_is_one_too_many() {
        let mut parameters = Parameters::default();
        parameters.set("a", "1");
        parameters.set("a", "2");
        assert_eq!(parameters.count("a", 0), Ok(1));
        let left = parameters.clone().finish("strategy").unwrap_err();
        assert!(left.is_of_unknown_key() && left.to_string() == "parameter a: is not known to this strategy");
        parameters.replace("a", "3");
        assert_eq!((parameters.count("a", 0), parameters.finish("strategy")), (Ok(3), Ok(())));
    }
}
