//! Where a forwarder is.

mod ccnx;

use std::net::{IpAddr, SocketAddr, ToSocketAddrs as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::{fmt, io, iter};

use management::{HostPort, OLDER_SOCKETS, SYSTEM_SOCKET, runtime_folder_in, socket_in};
use packet::Dialect;
use packet::ndn::PORT;
use thiserror::Error;

/// The address of a forwarder: `unix:///run/nfd/nfd.sock`, `tcp://host:6363`, `udp://host:6363`.
///
/// ```
/// use cairn_client::Remote;
/// assert_eq!("udp4://192.0.2.1".parse::<Remote>()?.to_string(), "udp4://192.0.2.1:6363");
/// assert_eq!("tcp://[::1]:7000".parse::<Remote>()?.to_string(), "tcp://[::1]:7000");
/// assert!("http://example.net".parse::<Remote>().is_err());
/// # Ok::<(), cairn_client::RemoteError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remote {
    /// A socket in the file system.
    Unix(PathBuf),
    /// A TCP connection.
    Tcp(Host),
    /// UDP datagrams.
    Udp(Host),
}

/// A host and a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    /// A name or an address, without brackets.
    pub name: String,
    /// The port.
    pub port: u16,
    /// Which of its addresses are meant.
    pub family: Family,
}

impl Host {
    /// Its addresses, of the versions of IP that are meant, in the order in which the system gives them.
    ///
    /// # Errors
    /// The name cannot be looked up.
    pub fn addresses(&self) -> io::Result<impl Iterator<Item = SocketAddr> + use<>> {
        // RFC 6874 writes the sign before an interface's name in this way.
        let name = self.name.replacen("%25", "%", 1);
        let family = self.family;
        let all = (name.as_str(), self.port).to_socket_addrs()?;
        // An IPv4-mapped address is one of IPv4: so do the tools of NFD, and its faces are none
        // of IPv6.
        let undressed = |address: SocketAddr| match address.ip().to_canonical() {
            ip @ IpAddr::V4(_) => SocketAddr::new(ip, address.port()),
            IpAddr::V6(_) => address,
        };
        Ok(all.map(undressed).filter(move |address| match family {
            Family::Any => true,
            Family::V4 => address.is_ipv4(),
            Family::V6 => address.is_ipv6(),
        }))
    }
}

/// Which addresses of a host are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// All of them.
    Any,
    /// Those of IPv4.
    V4,
    /// Those of IPv6.
    V6,
}

/// A text that is no address of a forwarder.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{place}{text:?}: a forwarder's address is unix:///path, tcp://host[:port] or udp://host[:port]")]
pub struct RemoteError {
    text: String,
    /// Where it stands, and a colon; empty if whoever asks knows that.
    place: String,
}

impl RemoteError {
    fn new(text: &str) -> Self {
        RemoteError { text: text.to_owned(), place: String::new() }
    }

    fn found_in(self, place: impl fmt::Display) -> Self {
        RemoteError { place: format!("{place}: "), ..self }
    }
}

