//! The normal distribution.

use super::Random;

/// The standard normal distribution (mean 0, standard deviation 1), by Marsaglia's polar method: numbers come
/// in pairs, and the second of a pair is kept. `libm` computes the same on every machine.
#[derive(Clone, Debug, Default)]
pub struct StandardNormal {
    spare: Option<f64>,
}

impl StandardNormal {
    /// The next number.
    pub fn draw(&mut self, random: &mut Random) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        loop {
            let (x, y) = (2.0 * random.unit() - 1.0, 2.0 * random.unit() - 1.0);
            let s = x * x + y * y;
            if s > 0.0 && s < 1.0 {
                let factor = (-2.0 * libm::log(s) / s).sqrt();
                self.spare = Some(y * factor);
                return x * factor;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normal_numbers_have_mean_zero_deviation_one_and_two_thirds_of_them_within_it() {
        let (mut random, mut normal) = (Random::from_seed(2), StandardNormal::default());
        let drawn: Vec<f64> = (0..100_000).map(|_| normal.draw(&mut random)).collect();
        let mean = |values: &mut dyn Iterator<Item = f64>| values.sum::<f64>() / drawn.len() as f64;
        assert!(mean(&mut drawn.iter().copied()).abs() < 0.02);
        assert!((mean(&mut drawn.iter().map(|x| x * x)) - 1.0).abs() < 0.02);
        assert!((mean(&mut drawn.iter().map(|x| f64::from(x.abs() < 1.0))) - 0.6827).abs() < 0.01);
    }
}
