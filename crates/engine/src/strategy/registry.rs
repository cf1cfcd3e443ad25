//! Strategies by name: `/localhost/nfd/strategy/<strategy>/v=<version>/<key>~<value>…`.

use packet::registry::{AddError, Named, Registry, Spec, Startable, UnknownWord};
use packet::{Component, ComponentKind, Name};
use thiserror::Error;

use super::{
    Strategy, access, asf, best_route, load_balance, multicast, random, self_learning, stateful_forwarding,
};
use crate::tables::content_store::placement::CachePlacement;
use packet::parameters::{ParameterError, Parameters};

/// A strategy that can be chosen by its name.
#[derive(Clone, Copy, Debug)]
pub struct StrategyKind {
    /// What it is called: the component behind `/localhost/nfd/strategy`.
    pub word: &'static str,
    /// Its version, which stands behind the word.
    pub version: u64,
    /// Makes an instance from its parameters, of which it takes those that it knows. Called when the
    /// strategy is chosen for a prefix, and to check parameters; never for a packet.
    pub start: fn(&mut Parameters) -> Result<Box<dyn Strategy>, ParameterError>,
}

/// What the name of a strategy begins with.
const STRATEGY_PREFIX: [&str; 3] = ["localhost", "nfd", "strategy"];

/// All strategies; ours first. Versions are those of NFD's strategies of the same name, so that its tools can
/// name them.
static STRATEGIES: Registry<StrategyKind> = Registry::new(&[
    StrategyKind { word: "best-route", version: 5, start: best_route::start },
    StrategyKind { word: "multicast", version: 5, start: multicast::start },
    StrategyKind { word: "access", version: 1, start: access::start },
    StrategyKind { word: "asf", version: 5, start: asf::start },
    StrategyKind { word: "self-learning", version: 1, start: self_learning::start },
    StrategyKind { word: "random", version: 1, start: random::start },
    StrategyKind { word: "load-balance", version: 1, start: load_balance::start },
    StrategyKind { word: "stateful-forwarding", version: 1, start: stateful_forwarding::start },
]);

impl Named for StrategyKind {
    const WHAT: &'static str = "strategy";

    fn word(&self) -> &'static str {
        self.word
    }
}

impl Startable for StrategyKind {
    type Setting<'a> = ();
    type Started = Result<Box<dyn Strategy>, ParameterError>;

    fn registry() -> &'static Registry<Self> {
        &STRATEGIES
    }

    fn check(&self, parameters: &mut Parameters) -> Result<(), ParameterError> {
        (self.start)(parameters).map(|_| ())
    }

    fn start(&self, mut parameters: Parameters, (): ()) -> Self::Started {
        (self.start)(&mut parameters)
    }
}

/// Adds strategies to those that can be chosen by name, wherever a name is looked up in this process. To be
/// called once, when the program begins.
///
/// # Errors
/// A name is taken, or it is too late.
pub fn add_strategies(added: Vec<StrategyKind>) -> Result<(), AddError> {
    STRATEGIES.add(added)
}

/// A strategy that cannot be had.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum StrategyError {
    /// The name is not a strategy's.
    #[error(transparent)]
    Unknown(#[from] UnknownWord),
    /// The strategy exists, but not in this version.
    #[error("strategy {word} exists in version {available}, not {wanted}")]
    Version {
        /// The strategy.
        word: &'static str,
        /// The version that exists.
        available: u64,
        /// The version asked for.
        wanted: u64,
    },
    /// A parameter is wrong.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
}

impl StrategyError {
    /// There is no strategy that is called so.
    pub fn unknown(called: &str) -> Self {
        StrategyError::Unknown(STRATEGIES.unknown(called))
    }
}

/// Which strategy, with which parameters.
///
/// ```
/// use cairn_engine::StrategySpec;
/// let spec: StrategySpec = "best-route".parse()?;
/// assert_eq!(spec.name().to_string(), "/localhost/nfd/strategy/best-route/v=5");
/// # Ok::<(), cairn_engine::StrategyError>(())
/// ```
#[derive(Clone, Debug)]
pub struct StrategySpec {
    name: Name,
    choice: Spec<StrategyKind>,
}

