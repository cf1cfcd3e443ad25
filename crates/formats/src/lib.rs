//! Formats of other tools and rules for text, as far as several crates need them. Nothing here opens files or
//! sockets; the writers write to any [`std::io::Write`].
//!
//! - Files: captures that Wireshark opens ([`pcapng`]), tables that statistics programs read ([`csv`],
//!   [`parquet`]), text within HTML and XML ([`markup`]).
//! - Messages of the kernel: [`netlink`].
//! - Text: what of a stranger's text may be shown ([`printable`]), texts with wildcards ([`glob`]), and which
//!   word was meant where somebody has mistyped one ([`spelling`]).
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
