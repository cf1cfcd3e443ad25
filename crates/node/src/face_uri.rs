//! Addresses of faces, as NFD writes them.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, SocketAddrV6};
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::str::FromStr;

use management::HostPort;
use rustix::net::{AddressFamily, SocketType};
use thiserror::Error;

/// One end of a face in canonical form: numeric addresses, ports always present.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FaceUri {
    /// `udp4://192.0.2.1:6363`, `udp6://[2001:db8::1]:6363`; multicast groups too.
    Udp(SocketAddr),
    /// `ip4://192.0.2.1`, `ip6://[2001:db8::1]`: NDNLP v1 over IP alone, protocol 150. The port is 0.
    Ip(SocketAddr),
    /// `tcp4://192.0.2.1:6363`, `tcp6://[2001:db8::1]:6363`.
    Tcp(SocketAddr),
    /// `unix:///run/nfd/nfd.sock`.
    Unix(PathBuf),
    /// `fd://7`: the far end of an accepted unix connection.
    FileDescriptor(u64),
    /// `ether://[01:00:5e:00:17:aa]`.
    Ethernet(MacAddress),
    /// `dev://eth0`.
    Device(String),
    /// `ws://192.0.2.1:9696`.
    WebSocket(SocketAddr),
    /// `wsclient://192.0.2.1:50000`: the far end of an accepted WebSocket connection.
    WebSocketClient(SocketAddr),
    /// `internal://`, `internal://ccnd`: an application inside the node.
    Internal(Purpose),
}

/// What an application inside the node is there for: up to 32 lower-case letters, digits and hyphens, as
/// `ccnd`. Empty for the node's own management, as in NFD.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Purpose(String);

impl fmt::Display for Purpose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for Purpose {
    type Err = FaceUriError;

    fn from_str(text: &str) -> Result<Self, FaceUriError> {
        let is_good = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        if text.len() > 32 || !text.bytes().all(is_good) {
            let problem = "a purpose is up to 32 lower-case letters, digits and hyphens";
            return Err(FaceUriError::new(text, problem));
        }
        Ok(Purpose(text.to_owned()))
    }
}

/// Address of an Ethernet interface or group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MacAddress(pub [u8; 6]);

impl MacAddress {
    /// Whether it names a group.
    pub const fn is_multicast(self) -> bool {
        self.0[0] & 1 == 1
    }
}

impl fmt::Display for MacAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}

impl FromStr for MacAddress {
    type Err = FaceUriError;

    fn from_str(text: &str) -> Result<Self, FaceUriError> {
        let bad =
            || FaceUriError::new(text, "an Ethernet address is six bytes in hexadecimal with colons between");
        let mut bytes = [0; 6];
        let mut parts = text.split(':');
        for byte in &mut bytes {
            let part = parts.next().filter(|part| part.len() == 2).ok_or_else(bad)?;
            *byte = u8::from_str_radix(part, 16).map_err(|_| bad())?;
        }
        if parts.next().is_some() { Err(bad()) } else { Ok(MacAddress(bytes)) }
    }
}

/// Text that is no address of a face, or not in canonical form.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("face address {text}: {problem}")]
pub struct FaceUriError {
    /// The text.
    pub text: String,
    /// What is wrong with it.
    pub problem: &'static str,
}

/// What is wrong with an address of another kind than all of ours.
const UNKNOWN_SCHEME: &str = "the scheme is not known";

impl FaceUriError {
    fn new(text: &str, problem: &'static str) -> Self {
        FaceUriError { text: text.chars().take(200).collect(), problem }
    }

    /// Whether nothing is known of the scheme, rather than something wrong with what follows it.
    pub fn is_of_unknown_scheme(&self) -> bool {
        self.problem == UNKNOWN_SCHEME
    }
}

