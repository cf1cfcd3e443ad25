//! Pareto's distribution.

use super::Random;

/// Pareto's distribution between two bounds: the smaller the shape, the more there is in the largest values.
/// `libm` computes the same on every machine.
#[derive(Clone, Copy, Debug)]
pub struct BoundedPareto {
    shape: f64,
    least: f64,
    most: f64,
    /// The part of the unbounded distribution that is not above the upper bound.
    mass: f64,
}

impl BoundedPareto {
    /// For a shape above 0, a smallest value above 0 and a largest one that is no smaller.
    pub fn new(shape: f64, least: f64, most: f64) -> Self {
        BoundedPareto { shape, least, most, mass: 1.0 - libm::pow(least / most, shape) }
    }

    /// The next number.
    pub fn draw(&self, random: &mut Random) -> f64 {
        let above = 1.0 - random.unit() * self.mass;
        (self.least * libm::pow(above, -1.0 / self.shape)).min(self.most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_has_the_mean_and_the_tail_that_its_formula_gives() {
        let (shape, least, most) = (1.2f64, 1_000f64, 1_000_000f64);
        let law = BoundedPareto::new(shape, least, most);
        let mut random = Random::from_seed(5);
        let drawn: Vec<f64> = (0..200_000).map(|_| law.draw(&mut random)).collect();
        assert!(drawn.iter().all(|value| (least..=most).contains(value)));
        let mass = 1.0 - (least / most).powf(shape);
        let mean = least.powf(shape) / mass * shape / (shape - 1.0)
            * (least.powf(1.0 - shape) - most.powf(1.0 - shape));
        let found = drawn.iter().sum::<f64>() / drawn.len() as f64;
        assert!((found / mean - 1.0).abs() < 0.04, "{found} for {mean}");
        let above = drawn.iter().filter(|value| **value > 10_000.0).count() as f64 / drawn.len() as f64;
        let tail = (0.1f64.powf(shape) - (least / most).powf(shape)) / mass;
        assert!((above / tail - 1.0).abs() < 0.03, "{above} for {tail}");
    }
}
