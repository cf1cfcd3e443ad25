//! The configuration: one TOML file, every key of which has a default and a sentence about it.
//!
//! Everything works without a file. [`Config::sample`] writes one with all keys, made from the definitions
//! below, so it cannot be out of date. A key that does not exist is an error that names the line and what may
//! have been meant.

mod ccnx;
mod cold;
mod from_nfd;
mod impairment;
mod ndnlp_timings;
mod read;
mod repository;
mod restart;
mod section;
mod verification;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;

pub use ccnx::CcnxConfig;
pub(crate) use cold::ColdPlace;
pub use cold::ColdSection;
use section::section;
use serde::{Deserialize, Serialize};

pub use from_nfd::{Converted, from_nfd};
pub use impairment::{ImpairedDirection, ImpairmentSection};
pub use ndnlp_timings::NdnlpTimingsSection;
pub use read::ConfigError;
pub(crate) use repository::KeepRule;
pub use repository::{CcnxClients, RepositorySection};
pub use verification::VerificationConfig;

section! {
    /// How the node works as a whole.
    NodeConfig {
        /// Faces that may exist at once, of all kinds.
        max_faces: usize = 16_384,
        /// Faces among them that may exist because a peer appeared: UDP peers and accepted connections. An
        /// eighth of them is kept for peers on this host. There are fewer where the memory has no room for
        /// them.
        max_on_demand_faces: usize = 12_288,
        /// Faces over datagrams among those that one address may have, and as many over connections. An
        /// address is one of IPv4, the first 64 bits of one of IPv6, or all of an Ethernet link.
        max_on_demand_faces_per_address: usize = 1024,
        /// Connections from other hosts that may exist at once; 0 for three quarters of the file descriptors
        /// that the system gives, so that applications on this host find some.
        max_remote_connections: usize = 0,
        /// Seconds after which an on-demand face over datagrams closes when nothing came or went, 1 at least.
        /// With a number that no clock reaches it closes only when there are as many faces as there may be.
        idle_timeout_secs: u64 = 600,
        /// Seconds after which such a face closes already when there are as many faces as there may be; 1
        /// at least.
        crowded_idle_timeout_secs: u64 = 10,
        /// Seconds after which a connection closes that stopped in the middle of a frame.
        stall_timeout_secs: u64 = 30,
        /// Microseconds that the data plane looks for more work before it sleeps. 0 sleeps at once and uses
        /// no processor time when idle; more lowers latency and costs a core.
        busy_poll_micros: u64 = 0,
        /// Microseconds that the data plane stays awake for the answer to an Interest, when little is
        /// pending: to wake a processor takes longer than to answer next door. Where answers take longer than
        /// this, it is tried ever more rarely. 0 turns it off.
        answer_poll_micros: u64 = 200,
        /// The processor that the data plane stays on; leave it out to let the system choose.
        pin_to_cpu: Option<usize> = None,
        /// Path of the socket at which `cairn capture` reads frames; an empty one offers no captures. Left
        /// out, it is beside the first unix socket, with the ending .capture.
        capture_socket: Option<PathBuf> = None,
        /// Bytes of memory that the node may take, divided among its tables; 0 for a quarter of the
        /// machine's, or half of what its control group has if that is less, and 2 GiB at most. Keys that say
        /// what one table may take hold in spite of it. Less than 32 MiB counts as 32 MiB, for with less it
        /// could not forward.
        memory_bytes: u64 = 0,
        /// Bytes that may wait for a peer that reads slowly; what comes on top is dropped. Left out, an
        /// eighth of the next.
        send_queue_bytes: Option<usize> = None,
        /// Bytes that may wait for all such peers together; when they do, no more than 16 KiB may wait for
        /// each of the others. Left out, an eighth of the memory.
        all_send_queues_bytes: Option<usize> = None,
        /// Bytes that incomplete packets may take, over all faces. Left out, a thirty-second of the memory.
        reassembly_bytes: Option<usize> = None,
        /// Whether packets are marked when a face's send queue is too long.
        congestion_marking: bool = true,
        /// Send queue length in bytes from which on packets are marked.
        congestion_threshold_bytes: u64 = 65_536,
        /// Milliseconds that a queue must be too long before the first mark.
        congestion_interval_millis: u64 = 100,
    }
}

