//! How soon an Interest may be sent again.

use packet::time::Duration;

use super::StrategyContext;
use crate::face_id::FaceId;
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
    /// It was sent only just now.
    Suppress,
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

    /// Sends the Interest to `face` unless that was done only just now; false if it was.
    pub(super) fn offer(&self, context: &mut StrategyContext<'_>, face: FaceId) -> bool {
        let now = context.now();
        let interval = match context.out_record(face) {
            Some(record) if record.expires > now => {
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