impl FaceUri {
    /// What stands before `://`.
    pub fn scheme(&self) -> &'static str {
        match self {
            FaceUri::Udp(SocketAddr::V4(_)) => "udp4",
            FaceUri::Udp(SocketAddr::V6(_)) => "udp6",
            FaceUri::Ip(SocketAddr::V4(_)) => "ip4",
            FaceUri::Ip(SocketAddr::V6(_)) => "ip6",
            FaceUri::Tcp(SocketAddr::V4(_)) => "tcp4",
            FaceUri::Tcp(SocketAddr::V6(_)) => "tcp6",
            FaceUri::Unix(_) => "unix",
            FaceUri::FileDescriptor(_) => "fd",
            FaceUri::Ethernet(_) => "ether",
            FaceUri::Device(_) => "dev",
            FaceUri::WebSocket(_) => "ws",
            FaceUri::WebSocketClient(_) => "wsclient",
            FaceUri::Internal(_) => "internal",
        }
    }
}

impl fmt::Display for FaceUri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://", self.scheme())?;
        match self {
            FaceUri::Udp(address)
            | FaceUri::Tcp(address)
            | FaceUri::WebSocket(address)
            | FaceUri::WebSocketClient(address) => write_address(f, address),
            FaceUri::Ip(address) => write_host(f, address),
            FaceUri::Unix(path) => write!(f, "{}", path.display()),
            FaceUri::FileDescriptor(number) => write!(f, "{number}"),
            FaceUri::Ethernet(address) => write!(f, "[{address}]"),
            FaceUri::Device(name) => f.write_str(name),
            FaceUri::Internal(purpose) => f.write_str(&purpose.0),
        }
    }
}

/// Writes an address as NFD does: the scope of a link-local one is the name of its interface.
fn write_address(f: &mut fmt::Formatter<'_>, address: &SocketAddr) -> fmt::Result {
    write_host(f, address)?;
    write!(f, ":{}", address.port())
}

/// The same without the port.
fn write_host(f: &mut fmt::Formatter<'_>, address: &SocketAddr) -> fmt::Result {
    match address {
        SocketAddr::V4(v4) => write!(f, "{}", v4.ip()),
        SocketAddr::V6(v6) if v6.scope_id() != 0 => match interface_name(v6.scope_id()) {
            Some(name) => write!(f, "[{}%{name}]", v6.ip()),
            // The interface is gone.
            None => write!(f, "[{}%{}]", v6.ip(), v6.scope_id()),
        },
        SocketAddr::V6(v6) => write!(f, "[{}]", v6.ip()),
    }
}

/// A socket to ask the system about interfaces with, in the network namespace of this thread.
fn asking() -> Option<OwnedFd> {
    rustix::net::socket(AddressFamily::INET, SocketType::DGRAM, None).ok()
}

fn interface_name(index: u32) -> Option<String> {
    rustix::net::netdevice::index_to_name(asking()?, index).ok()
}

impl FromStr for FaceUri {
    type Err = FaceUriError;

    /// Reads a canonical address. Names of hosts and missing ports are for the client to fill in, as in NFD.
    fn from_str(text: &str) -> Result<Self, FaceUriError> {
        let bad = |problem| FaceUriError::new(text, problem);
        let (scheme, rest) =
            text.split_once("://").ok_or_else(|| bad("must have the form scheme://address"))?;
        match scheme {
            "udp4" | "udp6" => Ok(FaceUri::Udp(socket_address(text, scheme, rest)?)),
            "tcp4" | "tcp6" => Ok(FaceUri::Tcp(socket_address(text, scheme, rest)?)),
            "ip4" | "ip6" => ip_address(text, scheme, rest),
            "ws" => Ok(FaceUri::WebSocket(socket_address(text, scheme, rest)?)),
            "wsclient" => Ok(FaceUri::WebSocketClient(socket_address(text, scheme, rest)?)),
            "udp" | "tcp" => {
                Err(bad("not canonical: write udp4, udp6, tcp4 or tcp6 and a numeric address with a port"))
            }
            "unix" if rest.starts_with('/') => Ok(FaceUri::Unix(PathBuf::from(rest))),
            "unix" => Err(bad("the path must be absolute: unix:///path")),
            "fd" => rest
                .parse()
                .map(FaceUri::FileDescriptor)
                .map_err(|_| bad("the number of a file descriptor must follow")),
            "ether" => {
                let inner = rest.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
                let address = inner.and_then(|inner| inner.parse().ok());
                address.map(FaceUri::Ethernet).ok_or_else(|| bad("write ether://[aa:bb:cc:dd:ee:ff]"))
            }
            "dev" if is_device_name(rest) => Ok(FaceUri::Device(rest.to_owned())),
            "dev" => Err(bad("the name of a network interface must follow")),
            "internal" => match rest.parse() {
                Ok(purpose) => Ok(FaceUri::Internal(purpose)),
                Err(FaceUriError { problem, .. }) => Err(bad(problem)),
            },
            "" => Err(bad("must have the form scheme://address")),
            _ => Err(bad(UNKNOWN_SCHEME)),
        }
    }
}

