//! URLs of a web server as names, and back.
//!
//! Below the prefix each part of the path between slashes is a generic component, with `%` escapes resolved;
//! a path that ends in a slash ends in an empty component. A query is one more component, a keyword that
//! begins with `?`. So `http://example.org/a%20b/?x=1` under `/web/example` is
//! `/web/example/a%20b/.../32=%3Fx%3D1`.
//!
//! A name that is read back is written as a URL in one way only; a URL that was written in another comes back
//! in this one, with the same meaning. Names that no URL leads to are refused, such as those with `..` in
//! them.

use hyper::Uri;
use packet::{Component, ComponentKind, Name, NameRef, percent};
use thiserror::Error;

/// Bytes of a path and query.
const MAX_TARGET_BYTES: usize = 4096;

/// Why a URL is no origin, or has no name.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum MappingError {
    /// It is not the URL of a web server.
    #[error("{0}: an origin is written http://HOST or https://HOST, maybe with a port and a path")]
    NotAnOrigin(String),
    /// It holds a user's name or password.
    #[error("an origin has no user and no password: what is published is for everybody")]
    Credentials,
    /// The path lies elsewhere.
    #[error("{0} is not below the path of the origin")]
    Elsewhere(String),
    /// It cannot be written as a name.
    #[error("the path cannot be written as a name: {0}")]
    NoName(&'static str),
}

/// A web server, and the prefix of its names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapping {
    pub(crate) is_tls: bool,
    pub(crate) host: String,
    pub(crate) port: u16,
    /// The path that all its URLs begin with, without a slash at the end.
    base: String,
    prefix: Name,
}

impl Mapping {
    /// The web server at `url` under `prefix`.
    ///
    /// # Errors
    /// The URL is not that of a web server, or holds a password.
    pub fn new(url: &str, prefix: Name) -> Result<Self, MappingError> {
        let wrong = || MappingError::NotAnOrigin(url.to_owned());
        let uri: Uri = url.parse().map_err(|_| wrong())?;
        let is_tls = match uri.scheme_str() {
            Some("http") => false,
            Some("https") => true,
            _ => return Err(wrong()),
        };
        let authority = uri.authority().ok_or_else(wrong)?;
        if authority.as_str().contains('@') {
            return Err(MappingError::Credentials);
        }
        if uri.query().is_some() || authority.host().is_empty() {
            return Err(wrong());
        }
        let port = authority.port_u16().unwrap_or(if is_tls { 443 } else { 80 });
        let host = authority.host().to_ascii_lowercase();
        let base = uri.path().trim_end_matches('/').to_owned();
        Ok(Mapping { is_tls, host, port, base, prefix })
    }

    /// The prefix of its names.
    pub fn prefix(&self) -> &Name {
        &self.prefix
    }

    /// What stands in a header Host.
    pub(crate) fn authority(&self) -> String {
        let default = if self.is_tls { 443 } else { 80 };
        if self.port == default { self.host.clone() } else { format!("{}:{}", self.host, self.port) }
    }

    /// Whether an absolute URL of HTTP, as a proxy is asked for, is of this server.
    pub fn covers(&self, uri: &Uri) -> bool {
        let Some(authority) = uri.authority() else { return false };
        let port = authority.port_u16().unwrap_or(80);
        let is_same_host = authority.host().eq_ignore_ascii_case(&self.host);
        uri.scheme_str() == Some("http") && is_same_host && port == self.port && !self.is_tls
    }

    /// The name of a path and a query.
    ///
    /// # Errors
    /// It is not below the origin's path, or cannot be written as a name.
    pub fn name_of(&self, path: &str, query: Option<&str>) -> Result<Name, MappingError> {
        let elsewhere = || MappingError::Elsewhere(path.to_owned());
        let below = path.strip_prefix(&self.base).ok_or_else(elsewhere)?;
        let too_long = || MappingError::NoName("it is too long");
        // As it would be asked for: what was written without escapes may grow by them.
        let escaped_bytes: usize = path.bytes().map(|byte| if needs_escape(byte) { 3 } else { 1 }).sum();
        if escaped_bytes + query.map_or(0, str::len) > MAX_TARGET_BYTES {
            return Err(too_long());
        }
        let mut name = self.prefix.clone();
        match below.strip_prefix('/') {
            None if below.is_empty() => {}
            None => return Err(elsewhere()),
            Some("") => {}
            Some(parts) => {
                for part in parts.split('/') {
                    let value =
                        percent::decode(part.as_bytes()).ok_or(MappingError::NoName("% needs two digits"))?;
                    if climbs(&value) {
                        return Err(MappingError::NoName("`.` and `..` are no names"));
                    }
                    name = name.with(Component::generic(&value)).map_err(|_| too_long())?;
                }
            }
        }
        if let Some(query) = query {
            let value = [b"?", query.as_bytes()].concat();
            if !value.iter().all(|byte| is_of_query(*byte)) {
                return Err(MappingError::NoName("the query holds what no URL may hold"));
            }
            name = name.with(Component::new(ComponentKind::KEYWORD, &value)).map_err(|_| too_long())?;
        }
        Ok(name)
    }

