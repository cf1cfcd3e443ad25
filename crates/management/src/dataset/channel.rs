//! `faces/channels`: where the forwarder listens.

use packet::error::DecodeError;

use super::sealed;
use crate::fields::{self, Fields};
use crate::types;

/// A place where the forwarder listens for peers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChannelStatus {
    /// Its address as a face URI.
    pub local_uri: String,
}

impl sealed::Fields for ChannelStatus {
    const KIND: u32 = types::CHANNEL_STATUS;
    const FIELD: &'static str = "ChannelStatus";

    #[allow(private_interfaces, reason = "sealed")]
    fn read(fields: &Fields<'_>) -> Result<Self, DecodeError> {
        Ok(ChannelStatus { local_uri: fields.required_text(types::LOCAL_URI, "LocalUri")? })
    }

    fn write(&self, out: &mut Vec<u8>) {
        fields::write_text(out, types::LOCAL_URI, Some(&self.local_uri));
    }
}
