//! ControlParameters: what a command is about, and what it resulted in.

use packet::Name;
use packet::error::DecodeError;

use crate::fields::{self, Fields};
use crate::types;
use crate::values::{FacePersistency, RouteOrigin};

/// The parameters of a command, or the values that it left in force. Which fields a command needs and which
/// it forbids is the business of whoever carries it out.
///
/// ```
/// use cairn_management::{ControlParameters, RouteOrigin};
/// let parameters = ControlParameters {
///     name: Some("/A".parse()?),
///     origin: Some(RouteOrigin::Static),
///     cost: Some(10),
///     ..Default::default()
/// };
/// assert_eq!(parameters.encode(), [0x68, 0x0b, 7, 3, 8, 1, 0x41, 0x6f, 1, 255, 0x6a, 1, 10]);
/// # Ok::<(), packet::name::UriError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ControlParameters {
    /// A prefix.
    pub name: Option<Name>,
    /// A face; 0 for the one the command comes by.
    pub face_id: Option<u64>,
    /// Where the peer of a face is.
    pub uri: Option<String>,
    /// Where this end of a face is.
    pub local_uri: Option<String>,
    /// Who made a route.
    pub origin: Option<RouteOrigin>,
    /// Cost of a route or next hop.
    pub cost: Option<u64>,
    /// Capacity of the content store, in packets; in the answer to an erasure, the most that one command
    /// erases.
    pub capacity: Option<u64>,
    /// How many packets to erase, or were erased.
    pub count: Option<u64>,
    /// Flags of a face ([`crate::FaceFlags`]), route ([`crate::RouteFlags`]) or content store
    /// ([`crate::CsFlags`]).
    pub flags: Option<u64>,
    /// Which of the flags are to be changed.
    pub mask: Option<u64>,
    /// Name of a strategy.
    pub strategy: Option<Name>,
    /// How long a route is to live, in milliseconds.
    pub expiration_period_ms: Option<u64>,
    /// When a face goes away by itself.
    pub face_persistency: Option<FacePersistency>,
    /// Time between two congestion marks at the start, in nanoseconds.
    pub base_congestion_marking_interval_ns: Option<u64>,
    /// Length of the send queue above which marks are set, in bytes.
    pub default_congestion_threshold_bytes: Option<u64>,
    /// Largest frame of a face, in bytes.
    pub mtu_bytes: Option<u64>,
}

impl ControlParameters {
    /// Reads the ControlParameters element that `wire` begins with.
    ///
    /// # Errors
    /// Another element, or a field that is not what it should be. Fields may stand in any order, and unknown
    /// ones are passed over, as NFD does.
    pub fn decode(wire: &[u8]) -> Result<Self, DecodeError> {
        let fields = Fields::of_element(wire, types::CONTROL_PARAMETERS, "ControlParameters")?;
        Ok(ControlParameters {
            name: fields.name()?,
            face_id: fields.number(types::FACE_ID, "FaceId")?,
            uri: fields.text(types::URI, "Uri")?,
            local_uri: fields.text(types::LOCAL_URI, "LocalUri")?,
            origin: fields.number(types::ORIGIN, "Origin")?.map(RouteOrigin::from_number),
            cost: fields.number(types::COST, "Cost")?,
            capacity: fields.number(types::CAPACITY, "Capacity")?,
            count: fields.number(types::COUNT, "Count")?,
            flags: fields.number(types::FLAGS, "Flags")?,
            mask: fields.number(types::MASK, "Mask")?,
            strategy: fields.wrapped_name(types::STRATEGY, "Strategy")?,
            expiration_period_ms: fields.number(types::EXPIRATION_PERIOD, "ExpirationPeriod")?,
            face_persistency: fields
                .number(types::FACE_PERSISTENCY, "FacePersistency")?
                .map(FacePersistency::from_number),
            base_congestion_marking_interval_ns: fields
                .number(types::BASE_CONGESTION_MARKING_INTERVAL, "BaseCongestionMarkingInterval")?,
            default_congestion_threshold_bytes: fields
                .number(types::DEFAULT_CONGESTION_THRESHOLD, "DefaultCongestionThreshold")?,
            mtu_bytes: fields.number(types::MTU, "Mtu")?,
        })
    }

    /// The whole element, fields in the one order that all implementations accept.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        fields::write_container(&mut out, types::CONTROL_PARAMETERS, |out| self.write_fields(out));
        out
    }

    fn write_fields(&self, out: &mut Vec<u8>) {
        use fields::{write_name, write_number, write_text, write_wrapped_name};
        if let Some(name) = &self.name {
            write_name(out, name);
        }
        write_number(out, types::FACE_ID, self.face_id);
        write_text(out, types::URI, self.uri.as_deref());
        write_text(out, types::LOCAL_URI, self.local_uri.as_deref());
        write_number(out, types::ORIGIN, self.origin.map(RouteOrigin::number));
        write_number(out, types::COST, self.cost);
        write_number(out, types::CAPACITY, self.capacity);
        write_number(out, types::COUNT, self.count);
        write_number(out, types::FLAGS, self.flags);
        write_number(out, types::MASK, self.mask);
        if let Some(strategy) = &self.strategy {
            write_wrapped_name(out, types::STRATEGY, strategy);
        }
        write_number(out, types::EXPIRATION_PERIOD, self.expiration_period_ms);
        write_number(out, types::FACE_PERSISTENCY, self.face_persistency.map(FacePersistency::number));
        write_number(out, types::BASE_CONGESTION_MARKING_INTERVAL, self.base_congestion_marking_interval_ns);
        write_number(out, types::DEFAULT_CONGESTION_THRESHOLD, self.default_congestion_threshold_bytes);
        write_number(out, types::MTU, self.mtu_bytes);
    }
}
