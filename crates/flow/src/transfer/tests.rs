use std::collections::BTreeSet;

use packet::random::Random;

use super::*;
use crate::controller::controller_names;
use crate::pacer::PacerConfig;

fn transfer(controller: &str) -> Transfer {
    let config = TransferConfig { controller: controller.parse().unwrap(), ..TransferConfig::default() };
    Transfer::new(&config, Instant::ZERO, 1)
}

fn drain(transfer: &mut Transfer, now: Instant) -> Vec<u64> {
    std::iter::from_fn(|| transfer.poll_request(now)).map(|request| request.item).collect()
}

fn ms(millis: u64) -> Instant {
    Instant::from_millis(millis)
}

/// Runs a transfer of `items` to its end. The first Interest for an item is answered after `delay`, or not at
/// all, and those that follow wait for the same answer, as in a forwarder's pending-Interest table. Returns
/// the attempts at the item that was asked for most often, and when it was over.
fn run(transfer: &mut Transfer, items: u64, delay: impl Fn(u64) -> Option<Duration>) -> (u32, Instant) {
    transfer.set_end(items);
    let mut now = Instant::ZERO;
    let mut most_attempts = 0;
    let mut answers: BTreeSet<(Instant, u64)> = BTreeSet::new();
    while !transfer.is_complete() {
        while let Some(Request { item, attempt, .. }) = transfer.poll_request(now) {
            most_attempts = most_attempts.max(attempt);
            answers.extend(delay(item).filter(|_| attempt == 1).map(|delay| (now + delay, item)));
        }
        let answer_at = answers.first().map(|(at, _)| *at);
        now = [answer_at, transfer.next_deadline()].into_iter().flatten().min().unwrap().max(now);
        while let Some((_, item)) = answers.first().copied().filter(|(at, _)| *at <= now) {
            answers.pop_first();
            transfer.handle_data(now, item, Arrival::default());
            transfer.confirm(item);
        }
        transfer.handle_timeout(now);
    }
    (most_attempts, now)
}

#[test]
fn a_slow_answer_is_waited_for_however_fast_the_others_come() {
    let slow: BTreeSet<u64> = {
        let mut random = Random::from_seed(5);
        (0..20).map(|_| random.below(40_000)).collect()
    };
    let delay = |item| Duration::from_micros(if slow.contains(&item) { 150_000 } else { 50 });
    for word in controller_names() {
        let mut transfer = transfer(word);
        let (most_attempts, _) = run(&mut transfer, 40_000, |item| Some(delay(item)));
        let counters = transfer.counters();
        assert_eq!((counters.failures, counters.data), (0, 40_000), "{word}");
        assert!(most_attempts <= 14, "{word}: {most_attempts}");
        assert!(counters.repeated < 400, "{word}: {counters:?}");
    }
}

#[test]
fn an_item_that_never_comes_is_given_up_after_as_many_timeouts_while_others_come() {
    let mut transfer = transfer("fixed/window~2");
    let hole = |item| (item != 7).then_some(Duration::from_micros(50));
    let (most_attempts, over_at) = run(&mut transfer, 200_000, hole);
    assert_eq!(transfer.poll_failure(), Some(Failure { item: 7, reason: None }));
    assert_eq!((transfer.counters().failures, transfer.counters().data), (1, 199_999));
    // Sixteen timeouts of 200 ms, during the first of which it is asked for ever more rarely.
    assert!(over_at >= ms(3200), "{over_at}");
    assert!((20..=30).contains(&most_attempts), "{most_attempts}");
}

