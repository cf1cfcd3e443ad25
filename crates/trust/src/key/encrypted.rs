//! Private keys under a passphrase: EncryptedPrivateKeyInfo of PKCS#8 with PBES2, as OpenSSL and so ndn-cxx
//! write it.

use std::num::NonZeroU32;

use aws_lc_rs::cipher::{
    AES_128, AES_256, AES_CBC_IV_LEN, DecryptionContext, EncryptionContext, PaddedBlockDecryptingKey,
    PaddedBlockEncryptingKey, UnboundCipherKey,
};
use aws_lc_rs::iv::FixedLength;
use aws_lc_rs::{pbkdf2, rand};

use super::der::{self, Reader, oid};
use super::{KeyKind, PrivateKey};
use crate::error::{KeyError, MAX_PBKDF2_ROUNDS, UnsupportedEncryption, UnsupportedKey};

const WHAT: &str = "encrypted private key (PKCS#8, PBES2)";

/// Rounds of PBKDF2 for keys we write: about a tenth of a second.
const ROUNDS: u32 = 200_000;

const SALT_BYTES: usize = 16;

/// How a key is encrypted.
struct Scheme<'a> {
    salt: &'a [u8],
    rounds: NonZeroU32,
    pseudo_random: pbkdf2::Algorithm,
    key_bytes: usize,
    initial: &'a [u8],
    encrypted: &'a [u8],
}

impl PrivateKey {
    /// Opens a key in DER PKCS#8 that is encrypted under a passphrase (PBES2 with AES-CBC).
    ///
    /// # Errors
    /// The wrong passphrase; encryption or a key of a kind that is not supported.
    pub fn from_encrypted_pkcs8(bytes: &[u8], passphrase: &[u8]) -> Result<Self, KeyError> {
        decrypt(bytes, passphrase)
    }
}

/// Opens an EncryptedPrivateKeyInfo.
///
/// # Errors
/// Another kind of encryption, the wrong passphrase, a key that is not supported.
pub(crate) fn decrypt(encrypted: &[u8], passphrase: &[u8]) -> Result<PrivateKey, KeyError> {
    let scheme = read(encrypted)?;
    let mut key = [0u8; 32];
    let key = key.get_mut(..scheme.key_bytes).ok_or(KeyError::Malformed(WHAT))?;
    pbkdf2::derive(scheme.pseudo_random, scheme.rounds, scheme.salt, passphrase, key);
    let algorithm = if scheme.key_bytes == 16 { &AES_128 } else { &AES_256 };
    let initial: [u8; AES_CBC_IV_LEN] = scheme.initial.try_into().map_err(|_| KeyError::Malformed(WHAT))?;
    let context = DecryptionContext::Iv128(FixedLength::from(initial));
    let mut buffer = scheme.encrypted.to_vec();
    let opened = UnboundCipherKey::new(algorithm, key)
        .and_then(PaddedBlockDecryptingKey::cbc_pkcs7)
        .and_then(|cipher| cipher.decrypt(&mut buffer, context))
        .map_err(|_| KeyError::Passphrase)
        // With the wrong passphrase the padding fits once in a while; then what comes out is no key.
        .and_then(|plain| match PrivateKey::from_der(plain) {
            Err(KeyError::Malformed(_)) => Err(KeyError::Passphrase),
            other => other,
        });
    key.fill(0);
    buffer.fill(0);
    std::hint::black_box((key, buffer));
    opened
}

/// Writes an EncryptedPrivateKeyInfo: PBKDF2 with HMAC-SHA256, AES-256-CBC.
///
/// # Errors
/// The system gives no randomness; an HMAC secret has no such form.
pub(crate) fn encrypt(key: &PrivateKey, passphrase: &[u8]) -> Result<Vec<u8>, KeyError> {
    const AT: KeyError = KeyError::Library("encrypting a key");
    if key.kind() == KeyKind::Hmac {
        return Err(KeyError::Unsupported(UnsupportedKey::EncryptedHmac));
    }
    let (mut salt, mut initial) = ([0u8; SALT_BYTES], [0u8; AES_CBC_IV_LEN]);
    rand::fill(&mut salt).map_err(|_| AT)?;
    rand::fill(&mut initial).map_err(|_| AT)?;
    let mut derived = [0u8; 32];
    let rounds = NonZeroU32::new(ROUNDS).ok_or(AT)?;
    pbkdf2::derive(pbkdf2::PBKDF2_HMAC_SHA256, rounds, &salt, passphrase, &mut derived);
    let mut buffer = key.to_pkcs8()?;
    let cipher = UnboundCipherKey::new(&AES_256, &derived)
        .and_then(PaddedBlockEncryptingKey::cbc_pkcs7)
        .map_err(|_| AT)?;
    let context = EncryptionContext::Iv128(FixedLength::from(initial));
    cipher.less_safe_encrypt(&mut buffer, context).map_err(|_| AT)?;
    Ok(write(&salt, ROUNDS, &initial, &buffer))
}

