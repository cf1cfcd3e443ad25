//! File formats of other tools, as far as Cairn needs them: captures that Wireshark opens (pcapng), tables
//! that statistics programs read (CSV, Parquet), text within HTML and XML, text of others that is to be
//! shown, and messages of netlink; texts with wildcards, and which word was meant where somebody has
//! mistyped one. The writers write to any
//! [`std::io::Write`]; nothing here opens files or sockets.
//!
//! ```
//! use cairn_formats::pcapng::{Direction, Frame, Interface, Writer};
//!
//! let mut file = Vec::new();
//! let mut writer = Writer::new(&mut file, "an example")?;
//! let interface = writer.interface(&Interface { name: "eth0", ..Interface::default() })?;
//! let frame = [0; 60];
//! let parts: &[&[u8]] = &[&frame];
//! writer.frame(&Frame { interface, time_ns: 0, direction: Some(Direction::In), length: 60, parts })?;
//! assert_eq!(file.len() % 4, 0);
//! # Ok::<(), std::io::Error>(())
//! ```

pub mod csv;
pub mod glob;
pub mod markup;
pub mod netlink;
pub mod parquet;
pub mod pcapng;
pub mod printable;
pub mod spelling;