impl PartialEq for StrategySpec {
    fn eq(&self, other: &Self) -> bool {
        // The version stands in the name.
        self.name == other.name && self.choice == other.choice
    }
}

impl Eq for StrategySpec {}

/// A strategy at work for one prefix.
#[derive(Debug)]
pub(crate) struct Instance {
    pub(crate) name: Name,
    /// The prefix it was chosen for.
    pub(crate) prefix: Name,
    pub(crate) strategy: Box<dyn Strategy>,
    /// Whether Data is shown to it, because it says so of itself, or because the placement of copies goes
    /// along.
    pub(crate) watches_data: bool,
    /// What it says of itself, asked once.
    pub(crate) sends_new_to_first: bool,
}

impl StrategySpec {
    /// The strategy with this name. Without a version it is the one that exists.
    ///
    /// # Errors
    /// No such strategy or version, or a component behind the version that is not `key~value`.
    pub fn from_name(name: &Name) -> Result<Self, StrategyError> {
        let unknown = || StrategyError::unknown(&name.to_string());
        let mut components = name.components();
        for expected in STRATEGY_PREFIX {
            if components.next() != Some(Component::generic(expected.as_bytes())) {
                return Err(unknown());
            }
        }
        let word =
            components.next().and_then(|word| std::str::from_utf8(word.value).ok()).ok_or_else(unknown)?;
        let known = *STRATEGIES.find(word).ok_or_else(unknown)?;
        StrategySpec::of_kind(known, name)
    }

    /// The strategy of this kind, without parameters: for one that was not [added](add_strategies).
    ///
    /// # Errors
    /// Its word makes no name, or it does not start without parameters.
    pub fn of(kind: StrategyKind) -> Result<Self, StrategyError> {
        let name = canonical_name(&kind).map_err(|_| StrategyError::unknown(kind.word))?;
        StrategySpec::of_kind(kind, &name)
    }

    /// The strategy of this kind by its name, which begins with that of the kind.
    fn of_kind(known: StrategyKind, name: &Name) -> Result<Self, StrategyError> {
        let unknown = || StrategyError::unknown(&name.to_string());
        let mut components = name.components().skip(STRATEGY_PREFIX.len() + 1);
        let version = components.next();
        let wanted = version.map(|version| match version.kind {
            ComponentKind::VERSION => version.number(),
            _ => None,
        });
        if let Some(wanted) = wanted {
            let wanted = wanted.ok_or_else(unknown)?;
            if wanted != known.version {
                return Err(StrategyError::Version { word: known.word, available: known.version, wanted });
            }
        }
        let mut parameters = Parameters::default();
        for component in components {
            let text = std::str::from_utf8(component.value)
                .map_err(|_| ParameterError::new(&component.to_string(), "is no text"))?;
            parameters.add(text)?;
        }
        let name = match wanted {
            Some(_) => name.clone(),
            None => canonical_name(&known).map_err(|_| unknown())?,
        };
        // Bad parameters are found here, not when the first packet comes.
        Ok(StrategySpec { name, choice: Spec::new(known, parameters)? })
    }

    /// The full name, version included.
    pub fn name(&self) -> &Name {
        &self.name
    }

    /// Starts the strategy for the names under `prefix`.
    pub(crate) fn start(&self, prefix: Name, placement: CachePlacement) -> Result<Instance, StrategyError> {
        let strategy = self.choice.start(())?;
        let watches_data = strategy.watches_data() || placement.marks_data();
        let sends_new_to_first = strategy.sends_new_to_first();
        Ok(Instance { name: self.name.clone(), prefix, strategy, watches_data, sends_new_to_first })
    }
}

impl std::str::FromStr for StrategySpec {
    type Err = StrategyError;

