//! Face URIs: where an end of a face is, as text. `udp4://192.0.2.1:6363`, `tcp6://[2001:db8::1]:6363`,
//! `unix:///run/nfd/nfd.sock`, `ether://[01:00:5e:00:17:aa]`, `dev://eth0`, `fd://19`, `internal://` …

use core::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// The port of NDN over UDP and TCP where none is given.
pub const DEFAULT_PORT: u16 = 6363;

/// The port of NDN over WebSocket where none is given.
pub const DEFAULT_WEBSOCKET_PORT: u16 = 9696;

/// A face URI in canonical form: addresses and ports are numbers, nothing is left out.
///
/// ```
/// use management::FaceUri;
/// let uri: FaceUri = "udp4://192.0.2.1:6363".parse()?;
/// assert_eq!(uri.scheme(), "udp4");
/// assert!("udp://example.net".parse::<FaceUri>().is_err());
/// # Ok::<(), management::FaceUriError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum FaceUri {
    /// `udp4://` or `udp6://`.
    Udp(SocketAddr),
    /// `tcp4://` or `tcp6://`.
    Tcp(SocketAddr),
    /// `unix://` and a path.
    Unix(String),
    /// `ether://[…]`: a hardware address.
    Ethernet([u8; 6]),
    /// `dev://` and the name of a network interface.
    Device(String),
    /// `udp4+dev://eth0:6363` or `udp6+dev://…`: a UDP port on a network interface.
    UdpDevice {
        /// IPv6, not IPv4.
        is_v6: bool,
        /// The interface.
        device: String,
        /// The port.
        port: u16,
    },
    /// `ws://` or `wss://` with an address: a peer that connected by WebSocket, or where such are listened for.
    WebSocket {
        /// Over TLS.
        is_secure: bool,
        /// The address.
        address: SocketAddr,
    },
    /// `wsclient://` with an address, `fd://` with a number, `internal://` and others that only a forwarder itself makes.
    Other {
        /// The scheme.
        scheme: String,
        /// What stands behind `://`.
        rest: String,
    },
}

/// A text that is not a canonical face URI.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum FaceUriError {
    /// No `://`.
    #[error("a face URI has the form scheme://address")]
    NoScheme,
    /// A scheme that leaves the version of IP open.
    #[error("{0}: write {0}4 or {0}6 with a numeric address")]
    Unspecific(String),
    /// What stands behind the scheme is not an address of its kind.
    #[error("{text}: not {expected}")]
    Address {
        /// The whole text.
        text: String,
        /// What it should be.
        expected: &'static str,
    },
}

impl FaceUri {
    /// The part before `://`.
    pub fn scheme(&self) -> &str {
        match self {
            FaceUri::Udp(address) if address.is_ipv4() => "udp4",
            FaceUri::Udp(_) => "udp6",
            FaceUri::Tcp(address) if address.is_ipv4() => "tcp4",
            FaceUri::Tcp(_) => "tcp6",
            FaceUri::Unix(_) => "unix",
            FaceUri::Ethernet(_) => "ether",
            FaceUri::Device(_) => "dev",
            FaceUri::UdpDevice { is_v6: false, .. } => "udp4+dev",
            FaceUri::UdpDevice { is_v6: true, .. } => "udp6+dev",
            FaceUri::WebSocket { is_secure: false, .. } => "ws",
            FaceUri::WebSocket { is_secure: true, .. } => "wss",
            FaceUri::Other { scheme, .. } => scheme,
        }
    }
}

impl fmt::Display for FaceUri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = self.scheme();
        match self {
            FaceUri::Udp(address) | FaceUri::Tcp(address) | FaceUri::WebSocket { address, .. } => {
                write!(f, "{scheme}://{address}")
            }
            FaceUri::Unix(path) => write!(f, "{scheme}://{path}"),
            FaceUri::Ethernet([a, b, c, d, e, g]) => {
                write!(f, "{scheme}://[{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}]")
            }
            FaceUri::Device(device) => write!(f, "{scheme}://{device}"),
            FaceUri::UdpDevice { device, port, .. } => write!(f, "{scheme}://{device}:{port}"),
            FaceUri::Other { rest, .. } => write!(f, "{scheme}://{rest}"),
        }
    }
}

impl FromStr for FaceUri {
    type Err = FaceUriError;

