//! Name rules: whose key may sign what.
//!
//! The hierarchical policy, the default, lets an identity sign what lies under its own name. A file of rules
//! says it in finer grain; [`Rules`] describes its form.

mod pattern;
mod rules;

use std::fmt;

use packet::ndn::SignatureType;
use packet::{Name, NameRef};
use thiserror::Error;

use crate::certificate::names;

pub use pattern::{NamePattern, PatternError};
use rules::Finding;
pub use rules::{Rules, RulesError};

/// What kind of packet asks to be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaimKind {
    /// A Data that is no certificate.
    Data,
    /// An Interest: a command, mostly.
    Interest,
    /// A certificate.
    Certificate,
}

impl fmt::Display for ClaimKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ClaimKind::Data => "data",
            ClaimKind::Interest => "interest",
            ClaimKind::Certificate => "certificate",
        })
    }
}

/// A packet and the key that signed it, as far as names tell.
#[derive(Clone, Copy, Debug)]
pub struct Claim<'a> {
    /// What kind of packet it is.
    pub kind: ClaimKind,
    /// Its name.
    pub name: NameRef<'a>,
    /// The name in its KeyLocator: of a key or a certificate.
    pub signer: NameRef<'a>,
    /// Its algorithm.
    pub signature_type: SignatureType,
}

/// Why the policy refuses a claim.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PolicyError {
    /// The key's identity is no prefix of the packet's name.
    #[error(
        "{name} is signed by {signer}, and only {signer} and what lies under it may be (hierarchical policy)"
    )]
    NotUnderSigner {
        /// The packet.
        name: Name,
        /// The identity of the key.
        signer: Name,
    },
    /// The rules fit the names in too many ways to try them all.
    #[error("names of {name} and {signer} components fit the rules in too many ways to try them all")]
    TooCostly {
        /// Components of the packet's name.
        name: usize,
        /// Components of the identity's name.
        signer: usize,
    },
    /// No rule allows it.
    #[error("no rule lets {signer} sign the {kind} {name}")]
    NoRule {
        /// What kind of packet it is.
        kind: ClaimKind,
        /// The packet.
        name: Name,
        /// The identity of the key.
        signer: Name,
    },
}

/// Whose key may sign what.
#[derive(Clone, Debug, Default)]
pub enum Policy {
    /// An identity may sign packets, and certify identities, under its own name.
    #[default]
    Hierarchical,
    /// What one of the rules allows.
    Rules(Rules),
    /// Every key that leads up to a trust anchor may sign everything.
    AnySigner,
}

impl Policy {
    /// Whether the names of `claim` go together.
    ///
    /// # Errors
    /// They do not, and why.
    pub fn check(&self, claim: Claim<'_>) -> Result<(), PolicyError> {
        let identity = names::identity_of(claim.signer).unwrap_or(claim.signer);
        match self {
            Policy::AnySigner => Ok(()),
            Policy::Hierarchical if identity.is_prefix_of(claim.name) => Ok(()),
            Policy::Hierarchical => {
                Err(PolicyError::NotUnderSigner { name: claim.name.to_name(), signer: identity.to_name() })
            }
            Policy::Rules(rules) => match rules.allow(claim, identity) {
                Finding::Allowed => Ok(()),
                Finding::TooCostly => Err(PolicyError::TooCostly {
                    name: claim.name.component_count(),
                    signer: identity.component_count(),
                }),
                Finding::NotAllowed => Err(PolicyError::NoRule {
                    kind: claim.kind,
                    name: claim.name.to_name(),
                    signer: identity.to_name(),
                }),
            },
        }
    }
}
