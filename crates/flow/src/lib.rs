//! From end to end: how a producer publishes objects, and how a consumer fetches them and at which rate.
//!
//! Nothing here does I/O. Each state machine is told what happened and when, and returns what to send and
//! when to call it again. The client library, the simulator and the tests use the same code.
//!
//! - [`controller`]: congestion control, one small file for each algorithm, behind one trait, found by name.
//! - [`pacer`]: turns a rate into send times under a clock that may be coarse.
//! - [`round_trip`]: how long an answer takes, and when it counts as lost.
//! - [`transfer`]: asks for numbered items until all have come. It joins the three above and knows no names.
//! - [`naming`]: how versions and segments are written in names.
//! - [`publish`]: cuts an object into segments, names and signs them, and says what answers an Interest.
//! - [`source`]: sources of Data that answer Interests, and the loop that serves a source.
//! - [`fetch`]: finds an object's version, asks for its segments, and hands them to a reader in order.
//! - [`verified`]: a fetch and its verifier as one machine, which is what an application drives.
//! - [`workload`]: what is asked for, and when: one small file for each pattern, found by name.
//! - [`verify`]: checks what a fetch receives, by certificates, by a manifest, or by digests alone.
//!
//! ```
//! use cairn_flow::{Arrival, Transfer, TransferConfig};
//! use packet::time::{Duration, Instant};
//!
//! // A network that answers everything after 20 ms.
//! let config = TransferConfig { controller: "aimd/initial~4".parse()?, ..TransferConfig::default() };
//! let mut transfer = Transfer::new(&config, Instant::ZERO, 1);
//! transfer.set_end(100);
//! let mut now = Instant::ZERO;
//! while !transfer.is_complete() {
//!     let asked: Vec<u64> =
//!         std::iter::from_fn(|| transfer.poll_request(now)).map(|request| request.item).collect();
//!     now += Duration::from_millis(20);
//!     for item in asked {
//!         transfer.handle_data(now, item, Arrival::default());
//!         transfer.confirm(item);
//!     }
//! }
//! assert_eq!(now, Instant::from_millis(100), "4, 8, 16, 32 and 40 items: the window doubles in slow start");
//! # Ok::<(), cairn_flow::SpecError>(())
//! ```

pub mod controller;
pub mod fetch;
pub mod naming;
pub mod pacer;
pub mod publish;
pub mod round_trip;
pub mod source;
pub mod transfer;
pub mod verified;
pub mod verify;
pub mod workload;

pub use controller::{
    Allowance, Controller, ControllerKind, ControllerSpec, DataReport, LossEvidence, LossReport, NackReport,
    SentReport, add_controllers, controller_names,
};
pub use fetch::{
    Discovery, FetchConfig, FetchError, Fetcher, MAX_REFUSED_IN_A_ROW, Progress, Segment, Verification,
};
pub use naming::{Metadata, NamingConvention};
pub use pacer::{Pacer, PacerConfig, RateChange, Smoothing};
pub use packet::parameters::{ParameterError, Parameters};
pub use packet::registry::{AddError, Named, Spec, SpecError, Startable, UnknownWord};
pub use publish::{
    Answer, Authenticity, CcnxPublication, OpenSegment, Publication, PublicationConfig, PublishError,
    SegmentMemory, SegmentRange, SegmentSize, SegmentSizeError, SegmentTree, TREE_SEGMENTS,
    USUAL_CONTENT_BYTES,
};
pub use round_trip::{RoundTrip, RoundTripConfig};
pub use transfer::{Arrival, DataOutcome, Failure, Request, Transfer, TransferConfig, TransferCounters};
pub use verified::{RefusedPacket, VerifiedFetch};
pub use verify::{Unverified, UnverifiedKind};
pub use workload::{Workload, WorkloadKind, WorkloadSpec, add_workloads, workload_names};
