//! What a stranger writes in a request to a gateway: paths are names and come back, parts lie within the
//! object, conditions are decided, and URLs of a web server come back from their names.

#![no_main]

use gateway::conditions::{Validators, Verdict};
use gateway::name_path::{name_of, path_of};
use gateway::origin::mapping::Mapping;
use gateway::range::{MAX_PARTS, RequestedRange, wanted};
use hyper::header::{self, HeaderMap, HeaderValue};
use packet::{Name, UnixTime};

/// A path of a URL, and the same below a web server.
fn path(text: &str) {
    if let Ok((name, is_folder)) = name_of(text) {
        assert_eq!(is_folder, text.ends_with('/'));
        let (again, _) = name_of(&path_of(name.as_ref())).expect("the path of a name is one");
        assert_eq!(again, name);
    }
    let prefix: Name = "/web".parse().expect("a name");
    for origin in ["http://example.org", "https://example.org:8443/base"] {
        let mapping = Mapping::new(origin, prefix.clone()).expect("an origin");
        let (below, query) = match text.split_once('?') {
            Some((below, query)) => (below, Some(query)),
            None => (text, None),
        };
        let Ok(name) = mapping.name_of(below, query) else { continue };
        assert!(prefix.as_ref().is_prefix_of(name.as_ref()));
        let target = mapping.target_of(name.as_ref()).expect("the name of a URL has one");
        assert!(target.bytes().all(|byte| byte.is_ascii_graphic()), "{target:?} breaks a request line");
    }
}

/// A name as it comes in an Interest, below a web server.
fn name(bytes: &[u8]) {
    let mapping = Mapping::new("http://example.org/base", Name::root()).expect("an origin");
    let Ok((name, _)) = name_of(&format!("/ndn/{}", String::from_utf8_lossy(bytes))) else { return };
    let Some(target) = mapping.target_of(name.as_ref()) else { return };
    assert!(target.starts_with("/base/"), "{target}");
    let (path, query) = match target.split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (&target[..], None),
    };
    assert!(!path.split('/').any(|part| matches!(part, "." | "..")), "{target} leads elsewhere");
    assert_eq!(mapping.name_of(path, query), Ok(name));
}

/// The header Range.
fn range(header: &[u8], size_bytes: u64) {
    let RequestedRange::Parts(parts) = wanted(header, size_bytes) else { return };
    assert!(!parts.is_empty() && parts.len() <= MAX_PARTS);
    assert!(parts.iter().all(|part| part.start() <= part.end() && *part.end() < size_bytes));
    let total: u128 = parts.iter().map(|part| u128::from(part.end() - part.start()) + 1).sum();
    assert!(total <= u128::from(size_bytes));
}

/// Conditional requests.
fn conditions(value: &[u8], second: &[u8]) {
    let object: Name = "/lab/file/v=7".parse().expect("a name");
    let validators = Validators::of(&object, Some(UnixTime::from_secs(784_887_151)));
    let (Ok(value), Ok(second)) = (HeaderValue::from_bytes(value), HeaderValue::from_bytes(second)) else {
        return;
    };
    for name in [header::IF_MATCH, header::IF_NONE_MATCH, header::IF_MODIFIED_SINCE, header::IF_RANGE] {
        let mut headers = HeaderMap::new();
        headers.append(&name, value.clone());
        headers.append(&name, second.clone());
        let verdict = validators.check(&headers);
        assert!(verdict != Verdict::Failed || name == header::IF_MATCH);
        validators.allows_parts(&headers);
        // Who has this very state is never sent it again, whatever else he lists before it.
        let mut known = HeaderMap::new();
        known.append(header::IF_NONE_MATCH, validators.etag.parse().expect("a tag"));
        assert_eq!(validators.check(&known), Verdict::NotModified);
    }
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Some((&size, rest)) = bytes.split_first() else { return };
    range(rest, u64::from(size) << (size % 57));
    let (first, second) = rest.split_at(rest.len() / 2);
    conditions(first, second);
    name(rest);
    if let Ok(text) = std::str::from_utf8(rest) {
        path(text);
        path(&format!("/{text}"));
        path(&format!("/ndn/{text}"));
        path(&format!("/base/{text}"));
    }
});
