//! Why a key's signature does not count.

use packet::Name;
use thiserror::Error;
use trust::{ValidityPeriod, VerifyError};

/// Why what a key has signed is not carried out or believed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum KeyRejection {
    /// The signature names no key.
    #[error("its signature does not name a key")]
    NoKeyName,
    /// Nothing is known about the key.
    #[error("{0} is not a trusted key")]
    Unknown(Name),
    /// Its certificate counts at another time.
    #[error("{certificate} is valid {validity}")]
    NotValidNow {
        /// The certificate.
        certificate: Name,
        /// When it counts.
        validity: ValidityPeriod,
    },
    /// Its owner or issuer has revoked it.
    #[error("{certificate} is revoked by {record}")]
    Revoked {
        /// The certificate.
        certificate: Name,
        /// The record.
        record: Name,
    },
    /// It may do other things.
    #[error("{certificate} may not {}", what(.module))]
    NotPrivileged {
        /// The certificate.
        certificate: Name,
        /// The module of commands that were given; `None` for an announcement.
        module: Option<&'static str>,
    },
    /// The prefix that is announced is not below the identity.
    #[error("{0} does not own the prefix")]
    NotOwner(Name),
    /// The signature does not hold.
    #[error(transparent)]
    Signature(#[from] VerifyError),
}

fn what(module: &Option<&'static str>) -> String {
    module.map_or_else(|| "make routes".to_owned(), |module| format!("give commands for {module}"))
}