    /// The path and query of a name; `None` if it is that of no URL of this server.
    pub fn target_of(&self, name: NameRef<'_>) -> Option<String> {
        if !self.prefix.as_ref().is_prefix_of(name) {
            return None;
        }
        let mut target = self.base.clone();
        let mut query = None;
        for component in name.components().skip(self.prefix.as_ref().component_count()) {
            match component.kind {
                ComponentKind::GENERIC if query.is_none() => {
                    target.push('/');
                    // Writing to a String does not fail.
                    let _ = percent::write(&mut target, component.value, is_of_path);
                }
                ComponentKind::KEYWORD if query.is_none() => {
                    let text = std::str::from_utf8(component.value).ok()?;
                    query = Some(text.strip_prefix('?')?);
                }
                _ => return None,
            }
        }
        if target == self.base {
            target.push('/');
        }
        // What would be read as another name is none of ours.
        let read = self.name_of(&target, query).ok()?;
        if read.as_ref() != name {
            return None;
        }
        if let Some(query) = query {
            target.push('?');
            target.push_str(query);
        }
        Some(target)
    }

    /// The name of what a header Location says, if it is of this server. `at` is where it was said.
    pub(crate) fn name_of_location(&self, location: &str, at: &str) -> Option<Name> {
        if location.starts_with("//") {
            return None;
        }
        if !location.starts_with('/') && !location.contains("://") {
            // Relative to the folder of the path.
            return self.relative(location, at);
        }
        let uri: Uri = location.parse().ok()?;
        let (path, query) = match uri.authority() {
            None => (uri.path().to_owned(), uri.query()),
            Some(authority) => {
                let is_tls = uri.scheme_str() == Some("https");
                let port = authority.port_u16().unwrap_or(if is_tls { 443 } else { 80 });
                let is_same = authority.host().eq_ignore_ascii_case(&self.host) && port == self.port;
                if !is_same || is_tls != self.is_tls {
                    return None;
                }
                (uri.path().to_owned(), uri.query())
            }
        };
        self.name_of(&path, query).ok()
    }

    fn relative(&self, location: &str, at: &str) -> Option<Name> {
        let path = at.split('?').next()?;
        let (folder, _) = path.rsplit_once('/')?;
        let (file, query) = match location.split_once('?') {
            Some((file, query)) => (file, Some(query)),
            None => (location, None),
        };
        self.name_of(&format!("{folder}/{file}"), query).ok()
    }
}

/// Bytes that stand in a path as they are (RFC 3986, pchar).
fn is_of_path(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@".contains(&byte)
}

/// Bytes of a path, slashes and escapes among them, that are written as escapes of three.
fn needs_escape(byte: u8) -> bool {
    !is_of_path(byte) && !matches!(byte, b'/' | b'%')
}

/// Bytes that stand in a query. Some that should not be there are sent by browsers all the same.
fn is_of_query(byte: u8) -> bool {
    is_of_path(byte) || b"/?%[]|^`{}\\".contains(&byte)
}

