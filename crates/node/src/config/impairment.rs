//! A bad link on purpose, as the configuration says it.

use link::{Faults, ImpairmentConfig};
use packet::time::Duration;
use serde::{Deserialize, Serialize};

use super::ConfigError;

/// Which frames of a face are impaired.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ImpairedDirection {
    /// Those that come and those that leave, each direction for itself: the peer needs no impairment of its
    /// own.
    #[default]
    Both,
    /// Those that come.
    In,
    /// Those that leave.
    Out,
}

/// How bad the link of a face is made, for tests and measurements where the kernel has no netem. What is left
/// out is perfect.
///
/// It acts on the frames of NDNLPv2, so what it drops is one datagram, or on a connection one packet.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct ImpairmentSection {
    /// Which frames.
    pub direction: ImpairedDirection,
    /// Microseconds that every frame is under way.
    pub delay_micros: u64,
    /// Microseconds more at most, drawn uniformly for each frame. Jitter alone never reorders.
    pub jitter_micros: u64,
    /// The part of frames that is lost, from 0 to 1.
    pub loss: f64,
    /// The part of frames that is held back, so that later ones overtake it.
    pub reorder: f64,
    /// Microseconds that such a frame is held back.
    pub reorder_delay_micros: u64,
    /// The part of frames that arrives twice.
    pub duplicate: f64,
    /// The part of frames of which one bit arrives flipped.
    pub corrupt: f64,
    /// Bits a second; left out, any number.
    pub rate_bits_per_second: Option<u64>,
    /// Bytes that may wait for the rate; what comes on top is dropped. Left out, any number.
    pub queue_bytes: Option<usize>,
    /// Where the randomness comes from: the same seed does the same to the same frames.
    pub seed: u64,
}

impl ImpairmentSection {
    /// The impairment of one direction.
    ///
    /// # Errors
    /// A part that is not between 0 and 1.
    pub(crate) fn config(&self) -> Result<ImpairmentConfig, ConfigError> {
        let parts = [
            ("loss", self.loss),
            ("reorder", self.reorder),
            ("duplicate", self.duplicate),
            ("corrupt", self.corrupt),
        ];
        if let Some((key, value)) = parts.iter().find(|(_, value)| !(0.0..=1.0).contains(value)) {
            return Err(ConfigError::new(format!(
                "impairment.{key} lies between 0 and 1, and is not {value}"
            )));
        }
        // A rate of nothing, or no room for a frame that waits for it, is a link that is cut.
        for (key, value) in [
            ("rate_bits_per_second", self.rate_bits_per_second),
            ("queue_bytes", self.rate_bits_per_second.and(self.queue_bytes.map(|bytes| bytes as u64))),
        ] {
            if value == Some(0) {
                return Err(ConfigError::new(format!(
                    "impairment.{key} is 0: no frame would ever pass. Leave it out for any number, or give \
                     loss = 1.0 for a link that is cut"
                )));
            }
        }
        Ok(ImpairmentConfig {
            rate_bits_per_second: self.rate_bits_per_second,
            queue_limit_bytes: self.queue_bytes.unwrap_or(usize::MAX),
            delay: Duration::from_micros(self.delay_micros),
            faults: Faults {
                loss: self.loss,
                jitter: Duration::from_micros(self.jitter_micros),
                reorder: self.reorder,
                reorder_delay: Duration::from_micros(self.reorder_delay_micros),
                duplicate: self.duplicate,
                corrupt: self.corrupt,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_or_a_queue_of_nothing_is_refused_by_its_name() {
        let of = |rate: Option<u64>, queue: Option<usize>| {
            let given =
                ImpairmentSection { rate_bits_per_second: rate, queue_bytes: queue, ..Default::default() };
            given.config().map_err(|error| error.problem)
        };
        assert!(of(Some(0), None).unwrap_err().starts_with("impairment.rate_bits_per_second is 0"));
        assert!(of(Some(1), Some(0)).unwrap_err().starts_with("impairment.queue_bytes is 0"));
        // Without a rate nothing waits.
        assert!(of(None, Some(0)).is_ok());
    }

    #[test]
    fn a_part_of_more_than_everything_is_refused_by_its_name() {
        let of = |loss, duplicate| ImpairmentSection { loss, duplicate, ..Default::default() }.config();
        assert_eq!(of(1.0, 0.0).map(|config| config.faults.loss), Ok(1.0));
        assert!(of(0.5, 1.5).unwrap_err().problem.starts_with("impairment.duplicate"));
        assert!(of(f64::NAN, 0.0).unwrap_err().problem.starts_with("impairment.loss"));
    }
}
