//! The promise behind recognising answers: what is recognised is the Data of just that name, and Data that
//! comes in order is recognised.

#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use cairn_engine::batch::Arrivals;
use cairn_engine::{Arrival, Engine, EngineConfig, FaceConfig, FaceId, NextHop};
use packet::ndn::{DataBuilder, InterestBuilder};
use packet::random::Random;
use packet::time::{Duration, Instant};
use packet::{Data, Dialect, LinkHeader, Name, Packet};

const CONSUMER: FaceId = FaceId(256);
const PRODUCERS: [FaceId; 2] = [FaceId(257), FaceId(258)];
const START: Instant = Instant::from_secs(1);

/// A node with a producer behind each of two faces.
fn engine() -> Engine {
    let mut engine = Engine::new(EngineConfig::seeded(1).unwrap()).unwrap();
    engine.add_face(START, CONSUMER, FaceConfig::remote()).unwrap();
    for (number, face) in PRODUCERS.into_iter().enumerate() {
        engine.add_face(START, face, FaceConfig::remote()).unwrap();
        let prefix: Name = format!("/{number}").parse().unwrap();
        engine.add_route(START, Dialect::Ndn, prefix.as_ref(), NextHop { face, cost: 0 }).unwrap();
        // Who never asks is not kept a record for.
        assert!(Arrivals::new(face).due_answer(&mut engine, Dialect::Ndn, prefix.canonical()).is_none());
    }
    engine
}

fn name(producer: usize, number: u32) -> Name {
    format!("/{producer}/of/many/components/{number}").parse().unwrap()
}

fn ask(engine: &mut Engine, now: Instant, name: &Name, nonce: u32) {
    let interest = InterestBuilder::new(name.clone())
        .nonce(nonce)
        .must_be_fresh(true)
        .lifetime(Duration::from_millis(500))
        .build()
        .unwrap();
    let hashes = engine.hasher().hash(Dialect::Ndn, name.components());
    engine.receive(Arrival::bare(now, CONSUMER, &hashes), Packet::Interest(interest));
    while engine.poll_transmit().is_some() {}
}

/// Lets a Data arrive, recognised if that can be; whether it was.
fn answer(engine: &mut Engine, now: Instant, producer: usize, name: &Name) -> bool {
    let data: Data = DataBuilder::new(name.clone()).build_with_digest().unwrap();
    let face = PRODUCERS[producer];
    let mut arrivals = Arrivals::new(face);
    let due = arrivals.due_answer(engine, Dialect::Ndn, name.canonical());
    match due {
        Some(due) => {
            assert_eq!(due.component_count(), name.components().count(), "{name}");
            arrivals.push_due_answer(data, due, None);
            arrivals.hand_over(now, engine);
        }
        None => {
            let hashes = engine.hasher().hash(Dialect::Ndn, name.components());
            engine.receive(Arrival::bare(now, face, &hashes), Packet::Data(data));
        }
    }
    while engine.poll_transmit().is_some() {}
    due.is_some()
}

#[test]
fn data_in_order_is_guessed_whatever_other_faces_send() {
    let mut engine = engine();
    for number in 0..100 {
        for producer in [0, 1] {
            ask(&mut engine, START, &name(producer, number), number * 2 + producer as u32);
        }
    }
    assert!((0..100).all(|number| answer(&mut engine, START, 0, &name(0, number))));
    assert!((0..100).all(|number| answer(&mut engine, START, 1, &name(1, number))));
    assert_eq!(engine.counters().satisfied, 200);
}

#[test]
fn after_a_loss_one_guess_fails_and_no_more() {
    let mut engine = engine();
    for number in 0..10 {
        ask(&mut engine, START, &name(0, number), number);
    }
    let guessed: Vec<bool> =
        [0, 1, 3, 4, 5].map(|number| answer(&mut engine, START, 0, &name(0, number))).into();
    assert_eq!(guessed, [true, true, false, true, true]);
    assert_eq!(engine.counters().satisfied, 5);
}

