//! File formats of other people's tools, as far as this house writes them: captures that Wireshark opens, and
//! tables that statistics programs or editors read. They write to whatever can be written to, and open
//! nothing.
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
pub mod parquet;
pub mod pcapng;
