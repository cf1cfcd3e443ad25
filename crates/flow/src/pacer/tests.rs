use super::*;

fn burst(pacer: &mut Pacer, now: Instant) -> usize {
    std::iter::from_fn(|| pacer.poll_send(now).then_some(())).count()
}

fn coarse(tick_millis: u64, smoothing: Smoothing, rate: f64) -> Pacer {
    let config =
        PacerConfig { tick: Duration::from_millis(tick_millis), smoothing, ..PacerConfig::default() };
    let mut pacer = Pacer::new(config, Instant::ZERO);
    pacer.set_rate(Instant::ZERO, rate);
    pacer
}

#[test]
fn under_a_fine_clock_interests_leave_one_by_one() {
    let mut pacer = coarse(0, Smoothing::Ticks, 1000.0);
    for millis in 0..1000 {
        assert_eq!(pacer.next_deadline().unwrap(), Instant::from_millis(millis));
        assert_eq!(burst(&mut pacer, Instant::from_millis(millis)), 1);
    }
}

#[test]
fn under_a_coarse_clock_they_leave_in_bursts_at_ticks() {
    let mut pacer = coarse(50, Smoothing::Ticks, 1000.0);
    assert_eq!(burst(&mut pacer, Instant::ZERO), 1);
    for tick in 1..20 {
        let at = Instant::from_millis(tick * 50);
        assert_eq!(pacer.next_deadline(), Some(at));
        assert_eq!(burst(&mut pacer, at - Duration::from_nanos(1)), 0);
        pacer.handle_arrival(at - Duration::from_nanos(1));
        assert_eq!(burst(&mut pacer, at), 50);
    }
}

#[test]
fn an_owner_that_is_late_gets_what_was_due_at_the_tick() {
    let mut pacer = coarse(50, Smoothing::Ticks, 1000.0);
    assert_eq!(burst(&mut pacer, Instant::ZERO), 1);
    assert_eq!(burst(&mut pacer, Instant::from_millis(70)), 50);
    assert_eq!(burst(&mut pacer, Instant::from_millis(100)), 50);
}

#[test]
fn smoothing_lets_them_leave_at_arrivals_and_ticks() {
    let mut pacer = coarse(50, Smoothing::Arrivals, 1000.0);
    assert_eq!(burst(&mut pacer, Instant::ZERO), 1);
    pacer.handle_arrival(Instant::from_millis(3));
    assert_eq!(burst(&mut pacer, Instant::from_millis(3)), 3);
    assert_eq!(burst(&mut pacer, Instant::from_millis(10)), 0);
    assert_eq!(burst(&mut pacer, Instant::from_millis(50)), 47);
    let mut capped = coarse(50, Smoothing::ArrivalsCapped { per_arrival: 2 }, 1000.0);
    capped.handle_arrival(Instant::from_millis(30));
    assert_eq!(burst(&mut capped, Instant::from_millis(30)), 1 + 2);
    assert_eq!(burst(&mut capped, Instant::from_millis(50)), 2);
    assert_eq!(capped.next_deadline(), Some(Instant::from_millis(100)));
}

#[test]
fn a_rate_counts_at_once_or_after_the_next() {
    for (rate_change, expected) in [(RateChange::Immediate, 200), (RateChange::AfterNext, 1000)] {
        let mut pacer = Pacer::new(PacerConfig { rate_change, ..PacerConfig::default() }, Instant::ZERO);
        pacer.set_rate(Instant::ZERO, 1.0);
        assert_eq!(burst(&mut pacer, Instant::ZERO), 1);
        pacer.set_rate(Instant::from_millis(100), 5.0);
        assert_eq!(pacer.next_deadline(), Some(Instant::from_millis(expected)));
    }
}

#[test]
fn a_pause_does_not_turn_into_a_burst() {
    let mut pacer = coarse(10, Smoothing::Ticks, 1000.0);
    assert_eq!(burst(&mut pacer, Instant::ZERO), 1);
    pacer.rest(Instant::from_secs(9));
    assert_eq!(burst(&mut pacer, Instant::from_secs(9) + Duration::from_millis(10)), 10);
}

#[test]
fn what_is_due_is_bounded_and_the_rest_counted() {
    let config = PacerConfig { max_due: 10, ..PacerConfig::default() };
    let mut pacer = Pacer::new(config, Instant::ZERO);
    pacer.set_rate(Instant::ZERO, 1000.0);
    assert_eq!(burst(&mut pacer, Instant::from_secs(1)), 10);
    assert_eq!(pacer.skipped(), 991);
}

#[test]
fn a_high_rate_is_kept_although_times_are_whole_nanoseconds() {
    let mut pacer = coarse(0, Smoothing::Ticks, 998_402.0);
    let (mut sent, mut now) = (0, Instant::ZERO);
    while now < Instant::from_secs(1) {
        sent += burst(&mut pacer, now);
        now = pacer.next_deadline().unwrap();
    }
    assert_eq!(sent, 998_402);
}

#[test]
fn in_the_long_run_the_rate_is_kept_whatever_the_tick() {
    for tick in [0, 1, 7, 50, 1000] {
        for rate in [1.0, 3.0, 777.0, 123_456.0] {
            let mut pacer = coarse(tick, Smoothing::Ticks, rate);
            let mut sent = 0;
            let mut now = Instant::ZERO;
            while now <= Instant::from_secs(10) {
                sent += burst(&mut pacer, now);
                now = pacer.next_deadline().unwrap().max(now + Duration::from_nanos(1));
            }
            let late = rate * tick as f64 / 1000.0;
            let expected = rate * 10.0;
            assert!((sent as f64) <= expected * 1.0001 + 2.0, "{tick} ms, {rate}/s: {sent}");
            assert!((sent as f64) >= expected * 0.9999 - late - 2.0, "{tick} ms, {rate}/s: {sent}");
        }
    }
}
