//! The order people expect of names: `n2` before `n10`.

use std::cmp::Ordering;

/// Compares two names, numbers in them by value.
#[must_use]
pub fn natural(a: &str, b: &str) -> Ordering {
    let (mut a, mut b) = (a, b);
    loop {
        match (a.chars().next(), b.chars().next()) {
            (None, None) => return Ordering::Equal,
            (None, Some(_)) => return Ordering::Less,
            (Some(_), None) => return Ordering::Greater,
            (Some(x), Some(y)) if x.is_ascii_digit() && y.is_ascii_digit() => {
                let (left, rest_a) = number(a);
                let (right, rest_b) = number(b);
                let order = left.len().cmp(&right.len()).then(left.cmp(right));
                if order != Ordering::Equal {
                    return order;
                }
                (a, b) = (rest_a, rest_b);
            }
            (Some(x), Some(y)) if x == y => {
                a = a.get(x.len_utf8()..).unwrap_or("");
                b = b.get(y.len_utf8()..).unwrap_or("");
            }
            (Some(x), Some(y)) => return x.cmp(&y),
        }
    }
}

/// The digits a text starts with, without leading zeros, and the rest.
fn number(text: &str) -> (&str, &str) {
    let end = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    (digits.trim_start_matches('0'), rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_count_by_value() {
        let mut names = vec!["n10", "n2", "n1", "a", "n2-b", "n02"];
        names.sort_by(|a, b| natural(a, b));
        assert_eq!(names, ["a", "n1", "n2", "n02", "n2-b", "n10"]);
    }
}
