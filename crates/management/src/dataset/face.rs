//! `faces/list` and `faces/query`: the faces.

use packet::PacketCounts;
use packet::error::DecodeError;

use super::packet_counts::{read_packet_counts, write_packet_counts};
use super::sealed;
use crate::fields::{self, Fields};
use crate::types;
use crate::values::{FaceFlags, FacePersistency, FaceScope, LinkType};

/// A face, and what went through it: an element of the dataset of faces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaceStatus {
    /// Its number.
    pub face_id: u64,
    /// Where the peer is.
    pub uri: String,
    /// Where this end is.
    pub local_uri: String,
    /// Time until the face is closed for being idle, in milliseconds; absent if it will not be.
    pub expiration_period_ms: Option<u64>,
    /// Whether the peer is on this host.
    pub scope: FaceScope,
    /// When the face goes away by itself.
    pub persistency: FacePersistency,
    /// How many peers there are.
    pub link_type: LinkType,
    /// Time between two congestion marks at the start, in nanoseconds.
    pub base_congestion_marking_interval_ns: Option<u64>,
    /// Length of the send queue above which marks are set, in bytes.
    pub default_congestion_threshold_bytes: Option<u64>,
    /// Largest frame, in bytes.
    pub mtu_bytes: Option<u64>,
    /// Packets received and sent.
    pub packets: PacketCounts,
    /// Bytes received, link headers included.
    pub in_bytes: u64,
    /// Bytes sent, link headers included.
    pub out_bytes: u64,
    /// What it does beside carrying packets.
    pub flags: FaceFlags,
}

impl sealed::Fields for FaceStatus {
    const KIND: u32 = types::DATASET_ITEM;
    const FIELD: &'static str = "FaceStatus";

    #[allow(private_interfaces, reason = "sealed")]
    fn read(fields: &Fields<'_>) -> Result<Self, DecodeError> {
        let number = |kind, field| fields.required_number(kind, field);
        Ok(FaceStatus {
            face_id: number(types::FACE_ID, "FaceId")?,
            uri: fields.required_text(types::URI, "Uri")?,
            local_uri: fields.required_text(types::LOCAL_URI, "LocalUri")?,
            expiration_period_ms: fields.number(types::EXPIRATION_PERIOD, "ExpirationPeriod")?,
            scope: FaceScope::from_number(number(types::FACE_SCOPE, "FaceScope")?),
            persistency: FacePersistency::from_number(number(types::FACE_PERSISTENCY, "FacePersistency")?),
            link_type: LinkType::from_number(number(types::LINK_TYPE, "LinkType")?),
            base_congestion_marking_interval_ns: fields
                .number(types::BASE_CONGESTION_MARKING_INTERVAL, "BaseCongestionMarkingInterval")?,
            default_congestion_threshold_bytes: fields
                .number(types::DEFAULT_CONGESTION_THRESHOLD, "DefaultCongestionThreshold")?,
            mtu_bytes: fields.number(types::MTU, "Mtu")?,
            packets: read_packet_counts(number)?,
            in_bytes: number(types::N_IN_BYTES, "NInBytes")?,
            out_bytes: number(types::N_OUT_BYTES, "NOutBytes")?,
            flags: FaceFlags(number(types::FLAGS, "Flags")?),
        })
    }

    fn write(&self, out: &mut Vec<u8>) {
        use fields::{write_number, write_text};
        write_number(out, types::FACE_ID, Some(self.face_id));
        write_text(out, types::URI, Some(&self.uri));
        write_text(out, types::LOCAL_URI, Some(&self.local_uri));
        write_number(out, types::EXPIRATION_PERIOD, self.expiration_period_ms);
        write_number(out, types::FACE_SCOPE, Some(self.scope.number()));
        write_number(out, types::FACE_PERSISTENCY, Some(self.persistency.number()));
        write_number(out, types::LINK_TYPE, Some(self.link_type.number()));
        write_number(out, types::BASE_CONGESTION_MARKING_INTERVAL, self.base_congestion_marking_interval_ns);
        write_number(out, types::DEFAULT_CONGESTION_THRESHOLD, self.default_congestion_threshold_bytes);
        write_number(out, types::MTU, self.mtu_bytes);
        write_packet_counts(&self.packets, out);
        write_number(out, types::N_IN_BYTES, Some(self.in_bytes));
        write_number(out, types::N_OUT_BYTES, Some(self.out_bytes));
        write_number(out, types::FLAGS, Some(self.flags.0));
    }
}
