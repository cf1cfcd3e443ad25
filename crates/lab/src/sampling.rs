//! When a forwarder is asked for its counters: on average once in a period, and never in step with anything.

use std::time::Duration;

/// The golden part of a period. Its multiples come closest to being spread evenly over a period, whatever the
/// number of them.
const GOLDEN: f64 = 0.618_033_988_749_895;

/// The moment of a sample, from the start: one in each period, at another place in each. A workload that does
/// something every period, half period or second period is so seen at all of its phases alike. Two samples
/// are 0.62 or 1.62 periods apart.
#[must_use]
pub(crate) fn moment(number: u32, every: Duration) -> Duration {
    every.mul_f64(f64::from(number) + (f64::from(number) * GOLDEN).fract())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_workload_in_step_with_the_period_is_seen_at_all_of_its_phases() {
        let every = Duration::from_millis(500);
        for (period, busy) in [(0.5, 0.1), (0.25, 0.1), (1.0, 0.3), (0.125, 0.02)] {
            let seen = (0..200).filter(|number| moment(*number, every).as_secs_f64() % period < busy).count();
            let part = seen as f64 / 200.0;
            assert!((part - busy / period).abs() < 0.02, "{busy} of {period} s: {part}");
        }
    }

    #[test]
    fn there_is_one_sample_in_each_period() {
        let every = Duration::from_millis(500);
        let moments: Vec<f64> = (0..1000).map(|number| moment(number, every).as_secs_f64()).collect();
        assert!(moments.iter().zip(0..).all(|(at, number)| (at / 0.5).floor() == f64::from(number)));
        assert!(moments.windows(2).all(|pair| (0.3..0.81).contains(&(pair[1] - pair[0]))));
    }
}
