//! What the operating system tells and takes, for every crate that works with it: its clocks, what it says
//! about processes and memory below `/proc`, which processors a thread may use, which datagrams it takes
//! together, whose an address of IP is, and which of its errors are none.
//!
//! Pure crates may not use this one: they are given the time and hand out what they want done. [`Clock`] is
//! what their owners read it from. All but [`Clock`], [`unix_now`], [`processors`] and two functions of
//! [`proc_files`] is a function of its arguments; nothing here opens sockets, or files but those.
//!
//! ```
//! use cairn_system::Clock;
//!
//! let clock = Clock::start();
//! assert!(clock.now() >= Clock::START);
//! ```

mod address_prefix;
mod clock;
pub mod meminfo;
pub mod proc_files;
pub mod processors;
pub mod trains;
mod try_again;

pub use address_prefix::AddressPrefix;
pub use clock::{Clock, unix_now};
pub use try_again::is_try_again;
