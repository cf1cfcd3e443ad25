//! What files hold that say whom to trust: certificates and records of revoked keys, as base64, PEM or plain
//! packets, one behind the other. Reading them from a disk is up to who asks.

use packet::{Buffer, Data, DecodeError, NameRef};
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

/// Adds the records of a list that somebody publishes under a name, without its version: those about names
/// beside that of the list and below, for a list of `/lab` speaks of nobody else's keys. Gives the number of
/// records that were not known. Others, and those for which there is no room, are left out.
///
/// # Errors
/// There is something else in it.
pub fn add_published_revocations(
    list: &[u8],
    published_as: NameRef<'_>,
    records: &mut Revocations,
) -> Result<usize, RevocationFileError> {
    let authority = published_as.prefix(published_as.component_count().saturating_sub(1));
    let mut added = 0;
    for packet in packets_in(list)? {
        let record = Revocation::new(Data::decode_ndn(Buffer::from(packet))?)?;
        if authority.is_prefix_of(record.certificate().as_ref()) && records.add(record) {
            added += 1;
        }
    }
    Ok(added)
}

/// A file with these records: plain packets.
pub fn revocations_to_file(records: &Revocations) -> Vec<u8> {
    records.iter().flat_map(|record| record.data().wire().iter().copied()).collect()
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
