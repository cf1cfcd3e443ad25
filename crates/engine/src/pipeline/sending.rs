//! Putting packets on the way out.

use packet::time::{Duration, Instant};
use packet::{Buffer, CachePolicy, Data, ExplicitRate, Packet, PitToken};

use crate::counters::EngineCounters;
use crate::drop_reason::DropReason;
use crate::face::Face;
use crate::face_id::FaceId;
use crate::scope;
use crate::transmit::{Transmit, TransmitQueue};

/// What goes with Data over the link.
pub(super) struct DataFields {
    pub(super) pit_token: PitToken,
    pub(super) congestion_mark: u64,
    pub(super) incoming_face: FaceId,
    pub(super) announcement: Option<Box<Buffer>>,
    /// What routers further away allow.
    pub(super) explicit_rate: Option<ExplicitRate>,
    /// What the next node is told about keeping it.
    pub(super) cache_policy: Option<CachePolicy>,
}

/// When Data leaves, and how long ago it was asked for; the latter is unknown for Data from the cache.
#[derive(Clone, Copy)]
pub(super) struct Moment {
    pub(super) now: Instant,
    pub(super) response: Option<Duration>,
}

/// A face that something is sent to.
pub(super) struct Target<'a> {
    pub(super) id: FaceId,
    pub(super) face: &'a mut Face,
}

/// What of the engine a packet leaves by. Its other parts may be borrowed meanwhile. By value, so that it
/// need not be in memory at all.
pub(super) struct Outlet<'a> {
    pub(super) counters: &'a mut EngineCounters,
    pub(super) transmits: &'a mut TransmitQueue,
}

impl Outlet<'_> {
    /// Sends Data to one face. The Data is taken from where it is on hand: handed down by value it would be
    /// moved at every step. Nothing is sent where it is no more.
    #[inline(always)]
    pub(super) fn send_data(
        self,
        moment: Moment,
        Target { id: face, face: target }: Target<'_>,
        on_hand: &mut Option<Data>,
        fields: DataFields,
    ) {
        let Outlet { counters, transmits } = self;
        let Some(data) = on_hand.as_ref() else { return };
        // The face may have changed its language since it asked.
        if target.config.dialect != data.dialect() {
            return counters.drops.add(DropReason::WrongDialect, 1);
        }
        if !target.is_local() && scope::is_for_this_host_only(data) {
            return counters.drops.add(DropReason::Scope, 1);
        }
        // Whoever allows least decides.
        let explicit_rate = match &mut target.rate_control {
            None => fields.explicit_rate,
            Some(control) => {
                let own = control.handle_data(moment.now, data.wire().len(), moment.response);
                Some(fields.explicit_rate.map_or(own, |told| told.min(own)))
            }
        };
        target.counters.packets.out_data += 1;
        counters.data_sent += 1;
        let Some(vacant) = transmits.vacant() else { return };
        let Some(data) = on_hand.take() else { return };
        vacant.fill(Transmit {
            packet: Packet::Data(data),
            pit_token: fields.pit_token,
            congestion_mark: fields.congestion_mark,
            face,
            incoming_face: Some(fields.incoming_face),
            prefix_announcement: fields.announcement,
            explicit_rate,
            non_discovery: false,
            cache_policy: fields.cache_policy,
        });
    }
}
