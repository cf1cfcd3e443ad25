//! Making signatures: of Data, and of Interests with what keeps them from being played again.

use packet::ndn::{DataBuilder, InterestBuilder, SignatureInfoBuilder, SignatureType};
use packet::random::Random;
use packet::{Data, Interest, Name};

use crate::digest::sha256;
use crate::error::SignError;
use crate::key::PrivateKey;

/// Signs packets: with a key and the name under which others find it, or without a key. Cloning is cheap.
///
/// It can be handed to several owners and used from several threads.
#[derive(Clone, Debug)]
pub struct Signer(Method);

#[derive(Clone, Debug)]
enum Method {
    Digest,
    Null,
    Key { key: PrivateKey, locator: Locator },
}

#[derive(Clone, Debug)]
enum Locator {
    Name(Name),
    Digest([u8; 32]),
}

impl Signer {
    /// Signs with `key`. `key_locator` is what goes into the packets: the name of the key's certificate, or
    /// of the key.
    pub fn new(key: PrivateKey, key_locator: Name) -> Self {
        Signer(Method::Key { key, locator: Locator::Name(key_locator) })
    }

    /// Signs with `key`; the KeyLocator holds the key's digest.
    ///
    /// # Errors
    /// The digest of the key cannot be computed.
    pub fn with_key_digest(key: PrivateKey) -> Result<Self, crate::KeyError> {
        let digest = key.digest()?;
        Ok(Signer(Method::Key { key, locator: Locator::Digest(digest) }))
    }

    /// DigestSha256: proves that nothing was damaged, and nothing about who wrote it.
    pub fn digest() -> Self {
        Signer(Method::Digest)
    }

    /// The null signature: proves nothing at all.
    pub fn null() -> Self {
        Signer(Method::Null)
    }

    /// The SignatureType of what it signs.
    pub fn signature_type(&self) -> SignatureType {
        match &self.0 {
            Method::Digest => SignatureType::DIGEST_SHA256,
            Method::Null => SignatureType::NULL,
            Method::Key { key, .. } => key.kind().signature_type(),
        }
    }

    /// The name in the KeyLocator of what it signs.
    pub fn key_locator(&self) -> Option<&Name> {
        match &self.0 {
            Method::Key { locator: Locator::Name(name), .. } => Some(name),
            _ => None,
        }
    }

    /// The key, unless it signs without one.
    pub fn key(&self) -> Option<&PrivateKey> {
        match &self.0 {
            Method::Key { key, .. } => Some(key),
            _ => None,
        }
    }

    /// SignatureType and KeyLocator, to which an owner may add.
    pub fn signature_info(&self) -> SignatureInfoBuilder {
        let info = SignatureInfoBuilder::new(self.signature_type());
        match &self.0 {
            Method::Key { locator: Locator::Name(name), .. } => info.key_name(name),
            Method::Key { locator: Locator::Digest(digest), .. } => info.key_digest(digest),
            _ => info,
        }
    }

    /// The largest signature value it makes, in bytes. Those of ECDSA vary below it.
    pub fn max_signature_bytes(&self) -> usize {
        match &self.0 {
            Method::Digest => 32,
            Method::Null => 0,
            Method::Key { key, .. } => key.max_signature_bytes(),
        }
    }

    /// The signature value over `signed_portion`.
    ///
    /// # Errors
    /// The library fails, which it does only without memory or randomness.
    pub fn sign(&self, signed_portion: &[u8]) -> Result<Vec<u8>, SignError> {
        match &self.0 {
            Method::Digest => Ok(sha256(signed_portion).to_vec()),
            Method::Null => Ok(Vec::new()),
            Method::Key { key, .. } => key.sign(signed_portion),
        }
    }

    /// Encodes and signs a Data.
    ///
    /// # Errors
    /// More than 8,800 bytes with the signature; the library fails.
    pub fn sign_data(&self, data: &DataBuilder) -> Result<Data, SignError> {
        self.sign_data_with(data, &self.signature_info())
    }

    /// The same with a SignatureInfo of the owner's, as certificates need it.
    pub(crate) fn sign_data_with(
        &self,
        data: &DataBuilder,
        info: &SignatureInfoBuilder,
    ) -> Result<Data, SignError> {
        let mut failure = None;
        let signed = data.build_signed(info, |portion| {
            self.sign(portion).unwrap_or_else(|error| {
                failure = Some(error);
                Vec::new()
            })
        });
        failure.map_or(Ok(signed?), Err)
    }

    /// Encodes and signs an Interest. What makes it different from others stands in `freshness`.
    ///
    /// # Errors
    /// As [`Signer::sign_data`]; a name without components.
    pub fn sign_interest(
        &self,
        interest: &InterestBuilder,
        freshness: Freshness,
    ) -> Result<Interest, SignError> {
        let mut info = self.signature_info();
        if let Some(nonce) = freshness.nonce {
            info = info.nonce(nonce);
        }
        if let Some(time_ms) = freshness.time_ms {
            info = info.time_ms(time_ms);
        }
        if let Some(number) = freshness.sequence_number {
            info = info.sequence_number(number);
        }
        let mut failure = None;
        let signed = interest.build_signed(&info, |portion| {
            self.sign(portion).unwrap_or_else(|error| {
                failure = Some(error);
                Vec::new()
            })
        });
        failure.map_or(Ok(signed?), Err)
    }
}

/// What keeps a signed Interest from being played again. Which of it is asked for is up to the protocol.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Freshness {
    /// SignatureNonce: a random number.
    pub nonce: Option<u64>,
    /// SignatureTime: milliseconds since the Unix epoch.
    pub time_ms: Option<u64>,
    /// SignatureSeqNum: a number that grows.
    pub sequence_number: Option<u64>,
}

/// Signs Interests with a random nonce and a time that grows from one to the next, as forwarders ask of
/// commands.
///
/// The owner reads the clock and hands the time in; two Interests in the same millisecond still get different
/// times.
#[derive(Clone, Debug)]
pub struct InterestSigner {
    signer: Signer,
    random: Random,
    last_time_ms: u64,
}

impl InterestSigner {
    /// Signs with `signer`; nonces come out of `random`.
    pub fn new(signer: Signer, random: Random) -> Self {
        InterestSigner { signer, random, last_time_ms: 0 }
    }

    /// What signs.
    pub fn signer(&self) -> &Signer {
        &self.signer
    }

    /// Encodes and signs `interest` at `unix_time_ms`, milliseconds since the Unix epoch.
    ///
    /// # Errors
    /// As [`Signer::sign_interest`].
    pub fn sign(&mut self, unix_time_ms: u64, interest: &InterestBuilder) -> Result<Interest, SignError> {
        let time_ms = unix_time_ms.max(self.last_time_ms.saturating_add(1));
        self.last_time_ms = time_ms;
        let nonce = self.random.next_u64();
        let freshness = Freshness { nonce: Some(nonce), time_ms: Some(time_ms), sequence_number: None };
        self.signer.sign_interest(interest, freshness)
    }
}
