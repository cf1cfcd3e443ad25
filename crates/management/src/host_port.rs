//! Host and port, as they stand in addresses of forwarders and of faces.

/// A host with or without a port: `example.net:6363`, `192.0.2.1`, `[2001:db8::1]:6363`, `2001:db8::1`.
///
/// Nothing is said of what a host may be: a name, an address of either version of IP, one with a scope.
///
/// ```
/// use cairn_management::HostPort;
/// let both = HostPort::parse("[2001:db8::1]:7000").ok_or("not a host")?;
/// assert_eq!((both.host, both.port), ("2001:db8::1", Some(7000)));
/// assert_eq!(HostPort::parse("2001:db8::1").ok_or("not a host")?.port, None);
/// assert_eq!(HostPort::parse("example.net:+7"), None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostPort<'a> {
    /// The host, without brackets.
    pub host: &'a str,
    /// Whether it stood in brackets, as an address of IPv6 before a port must.
    pub in_brackets: bool,
    /// The port, if there is one.
    pub port: Option<u16>,
}

impl<'a> HostPort<'a> {
    /// Takes the text apart; `None` if a bracket is not closed, or what stands where a port would is none.
    pub fn parse(text: &'a str) -> Option<Self> {
        let (host, in_brackets, port) = match text.strip_prefix('[') {
            Some(inside) => {
                let (host, rest) = inside.rsplit_once(']')?;
                (host, true, if rest.is_empty() { None } else { Some(rest.strip_prefix(':')?) })
            }
            None => match text.rsplit_once(':') {
                // An address of IPv6 without brackets.
                Some((before, _)) if before.contains(':') => (text, false, None),
                Some((host, port)) => (host, false, Some(port)),
                None => (text, false, None),
            },
        };
        let port = match port {
            // The library would take a sign, too.
            Some(port) => Some(Some(port).filter(|port| is_number(port))?.parse().ok()?),
            None => None,
        };
        Some(HostPort { host, in_brackets, port })
    }
}

fn is_number(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_what_stands_before_the_port_or_in_the_brackets() {
        for (text, host, in_brackets, port) in [
            ("a", "a", false, None),
            ("a:7", "a", false, Some(7)),
            ("192.0.2.1:65535", "192.0.2.1", false, Some(65535)),
            ("[::1]", "::1", true, None),
            ("[::1]:0", "::1", true, Some(0)),
            ("[fe80::1%eth0]:06363", "fe80::1%eth0", true, Some(6363)),
            ("2001:db8::1", "2001:db8::1", false, None),
            ("", "", false, None),
        ] {
            assert_eq!(HostPort::parse(text), Some(HostPort { host, in_brackets, port }), "{text}");
        }
    }

    #[test]
    fn what_is_no_port_is_refused() {
        for text in ["a:", "a:b", "a:+7", "a:65536", "a:7/", "[::1", "[::1]x", "[::1]:", "[::1]7"] {
            assert_eq!(HostPort::parse(text), None, "{text}");
        }
    }
}
