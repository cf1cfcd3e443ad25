//! From a configuration to a data plane.

use std::path::{Path, PathBuf};

use engine::{
    ContentStoreConfig, EngineConfig, EvictionPolicy, LinkType, NextHop, RateLimit, StrategySpec,
    UnsolicitedPolicy,
};
use packet::time::Duration;
use packet::{Dialect, Name};

use crate::clock::Clock;
use crate::config::{Config, ConfigError, FaceSection};
use crate::control::{
    CongestionSettings, ContentStoreChanges, CreateFace, CreateFaceError, FaceChanges, FacePersistency,
    FaceUri, NodeControl,
};
use crate::node::{RemoteControl, StartError};
use crate::plane::{DataPlane, Ends, Impaired, Listener, Settings};
use crate::sys::interfaces;
use crate::transport::datagram::DatagramChannel;
use crate::transport::ethernet::EthernetChannel;

/// All that a data plane is made of, with the sockets bound already.
pub(crate) struct Prepared {
    engine: EngineConfig,
    settings: Settings,
    channels: Vec<DatagramChannel>,
    listeners: Vec<Listener>,
    groups: Vec<(DatagramChannel, LinkType)>,
    ethernet: Vec<EthernetChannel>,
    ethernet_multicast: bool,
}

/// Checks the configuration and binds the sockets.
pub(crate) fn prepare(config: &Config) -> Result<Prepared, StartError> {
    let engine = engine_config(config)?;
    let settings = settings(config);
    let mut channels = Vec::new();
    for &local in &config.udp.listen {
        let bound =
            DatagramChannel::bind(local, config.udp.receive_buffer_bytes, config.udp.send_buffer_bytes);
        match bound {
            Ok((channel, granted)) => {
                if granted.receive_bytes < granted.wanted_receive_bytes {
                    tracing::warn!(
                        "the system gives UDP at {local} a receive buffer of {} bytes instead of {}; bursts may be lost. \
                         Set net.core.rmem_max to at least {} or grant CAP_NET_ADMIN",
                        granted.receive_bytes,
                        granted.wanted_receive_bytes,
                        granted.wanted_receive_bytes
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
    let listeners = listeners(config)?;
    let groups = groups(config)?;
    let ethernet = ethernet(config)?;
    let ethernet_multicast = config.ethernet.multicast;
    Ok(Prepared { engine, settings, channels, listeners, groups, ethernet, ethernet_multicast })
}

/// Multicast sockets. What cannot be had on all interfaces is left out; what was asked for by name is an error.
fn groups(config: &Config) -> Result<Vec<(DatagramChannel, LinkType)>, StartError> {
    let section = &config.multicast;
    let mut groups = Vec::new();
    if section.interfaces.is_empty() {
        return Ok(groups);
    }
    let link_type = if section.ad_hoc { LinkType::AdHoc } else { LinkType::MultiAccess };
    let all = interfaces::all()?;
    let every = section.interfaces.iter().any(|name| name == "*");
    for name in section.interfaces.iter().filter(|name| *name != "*") {
        if !all.iter().any(|interface| interface.name == *name) {
            return Err(
                ConfigError::new(format!("multicast.interfaces: there is no interface {name}")).into()
            );
        }
    }
    for interface in &all {
        let named = section.interfaces.contains(&interface.name);
        let suits = every && interface.is_up && interface.can_multicast && !interface.is_loopback;
        if !named && !suits {
            continue;
        }
        for group in [section.group_v4, section.group_v6] {
            let has_address =
                if group.is_ipv4() { !interface.v4.is_empty() } else { !interface.v6.is_empty() };
            if !has_address {
                continue;
            }
            match DatagramChannel::bind_group(group, interface, config.udp.receive_buffer_bytes) {
                Ok(channel) => {
                    tracing::info!("multicast to {group} on {}", interface.name);
                    groups.push((channel, link_type));
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

fn ethernet(config: &Config) -> Result<Vec<EthernetChannel>, StartError> {
    let mut channels = Vec::new();
    if config.ethernet.interfaces.is_empty() {
        return Ok(channels);
    }
    let all = interfaces::all()?;
    for name in &config.ethernet.interfaces {
        let interface = all
            .iter()
            .find(|interface| interface.name == *name)
            .ok_or_else(|| ConfigError::new(format!("ethernet.interfaces: there is no interface {name}")))?;
        let opened = EthernetChannel::open(interface, config.ethernet.multicast);
        channels.push(opened.map_err(|source| match source.kind() {
            std::io::ErrorKind::PermissionDenied => {
                StartError::Capability { what: format!("Ethernet on {name}"), capability: "CAP_NET_RAW" }
            }
            _ => StartError::Listen { address: format!("Ethernet on {name}"), source },
        })?);
        tracing::info!("listening on dev://{name}");
    }
    Ok(channels)
}

fn listeners(config: &Config) -> Result<Vec<Listener>, StartError> {
    let mut listeners = Vec::new();
    for &local in &config.tcp.listen {
        match Listener::tcp(local) {
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
    match &config.unix.listen {
        Some(paths) => {
            for path in paths {
                let listen = |source| StartError::Listen { address: path.display().to_string(), source };
                listeners.push(Listener::unix(path).map_err(listen)?);
            }
        }
        None => listeners.push(default_unix_listener()?),
    }
    for listener in &listeners {
        tracing::info!("listening at {}", listener.uri());
    }
    Ok(listeners)
}

/// Where NDN applications look for a forwarder, if this user may make that; otherwise the user's own place.
fn default_unix_listener() -> Result<Listener, StartError> {
    let [system, own] = default_unix_paths();
    match Listener::unix(&system) {
        Ok(listener) => Ok(listener),
        Err(source) if source.kind() == std::io::ErrorKind::AddrInUse => {
            Err(StartError::Listen { address: system.display().to_string(), source })
        }
        Err(error) => {
            tracing::info!("{} cannot be made ({error}); using {}", system.display(), own.display());
            Listener::unix(&own)
                .map_err(|source| StartError::Listen { address: own.display().to_string(), source })
        }
    }
}

/// Paths of the unix socket when the configuration names none: the system's, and this user's own.
pub fn default_unix_paths() -> [PathBuf; 2] {
    let own = match std::env::var_os("XDG_RUNTIME_DIR") {
        Some(directory) => Path::new(&directory).join("nfd.sock"),
        None => {
            let user = rustix::process::getuid().as_raw();
            std::env::temp_dir().join(format!("cairn-{user}")).join("nfd.sock")
        }
    };
    [PathBuf::from("/run/nfd/nfd.sock"), own]
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
        plane.add_channel(channel)?;
    }
    for listener in prepared.listeners {
        plane.add_listener(listener)?;
    }
    for (channel, link_type) in prepared.groups {
        plane.add_group(channel, link_type)?;
    }
    for channel in prepared.ethernet {
        plane.add_ethernet(channel, prepared.ethernet_multicast)?;
    }
    Ok(plane)
}

/// Makes the faces, routes and strategies of the configuration.
pub(crate) fn apply(config: &Config, node: &mut RemoteControl) -> Result<(), ConfigError> {
    for choice in &config.strategies {
        let prefix = name(&choice.prefix)?;
        let strategy: StrategySpec =
            choice.strategy.parse().map_err(|error| ConfigError::new(format!("{error}")))?;
        node.set_strategy(Dialect::Ndn, &prefix, &strategy)
            .map_err(|error| ConfigError::new(format!("strategy for {prefix}: {error}")))?;
    }
    for face in &config.faces {
        make_face(face, node)?;
    }
    Ok(())
}

fn make_face(section: &FaceSection, node: &mut RemoteControl) -> Result<(), ConfigError> {
    let uri = |text: &str| text.parse().map_err(|error| ConfigError::new(format!("{error}")));
    let persistency =
        if section.persistent { FacePersistency::Persistent } else { FacePersistency::Permanent };
    let request = CreateFace {
        remote: uri(&section.remote)?,
        local: section.local.as_deref().map(uri).transpose()?,
        persistency,
        changes: FaceChanges::default(),
        dialect: Dialect::Ndn,
    };
    let impairment = match &section.impairment {
        Some(given) => Some(Impaired::new(&given.config()?, given.direction, given.seed)),
        None => None,
    };
    let face = match node.create_face(request) {
        Ok(face) => face,
        Err(CreateFaceError::Exists(face)) => *face,
        Err(error) => return Err(ConfigError::new(format!("face to {}: {error}", section.remote))),
    };
    node.impair(face.id, impairment);
    for route in &section.routes {
        let prefix = name(route)?;
        let hop = NextHop { face: face.id, cost: section.cost };
        node.add_next_hop(Dialect::Ndn, &prefix, hop, None)
            .map_err(|error| ConfigError::new(format!("route {route} to {}: {error}", section.remote)))?;
    }
    Ok(())
}

fn name(text: &str) -> Result<Name, ConfigError> {
    text.parse().map_err(|error| ConfigError::new(format!("name {text}: {error}")))
}

/// The settings of the data plane that a configuration gives.
pub(crate) fn settings(config: &Config) -> Settings {
    let node = &config.node;
    Settings {
        max_faces: node.max_faces,
        max_on_demand_faces: node.max_on_demand_faces,
        idle_timeout: Duration::from_secs(node.idle_timeout_secs),
        crowded_idle_timeout: Duration::from_secs(node.crowded_idle_timeout_secs),
        stall_timeout: Duration::from_secs(node.stall_timeout_secs),
        busy_poll: Duration::from_micros(node.busy_poll_micros),
        answer_poll: Duration::from_micros(node.answer_poll_micros),
        send_queue_bytes: node.send_queue_bytes,
        all_send_queues_bytes: node.all_send_queues_bytes,
        reassembly_bytes: node.reassembly_bytes,
        congestion_marking: node.congestion_marking,
        congestion: CongestionSettings {
            interval: Duration::from_millis(node.congestion_interval_millis),
            threshold_bytes: node.congestion_threshold_bytes,
        },
        udp_mtu_bytes: config.udp.mtu_bytes,
        udp_reliability: config.udp.reliability,
        accept_udp: config.udp.accept,
        accept_ethernet: config.ethernet.accept,
        local_origins: config.websocket.local_origins.clone(),
        max_pending_per_face: Some(config.tables.max_pending_per_face).filter(|limit| *limit > 0),
        interest_rate_per_face: Some(config.tables.max_interests_per_second_per_face)
            .filter(|rate| *rate > 0)
            .map(|per_second| RateLimit { per_second, burst: config.tables.interest_burst_per_face }),
    }
}

/// The changes to the content store that a configuration asks for.
pub(crate) fn content_store_changes(config: &Config) -> Result<ContentStoreChanges, ConfigError> {
    let section = &config.content_store;
    let eviction =
        EvictionPolicy::ALL.into_iter().find(|policy| policy.as_str() == section.eviction).ok_or_else(
            || ConfigError::new(format!("content_store.eviction: there is no policy {}", section.eviction)),
        )?;
    let unsolicited = match section.unsolicited.as_str() {
        "drop-all" => UnsolicitedPolicy::DropAll,
        "admit-local" => UnsolicitedPolicy::AdmitLocal,
        "admit-network" => UnsolicitedPolicy::AdmitNetwork,
        "admit-all" => UnsolicitedPolicy::AdmitAll,
        other => {
            let problem = format!(
                "content_store.unsolicited: there is no policy {other}; there are drop-all, admit-local, admit-network and admit-all"
            );
            return Err(ConfigError::new(problem));
        }
    };
    Ok(ContentStoreChanges {
        max_entries: Some(section.max_entries),
        max_bytes: Some(section.max_bytes),
        admit: Some(section.admit),
        serve: Some(section.serve),
        eviction: Some(eviction),
        unsolicited: Some(unsolicited),
    })
}

fn engine_config(config: &Config) -> Result<EngineConfig, StartError> {
    let mut random = [0; 24];
    rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::empty())
        .map_err(std::io::Error::from)?;
    let mut words = random.chunks_exact(8).map(|word| word.try_into().map_or(0, u64::from_ne_bytes));
    let mut word = || words.next().unwrap_or(0);
    let tables = &config.tables;
    if config.udp.mtu_bytes < link::v2::MIN_MTU_BYTES {
        let problem = format!("udp.mtu_bytes must be at least {}", link::v2::MIN_MTU_BYTES);
        return Err(ConfigError::new(problem).into());
    }
    let changes = content_store_changes(config)?;
    let store = ContentStoreConfig::default();
    let strategy = tables.default_strategy.parse();
    let bad = |error: &dyn std::fmt::Display| ConfigError::new(format!("tables.default_strategy: {error}"));
    let seeded = EngineConfig::seeded(word()).map_err(|error| bad(&error))?;
    Ok(EngineConfig {
        hash_key: [word(), word()],
        max_pending: tables.max_pending,
        max_pending_bytes: tables.max_pending_bytes,
        max_prefixes: tables.max_prefixes,
        max_dead_nonces: tables.max_dead_nonces,
        default_hop_limit: Some(tables.default_hop_limit).filter(|hops| *hops > 0),
        producer_regions: tables
            .producer_regions
            .iter()
            .map(|region| name(region))
            .collect::<Result<_, _>>()?,
        content_store: ContentStoreConfig {
            max_bytes: changes.max_bytes.unwrap_or(store.max_bytes),
            max_entries: changes.max_entries.unwrap_or(store.max_entries),
            eviction: changes.eviction.unwrap_or(store.eviction),
            admit: config.content_store.admit,
            serve: config.content_store.serve,
            unsolicited: changes.unsolicited.unwrap_or(store.unsolicited),
        },
        default_strategy: strategy.map_err(|error| bad(&error))?,
        ..seeded
    })
}
