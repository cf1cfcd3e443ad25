use crate::ccnx::interest::InterestFields;
use crate::ccnx::markers::{self, CHECKED_START_WRITE, ENUMERATE, KEY_DIGEST, START_WRITE};
use crate::ccnx::name::CcnxNameRef;
use crate::ccnx::ticks::Ticks;
use crate::error::EncodeError;
use crate::name::Component;

/// What the name of an Interest asks of a repository (CCNx 0.8, "Repository protocols" and "Name
/// enumeration"). The marker is found by its place, counted from the end of the name.
///
/// The nonce of a command only makes its name new. What it is made of is not looked at, nor does ccnr.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RepositoryCommand<'a> {
    /// `/<object>/%C1.R.sw/<nonce>`: fetch this object and keep it.
    StartWrite {
        /// The object, as a rule with its version, without a segment.
        object: CcnxNameRef<'a>,
    },
    /// `/<object>/%C1.R.sw-c/<nonce>/<segment>/<digest>`: the same, unless this one packet is stored.
    CheckedStartWrite {
        /// The object without its segment.
        object: CcnxNameRef<'a>,
        /// The component after it, as a rule a segment's number.
        segment: &'a [u8],
        /// The packet's implicit digest.
        digest: &'a [u8; 32],
    },
    /// `/<prefix>/%C1.E.be`, perhaps followed by the component of the repository's key: which components
    /// stand after `prefix` in stored names?
    BeginEnumeration {
        /// What is looked below.
        prefix: CcnxNameRef<'a>,
    },
    /// `/<prefix>/%C1.E.be/<the repository's key>/<version>/<segment>`: a further segment of the answer.
    ContinueEnumeration {
        /// What is looked below.
        prefix: CcnxNameRef<'a>,
        /// When the answer was made.
        version: Ticks,
        /// Which segment.
        segment: u64,
    },
}

impl<'a> RepositoryCommand<'a> {
    /// The command in `name` for the repository whose public key has the digest `key`; `None` for a name that
    /// is none, or is one for another repository.
    pub fn from_name(name: CcnxNameRef<'a>, key: &[u8; 32]) -> Option<Self> {
        let (before_last, last) = name.split_last()?;
        if last == ENUMERATE {
            return Some(RepositoryCommand::BeginEnumeration { prefix: before_last });
        }
        let (rest, marker) = before_last.split_last()?;
        if marker == START_WRITE && !rest.is_empty() {
            return Some(RepositoryCommand::StartWrite { object: rest });
        }
        if marker == ENUMERATE && names_key(last, key) {
            return Some(RepositoryCommand::BeginEnumeration { prefix: rest });
        }
        // What was the marker's place until now holds a version or the component before a digest.
        let middle = marker;
        let (rest, third) = rest.split_last()?;
        let (rest, marker) = rest.split_last()?;
        if marker == CHECKED_START_WRITE {
            let digest = last.try_into().ok()?;
            return Some(RepositoryCommand::CheckedStartWrite { object: rest, segment: middle, digest });
        }
        if marker == ENUMERATE && names_key(third, key) {
            let version = markers::parse_version(middle)?;
            let segment = markers::parse_segment(last)?;
            return Some(RepositoryCommand::ContinueEnumeration { prefix: rest, version, segment });
        }
        None
    }

    /// The Interest by which the repository begins to fetch; `None` if the command does not ask for that.
    ///
    /// # Errors
    /// A name that becomes too long.
    pub fn first_interest(&self) -> Option<Result<Vec<u8>, EncodeError>> {
        match *self {
            RepositoryCommand::StartWrite { object } => {
                Some(interest_below(object, &[&markers::segment(0)], 1))
            }
            RepositoryCommand::CheckedStartWrite { object, segment, digest } => {
                Some(interest_below(object, &[segment, digest], 0))
            }
            RepositoryCommand::BeginEnumeration { .. } | RepositoryCommand::ContinueEnumeration { .. } => {
                None
            }
        }
    }
}

fn names_key(component: &[u8], key: &[u8; 32]) -> bool {
    component.strip_prefix(KEY_DIGEST) == Some(key)
}

fn interest_below(
    object: CcnxNameRef<'_>,
    components: &[&[u8]],
    max_suffix_components: u16,
) -> Result<Vec<u8>, EncodeError> {
    let mut name = object.to_name()?;
    for component in components {
        name = name.with(Component::generic(component))?;
    }
    let max_suffix_components = Some(max_suffix_components);
    InterestFields { max_suffix_components, ..InterestFields::default() }.encode(&name)
}
