//! Each fault of a bad link occurs, at its rate, and alike whenever the seed is the same.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests may panic")]

use cairn_link::{Direction, Fault, Faults, FrameTap, Impairment, ImpairmentConfig, TapVerdict, Wire};
use packet::time::{Duration, Instant};

const FRAMES: u64 = 100_000;

fn perfect() -> ImpairmentConfig {
    ImpairmentConfig::default()
}

/// Verdicts and flipped bits of many frames of 100 bytes, one a millisecond.
fn decide(config: &ImpairmentConfig, seed: u64) -> (Impairment, Vec<cairn_link::ImpairmentVerdict>) {
    let mut impairment = Impairment::new(config.clone(), seed);
    let verdicts = (0..FRAMES).map(|number| impairment.decide(Instant::from_millis(number), 100)).collect();
    (impairment, verdicts)
}

/// Asserts that `count` of all frames is `rate` within five standard deviations.
fn assert_rate(count: u64, rate: f64) {
    let frames = FRAMES as f64;
    let tolerance = 5.0 * (frames * rate * (1.0 - rate)).sqrt();
    let expected = frames * rate;
    assert!((count as f64 - expected).abs() <= tolerance, "{count} of {frames}, expected {expected}");
}

#[test]
fn a_perfect_link_passes_every_frame_at_once_and_unchanged() {
    let (impairment, verdicts) = decide(&perfect(), 1);
    assert!(verdicts.iter().all(|frame| frame.verdict == TapVerdict::Pass && frame.flipped_bit.is_none()));
    for fault in [Fault::QueueFull, Fault::Loss, Fault::Reorder, Fault::Duplicate, Fault::Corrupt] {
        assert_eq!(impairment.count(fault), 0);
    }
}

#[test]
fn frames_are_lost_at_the_rate_of_loss() {
    for rate in [0.001, 0.05, 0.3, 1.0] {
        let (impairment, verdicts) = decide(&Faults { loss: rate, ..Faults::NONE }.into(), 2);
        let lost = verdicts.iter().filter(|frame| frame.verdict == TapVerdict::Drop).count() as u64;
        assert_eq!(lost, impairment.count(Fault::Loss));
        assert_rate(lost, rate);
    }
}

#[test]
fn frames_are_doubled_at_the_rate_of_duplication() {
    for rate in [0.001, 0.1, 1.0] {
        let (impairment, verdicts) = decide(&Faults { duplicate: rate, ..Faults::NONE }.into(), 3);
        let doubled =
            |frame: &&cairn_link::ImpairmentVerdict| matches!(frame.verdict, TapVerdict::Duplicate(..));
        let count = verdicts.iter().filter(doubled).count() as u64;
        assert_eq!(count, impairment.count(Fault::Duplicate));
        assert_rate(count, rate);
    }
}

#[test]
fn bits_are_flipped_at_the_rate_of_corruption_and_anywhere_in_the_frame() {
    for rate in [0.001, 0.1, 1.0] {
        let (impairment, verdicts) = decide(&Faults { corrupt: rate, ..Faults::NONE }.into(), 4);
        let bits: Vec<usize> = verdicts.iter().filter_map(|frame| frame.flipped_bit).collect();
        assert_eq!(bits.len() as u64, impairment.count(Fault::Corrupt));
        assert_rate(bits.len() as u64, rate);
        if rate == 1.0 {
            for bit in 0..800 {
                assert!(bits.contains(&bit), "bit {bit} was never flipped");
            }
        }
        assert!(bits.iter().all(|&bit| bit < 800));
    }
}

