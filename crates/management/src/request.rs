//! Names of the protocol: `/localhost/nfd/<module>/<verb>/…`.

use packet::error::DecodeError;
use packet::ndn::InterestBuilder;
use packet::{Component, ComponentKind, Name, NameRef};

use crate::command::Command;
use crate::command_scope::CommandScope;
use crate::face_query_filter::FaceQueryFilter;
use crate::words::by_words;

by_words! {
    /// What a forwarder can be asked about.
    Dataset {
        /// The forwarder as a whole: [`crate::GeneralStatus`].
        StatusGeneral = "status" / "general";
        /// All faces: [`crate::FaceStatus`].
        FacesList = "faces" / "list";
        /// The faces that a filter selects: [`crate::FaceStatus`].
        FacesQuery = "faces" / "query";
        /// Where the forwarder listens: [`crate::ChannelStatus`].
        FacesChannels = "faces" / "channels";
        /// Next hops: [`crate::FibEntry`].
        FibList = "fib" / "list";
        /// Routes: [`crate::RibEntry`].
        RibList = "rib" / "list";
        /// The content store: [`crate::CsInfo`].
        CsInfo = "cs" / "info";
        /// Chosen strategies: [`crate::StrategyChoice`].
        StrategyList = "strategy-choice" / "list";
    }
}

impl Dataset {
    /// Its name, without version and segment.
    ///
    /// # Errors
    /// None for the names there are.
    pub fn name(self) -> Result<Name, DecodeError> {
        let (module, verb) = self.words();
        CommandScope::Localhost.name(module, verb)
    }

    /// The name of the dataset of faces that `filter` selects.
    ///
    /// # Errors
    /// More bytes than a name can have.
    pub fn faces_query(filter: &FaceQueryFilter) -> Result<Name, DecodeError> {
        Dataset::FacesQuery.name()?.with(Component::generic(&filter.encode()))
    }
}

/// What a request is for, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// Something to do.
    Command(Command),
    /// Something to tell.
    Dataset(Dataset),
    /// What happens to faces, as it happens: [`crate::FaceEventNotification`].
    FaceEvents,
}

/// A name of the protocol, taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestName<'a> {
    /// From how far the request may come.
    pub scope: CommandScope,
    /// What it is for.
    pub target: Target,
    /// The whole name.
    name: NameRef<'a>,
}

/// Components before the parameters of a request.
const FIXED_COMPONENTS: usize = 4;

impl<'a> RequestName<'a> {
    /// Takes `name` apart; `None` if it is no name of the protocol, or of a module or verb that is not known.
    pub fn parse(name: NameRef<'a>) -> Option<Self> {
        let mut components = name.components();
        let mut word = || {
            let component = components.next()?;
            (component.kind == ComponentKind::GENERIC).then_some(component.value)
        };
        let scope = match (word()?, word()?) {
            (b"localhost", b"nfd") => CommandScope::Localhost,
            (b"localhop", b"nfd") => CommandScope::Localhop,
            _ => return None,
        };
        let (module, verb) = (word()?, word()?);
        let target = match (Command::from_words(module, verb), Dataset::from_words(module, verb)) {
            (Some(command), _) => Target::Command(command),
            (None, Some(dataset)) => Target::Dataset(dataset),
            (None, None) if (module, verb) == (b"faces", b"events") => Target::FaceEvents,
            (None, None) => return None,
        };
        Some(RequestName { scope, target, name })
    }

    /// The component behind the verb: parameters of a command, a filter, a version.
    pub fn parameter(&self) -> Option<Component<'a>> {
        self.name.component(FIXED_COMPONENTS)
    }

    /// The last component of the whole name.
    pub fn last(&self) -> Option<Component<'a>> {
        self.name.last()
    }
}

/// The name of the stream of face events.
///
/// # Errors
/// None.
pub fn face_events_name() -> Result<Name, DecodeError> {
    CommandScope::Localhost.name("faces", "events")
}

/// The Interest that asks for the newest version of the dataset called `name`.
pub fn discovery_interest(name: Name) -> InterestBuilder {
    InterestBuilder::new(name).can_be_prefix(true).must_be_fresh(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(uri: &str) -> Option<Target> {
        let name: Name = uri.parse().unwrap();
        RequestName::parse(name.as_ref()).map(|request| request.target)
    }

    #[test]
    fn names_of_the_protocol_are_taken_apart_and_others_are_not() {
        assert_eq!(target("/localhost/nfd/rib/register/x"), Some(Target::Command(Command::RibRegister)));
        assert_eq!(target("/localhost/nfd/faces/list/v=1/seg=0"), Some(Target::Dataset(Dataset::FacesList)));
        assert_eq!(target("/localhost/nfd/faces/events/seq=1"), Some(Target::FaceEvents));
        for other in [
            "/localhost/nfd",
            "/localhost/nfd/rib",
            "/localhost/nfd/rib/unknown",
            "/localhost/nfd/register/rib",
            "/localhost/other/rib/list",
            "/localhost/nfd/32=rib/list",
            "/A",
        ] {
            assert_eq!(target(other), None, "{other}");
        }
    }

    #[test]
    fn what_stands_behind_the_verb_can_be_had() {
        let name: Name = "/localhop/nfd/rib/register/p/a/b".parse().unwrap();
        let request = RequestName::parse(name.as_ref()).unwrap();
        assert_eq!(request.scope, CommandScope::Localhop);
        assert_eq!(request.parameter(), Some(Component::generic(b"p")));
        assert_eq!(request.last(), Some(Component::generic(b"b")));
    }
}