section! {
    /// The tables of the forwarder, and their limits.
    TablesConfig {
        /// Interests that may be pending at once.
        max_pending: u32 = 1 << 20,
        /// Bytes that pending Interests may take. Left out, an eighth of the memory.
        max_pending_bytes: Option<u64> = None,
        /// Interests that may be pending for one face; 0 for as many as the table holds.
        max_pending_per_face: u32 = 0,
        /// Interests that one face may send in a second; 0 for any number. What is above is refused with a
        /// Nack for congestion.
        max_interests_per_second_per_face: u32 = 0,
        /// Interests that one face may send at once after a pause, when it may not send any number.
        interest_burst_per_face: u32 = 1000,
        /// Prefixes that the routing table may hold.
        max_prefixes: u32 = 1 << 21,
        /// Names and nonces of past Interests that are remembered to recognise loops.
        max_dead_nonces: u32 = 1 << 20,
        /// HopLimit given to Interests that have none; 0 leaves them without.
        default_hop_limit: u8 = 0,
        /// Names under which this network can be reached: forwarding hints to them are done with here.
        producer_regions: Vec<String> = Vec::new(),
        /// The strategy for names that no other is chosen for: a word such as best-route, or a full name with
        /// parameters.
        default_strategy: String = "best-route".to_owned(),
    }
}

section! {
    /// The content store.
    ContentStoreSection {
        /// Bytes that kept packets may take, with 196 more for each. Left out, half of the memory.
        max_bytes: Option<u64> = None,
        /// Packets that may be kept; 0 keeps none.
        max_entries: u32 = 1 << 20,
        /// Who leaves when the store is full: sieve, lru or s3-fifo.
        eviction: String = "sieve".to_owned(),
        /// Whether Data is taken in.
        admit: bool = true,
        /// Which of the Data that was asked for is taken in: everywhere, which is all of it; leave-copy-down,
        /// what no node before this one has kept on this way; probability~0.5, so much of it at random;
        /// local-consumers, what an application on this host waits for; fair-share, what a face has asked for
        /// twice, while no more is kept for it than its share.
        placement: String = "everywhere".to_owned(),
        /// Whether Interests are answered.
        serve: bool = true,
        /// Data that nobody asked for: drop-all, admit-local, admit-network or admit-all. Of applications of
        /// CCNx on this host it is kept in any case but admit-network: that is how they publish.
        unsolicited: String = "drop-all".to_owned(),
    }
}

section! {
    /// UDP.
    UdpConfig {
        /// Local addresses to receive at and send from. An empty list turns UDP off.
        listen: Vec<SocketAddr> = wildcard(packet::ndn::PORT),
        /// Largest datagram to send; larger packets go in fragments.
        mtu_bytes: usize = packet::Dialect::Ndn.max_packet_bytes(),
        /// Receive buffer to ask the system for, 18,432 bytes at least. Bursts overflow small ones.
        receive_buffer_bytes: usize = 8 << 20,
        /// Neighbours that may have a socket of their own, so that others do not fill the buffer that they
        /// wait in: those of the configuration, and strangers that have proved useful.
        own_sockets: usize = 64,
        /// Send buffer to ask the system for.
        send_buffer_bytes: usize = 2 << 20,
        /// Whether losses on faces that are made from now on are noticed and repaired (NDNLPv2 reliability).
        reliability: bool = false,
        /// Whether strangers get a face when they send something.
        accept: bool = true,
    }
}

section! {
    /// UDP multicast: one face for each interface and family.
    MulticastConfig {
        /// Interfaces: a name, a pattern such as "en*", an Ethernet address, a network such as 192.0.2.0/24,
        /// or "*". What is no name means interfaces that are up and can multicast. Empty turns multicast off.
        interfaces: Vec<String> = Vec::new(),
        /// Interfaces, in the same words, that are left out nevertheless.
        exclude: Vec<String> = Vec::new(),
        /// The IPv4 group and port.
        group_v4: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(224, 0, 23, 170)), 56_363),
        /// The IPv6 group and port. ndnd uses `[ff02::114]:56363`.
        group_v6: SocketAddr = SocketAddr::new(IpAddr::V6(Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 0x1234)), 56_363),
        /// Whether everybody on the link hears everybody. If not, as on wireless networks, what came in may
        /// go out again.
        ad_hoc: bool = false,
        /// Whether nodes that want the same object share it: one asks, and all take what comes. Holds for
        /// Ethernet multicast, too.
        share: bool = false,
    }
}

