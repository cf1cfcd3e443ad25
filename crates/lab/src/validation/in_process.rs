//! What is measured in this process, in loops: signatures, decoding in each dialect, and a repository's disk.

use std::collections::BTreeMap;
use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use packet::ccnx::{ContentObjectFields, InterestFields, SignedInfo, Ticks};
use packet::ndn::{DataBuilder, InterestBuilder};
use packet::{Buffer, Data, Dialect, Name, NameHasher, Packet, UnixTime, median};
use repo::disk::RealDisk;
use repo::{Store, StoreConfig, StoreKeys};
use trust::{KeyKind, PrivateKey, SignatureVerifier, Signer};

use crate::experiment::profile::{DialectCost, DiskCost, SignatureCost};

/// The content of a segment as the lab has it.
const CONTENT: usize = 4096;

/// To hundredths of a microsecond.
pub(super) fn rounded(cost: f64) -> f64 {
    (cost * 100.0).round() / 100.0
}

/// What decoding costs, by dialect.
pub(super) fn dialects() -> BTreeMap<String, DialectCost> {
    let of = |dialect: Dialect, interest: Option<Vec<u8>>, data: Option<Vec<u8>>| {
        let decode = |wire: Vec<u8>| {
            let wire = Buffer::from(wire);
            Packet::decode(dialect, wire.clone(), None).ok()?;
            Some(rounded(time_us(|| drop(black_box(Packet::decode(dialect, black_box(wire.clone()), None))))))
        };
        Some(DialectCost { interest_us: decode(interest?)?, data_us: decode(data?)? })
    };
    let ndn = of(Dialect::Ndn, ndn_interest(), ndn_data(7).map(|data| data.wire().to_vec()));
    let ccnx = of(Dialect::Ccnx, ccnx_interest(), ccnx_data());
    let both = [("ndn", ndn), ("ccnx", ccnx)];
    both.into_iter().filter_map(|(name, cost)| Some((name.to_owned(), cost?))).collect()
}

fn ndn_interest() -> Option<Vec<u8>> {
    let name: Name = "/cost/seg=7".parse().ok()?;
    Some(InterestBuilder::new(name).nonce(7).build().ok()?.wire().to_vec())
}

fn ndn_data(segment: u64) -> Option<Data> {
    let name: Name = format!("/cost/seg={segment}").parse().ok()?;
    DataBuilder::new(name).content(vec![7; CONTENT]).build_with_digest().ok()
}

fn ccnx_interest() -> Option<Vec<u8>> {
    let name: Name = "/cost/7".parse().ok()?;
    InterestFields { nonce: Some(b"7777"), ..InterestFields::default() }.encode(&name).ok()
}

fn ccnx_data() -> Option<Vec<u8>> {
    let name: Name = "/cost/7".parse().ok()?;
    let content = vec![7; CONTENT];
    let signed_info = SignedInfo::new(&[0x11; 32], Ticks::from_unix(1_234_567_890, 0));
    let object = ContentObjectFields { name: (&name).into(), signed_info, content: &content };
    object.encode(None, |_| Ok::<_, packet::EncodeError>([0xaa; 128])).ok()
}

/// Segments that are stored by one sync.
const TOGETHER: u64 = 256;

/// What a repository takes for a segment of 4 KiB, in a folder beside the runs that is taken away again:
/// durable on disk, and read from there. Nothing where the disk refuses.
pub(super) fn disk(runs: &Path) -> Option<DiskCost> {
    let folder = runs.join(format!("disk-{}", std::process::id()));
    let cost = disk_at(&folder);
    // Left behind it takes room, and does no other harm.
    let _ = fs::remove_dir_all(&folder);
    cost
}

fn disk_at(folder: &Path) -> Option<DiskCost> {
    let keys = StoreKeys { records: [1, 2], names: NameHasher::new([3, 4]) };
    let disk = Arc::new(RealDisk::open(folder).ok()?);
    let (mut store, _) = Store::open(disk, StoreConfig::default(), keys).ok()?;
    let now = UnixTime::from_millis(1_700_000_000_000);
    let packets: Vec<Data> = (0..TOGETHER).filter_map(ndn_data).collect();
    let each = |begin: Instant| begin.elapsed().as_secs_f64() * 1e6 / packets.len().max(1) as f64;
    let begin = Instant::now();
    for data in &packets {
        store.insert(now, data).ok()?;
    }
    store.commit().ok()?;
    let insert_us = each(begin);
    let interests: Option<Vec<_>> =
        packets.iter().map(|data| InterestBuilder::new(data.name().to_name()).build().ok()).collect();
    let interests = interests?;
    let begin = Instant::now();
    for interest in &interests {
        store.answer(now, black_box(interest))?;
    }
    Some(DiskCost { insert_us: rounded(insert_us), answer_us: rounded(each(begin)) })
}

