//! The log-normal distribution.

use super::{Random, StandardNormal};

/// A distribution whose logarithm is normal. `libm` computes the same on every machine.
#[derive(Clone, Debug)]
pub struct LogNormal {
    median: f64,
    deviation: f64,
    normal: StandardNormal,
}

impl LogNormal {
    /// With this median and this standard deviation of the natural logarithm.
    pub fn new(median: f64, deviation: f64) -> Self {
        LogNormal { median, deviation, normal: StandardNormal::default() }
    }

    /// The next number.
    pub fn draw(&mut self, random: &mut Random) -> f64 {
        self.median * libm::exp(self.deviation * self.normal.draw(random))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_has_its_median_and_the_deviation_of_its_logarithm() {
        let (mut random, mut law) = (Random::from_seed(5), LogNormal::new(50_000.0, 0.5));
        let logs: Vec<f64> = (0..100_000).map(|_| law.draw(&mut random).ln()).collect();
        let mean = logs.iter().sum::<f64>() / logs.len() as f64;
        let variance = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / logs.len() as f64;
        assert!((mean - 50_000f64.ln()).abs() < 0.01, "{mean}");
        assert!((variance.sqrt() - 0.5).abs() < 0.01, "{variance}");
    }
}