/// Whether a web server may take a part of a path for this folder or the one above, in whole or up to a
/// semicolon, or with another kind of slash in it.
fn climbs(part: &[u8]) -> bool {
    part.split(|byte| matches!(byte, b'/' | b'\\')).any(|part| {
        let name = part.split(|byte| *byte == b';').next().unwrap_or_default();
        matches!(name, b"." | b"..")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mapping(url: &str) -> Mapping {
        Mapping::new(url, "/web/example".parse().unwrap()).unwrap()
    }

    #[test]
    fn what_would_be_too_long_with_its_escapes_has_no_name() {
        let mapping = mapping("http://example.org");
        let fits = format!("/{}", "\"".repeat((MAX_TARGET_BYTES - 1) / 3));
        let name = mapping.name_of(&fits, None).unwrap();
        assert_eq!(mapping.target_of(name.as_ref()).map(|target| target.len()), Some(MAX_TARGET_BYTES));
        let longer = format!("{fits}\"");
        assert!(matches!(mapping.name_of(&longer, None), Err(MappingError::NoName(_))));
    }

    #[test]
    fn urls_are_names_and_come_back() {
        let mapping = mapping("http://Example.org:8000/base/");
        for (path, query, name) in [
            ("/base", None, "/web/example"),
            ("/base/a/b%20c", None, "/web/example/a/b%20c"),
            ("/base/a/", None, "/web/example/a/..."),
            ("/base//", None, "/web/example/.../..."),
            ("/base/a", Some("x=1&y=%41/?"), "/web/example/a/32=%3Fx%3D1%26y%3D%2541%2F%3F"),
            ("/base/a", Some(""), "/web/example/a/32=%3F"),
            ("/base/a%2Fb;c=d", None, "/web/example/a%2Fb%3Bc%3Dd"),
            ("/base/gr%C3%BCn", None, "/web/example/gr%C3%BCn"),
        ] {
            let read = mapping.name_of(path, query).unwrap();
            assert_eq!(read.to_string(), name, "{path}");
            let path = if path == "/base" { "/base/" } else { path };
            let target = query.map_or(path.to_owned(), |query| format!("{path}?{query}"));
            assert_eq!(mapping.target_of(read.as_ref()), Some(target));
        }
    }

    #[test]
    fn what_leads_elsewhere_is_refused_both_ways() {
        let mapping = mapping("https://example.org/base");
        for path in [
            "/other",
            "/basement",
            "/base/../x",
            "/base/%2e%2e/x",
            "/base/.",
            "/base/%zz",
            "/base/..;a",
            "/base/x%5C..",
        ] {
            assert!(mapping.name_of(path, None).is_err(), "{path}");
        }
        assert!(mapping.name_of("/base/a", Some("x y\r\nHost: evil")).is_err());
        for name in [
            "/web/other",
            "/web/example/...../x",
            "/web/example/x/..%3B",
            "/web/example/..%5C..",
            "/web/example/x%2F..",
            "/web/example/...",
            "/web/example/v=1",
            "/web/example/32=metadata",
            "/web/example/32=%3Fa/b",
            "/web/example/32=%3Fa/32=%3Fb",
            "/web/example/32=%3Fa%0D%0AHost",
        ] {
            let name: Name = name.parse().unwrap();
            assert_eq!(mapping.target_of(name.as_ref()), None, "{name}");
        }
    }

    #[test]
    fn an_origin_is_a_web_server_and_holds_no_secret() {
        let prefix: Name = "/p".parse().unwrap();
        for (url, expected) in [
            ("http://user:pass@example.org", MappingError::Credentials),
            ("ftp://example.org", MappingError::NotAnOrigin("ftp://example.org".into())),
            ("http://example.org/?q", MappingError::NotAnOrigin("http://example.org/?q".into())),
            ("example.org", MappingError::NotAnOrigin("example.org".into())),
        ] {
            assert_eq!(Mapping::new(url, prefix.clone()), Err(expected));
        }
        let https = mapping("https://example.org");
        assert_eq!((https.port, &https.authority()[..]), (443, "example.org"));
        assert_eq!(mapping("http://example.org:81").authority(), "example.org:81");
    }

    #[test]
    fn a_proxy_is_asked_for_the_servers_own_urls_only() {
        let mapping = mapping("http://example.org");
        for (url, expected) in [
            ("http://example.org/a", true),
            ("http://EXAMPLE.org:80/a", true),
            ("http://example.org:81/a", false),
            ("http://example.org.evil/a", false),
            ("https://example.org/a", false),
            ("/a", false),
        ] {
            assert_eq!(mapping.covers(&url.parse().unwrap()), expected, "{url}");
        }
    }

    #[test]
    fn redirects_within_the_server_have_names() {
        let mapping = mapping("http://example.org");
        for (location, expected) in [
            ("/b/", Some("/web/example/b/...")),
            ("http://example.org/b", Some("/web/example/b")),
            ("c?x", Some("/web/example/a/c/32=%3Fx")),
            ("http://other.org/b", None),
            ("https://example.org/b", None),
        ] {
            let found = mapping.name_of_location(location, "/a/file?q");
            assert_eq!(found.map(|name| name.to_string()).as_deref(), expected, "{location}");
        }
    }
}
