//! The promise behind recognising answers: what is recognised is the Data of just that name, and Data that
//! comes in order is recognised.

use packet::ccnx::{AnswerOriginKind, ContentObjectFields, InterestFields, PublisherId, SignedInfo, Ticks};
use packet::ndn::{DataBuilder, InterestBuilder};
use packet::random::Random;
use packet::time::{Duration, Instant};
use packet::{Data, Dialect, EncodeError, Interest, Name, Nonce, Packet};

use super::DueAnswer;
use crate::batch::Arrivals;
use crate::{Arrival, Engine, EngineConfig, FaceConfig, FaceId, NextHop};

const CONSUMER: FaceId = FaceId(256);
const PRODUCERS: [FaceId; 2] = [FaceId(257), FaceId(258)];
const START: Instant = Instant::from_secs(1);

/// A node with a producer behind each of two faces.
fn engine(dialect: Dialect) -> Engine {
    let mut engine = Engine::new(EngineConfig::seeded(1).unwrap()).unwrap();
    engine.add_face(START, CONSUMER, FaceConfig { dialect, ..FaceConfig::remote() }).unwrap();
    for (number, face) in PRODUCERS.into_iter().enumerate() {
        engine.add_face(START, face, FaceConfig { dialect, ..FaceConfig::remote() }).unwrap();
        let prefix: Name = format!("/{number}").parse().unwrap();
        engine.add_route(START, dialect, prefix.as_ref(), NextHop { face, cost: 0 }).unwrap();
        // Who never asks is not kept a record for.
        assert!(recognise(&mut engine, &Arrivals::new(face), &data(dialect, &prefix)).is_none());
    }
    engine
}

/// A Data that no cache may answer with.
fn data(dialect: Dialect, name: &Name) -> Data {
    match dialect {
        Dialect::Ndn => DataBuilder::new(name.clone()).build_with_digest().unwrap(),
        Dialect::Ccnx => {
            let signed_info = SignedInfo::new(&[0x11; 32], Ticks::from_unix(1_234_567_890, 0));
            let signed_info = SignedInfo { freshness_seconds: Some(0), ..signed_info };
            let fields = ContentObjectFields { name: name.into(), signed_info, content: b"content" };
            let wire = fields.encode(None, |_| Ok::<_, EncodeError>([0xaa; 16])).unwrap();
            Data::decode_ccnx(wire.into()).unwrap()
        }
    }
}

fn recognise(engine: &mut Engine, arrivals: &Arrivals, data: &Data) -> Option<DueAnswer> {
    let name = data.wire_components();
    let found = match data.dialect() {
        Dialect::Ndn => arrivals.due_answer(engine, name),
        Dialect::Ccnx => {
            let start = name.as_ptr() as usize - data.wire().as_ptr() as usize;
            arrivals.due_ccnx_answer(engine, &data.wire()[start..])
        }
    };
    let (due, _) = found?;
    assert!(data.dialect() == Dialect::Ndn || due.name_bytes() == name.len());
    Some(due)
}

fn name(producer: usize, number: u32) -> Name {
    format!("/{producer}/of/many/components/{number}").parse().unwrap()
}

/// Asks for fresh Data, as CCNx does unless it says otherwise.
fn ask(engine: &mut Engine, now: Instant, name: &Name, nonce: u32) {
    let lifetime = Duration::from_millis(500);
    let interest = match dialect_of(engine) {
        Dialect::Ndn => {
            let fresh = InterestBuilder::new(name.clone()).must_be_fresh(true);
            fresh.nonce(nonce).lifetime(lifetime).build().unwrap()
        }
        Dialect::Ccnx => Dialect::Ccnx.interest(name.clone(), nonce, lifetime).unwrap(),
    };
    receive(engine, now, CONSUMER, Packet::Interest(interest));
}

fn dialect_of(engine: &Engine) -> Dialect {
    engine.faces().next().unwrap().1.dialect
}

fn receive(engine: &mut Engine, now: Instant, face: FaceId, packet: Packet) {
    let hashes = engine.hasher().hash_wire_name(packet.wire_name());
    engine.receive(Arrival::bare(now, face, &hashes), packet);
    while engine.poll_transmit().is_some() {}
}

