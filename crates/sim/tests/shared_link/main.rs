//! Many nodes on one link want the same object: how often it crosses the link, and how long they take.

mod scenario;

use std::error::Error;

use packet::time::Duration;

use self::scenario::{ALONE, LONG, Setting, run};

type Outcome = Result<(), Box<dyn Error>>;

/// Until one of those who wait has been chosen by chance.
const ELECTION: Duration = Duration::from_millis(60);

#[test]
fn forty_nodes_that_start_together_take_little_longer_than_one() -> Outcome {
    let (one, forty) = (run(&ALONE)?, run(&Setting { clients: 40, ..ALONE })?);
    assert!(forty.longest() <= one.longest() * 11 / 10 + ELECTION, "{:?} {:?}", forty.took, one.took);
    assert!(forty.crossings < 1.1, "{}", forty.crossings);
    Ok(())
}

/// Answers wait in it for ten times as long as nodes wait where they know nothing.
#[test]
fn where_a_queue_holds_a_second_nobody_asks_again_for_what_waits_in_it() -> Outcome {
    let deep = Setting { seed: 1, items: 8_000, rate: 10.0, queue_packets: 1000, ..ALONE };
    for clients in [1, 40] {
        let run = run(&Setting { clients, ..deep })?;
        assert!(run.crossings < 1.1, "{clients}: {}", run.crossings);
    }
    Ok(())
}

#[test]
fn without_sharing_every_node_asks_for_everything() -> Outcome {
    let (alone, forty) = (run(&ALONE)?, run(&Setting { clients: 40, sharing: None, ..ALONE })?);
    assert!(forty.crossings > alone.crossings + 0.5, "{}", forty.crossings);
    Ok(())
}

#[test]
fn latecomers_take_part_where_the_others_are_and_fill_the_rest_afterwards() -> Outcome {
    let one = run(&ALONE)?;
    let setting = Setting { clients: 40, stagger: one.longest() / 40, ..ALONE };
    let late = run(&setting)?;
    assert!(late.longest() <= one.longest() * 11 / 10 + ELECTION, "{:?} {:?}", late.took, one.took);
    assert!(late.crossings < 2.2, "{}", late.crossings);
    // Each for itself they would be several times as many.
    let apart = run(&Setting { sharing: None, ..setting })?;
    assert!(apart.crossings > 2.0 * late.crossings, "{} {}", apart.crossings, late.crossings);
    Ok(())
}

/// A node that begins to ask has thousands of Interests waiting, as the others have: all at once they would
/// keep every processor busy with hearing them.
#[test]
fn forty_whose_packets_cost_time_take_over_from_each_other_without_asking_twice() -> Outcome {
    let setting = Setting { items: LONG, service: Duration::from_micros(30), ..ALONE };
    let one = run(&setting)?;
    let waves = Setting { clients: 40, together: 10, stagger: one.longest() * 2 / 5, ..setting };
    let late = run(&waves)?;
    // Who starts while the others are half through reads the second half from its own store, which costs it
    // time, too.
    assert!(late.longest() <= one.longest() * 3 / 2, "{:?} {:?}", late.took, one.took);
    assert!(late.crossings < 2.4, "{}", late.crossings);
    let free = Setting { service: Duration::ZERO, ..waves };
    let (one, late) = (run(&Setting { clients: 1, ..free })?, run(&free)?);
    assert!(late.longest() <= one.longest() * 6 / 5, "{:?} {:?}", late.took, one.took);
    Ok(())
}

#[test]
fn what_each_of_forty_misses_is_repaired_without_sending_everything_again() -> Outcome {
    let forty = run(&Setting { clients: 40, loss: 0.01, ..ALONE })?;
    // That at least one of forty misses a packet has a probability of a third.
    assert!(forty.crossings < 1.6, "{}", forty.crossings);
    Ok(())
}

/// How long the slowest of forty takes, as a part of what one takes without any loss and with the same; in
/// the order of the former.
fn ratios(parity: bool, loss: f64, seeds: u64) -> Result<Vec<(f64, f64)>, Box<dyn Error>> {
    let mut ratios = Vec::new();
    for seed in 1..=seeds {
        let setting = Setting { seed, items: LONG, parity, ..ALONE };
        let clean = run(&setting)?.longest().as_secs_f64();
        let one = run(&Setting { loss, ..setting })?.longest().as_secs_f64();
        let forty = run(&Setting { loss, clients: 40, ..setting })?.longest().as_secs_f64();
        ratios.push((forty / clean, forty / one));
    }
    ratios.sort_by(|a, b| a.0.total_cmp(&b.0));
    Ok(ratios)
}

#[test]
fn forty_who_miss_a_packet_in_a_thousand_take_little_longer_than_one_who_misses_none() -> Outcome {
    let ratios = ratios(false, 0.001, 3)?;
    assert!(ratios.iter().all(|(clean, same)| *clean <= 1.3 && *same <= 1.3), "{ratios:?}");
    Ok(())
}

#[test]
fn forty_who_miss_a_packet_in_a_hundred_take_less_than_twice_as_long_as_one_who_misses_none() -> Outcome {
    let ratios = ratios(false, 0.01, 1)?;
    assert!(ratios.iter().all(|(clean, same)| *clean <= 1.8 && *same <= 1.5), "{ratios:?}");
    Ok(())
}

#[test]
fn with_parity_forty_who_miss_a_packet_in_a_hundred_take_a_quarter_longer_than_one_at_most() -> Outcome {
    let ratios = ratios(true, 0.01, 2)?;
    assert!(ratios.iter().all(|(_, same)| *same <= 1.25), "{ratios:?}");
    Ok(())
}

#[test]
fn with_parity_most_of_what_single_receivers_miss_is_not_sent_again() -> Outcome {
    let forty = run(&Setting { clients: 40, loss: 0.01, items: LONG, parity: true, ..ALONE })?;
    assert!(forty.crossings < 1.25, "{}", forty.crossings);
    Ok(())
}

#[test]
fn with_parity_not_a_byte_more_crosses_a_link_that_loses_nothing() -> Outcome {
    let [without, with] = [false, true].map(|parity| run(&Setting { clients: 40, parity, ..ALONE }));
    let (without, with) = (without?, with?);
    assert_eq!((without.crossings, &without.took), (with.crossings, &with.took));
    Ok(())
}

#[test]
fn with_parity_forty_who_miss_a_packet_in_a_thousand_take_no_longer_than_without() -> Outcome {
    for seed in 1..=2 {
        let setting = Setting { seed, clients: 40, items: LONG, loss: 0.001, ..ALONE };
        let (without, with) = (run(&setting)?, run(&Setting { parity: true, ..setting })?);
        assert!(with.longest() <= without.longest() * 103 / 100, "{:?} {:?}", with.took, without.took);
    }
    Ok(())
}

#[test]
fn one_of_forty_that_is_five_times_slower_does_not_slow_the_others() -> Outcome {
    let all = run(&Setting { items: LONG, clients: 40, ..ALONE })?;
    let slow = run(&Setting { items: LONG, clients: 40, slowness: 5, ..ALONE })?;
    let others = slow.took.iter().skip(1).copied().max().unwrap_or_default();
    assert!(others <= all.longest() * 3 / 2, "{others:?} {:?}", all.longest());
    assert!(slow.longest() < Duration::MAX);
    Ok(())
}
