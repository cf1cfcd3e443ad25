//! Latencies: kept in buckets of 1.6 %, so that any number of them takes the same few kilobytes.

use packet::time::Duration;
use serde_json::{Value, json};

use super::units::show_duration;

/// Buckets of each power of two.
const STEPS: u64 = 64;

/// Counts durations from nanoseconds to hours.
#[derive(Clone, Debug)]
pub(crate) struct Histogram {
    buckets: Vec<u64>,
    count: u64,
    sum_nanos: u128,
    min: u64,
    max: u64,
}

impl Histogram {
    pub(crate) fn new() -> Self {
        Histogram { buckets: Vec::new(), count: 0, sum_nanos: 0, min: u64::MAX, max: 0 }
    }

    pub(crate) fn add(&mut self, duration: Duration) {
        let nanos = duration.as_nanos();
        let bucket = bucket_of(nanos);
        if self.buckets.len() <= bucket {
            self.buckets.resize(bucket + 1, 0);
        }
        if let Some(count) = self.buckets.get_mut(bucket) {
            *count += 1;
        }
        self.count += 1;
        self.sum_nanos += u128::from(nanos);
        self.min = self.min.min(nanos);
        self.max = self.max.max(nanos);
    }

    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    pub(crate) fn mean(&self) -> Duration {
        let mean = self.sum_nanos.checked_div(self.count.into()).unwrap_or_default();
        Duration::from_nanos(u64::try_from(mean).unwrap_or(u64::MAX))
    }

    /// The duration that the given share of all does not exceed ([`packet::quantile`]); 0.5 for the median.
    pub(crate) fn quantile(&self, share: f64) -> Duration {
        let count = usize::try_from(self.count).unwrap_or(usize::MAX);
        let nanos = packet::quantile(count, share, |place| self.nanos_at(place as u64) as f64);
        Duration::from_nanos(nanos.map_or(0, |nanos| nanos as u64))
    }

    /// The duration in a place among all, the shortest being in place 0.
    fn nanos_at(&self, place: u64) -> u64 {
        let mut seen = 0;
        let bucket = self.buckets.iter().position(|count| {
            seen += count;
            seen > place
        });
        bucket.map_or(self.max, |bucket| upper_end(bucket).clamp(self.min, self.max))
    }

    /// One line for people.
    pub(crate) fn line(&self) -> String {
        if self.count == 0 {
            return "no answers, no round trips".into();
        }
        let quantile = |share| show_duration(self.quantile(share));
        format!(
            "round trip min {}, p50 {}, mean {}, p99 {}, max {}",
            show_duration(Duration::from_nanos(self.min)),
            quantile(0.5),
            show_duration(self.mean()),
            quantile(0.99),
            show_duration(Duration::from_nanos(self.max))
        )
    }

    /// The same for programs, in milliseconds.
    pub(crate) fn json(&self) -> Value {
        if self.count == 0 {
            return Value::Null;
        }
        let ms = |duration: Duration| duration.as_nanos() as f64 / 1e6;
        json!({
            "min": ms(Duration::from_nanos(self.min)),
            "p50": ms(self.quantile(0.5)),
            "mean": ms(self.mean()),
            "p90": ms(self.quantile(0.9)),
            "p99": ms(self.quantile(0.99)),
            "max": ms(Duration::from_nanos(self.max)),
        })
    }

    /// Non-empty ranges of a power of two each, with how many fell into them, as bars for people.
    pub(crate) fn bars(&self) -> Vec<String> {
        let mut powers: Vec<u64> = Vec::new();
        for (bucket, count) in self.buckets.iter().enumerate() {
            let power = 64 - upper_end(bucket).leading_zeros() as usize;
            if powers.len() <= power {
                powers.resize(power + 1, 0);
            }
            if let Some(sum) = powers.get_mut(power) {
                *sum += count;
            }
        }
        let most = powers.iter().copied().max().unwrap_or(0).max(1);
        let first = powers.iter().position(|count| *count > 0).unwrap_or(0);
        let bar = |(power, count): (usize, &u64)| {
            // Exact enough for a picture.
            let width = (*count as f64 / most as f64 * 50.0).ceil() as usize;
            let end = Duration::from_nanos(1u64.checked_shl(power as u32).unwrap_or(u64::MAX));
            format!("{:>12}  {:>9}  {}", format!("< {}", show_duration(end)), count, "#".repeat(width))
        };
        powers.iter().enumerate().skip(first).map(bar).collect()
    }
}

fn bucket_of(nanos: u64) -> usize {
    if nanos < STEPS {
        return nanos as usize;
    }
    // The six bits behind the leading one say which step of its power it is.
    let power = u64::from(63 - nanos.leading_zeros());
    let step = (nanos >> (power - 6)) - STEPS;
    ((power - 5) * STEPS + step) as usize
}

fn upper_end(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    if bucket < STEPS {
        return bucket;
    }
    let (power, step) = (bucket / STEPS + 5, bucket % STEPS);
    let width = 1u64 << (power - 6);
    (STEPS + step) * width + (width - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_duration_falls_into_a_bucket_that_ends_at_most_a_sixtieth_above() {
        let mut nanos = 1u64;
        while nanos < u64::MAX / 3 {
            for value in [nanos - 1, nanos, nanos + 1] {
                let end = upper_end(bucket_of(value));
                assert!(end >= value && end - value <= value / 60, "{value} {end}");
            }
            nanos = nanos * 3 / 2 + 1;
        }
    }

    #[test]
    fn quantiles_are_those_of_the_sorted_list() {
        let mut histogram = Histogram::new();
        (1..=1000).for_each(|ms| histogram.add(Duration::from_millis(ms)));
        for (share, expected) in [(0.5, 500.0), (0.99, 990.0), (1.0, 1000.0), (0.0, 1.0)] {
            let found = histogram.quantile(share).as_nanos() as f64 / 1e6;
            assert!((found / expected - 1.0).abs() < 0.02, "{share}: {found}");
        }
        assert_eq!(histogram.mean(), Duration::from_micros(500_500));
        assert!(Histogram::new().line().contains("no answers"));
    }
}