/// What the kernel accepts as the name of an interface.
fn is_device_name(name: &str) -> bool {
    (1..=15).contains(&name.len()) && !name.contains(['/', ' ', ':'])
}

fn socket_address(text: &str, scheme: &str, rest: &str) -> Result<SocketAddr, FaceUriError> {
    let problem = "not canonical: a numeric address with a port must follow, such as 192.0.2.1:6363 or [2001:db8::1]:6363";
    let bad = |problem| FaceUriError::new(text, problem);
    let address = parse_address(rest).ok_or_else(|| bad(problem))?;
    match (scheme.ends_with('4'), scheme.ends_with('6'), address.ip()) {
        (true, _, IpAddr::V6(_)) => Err(bad("the scheme is for IPv4 and the address is not")),
        (_, true, IpAddr::V4(_)) => Err(bad("the scheme is for IPv6 and the address is not")),
        _ if address.port() == 0 => Err(bad("port 0 is no address")),
        _ if !rest.ends_with(&format!(":{}", address.port())) => {
            Err(bad("not canonical: the port has zeros in front"))
        }
        (_, _, IpAddr::V6(ip)) if ip.to_ipv4_mapped().is_some() => {
            Err(bad("an IPv4-mapped IPv6 address: write it as IPv4"))
        }
        (_, _, IpAddr::V6(ip)) if ip.is_unicast_link_local() && !has_scope(&address) => {
            Err(bad("a link-local address needs its interface, such as [fe80::1%eth0]:6363"))
        }
        _ => Ok(address),
    }
}

fn ip_address(text: &str, scheme: &str, rest: &str) -> Result<FaceUri, FaceUriError> {
    let problem =
        "not canonical: a numeric address without a port must follow, such as 192.0.2.1 or [2001:db8::1]";
    let bad = || FaceUriError::new(text, problem);
    if parse_address(&format!("{rest}:1")).is_none() {
        return Err(bad());
    }
    let mut address = socket_address(text, scheme, &format!("{rest}:1"))?;
    address.set_port(0);
    Ok(FaceUri::Ip(address))
}

fn has_scope(address: &SocketAddr) -> bool {
    matches!(address, SocketAddr::V6(v6) if v6.scope_id() != 0)
}

/// Also reads the name of an interface as the scope of a link-local address, which the standard library does
/// not; as in NFD, the percent sign may be escaped.
fn parse_address(text: &str) -> Option<SocketAddr> {
    let HostPort { host, in_brackets, port } = HostPort::parse(text)?;
    let port = port?;
    if !in_brackets {
        return Some((host.parse::<Ipv4Addr>().ok()?, port).into());
    }
    let (ip, scope) = match host.split_once('%') {
        Some((ip, scope)) => (ip, parse_scope(scope)?),
        None => (host, 0),
    };
    Some(SocketAddrV6::new(ip.parse().ok()?, port, 0, scope).into())
}