/// Lets a Data arrive, recognised if that can be; whether it was.
fn answer(engine: &mut Engine, now: Instant, producer: usize, name: &Name) -> bool {
    let data = data(dialect_of(engine), name);
    let face = PRODUCERS[producer];
    let mut arrivals = Arrivals::new(face);
    let due = recognise(engine, &arrivals, &data);
    match due {
        Some(due) => {
            assert_eq!(due.component_count(), name.components().count(), "{name}");
            arrivals.push_due_answer(data, due, None);
            arrivals.hand_over(now, engine);
            while engine.poll_transmit().is_some() {}
        }
        None => receive(engine, now, face, Packet::Data(data)),
    }
    due.is_some()
}

#[test]
fn data_in_order_is_guessed_whatever_other_faces_send() {
    for dialect in Dialect::ALL {
        let mut engine = engine(dialect);
        for number in 0..100 {
            for producer in [0, 1] {
                ask(&mut engine, START, &name(producer, number), number * 2 + producer as u32);
            }
        }
        assert!((0..100).all(|number| answer(&mut engine, START, 0, &name(0, number))), "{dialect}");
        assert!((0..100).all(|number| answer(&mut engine, START, 1, &name(1, number))), "{dialect}");
        assert_eq!(engine.counters().satisfied, 200);
    }
}

#[test]
fn after_a_loss_one_guess_fails_and_no_more() {
    for dialect in Dialect::ALL {
        let mut engine = engine(dialect);
        for number in 0..10 {
            ask(&mut engine, START, &name(0, number), number);
        }
        let guessed: Vec<bool> =
            [0, 1, 3, 4, 5].map(|number| answer(&mut engine, START, 0, &name(0, number))).into();
        assert_eq!(guessed, [true, true, false, true, true], "{dialect}");
        assert_eq!(engine.counters().satisfied, 5);
    }
}

#[test]
fn guesses_are_right_and_all_data_is_passed_on_whatever_is_lost_repeated_late_or_out_of_order() {
    for (seed, dialect) in (0..20).flat_map(|seed| Dialect::ALL.map(|dialect| (seed, dialect))) {
        let guessed = guessed_at_random(seed, dialect);
        assert!(guessed > 100, "seed {seed}, {dialect}: {guessed}");
    }
}

fn guessed_at_random(seed: u64, dialect: Dialect) -> usize {
    let (mut engine, mut random) = (engine(dialect), Random::from_seed(seed));
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
                let satisfied = engine.counters().satisfied - before;
                assert_eq!(satisfied, u64::from(waits), "seed {seed}, step {step}, {dialect}");
            }
            _ => {}
        }
    }
    guessed
}

#[test]
fn an_answer_that_comes_too_late_does_not_answer_who_got_the_number_of_its_interest() {
    for dialect in Dialect::ALL {
        let mut engine = engine(dialect);
        ask(&mut engine, START, &name(0, 0), 1);
        assert!(!answer(&mut engine, START, 0, &name(0, 1)), "from now on it is wanted to be recognised");
        for (round, other) in [(0, name(0, 7)), (1, name(0, 8))] {
            let wanted = name(0, 2 + round);
            ask(&mut engine, START, &wanted, 10 + round);
            let mut late = Arrivals::new(PRODUCERS[0]);
            let due = recognise(&mut engine, &late, &data(dialect, &wanted)).unwrap();
            receive(&mut engine, START, PRODUCERS[0], Packet::Data(data(dialect, &wanted)));
            assert_eq!(engine.counters().satisfied, u64::from(2 * round + 1));
            ask(&mut engine, START, &other, 20 + round);
            if round == 1 {
                // The other Interest has a ticket of its own, too.
                assert!(recognise(&mut engine, &late, &data(dialect, &other)).is_some());
            }
            late.push_due_answer(data(dialect, &wanted), due, None);
            late.hand_over(START, &mut engine);
            let satisfied = engine.counters().satisfied;
            assert_eq!(satisfied, u64::from(2 * round + 1), "the other Interest waits still");
            assert!(engine.pending_interests().any(|interest| interest.name() == other.as_ref()));
            receive(&mut engine, START, PRODUCERS[0], Packet::Data(data(dialect, &other)));
            assert_eq!(engine.counters().satisfied, u64::from(2 * round + 2));
        }
    }
}

