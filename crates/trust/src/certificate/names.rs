//! Names of keys and certificates: `/<identity>/KEY/<key id>` and `…/<issuer id>/<version>`.

use packet::{Component, DecodeError, Name, NameRef};

/// The component that stands between an identity and a key id.
pub const KEY: Component<'static> = Component::generic(b"KEY");

/// The issuer id of certificates that a key signs for itself.
pub const SELF: Component<'static> = Component::generic(b"self");

/// The issuer id of a request for a certificate, as ndn-cxx writes it.
pub const REQUEST: Component<'static> = Component::generic(b"cert-request");

/// The name of a key.
///
/// # Errors
/// The name becomes longer than names may be.
pub fn key_name(identity: &Name, key_id: Component<'_>) -> Result<Name, DecodeError> {
    identity.with(KEY)?.with(key_id)
}

/// Whether `name` ends as a key's name does.
pub fn is_key_name(name: NameRef<'_>) -> bool {
    from_end(name, 2) == Some(KEY)
}

/// Whether `name` ends as a certificate's name does.
pub fn is_certificate_name(name: NameRef<'_>) -> bool {
    from_end(name, 4) == Some(KEY)
}

/// The key that `name` is about: a key's own name, or that of one of its certificates.
pub fn key_of(name: NameRef<'_>) -> Option<NameRef<'_>> {
    let count = name.component_count();
    if is_certificate_name(name) { Some(name.prefix(count - 2)) } else { is_key_name(name).then_some(name) }
}

/// Whose key `name` is about.
pub fn identity_of(name: NameRef<'_>) -> Option<NameRef<'_>> {
    let key = key_of(name)?;
    Some(key.prefix(key.component_count().saturating_sub(2)))
}

/// The component that is `back` places from the end; 1 is the last.
pub(crate) fn from_end(name: NameRef<'_>, back: usize) -> Option<Component<'_>> {
    name.component(name.component_count().checked_sub(back)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_certificates_and_identities_are_told_apart() {
        let parts = |uri: &str| {
            let name: Name = uri.parse().unwrap();
            let text = |part: Option<NameRef<'_>>| part.map(|part| part.to_string());
            (text(key_of(name.as_ref())), text(identity_of(name.as_ref())))
        };
        let alice = (Some("/lab/alice/KEY/1".to_owned()), Some("/lab/alice".to_owned()));
        assert_eq!(parts("/lab/alice/KEY/1"), alice);
        assert_eq!(parts("/lab/alice/KEY/1/self/v=1"), alice);
        assert_eq!(parts("/KEY/1"), (Some("/KEY/1".into()), Some("/".into())));
        assert_eq!(parts("/lab/alice"), (None, None));
        assert_eq!(parts("/"), (None, None));
    }
}