/// The number or the name of an interface, perhaps behind what is left of an escaped percent sign.
fn parse_scope(text: &str) -> Option<u32> {
    let number = |text: &str| text.parse().ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()));
    let unescaped = text.strip_prefix("25").unwrap_or(text);
    // Interface 5 of the system, or one that is called 255: the longer text is read as it stands.
    if let Some(index) = number(text).or_else(|| number(unescaped)) {
        return Some(index);
    }
    if !is_device_name(unescaped) || unescaped.starts_with('.') {
        return None;
    }
    rustix::net::netdevice::name_to_index(asking()?, unescaped).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn canonical_addresses_read_as_they_are_written() {
        for text in [
            "udp4://192.0.2.1:6363",
            "udp6://[2001:db8::1]:6363",
            "udp6://[fe80::1%lo]:6363",
            "udp6://[fe80::1%4294967295]:6363",
            "ip4://192.0.2.1",
            "ip6://[2001:db8::1]",
            "ip6://[fe80::1%lo]",
            "tcp4://127.0.0.1:6363",
            "tcp6://[::1]:1",
            "unix:///run/nfd/nfd.sock",
            "fd://30",
            "ether://[01:00:5e:00:17:aa]",
            "dev://eth0",
            "ws://127.0.0.1:9696",
            "wsclient://[::1]:50000",
            "internal://",
            "internal://http-gateway",
        ] {
            let uri: FaceUri = text.parse().unwrap();
            assert_eq!(uri.to_string(), text);
            assert!(text.starts_with(uri.scheme()));
        }
    }

    #[test]
    fn what_is_not_canonical_is_refused_with_a_reason() {
        for text in [
            "",
            "udp4",
            "udp://192.0.2.1:6363",
            "tcp://localhost",
            "udp4://localhost:6363",
            "udp4://192.0.2.1",
            "udp4://192.0.2.1:0",
            "udp4://[2001:db8::1]:6363",
            "udp6://192.0.2.1:6363",
            "udp6://[::ffff:192.0.2.1]:6363",
            "udp6://[fe80::1]:6363",
            "udp4://192.0.2.1:06363",
            "udp4://192.0.2.1:6363/path",
            "udp4://192.0.2.1:6363/",
            "udp4://192.0.2.1:+6363",
            "tcp4://192.0.2.1:65536",
            "udp6://[2001:db8::1]:0",
            "udp6://2001:db8::1:6363",
            "ip4://192.0.2.1:6363",
            "ip4://[2001:db8::1]",
            "ip6://2001:db8::1",
            "ip6://192.0.2.1",
            "ip6://[fe80::1]",
            "ip4://",
            "dev://eth0/",
            "unix://relative",
            "ether://01:00:5e:00:17:aa",
            "ether://[01:00:5e:00:17]",
            "ether://[01:00:5e:00:17:aa:bb]",
            "dev://",
            "dev://a/b",
            "fd://x",
            "internal://x y",
            "internal://Repository",
            "internal://a-purpose-that-is-longer-than-any-purpose-may-be",
            "gopher://x",
        ] {
            let error = text.parse::<FaceUri>().unwrap_err();
            assert_eq!(error.text, text, "{error}");
            assert_eq!(error.is_of_unknown_scheme(), text == "gopher://x", "{error}");
        }
    }

    #[test]
    fn letters_of_either_size_are_the_same_address() {
        for (text, written) in [
            ("udp6://[2001:DB8::A]:6363", "udp6://[2001:db8::a]:6363"),
            ("tcp6://[2001:0db8:0::a]:6363", "tcp6://[2001:db8::a]:6363"),
            ("udp6://[FE80::1%25lo]:6363", "udp6://[fe80::1%lo]:6363"),
            ("ether://[01:00:5E:00:17:AA]", "ether://[01:00:5e:00:17:aa]"),
        ] {
            let (uri, same): (FaceUri, FaceUri) = (text.parse().unwrap(), written.parse().unwrap());
            assert_eq!((uri.to_string(), &uri), (written.to_owned(), &same));
        }
    }

    #[test]
    fn the_scope_of_a_link_local_address_may_be_the_name_of_an_interface() {
        let index = rustix::net::netdevice::name_to_index(asking().unwrap(), "lo").unwrap();
        for text in [
            "udp6://[fe80::1%lo]:6363".to_owned(),
            "udp6://[fe80::1%25lo]:6363".to_owned(),
            format!("udp6://[fe80::1%{index}]:6363"),
        ] {
            let uri: FaceUri = text.parse().unwrap();
            assert_eq!(uri.to_string(), "udp6://[fe80::1%lo]:6363", "{text}");
        }
        for text in ["udp6://[fe80::1%no-such-device]:6363", "udp6://[fe80::1%]:6363", "udp6://[fe80::1%25]x"]
        {
            assert!(text.parse::<FaceUri>().is_err(), "{text}");
        }
    }
}