impl Remote {
    /// The forwarder that is meant when none is named: NDN_CLIENT_TRANSPORT from the environment,
    /// `transport=` from `~/.ndn/client.conf` or `/etc/ndn/client.conf`, else the first socket there is
    /// of `/run/nfd/nfd.sock`, `nfd.sock` in XDG_RUNTIME_DIR, where a forwarder that is not root's puts
    /// it, and the older places.
    ///
    /// # Errors
    /// The environment or the file names something that is no address.
    pub fn default_forwarder() -> Result<Self, RemoteError> {
        if let Ok(uri) = std::env::var("NDN_CLIENT_TRANSPORT")
            && !uri.is_empty()
        {
            return uri.parse().map_err(|error: RemoteError| error.found_in("NDN_CLIENT_TRANSPORT"));
        }
        let home = std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".ndn/client.conf"));
        for file in home.into_iter().chain([PathBuf::from("/etc/ndn/client.conf")]) {
            if let Ok(text) = trust::whole_file::read_text(&file, trust::whole_file::MAX_BYTES)
                && let Some(uri) = transport_in(&text)
            {
                return uri.parse().map_err(|error: RemoteError| error.found_in(file.display()));
            }
        }
        let mut candidates = iter::once(PathBuf::from(SYSTEM_SOCKET))
            .chain(own_sockets())
            .chain(OLDER_SOCKETS.iter().map(PathBuf::from));
        let there = candidates.find(|path| path.exists());
        Ok(Remote::Unix(there.unwrap_or_else(|| PathBuf::from(SYSTEM_SOCKET))))
    }

    /// The same for a dialect. A forwarder of CCNx is where CCN_LOCAL_TRANSPORT says (`unix:path`,
    /// `tcp:host:port` or `udp:host:port`), or else at the socket that CCN_LOCAL_SOCKNAME names, to which
    /// CCN_LOCAL_PORT adds a number, as for the programs of CCNx 0.8.
    ///
    /// # Errors
    /// As [`Remote::default_forwarder`].
    pub fn default_forwarder_in(dialect: Dialect) -> Result<Self, RemoteError> {
        match dialect {
            Dialect::Ndn => Remote::default_forwarder(),
            Dialect::Ccnx => ccnx::default_forwarder(),
        }
    }

    /// The place that `text` names, with the port of the dialect's forwarders where the text says none.
    #[must_use]
    pub fn or_port_of(self, dialect: Dialect, text: &str) -> Self {
        let with_port = |host: Host| match text.ends_with(&format!(":{PORT}")) {
            false if host.port == PORT => Host { port: dialect.port(), ..host },
            _ => host,
        };
        match self {
            Remote::Unix(_) => self,
            Remote::Tcp(host) => Remote::Tcp(with_port(host)),
            Remote::Udp(host) => Remote::Udp(with_port(host)),
        }
    }

    /// Whether the forwarder is on this host and knows that we are, so that `/localhost` reaches it.
    /// Datagrams may come from anywhere, whatever they say: forwarders take those of this host for a
    /// stranger's too.
    pub fn is_local(&self) -> bool {
        match self {
            Remote::Unix(_) => true,
            Remote::Udp(_) => false,
            Remote::Tcp(host) => {
                host.name == "localhost"
                    || host.name.parse::<IpAddr>().is_ok_and(|address| address.to_canonical().is_loopback())
            }
        }
    }
}

/// Where Cairn's node puts its socket when it may not write to `/run/nfd`.
fn own_sockets() -> Vec<PathBuf> {
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let user = rustix::process::getuid().as_raw();
    // Anybody may make a folder of any name there: one of somebody else's leads to somebody else's forwarder.
    let temporary = Some(runtime_folder_in(&std::env::temp_dir(), user)).filter(|it| is_owned_by(it, user));
    runtime.into_iter().chain(temporary).map(|folder| socket_in(&folder)).collect()
}

fn is_owned_by(folder: &Path, user: u32) -> bool {
    std::fs::symlink_metadata(folder).is_ok_and(|metadata| metadata.is_dir() && metadata.uid() == user)
}

/// The value of `transport=` in a client.conf of ndn-cxx.
fn transport_in(text: &str) -> Option<&str> {
    text.lines().find_map(|line| {
        let (key, value) = line.split(';').next()?.split_once('=')?;
        (key.trim() == "transport").then(|| value.trim()).filter(|value| !value.is_empty())
    })
}

impl FromStr for Remote {
    type Err = RemoteError;

