//! The gamma distribution.

use super::{Random, StandardNormal};

/// The gamma distribution, after Marsaglia and Tsang, "A simple method for generating gamma variables"
/// (2000). `libm` computes the same on every machine.
#[derive(Clone, Debug)]
pub struct Gamma {
    d: f64,
    c: f64,
    scale: f64,
    normal: StandardNormal,
}

impl Gamma {
    /// For a shape of at least 1; the mean is shape times scale.
    pub fn new(shape: f64, scale: f64) -> Self {
        let d = shape - 1.0 / 3.0;
        Gamma { d, c: 1.0 / (9.0 * d).sqrt(), scale, normal: StandardNormal::default() }
    }

    /// The next number.
    pub fn draw(&mut self, random: &mut Random) -> f64 {
        loop {
            let x = self.normal.draw(random);
            let v = 1.0 + self.c * x;
            if v <= 0.0 {
                continue;
            }
            let v = v * v * v;
            let u = random.unit();
            let (x2, d) = (x * x, self.d);
            if u < 1.0 - 0.0331 * x2 * x2 || libm::log(u) < 0.5 * x2 + d * (1.0 - v + libm::log(v)) {
                return d * v * self.scale;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_is_shape_times_scale() {
        let mut random = Random::from_seed(1);
        let mut gamma = Gamma::new(1.8, 5500.0);
        let mean = (0..200_000).map(|_| gamma.draw(&mut random)).sum::<f64>() / 200_000.0;
        assert!((mean - 9900.0).abs() < 60.0, "{mean}");
    }
}
