//! Load balance: whoever has the least to do.

use packet::NackReason;

use crate::node::{Node, Sent};

fn node() -> Node {
    let mut node = Node::new("load-balance", 4);
    node.route("/a", &[(2, 10), (3, 20), (4, 30)]);
    node
}

/// How many Interests each of the faces 2, 3 and 4 gets while each answers after its own number of
/// milliseconds.
fn shares(node: &mut Node, interests: u64, answers_after: [u64; 3]) -> [usize; 3] {
    let mut outstanding: Vec<(u64, u32, String)> = Vec::new();
    let mut counts = [0; 3];
    for tick in 0..interests {
        outstanding.sort();
        while outstanding.first().is_some_and(|first| first.0 <= tick) {
            let (_, face, name) = outstanding.remove(0);
            assert_eq!(node.data(face, &name), [Sent::Data(1)]);
        }
        let name = format!("/a/{tick}");
        let sent = node.interest(1, &name);
        let [Sent::Interest(face)] = sent[..] else { panic!("{sent:?}") };
        counts[face as usize - 2] += 1;
        outstanding.push((tick + answers_after[face as usize - 2], face, name));
        node.wait_ms(1);
    }
    counts
}

#[test]
fn an_idle_network_is_used_like_best_route() {
    assert_eq!(shares(&mut node(), 100, [1, 1, 1]), [100, 0, 0]);
}

#[test]
fn equally_fast_next_hops_get_equal_shares() {
    let counts = shares(&mut node(), 6000, [30, 30, 30]);
    assert!(counts.iter().all(|count| (1900..2100).contains(count)), "{counts:?}");
}

#[test]
fn faster_next_hops_get_more_as_they_answer_more() {
    // With equal numbers outstanding, shares are as the rates of answers: 1/10, 1/20, 1/40.
    let counts = shares(&mut node(), 7000, [10, 20, 40]);
    for (count, expected) in counts.into_iter().zip([4000, 2000, 1000]) {
        assert!(f64::from(count as u32) / f64::from(expected) < 1.3, "{counts:?}");
        assert!(f64::from(count as u32) / f64::from(expected) > 0.7, "{counts:?}");
    }
}

#[test]
fn what_is_never_answered_does_not_count_for_ever() {
    let mut node = node();
    // A hundred for each, but 2 loses its own.
    let names: Vec<String> = (0..300).map(|number| format!("/a/lost/{number}")).collect();
    let sent: Vec<Sent> = names.iter().flat_map(|name| node.interest(1, name)).collect();
    for (name, sent) in names.iter().zip(sent) {
        if let Sent::Interest(face @ (3 | 4)) = sent {
            node.data(face, name);
        }
    }
    assert_eq!(node.pending(), 100);
    assert_eq!(shares(&mut node, 20, [1, 1, 1])[0], 0);
    node.wait_ms(30_000);
    let counts = shares(&mut node, 3000, [30, 30, 30]);
    assert!(counts.iter().all(|count| (900..1100).contains(count)), "{counts:?}");
}

#[test]
fn a_nack_is_an_answer_too() {
    let mut node = node();
    assert_eq!(node.interest(1, "/a/1"), [Sent::Interest(2)]);
    assert_eq!(node.nack(2, NackReason::Congestion), [Sent::Nack(1, NackReason::Congestion)]);
    assert_eq!(node.interest(1, "/a/2"), [Sent::Interest(2)]);
    assert_eq!(node.interest(1, "/a/3"), [Sent::Interest(3)]);
}
