//! What parity costs a sender and a receiver on a link with many ends while nothing is lost, and when it is.
//!
//! `cargo bench -p cairn-link --bench parity`. Time is of one packet of 1,250 bytes.

#![allow(clippy::unwrap_used, reason = "a benchmark may panic")]

use cairn_link::v2::{Config, Framed, LinkService, ParityConfig};
use divan::{Bencher, black_box};
use packet::ndn::tlv;
use packet::random::Random;
use packet::time::{Duration, Instant};
use packet::{Buffer, LinkHeader, LinkType};

fn main() {
    divan::main();
}

const PACKETS: usize = 1000;

fn packets() -> Vec<Buffer> {
    let packet = |number: usize| {
        let mut value = vec![0xda; 1246];
        value[100..108].copy_from_slice(&number.to_le_bytes());
        let mut packet = Vec::new();
        tlv::write_element(&mut packet, 6, &value);
        Buffer::from(packet)
    };
    (0..PACKETS).map(packet).collect()
}

fn service(parity: bool) -> LinkService {
    let parity = parity.then(ParityConfig::default);
    let config = Config { link_type: LinkType::MultiAccess, parity, ..Config::default() };
    LinkService::new(config, Random::from_seed(1)).unwrap()
}

/// Sends a packet as faces do that need no copy, and whatever is to follow it.
fn send(link: &mut LinkService, now: Instant, packet: &Buffer, frames: &mut Vec<u8>) {
    if link.frame_bare(now, packet) {
        return;
    }
    assert_eq!(link.frame(now, LinkHeader::NONE, None, packet, frames), Ok(Framed::Whole));
    while link.wants_poll() && link.poll_transmit(now, frames).is_some() {}
}

/// Packets again and again, so many apart that none counts as sent again.
#[divan::bench(args = [false, true])]
fn sending_without_losses(bencher: Bencher<'_, '_>, parity: bool) {
    let (packets, mut frames) = (packets(), Vec::new());
    let (mut link, mut now) = (service(parity), Instant::ZERO);
    bencher.counter(divan::counter::ItemsCount::new(PACKETS)).bench_local(|| {
        for packet in &packets {
            now += Duration::from_millis(1);
            send(&mut link, now, black_box(packet), &mut frames);
        }
        assert!(frames.is_empty());
    });
}

/// The same packets within half a second, as if all were asked for again. Parity comes and goes then, for it
/// is no help.
#[divan::bench(args = [false, true])]
fn sending_again_and_again(bencher: Bencher<'_, '_>, parity: bool) {
    let (packets, mut frames) = (packets(), Vec::new());
    let (mut link, mut now) = (service(parity), Instant::ZERO);
    bencher.counter(divan::counter::ItemsCount::new(PACKETS)).bench_local(|| {
        for packet in &packets {
            now += Duration::from_micros(100);
            send(&mut link, now, black_box(packet), &mut frames);
            frames.clear();
        }
    });
}

/// `true` where parity frames were heard.
#[divan::bench(args = [false, true])]
fn receiving(bencher: Bencher<'_, '_>, heard: bool) {
    let packets = packets();
    let mut link = service(true);
    // A block of one frame that nobody has seen, which is its own XOR, with a wrong hash.
    let mut parity = vec![0x64, 0x10, 0xfd, 0x03, 0xbc, 12, 1, 0, 1];
    parity.resize(18, 7);
    bencher.counter(divan::counter::ItemsCount::new(PACKETS)).bench_local(|| {
        if heard {
            let _ = link.receive(Instant::ZERO, cairn_link::v2::EndpointId(0), &parity);
        }
        packets.iter().filter(|packet| link.receive_bare(black_box(packet))).count()
    });
}
