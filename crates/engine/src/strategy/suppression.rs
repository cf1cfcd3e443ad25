//! How soon an Interest may be sent again.

use packet::time::Duration;

use super::parameters::{ParameterError, Parameters};
use super::{Situation, Trigger};
use crate::face::FaceId;

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
        let multiplier = parameters.number("retx-suppression-multiplier", 2.0)?;
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

    /// Decides for the pending Interest as a whole; notes the time and the next interval if it may be sent.
    pub(super) fn decide(&self, situation: &mut Situation<'_>) -> Verdict {
        let now = situation.now();
        let pending = situation.has_pending_out_records();
        let again = situation.trigger() == Trigger::Again;
        let notes = situation.notes();
        if !pending || !again || notes.span == Duration::ZERO {
            notes.instant = now;
            notes.span = self.initial;
            return if pending { Verdict::Forward } else { Verdict::New };
        }
        if now < notes.instant + notes.span {
            return Verdict::Suppress;
        }
        notes.instant = now;
        notes.span = self.longer(notes.span);
        Verdict::Forward
    }

    /// Decides for one face the Interest may be sent to; if it may, gives the interval to note for it.
    pub(super) fn decide_upstream(
        &self,
        situation: &Situation<'_>,
        face: FaceId,
    ) -> Result<Duration, Verdict> {
        match situation.out_record(face) {
            Some(record) if record.expires > situation.now() => {
                if situation.now() < record.sent_at + record.suppress_for {
                    Err(Verdict::Suppress)
                } else if record.suppress_for == Duration::ZERO {
                    Ok(self.initial)
                } else {
                    Ok(self.longer(record.suppress_for))
                }
            }
            _ => Ok(self.initial),
        }
    }

    fn longer(&self, span: Duration) -> Duration {
        Duration::from_secs_f64(span.as_secs_f64() * self.multiplier).min(self.max)
    }
}
