//! Routes that nodes ask their neighbours for.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Activity, ContentPlan, NodeIndex, Plan};
use crate::experiment::model::Forwarder;

/// A route that a node asks a neighbour for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RegistrationPlan {
    /// The neighbour that is asked.
    pub to: NodeIndex,
    /// The prefix.
    pub prefix: String,
    /// The route's cost.
    pub cost: u32,
    /// What signs the command.
    pub key: RegistrationKey,
    /// Whose key that is, or is said to be.
    pub identity: String,
    /// What is done with Interests for the prefix.
    pub answers: Response,
    /// How often is asked; nothing happens with 0.
    pub attempts: u32,
}

/// What signs a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum RegistrationKey {
    /// A digest.
    None,
    /// A key that is believed.
    Trusted,
    /// Another one by the name of a key that is believed.
    Forged,
    /// The one that the owner had before.
    Stolen,
    /// One that is believed, in a command from this time on.
    Replayed(u64),
}

/// What became of the key that an owner had before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum EarlierKey {
    /// Its certificate counts still.
    Valid,
    /// It has run out.
    Expired,
    /// The owner has revoked it, and whoever checks keys has the record.
    Revoked,
    /// The owner publishes the record that revokes it at this time, and whoever checks keys fetches it.
    Published(u64),
}

impl EarlierKey {
    /// The words for it.
    pub const WORDS: [(&'static str, Self); 4] = [
        ("valid", EarlierKey::Valid),
        ("expired", EarlierKey::Expired),
        ("revoked", EarlierKey::Revoked),
        ("published", EarlierKey::Published(0)),
    ];
}

/// What a node does with Interests that it has got a route for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Response {
    /// It serves its content.
    Content,
    /// They vanish.
    Nothing,
    /// It answers in another's name.
    Forged,
}

/// Who of its neighbours may register routes with a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Registrations {
    /// Nobody.
    Nobody,
    /// Everybody.
    Anyone,
    /// Holders of keys; with `true` only for names of theirs.
    Keys(bool),
}

impl Registrations {
    /// The words for them.
    pub const WORDS: [(&'static str, Self); 4] = [
        ("nobody", Registrations::Nobody),
        ("anyone", Registrations::Anyone),
        ("keys", Registrations::Keys(false)),
        ("owners", Registrations::Keys(true)),
    ];

    /// Those of a forwarder.
    #[must_use]
    pub fn of(forwarder: &Forwarder) -> Self {
        let given = forwarder.registrations.as_deref();
        let known = Self::WORDS.iter().find(|(word, _)| given == Some(*word));
        known.map_or(Registrations::Nobody, |(_, value)| *value)
    }
}

impl Plan {
    /// All registrations, with the nodes that ask.
    pub fn registrations(&self) -> impl Iterator<Item = (NodeIndex, &RegistrationPlan)> {
        self.workloads.iter().filter_map(|workload| match &workload.does {
            Activity::Register(registration) => Some((workload.at, registration)),
            _ => None,
        })
    }

    /// Contents whose owners publish what revokes their earlier keys.
    pub fn publishing_owners(&self) -> impl Iterator<Item = &ContentPlan> {
        self.contents.iter().filter(|content| matches!(content.signed, Some(EarlierKey::Published(_))))
    }

    /// The identities whose keys are believed by whoever asks for keys, each once, and what became of the
    /// keys that they had before.
    #[must_use]
    pub fn believed_identities(&self) -> Vec<(&str, Option<EarlierKey>)> {
        let mut believed: BTreeMap<&str, Option<EarlierKey>> = self
            .registrations()
            .filter(|(_, registration)| registration.key == RegistrationKey::Trusted)
            .map(|(_, registration)| (registration.identity.as_str(), None))
            .collect();
        for content in self.contents.iter().filter(|content| content.signed.is_some()) {
            believed.insert(content.prefix.as_str(), content.signed);
        }
        believed.into_iter().collect()
    }
}
