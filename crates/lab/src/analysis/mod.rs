//! From what was measured to what it says: captures by the second, logs without their invalid lines, numbers
//! of a repeat.

mod activity;
mod capture;
mod data;
mod gates;
mod network;
mod prefixes;
mod raw_files;
mod repeat;
mod repetition;
mod round_trips;
mod served;
pub mod table;
mod window;
mod workloads;

pub(crate) use capture::COLUMNS as TRAFFIC_COLUMNS;
pub use capture::CaptureError;
pub use data::{NodeData, RepeatData};
pub use gates::{Gate, STANDSTILLS, gates};
pub use network::{ConsumerCounts, NETWORK_FILE, NetworkCounts};
pub use prefixes::PrefixCounts;
pub use raw_files::FileHashes;
pub(crate) use raw_files::note_raw_files;
pub(crate) use repeat::numbers;
pub use repeat::{DeriveError, IdleWindow, RepeatResult, derive, load_derived};
pub(crate) use repetition::{AGAIN, LinkHistory, Origins, Repetition};
pub use table::Table;
pub use window::Window;
pub use workloads::{FloodTable, PingTable, Transfer, TransferTable};
