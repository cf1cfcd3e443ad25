//! Faces as people name them: by number, by address, by host.

use std::net::SocketAddr;
use std::str::FromStr;

use client::{Host, Remote};
use management::{FaceQueryFilter, FaceStatus};
use node::control::FaceUri;
use packet::Dialect;

use super::ToolError;
use super::forwarder::Forwarder;

/// A face: its number, or where it leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FaceName {
    /// The number.
    Id(u64),
    /// The address of the peer, perhaps with the name of a host in it.
    Uri(String),
}

impl FromStr for FaceName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.parse() {
            Ok(number) => Ok(FaceName::Id(number)),
            Err(_) if text.contains("://") => Ok(FaceName::Uri(text.to_owned())),
            Err(_) => Err("a face is a number, or an address such as udp4://192.0.2.1:6363".to_owned()),
        }
    }
}

impl FaceName {
    /// The face that is meant, if there is one.
    pub(crate) fn find(&self, forwarder: &mut Forwarder) -> Result<Option<FaceStatus>, ToolError> {
        let filter = match self {
            FaceName::Id(number) => FaceQueryFilter { face_id: Some(*number), ..Default::default() },
            FaceName::Uri(text) => FaceQueryFilter { uri: Some(canonical(text)?), ..Default::default() },
        };
        let mut faces = forwarder.faces(&filter)?;
        match faces.len() {
            0 => Ok(None),
            1 => Ok(faces.pop()),
            _ => {
                let numbers: Vec<String> = faces.iter().map(|face| face.face_id.to_string()).collect();
                let numbers = numbers.join(", ");
                Err(ToolError::other(format!(
                    "{self} is ambiguous: faces {numbers} lead there; name one by number"
                )))
            }
        }
    }

    /// The face that is meant, which must be there.
    pub(crate) fn must_find(&self, forwarder: &mut Forwarder) -> Result<FaceStatus, ToolError> {
        self.find(forwarder)?.ok_or_else(|| ToolError::other(format!("there is no face {self}")))
    }
}

impl std::fmt::Display for FaceName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            FaceName::Id(number) => write!(f, "{number}"),
            FaceName::Uri(text) => f.write_str(text),
        }
    }
}

/// The canonical form of an address: hosts looked up, ports filled in, versions of IP chosen.
pub(crate) fn canonical(text: &str) -> Result<String, ToolError> {
    canonical_in(Dialect::Ndn, text)
}

/// The same, with the port of a dialect where none is given.
pub(crate) fn canonical_in(dialect: Dialect, text: &str) -> Result<String, ToolError> {
    let wrong = |problem: String| ToolError::other(format!("{text}: {problem}"));
    let (uri_of, host): (fn(SocketAddr) -> FaceUri, Host) =
        match text.parse::<Remote>().map(|remote| remote.or_port_of(dialect, text)) {
            Ok(Remote::Udp(host)) => (FaceUri::Udp, host),
            Ok(Remote::Tcp(host)) => (FaceUri::Tcp, host),
            Ok(Remote::Unix(_)) => return Ok(text.to_owned()),
            Err(_) => return foreign(text).ok_or_else(|| wrong("this is no host and port".to_owned())),
        };
    let mut fitting: Vec<SocketAddr> = host.addresses().map_err(|error| wrong(error.to_string()))?.collect();
    // Without a wish, IPv4 goes first: it is what other tools choose.
    fitting.sort_by_key(SocketAddr::is_ipv6);
    let address = fitting.first().ok_or_else(|| wrong("the host has no such address".to_owned()))?;
    // With the name of the interface where the address is link-local, as forwarders write it.
    Ok(uri_of(*address).to_string())
}

/// An address of another scheme than those of IP: whatever a forwarder may make of it.
fn foreign(text: &str) -> Option<String> {
    let (scheme, _) = text.split_once("://")?;
    let is_of_ip = matches!(scheme, "udp" | "udp4" | "udp6" | "tcp" | "tcp4" | "tcp6");
    let canonical = || text.parse::<FaceUri>().map_or_else(|_| text.to_owned(), |uri| uri.to_string());
    (!is_of_ip).then(canonical)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_of_an_address_is_filled_in() {
        for (text, expected) in [
            ("udp4://192.0.2.1:6363", "udp4://192.0.2.1:6363"),
            ("udp://192.0.2.1", "udp4://192.0.2.1:6363"),
            ("tcp://192.0.2.1:7000/", "tcp4://192.0.2.1:7000"),
            ("udp://[2001:db8::1]", "udp6://[2001:db8::1]:6363"),
            ("tcp6://[2001:0db8::1]:1", "tcp6://[2001:db8::1]:1"),
            ("tcp4://localhost", "tcp4://127.0.0.1:6363"),
            ("ether://[01:00:5E:00:17:AA]", "ether://[01:00:5e:00:17:aa]"),
            ("udp6://[fe80::1%lo]", "udp6://[fe80::1%lo]:6363"),
            ("udp://[fe80::1%25lo]:6363", "udp6://[fe80::1%lo]:6363"),
            ("udp6://[FE80::1%25lo]:6363/", "udp6://[fe80::1%lo]:6363"),
            ("tcp6://[2001:DB8::A]", "tcp6://[2001:db8::a]:6363"),
            ("udp://[::ffff:192.0.2.1]:7000", "udp4://192.0.2.1:7000"),
            ("unix:///run/nfd/nfd.sock", "unix:///run/nfd/nfd.sock"),
            ("something://new", "something://new"),
        ] {
            assert_eq!(canonical(text).unwrap(), expected);
        }
        for text in
            ["192.0.2.1", "udp://", "udp://:6363", "udp6://192.0.2.1", "udp4://[::1]", "udp://192.0.2.1:x"]
                .into_iter()
                .chain(["udp4://192.0.2.1:0", "udp6://[::ffff:192.0.2.1]", "tcp4://192.0.2.1:65536"])
        {
            assert!(canonical(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_face_is_named_by_number_or_address() {
        assert_eq!("261".parse(), Ok(FaceName::Id(261)));
        assert_eq!("udp://h".parse(), Ok(FaceName::Uri("udp://h".to_owned())));
        assert!("router".parse::<FaceName>().is_err());
    }
}
