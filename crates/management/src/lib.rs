//! The messages of NFD's management protocol: commands, responses, status datasets, notifications.
//!
//! A forwarder is managed with Interests and Data. A command is a signed Interest whose name says what to do,
//! and the Data that answers it says how that went; the forwarder's status is Data like any other. Because
//! NFD, ndnd and Cairn all speak this protocol, tools and applications made for one of them work with the
//! others.
//!
//! Both sides use this crate. It builds and reads messages, and keeps the little state that it takes to fetch
//! a dataset or to follow a stream. Who may do what, and how it is done, is up to the forwarder.
//!
//! ```
//! use cairn_management::{Command, CommandSignature, ControlParameters, ControlResponse};
//! use cairn_management::{CommandScope, RequestName, Target};
//! use packet::ndn::{SignatureInfoBuilder, SignatureType};
//! use sha2::{Digest as _, Sha256};
//!
//! // A client asks for a route to itself …
//! let wanted = ControlParameters { name: Some("/lab".parse()?), cost: Some(10), ..Default::default() };
//! let info = SignatureInfoBuilder::new(SignatureType::DIGEST_SHA256).nonce(1).time_ms(1_700_000_000_000);
//! let interest = Command::RibRegister
//!     .interest(CommandScope::Localhost, &wanted)?
//!     .build_signed(&info, |signed| Sha256::digest(signed).to_vec())?;
//!
//! // … the forwarder reads what is to be done and by whom …
//! let request = RequestName::parse(interest.name()).ok_or("not a request")?;
//! assert_eq!(request.target, Target::Command(Command::RibRegister));
//! let parameters = ControlParameters::decode(request.parameter().ok_or("no parameters")?.value)?;
//! assert_eq!(parameters, wanted);
//! assert_eq!(CommandSignature::of(&interest)?.time_ms, Some(1_700_000_000_000));
//!
//! // … and answers.
//! let response = ControlResponse::ok(&ControlParameters { face_id: Some(261), ..parameters });
//! let answer = cairn_management::response_data(interest.name().to_name(), &response).build_with_digest()?;
//! assert!(ControlResponse::decode(answer.content())?.is_ok());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Where things are
//! - [`ControlParameters`] and [`ControlResponse`]: what is in a command and in the answer; [`Command`] lists
//!   the commands.
//! - [`RequestName`] takes names of the protocol apart; [`CommandSignature`] finds the signature in either
//!   format.
//! - [`Dataset`] lists the datasets; [`FaceStatus`] and the others are their items.
//! - [`segments()`] cuts a dataset into Data, [`DatasetFetch`] fetches one. [`StreamPosition`] follows a
//!   stream of notifications.
//! - [`HostPort`]: host and port, as addresses of forwarders and faces write them.
//! - [`PrefixAnnouncement`]: routes that the owner of a prefix vouches for.
//!
//! Encoders write each field where all implementations accept it; decoders accept fields in any order and
//! skip those that they do not know.

mod command;
mod command_scope;
mod control_parameters;
mod control_response;
mod dataset;
mod face_event;
mod face_query_filter;
mod fields;
mod host_port;
mod notification;
mod prefix_announcement;
mod request;
mod segments;
mod socket;
pub mod types;
mod values;
mod words;

pub use command::{Command, CommandSignature, LegacyFreshness, SignatureFormat};
pub use command_scope::CommandScope;
pub use control_parameters::ControlParameters;
pub use control_response::ControlResponse;
pub use dataset::{
    ChannelStatus, CsInfo, DatasetItem, Dropped, FaceStatus, FibEntry, GeneralStatus, NextHopRecord,
    RepositoryTotals, RibEntry, Route, StrategyChoice, Totals, decode_list, encode_list,
};
pub use face_event::FaceEventNotification;
pub use face_query_filter::FaceQueryFilter;
pub use host_port::HostPort;
pub use notification::{NOTIFICATION_LIFETIME, StreamPosition};
pub use prefix_announcement::PrefixAnnouncement;
pub use request::{Dataset, RequestName, Target, discovery_interest, face_events_name};
pub use segments::{
    DatasetError, DatasetFetch, FRESHNESS, MAX_SEGMENT_BYTES, refusal_data, response_data, segments,
};
pub use socket::{OLDER_SOCKETS, SYSTEM_SOCKET, runtime_folder_in, socket_in};
pub use values::{
    CsFlags, FaceEventKind, FaceFlags, FacePersistency, FaceScope, LinkType, RouteFlags, RouteOrigin,
    StatusCode,
};
