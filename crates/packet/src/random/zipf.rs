//! Popularity after Zipf and Mandelbrot.

use std::hint;

use thiserror::Error;

use super::Random;

/// A catalogue of objects of which few are popular: object `k`, counted from 0, is asked for with a
/// probability in proportion to `1 / (k + 1 + shift)^exponent`. A shift of zero is Zipf's law.
///
/// Drawing takes two looks at a table (Walker's alias method, with Vose's construction), however large the
/// catalogue is. Share one among all consumers.
///
/// ```
/// use cairn_packet::random::{Random, Zipf};
///
/// let catalogue = Zipf::new(1_000, 0.8, 0.0)?;
/// let mut random = Random::from_seed(1);
/// let most_popular = (0..10_000).filter(|_| catalogue.draw(&mut random) == 0).count();
/// assert!((most_popular as f64 / 10_000.0 - catalogue.probability(0)).abs() < 0.01);
/// # Ok::<(), cairn_packet::random::ZipfError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Zipf {
    columns: Vec<Column>,
    weight_sum: f64,
    exponent: f64,
    shift: f64,
}

/// A place in the table: an object, and another that has the rest of the column.
#[derive(Clone, Copy, Debug)]
struct Column {
    /// In units of 2^-32: below, it is the object of the column's own number.
    threshold: u32,
    alias: u32,
}

/// Why there is no such catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
pub enum ZipfError {
    /// None, or too many.
    #[error("the number of objects is {0}, but must be 1 to 10^9")]
    Objects(usize),
    /// Negative, or not below a million.
    #[error("the exponent is {0}, but must be 0 or more")]
    Exponent(f64),
    /// Negative, or not below a million.
    #[error("the shift is {0}, but must be 0 or more")]
    Shift(f64),
}

impl Zipf {
    /// A catalogue of so many objects.
    ///
    /// # Errors
    /// No objects or more than a thousand million, or an exponent or shift that is negative or not finite.
    pub fn new(objects: usize, exponent: f64, shift: f64) -> Result<Self, ZipfError> {
        if !(1..=1_000_000_000).contains(&objects) {
            return Err(ZipfError::Objects(objects));
        }
        for (value, error) in [(exponent, ZipfError::Exponent(exponent)), (shift, ZipfError::Shift(shift))] {
            if !(0.0..1e6).contains(&value) {
                return Err(error);
            }
        }
        let weights: Vec<f64> = (0..objects).map(|object| weight(object, exponent, shift)).collect();
        // From small to large, so that small ones are not lost in the sum.
        let weight_sum: f64 = weights.iter().rev().sum();
        Ok(Zipf { columns: alias_table(weights, weight_sum), weight_sum, exponent, shift })
    }

    /// Objects in the catalogue.
    pub fn objects(&self) -> usize {
        self.columns.len()
    }

    /// How likely an object is asked for.
    pub fn probability(&self, object: usize) -> f64 {
        if object < self.columns.len() {
            weight(object, self.exponent, self.shift) / self.weight_sum
        } else {
            0.0
        }
    }

    /// Draws an object.
    #[inline]
    pub fn draw(&self, random: &mut Random) -> u32 {
        self.object(random.next_u64())
    }

    #[inline(always)]
    fn object(&self, bits: u64) -> u32 {
        // The high bits choose the column, the low ones the place in it.
        let column = (((bits >> 32) * self.columns.len() as u64) >> 32) as u32;
        let Some(&Column { threshold, alias }) = self.columns.get(column as usize) else { return column };
        // Which of the two cannot be foreseen.
        hint::select_unpredictable(bits as u32 >= threshold, alias, column)
    }

    /// Draws many objects: what is fetched of the table for one need not wait for another.
    pub fn draw_all(&self, random: &mut Random, out: &mut [u32]) {
        let mut bits = [0; 128];
        for out in out.chunks_mut(bits.len()) {
            bits[..out.len()].fill_with(|| random.next_u64());
            for (place, &bits) in out.iter_mut().zip(&bits) {
                *place = self.object(bits);
            }
        }
    }
}

/// `libm` and not the platform's functions, which differ in the last bit from one system to another.
fn weight(object: usize, exponent: f64, shift: f64) -> f64 {
    libm::pow(object as f64 + 1.0 + shift, -exponent)
}

fn alias_table(mut weights: Vec<f64>, weight_sum: f64) -> Vec<Column> {
    let scale = weights.len() as f64 / weight_sum;
    let (mut small, mut large) = (Vec::new(), Vec::new());
    for (object, weight) in weights.iter_mut().enumerate() {
        *weight *= scale;
        if *weight < 1.0 { small.push(object) } else { large.push(object) }
    }
    let full = |object: usize| Column { threshold: u32::MAX, alias: object as u32 };
    let mut columns: Vec<Column> = (0..weights.len()).map(full).collect();
    while let (Some(&poor), Some(&rich)) = (small.last(), large.last()) {
        small.pop();
        columns[poor] = Column { threshold: (weights[poor] * 4_294_967_296.0) as u32, alias: rich as u32 };
        weights[rich] -= 1.0 - weights[poor];
        if weights[rich] < 1.0 {
            large.pop();
            small.push(rich);
        }
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_drawn_as_often_as_their_probability_says() {
        for (objects, exponent, shift) in [(1, 1.0, 0.0), (7, 0.0, 0.0), (50, 0.8, 0.0), (200, 1.2, 5.0)] {
            let zipf = Zipf::new(objects, exponent, shift).unwrap();
            let sum: f64 = (0..objects).map(|object| zipf.probability(object)).sum();
            assert!((sum - 1.0).abs() < 1e-9 && zipf.probability(objects) == 0.0);
            let mut random = Random::from_seed(4);
            let draws = 400_000;
            let mut counts = vec![0u32; objects];
            for _ in 0..draws {
                counts[zipf.draw(&mut random) as usize] += 1;
            }
            // Chi squared: its mean is the degrees of freedom, its deviation the root of twice that.
            let chi: f64 = (0..objects)
                .map(|object| {
                    let expected = zipf.probability(object) * f64::from(draws);
                    (f64::from(counts[object]) - expected).powi(2) / expected
                })
                .sum();
            let freedom = objects as f64 - 1.0;
            assert!(chi <= freedom + 5.0 * (2.0 * freedom).sqrt(), "{objects} {exponent}: {chi}");
        }
    }

    #[test]
    fn nonsense_is_refused() {
        for (objects, exponent, shift) in [(0, 1.0, 0.0), (5, -1.0, 0.0), (5, f64::NAN, 0.0), (5, 1.0, -2.0)]
        {
            assert!(Zipf::new(objects, exponent, shift).is_err());
        }
    }
}