#[test]
fn a_recognised_answer_satisfies_all_who_wait_for_its_name_and_renews_what_is_kept() {
    let mut engine = engine(Dialect::Ndn);
    let wanted = name(0, 0);
    ask(&mut engine, START, &wanted, 1);
    assert!(!answer(&mut engine, START, 0, &name(0, 1)));
    // One for just this name, one for it as a prefix, and one for a shorter prefix.
    let prefix: Name = "/0/of/many".parse().unwrap();
    ask(&mut engine, START, &wanted, 2);
    for (number, name) in [&wanted, &prefix].into_iter().enumerate() {
        let interest =
            InterestBuilder::new(name.clone()).nonce(10 + number as u32).can_be_prefix(true).build().unwrap();
        receive(&mut engine, START, CONSUMER, Packet::Interest(interest));
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

/// An Interest of CCNx with selectors, which accepts stale objects.
fn selecting(name: &Name, nonce: u32, fields: InterestFields<'_>) -> Packet {
    let nonce = nonce.to_be_bytes();
    let stale = AnswerOriginKind::new(7);
    let fields = InterestFields { nonce: Some(&nonce), answer_origin_kind: stale, ..fields };
    Packet::Interest(Interest::decode_ccnx(fields.encode(name).unwrap().into()).unwrap())
}

#[test]
fn a_recognised_object_satisfies_whose_selectors_it_meets_and_nobody_else() {
    let mut engine = engine(Dialect::Ccnx);
    let (wanted, prefix) = (name(0, 0), "/0/of/many".parse::<Name>().unwrap());
    ask(&mut engine, START, &wanted, 2);
    let publisher = |digest| Some(PublisherId::public_key(digest));
    let of = |publisher| InterestFields { publisher, ..InterestFields::default() };
    let others = [
        selecting(&wanted, 3, of(publisher(&[0x11; 32]))),
        selecting(&wanted, 4, of(publisher(&[0x22; 32]))),
        selecting(&prefix, 5, InterestFields::default()),
        selecting(&prefix, 6, InterestFields { max_suffix_components: Some(2), ..of(None) }),
    ];
    for interest in others {
        receive(&mut engine, START, CONSUMER, interest);
    }
    assert!(answer(&mut engine, START, 0, &wanted));
    let left: Vec<_> = engine.pending_interests().filter_map(|interest| interest.nonce()).collect();
    assert_eq!((engine.counters().satisfied, left.len()), (3, 2), "{left:?}");
    assert!([Nonce(4), Nonce(6)].iter().all(|nonce| left.contains(nonce)), "{left:?}");
}

#[test]
fn who_asks_with_selectors_is_not_taken_to_be_answered_by_the_name_alone() {
    let mut engine = engine(Dialect::Ccnx);
    assert!(!answer(&mut engine, START, 0, &name(0, 1)));
    let of = InterestFields { publisher: Some(PublisherId::public_key(&[0x22; 32])), ..Default::default() };
    receive(&mut engine, START, CONSUMER, selecting(&name(0, 0), 1, of));
    assert!(!answer(&mut engine, START, 0, &name(0, 0)));
    assert_eq!((engine.counters().satisfied, engine.pending_interests().count()), (0, 1));
}

#[test]
fn what_was_recognised_is_found_by_its_prefix_and_by_its_name() {
    let mut engine = engine(Dialect::Ccnx);
    assert!(!answer(&mut engine, START, 0, &name(0, 99)));
    // The first of its parent, and one more; and one with fewer components than they.
    let names = [name(0, 0), name(0, 1), "/0/of/few".parse().unwrap()];
    for (number, name) in names.iter().enumerate() {
        ask(&mut engine, START, name, number as u32);
        assert!(answer(&mut engine, START, 0, name), "{name}");
    }
    let asked: [&str; 6] =
        ["/0", "/0/of", "/0/of/many", "/0/of/many/components", "/0/of/few", "/0/of/many/components/1"];
    for (number, uri) in asked.into_iter().enumerate() {
        let prefix: Name = uri.parse().unwrap();
        let interest = selecting(&prefix, 100 + number as u32, InterestFields::default());
        receive(&mut engine, START, CONSUMER, interest);
        assert_eq!(engine.counters().cache_hits, number as u64 + 1, "{uri}");
    }
    let below: Name = "/0/of/few/more".parse().unwrap();
    receive(&mut engine, START, CONSUMER, selecting(&below, 200, InterestFields::default()));
    assert_eq!(engine.counters().cache_hits, 6);
}