section! {
    /// TCP.
    TcpConfig {
        /// Local addresses to accept connections at. An empty list turns TCP off.
        listen: Vec<SocketAddr> = wildcard(packet::ndn::PORT),
    }
}

section! {
    /// Unix sockets, for applications on this host.
    UnixConfig {
        /// Paths to accept connections at. Left out, it is /run/nfd/nfd.sock if that can be made, where NDN
        /// applications look for it, and otherwise nfd.sock in $XDG_RUNTIME_DIR. An empty list turns unix
        /// sockets off.
        listen: Option<Vec<PathBuf>> = None,
    }
}

section! {
    /// WebSocket, for applications in browsers.
    WebSocketConfig {
        /// Local addresses to accept connections at. An empty list turns WebSocket off.
        listen: Vec<SocketAddr> = vec![
            SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), packet::ndn::WEBSOCKET_PORT),
            SocketAddr::new(IpAddr::V6(Ipv6Addr::LOCALHOST), packet::ndn::WEBSOCKET_PORT),
        ],
        /// Web pages that count as applications of this host and may give commands, as browsers name them:
        /// "http://localhost:8080". All others that a browser on this host shows, and whatever a proxy passes
        /// on, are neighbours. Programs that are no browsers name no page and count as applications.
        local_origins: Vec<String> = Vec::new(),
    }
}

section! {
    /// Ethernet without IP. Needs the capability CAP_NET_RAW.
    EthernetConfig {
        /// Interfaces, in the same words as those of multicast. Empty turns Ethernet off.
        interfaces: Vec<String> = Vec::new(),
        /// Interfaces, in the same words, that are left out nevertheless.
        exclude: Vec<String> = Vec::new(),
        /// Whether each interface gets a face to the multicast group 01:00:5e:00:17:aa.
        multicast: bool = true,
        /// Whether strangers get a face when they send something.
        accept: bool = true,
    }
}

section! {
    /// Management: who may tell this node what to do. Applications on this host may, unless `[[authorize]]`
    /// names keys.
    ManagementSection {
        /// Whether neighbours may register routes to themselves, and announced routes are learned.
        localhop: bool = false,
        /// Routes that may be registered at once.
        max_routes: usize = 65_536,
        /// Bytes that the names and announcements of these routes, and the certificates of delegates who
        /// made them, may take.
        max_route_bytes: usize = 64 << 20,
        /// A file that keeps routes of origin static, as `cairn route add` and `nfdc route add` give them,
        /// and the faces they lead by, over a restart. The node must be able to make files in its folder.
        /// Left out, such routes end with the node.
        state_file: Option<PathBuf> = None,
        /// A file with records of revoked keys, signed by their owners or issuers, as `cairn cert revoke`
        /// writes them. It is read again when it has changed; routes of keys that are revoked then go.
        revocations: Option<PathBuf> = None,
        /// Names of lists with such records, as `cairn cert publish-revocations` publishes them. They are
        /// fetched, verified by the certificates of `[[authorize]]` and the anchors of verification, and
        /// what is new in them is added to the file, which the node must be able to write beside.
        revocations_from: Vec<String> = Vec::new(),
        /// Seconds between two fetches of these lists, 1 at least.
        revocations_every_secs: u64 = 60,
        /// Seconds after which records are too old: while the lists, or the file, were made longer ago, no
        /// signed command is carried out, for nobody knows which keys are revoked. 0 for any age.
        revocations_max_age_secs: u64 = 0,
    }
}

section! {
    /// Metrics for Prometheus over HTTP.
    MetricsConfig {
        /// Local address to serve at, such as 127.0.0.1:9469; left out, there is no such server.
        listen: Option<SocketAddr> = None,
    }
}

section! {
    /// The log, on standard error.
    LogConfig {
        /// What is logged: a level (error, warn, info, debug, trace), and levels of modules after it, as in
        /// "info,cairn_node::plane=debug". The environment variable CAIRN_LOG overrides it.
        filter: String = "info".to_owned(),
    }
}

