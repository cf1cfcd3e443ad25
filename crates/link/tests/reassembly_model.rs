//! Reassembly against a model: maps from packet to fragments, without any of the cleverness.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests may panic")]

mod common;

use std::collections::BTreeMap;

use cairn_link::v1;
use cairn_link::v2::{Config, EndpointId, LinkService, ReassemblyConfig};
use common::data;
use packet::ccnx::ndnlp;
use packet::ndn::lp::LpPacketView;
use packet::random::Random;
use packet::time::{Duration, Instant};

/// One fragment under way.
#[derive(Clone, Debug)]
struct Fragment {
    from: u64,
    base: u64,
    index: u64,
    count: u64,
    bytes: Vec<u8>,
}

/// The rules of section 3 as they are written: by (endpoint, base), the count of the first fragment seen
/// holds, repetitions are ignored, a packet is complete when all indices are there, and forgotten when
/// nothing new came for the timeout.
#[derive(Default)]
struct Model {
    partial: BTreeMap<(u64, u64), Partial>,
}

struct Partial {
    count: u64,
    latest: Instant,
    pieces: BTreeMap<u64, Vec<u8>>,
}

impl Model {
    const TIMEOUT: Duration = Duration::from_millis(500);

    fn receive(&mut self, now: Instant, fragment: &Fragment) -> Option<Vec<u8>> {
        self.partial.retain(|_, partial| partial.latest + Self::TIMEOUT > now);
        if fragment.index >= fragment.count {
            return None;
        }
        let key = (fragment.from, fragment.base);
        let new = || Partial { count: fragment.count, latest: now, pieces: BTreeMap::new() };
        let partial = self.partial.entry(key).or_insert_with(new);
        if partial.count != fragment.count || partial.pieces.contains_key(&fragment.index) {
            return None;
        }
        partial.latest = now;
        partial.pieces.insert(fragment.index, fragment.bytes.clone());
        if partial.pieces.len() as u64 != partial.count {
            return None;
        }
        self.partial.remove(&key).map(|partial| partial.pieces.into_values().flatten().collect())
    }
}

fn receive(service: &mut LinkService, now: Instant, fragment: &Fragment) -> Option<Vec<u8>> {
    let fields = LpPacketView {
        sequence: Some(fragment.base.wrapping_add(fragment.index)),
        frag_index: Some(fragment.index),
        frag_count: Some(fragment.count),
        fragment: Some(&fragment.bytes),
        ..LpPacketView::default()
    };
    let mut frame = Vec::new();
    fields.encode(&mut frame);
    // The owner of a service lets time pass before it hands in what arrives at the same instant.
    if service.next_deadline() <= now {
        service.handle_timeout(now);
    }
    let _ = service.receive(now, EndpointId(fragment.from), &frame);
    service.poll_deliver().map(|delivery| delivery.packet.to_vec())
}

/// Cuts a packet at random places.
fn cut(random: &mut Random, from: u64, base: u64, packet: &[u8]) -> Vec<Fragment> {
    let count = 2 + random.below(7);
    // Some begin with slices so short that they do not even hold the packet's type and length.
    let shortest = if random.chance(0.3) { 1 } else { 4 };
    let range = if random.chance(0.3) { 8 } else { packet.len() as u64 - 5 };
    let mut cuts: Vec<usize> = (1..count).map(|_| shortest + random.below(range) as usize).collect();
    cuts.sort_unstable();
    cuts.dedup();
    let ends = cuts.iter().copied().chain([packet.len()]);
    let starts = [0].into_iter().chain(cuts.iter().copied());
    let slices: Vec<Vec<u8>> = starts.zip(ends).map(|(start, end)| packet[start..end].to_vec()).collect();
    let count = slices.len() as u64;
    let numbered = slices.into_iter().zip(0..);
    numbered.map(|(bytes, index)| Fragment { from, base, index, count, bytes }).collect()
}

