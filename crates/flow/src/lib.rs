//! End to end: how a consumer gets what a producer published, and how fast it may ask.
//!
//! Nothing here does I/O. Every machine is told what happened and when, and hands out what to send and when
//! to be called again; the client library, the simulator and the tests drive the same code.
//!
//! - [`controller`]: how fast to ask: one small file for each idea, behind one trait, found by name.
//! - [`pacer`]: turns a rate into send times under a clock that may be coarse.
//! - [`round_trip`]: how long an answer takes, and when it counts as lost.
//! - [`transfer`]: asks for numbered items until all have come. It joins the three above and knows no names.
//! - [`naming`]: how versions and segments are written in names.
//! - [`publish`]: cuts an object into segments, names and signs them, and says what answers an Interest.
//! - [`source`]: what answers Interests, and the loop that serves it over whatever carries them.
//! - [`fetch`]: finds an object's version, asks for its segments, and hands them to a reader in order.
//! - [`verified`]: a fetch and its verifier as one machine, which is what an application drives.
//! - [`workload`]: what is asked for, and when: one small file for each pattern, found by name.
//! - [`verify`]: checks what a fetch brings, by certificates, by a manifest, or by arithmetic alone.
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
mod registry;
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
    Discovery, FetchConfig, FetchError, Fetcher, MAX_REFUSED_IN_A_ROW, Progress, Segment, Subject,
    Unverified, Verification,
};
pub use naming::{Metadata, NamingConvention};
pub use pacer::{Pacer, PacerConfig, RateChange, Smoothing};
pub use packet::parameters::{ParameterError, Parameters};
pub use packet::registry::{AddError, Named};
pub use publish::{
    Answer, Authenticity, OpenSegment, Publication, PublicationConfig, PublishError, SegmentMemory,
    SegmentRange, SegmentSize, SegmentSizeError, USUAL_CONTENT_BYTES,
};
pub use registry::{Kind, Spec, SpecError};
pub use round_trip::{RoundTrip, RoundTripConfig};
pub use transfer::{Arrival, DataOutcome, Failure, Request, Transfer, TransferConfig, TransferCounters};
pub use verified::{RefusedPacket, VerifiedFetch};
pub use workload::{Workload, WorkloadKind, WorkloadSpec, add_workloads, workload_names};
