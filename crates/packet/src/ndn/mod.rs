//! The NDN dialect: packet format v0.3.

pub mod tlv;
