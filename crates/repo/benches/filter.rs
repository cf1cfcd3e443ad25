//! What a miss costs the data plane: the time in which the filter says that nothing stored answers an
//! Interest, in small and large stores, for names that were asked for just now and for many different ones.

#![allow(clippy::unwrap_used, reason = "what is built was made here")]

use cairn_repo::{Filter, SegmentForm};
use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use packet::ndn::InterestBuilder;
use packet::{Dialect, Interest, Name, NameHasher, PrefixHashes};

fn main() {
    divan::main();
}

fn hasher() -> NameHasher {
    NameHasher::new([3, 4])
}

fn hashes(name: &Name) -> PrefixHashes {
    hasher().hash(Dialect::Ndn, name.components())
}

fn filter(objects: u32) -> Filter {
    let filter = Filter::default();
    for number in 0..objects {
        let name = format!("/site/{}/file{number}/v=1", number % 100).parse().unwrap();
        filter.add(&hashes(&name), SegmentForm::Typed);
    }
    filter
}

/// Interests for segments, and the hashes that the data plane has of their names.
fn asked(uri: impl Fn(u32) -> String, count: u32) -> Vec<(Interest, PrefixHashes)> {
    let interest = |number| {
        let name: Name = uri(number).parse().unwrap();
        (InterestBuilder::new(name.clone()).build().unwrap(), hashes(&name))
    };
    (0..count).map(interest).collect()
}

fn measure(bencher: Bencher<'_, '_>, objects: u32, asked: &[(Interest, PrefixHashes)], expected: bool) {
    let filter = filter(objects);
    let held = asked.iter().filter(|(interest, hashes)| filter.may_answer(interest, hashes)).count();
    assert_eq!(held == asked.len(), expected);
    let mut next = asked.iter().cycle();
    bencher.counter(ItemsCount::new(64_usize)).bench_local(|| {
        for (interest, hashes) in next.by_ref().take(64) {
            black_box(filter.may_answer(black_box(interest), black_box(hashes)));
        }
    });
}

const OBJECTS: [u32; 3] = [1_000, 100_000, 1_000_000];

/// Segments of objects that are not here, of which few are asked for again and again.
#[divan::bench(args = OBJECTS)]
fn miss_few_names(bencher: Bencher<'_, '_>, objects: u32) {
    let asked = asked(|number| format!("/site/{number}/other/v=1/seg={number}"), 64);
    measure(bencher, objects, &asked, false);
}

/// The same, and so many that neither names nor places of the table are in a near cache.
#[divan::bench(args = OBJECTS)]
fn miss_many_names(bencher: Bencher<'_, '_>, objects: u32) {
    let asked = asked(|number| format!("/site/{}/other{number}/v=1/seg=0", number % 100), 1 << 15);
    measure(bencher, objects, &asked, false);
}

/// A name beside those that are here: the hash of its parent does not deny it.
#[divan::bench(args = OBJECTS)]
fn miss_beside(bencher: Bencher<'_, '_>, objects: u32) {
    let asked = asked(|number| format!("/site/{}/other{number}", number % 100), 1 << 10);
    measure(bencher, objects, &asked, false);
}

/// Segments of objects that are here.
#[divan::bench(args = OBJECTS)]
fn hit(bencher: Bencher<'_, '_>, objects: u32) {
    let asked = asked(|number| format!("/site/{}/file{number}/v=1/seg=3", number % 100), 1_000);
    measure(bencher, objects, &asked, true);
}
