//! Powers that the placement of copies asks for again and again.

/// How far a copy has come to the power of how far it goes. ProbCache asks for it at every cache: more than
/// all the rest of its work if it were computed there.
#[derive(Debug)]
pub(super) struct Powers(Vec<f64>);

impl Powers {
    /// For paths with up to so many caches.
    pub(super) fn up_to(caches: usize) -> Powers {
        let row = |caches: usize| {
            let all = caches as f64;
            (1..=caches).map(move |passed| libm::pow(passed as f64 / all, all))
        };
        Powers((1..=caches).flat_map(row).collect())
    }

    /// `(1 / caches)^caches`, `(2 / caches)^caches` and so on up to 1.
    #[inline(always)]
    pub(super) fn of(&self, caches: usize) -> &[f64] {
        let begin = caches * caches.saturating_sub(1) / 2;
        self.0.get(begin..begin + caches).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::Powers;

    #[test]
    fn powers_of_a_path_are_those_that_are_computed() {
        let powers = Powers::up_to(20);
        for caches in 1..=20 {
            let computed = (1..=caches).map(|passed| libm::pow(passed as f64 / caches as f64, caches as f64));
            assert_eq!(powers.of(caches), Vec::from_iter(computed));
        }
        assert!(powers.of(0).is_empty());
    }
}
