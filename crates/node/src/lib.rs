//! The daemon: transports and faces on real sockets, event loop, management, configuration.
//!
//! A [`Node`] has two threads for its work. The *data plane* owns the forwarding engine, the faces and their
//! sockets: it reads what has arrived in batches, hands the packets to the engine, and writes what comes out,
//! collected by face, so that the kernel moves whole trains of packets at a time. *Control* runs beside it:
//! management protocols ask for what they want by calls ([`control`]) that the data plane carries out, and
//! never touch what it owns. Other services, repositories, metrics and captures have threads of their own.
//!
//! ```
//! use cairn_node::Node;
//! use cairn_node::config::Config;
//! use cairn_node::control::{CreateFace, FaceChanges, FacePersistency, NodeControl};
//! use cairn_node::management::{ManagementConfig, NfdManagement};
//! use packet::Dialect;
//!
//! // A node on ports that the system picks, without unix sockets.
//! let mut config = Config::default();
//! config.udp.listen = vec!["127.0.0.1:0".parse()?];
//! config.tcp.listen = vec!["127.0.0.1:0".parse()?];
//! config.websocket.listen = Vec::new();
//! config.unix.listen = Some(Vec::new());
//! let management = NfdManagement::new(ManagementConfig::default());
//! let mut node = Node::start(&config, Box::new(management))?;
//!
//! // A program can do itself what management protocols do.
//! let mut control = node.control();
//! let face = control.create_face(CreateFace {
//!     remote: "udp4://127.0.0.1:6363".parse()?,
//!     local: None,
//!     persistency: FacePersistency::Permanent,
//!     changes: FaceChanges::default(),
//!     dialect: Dialect::Ndn,
//! })?;
//! let hop = engine::NextHop { face: face.id, cost: 10 };
//! control.add_next_hop(Dialect::Ndn, &"/lab".parse()?, hop, None)?;
//! assert!(control.routes(Dialect::Ndn).iter().any(|route| route.prefix.to_string() == "/lab"));
//! node.shut_down();
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Where things are
//! - [`config`]: the configuration; `start` makes a node of it, and `settings` is what the data plane is
//!   told.
//! - `plane/`: the data plane, a room for each part of a turn. `face` is what it knows about a face,
//!   `origin` where a face leads and who answers for it. `remote_control`: how other threads reach it.
//! - `codec/`: frames into packets and back, by the dialect of the face. The packets in frames are read by
//!   `engine::batch`.
//! - `transport/`: one file for each kind of socket; `sys/` is what the kernel offers and safe crates do not.
//! - `ccnd`: what ccnd offers its clients: registration, faces, pings, the status page.
//! - [`ndnld`]: links of NDNLP v1 for ndnld's clients, of the node or beside another forwarder.
//! - `inner_service`: applications inside the node, each on a thread of its own behind an inner face. Any
//!   [`InnerFace`] also serves a source of Data, by the loop that a client's connection serves one with.
//! - `control_service`, `verification`, `revocation_service`: three of these, for management, for a sample of
//!   what is cached, and for lists of revoked keys.
//!   `time_budget`: how much of a thread's time goes into what strangers ask for.
//! - `repository`: persistent stores behind the content store, on threads of their own. `ccnr`: the protocol
//!   by which clients of CCNx reach one.
//! - [`control`]: the interface for management protocols; [`management`] implements NFD's.
//! - [`capture`], `metrics`: frames and counters for operators. [`DropReason`]: why a frame was dropped.
//! - `load`: the load generator of `cairn bench forward`. No part of a node, but it needs what is in `sys/`.

pub mod capture;
mod ccnd;
mod ccnr;
mod codec;
pub mod config;
pub mod control;
mod control_service;
mod drop_reason;
mod face;
mod face_uri;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod inner_service;
#[doc(hidden)]
pub mod load;
pub mod management;
mod metrics;
pub mod ndnld;
mod node;
mod origin;
mod plane;
mod remote_control;
mod repository;
mod revocation_service;
mod settings;
mod socket_path;
mod start;
mod start_error;
mod sys;
mod time_budget;
mod transport;
mod verification;

pub use ccnd::ccnx_signer;
pub use control::RepositoryStatus;
pub use drop_reason::{DropCounters, DropReason};
pub use face_uri::MacAddress;
pub use node::Node;
pub use remote_control::RemoteControl;
pub use start::{default_memory_bytes, default_unix_paths, memory_at_hand_bytes};
pub use start_error::{RepositoryError, StartError};
pub use sys::pages::use_small_pages;
pub use transport::ethernet_socket::EthernetSocket;
pub use transport::inner::{
    InnerFace, InnerFaceGone, InnerLimits, InnerPacket, InnerSendError, InnerServeError,
};

/// How long a thread beside the data plane waits after it could not accept a connection.
const ACCEPT_RETRY_INTERVAL: std::time::Duration = std::time::Duration::from_millis(250);
