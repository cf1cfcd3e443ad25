//! How soon an Interest may be sent again.
//!
//! A retransmission may go out after a short interval, which grows, as in NFD: who repeats an Interest has
//! missed the answer. Another consumer's first Interest says nothing of the kind. If it went out, too, two
//! who fetch the same object over a round trip of more than 10 ms would make every link above them carry it
//! twice. So it waits with the others as long as an answer may be on its way: for the longest of the
//! intervals since the Interest was last sent to somebody else. NFD makes no difference between the two.

use packet::time::Duration;

use super::StrategyContext;
use crate::face_id::FaceId;
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
    /// not long ago, and not to where this one comes from.
    pub(super) fn awaits_with_others(&self, context: &StrategyContext<'_>) -> bool {
        let (now, ingress) = (context.now(), context.ingress());
        context.trigger() == Trigger::Joined
            && context.out_records().iter().any(|record| {
                Some(record.face) != ingress
                    && record.nacked.is_none()
                    && record.expires > now
                    && now.saturating_since(record.sent_at) < self.max
            })
    }

    /// Sends the Interest to `face` unless that was done only just now; false if it was.
    pub(super) fn offer(&self, context: &mut StrategyContext<'_>, face: FaceId) -> bool {
        let now = context.now();
        let interval = match context.out_record(face) {
            Some(record) if record.expires > now => {
                let shortest = if context.trigger() == Trigger::Joined { self.max } else { self.initial };
                let interval = record.suppress_for.max(shortest);
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
