//! From a configuration to a data plane: the sockets.

mod check;
mod checked_config;
mod control_groups;
pub(crate) mod descriptors;
mod limits;
mod memory;
mod places;
pub(crate) mod repositories;

use std::path::PathBuf;

use crate::config::{Config, ConfigError};
use crate::control::FaceUri;
use crate::plane::{ConfiguredInterfaces, DataPlane, Ends, Listener};
use crate::settings::Settings;
use crate::socket_path;
use crate::start_error::StartError;
use crate::sys::interfaces;
use crate::transport::datagram::{DatagramChannel, IP_PROTOCOL};
use crate::transport::ethernet::EthernetChannel;
pub(crate) use checked_config::CheckedConfig;
use engine::EngineConfig;
use formats::printable::printable_path;
pub use memory::memory_at_hand_bytes;
use packet::{Dialect, LinkType};
use system::Clock;

/// All that a data plane is made of, with the sockets bound already.
pub(crate) struct Prepared {
    engine: EngineConfig,
    settings: Settings,
    channels: Vec<DatagramChannel>,
    groups: Vec<(DatagramChannel, LinkType)>,
    ethernet: Vec<EthernetChannel>,
    interfaces: ConfiguredInterfaces,
}

/// Binds the sockets. The listeners are for when all else is there.
pub(crate) fn prepare(
    config: &Config,
    checked: &CheckedConfig,
) -> Result<(Prepared, Vec<Listener>), StartError> {
    let engine = checked.engine()?;
    let settings = checked.settings.clone();
    let mut channels = Vec::new();
    for (local, dialect) in config.udp_listeners() {
        let bound =
            DatagramChannel::bind(local, dialect, checked.receive_buffer_bytes, config.udp.send_buffer_bytes);
        match bound {
            Ok((channel, granted)) => {
                if granted.receive_bytes < granted.requested_receive_bytes {
                    tracing::warn!(
                        "the system gives UDP at {local} a receive buffer of {} bytes instead of {}; bursts may be lost. \
                         Set net.core.rmem_max to at least {} or grant CAP_NET_ADMIN",
                        granted.receive_bytes,
                        granted.requested_receive_bytes,
                        granted.requested_receive_bytes
                    );
                }
                tracing::info!("listening at {}", channel.uri());
                channels.push(channel);
            }
            // A host without IPv6 is no reason not to run.
            Err(error) if is_missing_family(&error) && local.ip().is_unspecified() => {
                tracing::info!("no UDP at {local}: {error}");
            }
            Err(source) => return Err(StartError::Listen { address: format!("UDP {local}"), source }),
        }
    }
    channels.extend(ip_channels(config, checked)?);
    let listeners = listeners(config)?;
    let interfaces = ConfiguredInterfaces::read(config, checked.receive_buffer_bytes)?;
    let groups = groups(&interfaces)?;
    let mut ethernet = ethernet(&interfaces)?;
    ethernet.extend(ethernet_of_one_dialect(config)?);
    Ok((Prepared { engine, settings, channels, groups, ethernet, interfaces }, listeners))
}

/// Sockets for IP alone.
fn ip_channels(config: &Config, checked: &CheckedConfig) -> Result<Vec<DatagramChannel>, StartError> {
    let send_bytes = config.udp.send_buffer_bytes;
    let bind = |(local, dialect)| {
        let bound = DatagramChannel::bind_ip(local, dialect, checked.receive_buffer_bytes, send_bytes);
        let what = format!("IP protocol {IP_PROTOCOL} at {local}");
        let channel = bound.map_err(|source| match source.kind() {
            std::io::ErrorKind::PermissionDenied => {
                StartError::Capability { what, capability: "CAP_NET_RAW" }
            }
            _ => StartError::Listen { address: what, source },
        })?;
        tracing::info!("listening at {}", channel.uri());
        Ok(channel)
    };
    config.ip_listeners().map(bind).collect()
}

/// Multicast sockets. What cannot be had on all interfaces is left out; what was asked for by name is an
/// error.
fn groups(interfaces: &ConfiguredInterfaces) -> Result<Vec<(DatagramChannel, LinkType)>, StartError> {
    let mut groups = Vec::new();
    let Some(selection) = interfaces.groups() else { return Ok(groups) };
    let all = interfaces::all()?;
    if let Some(name) = selection.missing(&all) {
        return Err(ConfigError::new(format!("multicast.interfaces: there is no interface {name}")).into());
    }
    for interface in &all {
        let named = selection.names(interface);
        for group in interfaces.groups_on(interface) {
            match DatagramChannel::bind_group(
                group,
                interfaces.dialect(),
                interface,
                interfaces.group_receive_bytes(),
            ) {
                Ok(channel) => {
                    tracing::info!("multicast to {group} on {}", interface.name);
                    groups.push((channel, interfaces.group_link_type()));
                }
                Err(source) if named => {
                    let address = format!("UDP multicast {group} on {}", interface.name);
                    return Err(StartError::Listen { address, source });
                }
                Err(error) => tracing::warn!("no multicast to {group} on {}: {error}", interface.name),
            }
        }
    }
    Ok(groups)
}

