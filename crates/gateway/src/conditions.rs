//! Conditional requests (RFC 9110, section 13): whoever has the object already is not sent it again.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use hyper::header::{self, HeaderMap, HeaderName};
use packet::{Name, UnixTime};

/// What tells one state of an object from another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Validators {
    /// A strong entity tag, with its quotes.
    pub etag: String,
    /// When it was changed, if anybody says so.
    pub modified: Option<UnixTime>,
}

/// What a request's conditions come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is to be sent.
    Send,
    /// The client has it (status 304).
    NotModified,
    /// The client wants another one (status 412).
    Failed,
}

impl Validators {
    /// Of an object by its name with version: the bytes under such a name never change.
    pub fn of(object: &Name, modified: Option<UnixTime>) -> Self {
        let digest = trust::sha256(object.canonical());
        let digits: String = packet::hex::encode(&digest[..12]);
        Validators { etag: format!("\"{digits}\""), modified }
    }

    /// The header Last-Modified.
    pub(crate) fn last_modified(&self) -> Option<String> {
        self.modified.map(http_date)
    }

    /// What comes of the conditions in `headers`, in the order of RFC 9110, section 13.2.2.
    pub fn check(&self, headers: &HeaderMap) -> Verdict {
        if let Some(list) = text(headers, header::IF_MATCH) {
            if !lists(&list, &self.etag, false) {
                return Verdict::Failed;
            }
        } else if let Some(since) = date(headers, header::IF_UNMODIFIED_SINCE)
            && self.modified.is_some_and(|modified| modified.as_secs() > since.as_secs())
        {
            return Verdict::Failed;
        }
        if let Some(list) = text(headers, header::IF_NONE_MATCH) {
            return if lists(&list, &self.etag, true) { Verdict::NotModified } else { Verdict::Send };
        }
        match (date(headers, header::IF_MODIFIED_SINCE), self.modified) {
            (Some(since), Some(modified)) if modified.as_secs() <= since.as_secs() => Verdict::NotModified,
            _ => Verdict::Send,
        }
    }

    /// Whether a part may be sent, and not all, as If-Range says. A date counts only if it is the very one.
    pub fn allows_parts(&self, headers: &HeaderMap) -> bool {
        let Some(wanted) = text(headers, header::IF_RANGE) else { return true };
        if wanted.starts_with(['"', 'W']) {
            return wanted == self.etag;
        }
        let modified = self.modified.map(UnixTime::as_secs);
        parse_date(&wanted).is_some_and(|date| Some(date.as_secs()) == modified)
    }
}

/// All values of a header, joined as a list.
fn text(headers: &HeaderMap, name: HeaderName) -> Option<String> {
    let values: Vec<&str> =
        headers.get_all(name).iter().map(|value| value.to_str().unwrap_or_default().trim()).collect();
    if values.is_empty() { None } else { Some(values.join(",")) }
}

/// Whether a list of entity tags holds `etag`; with `weakly` a weak tag of the same text counts.
fn lists(list: &str, etag: &str, weakly: bool) -> bool {
    if list == "*" {
        return true;
    }
    let mut rest = list;
    loop {
        rest = rest.trim_start_matches([' ', '\t', ',']);
        let (is_weak, quoted) = match rest.strip_prefix("W/") {
            Some(quoted) => (true, quoted),
            None => (false, rest),
        };
        let Some(end) = quoted.strip_prefix('"').and_then(|text| text.find('"')) else { return false };
        let (tag, behind) = quoted.split_at(end + 2);
        if tag == etag && (weakly || !is_weak) {
            return true;
        }
        rest = behind;
    }
}

fn date(headers: &HeaderMap, name: HeaderName) -> Option<UnixTime> {
    parse_date(headers.get(name)?.to_str().ok()?)
}

/// Reads a date of HTTP; what lies before 1970 counts as its beginning.
pub(crate) fn parse_date(text: &str) -> Option<UnixTime> {
    let time = httpdate::parse_http_date(text.trim()).ok()?;
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    Some(UnixTime::from_secs(since.as_secs()))
}

/// Writes a date of HTTP.
pub(crate) fn http_date(time: UnixTime) -> String {
    let time: SystemTime = UNIX_EPOCH + Duration::from_secs(time.min(UnixTime::END).as_secs());
    httpdate::fmt_http_date(time)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DATE: &str = "Tue, 15 Nov 1994 08:12:31 GMT";

    fn validators() -> Validators {
        Validators { etag: "\"abc\"".into(), modified: parse_date(DATE) }
    }

    fn check(headers: &[(HeaderName, &str)]) -> Verdict {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(name, value.parse().unwrap());
        }
        validators().check(&map)
    }

    #[test]
    fn who_has_it_is_told_so() {
        for value in ["\"abc\"", "W/\"abc\"", "\"x\", \"abc\"", "\"a,b\" , W/\"abc\"", "*"] {
            assert_eq!(check(&[(header::IF_NONE_MATCH, value)]), Verdict::NotModified, "{value}");
        }
        for value in ["\"ab\"", "abc", "\"abc", "", "\"x,\"abc"] {
            assert_eq!(check(&[(header::IF_NONE_MATCH, value)]), Verdict::Send, "{value}");
        }
        assert_eq!(check(&[(header::IF_MODIFIED_SINCE, DATE)]), Verdict::NotModified);
        assert_eq!(check(&[(header::IF_MODIFIED_SINCE, "Tue, 15 Nov 1994 08:12:30 GMT")]), Verdict::Send);
        assert_eq!(check(&[(header::IF_MODIFIED_SINCE, "yesterday")]), Verdict::Send);
    }

    #[test]
    fn a_tag_counts_before_a_date() {
        let headers = [(header::IF_NONE_MATCH, "\"other\""), (header::IF_MODIFIED_SINCE, DATE)];
        assert_eq!(check(&headers), Verdict::Send);
    }

    #[test]
    fn who_wants_another_one_is_refused() {
        assert_eq!(check(&[(header::IF_MATCH, "\"x\"")]), Verdict::Failed);
        assert_eq!(check(&[(header::IF_MATCH, "W/\"abc\"")]), Verdict::Failed, "a weak tag is none here");
        assert_eq!(check(&[(header::IF_MATCH, "\"abc\"")]), Verdict::Send);
        let before = "Tue, 15 Nov 1994 08:12:30 GMT";
        assert_eq!(check(&[(header::IF_UNMODIFIED_SINCE, before)]), Verdict::Failed);
    }

    #[test]
    fn parts_are_sent_of_the_state_that_the_client_knows() {
        for (value, expected) in [
            ("\"abc\"", true),
            ("W/\"abc\"", false),
            ("\"x\"", false),
            (DATE, true),
            ("Tue, 15 Nov 1994 08:12:32 GMT", false),
        ] {
            let headers = HeaderMap::from_iter([(header::IF_RANGE, value.parse().unwrap())]);
            assert_eq!(validators().allows_parts(&headers), expected, "{value}");
        }
        assert!(validators().allows_parts(&HeaderMap::new()));
    }
}
