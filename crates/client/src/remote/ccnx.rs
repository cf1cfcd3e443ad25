//! Where programs of CCNx 0.8 look for a forwarder.

use std::path::PathBuf;

use packet::ccnx::PORT;

use super::{Remote, RemoteError};

/// Where ccnd has its socket.
const CCND_SOCKET: &str = "/tmp/.ccnd.sock";

/// The forwarder that the environment names, or else the one of this host.
pub(super) fn default_forwarder() -> Result<Remote, RemoteError> {
    let variable = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
    let port = variable("CCN_LOCAL_PORT");
    if let Some(transport) = variable("CCN_LOCAL_TRANSPORT") {
        let remote = of_transport(&transport, port.as_deref());
        return remote.map_err(|error| error.found_in("CCN_LOCAL_TRANSPORT"));
    }
    let mut path = variable("CCN_LOCAL_SOCKNAME").unwrap_or_else(|| CCND_SOCKET.to_owned());
    if let Some(port) = port.filter(|port| *port != PORT.to_string()) {
        path.push('.');
        path.push_str(&port);
    }
    Ok(Remote::Unix(PathBuf::from(path)))
}

/// What CCN_LOCAL_TRANSPORT says.
fn of_transport(text: &str, port: Option<&str>) -> Result<Remote, RemoteError> {
    let wrong = || RemoteError::new(text);
    let (scheme, rest) = text.split_once(':').map_or((text, ""), |(scheme, rest)| (scheme, rest));
    match scheme {
        "unix" if !rest.is_empty() => Ok(Remote::Unix(PathBuf::from(rest))),
        "tcp" | "udp" => {
            let host = if rest.is_empty() { "localhost" } else { rest };
            let has_port = host.rsplit_once(':').is_some_and(|(before, _)| !before.contains(':'));
            let port = port.map_or_else(|| PORT.to_string(), str::to_owned);
            let uri =
                if has_port { format!("{scheme}://{host}") } else { format!("{scheme}://{host}:{port}") };
            uri.parse().map_err(|_| wrong())
        }
        _ => Err(wrong()),
    }
}
