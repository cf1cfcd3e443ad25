//! How soon an Interest may be sent again.
//!
//! A retransmission may go out after a short interval, which grows, as in NFD: who repeats an Interest has
//! missed the answer. Another consumer's first Interest says nothing of the kind. If it went out, too, two
//! who fetch the same object over a round trip of more than 10 ms would make every link above them carry it
//! twice. So it is not sent on as long as the answer may be on its way: within the longest of the intervals
//! since the Interest was last sent. Nothing sends it later but the consumer, who asks again. NFD makes no
//! difference between the two.

use packet::time::Duration;

use super::StrategyContext;
use crate::face_id::FaceId;
use crate::tables::pending::OutRecord;
use crate::trigger::Trigger;
use packet::parameters::{ParameterError, Parameters};

/// Exponential back-off between forwarded retransmissions, as in NFD.
#[derive(Clone, Copy, Debug)]
pub(super) struct Suppression {
    initial: Duration,
    multiplier: f64,
    max: Duration,
}

/// What is to be done with an Interest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It is not pending upstream: send it.
    New,
    /// It was sent long enough ago: send it again.
    Forward,
    /// It was sent only just now, and is a retransmission.
    Suppress,
    /// It waits with others for an answer that may be on its way.
    Aggregate,
}

impl Suppression {
    pub(super) fn from_parameters(parameters: &mut Parameters) -> Result<Self, ParameterError> {
        let initial = parameters.millis("retx-suppression-initial", Duration::from_millis(10))?;
        let max = parameters.millis("retx-suppression-max", Duration::from_millis(250))?;
        let multiplier = parameters.number("retx-suppression-multiplier", 2.0, (f64::MIN, f64::MAX))?;
        if initial == Duration::ZERO {
            return Err(ParameterError::new("retx-suppression-initial", "must not be zero"));
        }
        if max < initial {
            return Err(ParameterError::new(
                "retx-suppression-max",
                "must not be below retx-suppression-initial",
            ));
        }
        if multiplier < 1.0 {
            return Err(ParameterError::new("retx-suppression-multiplier", "must not be below 1"));
        }
        Ok(Suppression { initial, multiplier, max })
    }

    /// The same interval after every retransmission.
    pub(super) const fn fixed(interval: Duration) -> Self {
        Suppression { initial: interval, multiplier: 1.0, max: interval }
    }

    /// Decides for the pending Interest as a whole, by when it was last sent to anybody; notes the next
    /// interval if it may be sent again. Uses
    /// [`StrategyInfo::span`](crate::tables::pending::StrategyInfo).
    pub(super) fn decide(&self, context: &mut StrategyContext<'_>) -> Verdict {
        if !context.has_pending_out_records() {
            return Verdict::New;
        }
        if self.awaits_with_others(context) {
            return Verdict::Aggregate;
        }
        let last_sent = context.out_records().iter().map(|record| record.sent_at).max();
        let since = context.now().saturating_since(last_sent.unwrap_or_default());
        let info = context.info();
        let interval = info.span.max(self.initial);
        if since < interval {
            return Verdict::Suppress;
        }
        info.span = self.longer(interval);
        Verdict::Forward
    }

    /// Whether the Interest is a consumer's first and the answer to another's may be on its way: it was sent
    /// not long ago, to where this one would be sent, too.
    pub(super) fn awaits_with_others(&self, context: &StrategyContext<'_>) -> bool {
        context.trigger() == Trigger::Joined
            && context.out_records().iter().any(|record| self.stands_for_arrival(context, record))
    }

    /// Whether what was sent serves the Interest that arrived as well as a copy of it would. It does not if
    /// its lifetime ends much earlier, for then the answer may come too late for it; if its face is no next
    /// hop for this one; or if it was not to be flooded and this one may be.
    fn stands_for_arrival(&self, context: &StrategyContext<'_>, record: &OutRecord) -> bool {
        let ingress = context.ingress();
        let waits_until = context.in_records().iter().find(|waiting| Some(waiting.face) == ingress);
        Some(record.face) != ingress
            && record.nacked.is_none()
            && record.expires > context.now()
            && context.now().saturating_since(record.sent_at) < self.max
            && waits_until.is_none_or(|waiting| record.expires + self.max >= waiting.expires)
            && (!record.non_discovery || context.is_non_discovery())
            && context.eligible_next_hops().any(|hop| hop.face == record.face)
    }

    /// Sends the Interest to `face` unless that was done only just now; false if it was.
    pub(super) fn offer(&self, context: &mut StrategyContext<'_>, face: FaceId) -> bool {
        let now = context.now();
        let interval = match context.out_record(face) {
            Some(record) if record.expires > now => {
                let is_joined = context.trigger() == Trigger::Joined;
                if is_joined && self.stands_for_arrival(context, record) {
                    return false;
                }
                let interval = record.suppress_for.max(self.initial);
                if now.saturating_since(record.sent_at) < interval {
                    return false;
                }
                self.longer(interval)
            }
            _ => self.initial,
        };
        context.send(face);
        context.suppress_upstream(face, interval);
        true
    }

    fn longer(&self, span: Duration) -> Duration {
        Duration::from_secs_f64(span.as_secs_f64() * self.multiplier).min(self.max)
    }
}
