//! What a configuration asks for, understood: its names, addresses and words mean something.
//!
//! Reading it opens nothing and changes nothing, so a configuration can be checked, and is refused as a
//! whole, before any of it is in force.

use engine::{
    CachePlacement, ContentStoreConfig, EngineConfig, EvictionPolicy, NextHop, RateLimit, StrategySpec,
    UnsolicitedPolicy,
};
use packet::time::Duration;
use packet::{AnyName, Dialect, Name};

use super::limits;
use super::places;
use crate::config::{
    Config, ConfigError, ContentStoreSection, FaceSection, NdnlpTimingsSection, TablesConfig,
};
use crate::control::strategy_name::strategy_in_text;
use crate::control::{
    CongestionSettings, ContentStoreChanges, CreateFace, CreateFaceError, FaceChanges, FacePersistency,
    NodeControl,
};
use crate::management::MANAGED;
use crate::plane::{Impaired, Selection};
use crate::remote_control::RemoteControl;
use crate::settings::{CcnxSettings, FaceLimits, MemoryLimits, Polling, Settings, Timeouts, UdpSettings};
use crate::start::descriptors;
use crate::start::memory::Shares;
use crate::sys::random_words;

/// What a configuration asks for, its sockets aside.
pub(crate) struct CheckedConfig {
    pub(crate) settings: Settings,
    pub(crate) content_store: ContentStoreChanges,
    pub(crate) receive_buffer_bytes: usize,
    /// All but what is random.
    engine: EngineConfig,
    strategies: Vec<(Dialect, Name, StrategySpec)>,
    faces: Vec<CheckedFace>,
}

struct CheckedFace {
    request: CreateFace,
    routes: Vec<Name>,
    cost: u64,
    impairment: Option<Impaired>,
}

impl CheckedConfig {
    /// Understands a configuration.
    pub(crate) fn read(config: &Config) -> Result<Self, ConfigError> {
        limits::check(config)?;
        places::check(config)?;
        Selection::read("multicast", &config.multicast.interfaces, &config.multicast.exclude)?;
        for repository in &config.repositories {
            repository.understood()?;
            if !repository.ccnx_namespaces.is_empty() && !config.ccnx.enabled {
                let why = "repository.ccnx_namespaces: nobody can reach them without ccnx.enabled = true";
                return Err(ConfigError::new(why.to_owned()));
            }
        }
        crate::verification::read(config)?;
        crate::revocation_service::read(config)?;
        Selection::read("ethernet", &config.ethernet.interfaces, &config.ethernet.exclude)?;
        let shares = Shares::of(config);
        let content_store = content_store(&config.content_store, &shares)?;
        let strategies = config.strategies.iter().map(|choice| {
            let (dialect, prefix) = either_name("strategy.prefix", &choice.prefix)?;
            let strategy = strategy_in_text(&choice.strategy);
            let bad = |error| ConfigError::new(format!("strategy for {prefix}: {error}"));
            Ok((dialect, prefix.clone(), strategy.map_err(bad)?))
        });
        let engine = engine(&config.tables, &content_store, &shares)?;
        Ok(CheckedConfig {
            settings: settings(config, &shares, engine.max_lifetime),
            engine,
            receive_buffer_bytes: shares.receive_buffer_bytes,
            content_store,
            strategies: with_usual(strategies.collect::<Result<_, _>>()?)?,
            faces: config.faces.iter().map(CheckedFace::read).collect::<Result<_, _>>()?,
        })
    }

    /// The engine, with secrets of its own.
    pub(crate) fn engine(&self) -> std::io::Result<EngineConfig> {
        let [seed, low, high] = random_words()?;
        Ok(EngineConfig { seed, hash_key: [low, high], ..self.engine.clone() })
    }

    /// Makes the faces and routes, and chooses the strategies; gives the routes.
    pub(crate) fn apply(mut self, node: &mut RemoteControl) -> Result<Vec<(Name, NextHop)>, ConfigError> {
        // Longest first: an Interest that comes in between must not wait by a strategy that is not meant for
        // it.
        self.strategies.sort_by_key(|(_, prefix, _)| std::cmp::Reverse(prefix.as_ref().component_count()));
        for (dialect, prefix, strategy) in &self.strategies {
            node.set_strategy(*dialect, prefix, strategy)
                .map_err(|error| ConfigError::new(format!("strategy for {prefix}: {error}")))?;
        }
        let mut routes = Vec::new();
        for face in self.faces {
            face.make(node, &mut routes)?;
        }
        Ok(routes)
    }
}

