//! What trust begins with: files of certificates, of records that revoke them, and of rules. What is read as
//! a certificate or a record is one by its name and by its content; rules answer for any names.

#![no_main]

use packet::ndn::SignatureType;
use packet::{Data, NameRef};
use trust::certificate::names;
use trust::policy::{Claim, ClaimKind, Policy, Rules};
use trust::{Certificate, Revocation, Revocations};

fn check_packet(wire: &[u8]) {
    let Ok(data) = Data::decode_ndn(wire.to_vec().into()) else { return };
    let certificate = Certificate::new(data.clone());
    if let Ok(certificate) = &certificate {
        assert!(names::is_certificate_name(certificate.name()));
        assert!(names::is_key_name(certificate.key_name()));
        assert!(certificate.identity().is_prefix_of(certificate.name()));
        let _ = certificate.verifier().verify_data(certificate.data());
        // One that ends before it begins is a certificate, and never counts.
        let validity = certificate.validity();
        let counts = [validity.not_before, validity.not_after].map(|time| validity.contains(time));
        assert!(validity.not_before <= validity.not_after || counts == [false, false]);
    }
    let Ok(record) = Revocation::new(data) else { return };
    assert!(names::is_certificate_name(record.certificate().as_ref()));
    let mut records = Revocations::default();
    assert!(records.add(record.clone()));
    assert!(!records.add(record), "it is there already");
    assert_eq!((records.count(), records.refused()), (1, 0));
    // A record that nobody has signed revokes nothing.
    if let Ok(certificate) = &certificate {
        assert!(records.find(certificate, None).is_none());
    }
}

fn check_rules(text: &str, name: NameRef<'_>) {
    let Ok(rules) = Rules::parse(text) else { return };
    let policy = Policy::Rules(rules);
    for kind in [ClaimKind::Data, ClaimKind::Interest, ClaimKind::Certificate] {
        let claim = Claim { kind, name, signer: name, signature_type: SignatureType::ED25519 };
        assert_eq!(policy.check(claim).is_ok(), policy.check(claim).is_ok());
    }
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    check_packet(bytes);
    if let Ok(packets) = trust::text::packets_in(bytes) {
        packets.iter().for_each(|packet| check_packet(packet));
    }
    if let Ok(text) = std::str::from_utf8(bytes) {
        let name = text.lines().next().and_then(|line| line.trim_start_matches("# ").parse().ok());
        let name: packet::Name = name.unwrap_or_else(packet::Name::root);
        check_rules(text, name.as_ref());
    }
});
