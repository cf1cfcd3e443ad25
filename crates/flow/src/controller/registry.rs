//! Controllers by name: `<word>/<key>~<value>/<key>~<value>…`.

use std::fmt;
use std::str::FromStr;
use std::sync::OnceLock;

use thiserror::Error;

use super::parameters::{ParameterError, Parameters};
use super::{
    Controller, aimd, bbr, bic, cubic, fixed, hobhis, mircc, nack_suppressing, pcon, raaqm,
    stateful_forwarding,
};

/// Makes a controller from its parameters and a seed for what it does by chance.
pub type StartController = fn(&mut Parameters, u64) -> Result<Box<dyn Controller>, ParameterError>;

/// A controller that can be chosen by its name.
#[derive(Clone, Copy, Debug)]
pub struct ControllerKind {
    /// What it is called.
    pub word: &'static str,
    /// Makes a controller, from those parameters that it knows. Called once for each transfer, and to check
    /// parameters.
    pub start: StartController,
}

const CUBIC: ControllerKind = ControllerKind { word: "cubic", start: cubic::start };

const CONTROLLERS: &[ControllerKind] = &[
    ControllerKind { word: "fixed", start: fixed::start },
    ControllerKind { word: "aimd", start: aimd::start },
    CUBIC,
    ControllerKind { word: "bic", start: bic::start },
    ControllerKind { word: "pcon", start: pcon::start },
    ControllerKind { word: "raaqm", start: raaqm::start },
    ControllerKind { word: "bbr", start: bbr::start },
    ControllerKind { word: "stateful-forwarding", start: stateful_forwarding::start },
    ControllerKind { word: "nack-suppressing", start: nack_suppressing::start },
    ControllerKind { word: "hobhis", start: hobhis::start },
    ControllerKind { word: "mircc", start: mircc::start },
];

/// Controllers of the program's own. Which code a program has is settled when it is linked: this is said
/// once, before any name is looked up, and never changes after that, so that a run can be repeated.
static ADDED: OnceLock<Vec<ControllerKind>> = OnceLock::new();

/// All controllers.
fn kinds() -> impl Iterator<Item = &'static ControllerKind> {
    CONTROLLERS.iter().chain(ADDED.get_or_init(Vec::new))
}

/// Why controllers cannot be added.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum AddControllersError {
    /// There is one of this name already.
    #[error("there is a {0} already")]
    Taken(&'static str),
    /// A name has been looked up, or others were added before: all are added at once, when a program begins.
    #[error("all must be added at once, and before a name is looked up")]
    TooLate,
}

/// Adds controllers to those that can be chosen by name, wherever a name is looked up in this process. To be
/// called once, when the program begins.
///
/// # Errors
/// A name is taken, or it is too late.
pub fn add_controllers(added: Vec<ControllerKind>) -> Result<(), AddControllersError> {
    let mut words: Vec<&str> = CONTROLLERS.iter().map(|kind| kind.word).collect();
    for kind in &added {
        if words.contains(&kind.word) {
            return Err(AddControllersError::Taken(kind.word));
        }
        words.push(kind.word);
    }
    ADDED.set(added).map_err(|_| AddControllersError::TooLate)
}

/// A controller that cannot be had.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ControllerError {
    /// The word is not a controller's.
    #[error("there is no controller {0}; there are {names}", names = controller_names().collect::<Vec<_>>().join(", "))]
    Unknown(String),
    /// A part that is not `key~value`.
    #[error("parameter {0}: must have the form key~value")]
    Form(String),
    /// A parameter is wrong.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
}

/// Which controller, with which parameters.
///
/// ```
/// use flow::ControllerSpec;
/// let spec: ControllerSpec = "aimd/beta~0.7/max~100".parse()?;
/// assert_eq!(spec.to_string(), "aimd/beta~0.7/max~100");
/// assert_eq!(spec.start(1).allowance().window, 2.0);
/// assert!("aimd/beta~7".parse::<ControllerSpec>().is_err());
/// # Ok::<(), flow::ControllerError>(())
/// ```
#[derive(Clone, Debug)]
pub struct ControllerSpec {
    kind: ControllerKind,
    parameters: Parameters,
}

impl PartialEq for ControllerSpec {
    fn eq(&self, other: &Self) -> bool {
        self.word() == other.word() && self.parameters == other.parameters
    }
}

impl Eq for ControllerSpec {}

impl ControllerSpec {
    /// The controller of this kind, without parameters: for one that was not [added](add_controllers).
    ///
    /// # Errors
    /// It does not start without parameters.
    pub fn of(kind: ControllerKind) -> Result<Self, ControllerError> {
        let spec = ControllerSpec { kind, parameters: Parameters::default() };
        spec.check()?;
        Ok(spec)
    }