impl CheckedFace {
    fn read(section: &FaceSection) -> Result<Self, ConfigError> {
        let uri = |text: &str| text.parse().map_err(|error| ConfigError::new(format!("face: {error}")));
        let persistency =
            if section.persistent { FacePersistency::Persistent } else { FacePersistency::Permanent };
        let impairment = match &section.impairment {
            Some(given) => Some(Impaired::new(&given.config()?, given.direction, given.seed)),
            None => None,
        };
        let (remote, local) = (uri(&section.remote)?, section.local.as_deref().map(uri).transpose()?);
        places::check_face(&remote, local.as_ref())?;
        let dialect: Dialect =
            section.dialect.parse().map_err(|error| ConfigError::new(format!("face.dialect: {error}")))?;
        let ndnlp1 = match section.ndnlp.as_deref() {
            None => None,
            Some("plain") => Some(false),
            Some("acknowledged") => Some(true),
            Some(other) => {
                let problem = format!("face.ndnlp: {other} is neither plain nor acknowledged");
                return Err(ConfigError::new(problem));
            }
        };
        Ok(CheckedFace {
            request: CreateFace {
                remote,
                local,
                persistency,
                changes: FaceChanges {
                    ndnlp1,
                    ndnlp1_timings: section.ndnlp_timings.as_ref().map(NdnlpTimingsSection::timings),
                    reliability: section.reliable,
                    ..FaceChanges::default()
                },
                dialect,
            },
            routes: section
                .routes
                .iter()
                .map(|route| name_in(dialect, "face.routes", route))
                .collect::<Result<_, _>>()?,
            cost: section.cost,
            impairment,
        })
    }

    fn make(self, node: &mut RemoteControl, routes: &mut Vec<(Name, NextHop)>) -> Result<(), ConfigError> {
        let (remote, dialect) = (self.request.remote.clone(), self.request.dialect);
        let face = match node.create_face(self.request) {
            Ok(face) => face,
            Err(CreateFaceError::Exists(face)) => *face,
            Err(error) => return Err(ConfigError::new(format!("face to {remote}: {error}"))),
        };
        node.impair(face.id, self.impairment);
        for prefix in self.routes {
            let hop = NextHop { face: face.id, cost: self.cost };
            node.add_next_hop(dialect, &prefix, hop, None)
                .map_err(|error| ConfigError::new(format!("route {prefix} to {remote}: {error}")))?;
            // NFD's management knows no others.
            if dialect == MANAGED {
                routes.push((prefix, hop));
            }
        }
        Ok(())
    }
}

fn name_in(dialect: Dialect, key: &str, text: &str) -> Result<Name, ConfigError> {
    dialect.parse_name(text).map_err(|error| ConfigError::new(format!("{key}: {text:?}: {error}")))
}

/// A name that says by its scheme that it is one of CCNx, and otherwise is one of NDN.
fn either_name(key: &str, text: &str) -> Result<(Dialect, Name), ConfigError> {
    let AnyName { dialect, name } =
        text.parse().map_err(|error| ConfigError::new(format!("{key}: {text:?}: {error}")))?;
    Ok((dialect, name))
}

fn name(key: &str, text: &str) -> Result<Name, ConfigError> {
    text.parse().map_err(|error| ConfigError::new(format!("{key}: {text:?}: {error}")))
}

/// The strategies that NFD's configuration comes with, unless others are chosen for these prefixes: names of
/// this host and those that are for everybody go to all who want them, and commands to one.
fn with_usual(
    mut chosen: Vec<(Dialect, Name, StrategySpec)>,
) -> Result<Vec<(Dialect, Name, StrategySpec)>, ConfigError> {
    for (prefix, word) in
        [("/localhost", "multicast"), ("/localhost/nfd", "best-route"), ("/ndn/broadcast", "multicast")]
    {
        let prefix = name("strategy.prefix", prefix)?;
        if chosen.iter().all(|(dialect, other, _)| *dialect != MANAGED || *other != prefix) {
            let strategy: StrategySpec =
                word.parse().map_err(|error| ConfigError::new(format!("strategy for {prefix}: {error}")))?;
            chosen.push((MANAGED, prefix, strategy));
        }
    }
    Ok(chosen)
}

