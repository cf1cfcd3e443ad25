//! How far names may go: told by the first component, by convention.

use super::{Component, NameRef};
use crate::ccnx::markers;

/// Where a name has its meaning. What is not for everywhere is neither kept for others nor given to them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NameScope {
    /// On this host alone: `/localhost`, and `ccnx:/%C1.M.S.localhost`.
    Host,
    /// On this link alone: `/localhop`, and `ccnx:/%C1.M.S.neighborhood`.
    Link,
    /// Everywhere.
    Global,
}

/// Whether a name of these components, as they are on the wire in either dialect, may be `/localhost` or
/// `/localhop`, or below one of them: told by two bytes, and false for almost all names.
#[inline(always)]
pub(crate) fn may_limit_scope(components: &[u8]) -> bool {
    matches!(components, [_, 8 | 9 | 0xc5 | 0xcd, b'l', ..])
}

impl NameRef<'_> {
    /// Where this name has its meaning, in either dialect.
    ///
    /// ```
    /// use cairn_packet::{Name, NameScope};
    /// let name: Name = "/localhop/nfd/rib".parse().unwrap();
    /// assert_eq!(name.as_ref().scope(), NameScope::Link);
    /// ```
    pub fn scope(self) -> NameScope {
        let first = self.component(0);
        let is_any_of =
            |words: [&[u8]; 2]| words.into_iter().any(|word| first == Some(Component::generic(word)));
        if is_any_of([b"localhost", markers::LOCALHOST]) {
            NameScope::Host
        } else if is_any_of([b"localhop", markers::NEIGHBORHOOD]) {
            NameScope::Link
        } else {
            NameScope::Global
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Name;
    use crate::ccnx::uri;

    #[test]
    fn the_first_component_alone_tells_how_far_a_name_goes() {
        for (name, expected) in [
            ("/localhost", NameScope::Host),
            ("/localhost/nfd/x", NameScope::Host),
            ("/localhop/x", NameScope::Link),
            ("/a/localhost", NameScope::Global),
            ("/localhosts", NameScope::Global),
            ("/32=localhost/a", NameScope::Global),
            ("/", NameScope::Global),
        ] {
            assert_eq!(name.parse::<Name>().unwrap().as_ref().scope(), expected, "{name}");
        }
        for (name, expected) in [
            ("ccnx:/%C1.M.S.localhost/%C1.M.SRV/ccnd", NameScope::Host),
            ("ccnx:/%C1.M.S.neighborhood/a", NameScope::Link),
            ("ccnx:/%C1.M.SRV/ccnd", NameScope::Global),
        ] {
            assert_eq!(uri::parse(name).unwrap().as_ref().scope(), expected, "{name}");
        }
    }
}
