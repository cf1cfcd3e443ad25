//! Who may ask: a page of a stranger runs in the same browser, and a name of a stranger may lead to this
//! host.
//!
//! A browser that was led to `http://evil.example/` can be told a moment later that `evil.example` is
//! 127.0.0.1; from then on that page reads what this gateway sends. The header Host says then still
//! `evil.example`. So only hosts are answered that nobody else can name: addresses, `localhost`, and what the
//! operator lists.

use std::net::IpAddr;

use hyper::header::{self, HeaderMap};

use crate::failure::Failure;

/// Names of hosts that count as this gateway.
#[derive(Clone, Debug, Default)]
pub(crate) struct Guard {
    hosts: Vec<String>,
}

impl Guard {
    pub(crate) fn new(hosts: &[String]) -> Self {
        Guard { hosts: hosts.iter().map(|host| host.to_ascii_lowercase()).collect() }
    }

    /// Refuses requests for other hosts.
    pub(crate) fn check_host(&self, headers: &HeaderMap) -> Result<(), Failure> {
        let mut values = headers.get_all(header::HOST).iter();
        let (Some(value), None) = (values.next(), values.next()) else {
            return Err(Failure::BadRequest("there must be one header Host".into()));
        };
        let host = value.to_str().unwrap_or_default();
        if self.is_own(host) {
            return Ok(());
        }
        let shown: String = host.chars().take(100).collect();
        Err(Failure::Misdirected(format!(
            "this gateway does not go by the name {shown:?}: use its address, or tell it that name with --host"
        )))
    }

    /// Refuses requests that a page of another origin has made. Only for what is no business of such pages.
    pub(crate) fn check_origin(&self, headers: &HeaderMap) -> Result<(), Failure> {
        let foreign = || Failure::Forbidden("this is not for pages of other origins".into());
        if let Some(site) = headers.get("sec-fetch-site")
            && !matches!(site.as_bytes(), b"same-origin" | b"none")
        {
            return Err(foreign());
        }
        let Some(origin) = headers.get(header::ORIGIN) else { return Ok(()) };
        let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
        let origin = origin.to_str().unwrap_or_default();
        match origin.split_once("://") {
            Some((_, from)) if from.eq_ignore_ascii_case(host) => Ok(()),
            _ => Err(foreign()),
        }
    }

    fn is_own(&self, host: &str) -> bool {
        let name = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((address, _)) => address,
            None => host.rsplit_once(':').map_or(host, |(name, _)| name),
        };
        let name = name.to_ascii_lowercase();
        name.parse::<IpAddr>().is_ok() || name == "localhost" || self.hosts.contains(&name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let mut map = HeaderMap::new();
        for (name, value) in pairs {
            map.append(*name, value.parse().unwrap());
        }
        map
    }

    #[test]
    fn a_name_that_a_stranger_chose_is_not_answered() {
        let guard = Guard::new(&["Media.Example".into()]);
        for host in ["127.0.0.1:8080", "localhost", "LOCALHOST:80", "[::1]:8080", "media.example:8080"] {
            assert_eq!(guard.check_host(&headers(&[("host", host)])), Ok(()), "{host}");
        }
        for host in ["evil.example", "evil.example:8080", "127.0.0.1.evil.example", "localhost.evil", ""] {
            let refused = guard.check_host(&headers(&[("host", host)]));
            assert!(matches!(refused, Err(Failure::Misdirected(_))), "{host}");
        }
        assert!(guard.check_host(&HeaderMap::new()).is_err());
        assert!(guard.check_host(&headers(&[("host", "localhost"), ("host", "localhost")])).is_err());
    }

    #[test]
    fn pages_of_other_origins_are_told_from_our_own() {
        let guard = Guard::default();
        for own in [
            &[("host", "localhost:8080")][..],
            &[("host", "localhost:8080"), ("origin", "http://localhost:8080")],
            &[("host", "localhost:8080"), ("sec-fetch-site", "same-origin")],
            &[("host", "localhost:8080"), ("sec-fetch-site", "none")],
        ] {
            assert_eq!(guard.check_origin(&headers(own)), Ok(()), "{own:?}");
        }
        for foreign in [
            &[("host", "localhost:8080"), ("origin", "http://evil.example")][..],
            &[("host", "localhost:8080"), ("origin", "null")],
            &[("host", "localhost:8080"), ("origin", "http://localhost:81")],
            &[("host", "localhost:8080"), ("sec-fetch-site", "cross-site")],
        ] {
            assert!(guard.check_origin(&headers(foreign)).is_err(), "{foreign:?}");
        }
    }
}
