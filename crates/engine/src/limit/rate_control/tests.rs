//! Rates against what the formulas give by hand.

use super::*;

const FLOW: NameHash = NameHash(1);

/// A thousand Data of 1,250 bytes with all headers in a second.
fn control(method: RateMethod, max_held: u32) -> RateControl {
    let config = RateControlConfig { method, bits_per_second: 10_000_000, overhead_bytes: 2, max_held };
    RateControl::new(config, Instant::ZERO)
}

const DATA_BYTES: usize = 1250 - 16 - 2;

fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// A Data that took 100 ms to come.
fn data(control: &mut RateControl, now: Instant) -> f64 {
    control.handle_data(now, DATA_BYTES, Some(millis(100))).per_second()
}

#[test]
fn hobhis_steers_the_queue_to_fifty_data() {
    let mut control = control(RateMethod::Hobhis, 10);
    control.handle_interest(Instant::ZERO, FLOW);
    // One Data waits for the link: 1000 + 0.1 * 49 / (0.1 + 0.001).
    assert!((data(&mut control, Instant::ZERO) - 1048.515).abs() < 0.001);
    let rates: Vec<f64> = (0..99).map(|_| data(&mut control, Instant::ZERO)).collect();
    assert!((rates[48] - 1000.0).abs() < 0.001, "fifty wait: {}", rates[48]);
    // A hundred wait: 1000 - 0.1 * 50 / (0.1 + 0.1).
    assert!((rates[98] - 975.0).abs() < 0.001, "{}", rates[98]);
    assert!(rates.is_sorted_by(|a, b| a > b));
}

#[test]
fn hobhis_divides_by_the_flows_of_the_last_second() {
    let mut control = control(RateMethod::Hobhis, 100);
    for flow in 0..5 {
        control.handle_interest(Instant::from_millis(flow * 10), NameHash(flow));
    }
    let five = data(&mut control, Instant::from_millis(50));
    assert!((five * 5.0 - 1048.515).abs() < 0.01, "{five}");
    for step in 1..40 {
        control.handle_interest(Instant::from_millis(50 + step * 50), FLOW);
    }
    let one = data(&mut control, Instant::from_secs(2));
    assert!((one - 1048.515).abs() < 0.01, "{one}");
}

#[test]
fn next_to_a_producer_the_rate_is_at_most_doubled() {
    let mut control = control(RateMethod::Hobhis, 10);
    let rate = control.handle_data(Instant::ZERO, DATA_BYTES, Some(Duration::ZERO)).per_second();
    assert!((1800.0..=2000.0).contains(&rate), "{rate}");
    for _ in 0..1000 {
        control.handle_data(Instant::ZERO, DATA_BYTES, Some(Duration::ZERO));
    }
    control.spend_turn(Instant::ZERO);
    control.hold(held());
    assert_eq!(control.next_turn(), Some(Instant::from_millis(100)), "a hundredth of the link's rate");
}

/// Interests of so many flows, each as fast as it was told, which takes effect 60 ms later.
fn settle(control: &mut RateControl, flows: u64, seconds: u64) -> f64 {
    let mut told = std::collections::VecDeque::from(vec![100.0; 60]);
    let mut due = 0.0;
    for ms in 0..seconds * 1000 {
        let now = Instant::from_millis(ms);
        due += told.pop_front().unwrap() * flows as f64 / 1000.0;
        let asked = due as u64;
        due -= asked as f64;
        for _ in 0..asked {
            control.handle_interest(now, FLOW);
        }
        // Answers come as fast as the link carries them, and say what the rate is.
        told.push_back(control.handle_data(now, DATA_BYTES, Some(millis(20))).per_second());
    }
    told.back().copied().unwrap()
}

#[test]
fn mircc_finds_the_share_of_any_number_of_flows_without_knowing_them() {
    for flows in [1, 2, 10, 100] {
        let rate = settle(&mut control(RateMethod::Mircc, 0), flows, 5);
        let share = 950.0 / flows as f64;
        assert!((rate / share - 1.0).abs() < 0.03, "{flows} flows: {rate}");
    }
}

#[test]
fn mircc_gives_less_while_data_waits() {
    let mut control = control(RateMethod::Mircc, 0);
    settle(&mut control, 1, 3);
    let before = data(&mut control, Instant::from_secs(3));
    for _ in 0..100 {
        data(&mut control, Instant::from_secs(3));
    }
    let after = data(&mut control, Instant::from_millis(3_080));
    assert!(after < before - 50.0, "{before} and {after}");
}

fn held() -> ShapedInterest {
    let interest = packet::ndn::InterestBuilder::new("/a/b".parse().unwrap()).nonce(1).build().unwrap();
    ShapedInterest { interest, trigger: crate::trigger::Trigger::New, non_discovery: false }
}

#[test]
fn interests_go_on_one_after_the_other_at_the_rate_of_the_link() {
    for method in [RateMethod::Hobhis, RateMethod::Mircc] {
        let mut control = control(method, 3);
        // A Data, so that its size is known, and time for it to leave.
        control.handle_data(Instant::ZERO, DATA_BYTES, None);
        let now = Instant::from_secs(1);
        let admissions: Vec<_> = (0..6)
            .map(|_| {
                let admission = control.handle_interest(now, FLOW);
                if admission == Admission::Wait {
                    control.hold(held());
                }
                admission
            })
            .collect();
        let mut expected = vec![Admission::Forward];
        expected.extend([Admission::Wait; 3]);
        expected.extend([Admission::Full; 2]);
        assert_eq!(admissions, expected);
        for turn in 1..=3 {
            let due = now + millis(turn);
            assert_eq!(control.next_turn(), Some(due), "{method:?}");
            assert!(control.pop_due(due - Duration::from_nanos(1)).is_none());
            assert!(control.pop_due(due).is_some());
            control.spend_turn(due);
        }
        assert_eq!(control.next_turn(), None);
        assert_eq!(control.handle_interest(now + millis(100), FLOW), Admission::Forward);
        assert_eq!(control.handle_interest(now + millis(100), FLOW), Admission::Wait);
    }
}
