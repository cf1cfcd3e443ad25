//! Addresses and paths of a configuration at which nothing could be received, whatever the machine.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;

use formats::printable::printable_path;

use crate::config::{Config, ConfigError};
use crate::control::FaceUri;

/// Bytes of a path that a unix socket can have; one more is the zero behind it.
const MAX_SOCKET_PATH_BYTES: usize = 107;

/// Refuses places at which nothing could be received, or nothing could be sent to.
pub(super) fn check(config: &Config) -> Result<(), ConfigError> {
    for (section, listen) in
        [("udp", &config.udp.listen), ("tcp", &config.tcp.listen), ("websocket", &config.websocket.listen)]
    {
        if let Some(group) = listen.iter().find(|address| address.ip().is_multicast()) {
            let known = "groups are joined on the interfaces that multicast.interfaces names";
            return Err(bad(format!("{section}.listen: {group} is a multicast group: {known}")));
        }
        // Port 0 is another one each time.
        are_different(&format!("{section}.listen"), listen.iter().filter(|address| address.port() > 0))?;
    }
    are_ip_places(&config.ccnx.ip)?;
    let paths = config.unix.listen.as_deref().unwrap_or_default();
    are_different("unix.listen", paths)?;
    for path in paths {
        is_socket_path("unix.listen", path)?;
    }
    if let Some(path) = config.node.capture_socket.as_deref().filter(|path| !path.as_os_str().is_empty()) {
        is_socket_path("node.capture_socket", path)?;
    }
    is_group("multicast.group_v4", config.multicast.group_v4, config.multicast.group_v4.is_ipv4(), "IPv4")?;
    is_group("multicast.group_v6", config.multicast.group_v6, config.multicast.group_v6.is_ipv6(), "IPv6")?;
    config.websocket.local_origins.iter().try_for_each(|origin| is_origin(origin))?;
    are_different("repository.path", config.repositories.iter().map(|repository| &repository.path))?;
    are_different("strategy.prefix", config.strategies.iter().map(|choice| &choice.prefix))
}

/// Refuses faces that are never made on request.
pub(super) fn check_face(remote: &FaceUri, local: Option<&FaceUri>) -> Result<(), ConfigError> {
    let can_be_made = matches!(
        remote,
        FaceUri::Udp(_) | FaceUri::Ip(_) | FaceUri::Tcp(_) | FaceUri::Unix(_) | FaceUri::Ethernet(_)
    );
    if !can_be_made {
        let known = "udp4, udp6, ip4, ip6, tcp4, tcp6, unix and ether";
        return Err(bad(format!("face.remote: no face can be made to {remote}; there are {known}")));
    }
    if let FaceUri::Udp(address) | FaceUri::Ip(address) | FaceUri::Tcp(address) = remote
        && (address.ip().is_multicast() || address.ip().is_unspecified())
    {
        let known = "groups are joined on the interfaces that multicast.interfaces names";
        return Err(bad(format!("face.remote: {remote} is not the address of one neighbour; {known}")));
    }
    match (remote, local) {
        (FaceUri::Ethernet(_), Some(FaceUri::Device(_))) | (_, None) => Ok(()),
        (FaceUri::Ethernet(_), Some(_)) => {
            Err(bad(format!("face.local: a face to {remote} begins at an interface, such as dev://eth0")))
        }
        _ => Err(bad(format!(
            "face.local: a face to {remote} cannot be told its local end, which the system's routes decide; \
             leave it out"
        ))),
    }
}

/// Every socket for IP alone gets a copy of each packet to its address.
fn are_ip_places(all: &[IpAddr]) -> Result<(), ConfigError> {
    are_different("ccnx.ip", all)?;
    if let Some(group) = all.iter().find(|address| address.is_multicast()) {
        return Err(bad(format!(
            "ccnx.ip: {group} is a multicast group, and neighbours are single addresses"
        )));
    }
    let whole = |address: &&IpAddr| address.is_unspecified();
    let twice =
        |whole: &&IpAddr| all.iter().any(|other| other != *whole && other.is_ipv4() == whole.is_ipv4());
    match all.iter().filter(whole).find(twice) {
        Some(whole) => {
            Err(bad(format!("ccnx.ip: {whole} stands for all addresses of its kind; leave the others out")))
        }
        None => Ok(()),
    }
}

fn bad(problem: String) -> ConfigError {
    ConfigError::new(problem)
}

fn are_different<T: Ord + Debug>(key: &str, all: impl IntoIterator<Item = T>) -> Result<(), ConfigError> {
    let mut seen = BTreeSet::new();
    for one in all {
        if let Some(one) = seen.replace(one) {
            return Err(bad(format!("{key}: {one:?} stands there twice; take one of them away")));
        }
    }
    Ok(())
}

fn is_socket_path(key: &str, path: &Path) -> Result<(), ConfigError> {
    match path.as_os_str().len() {
        0 => Err(bad(format!("{key}: an empty path names no socket"))),
        bytes if bytes > MAX_SOCKET_PATH_BYTES => Err(bad(format!(
            "{key}: {} has {bytes} bytes, and the path of a unix socket {MAX_SOCKET_PATH_BYTES} at most; \
             choose a shorter one",
            printable_path(path)
        ))),
        _ => Ok(()),
    }
}

