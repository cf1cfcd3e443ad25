//! Random: each next hop as likely as the others.

use crate::node::{Node, Sent};

#[test]
fn all_next_hops_are_equally_likely() {
    let mut node = Node::new("random", 6);
    // Costs do not matter; 6 is where the Interests come from.
    node.route("/a", &[(2, 0), (3, 10), (4, 20), (5, 1000), (6, 0)]);
    let mut counts = [0u32; 7];
    const INTERESTS: u32 = 8000;
    for number in 0..INTERESTS {
        match node.interest(6, &format!("/a/{number}"))[..] {
            [Sent::Interest(face)] => counts[face as usize] += 1,
            ref sent => panic!("{sent:?}"),
        }
    }
    // Chi-square with three degrees of freedom: above 16.27 once in a thousand seeds, and the seed is fixed.
    let expected = f64::from(INTERESTS) / 4.0;
    let chi_square: f64 =
        counts[2..6].iter().map(|&count| (f64::from(count) - expected).powi(2) / expected).sum();
    assert!(chi_square < 16.27, "{counts:?}");
    assert_eq!(counts[6], 0);
}

#[test]
fn retransmissions_are_not_suppressed() {
    let mut node = Node::new("random", 3);
    node.route("/a", &[(2, 0), (3, 0)]);
    let sent: usize = (0..5).map(|_| node.interest(1, "/a/1").len()).sum();
    assert_eq!(sent, 5);
}