    /// The controller's word.
    pub fn word(&self) -> &'static str {
        self.kind.word
    }

    /// This specification with one parameter set, whether or not it was set before.
    ///
    /// # Errors
    /// The controller does not take it.
    pub fn with(mut self, key: &str, value: impl fmt::Display) -> Result<Self, ControllerError> {
        self.parameters.pairs.retain(|(other, _)| other != key);
        self.parameters.pairs.push((key.into(), value.to_string()));
        self.check()?;
        Ok(self)
    }

    /// Starts a controller. `seed` decides what it does by chance.
    pub fn start(&self, seed: u64) -> Box<dyn Controller> {
        match self.build(seed) {
            Ok(controller) => controller,
            // Parameters were checked when the specification was made.
            Err(error) => unreachable!("{error}"),
        }
    }

    fn build(&self, seed: u64) -> Result<Box<dyn Controller>, ParameterError> {
        let mut parameters = self.parameters.clone();
        let controller = (self.kind.start)(&mut parameters, seed)?;
        parameters.finish()?;
        Ok(controller)
    }

    fn check(&self) -> Result<(), ControllerError> {
        self.build(0)?;
        Ok(())
    }
}

impl Default for ControllerSpec {
    /// CUBIC, as in the chunk tools of NDN.
    fn default() -> Self {
        ControllerSpec { kind: CUBIC, parameters: Parameters::default() }
    }
}

impl FromStr for ControllerSpec {
    type Err = ControllerError;

    fn from_str(text: &str) -> Result<Self, ControllerError> {
        let mut parts = text.split('/');
        let word = parts.next().unwrap_or_default();
        let kind =
            *kinds().find(|kind| kind.word == word).ok_or_else(|| ControllerError::Unknown(word.into()))?;
        let mut parameters = Parameters::default();
        for part in parts {
            let (key, value) = part.split_once('~').ok_or_else(|| ControllerError::Form(part.into()))?;
            parameters.pairs.push((key.into(), value.into()));
        }
        let spec = ControllerSpec { kind, parameters };
        spec.check()?;
        Ok(spec)
    }
}

impl fmt::Display for ControllerSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())?;
        for (key, value) in &self.parameters.pairs {
            write!(f, "/{key}~{value}")?;
        }
        Ok(())
    }
}

/// The words of all controllers, for help texts.
pub fn controller_names() -> impl Iterator<Item = &'static str> {
    kinds().map(|kind| kind.word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_controller_starts_by_its_word_alone() {
        for word in controller_names() {
            let spec: ControllerSpec = word.parse().unwrap();
            assert_eq!(spec.to_string(), word);
            let allowance = spec.start(1).allowance();
            assert!(allowance.window >= 1.0 && allowance.rate > 0.0, "{word}: {allowance:?}");
        }
    }

    const OWN: ControllerKind = ControllerKind { word: "own", start: fixed::start };

    #[test]
    fn a_controller_that_was_not_added_is_had_from_its_kind_and_not_by_its_name() {
        let own = ControllerSpec::of(OWN).unwrap().with("window", 9).unwrap();
        assert_eq!((own.to_string().as_str(), own.start(1).allowance().window), ("own/window~9", 9.0));
        assert!("own".parse::<ControllerSpec>().is_err());
    }

    #[test]
    fn controllers_are_added_under_names_of_their_own_and_before_any_is_looked_up() {
        let again = ControllerKind { word: "bbr", ..OWN };
        assert_eq!(add_controllers(vec![OWN, again]), Err(AddControllersError::Taken("bbr")));
        assert!(controller_names().count() >= 11);
        assert_eq!(add_controllers(vec![OWN]), Err(AddControllersError::TooLate));
    }

    #[test]
    fn what_is_wrong_with_a_controller_is_said() {
        for (text, message) in [
            ("aimd/beta", "parameter beta: must have the form key~value"),
            ("aimd/beta~2", "parameter beta: must be a number from 0 to 1"),
            ("aimd/initial~NaN", "parameter initial: must be a number of 1 or more"),
            ("aimd/speed~2", "parameter speed: is not known to this controller"),
            ("aimd/reset~maybe", "parameter reset: must be yes or no"),
            ("aimd/beta~0.5/beta~0.6", "parameter beta: is not known to this controller"),
        ] {
            assert_eq!(text.parse::<ControllerSpec>().unwrap_err().to_string(), message);
        }
        let unknown = "reno".parse::<ControllerSpec>().unwrap_err().to_string();
        assert!(unknown.starts_with("there is no controller reno; there are fixed, aimd, "), "{unknown}");
    }

    #[test]
    fn a_parameter_can_be_replaced() {
        let spec: ControllerSpec = "stateful-forwarding/rate~200".parse().unwrap();
        let spec = spec.with("rate", 300).unwrap();
        assert_eq!(spec.to_string(), "stateful-forwarding/rate~300");
        assert_eq!(spec.start(0).allowance(), super::super::Allowance::rate(300.0));
        assert!(spec.with("window", 3).is_err());
    }
}