#[test]
fn guesses_are_right_and_all_data_is_passed_on_whatever_is_lost_repeated_late_or_out_of_order() {
    for seed in 0..20 {
        let (mut engine, mut random) = (engine(), Random::from_seed(seed));
        let (mut now, mut asked, mut next, mut guessed) = (START, Vec::new(), 0, 0);
        for step in 0..4000u32 {
            now += Duration::from_millis(random.next_u64() % 20);
            engine.advance(now);
            match random.next_u64() % 8 {
                0..=2 => {
                    let name = name((random.next_u64() % 2) as usize, next);
                    next += 1;
                    ask(&mut engine, now, &name, step);
                    asked.push(name);
                }
                // Again, with another nonce, perhaps after it has expired or been answered.
                3 if !asked.is_empty() => {
                    let place = random.next_u64() as usize % asked.len();
                    ask(&mut engine, now, &asked[place], step);
                }
                4 if !asked.is_empty() => {
                    asked.swap_remove(random.next_u64() as usize % asked.len());
                }
                _ if !asked.is_empty() => {
                    let place =
                        if random.next_u64() % 4 == 0 { random.next_u64() as usize % asked.len() } else { 0 };
                    let name = asked.remove(place);
                    let producer = usize::from(name.to_string().starts_with("/1"));
                    let waits = engine.pending_interests().any(|interest| interest.name() == name.as_ref());
                    let before = engine.counters().satisfied;
                    guessed += usize::from(answer(&mut engine, now, producer, &name));
                    assert_eq!(
                        engine.counters().satisfied - before,
                        u64::from(waits),
                        "seed {seed}, step {step}"
                    );
                }
                _ => {}
            }
        }
        assert!(guessed > 100, "seed {seed}: {guessed}");
    }
}

#[test]
fn an_answer_that_comes_too_late_does_not_answer_who_got_the_number_of_its_interest() {
    let mut engine = engine();
    ask(&mut engine, START, &name(0, 0), 1);
    assert!(!answer(&mut engine, START, 0, &name(0, 1)), "from now on it is wanted to be recognised");
    for (round, other) in [(0, name(0, 7)), (1, name(0, 8))] {
        let (wanted, header) = (name(0, 2 + round), LinkHeader::default());
        ask(&mut engine, START, &wanted, 10 + round);
        let mut late = Arrivals::new(PRODUCERS[0]);
        let due = late.due_answer(&mut engine, Dialect::Ndn, wanted.canonical()).unwrap();
        let data = |name: &Name| DataBuilder::new(name.clone()).build_with_digest().unwrap();
        let hashes = engine.hasher().hash(Dialect::Ndn, wanted.components());
        engine.receive(
            Arrival { now: START, face: PRODUCERS[0], hashes: &hashes, header: &header },
            Packet::Data(data(&wanted)),
        );
        assert_eq!(engine.counters().satisfied, u64::from(2 * round + 1));
        ask(&mut engine, START, &other, 20 + round);
        if round == 1 {
            // The other Interest has a ticket of its own, too.
            assert!(late.due_answer(&mut engine, Dialect::Ndn, other.canonical()).is_some());
        }
        late.push_due_answer(data(&wanted), due, None);
        late.hand_over(START, &mut engine);
        assert_eq!(engine.counters().satisfied, u64::from(2 * round + 1), "the other Interest waits still");
        assert!(engine.pending_interests().any(|interest| interest.name() == other.as_ref()));
        let hashes = engine.hasher().hash(Dialect::Ndn, other.components());
        engine.receive(
            Arrival { now: START, face: PRODUCERS[0], hashes: &hashes, header: &header },
            Packet::Data(data(&other)),
        );
        assert_eq!(engine.counters().satisfied, u64::from(2 * round + 2));
    }
}

#[test]
fn a_recognised_answer_satisfies_all_who_wait_for_its_name_and_renews_what_is_kept() {
    let mut engine = engine();
    let wanted = name(0, 0);
    ask(&mut engine, START, &wanted, 1);
    assert!(!answer(&mut engine, START, 0, &name(0, 1)));
    // One for just this name, one for it as a prefix, and one for a shorter prefix.
    let prefix: Name = "/0/of/many".parse().unwrap();
    ask(&mut engine, START, &wanted, 2);
    for (number, name) in [&wanted, &prefix].into_iter().enumerate() {
        let interest =
            InterestBuilder::new(name.clone()).nonce(10 + number as u32).can_be_prefix(true).build().unwrap();
        let hashes = engine.hasher().hash(Dialect::Ndn, name.components());
        engine.receive(Arrival::bare(START, CONSUMER, &hashes), Packet::Interest(interest));
    }
    assert_eq!(engine.pending_interests().count(), 3);
    assert!(answer(&mut engine, START, 0, &wanted));
    assert_eq!((engine.counters().satisfied, engine.pending_interests().count()), (3, 0));
    assert_eq!(engine.content_store_counters().insertions, 1);
    ask(&mut engine, START, &wanted, 3);
    assert!(answer(&mut engine, START, 0, &wanted));
    assert_eq!(engine.content_store_counters().insertions, 1);
    assert_eq!(engine.content_store_counters().refreshes, 1);
}