    /// Reads a canonical URI. Host names, missing ports and shortened schemes are refused: finding out what they stand for
    /// takes a resolver.
    fn from_str(text: &str) -> Result<Self, FaceUriError> {
        let (scheme, rest) = text.split_once("://").ok_or(FaceUriError::NoScheme)?;
        let wrong = |expected| FaceUriError::Address { text: text.to_owned(), expected };
        let address =
            |is_v6| socket_address(rest, is_v6).ok_or_else(|| wrong(ADDRESS_FORMS[usize::from(is_v6)]));
        Ok(match scheme {
            "udp4" => FaceUri::Udp(address(false)?),
            "udp6" => FaceUri::Udp(address(true)?),
            "tcp4" => FaceUri::Tcp(address(false)?),
            "tcp6" => FaceUri::Tcp(address(true)?),
            "udp" | "tcp" => return Err(FaceUriError::Unspecific(scheme.to_owned())),
            "unix" if rest.starts_with('/') => FaceUri::Unix(rest.to_owned()),
            "unix" => return Err(wrong("an absolute path, as in unix:///run/nfd/nfd.sock")),
            "ether" => FaceUri::Ethernet(
                hardware_address(rest).ok_or_else(|| wrong("of the form ether://[01:00:5e:00:17:aa]"))?,
            ),
            "dev" if is_device(rest) => FaceUri::Device(rest.to_owned()),
            "dev" => return Err(wrong("the name of a network interface, as in dev://eth0")),
            "udp4+dev" | "udp6+dev" => {
                let (device, port) =
                    device_port(rest).ok_or_else(|| wrong("of the form udp4+dev://eth0:6363"))?;
                FaceUri::UdpDevice { is_v6: scheme == "udp6+dev", device, port }
            }
            "ws" | "wss" => {
                let address = rest.parse().map_err(|_| wrong("an address and port"))?;
                FaceUri::WebSocket { is_secure: scheme == "wss", address }
            }
            _ if is_scheme(scheme) => FaceUri::Other { scheme: scheme.to_owned(), rest: rest.to_owned() },
            _ => return Err(FaceUriError::NoScheme),
        })
    }
}

const ADDRESS_FORMS: [&str; 2] =
    ["an IPv4 address and port, as in 192.0.2.1:6363", "an IPv6 address and port, as in [2001:db8::1]:6363"];

/// Reads an address that is written the one canonical way.
fn socket_address(text: &str, is_v6: bool) -> Option<SocketAddr> {
    let address: SocketAddr = text.parse().ok()?;
    (address.is_ipv6() == is_v6 && address.to_string() == text).then_some(address)
}

fn hardware_address(text: &str) -> Option<[u8; 6]> {
    let mut parts = text.strip_prefix('[')?.strip_suffix(']')?.split(':');
    let mut address = [0; 6];
    for byte in &mut address {
        let part =
            parts.next().filter(|part| part.len() == 2 && part.bytes().all(|b| b.is_ascii_hexdigit()))?;
        *byte = u8::from_str_radix(part, 16).ok()?;
    }
    parts.next().is_none().then_some(address)
}

fn device_port(text: &str) -> Option<(String, u16)> {
    let (device, port) = text.rsplit_once(':')?;
    is_device(device).then_some((device.to_owned(), port.parse().ok()?))
}

/// Linux allows any name of up to 15 bytes without slashes and blanks; others are not told apart here.
fn is_device(name: &str) -> bool {
    !name.is_empty() && !name.contains(|c: char| c == '/' || c.is_whitespace())
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
}

/// Whether packets to this address reach many hosts.
pub fn is_multicast(address: &SocketAddr) -> bool {
    match address {
        SocketAddr::V4(address) => Ipv4Addr::is_multicast(address.ip()) || address.ip().is_broadcast(),
        SocketAddr::V6(address) => Ipv6Addr::is_multicast(address.ip()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn canonical_uris_read_and_print_alike() {
        for text in [
            "udp4://192.0.2.1:6363",
            "udp6://[2001:db8::1]:6363",
            "tcp4://0.0.0.0:6363",
            "tcp6://[fe80::1%2]:6363",
            "unix:///run/nfd/nfd.sock",
            "ether://[01:00:5e:00:17:aa]",
            "dev://eth0",
            "udp4+dev://eth0:6363",
            "udp6+dev://wlan0:56363",
            "ws://0.0.0.0:9696",
            "wsclient://127.0.0.1:4711",
            "fd://19",
            "internal://",
            "null://",
        ] {
            let uri: FaceUri = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!(uri.to_string(), text);
            assert!(text.starts_with(&format!("{}://", uri.scheme())));
        }
    }

    #[test]
    fn what_is_not_canonical_is_refused() {
        for text in [
            "192.0.2.1:6363",
            "udp://192.0.2.1:6363",
            "udp4://192.0.2.1",
            "udp4://example.net:6363",
            "udp4://[2001:db8::1]:6363",
            "udp6://192.0.2.1:6363",
            "udp6://[2001:0db8::1]:6363",
            "tcp4://192.0.2.1:65536",
            "unix://relative",
            "ether://01:00:5e:00:17:aa",
            "ether://[01:00:5e:00:17]",
            "ether://[01:00:5e:00:17:aa:bb]",
            "ether://[+1:00:5e:00:17:aa]",
            "dev://",
            "udp4+dev://eth0",
            "://",
            "",
        ] {
            assert!(text.parse::<FaceUri>().is_err(), "{text}");
        }
    }
}