    fn from_str(text: &str) -> Result<Self, RemoteError> {
        let wrong = || RemoteError::new(text);
        let (scheme, rest) = text.split_once("://").ok_or_else(wrong)?;
        let host = |family| parse_host(rest, family).ok_or_else(wrong);
        match scheme {
            "unix" if rest.starts_with('/') => Ok(Remote::Unix(PathBuf::from(rest))),
            "tcp" => Ok(Remote::Tcp(host(Family::Any)?)),
            "tcp4" => Ok(Remote::Tcp(host(Family::V4)?)),
            "tcp6" => Ok(Remote::Tcp(host(Family::V6)?)),
            "udp" => Ok(Remote::Udp(host(Family::Any)?)),
            "udp4" => Ok(Remote::Udp(host(Family::V4)?)),
            "udp6" => Ok(Remote::Udp(host(Family::V6)?)),
            _ => Err(wrong()),
        }
    }
}

fn parse_host(text: &str, family: Family) -> Option<Host> {
    let HostPort { host, in_brackets, port } = HostPort::parse(text.trim_end_matches('/'))?;
    let port = port.unwrap_or(PORT);
    let legal = !host.is_empty() && !host.contains(['/', '?', '#', '@', ' ']);
    let closes_once = !(in_brackets && host.contains(']'));
    (port > 0 && legal && closes_once).then(|| Host { name: host.to_owned(), port, family })
}

impl fmt::Display for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (scheme, host) = match self {
            Remote::Unix(path) => return write!(f, "unix://{}", path.display()),
            Remote::Tcp(host) => ("tcp", host),
            Remote::Udp(host) => ("udp", host),
        };
        let family = match host.family {
            Family::Any => "",
            Family::V4 => "4",
            Family::V6 => "6",
        };
        if host.name.contains(':') {
            write!(f, "{scheme}{family}://[{}]:{}", host.name, host.port)
        } else {
            write!(f, "{scheme}{family}://{}:{}", host.name, host.port)
        }
    }
}

#[cfg(test)]
mod tests {
    use testkit::folder::TestFolder;

    use super::*;

    #[test]
    fn a_folder_of_somebody_else_is_not_looked_into() {
        let folder = TestFolder::new("remote");
        let user = std::fs::metadata(&folder).unwrap().uid();
        assert!(is_owned_by(&folder, user) && !is_owned_by(&folder, user + 1));
        let link = folder.join("link");
        std::os::unix::fs::symlink(&folder, &link).unwrap();
        assert!(!is_owned_by(&link, user));
    }

    #[test]
    fn addresses_are_read_and_written() {
        for (text, written) in [
            ("unix:///run/nfd/nfd.sock", "unix:///run/nfd/nfd.sock"),
            ("tcp://localhost", "tcp://localhost:6363"),
            ("udp6://[2001:db8::1]", "udp6://[2001:db8::1]:6363"),
            ("udp://2001:db8::1", "udp://[2001:db8::1]:6363"),
            ("tcp4://127.0.0.1:7000/", "tcp4://127.0.0.1:7000"),
        ] {
            assert_eq!(text.parse::<Remote>().unwrap().to_string(), written);
        }
        for text in
            ["", "unix://relative", "tcp://", "tcp://a:b", "udp://a:70000", "udp://[::1", "host", "tcp://a b"]
                .into_iter()
                .chain(["udp://a:0", "tcp4://127.0.0.1:+7", "udp6://[::1]:", "udp6://[::1]x", "tcp://a:"])
        {
            assert!(text.parse::<Remote>().is_err(), "{text}");
        }
    }

    #[test]
    fn only_this_host_is_local() {
        let local = |text: &str| text.parse::<Remote>().unwrap().is_local();
        assert!(
            local("unix:///x")
                && local("tcp://localhost")
                && local("tcp4://127.0.0.1")
                && local("tcp6://[::1]")
        );
        assert!(local("tcp://[::ffff:127.0.0.1]"));
        assert!(!local("tcp4://192.0.2.1") && !local("tcp://example.net"));
        assert!(!local("udp4://127.0.0.1") && !local("udp6://[::1]"));
    }

    #[test]
    fn the_configuration_file_of_other_clients_is_understood() {
        assert_eq!(transport_in("; transport=unix:///no\ntransport = tcp://a ; yes\n"), Some("tcp://a"));
        assert_eq!(transport_in("pib=pib-sqlite3\n"), None);
    }
}