#[test]
fn random_schedules_of_fragments_deliver_exactly_what_the_model_delivers() {
    let mut delivered = 0;
    for seed in 0..60 {
        let mut random = Random::from_seed(seed);
        let limits =
            ReassemblyConfig { max_partial_packets: 1000, max_partial_bytes: 64 << 20, ..Default::default() };
        let config = Config { reassembly: Some(limits), ..Config::default() };
        let mut service = common::v2(&config, seed);
        let mut model = Model::default();
        let mut now = Instant::ZERO;
        let mut under_way: Vec<Fragment> = Vec::new();
        // Bases wrap around and packets of different endpoints share them.
        let first_base = u64::MAX - random.below(300);
        for step in 0..600u64 {
            if random.chance(0.4) {
                let packet = data(step, 20 + random.below(3000) as usize);
                let base = first_base.wrapping_add(step * 10);
                under_way.extend(cut(&mut random, random_endpoint(seed, step), base, &packet));
            }
            let time_jump = random.chance(0.01);
            now += Duration::from_micros(random.below(if time_jump { 700_000 } else { 2_000 }));
            for _ in 0..random.below(4) {
                if under_way.is_empty() {
                    break;
                }
                let place = random.below(under_way.len() as u64) as usize;
                let mut fragment = match random.below(10) {
                    0 => under_way[place].clone(),
                    _ => under_way.swap_remove(place),
                };
                match random.below(60) {
                    0 => fragment.count += 1,
                    1 => fragment.index = fragment.count + random.below(2),
                    2 => continue,
                    _ => {}
                }
                let expected = model.receive(now, &fragment);
                // What the model assembles from forged fragments may be no packet; then nothing is delivered.
                let expected = expected.filter(|packet| is_data(packet));
                delivered += u32::from(expected.is_some());
                assert_eq!(receive(&mut service, now, &fragment), expected, "seed {seed}, step {step}");
            }
        }
        // The service may hold fewer, for it gives up at once what can no longer become a packet.
        assert!(service.usage().partial_packets <= model.partial.len());
    }
    assert!(delivered > 3000, "{delivered}");
}

fn random_endpoint(seed: u64, step: u64) -> u64 {
    Random::derive(seed, step).below(3)
}

fn is_data(packet: &[u8]) -> bool {
    let mut reader = packet::ndn::tlv::Reader::new(packet, "packet");
    matches!(reader.element(), Ok(Some(element)) if element.kind == 6) && reader.is_empty()
}

/// All orders of `0..n`.
fn orders(n: usize) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for next in 0..n {
        all = all
            .iter()
            .flat_map(|order: &Vec<usize>| {
                (0..=order.len()).map(move |place| {
                    let mut longer = order.clone();
                    longer.insert(place, next);
                    longer
                })
            })
            .collect();
    }
    all
}

#[test]
fn every_order_of_up_to_five_fragments_gives_the_packet_once_and_leaves_nothing() {
    let mut tried = 0;
    for count in 1..=5usize {
        let packet = data(count as u64, 1000);
        for order in orders(count) {
            let mut service = common::v2(&Config::default(), 1);
            let size = 1000usize.div_ceil(count);
            let fragments: Vec<Fragment> = packet
                .chunks(size)
                .zip(0..)
                .map(|(bytes, index)| Fragment {
                    from: 0,
                    base: u64::MAX,
                    index,
                    count: count as u64,
                    bytes: bytes.to_vec(),
                })
                .collect();
            for (step, &index) in order.iter().enumerate() {
                let expected = (step + 1 == count).then(|| packet.clone());
                assert_eq!(receive(&mut service, Instant::ZERO, &fragments[index]), expected, "{order:?}");
                // Each fragment twice: the second one changes nothing, except that a packet already delivered
                // begins anew, for nothing is remembered of it without reliability.
                if step + 1 < count {
                    assert_eq!(receive(&mut service, Instant::ZERO, &fragments[index]), None, "{order:?}");
                }
            }
            assert_eq!(service.usage(), Default::default());
            tried += 1;
        }
    }
    assert_eq!(tried, 1 + 2 + 6 + 24 + 120);
}

#[test]
fn counts_and_indices_at_every_boundary_are_judged_alike_by_both_versions() {
    for count in [0u64, 1, 2, 399, 400, 401, 65_535] {
        for index in [0, 1, count.wrapping_sub(1), count, count + 1] {
            if index > 65_535 {
                continue;
            }
            let packet = data(1, 100);
            let fragment = Fragment { from: 0, base: 7, index, count, bytes: packet.clone() };
            let mut service = common::v2(&Config::default(), 1);
            let delivered = receive(&mut service, Instant::ZERO, &fragment);
            assert_eq!(delivered.is_some(), count == 1 && index == 0, "{index} of {count}");
            let kept = service.usage().partial_packets == 1;
            // Fragment 0 announces 100 bytes, which cannot be more than 100 fragments, and are not 2 of 100
            // bytes.
            let plausible = if index == 0 { (2..=100).contains(&count) } else { count <= 400 };
            assert_eq!(kept, index < count && count > 1 && plausible, "{index} of {count}");

            let data = ndnlp::LinkData {
                sequence: ndnlp::Sequence::new(7 + index),
                flags: ndnlp::Flags::NONE,
                fragment: ndnlp::Fragment { index: index as u16, count: count as u16 },
                payload: &packet,
            };
            let mut service = common::v1(&v1::Config::default(), 1);
            let outcome = service.receive(Instant::ZERO, &data.encode());
            let small_enough = (count - u64::from(count > 0)) * 100 < 65_535;
            let last = index + 1 == count;
            let accepted = index < count && (small_enough || (last && count <= 65_535));
            assert_eq!(outcome.is_ok(), accepted, "v1: {index} of {count}: {outcome:?}");
            assert_eq!(service.poll_deliver().is_some(), count == 1 && index == 0);
        }
    }
}
