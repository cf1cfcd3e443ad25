//! What files hold that say whom to trust: certificates and records of revoked keys, as base64, PEM or plain
//! packets, one behind the other. Reading them from a disk is up to who asks.

use packet::{Buffer, Data, DecodeError};
use thiserror::Error;

use crate::certificate::{Certificate, CertificateError};
use crate::revocation::{Revocation, RevocationError, Revocations};
use crate::text::{TextError, packets_in};

/// Why the bytes of a file give no certificates.
#[derive(Debug, Error)]
pub enum CertificateFileError {
    /// They are no base64, PEM or packets.
    #[error(transparent)]
    Text(#[from] TextError),
    /// There is none.
    #[error("there is no certificate in it")]
    Empty,
    /// Something in it is no certificate.
    #[error(transparent)]
    Certificate(#[from] CertificateError),
}

/// The certificates in a file, of which there is at least one.
///
/// # Errors
/// There is none, or something else.
pub fn certificates_in(file: &[u8]) -> Result<Vec<Certificate>, CertificateFileError> {
    let packets = packets_in(file)?;
    if packets.is_empty() {
        return Err(CertificateFileError::Empty);
    }
    packets.iter().map(|packet| Ok(Certificate::decode(packet)?)).collect()
}

/// Why the bytes of a file give no records of revoked keys.
#[derive(Debug, Error)]
pub enum RevocationFileError {
    /// They are no base64, PEM or packets.
    #[error(transparent)]
    Text(#[from] TextError),
    /// Something in it is no Data.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// Something in it is no record.
    #[error(transparent)]
    Record(#[from] RevocationError),
    /// More records than are kept.
    #[error(
        "there are more than {} records, or more than {} of one key",
        Revocations::MAX,
        Revocations::MAX_PER_KEY
    )]
    Full,
}

/// Adds the records in a file to those that are there.
///
/// # Errors
/// There is something else in it, or there are more records than are kept.
pub fn add_revocations(file: &[u8], records: &mut Revocations) -> Result<(), RevocationFileError> {
    for packet in packets_in(file)? {
        records.add(Revocation::new(Data::decode_ndn(Buffer::from(packet))?)?);
    }
    if records.refused() > 0 { Err(RevocationFileError::Full) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_something_else_gives_neither_certificates_nor_records() {
        assert!(matches!(certificates_in(b""), Err(CertificateFileError::Empty)));
        let data = packet::ndn::DataBuilder::new("/a/b".parse().unwrap()).build_with_digest().unwrap();
        assert!(matches!(certificates_in(data.wire()), Err(CertificateFileError::Certificate(_))));
        let mut records = Revocations::default();
        assert!(add_revocations(b"", &mut records).is_ok());
        let refused = add_revocations(data.wire(), &mut records);
        assert!(matches!(refused, Err(RevocationFileError::Record(_))), "{refused:?}");
        assert_eq!(records.count(), 0);
    }
}
