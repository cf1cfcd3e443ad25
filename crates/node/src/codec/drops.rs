//! What a codec and the link service in it have dropped, as one list.

/// The lists as one. Both may drop for the same reason, which then stands in it once.
pub(super) fn joined(lists: &[Vec<(&'static str, u64)>]) -> Vec<(&'static str, u64)> {
    let mut all: Vec<(&'static str, u64)> = Vec::new();
    for &(word, count) in lists.iter().flatten() {
        match all.iter_mut().find(|(known, _)| *known == word) {
            Some((_, sum)) => *sum += count,
            None => all.push((word, count)),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_of_both_is_counted_once() {
        let lists = [vec![("malformed-packet", 2)], vec![("over-mtu", 1), ("malformed-packet", 3)]];
        assert_eq!(joined(&lists), [("malformed-packet", 5), ("over-mtu", 1)]);
    }
}
