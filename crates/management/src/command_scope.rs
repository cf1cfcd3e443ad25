//! From how far requests may come.

use packet::{Component, DecodeError, Name};

/// From how far a request may come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CommandScope {
    /// `/localhost/nfd`: applications on the forwarder's host.
    Localhost,
    /// `/localhop/nfd`: neighbours too, where the forwarder allows it; for routes only.
    Localhop,
}

impl CommandScope {
    /// The two components that names of this scope begin with.
    pub const fn words(self) -> (&'static str, &'static str) {
        match self {
            CommandScope::Localhost => ("localhost", "nfd"),
            CommandScope::Localhop => ("localhop", "nfd"),
        }
    }

    /// The name with these two components behind the prefix.
    ///
    /// # Errors
    /// More bytes than a name can have.
    pub fn name(self, module: &str, verb: &str) -> Result<Name, DecodeError> {
        let (scope, protocol) = self.words();
        Name::from_components([scope, protocol, module, verb].map(|word| Component::generic(word.as_bytes())))
    }

    /// The prefix of all names of this scope.
    ///
    /// # Errors
    /// None.
    pub fn prefix(self) -> Result<Name, DecodeError> {
        let (scope, protocol) = self.words();
        Name::from_components([scope, protocol].map(|word| Component::generic(word.as_bytes())))
    }
}
