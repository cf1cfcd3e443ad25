//! The table of drop reasons gives words, explanations and counters that agree.

cairn_packet::drop_reasons! {
    /// Why a test packet was dropped.
    pub enum Reason {
        /// The first.
        First = "first",
        /// The second,
        /// in two lines.
        Second = "second",
    }

    /// Counters.
    pub struct Counters;
}

#[test]
fn each_reason_has_a_counter_of_its_own() {
    let mut drops = Counters::default();
    for (times, &reason) in Reason::ALL.iter().enumerate() {
        drops.add(reason, times as u64);
        assert_eq!(drops.count(reason), reason);
    }
    let counted: Vec<_> = drops.iter().collect();
    assert_eq!(counted, [(Reason::First, 1), (Reason::Second, 2)]);
    assert_eq!(drops.total(), 3);
}

#[test]
fn an_explanation_of_several_lines_is_kept_whole() {
    assert_eq!(Reason::Second.explanation().trim(), "The second,\n in two lines.");
    assert_eq!(Reason::Second.to_string(), "second");
}
