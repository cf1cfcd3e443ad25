//! A private key as a Data, which is how ndnd keeps and exchanges it: the name is the key's, the content the
//! key in SEC1 for elliptic curves, PKCS#1 for RSA, PKCS#8 for Ed25519.

use packet::ndn::DataBuilder;
use packet::{ContentType, Data, Name};

use crate::certificate::names;
use crate::error::{KeyError, SignError};
use crate::key::PrivateKey;
use crate::signer::Signer;

/// The content type that ndnd gives such a Data.
const SIGNING_KEY: ContentType = ContentType(9);

const WHAT: &str = "private key in a packet (content type 9)";

/// Reads a key and its name out of such a Data; `None` if the Data is something else.
///
/// # Errors
/// The content is no key, or one of a kind that is not supported.
pub fn open_key_packet(data: &Data) -> Option<Result<(Name, PrivateKey), KeyError>> {
    let view = data.ndn().filter(|view| view.content_type() == SIGNING_KEY)?;
    if !names::is_key_name(view.name()) {
        return Some(Err(KeyError::Malformed(WHAT)));
    }
    Some(PrivateKey::from_der(view.content()).map(|key| (view.name().to_name(), key)))
}

/// Writes `key`, unencrypted, as such a Data.
///
/// # Errors
/// The library fails to write or to sign.
pub fn to_key_packet(key: &PrivateKey, key_name: &Name) -> Result<Data, SignError> {
    let content = key.to_older_der().map_err(|_| SignError::Library(key.kind()))?;
    let data = DataBuilder::new(key_name.clone()).content_type(SIGNING_KEY).content(content);
    Signer::new(key.clone(), key_name.clone()).sign_data(&data)
}
