//! Packets as they were on the wire: taken from interfaces, kept as pcapng, read again and taken apart.

pub mod dissect;
pub mod psml;
pub mod tap;
