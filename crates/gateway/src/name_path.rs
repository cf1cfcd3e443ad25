//! Names in the paths of URLs: `/ndn/lab/film.mp4` is `/lab/film.mp4`.
//!
//! Behind `/ndn` stands the name as a URI of NDN (packet format, section 2.2), so that relative links between
//! objects work as between files. Both directions are exact: what [`path_of`] writes, [`name_of`] reads as
//! the same name.

use packet::name::UriError;
use packet::{Name, NameRef};
use thiserror::Error;

/// Where names begin.
pub const PREFIX: &str = "/ndn";

/// Why a path holds no name.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PathError {
    /// It does not begin with [`PREFIX`].
    #[error("names stand behind {PREFIX}/")]
    Elsewhere,
    /// Two slashes at the beginning, which would be the authority of a URI, and no part of the name.
    #[error("an empty component is written `...`")]
    Authority,
    /// What stands there is not a name.
    #[error(transparent)]
    Uri(#[from] UriError),
}

/// The name in the path of a URL, and whether the path ends in a slash, which adds nothing to the name.
///
/// # Errors
/// There is none.
pub fn name_of(path: &str) -> Result<(Name, bool), PathError> {
    let uri = match path.strip_prefix(PREFIX) {
        Some("") => "/",
        Some(uri) if uri.starts_with('/') => uri,
        _ => return Err(PathError::Elsewhere),
    };
    if uri.starts_with("//") {
        return Err(PathError::Authority);
    }
    Ok((uri.parse()?, path.ends_with('/')))
}

/// The path of a name.
pub fn path_of(name: NameRef<'_>) -> String {
    format!("{PREFIX}{name}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use packet::Component;

    #[test]
    fn a_path_is_the_uri_of_its_name() {
        for (path, name, is_folder) in [
            ("/ndn/lab/film.mp4", "/lab/film.mp4", false),
            ("/ndn/lab/", "/lab", true),
            ("/ndn", "/", false),
            ("/ndn/", "/", true),
            ("/ndn/a%20b/v=7/seg=1", "/a%20b/v=7/seg=1", false),
            ("/ndn/a/.../b", "/a/.../b", false),
        ] {
            let expected: Name = name.parse().unwrap();
            assert_eq!(name_of(path), Ok((expected, is_folder)), "{path}");
        }
    }

    #[test]
    fn what_is_no_name_is_told_from_one() {
        assert_eq!(name_of("/other/lab"), Err(PathError::Elsewhere));
        assert_eq!(name_of("/ndnlab"), Err(PathError::Elsewhere));
        assert_eq!(name_of("/ndn//lab/file"), Err(PathError::Authority));
        for path in ["/ndn/a/%2", "/ndn/a/../b", "/ndn/a=b", "/ndn/a//."] {
            assert!(matches!(name_of(path), Err(PathError::Uri(_))), "{path}");
        }
    }

    #[test]
    fn every_name_comes_back_from_its_path() {
        let odd: [&[u8]; 6] = [b"", b".", b"..", b"a/b", b"a=b?c#d", b"\xff\x00 %"];
        let name = odd.iter().try_fold(Name::root(), |name, value| name.with(Component::generic(value)));
        let name = name.unwrap();
        assert_eq!(name_of(&path_of(name.as_ref())), Ok((name, false)));
    }
}