fn is_group(key: &str, group: SocketAddr, is_of_family: bool, family: &str) -> Result<(), ConfigError> {
    match is_of_family && group.ip().is_multicast() && group.port() > 0 {
        true => Ok(()),
        false => Err(bad(format!(
            "{key}: {group} is no multicast group of {family} with a port; leave it out for the default"
        ))),
    }
}

/// A page as browsers name it: they leave out what follows the host and the port.
fn is_origin(origin: &str) -> Result<(), ConfigError> {
    let host = origin.split_once("://").map(|(_, host)| host);
    match host.is_some_and(|host| !host.is_empty() && !host.contains(['/', '*', '?', '#', ' '])) {
        true => Ok(()),
        false => Err(bad(format!(
            "websocket.local_origins: {origin:?} is no page as browsers name it, such as \
             \"http://localhost:8080\", without a path and without patterns"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(text: &str) -> String {
        Config::read(text).unwrap().check().unwrap_err().to_string()
    }

    #[test]
    fn places_where_nothing_can_be_received_are_refused_by_their_key() {
        let long = format!("[unix]\nlisten = [\"/{}\"]", "x".repeat(107));
        for (text, expected) in [
            ("[udp]\nlisten = [\"224.0.0.1:6363\"]", "udp.listen: 224.0.0.1:6363 is a multicast group"),
            ("[tcp]\nlisten = [\"[::1]:9\", \"[::1]:9\"]", "tcp.listen: [::1]:9 stands there twice"),
            ("[unix]\nlisten = [\"a\", \"a\"]", "unix.listen: \"a\" stands there twice"),
            ("[unix]\nlisten = [\"\"]", "unix.listen: an empty path"),
            (&long, "has 108 bytes"),
            ("[multicast]\ngroup_v4 = \"10.0.0.1:56363\"", "multicast.group_v4: 10.0.0.1:56363 is no"),
            ("[multicast]\ngroup_v4 = \"[ff02::1]:56363\"", "multicast.group_v4: [ff02::1]:56363 is no"),
            ("[multicast]\ngroup_v6 = \"[ff02::1]:0\"", "multicast.group_v6: [ff02::1]:0 is no"),
            ("[ccnx]\nip = [\"0.0.0.0\", \"192.0.2.1\"]", "ccnx.ip: 0.0.0.0 stands for all addresses"),
            ("[ccnx]\nip = [\"::1\", \"::1\"]", "ccnx.ip: ::1 stands there twice"),
            ("[ccnx]\nip = [\"ff02::1\"]", "ccnx.ip: ff02::1 is a multicast group"),
            ("[websocket]\nlocal_origins = [\"*\"]", "websocket.local_origins: \"*\" is no page"),
            ("[websocket]\nlocal_origins = [\"http://a/\"]", "without a path"),
            ("[[repository]]\npath = 'x'\n[[repository]]\npath = 'x'", "repository.path: \"x\" stands there"),
            (
                "[[strategy]]\nprefix = '/a'\nstrategy = 'asf'\n[[strategy]]\nprefix = '/a'\nstrategy = 'asf'",
                "strategy.prefix: \"/a\" stands there twice",
            ),
        ] {
            let problem = problem(text);
            assert!(problem.contains(expected), "{text}: {problem}");
        }
        for text in [
            "[udp]\nlisten = [\"127.0.0.1:0\", \"127.0.0.1:0\"]",
            "[websocket]\nlocal_origins = [\"http://localhost:8080\", \"https://[::1]\"]",
            "[ccnx]\nip = [\"0.0.0.0\", \"::\"]",
            "[node]\ncapture_socket = \"\"",
        ] {
            assert_eq!(Config::read(text).unwrap().check(), Ok(()), "{text}");
        }
    }

    #[test]
    fn faces_that_are_never_made_on_request_are_refused_before_anything_is_in_force() {
        for (text, expected) in [
            ("remote = 'fd://3'", "face.remote: no face can be made to fd://3"),
            ("remote = 'ws://127.0.0.1:9696'", "face.remote: no face can be made to ws://"),
            ("remote = 'udp4://224.0.23.170:56363'", "is not the address of one neighbour"),
            ("remote = 'ip4://0.0.0.0'", "is not the address of one neighbour"),
            ("remote = 'tcp4://0.0.0.0:6363'", "is not the address of one neighbour"),
            ("remote = 'udp4://127.0.0.1:70000'", "a numeric address with a port"),
            ("remote = 'udp4://127.0.0.1:0'", "port 0 is no address"),
            ("remote = 'udp4://127.0.0.1:9'\nlocal = 'dev://lo'", "face.local: a face to udp4://127.0.0.1:9"),
            ("remote = 'ether://[01:00:5e:00:17:aa]'\nlocal = 'fd://1'", "face.local: a face to ether://"),
        ] {
            let problem = problem(&format!("[[face]]\n{text}"));
            assert!(problem.contains(expected), "{text}: {problem}");
        }
    }
}
