//! Keys: what they are, where they come from, how they are written down.

pub(crate) mod der;
pub(crate) mod encrypted;
mod private;
mod public;

pub use crate::key_kind::KeyKind;
pub use private::PrivateKey;
pub use public::PublicKey;
