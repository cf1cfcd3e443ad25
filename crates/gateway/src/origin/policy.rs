//! What of a web server's answers may be published, and for how long it counts as fresh (RFC 9111).

use std::time::Duration;

use hyper::StatusCode;
use hyper::header::{self, HeaderMap};
use packet::UnixTime;

use crate::conditions::parse_date;

/// What is to be done with an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It is for everybody, and fresh for so long.
    Publish { fresh: Duration },
    /// What is published already is still what it should be.
    Unchanged { fresh: Duration },
    /// There is no such thing, or it is for one reader only.
    Refuse(&'static str),
    /// The server cannot say now.
    Later,
}

/// How long an answer counts as fresh at most: nobody can take back what is in caches.
const MAX_FRESHNESS: Duration = Duration::from_secs(3600);

/// Decides by status and headers. `usual` is how long an answer is fresh that does not say.
pub(crate) fn verdict(status: StatusCode, headers: &HeaderMap, usual: Duration) -> Verdict {
    match status {
        StatusCode::OK
        | StatusCode::MOVED_PERMANENTLY
        | StatusCode::FOUND
        | StatusCode::SEE_OTHER
        | StatusCode::TEMPORARY_REDIRECT
        | StatusCode::PERMANENT_REDIRECT => {}
        StatusCode::NOT_MODIFIED => return Verdict::Unchanged { fresh: freshness(headers, usual) },
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
            return Verdict::Refuse("the web server wants to know who asks");
        }
        _ if status.is_client_error() => return Verdict::Refuse("the web server has no such thing"),
        _ => return Verdict::Later,
    }
    if has_directive(headers, "private") || has_directive(headers, "no-store") {
        return Verdict::Refuse("the web server says that it is not for everybody");
    }
    if headers.contains_key(header::SET_COOKIE) {
        return Verdict::Refuse("it came with a cookie");
    }
    if headers.get_all(header::VARY).iter().any(|value| varies(value.as_bytes())) {
        return Verdict::Refuse("it depends on who asks");
    }
    let is_encoded = headers.get(header::CONTENT_ENCODING).is_some_and(|value| value != "identity");
    if is_encoded {
        return Verdict::Refuse("it is compressed although that was not asked for");
    }
    Verdict::Publish { fresh: freshness(headers, usual) }
}

/// Whether an answer depends on what we never send, or on anything at all.
fn varies(value: &[u8]) -> bool {
    let value = String::from_utf8_lossy(value).to_ascii_lowercase();
    value.split(',').map(str::trim).any(|name| matches!(name, "*" | "cookie" | "authorization"))
}

fn directives(headers: &HeaderMap) -> impl Iterator<Item = (String, Option<String>)> {
    let values = headers.get_all(header::CACHE_CONTROL).iter();
    let texts = values.map(|value| String::from_utf8_lossy(value.as_bytes()).to_ascii_lowercase());
    let all: Vec<_> = texts
        .flat_map(|text| {
            let parts: Vec<_> = text.split(',').map(|part| part.trim().to_owned()).collect();
            parts
        })
        .map(|part| match part.split_once('=') {
            Some((name, value)) => (name.trim().to_owned(), Some(value.trim().trim_matches('"').to_owned())),
            None => (part, None),
        })
        .collect();
    all.into_iter()
}

fn has_directive(headers: &HeaderMap, wanted: &str) -> bool {
    directives(headers).any(|(name, _)| name == wanted)
}

fn freshness(headers: &HeaderMap, usual: Duration) -> Duration {
    if has_directive(headers, "no-cache") {
        return Duration::ZERO;
    }
    let number = |wanted: &str| {
        let found = directives(headers).find(|(name, _)| name == wanted).and_then(|(_, value)| value);
        // What makes no sense counts as stale.
        found.map(|value| value.parse::<u64>().unwrap_or(0))
    };
    let since = |name| parse_date(headers.get(name)?.to_str().ok()?).map(UnixTime::as_secs);
    let secs = number("s-maxage").or_else(|| number("max-age")).or_else(|| {
        headers.get(header::EXPIRES)?;
        // A date that makes no sense lies in the past.
        let (expires, date) = (since(header::EXPIRES).unwrap_or(0), since(header::DATE)?);
        Some(expires.saturating_sub(date))
    });
    let age = headers.get(header::AGE).and_then(|age| age.to_str().ok()?.trim().parse().ok()).unwrap_or(0);
    let fresh = secs.map_or(usual, |secs| Duration::from_secs(secs.saturating_sub(age)));
    fresh.min(MAX_FRESHNESS)
}

#[cfg(test)]
mod tests {
    use super::*;

    const USUAL: Duration = Duration::from_secs(2);

    fn of(status: u16, headers: &[(&'static str, &str)]) -> Verdict {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, value.parse().unwrap());
        }
        verdict(StatusCode::from_u16(status).unwrap(), &map, USUAL)
    }

    #[test]
    fn freshness_is_what_the_server_says() {
        for (headers, secs) in [
            (&[][..], 2),
            (&[("cache-control", "max-age=60")], 60),
            (&[("cache-control", "public, Max-Age=\"60\", s-maxage=10")], 10),
            (&[("cache-control", "max-age=60"), ("age", "50")], 10),
            (&[("cache-control", "max-age=60"), ("age", "70")], 0),
            (&[("cache-control", "max-age=x")], 0),
            (&[("cache-control", "no-cache, max-age=60")], 0),
            (&[("cache-control", "max-age=99999999999")], 3600),
            (&[("date", "Tue, 15 Nov 1994 08:12:31 GMT"), ("expires", "Tue, 15 Nov 1994 08:12:41 GMT")], 10),
            (&[("date", "Tue, 15 Nov 1994 08:12:31 GMT"), ("expires", "0")], 0),
        ] {
            assert_eq!(
                of(200, headers),
                Verdict::Publish { fresh: Duration::from_secs(secs) },
                "{headers:?}"
            );
        }
        let unchanged = of(304, &[("cache-control", "max-age=60")]);
        assert_eq!(unchanged, Verdict::Unchanged { fresh: Duration::from_secs(60) });
    }

    #[test]
    fn what_is_for_one_reader_is_never_published() {
        for headers in [
            &[("cache-control", "private")][..],
            &[("cache-control", "max-age=60, private=\"x\"")],
            &[("cache-control", "max-age=60"), ("cache-control", "No-Store")],
            &[("set-cookie", "a=b")],
            &[("vary", "Accept-Encoding, Cookie")],
            &[("vary", "*")],
            &[("content-encoding", "gzip")],
        ] {
            assert!(matches!(of(200, headers), Verdict::Refuse(_)), "{headers:?}");
        }
        for status in [401, 403, 404, 410, 405] {
            assert!(matches!(of(status, &[]), Verdict::Refuse(_)), "{status}");
        }
        for status in [500, 503, 206, 100] {
            assert_eq!(of(status, &[]), Verdict::Later, "{status}");
        }
        assert!(matches!(of(200, &[("vary", "Accept-Encoding")]), Verdict::Publish { .. }));
    }
}
