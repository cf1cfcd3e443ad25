//! Time to decode one packet and to hash every prefix of its name, borrowed and owned, beside a plain keyed
//! hash of the same name bytes.

#![allow(clippy::unwrap_used, reason = "what is decoded was made here")]

use std::hash::{BuildHasher as _, RandomState};

use cairn_packet::ndn::{DataBuilder, DataView, InterestBuilder, InterestView};
use cairn_packet::time::Duration;
use cairn_packet::{Buffer, Component, ComponentKind, Data, Interest, NameHasher, PrefixHashes};
use divan::{Bencher, black_box};

fn main() {
    divan::main();
}

fn interest() -> Interest {
    InterestBuilder::new("/ndn/edu/site/file.bin/seg=1234".parse().unwrap())
        .nonce(0x01020304)
        .lifetime(Duration::from_millis(2000))
        .build()
        .unwrap()
}

fn data() -> Data {
    DataBuilder::new("/ndn/edu/site/file.bin/seg=1234".parse().unwrap())
        .freshness(Duration::from_secs(10))
        .final_block(Component::new(ComponentKind::SEGMENT, &[0x20, 0]))
        .content(vec![7; 1000])
        .build_with_digest()
        .unwrap()
}

fn hasher() -> NameHasher {
    NameHasher::new([3, 4])
}

#[divan::bench]
fn interest_view_with_hashes(bencher: Bencher<'_, '_>) {
    let (interest, hasher) = (interest(), hasher());
    let mut hashes = PrefixHashes::default();
    bencher.bench_local(|| {
        let view = InterestView::decode_hashed(black_box(interest.wire()), &hasher, &mut hashes).unwrap();
        black_box(&hashes);
        black_box(view).can_be_prefix()
    });
}

#[divan::bench]
fn interest_view_without_hashes(bencher: Bencher<'_, '_>) {
    let interest = interest();
    bencher
        .bench_local(|| black_box(InterestView::decode(black_box(interest.wire())).unwrap()).can_be_prefix());
}

#[divan::bench]
fn interest_owned_with_hashes(bencher: Bencher<'_, '_>) {
    let (interest, hasher) = (interest(), hasher());
    let mut hashes = PrefixHashes::default();
    bencher.bench_local(|| {
        let wire = Buffer::copy_from(black_box(interest.wire()));
        let decoded = Interest::decode_ndn_hashed(wire, &hasher, &mut hashes).unwrap();
        black_box(&hashes);
        decoded
    });
}

#[divan::bench]
fn data_view_with_hashes(bencher: Bencher<'_, '_>) {
    let (data, hasher) = (data(), hasher());
    let mut hashes = PrefixHashes::default();
    bencher.bench_local(|| {
        let view = DataView::decode_hashed(black_box(data.wire()), &hasher, &mut hashes).unwrap();
        black_box(&hashes);
        black_box(view).component_count()
    });
}

#[divan::bench]
fn data_view_without_hashes(bencher: Bencher<'_, '_>) {
    let data = data();
    bencher.bench_local(|| black_box(DataView::decode(black_box(data.wire())).unwrap()).component_count());
}

#[divan::bench]
fn data_owned_with_hashes(bencher: Bencher<'_, '_>) {
    let (data, hasher) = (data(), hasher());
    let mut hashes = PrefixHashes::default();
    bencher.bench_local(|| {
        let wire = Buffer::copy_from(black_box(data.wire()));
        let decoded = Data::decode_ndn_hashed(wire, &hasher, &mut hashes).unwrap();
        black_box(&hashes);
        decoded
    });
}

/// The baseline: the standard library's keyed hash over the whole name once.
#[divan::bench]
fn baseline_std_siphash_of_the_name(bencher: Bencher<'_, '_>) {
    let (interest, state) = (interest(), RandomState::new());
    let name = interest.name().canonical().to_vec();
    bencher.bench_local(|| state.hash_one(black_box(&name[..])));
}