#[test]
fn a_corrupted_frame_differs_in_the_one_bit_that_was_decided_on() {
    let config: ImpairmentConfig = Faults { corrupt: 1.0, ..Faults::NONE }.into();
    let mut first = Impairment::new(config.clone(), 5);
    let mut tap = Impairment::new(config, 5);
    for _ in 0..1000 {
        let bit = first.decide(Instant::ZERO, 20).flipped_bit.unwrap();
        let mut frame = vec![0; 20];
        assert_eq!(tap.on_frame(Instant::ZERO, Direction::In, &mut frame), TapVerdict::Pass);
        let mut expected = vec![0; 20];
        expected[bit / 8] = 0x80 >> (bit % 8);
        assert_eq!(frame, expected);
    }
    assert_eq!(tap.on_frame(Instant::ZERO, Direction::Out, &mut Vec::new()), TapVerdict::Pass);
}

#[test]
fn delay_and_jitter_lie_in_their_range_and_jitter_fills_it() {
    let (delay, jitter) = (Duration::from_micros(300), Duration::from_micros(50));
    let (_, verdicts) =
        decide(&ImpairmentConfig { delay, faults: Faults { jitter, ..Faults::NONE }, ..perfect() }, 6);
    let delays: Vec<u64> = verdicts
        .iter()
        .map(|frame| match frame.verdict {
            TapVerdict::Delay(delay) => delay.as_nanos(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert!(delays.iter().all(|delay| (300_000..=350_000).contains(delay)));
    let mean = delays.iter().sum::<u64>() as f64 / delays.len() as f64;
    assert!((mean - 325_000.0).abs() < 300.0, "{mean}");
    assert!(delays.iter().any(|&delay| delay < 300_500) && delays.iter().any(|&delay| delay > 349_500));
}

/// The order in which numbered frames, one a millisecond, come out of a wire.
fn order(config: ImpairmentConfig, seed: u64) -> Vec<u32> {
    let mut wire = Wire::new(Impairment::new(config, seed), 10_000);
    let mut arrived = Vec::new();
    for number in 0..10_000u32 {
        let now = Instant::from_millis(number.into());
        wire.send(now, number.to_be_bytes().to_vec());
        while let Some(frame) = wire.poll_deliver(now) {
            arrived.push(u32::from_be_bytes(frame.try_into().unwrap()));
        }
    }
    while let Some(frame) = wire.poll_deliver(Instant::NEVER) {
        arrived.push(u32::from_be_bytes(frame.try_into().unwrap()));
    }
    assert_eq!((wire.under_way(), wire.overflowed()), (0, 0));
    arrived
}

#[test]
fn jitter_alone_never_reorders_and_reordering_does_at_its_rate() {
    let jitter = Duration::from_millis(20);
    let in_order = order(Faults { jitter, ..Faults::NONE }.into(), 7);
    assert!(in_order.is_sorted() && in_order.len() == 10_000);

    let reorder_delay = Duration::from_micros(3500);
    let mixed = order(Faults { reorder: 0.1, reorder_delay, ..Faults::NONE }.into(), 7);
    assert_eq!(mixed.len(), 10_000);
    // A frame that was held back comes after the three frames behind it, unless those were held back, too.
    let late = mixed.windows(2).filter(|pair| pair[0] > pair[1]).count();
    assert!((800..=1000).contains(&late), "{late}");
    let overtaken = mixed.iter().enumerate().filter(|&(place, &number)| place > number as usize).count();
    assert!((850..=1150).contains(&overtaken), "{overtaken}");
}

#[test]
fn a_rate_spaces_frames_and_a_full_queue_drops_them() {
    // 1 Mbit/s: a frame of 125 bytes takes a millisecond.
    let config =
        ImpairmentConfig { rate_bits_per_second: Some(1_000_000), queue_limit_bytes: 1000, ..perfect() };
    let mut wire = Wire::new(Impairment::new(config, 8), 100);
    for _ in 0..20 {
        wire.send(Instant::ZERO, vec![0; 125]);
    }
    assert_eq!(wire.tap.count(Fault::QueueFull), 12);
    for number in 1..=8 {
        assert_eq!(wire.next_deadline(), Instant::from_millis(number));
        assert!(wire.poll_deliver(Instant::from_millis(number)).is_some());
    }
    // Half of a frame left over counts as half a frame.
    for _ in 0..8 {
        wire.send(Instant::from_millis(100), vec![0; 125]);
    }
    wire.send(Instant::from_nanos(100_500_000), vec![0; 64]);
    assert_eq!(wire.tap.count(Fault::QueueFull), 13);
    wire.send(Instant::from_nanos(100_500_000), vec![0; 63]);
    assert_eq!(wire.tap.count(Fault::QueueFull), 13);
}

#[test]
fn throughput_equals_the_rate_under_load() {
    let rate_bits_per_second = Some(10_000_000);
    let config = ImpairmentConfig { rate_bits_per_second, queue_limit_bytes: 10_000, ..perfect() };
    let mut wire = Wire::new(Impairment::new(config, 9), 1000);
    let mut bytes = 0;
    for step in 0..100_000u64 {
        let now = Instant::from_nanos(step * 100_000);
        wire.send(now, vec![0; 777]);
        while let Some(frame) = wire.poll_deliver(now) {
            bytes += frame.len();
        }
    }
    // 10 s at 10 Mbit/s.
    assert!((12_400_000..=12_500_000).contains(&bytes), "{bytes}");
}

fn everything() -> ImpairmentConfig {
    ImpairmentConfig {
        rate_bits_per_second: Some(1_000_000),
        queue_limit_bytes: 2000,
        delay: Duration::from_millis(5),
        faults: Faults {
            loss: 0.1,
            jitter: Duration::from_millis(3),
            reorder: 0.1,
            reorder_delay: Duration::from_millis(4),
            duplicate: 0.1,
            corrupt: 0.1,
        },
    }
}

#[test]
fn the_same_seed_does_the_same_and_another_one_does_not() {
    let (_, first) = decide(&everything(), 10);
    let (_, again) = decide(&everything(), 10);
    let (_, other) = decide(&everything(), 11);
    assert_eq!(first, again);
    assert_ne!(first, other);
}

#[test]
fn turning_on_one_fault_does_not_move_another() {
    let lost = |config: &ImpairmentConfig| -> Vec<bool> {
        decide(config, 12).1.iter().map(|frame| frame.verdict == TapVerdict::Drop).collect()
    };
    let only_loss: ImpairmentConfig = Faults { loss: 0.1, ..Faults::NONE }.into();
    let all = ImpairmentConfig { rate_bits_per_second: None, ..everything() };
    assert_eq!(lost(&only_loss), lost(&all));
}

#[test]
fn a_wire_that_is_full_drops_and_counts() {
    let delay = Duration::from_secs(1);
    let mut wire = Wire::new(Impairment::new(ImpairmentConfig { delay, ..perfect() }, 13), 5);
    for _ in 0..8 {
        wire.send(Instant::ZERO, vec![0]);
    }
    assert_eq!((wire.under_way(), wire.overflowed()), (5, 3));
}

#[test]
fn a_healed_link_is_perfect_for_frames_sent_from_then_on() {
    let mut impairment = Impairment::new(Faults { loss: 1.0, ..Faults::NONE }.into(), 14);
    assert_eq!(impairment.decide(Instant::ZERO, 100).verdict, TapVerdict::Drop);
    impairment.set_config(perfect());
    assert_eq!(impairment.decide(Instant::ZERO, 100).verdict, TapVerdict::Pass);
}

#[test]
fn a_frame_that_finds_the_queue_full_is_told_from_one_that_is_lost() {
    let slow = ImpairmentConfig { rate_bits_per_second: Some(1_000), queue_limit_bytes: 100, ..perfect() };
    let mut impairment = Impairment::new(slow, 15);
    assert_eq!(impairment.decide(Instant::ZERO, 100).verdict, TapVerdict::Delay(Duration::from_millis(800)));
    assert_eq!(impairment.decide(Instant::ZERO, 1).verdict, TapVerdict::QueueFull);
    let mut lossy = Impairment::new(Faults { loss: 1.0, ..Faults::NONE }.into(), 15);
    assert_eq!(lossy.decide(Instant::ZERO, 1).verdict, TapVerdict::Drop);
}