    /// Reads a full strategy name, or the strategy's word followed by parameters: `best-route`,
    /// `stateful-forwarding/rate~1000/depth~50`.
    fn from_str(text: &str) -> Result<Self, StrategyError> {
        let unknown = || StrategyError::unknown(text);
        let uri = if text.starts_with('/') {
            text.to_owned()
        } else {
            let (word, parameters) = text.split_once('/').unwrap_or((text, ""));
            let kind = STRATEGIES.find(word).ok_or_else(unknown)?;
            format!("/localhost/nfd/strategy/{word}/v={}/{parameters}", kind.version)
        };
        StrategySpec::from_name(&uri.parse().map_err(|_| unknown())?)
    }
}

/// Full names of all strategies, for help texts and for management.
pub fn strategy_names() -> impl Iterator<Item = Name> {
    STRATEGIES.iter().filter_map(|kind| canonical_name(kind).ok())
}

fn canonical_name(kind: &StrategyKind) -> Result<Name, packet::name::UriError> {
    format!("/localhost/nfd/strategy/{}/v={}", kind.word, kind.version).parse()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(text: &str) -> Result<String, String> {
        text.parse::<StrategySpec>().map(|spec| spec.name().to_string()).map_err(|error| error.to_string())
    }

    #[test]
    fn strategies_are_named_by_word_or_in_full() {
        assert_eq!(spec("multicast"), Ok("/localhost/nfd/strategy/multicast/v=5".into()));
        assert_eq!(
            spec("/localhost/nfd/strategy/multicast"),
            Ok("/localhost/nfd/strategy/multicast/v=5".into())
        );
        let long = "/localhost/nfd/strategy/best-route/v=5/retx-suppression-max~500";
        assert_eq!(spec(long), Ok(long.into()));
        assert_eq!(spec("best-route/retx-suppression-max~500"), Ok(long.into()));
        for name in strategy_names() {
            assert_eq!(StrategySpec::from_name(&name).unwrap().name(), &name);
        }
    }

    const OURS: &str =
        "best-route, multicast, access, asf, self-learning, random, load-balance, stateful-forwarding";
    const OWN: StrategyKind = StrategyKind { word: "own", version: 3, start: best_route::start };

    #[test]
    fn a_strategy_that_was_not_added_is_had_from_its_kind_and_not_by_its_name() {
        let own = StrategySpec::of(OWN).unwrap();
        assert_eq!(own.name().to_string(), "/localhost/nfd/strategy/own/v=3");
        assert_eq!(own.start(Name::root(), CachePlacement::default()).unwrap().name, *own.name());
        assert_eq!(spec("own"), Err(format!("there is no strategy own; there are {OURS}")));
    }

    #[test]
    fn strategies_are_added_under_names_of_their_own_and_before_any_is_looked_up() {
        let again = StrategyKind { word: "asf", ..OWN };
        assert_eq!(add_strategies(vec![OWN, again]), Err(AddError::Taken("asf")));
        assert_eq!(add_strategies(vec![OWN, OWN]), Err(AddError::Taken("own")));
        assert!(strategy_names().count() >= 8);
        assert_eq!(add_strategies(vec![OWN]), Err(AddError::TooLate));
    }

    #[test]
    fn what_is_wrong_with_a_strategy_is_said() {
        for text in ["bestroute", "/localhost/nfd/strategy/x", "/a"] {
            assert_eq!(spec(text), Err(format!("there is no strategy {text}; there are {OURS}")));
        }
        for (text, message) in [
            ("/localhost/nfd/strategy/multicast/v=4", "strategy multicast exists in version 5, not 4"),
            ("multicast/fast", "parameter fast: must have the form key~value"),
            ("multicast/speed~1", "parameter speed: is not known to this strategy"),
            (
                "best-route/retx-suppression-initial~soon",
                "parameter retx-suppression-initial: must be a whole number of milliseconds",
            ),
            (
                "best-route/retx-suppression-max~1",
                "parameter retx-suppression-max: must not be below retx-suppression-initial",
            ),
        ] {
            assert_eq!(spec(text), Err(message.into()));
        }
    }
}