#[test]
fn an_interest_that_is_overtaken_again_rests_for_twice_as_long() {
    let mut transfer = transfer("fixed/window~8");
    let (mut asked, mut answers) = (Vec::new(), VecDeque::new());
    for step in 0..400 {
        while let Some((_, item)) = answers.pop_front_if(|(at, _)| *at <= step) {
            transfer.handle_data(ms(step), item, Arrival::default());
            transfer.confirm(item);
        }
        transfer.handle_timeout(ms(step));
        for item in drain(&mut transfer, ms(step)) {
            if item == 0 {
                asked.push(step);
            } else {
                answers.push_back((step + 10, item));
            }
        }
    }
    // Whoever is late by an eighth of the round trip is given up, and rests for 0, 10, 20, 40 … ms.
    let waits: Vec<u64> = asked.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert_eq!(waits.len(), 5, "{waits:?}");
    assert!(waits.iter().zip([0, 10, 20, 40, 80]).all(|(wait, rest)| *wait >= 12 + rest), "{waits:?}");
    assert_eq!(transfer.counters().timeouts, 0);
}

#[test]
fn an_answer_ends_the_rest_of_its_item() {
    let mut transfer = transfer("fixed/window~1");
    transfer.set_end(2);
    assert_eq!(drain(&mut transfer, ms(0)), [0]);
    transfer.handle_nack(ms(1), 0, NackReason::NoRoute);
    assert_eq!(transfer.handle_data(ms(2), 0, Arrival::default()), DataOutcome::Wanted);
    assert_eq!(drain(&mut transfer, ms(2)), [1], "the place in the window is free");
}

#[test]
fn a_window_is_filled_and_kept_full() {
    let mut transfer = transfer("fixed/window~4");
    assert_eq!(drain(&mut transfer, ms(0)), [0, 1, 2, 3]);
    assert_eq!(transfer.handle_data(ms(10), 2, Arrival::default()), DataOutcome::Wanted);
    assert_eq!(drain(&mut transfer, ms(10)), [4]);
    assert_eq!(transfer.handle_data(ms(10), 2, Arrival::default()), DataOutcome::Duplicate);
    assert_eq!(transfer.handle_data(ms(10), 9, Arrival::default()), DataOutcome::NotAsked);
    assert_eq!((transfer.in_flight(), transfer.first_missing()), (4, 0));
}

#[test]
fn what_nobody_answers_is_asked_for_again_and_then_given_up() {
    let config = TransferConfig {
        controller: "fixed/window~1".parse().unwrap(),
        max_attempts: 3,
        ..TransferConfig::default()
    };
    let mut transfer = Transfer::new(&config, Instant::ZERO, 1);
    let mut asked = Vec::new();
    let mut now = Instant::ZERO;
    while transfer.counters().failures == 0 {
        asked.extend(std::iter::from_fn(|| transfer.poll_request(now)).map(|request| (now, request.attempt)));
        now = transfer.next_deadline().unwrap().max(now);
        transfer.handle_timeout(now);
    }
    assert_eq!(asked, [(ms(0), 1), (ms(1000), 2), (ms(3000), 3)]);
    assert_eq!(now, ms(7000));
    assert_eq!(transfer.poll_failure(), Some(Failure { item: 0, reason: None }));
    assert_eq!(transfer.first_missing(), 1);
}

#[test]
fn an_overtaken_interest_is_repeated_long_before_its_timeout() {
    let mut transfer = transfer("fixed/window~8");
    assert_eq!(drain(&mut transfer, ms(0)), [0, 1, 2, 3, 4, 5, 6, 7]);
    for item in 1..8 {
        transfer.handle_data(ms(80), item, Arrival::default());
    }
    assert_eq!(transfer.next_deadline(), Some(Instant::ZERO), "there is room for new items");
    drain(&mut transfer, ms(80));
    assert_eq!(transfer.next_deadline(), Some(ms(90)));
    transfer.handle_timeout(ms(90));
    assert_eq!(drain(&mut transfer, ms(90)), [0]);
    assert_eq!((transfer.counters().overtaken, transfer.counters().timeouts), (1, 0));
}

