//! Keys, certificates, signing, verification, signed manifests, trust rules.