/// A face that the node makes when it starts.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct FaceSection {
    /// The remote end in canonical form.
    pub remote: String,
    /// The local end, where one must be chosen: dev://eth0 for Ethernet.
    pub local: Option<String>,
    /// Whether the face goes when its socket fails; otherwise it tries again.
    #[serde(default)]
    pub persistent: bool,
    /// The language that is spoken there: ndn, or ccnx, whose routes are names such as ccnx:/parc.com.
    #[serde(default = "ndn")]
    pub dialect: String,
    /// For ccnx over UDP and Ethernet: messages travel in packets of NDNLP v1, as ndnld sends them, that are
    /// acknowledged ("acknowledged") or not ("plain"). Left out, they travel as they are over UDP.
    pub ndnlp: Option<String>,
    /// For ndn over UDP and Ethernet: whether losses are noticed and repaired (NDNLPv2 reliability). Left
    /// out, as for all others.
    pub reliable: Option<bool>,
    /// Names that lead there.
    #[serde(default)]
    pub routes: Vec<String>,
    /// The cost of these routes. With the default an application of this host that registers the very same
    /// prefix is asked first.
    #[serde(default = "configured_cost")]
    pub cost: u64,
    /// How bad the link to there is made on purpose, for tests and measurements.
    pub impairment: Option<ImpairmentSection>,
    /// When packets of NDNLP v1 are acknowledged and sent again. Left out, as in the paper.
    pub ndnlp_timings: Option<NdnlpTimingsSection>,
}

/// A key whose commands are carried out. If there is one, those of others are not.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct AuthorizeSection {
    /// The certificate, a file.
    pub certificate: PathBuf,
    /// What it may be used for: faces, fib, cs, strategy-choice, rib, and localhop for routes of neighbours.
    #[serde(default = "all_local_modules")]
    pub modules: Vec<String>,
    /// Whether keys that this one has certified, directly or by way of others under its name, count as well.
    /// Their certificates are fetched.
    #[serde(default)]
    pub delegates: bool,
    /// Whether its routes, and those of its delegates, must be for names below the identity of the key that
    /// signs the command.
    #[serde(default)]
    pub own_names: bool,
}

fn ndn() -> String {
    "ndn".to_owned()
}

fn configured_cost() -> u64 {
    10
}

fn all_local_modules() -> Vec<String> {
    ["faces", "fib", "cs", "strategy-choice", "rib"].map(str::to_owned).to_vec()
}

/// A strategy for the names under a prefix.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct StrategySection {
    /// The prefix.
    pub prefix: String,
    /// The strategy: a word such as multicast, or a full name with parameters.
    pub strategy: String,
}

/// All of the configuration.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// How the node works as a whole.
    pub node: NodeConfig,
    /// The tables.
    pub tables: TablesConfig,
    /// The content store.
    pub content_store: ContentStoreSection,
    /// UDP.
    pub udp: UdpConfig,
    /// UDP multicast.
    pub multicast: MulticastConfig,
    /// TCP.
    pub tcp: TcpConfig,
    /// Unix sockets.
    pub unix: UnixConfig,
    /// WebSocket.
    pub websocket: WebSocketConfig,
    /// Ethernet.
    pub ethernet: EthernetConfig,
    /// The CCNx dialect.
    pub ccnx: CcnxConfig,
    /// Management.
    pub management: ManagementSection,
    /// Verification of what is kept.
    pub verification: VerificationConfig,
    /// Metrics.
    pub metrics: MetricsConfig,
    /// The log.
    pub log: LogConfig,
    /// Faces to make at the start.
    #[serde(rename = "face")]
    pub faces: Vec<FaceSection>,
    /// Repositories on disks behind the content store.
    #[serde(rename = "repository")]
    pub repositories: Vec<RepositorySection>,
    /// Keys whose commands are carried out.
    pub authorize: Vec<AuthorizeSection>,
    /// Strategies to choose at the start.
    #[serde(rename = "strategy")]
    pub strategies: Vec<StrategySection>,
}

fn wildcard(port: u16) -> Vec<SocketAddr> {
    vec![
        SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), port),
        SocketAddr::new(IpAddr::V6(Ipv6Addr::UNSPECIFIED), port),
    ]
}
