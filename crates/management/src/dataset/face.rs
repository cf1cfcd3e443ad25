//! `faces/list` and `faces/query`: the faces.

use packet::error::DecodeError;

use super::sealed;
use crate::fields::{self, Fields};
use crate::types;
use crate::values::{FaceFlags, FacePersistency, FaceScope, LinkType};

/// A face, and what went through it.
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
    /// Interests received.
    pub in_interests: u64,
    /// Data received.
    pub in_data: u64,
    /// Nacks received.
    pub in_nacks: u64,
    /// Interests sent.
    pub out_interests: u64,
    /// Data sent.
    pub out_data: u64,
    /// Nacks sent.
    pub out_nacks: u64,
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
            in_interests: number(types::N_IN_INTERESTS, "NInInterests")?,
            in_data: number(types::N_IN_DATA, "NInData")?,
            in_nacks: number(types::N_IN_NACKS, "NInNacks")?,
            out_interests: number(types::N_OUT_INTERESTS, "NOutInterests")?,
            out_data: number(types::N_OUT_DATA, "NOutData")?,
            out_nacks: number(types::N_OUT_NACKS, "NOutNacks")?,
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
        for (kind, count) in [
            (types::N_IN_INTERESTS, self.in_interests),
            (types::N_IN_DATA, self.in_data),
            (types::N_IN_NACKS, self.in_nacks),
            (types::N_OUT_INTERESTS, self.out_interests),
            (types::N_OUT_DATA, self.out_data),
            (types::N_OUT_NACKS, self.out_nacks),
            (types::N_IN_BYTES, self.in_bytes),
            (types::N_OUT_BYTES, self.out_bytes),
            (types::FLAGS, self.flags.0),
        ] {
            write_number(out, kind, Some(count));
        }
    }
}
