//! SHA-256, by the library that also signs.

use aws_lc_rs::digest;

/// SHA-256 of `bytes`.
pub fn sha256(bytes: &[u8]) -> [u8; 32] {
    let mut hasher = Sha256::new();
    hasher.update(bytes);
    hasher.finish()
}

/// SHA-256 of bytes that come in pieces.
#[derive(Clone)]
pub struct Sha256(digest::Context);

impl Sha256 {
    /// Nothing hashed yet.
    pub fn new() -> Self {
        Sha256(digest::Context::new(&digest::SHA256))
    }

    /// Appends `bytes` to what is hashed.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The digest of all that was appended.
    pub fn finish(self) -> [u8; 32] {
        let mut digest = [0; 32];
        // SHA-256 has 32 bytes; `zip` only spares a panic path.
        for (out, byte) in digest.iter_mut().zip(self.0.finish().as_ref()) {
            *out = *byte;
        }
        digest
    }
}

impl Default for Sha256 {
    fn default() -> Self {
        Sha256::new()
    }
}

impl std::fmt::Debug for Sha256 {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Sha256")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_of_abc_is_the_one_in_fips_180() {
        let expected = [
            0xba, 0x78, 0x16, 0xbf, 0x8f, 0x01, 0xcf, 0xea, 0x41, 0x41, 0x40, 0xde, 0x5d, 0xae, 0x22, 0x23,
            0xb0, 0x03, 0x61, 0xa3, 0x96, 0x17, 0x7a, 0x9c, 0xb4, 0x10, 0xff, 0x61, 0xf2, 0x00, 0x15, 0xad,
        ];
        assert_eq!(sha256(b"abc"), expected);
        let mut pieces = Sha256::new();
        pieces.update(b"a");
        pieces.update(b"bc");
        assert_eq!(pieces.finish(), expected);
    }
}