/// What signatures cost, by kind of key; a kind that the cryptographic library refuses is left out.
pub(super) fn signatures() -> BTreeMap<String, SignatureCost> {
    let kinds = [("ecdsa-p256", KeyKind::EcdsaP256), ("ed25519", KeyKind::Ed25519), ("hmac", KeyKind::Hmac)];
    let keyed = kinds.into_iter().filter_map(|(name, kind)| {
        let key = PrivateKey::generate(kind).ok()?;
        let signer = Signer::new(key.clone(), "/cost/KEY/1".parse().ok()?);
        Some((name, signature(&signer, &SignatureVerifier::of_private(&key).ok()?)?))
    });
    let digest = signature(&Signer::digest(), &SignatureVerifier::digest()).map(|cost| ("sha256", cost));
    keyed.chain(digest).map(|(name, cost)| (name.to_owned(), cost)).collect()
}

fn signature(signer: &Signer, verifier: &SignatureVerifier) -> Option<SignatureCost> {
    let segment = DataBuilder::new("/cost/seg=7".parse().ok()?).content(vec![7; CONTENT]);
    let data = signer.sign_data(&segment).ok()?;
    verifier.verify_data(&data).ok()?;
    Some(SignatureCost {
        sign_us: rounded(time_us(|| drop(black_box(signer.sign_data(black_box(&segment)))))),
        verify_us: rounded(time_us(|| {
            let _ = black_box(verifier.verify_data(black_box(&data)));
        })),
    })
}

/// Sleeps by which timers are judged, each as long as links in experiments hold frames.
const SLEEPS: u32 = 400;
const SLEEP: Duration = Duration::from_millis(1);

/// How much later than it asked for a thread is woken up by a timer, in microseconds: the median. Like a
/// forwarder's data plane the thread wants to be woken on time.
pub(super) fn timer_us() -> f64 {
    let sleep = || {
        // Where the kernel does not let it, forwarders are as late.
        let _ = nix::sys::prctl::set_timerslack(1);
        let slept = (0..SLEEPS).map(|_| {
            let begin = Instant::now();
            std::thread::sleep(SLEEP);
            begin.elapsed().saturating_sub(SLEEP).as_secs_f64() * 1e6
        });
        slept.collect::<Vec<f64>>()
    };
    // A thread of its own: the wish is one of a thread.
    let mut late = std::thread::spawn(sleep).join().unwrap_or_default();
    rounded(median(&mut late))
}

/// How long something takes, in microseconds: the least of several means, as everything else on a machine
/// only adds to it.
fn time_us(mut act: impl FnMut()) -> f64 {
    let mut least = f64::INFINITY;
    for _ in 0..5 {
        let (begin, mut count) = (Instant::now(), 0.0);
        while begin.elapsed() < Duration::from_millis(20) {
            act();
            count += 1.0;
        }
        least = least.min(begin.elapsed().as_secs_f64() * 1e6 / count);
    }
    least
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timer_is_late_by_some_time() {
        let late_us = timer_us();
        assert!(late_us > 0.0 && late_us.is_finite(), "{late_us}");
    }

    #[test]
    fn both_dialects_and_the_disk_are_measured() {
        let dialects = dialects();
        assert_eq!(dialects.keys().collect::<Vec<_>>(), ["ccnx", "ndn"]);
        assert!(dialects.values().all(|cost| cost.interest_us > 0.0 && cost.data_us > 0.0), "{dialects:?}");
        let runs = testkit::folder::TestFolder::absent("disk-cost");
        let cost = disk(&runs).unwrap();
        assert!(cost.insert_us > 0.0 && cost.answer_us > 0.0, "{cost:?}");
        assert_eq!(fs::read_dir(&runs).unwrap().count(), 0, "nothing stays");
    }
}