fn read(encrypted: &[u8]) -> Result<Scheme<'_>, KeyError> {
    let mut outer = Reader::new(encrypted, WHAT);
    let mut info = outer.inside(der::SEQUENCE)?;
    outer.finish()?;
    let mut algorithm = info.inside(der::SEQUENCE)?;
    if algorithm.value(der::OBJECT_IDENTIFIER)? != oid::PBES2 {
        return Err(KeyError::Encryption(UnsupportedEncryption::Scheme));
    }
    let mut parameters = algorithm.inside(der::SEQUENCE)?;
    let mut derivation = parameters.inside(der::SEQUENCE)?;
    if derivation.value(der::OBJECT_IDENTIFIER)? != oid::PBKDF2 {
        return Err(KeyError::Encryption(UnsupportedEncryption::KeyDerivation));
    }
    let mut derivation = derivation.inside(der::SEQUENCE)?;
    let salt = derivation.value(der::OCTET_STRING)?;
    let rounds = derivation.number()?;
    if derivation.peek() == Some(der::INTEGER) {
        // The key's length, which the cipher says too.
        derivation.number()?;
    }
    let pseudo_random = match derivation.peek() {
        None => pbkdf2::PBKDF2_HMAC_SHA1,
        Some(_) => match derivation.inside(der::SEQUENCE)?.value(der::OBJECT_IDENTIFIER)? {
            oid::HMAC_WITH_SHA1 => pbkdf2::PBKDF2_HMAC_SHA1,
            oid::HMAC_WITH_SHA256 => pbkdf2::PBKDF2_HMAC_SHA256,
            _ => return Err(KeyError::Encryption(UnsupportedEncryption::PseudoRandomFunction)),
        },
    };
    let mut cipher = parameters.inside(der::SEQUENCE)?;
    let key_bytes = match cipher.value(der::OBJECT_IDENTIFIER)? {
        oid::AES_128_CBC => 16,
        oid::AES_256_CBC => 32,
        _ => return Err(KeyError::Encryption(UnsupportedEncryption::Cipher)),
    };
    let initial = cipher.value(der::OCTET_STRING)?;
    let refused = KeyError::Encryption(UnsupportedEncryption::Rounds(rounds));
    let rounds = match rounds {
        1..=MAX_PBKDF2_ROUNDS => u32::try_from(rounds).ok().and_then(NonZeroU32::new).ok_or(refused)?,
        _ => return Err(refused),
    };
    Ok(Scheme { salt, rounds, pseudo_random, key_bytes, initial, encrypted: info.value(der::OCTET_STRING)? })
}

fn write(salt: &[u8], rounds: u32, initial: &[u8], encrypted: &[u8]) -> Vec<u8> {
    let identifier = |value| der::element(der::OBJECT_IDENTIFIER, &[value]);
    let octets = |value| der::element(der::OCTET_STRING, &[value]);
    let null = der::element(der::NULL, &[]);
    let function = der::element(der::SEQUENCE, &[&identifier(oid::HMAC_WITH_SHA256), &null]);
    let derivation = der::element(der::SEQUENCE, &[&octets(salt), &der::integer(rounds.into()), &function]);
    let derivation = der::element(der::SEQUENCE, &[&identifier(oid::PBKDF2), &derivation]);
    let cipher = der::element(der::SEQUENCE, &[&identifier(oid::AES_256_CBC), &octets(initial)]);
    let parameters = der::element(der::SEQUENCE, &[&derivation, &cipher]);
    let algorithm = der::element(der::SEQUENCE, &[&identifier(oid::PBES2), &parameters]);
    der::element(der::SEQUENCE, &[&algorithm, &octets(encrypted)])
}