/// The settings of the data plane.
fn settings(config: &Config, shares: &Shares, longest_lifetime: Duration) -> Settings {
    let node = &config.node;
    Settings {
        faces: FaceLimits {
            max: node.max_faces,
            max_on_demand: shares.on_demand_faces,
            max_on_demand_per_address: node.max_on_demand_faces_per_address,
            max_remote_connections: match node.max_remote_connections {
                0 => descriptors::for_remote_connections(),
                given => given,
            },
            max_pending_per_face: Some(config.tables.max_pending_per_face).filter(|limit| *limit > 0),
            interest_rate_per_face: Some(config.tables.max_interests_per_second_per_face)
                .filter(|rate| *rate > 0)
                .map(|per_second| RateLimit { per_second, burst: config.tables.interest_burst_per_face }),
            share_multicast: config.multicast.share,
        },
        memory: MemoryLimits {
            budget_bytes: shares.budget_bytes,
            send_queue_bytes: shares.send_queue_bytes,
            all_send_queues_bytes: shares.all_send_queues_bytes,
            reassembly_bytes: shares.reassembly_bytes,
            all_waiting_bytes: shares.all_waiting_bytes,
        },
        timeouts: Timeouts {
            idle: Duration::from_secs(node.idle_timeout_secs),
            crowded_idle: Duration::from_secs(node.crowded_idle_timeout_secs),
            // As long as anything that an idle face asked for may be pending.
            crowd_idle: longest_lifetime,
            stall: Duration::from_secs(node.stall_timeout_secs),
        },
        polling: Polling {
            busy: Duration::from_micros(node.busy_poll_micros),
            answer: Duration::from_micros(node.answer_poll_micros),
        },
        udp: UdpSettings {
            accept: config.udp.accept,
            mtu_bytes: config.udp.mtu_bytes,
            reliability: config.udp.reliability,
            own_sockets: shares.own_udp_sockets,
            own_receive_bytes: shares.own_udp_receive_bytes,
        },
        ccnx: CcnxSettings {
            stuffed_bytes: config.ccnx.stuffed_bytes,
            status_page: config.ccnx.status_page,
            ndnlp_mtu_bytes: config.ccnx.ndnlp_mtu_bytes.max(link::v1::MIN_MTU_BYTES),
            ndnlp_acknowledged: config.ccnx.ndnlp_acknowledged,
        },
        accept_ethernet: config.ethernet.accept,
        local_origins: config.websocket.local_origins.clone(),
        congestion_marking: node.congestion_marking,
        congestion: CongestionSettings {
            interval: Duration::from_millis(node.congestion_interval_millis),
            threshold_bytes: node.congestion_threshold_bytes,
        },
    }
}

/// The changes to the content store.
fn content_store(section: &ContentStoreSection, shares: &Shares) -> Result<ContentStoreChanges, ConfigError> {
    let eviction: EvictionPolicy = section
        .eviction
        .parse()
        .map_err(|error| ConfigError::new(format!("content_store.eviction: {error}")))?;
    let placement: CachePlacement = section
        .placement
        .parse()
        .map_err(|error| ConfigError::new(format!("content_store.placement: {error}")))?;
    let unsolicited = match section.unsolicited.as_str() {
        "drop-all" => UnsolicitedPolicy::DropAll,
        "admit-local" => UnsolicitedPolicy::AdmitLocal,
        "admit-network" => UnsolicitedPolicy::AdmitNetwork,
        "admit-all" => UnsolicitedPolicy::AdmitAll,
        other => {
            let known = "drop-all, admit-local, admit-network, admit-all";
            let problem = format!("content_store.unsolicited: there is no policy {other}; there are {known}");
            return Err(ConfigError::new(problem));
        }
    };
    Ok(ContentStoreChanges {
        max_entries: Some(section.max_entries),
        max_bytes: Some(shares.store_bytes),
        admit: Some(section.admit),
        placement: Some(placement),
        serve: Some(section.serve),
        eviction: Some(eviction),
        unsolicited: Some(unsolicited),
    })
}

