//! What an Interest asks a folder for.

use packet::{Component, ComponentKind, Interest, Name};

/// The keyword of listings: an Interest for a folder's name and this asks what is in the folder.
pub const LISTING: Component<'static> = Component::new(ComponentKind::KEYWORD, b"ls");

/// Folders deeper than this are not looked for.
pub(super) const MAX_DEPTH: usize = 64;

/// What is asked for. Paths are components that may be file names.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Request<'a> {
    /// Metadata of a file or folder; of the listing if it was named.
    Metadata { path: Vec<&'a [u8]>, listing: bool },
    /// One segment of a version.
    Segment { path: Vec<&'a [u8]>, listing: bool, version: u64, segment: u64 },
    /// Any packet of the file: the first segment of what it is now.
    Latest { path: Vec<&'a [u8]> },
}

/// Reads the name of an Interest; `None` if it is not a name of this protocol.
pub(super) fn parse<'a>(prefix: &Name, interest: &'a Interest) -> Option<Request<'a>> {
    let name = interest.name();
    if !prefix.as_ref().is_prefix_of(name) {
        return None;
    }
    let rest = name.components().skip(prefix.as_ref().component_count());
    let rest: Vec<Component<'a>> = rest.filter(|component| !component.kind.is_digest()).collect();
    let depth = rest.iter().take_while(|component| component.kind == ComponentKind::GENERIC).count();
    let (path, suffix) = rest.split_at_checked(depth)?;
    if depth > MAX_DEPTH || !path.iter().all(|component| is_file_name(component.value)) {
        return None;
    }
    let path: Vec<&[u8]> = path.iter().map(|component| component.value).collect();
    let (listing, suffix) = match suffix {
        [first, suffix @ ..] if *first == LISTING => (true, suffix),
        _ => (false, suffix),
    };
    match suffix {
        [first] if *first == crate::naming::METADATA && interest.can_be_prefix() => {
            Some(Request::Metadata { path, listing })
        }
        [version, segment]
            if version.kind == ComponentKind::VERSION && segment.kind == ComponentKind::SEGMENT =>
        {
            Some(Request::Segment { path, listing, version: version.number()?, segment: segment.number()? })
        }
        [] if interest.can_be_prefix() && !listing => Some(Request::Latest { path }),
        _ => None,
    }
}

/// Whether a component can be the name of a file, and of nothing but a file in the folder at hand.
pub(super) fn is_file_name(component: &[u8]) -> bool {
    !matches!(component, b"" | b"." | b"..")
        && component.len() <= 255
        && !component.iter().any(|byte| matches!(byte, 0 | b'/'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use packet::ndn::InterestBuilder;

    fn parsed(uri: &str, can_be_prefix: bool) -> Option<String> {
        let interest =
            InterestBuilder::new(uri.parse().unwrap()).can_be_prefix(can_be_prefix).build().unwrap();
        parse(&"/m".parse().unwrap(), &interest).map(|request| format!("{request:?}"))
    }

    #[test]
    fn the_names_of_the_protocol_are_told_apart() {
        for (uri, prefix, expected) in [
            ("/m/a/b/32=metadata", true, Some("Metadata")),
            ("/m/32=metadata", true, Some("Metadata")),
            ("/m/a/32=ls/32=metadata", true, Some("Metadata")),
            ("/m/a/v=7/seg=2", false, Some("Segment")),
            ("/m/a/32=ls/v=7/seg=2", false, Some("Segment")),
            ("/m/a", true, Some("Latest")),
            ("/m/a", false, None),
            ("/m/a/32=metadata", false, None),
            ("/m/a/v=7", true, None),
            ("/m/a/32=other", true, None),
            ("/other/a", true, None),
        ] {
            let found = parsed(uri, prefix);
            assert_eq!(found.as_deref().map(|text| text.split(' ').next().unwrap()), expected, "{uri}");
        }
    }

    #[test]
    fn components_that_lead_elsewhere_are_no_file_names() {
        for uri in ["/m/...../x", "/m/a/....", "/m/..././x", "/m/%2Fetc%2Fpasswd", "/m/a%00b", "/m/.../a"] {
            // Periods are written with three more in a URI: `.....` is `..`, `....` is `.`, `...` is empty.
            if let Ok(name) = uri.parse::<Name>() {
                let interest = InterestBuilder::new(name).can_be_prefix(true).build().unwrap();
                assert_eq!(parse(&"/m".parse().unwrap(), &interest), None, "{uri}");
            }
        }
    }
}
