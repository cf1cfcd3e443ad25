//! From what was measured to what it says: captures by the second, logs without their invalid lines, numbers
//! of a repeat.

mod activity;
mod capture;
mod data;
mod gates;
mod load;
mod network;
mod parts;
mod prefixes;
mod raw_files;
mod repeat;
mod repetition;
mod result;
mod round_trips;
mod served;
pub mod table;
mod window;
mod workloads;

pub(crate) use capture::COLUMNS as TRAFFIC_COLUMNS;
pub use capture::CaptureError;
pub use data::{NodeData, RepeatData};
pub use gates::{Gate, STANDSTILLS, gates};
pub use load::load_derived;
pub use network::{ConsumerCounts, NETWORK_FILE, NetworkCounts};
pub(crate) use parts::is_counted;
pub use prefixes::PrefixCounts;
pub(crate) use raw_files::{DERIVED, RAW, hash_of_file};
pub use raw_files::{FileHashes, RawCheck, ReadProgress};
pub(crate) use raw_files::{write_as_earlier_version, write_with_hashes};
pub(crate) use repeat::numbers;
pub use repeat::{DeriveError, derive};
pub(crate) use repetition::{AGAIN, LinkHistory, Origins, Repetition};
pub use result::{IdleWindow, RepeatOrigin, RepeatResult};
pub use table::Table;
pub use window::Window;
pub use workloads::{FloodTable, PingTable, Transfer, TransferTable};
