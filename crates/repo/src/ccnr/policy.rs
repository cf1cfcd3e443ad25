//! What a repository is called, and below which names it takes objects: its policy, which is an object, too.

use packet::ccnx::management::RepositoryPolicy;
use packet::ccnx::uri::{self, Escaping};
use packet::ccnx::{Ticks, markers};
use packet::{Component, Data, DecodeError, Name, NameRef};

/// Version of the format.
const FORMAT: &str = "1.5";
/// Where a policy is, below the global prefix.
const PLACE: [&[u8]; 2] = [b"data", b"policy.xml"];
/// Prefixes of objects that a policy may name.
const MAX_NAMESPACES: usize = 64;

/// A policy has more prefixes of objects than are taken over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TooManyNamespaces;

/// A policy in force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Policy {
    pub(super) local_name: String,
    pub(super) global_prefix: Name,
    pub(super) namespaces: Vec<Name>,
    /// When it was made: only a later one takes its place.
    pub(super) version: Ticks,
}

impl Policy {
    /// Whether an object of this name is taken.
    pub(super) fn accepts(&self, name: NameRef<'_>) -> bool {
        let is_below = |prefix: &Name| prefix.as_ref().is_prefix_of(name);
        is_below(&self.global_prefix) || self.namespaces.iter().any(is_below)
    }

    /// The name of all policies, without a version.
    pub(super) fn place(&self) -> Result<Name, DecodeError> {
        let components = PLACE.into_iter().map(Component::generic);
        components.into_iter().try_fold(self.global_prefix.clone(), |name, component| name.with(component))
    }

    /// The name of this one.
    pub(super) fn name(&self) -> Result<Name, DecodeError> {
        self.place()?.with(Component::generic(&markers::version(self.version)))
    }

    /// Whether an object of this name, without a segment, may be a policy.
    pub(super) fn is_policy(&self, object: NameRef<'_>) -> bool {
        let place = self.place();
        place.is_ok_and(|place| {
            place.as_ref().is_prefix_of(object)
                && object.component_count() == place.as_ref().component_count() + 1
        })
    }

    /// The policy in a stored packet that comes after this one, if it is one.
    pub(super) fn successor(&self, data: &Data) -> Option<Result<Policy, TooManyNamespaces>> {
        let place = self.place().ok()?;
        let count = place.as_ref().component_count();
        if !place.as_ref().is_prefix_of(data.name()) || data.component_count() != count + 2 {
            return None;
        }
        let version = markers::parse_version(data.name().component(count)?.value)?;
        let told = RepositoryPolicy::decode(data.content()).ok()?;
        let names: Result<Vec<Name>, _> = told.namespaces.iter().map(|text| uri::parse(text)).collect();
        let namespaces = names.ok()?;
        let is_next = version.count() > self.version.count()
            && uri::parse(told.global_prefix).is_ok_and(|prefix| prefix == self.global_prefix);
        if !is_next {
            return None;
        }
        if namespaces.len() > MAX_NAMESPACES {
            return Some(Err(TooManyNamespaces));
        }
        Some(Ok(Policy {
            local_name: told.local_name.to_owned(),
            global_prefix: self.global_prefix.clone(),
            namespaces,
            version,
        }))
    }

    /// The content of its object.
    pub(super) fn encode(&self) -> Vec<u8> {
        let uri = |name: &Name| {
            uri::format(name.as_ref().components().map(|component| component.value), Escaping::Percent)
        };
        let namespaces: Vec<String> = self.namespaces.iter().map(uri).collect();
        let policy = RepositoryPolicy {
            version: FORMAT,
            local_name: &self.local_name,
            global_prefix: &uri(&self.global_prefix),
            namespaces: namespaces.iter().map(String::as_str).collect(),
        };
        policy.encode()
    }
}
