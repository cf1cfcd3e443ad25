//! The CCNx dialect: ccnb of CCNx 0.8, and the NDNLP v1 link protocol that was written for it.

pub mod block;
pub mod dtag;
pub mod framer;
pub mod ndnlp;
pub mod reader;

pub use dtag::Dtag;
pub use framer::{Framer, message_len};
pub use reader::Reader;
