//! Who may have a repository of CCNx store something.

use packet::Data;
use packet::ccnx::Scope;
use trust::PublicKey;
use trust::ccnx::verify;

/// Where an Interest came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InterestOrigin {
    /// From an application on this host.
    Host,
    /// From somewhere else.
    Elsewhere,
    /// A forwarder has brought it. It lets an Interest in from elsewhere only if its Scope allows that.
    Forwarder,
}

/// Whose objects are stored. Commands of CCNx are not signed: what can be told is where they come from, and
/// who has signed what is to be stored.
#[derive(Clone, Debug, Default)]
pub enum Authority {
    /// Those of applications on this host: the command comes from one, and so must the object, for which
    /// nobody else is asked.
    #[default]
    Host,
    /// Those whose every packet one of these publishers has signed, wherever they come from.
    Publishers(Vec<PublicKey>),
    /// Everybody's, as ccnr does.
    Anyone,
}

impl Authority {
    /// Whether an Interest of this origin and scope may have something stored.
    pub(super) fn may_command(&self, origin: InterestOrigin, scope: Option<Scope>) -> bool {
        match (self, origin) {
            (Authority::Publishers(_) | Authority::Anyone, _) | (Authority::Host, InterestOrigin::Host) => {
                true
            }
            (Authority::Host, InterestOrigin::Forwarder) => {
                scope.is_some_and(|scope| scope.number() <= Scope::HOST.number())
            }
            (Authority::Host, InterestOrigin::Elsewhere) => false,
        }
    }

    /// How far the Interests for an object may go.
    pub(super) fn scope(&self) -> Option<Scope> {
        match self {
            Authority::Host => Some(Scope::HOST),
            Authority::Publishers(_) | Authority::Anyone => None,
        }
    }

    /// Whether a packet may be stored.
    pub(super) fn may_store(&self, data: &Data) -> bool {
        match self {
            Authority::Host | Authority::Anyone => true,
            Authority::Publishers(keys) => data.ccnx().is_some_and(|object| {
                let key = keys.iter().find(|key| key.digest() == *object.publisher());
                key.is_some_and(|key| verify(&object, key).is_ok())
            }),
        }
    }
}