fn ethernet(interfaces: &ConfiguredInterfaces) -> Result<Vec<EthernetChannel>, StartError> {
    let mut channels = Vec::new();
    let Some(selection) = interfaces.ethernet() else { return Ok(channels) };
    let all = interfaces::all()?;
    if let Some(name) = selection.missing(&all) {
        return Err(ConfigError::new(format!("ethernet.interfaces: there is no interface {name}")).into());
    }
    for interface in all.iter().filter(|interface| interfaces.are_for_ethernet(interface)) {
        let named = selection.names(interface);
        let name = &interface.name;
        match EthernetChannel::open(interface, interfaces.dialect(), interfaces.ethernet_multicast) {
            Ok(channel) => {
                tracing::info!("listening on dev://{name}");
                channels.push(channel);
            }
            Err(source) if source.kind() == std::io::ErrorKind::PermissionDenied => {
                let what = format!("Ethernet on {name}");
                return Err(StartError::Capability { what, capability: "CAP_NET_RAW" });
            }
            Err(source) if named => {
                return Err(StartError::Listen { address: format!("Ethernet on {name}"), source });
            }
            Err(error) => tracing::warn!("no Ethernet on {name}: {error}"),
        }
    }
    Ok(channels)
}

/// Interfaces of the section of one dialect: CCNx in packets of NDNLP v1. There is no group: ndnld has none.
fn ethernet_of_one_dialect(config: &Config) -> Result<Vec<EthernetChannel>, StartError> {
    let all = interfaces::all()?;
    let open = |(name, dialect): (&String, Dialect)| {
        let Some(interface) = all.iter().find(|interface| interface.name == *name) else {
            return Err(ConfigError::new(format!("ccnx.ethernet: there is no interface {name}")).into());
        };
        EthernetChannel::open(interface, dialect, false).map_err(|source| match source.kind() {
            std::io::ErrorKind::PermissionDenied => {
                let what = format!("Ethernet on {name}");
                StartError::Capability { what, capability: "CAP_NET_RAW" }
            }
            _ => StartError::Listen { address: format!("Ethernet on {name}"), source },
        })
    };
    config.ethernet_of_one_dialect().map(open).collect()
}

fn listeners(config: &Config) -> Result<Vec<Listener>, StartError> {
    let mut listeners = Vec::new();
    for (local, dialect) in config.tcp_listeners() {
        match Listener::tcp(local, dialect) {
            Ok(listener) => listeners.push(listener),
            Err(error) if is_missing_family(&error) && local.ip().is_unspecified() => {
                tracing::info!("no TCP at {local}: {error}");
            }
            Err(source) => return Err(StartError::Listen { address: format!("TCP {local}"), source }),
        }
    }
    for &local in &config.websocket.listen {
        match Listener::websocket(local) {
            Ok(listener) => listeners.push(listener),
            Err(error) if is_missing_family(&error) => tracing::info!("no WebSocket at {local}: {error}"),
            Err(source) => return Err(StartError::Listen { address: format!("WebSocket {local}"), source }),
        }
    }
    if config.unix.listen.is_none() {
        listeners.push(default_unix_listener()?);
    }
    for (path, dialect) in config.unix_listeners() {
        let listen = |source| StartError::Listen { address: printable_path(path), source };
        listeners.push(Listener::unix(path, dialect).map_err(listen)?);
    }
    for listener in &listeners {
        tracing::info!("listening at {}", listener.uri());
    }
    Ok(listeners)
}

/// Where NDN applications look for a forwarder, if this user may make that; otherwise the user's own place.
fn default_unix_listener() -> Result<Listener, StartError> {
    let [system, own] = default_unix_paths();
    match Listener::unix(&system, Config::DIALECT) {
        Ok(listener) => Ok(listener),
        Err(source) if source.kind() == std::io::ErrorKind::AddrInUse => {
            Err(StartError::Listen { address: printable_path(&system), source })
        }
        Err(error) => {
            tracing::info!(
                "{} cannot be made ({error}); using {}",
                printable_path(&system),
                printable_path(&own)
            );
            let folder = own.parent().map_or(Ok(()), socket_path::own_folder);
            folder
                .and_then(|()| Listener::unix(&own, Config::DIALECT))
                .map_err(|source| StartError::Listen { address: printable_path(&own), source })
        }
    }
}

/// The memory that a program like this one may take on this machine when nobody says how much: a quarter of
/// the machine's, or half of what a control group allows, and 2 GiB at most.
pub fn default_memory_bytes() -> u64 {
    memory::default_budget()
}

/// Paths of the unix socket when the configuration names none: the system's, and this user's own.
pub fn default_unix_paths() -> [PathBuf; 2] {
    let own = match std::env::var_os("XDG_RUNTIME_DIR") {
        Some(directory) => PathBuf::from(directory),
        None => management::runtime_folder_in(&std::env::temp_dir(), rustix::process::getuid().as_raw()),
    };
    [PathBuf::from(management::SYSTEM_SOCKET), management::socket_in(&own)]
}

/// Where captures are offered: as configured, or beside the first unix socket.
pub(crate) fn capture_path(config: &Config, channels: &[FaceUri]) -> Option<PathBuf> {
    match &config.node.capture_socket {
        Some(path) if path.as_os_str().is_empty() => None,
        Some(path) => Some(path.clone()),
        None => channels.iter().find_map(|uri| match uri {
            FaceUri::Unix(path) => Some(path.with_extension("capture")),
            _ => None,
        }),
    }
}

fn is_missing_family(error: &std::io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EAFNOSUPPORT | libc::EADDRNOTAVAIL))
}

/// Makes the data plane, on its own thread.
pub(crate) fn data_plane(clock: Clock, prepared: Prepared, ends: Ends) -> std::io::Result<DataPlane> {
    let mut plane = DataPlane::new(clock, prepared.engine, prepared.settings, ends)?;
    for channel in prepared.channels {
        plane.sockets.add_channel(channel)?;
    }
    for (channel, link_type) in prepared.groups {
        plane.add_group(channel, link_type)?;
    }
    for channel in prepared.ethernet {
        let multicast =
            prepared.interfaces.ethernet_multicast && channel.dialect == prepared.interfaces.dialect();
        plane.add_ethernet(channel, multicast)?;
    }
    plane.follow_interfaces(prepared.interfaces);
    Ok(plane)
}