fn engine(
    tables: &TablesConfig,
    changes: &ContentStoreChanges,
    shares: &Shares,
) -> Result<EngineConfig, ConfigError> {
    let store = ContentStoreConfig::default();
    let bad = |error: &dyn std::fmt::Display| ConfigError::new(format!("tables.default_strategy: {error}"));
    // What is random is drawn when it starts.
    let plain = EngineConfig::seeded(0).map_err(|error| bad(&error))?;
    let regions = tables.producer_regions.iter().map(|region| name("tables.producer_regions", region));
    Ok(EngineConfig {
        max_pending: tables.max_pending,
        max_pending_bytes: shares.pending_bytes,
        max_prefixes: tables.max_prefixes,
        max_dead_nonces: shares.dead_nonces,
        default_hop_limit: Some(tables.default_hop_limit).filter(|hops| *hops > 0),
        producer_regions: regions.collect::<Result<_, _>>()?,
        content_store: ContentStoreConfig {
            max_bytes: changes.max_bytes.unwrap_or(store.max_bytes),
            max_entries: changes.max_entries.unwrap_or(store.max_entries),
            eviction: changes.eviction.unwrap_or(store.eviction),
            admit: changes.admit.unwrap_or(store.admit),
            placement: changes.placement.unwrap_or(store.placement),
            serve: changes.serve.unwrap_or(store.serve),
            unsolicited: changes.unsolicited.unwrap_or(store.unsolicited),
        },
        default_strategy: strategy_in_text(&tables.default_strategy).map_err(|error| bad(&error))?,
        ..plain
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(text: &str) -> String {
        let config = Config::read(text).unwrap();
        CheckedConfig::read(&config).map(|_| ()).unwrap_err().to_string()
    }

    #[test]
    fn what_means_nothing_is_refused_before_anything_is_opened_and_is_named() {
        for (text, expected) in [
            ("[udp]\nmtu_bytes = 10", "udp.mtu_bytes"),
            ("[content_store]\neviction = \"fifo\"", "there is no policy fifo; there are "),
            ("[content_store]\nplacement = \"lcd\"", "content_store.placement: there is no placement lcd; "),
            ("[content_store]\nunsolicited = \"all\"", "content_store.unsolicited: there is no policy all"),
            ("[tables]\ndefault_strategy = \"best\"", "tables.default_strategy: there is no strategy best"),
            ("[tables]\nproducer_regions = [\"a\"]", "tables.producer_regions: \"a\": a name starts with /"),
            ("[[strategy]]\nprefix = \"/a\"\nstrategy = \"no\"", "strategy for /a: there is no strategy no"),
            ("[[strategy]]\nprefix = \"a\"\nstrategy = \"asf\"", "strategy.prefix: \"a\""),
            ("[[face]]\nremote = \"udp4://x\"", "face: face address udp4://x"),
            ("[[face]]\nremote = \"udp4://127.0.0.1:9\"\nroutes = [\"a\"]", "face.routes: \"a\""),
            ("[[face]]\nremote = \"udp4://127.0.0.1:9\"\ndialect = \"ndnx\"", "there is no dialect ndnx"),
            (
                "[[face]]\nremote = \"udp4://127.0.0.1:9\"\n[face.impairment]\nloss = 2.0",
                "impairment.loss lies between 0 and 1",
            ),
        ] {
            let problem = problem(text);
            assert!(problem.contains(expected), "{text}: {problem}");
        }
        assert!(CheckedConfig::read(&Config::default()).is_ok());
    }

    #[test]
    fn strategies_are_those_of_nfd_unless_others_are_chosen() {
        let chosen = |text: &str| -> Vec<String> {
            let checked = CheckedConfig::read(&Config::read(text).unwrap()).unwrap();
            checked.strategies.iter().map(|(_, prefix, spec)| format!("{prefix} {}", spec.name())).collect()
        };
        let strategy = |prefix: &str, word: &str| format!("{prefix} /localhost/nfd/strategy/{word}/v=5");
        let all = [
            strategy("/localhost", "multicast"),
            strategy("/localhost/nfd", "best-route"),
            strategy("/ndn/broadcast", "multicast"),
        ];
        assert_eq!(chosen(""), all);
        let other = chosen("[[strategy]]\nprefix = '/ndn/broadcast'\nstrategy = 'asf'");
        assert_eq!(other, [strategy("/ndn/broadcast", "asf"), all[0].clone(), all[1].clone()]);
    }

    #[test]
    fn a_strategy_is_for_names_of_the_dialect_that_its_prefix_is_written_in() {
        let text = "[[strategy]]\nprefix = 'ccnx:/localhost'\nstrategy = 'asf'\n\
                    [[strategy]]\nprefix = '/localhost'\nstrategy = 'best-route'";
        let checked = CheckedConfig::read(&Config::read(text).unwrap()).unwrap();
        let chosen = |dialect| -> Vec<String> {
            let of = checked.strategies.iter().filter(|(other, ..)| *other == dialect);
            of.map(|(_, prefix, spec)| format!("{prefix} {}", spec.name())).collect()
        };
        assert_eq!(chosen(Dialect::Ccnx), ["/localhost /localhost/nfd/strategy/asf/v=5"]);
        assert_eq!(chosen(Dialect::Ndn).len(), 3);
        assert_eq!(chosen(Dialect::Ndn)[0], "/localhost /localhost/nfd/strategy/best-route/v=5");
        let wrong = problem("[[strategy]]\nprefix = 'ccnx:a'\nstrategy = 'asf'");
        assert!(wrong.contains("strategy.prefix: \"ccnx:a\""), "{wrong}");
    }

    #[test]
    fn two_engines_of_one_configuration_share_no_secret() {
        let checked = CheckedConfig::read(&Config::default()).unwrap();
        let (one, other) = (checked.engine().unwrap(), checked.engine().unwrap());
        assert_ne!(one.hash_key, other.hash_key);
        assert_ne!(one.seed, other.seed);
    }
}