#[test]
fn late_data_counts_and_its_repetition_is_not_sent() {
    let mut transfer = transfer("fixed/window~1");
    drain(&mut transfer, ms(0));
    transfer.handle_timeout(ms(1000));
    assert_eq!(transfer.handle_data(ms(1001), 0, Arrival::default()), DataOutcome::Wanted);
    transfer.confirm(0);
    assert_eq!(drain(&mut transfer, ms(1001)), [1]);
    assert_eq!(transfer.counters().late, 1);
    assert_eq!(transfer.round_trip().samples(), 0, "no sample: it may have been either copy");
}

#[test]
fn nacks_repeat_after_a_rest_but_those_for_duplicates_change_nothing() {
    let mut transfer = transfer("fixed/window~2");
    assert_eq!(drain(&mut transfer, ms(0)), [0, 1]);
    transfer.handle_nack(ms(1), 0, NackReason::Duplicate);
    assert_eq!(transfer.in_flight(), 2);
    transfer.handle_nack(ms(2), 0, NackReason::NoRoute);
    assert_eq!(drain(&mut transfer, ms(2)), [0; 0], "what rests keeps its place in the window");
    transfer.handle_data(ms(3), 1, Arrival::default());
    transfer.set_end(2);
    assert_eq!(transfer.next_deadline(), Some(ms(202)));
    assert_eq!(drain(&mut transfer, ms(202)), [0]);
    transfer.handle_nack(ms(203), 0, NackReason::NoRoute);
    assert_eq!(transfer.next_deadline(), Some(ms(603)));
}

#[test]
fn a_limit_stops_new_items_and_an_end_cuts_off_those_beyond() {
    let mut transfer = transfer("fixed/window~100");
    transfer.set_limit(5);
    assert_eq!(drain(&mut transfer, ms(0)), [0, 1, 2, 3, 4]);
    transfer.set_limit(10);
    assert_eq!(drain(&mut transfer, ms(0)), [5, 6, 7, 8, 9]);
    transfer.set_end(3);
    assert_eq!(transfer.in_flight(), 3);
    for item in [2, 1, 0] {
        transfer.handle_data(ms(9), item, Arrival::default());
        transfer.confirm(item);
    }
    assert!(transfer.is_complete());
    assert_eq!(transfer.next_deadline(), None);
}

#[test]
fn refused_data_is_asked_for_again() {
    let mut transfer = transfer("fixed/window~1");
    transfer.set_end(1);
    drain(&mut transfer, ms(0));
    transfer.handle_data(ms(5), 0, Arrival::default());
    transfer.ask_again(ms(6), 0);
    assert_eq!(drain(&mut transfer, ms(6)), [0]);
    assert!(!transfer.is_complete());
}

#[test]
fn a_rate_is_kept_under_a_coarse_clock() {
    let pacing = PacerConfig { tick: Duration::from_millis(50), ..PacerConfig::default() };
    let config = TransferConfig {
        controller: "fixed/rate~1000".parse().unwrap(),
        pacing,
        ..TransferConfig::default()
    };
    let mut transfer = Transfer::new(&config, Instant::ZERO, 1);
    assert_eq!(drain(&mut transfer, ms(0)).len(), 1);
    assert_eq!(transfer.next_deadline(), Some(ms(50)));
    assert_eq!(drain(&mut transfer, ms(49)).len(), 0);
    assert_eq!(drain(&mut transfer, ms(50)).len(), 50);
}

#[test]
fn memory_of_flights_stays_in_proportion_to_what_is_on_its_way() {
    // Item 0 is never answered, all others at once.
    let mut transfer = transfer("fixed/window~2");
    for step in 0..100_000 {
        for item in drain(&mut transfer, Instant::from_nanos(step)) {
            if item != 0 {
                transfer.handle_data(Instant::from_nanos(step), item, Arrival::default());
                transfer.confirm(item);
            }
        }
    }
    assert!(transfer.flights.len() < 2000, "{}", transfer.flights.len());
}
