//! Student's t, by which few repeats tell where their mean lies.

/// Quantiles of Student's t for two-sided confidence of 90 % and 95 %, by degrees of freedom from 1. Behind
/// the end of the table the next smaller entry is used, which is on the safe side.
const QUANTILES: &[(f64, f64)] = &[
    (6.314, 12.706),
    (2.920, 4.303),
    (2.353, 3.182),
    (2.132, 2.776),
    (2.015, 2.571),
    (1.943, 2.447),
    (1.895, 2.365),
    (1.860, 2.306),
    (1.833, 2.262),
    (1.812, 2.228),
    (1.796, 2.201),
    (1.782, 2.179),
    (1.771, 2.160),
    (1.761, 2.145),
    (1.753, 2.131),
    (1.746, 2.120),
    (1.740, 2.110),
    (1.734, 2.101),
    (1.729, 2.093),
    (1.725, 2.086),
    (1.721, 2.080),
    (1.717, 2.074),
    (1.714, 2.069),
    (1.711, 2.064),
    (1.708, 2.060),
    (1.706, 2.056),
    (1.703, 2.052),
    (1.701, 2.048),
    (1.699, 2.045),
    (1.697, 2.042),
];

/// The quantiles for 90 % and 95 % with so many degrees of freedom; nothing with none.
#[must_use]
pub fn student_t(degrees: u64) -> Option<(f64, f64)> {
    let index = usize::try_from(degrees.checked_sub(1)?).ok()?;
    QUANTILES.get(index).or(QUANTILES.last()).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_fall_with_the_degrees_of_freedom() {
        let list: Vec<(f64, f64)> = (1..60).filter_map(student_t).collect();
        assert!(list.windows(2).all(|pair| pair[1].0 <= pair[0].0 && pair[1].1 <= pair[0].1));
    }
}
