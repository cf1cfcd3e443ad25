//! Controllers by name.

use super::{
    Controller, aimd, bbr, bic, cubic, fixed, hobhis, mircc, nack_suppressing, pcon, raaqm,
    stateful_forwarding,
};
use packet::parameters::{ParameterError, Parameters};
use packet::registry::{AddError, Named, Registry, Spec, Startable};

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

static CONTROLLERS: Registry<ControllerKind> = Registry::new(&[
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
]);

impl Named for ControllerKind {
    const WHAT: &'static str = "controller";

    fn word(&self) -> &'static str {
        self.word
    }
}

impl Startable for ControllerKind {
    /// A seed, which decides what it does by chance.
    type Setting<'a> = u64;
    type Started = Box<dyn Controller>;

    fn registry() -> &'static Registry<Self> {
        &CONTROLLERS
    }

    fn check(&self, parameters: &mut Parameters) -> Result<(), ParameterError> {
        (self.start)(parameters, 0).map(|_| ())
    }

    fn start(&self, mut parameters: Parameters, seed: u64) -> Box<dyn Controller> {
        match (self.start)(&mut parameters, seed) {
            Ok(controller) => controller,
            // Parameters were checked when the specification was made.
            Err(error) => unreachable!("{error}"),
        }
    }
}

/// Adds controllers to those that can be chosen by name, wherever a name is looked up in this process. To be
/// called once, when the program begins.
///
/// # Errors
/// A name is taken, or it is too late.
pub fn add_controllers(added: Vec<ControllerKind>) -> Result<(), AddError> {
    CONTROLLERS.add(added)
}

/// Which controller, with which parameters.
///
/// ```
/// use cairn_flow::ControllerSpec;
/// let spec: ControllerSpec = "aimd/beta~0.7/max~100".parse()?;
/// assert_eq!(spec.to_string(), "aimd/beta~0.7/max~100");
/// assert_eq!(spec.start(1).allowance().window, 2.0);
/// assert!("aimd/beta~7".parse::<ControllerSpec>().is_err());
/// # Ok::<(), cairn_flow::SpecError>(())
/// ```
pub type ControllerSpec = Spec<ControllerKind>;

impl Default for ControllerKind {
    /// CUBIC, as in the chunk tools of NDN.
    fn default() -> Self {
        CUBIC
    }
}

/// The words of all controllers, for help texts.
pub fn controller_names() -> impl Iterator<Item = &'static str> {
    CONTROLLERS.words()
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
        assert_eq!(add_controllers(vec![OWN, again]), Err(AddError::Taken("bbr")));
        assert!(controller_names().count() >= 11);
        assert_eq!(add_controllers(vec![OWN]), Err(AddError::TooLate));
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
