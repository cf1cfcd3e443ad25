use super::*;
use crate::disk::{Call, Faults, SimulatedDisk};
use crate::eviction::DeleteQueue;
use crate::store::maintenance::PendingMaintenance;
use crate::testing::ccnx_data;
use packet::ndn::{DataBuilder, InterestBuilder};
use packet::time::Duration;
use packet::{Component, ComponentKind, Dialect, Interest, Name};

const NOW: UnixTime = UnixTime::from_millis(1_700_000_000_000);

fn keys() -> StoreKeys {
    StoreKeys { records: [1, 2], names: NameHasher::new([3, 4]) }
}

fn config() -> StoreConfig {
    StoreConfig { volume_bytes: 32 << 10, checkpoint_bytes: 32 << 10, ..StoreConfig::default() }
}

fn open_with(disk: &SimulatedDisk, config: StoreConfig) -> (Store, Recovery) {
    Store::open(Arc::new(disk.clone()), config, keys()).unwrap()
}

fn open(disk: &SimulatedDisk) -> Store {
    open_with(disk, config()).0
}

fn data_of(uri: &str, fill: u8, bytes: usize) -> Data {
    DataBuilder::new(uri.parse().unwrap()).content(vec![fill; bytes]).build_with_digest().unwrap()
}

fn put(store: &mut Store, uri: &str) -> Data {
    let data = data_of(uri, 7, 500);
    store.insert(NOW, &data).unwrap();
    data
}

fn interest(uri: &str) -> Interest {
    InterestBuilder::new(uri.parse().unwrap()).build().unwrap()
}

fn below(uri: &str) -> Interest {
    InterestBuilder::new(uri.parse().unwrap()).can_be_prefix(true).build().unwrap()
}

fn ask(store: &mut Store, interest: &Interest) -> Option<String> {
    match store.answer(NOW, interest)? {
        Answer::Data(data) => Some(data.name().to_string()),
        Answer::Metadata(metadata) => Some(format!("metadata of {}", metadata.name)),
    }
}

fn settle(store: &mut Store) {
    while store.maintain(NOW).unwrap() == PendingMaintenance::More {}
}

#[test]
fn packets_are_found_by_exact_name_once_they_are_committed() {
    let mut store = open(&SimulatedDisk::new(1));
    let data = put(&mut store, "/a/v=1/seg=0");
    assert!(store.answer(NOW, &interest("/a/v=1/seg=0")).is_none());
    store.commit().unwrap();
    let Some(Answer::Data(answer)) = store.answer(NOW, &interest("/a/v=1/seg=0")) else { panic!() };
    assert_eq!(answer.wire(), data.wire());
    assert_eq!(ask(&mut store, &interest("/a/v=1/seg=1")), None);
    assert_eq!(ask(&mut store, &interest("/a/v=1")), None);
    assert_eq!((store.counters().hits, store.counters().misses), (1, 3));
}

#[test]
fn a_prefix_is_answered_by_the_newest_version_or_the_first_name() {
    let disk = SimulatedDisk::new(1);
    let mut store = open(&disk);
    for uri in ["/a/v=2/seg=0", "/a/v=300/seg=1", "/a/v=300/seg=2", "/a/v=10", "/a/b", "/c/z", "/c/d/e"] {
        put(&mut store, uri);
    }
    store.commit().unwrap();
    assert_eq!(ask(&mut store, &below("/a")).unwrap(), "/a/v=300/seg=1");
    assert_eq!(ask(&mut store, &below("/c")).unwrap(), "/c/d/e");
    assert_eq!(ask(&mut store, &below("/c/z")).unwrap(), "/c/z");
    assert_eq!(ask(&mut store, &below("/d")), None);
    drop(store);
    let (mut store, _) = open_with(&disk, StoreConfig { preference: Preference::Leftmost, ..config() });
    assert_eq!(ask(&mut store, &below("/a")).unwrap(), "/a/b");
}

#[test]
fn an_implicit_digest_is_answered_by_that_packet_only() {
    let mut store = open(&SimulatedDisk::new(1));
    let data = put(&mut store, "/a/seg=3");
    store.commit().unwrap();
    let mut full = |digest: [u8; 32]| {
        let name: Name = "/a/seg=3".parse().unwrap();
        let name = name.with(Component::new(ComponentKind::IMPLICIT_DIGEST, &digest)).unwrap();
        ask(&mut store, &InterestBuilder::new(name).build().unwrap())
    };
    assert!(full(data.implicit_digest()).is_some());
    assert_eq!(full([0; 32]), None);
}

#[test]
fn what_must_be_fresh_is_answered_for_as_long_as_the_packet_says() {
    let disk = SimulatedDisk::new(1);
    let mut store = open(&disk);
    let build = |uri: &str, secs| {
        let name = uri.parse().unwrap();
        DataBuilder::new(name).freshness(Duration::from_secs(secs)).build_with_digest().unwrap()
    };
    store.insert(NOW, &build("/a", 10)).unwrap();
    store.insert(NOW, &build("/b", 0)).unwrap();
    store.commit().unwrap();
    drop(store);
    let mut store = open(&disk);
    let fresh = |uri: &str| InterestBuilder::new(uri.parse().unwrap()).must_be_fresh(true).build().unwrap();
    let later = NOW.after(Duration::from_secs(10));
    let just_before = UnixTime::from_millis(later.as_millis() - 1);
    assert!(store.answer(just_before, &fresh("/a")).is_some());
    assert!(store.answer(later, &fresh("/a")).is_none());
    assert!(store.answer(NOW, &fresh("/b")).is_none());
    assert!(store.answer(later, &interest("/a")).is_some());
}

#[test]
fn metadata_is_made_from_the_newest_version_that_can_be_served() {
    let mut store = open(&SimulatedDisk::new(1));
    let last = [ComponentKind::SEGMENT.number() as u8, 1, 4];
    let name: Name = "/a/v=7/seg=0".parse().unwrap();
    let block = Component::new(ComponentKind::SEGMENT, &last[2..]);
    store.insert(NOW, &DataBuilder::new(name).final_block(block).build_with_digest().unwrap()).unwrap();
    put(&mut store, "/a/v=9/seg=1");
    put(&mut store, "/a/v=3/seg=0");
    store.commit().unwrap();
    let question = |uri: &str| {
        let name = uri.parse().unwrap();
        InterestBuilder::new(name).can_be_prefix(true).must_be_fresh(true).build().unwrap()
    };
    let Some(Answer::Metadata(metadata)) = store.answer(NOW, &question("/a/32=metadata")) else { panic!() };
    assert_eq!((metadata.name.to_string(), metadata.last_segment), ("/a/v=7".to_owned(), Some(4)));
    let packet = metadata_packet(NOW, &"/a".parse().unwrap(), &metadata).unwrap();
    assert!(question("/a/32=metadata").matches(&packet));
    assert_eq!(flow::Metadata::decode(packet.content()).unwrap(), metadata);
    assert_eq!(ask(&mut store, &question("/b/32=metadata")), None);
}

#[test]
fn stored_metadata_answers_only_while_it_tells_of_the_newest_version_that_is_here() {
    let mut store = open(&SimulatedDisk::new(1));
    let tell = |store: &mut Store, version: u64| {
        let metadata = flow::Metadata {
            name: format!("/a/v={version}").parse().unwrap(),
            last_segment: Some(0),
            segment_bytes: None,
            size_bytes: None,
        };
        let mut content = Vec::new();
        metadata.encode(&mut content);
        let name = format!("/a/32=metadata/v={version}/seg=0").parse().unwrap();
        let data = DataBuilder::new(name).freshness(Duration::from_secs(3600)).content(content);
        store.insert(NOW, &data.build_with_digest().unwrap()).unwrap();
        store.commit().unwrap();
    };
    let question = InterestBuilder::new("/a/32=metadata".parse().unwrap());
    let question = question.can_be_prefix(true).must_be_fresh(true).build().unwrap();
    tell(&mut store, 1);
    assert_eq!(ask(&mut store, &question).unwrap(), "/a/32=metadata/v=1/seg=0");
    put(&mut store, "/a/v=1/seg=0");
    store.commit().unwrap();
    assert_eq!(ask(&mut store, &question).unwrap(), "/a/32=metadata/v=1/seg=0");
    put(&mut store, "/a/v=2/seg=0");
    store.commit().unwrap();
    assert_eq!(ask(&mut store, &question).unwrap(), "metadata of /a/v=2");
    tell(&mut store, 2);
    assert_eq!(ask(&mut store, &question).unwrap(), "/a/32=metadata/v=2/seg=0");
    let newest = Selection::Object(Dialect::Ndn, "/a/v=2".parse().unwrap());
    store.delete(NOW, &newest).unwrap();
    assert_eq!(ask(&mut store, &question).unwrap(), "/a/32=metadata/v=1/seg=0");
}

#[test]
fn both_dialects_are_kept_and_never_meet() {
    let mut store = open(&SimulatedDisk::new(1));
    put(&mut store, "/a/b");
    store.commit().unwrap();
    let wire = packet::ccnx::InterestFields::default().encode(&"/a".parse::<Name>().unwrap()).unwrap();
    assert!(store.answer(NOW, &Interest::decode_ccnx(wire.into()).unwrap()).is_none());
}

#[test]
fn objects_prefixes_and_segments_are_deleted_and_their_room_is_given_back() {
    let disk = SimulatedDisk::new(1);
    let mut store = open(&disk);
    for object in 0..10 {
        for segment in 0..10 {
            let data = data_of(&format!("/p{}/o{object}/seg={segment}", object % 2), object, 1000);
            store.insert(NOW, &data).unwrap();
        }
        store.commit().unwrap();
    }
    let name = |uri: &str| uri.parse::<Name>().unwrap();
    let stats = store.stats();
    assert_eq!((stats.objects, stats.segments, stats.runs), (10, 100, 10));
    let prefix = Selection::Prefix(Dialect::Ndn, name("/p1"));
    let expected = store.would_delete(&prefix);
    assert_eq!(store.delete(NOW, &prefix), Ok(expected));
    assert_eq!((expected.objects, expected.segments), (5, 50));
    let some = Selection::Segments(Dialect::Ndn, name("/p0/o2"), 3, 5);
    assert_eq!(store.delete(NOW, &some).unwrap().segments, 3);
    let one = Selection::Object(Dialect::Ndn, name("/p0/o4"));
    assert_eq!(store.delete(NOW, &one).unwrap().objects, 1);
    assert_eq!(store.delete(NOW, &one), Ok(Deleted::default()));
    assert_eq!(ask(&mut store, &below("/p1")), None);
    assert_eq!(ask(&mut store, &interest("/p0/o2/seg=4")), None);
    assert!(ask(&mut store, &interest("/p0/o2/seg=6")).is_some());
    assert_eq!(store.stats().segments, 37);
    settle(&mut store);
    store.checkpoint().unwrap();
    let (stats, counted) = (store.stats(), store.bytes());
    assert!(stats.disk_bytes < stats.bytes * 2, "{stats:?}");
    drop(store);
    let mut store = open(&disk);
    assert_eq!((store.bytes(), store.stats().segments), (counted, 37));
    assert_eq!(store.stats().disk_bytes, stats.disk_bytes);
    assert!(ask(&mut store, &interest("/p0/o2/seg=6")).is_some());
    assert_eq!(ask(&mut store, &interest("/p0/o2/seg=4")), None);
}

#[test]
fn no_acknowledgement_precedes_the_sync_that_covers_it() {
    let disk = SimulatedDisk::new(1);
    let mut store = open(&disk);
    disk.record();
    for round in 0..30 {
        for segment in 0..10 {
            store.insert(NOW, &data_of(&format!("/a/v={round}/seg={segment}"), 1, 900)).unwrap();
        }
        store.commit().unwrap();
        disk.note("acknowledged");
        if round % 7 == 3 {
            let name = format!("/a/v={}", round - 1).parse().unwrap();
            store.delete(NOW, &Selection::Object(Dialect::Ndn, name)).unwrap();
            disk.note("acknowledged");
        }
        settle(&mut store);
    }
    let (mut unsynced, mut acknowledged) = (BTreeSet::new(), 0);
    for call in disk.record() {
        match call {
            Call::Write(file, _) if file.ends_with(".volume") => _ = unsynced.insert(file),
            // Whatever was in the file before must be durable before any of it is cut away.
            Call::Sync(file) => _ = unsynced.remove(&file),
            Call::Create(file) if file.ends_with(".volume") => _ = unsynced.insert("the folder".to_owned()),
            Call::SyncFolder => _ = unsynced.remove("the folder"),
            Call::Note(_) => {
                assert!(unsynced.is_empty(), "{unsynced:?}");
                acknowledged += 1;
            }
            _ => {}
        }
    }
    assert_eq!(acknowledged, 34);
}

#[test]
fn thousands_of_objects_are_deleted_and_pinned_with_a_few_syncs() {
    let disk = SimulatedDisk::new(1);
    let mut store = open_with(&disk, StoreConfig::default()).0;
    for object in 0..2000 {
        store.insert(NOW, &data_of(&format!("/o/{object}"), 1, 10)).unwrap();
    }
    store.commit().unwrap();
    let ids: Vec<_> = store.catalogue().iter().map(|(id, _)| id).collect();
    disk.record();
    assert_eq!(store.pin(NOW, &ids, true), Ok(2000));
    let expected = store.would_delete_all(&ids);
    assert_eq!(store.delete_all(NOW, &ids).unwrap(), expected);
    let syncs = disk.record().iter().filter(|call| matches!(call, Call::Sync(_))).count();
    assert!(syncs <= 2 && expected.objects == 2000, "{syncs} syncs");
    assert_eq!((store.stats().objects, store.counters().deletions), (0, 2000));
}

#[test]
fn on_a_full_disk_insertions_are_refused_with_the_reason_and_reads_go_on() {
    let disk = SimulatedDisk::new(1);
    let mut store = open(&disk);
    put(&mut store, "/a");
    store.commit().unwrap();
    disk.set_faults(Faults { capacity_bytes: disk.used_bytes(), ..Faults::default() });
    let data = data_of("/b", 1, 500);
    let ticket = store.insert(NOW, &data).unwrap();
    let error = store.commit().unwrap_err();
    assert_eq!(error, CommitError { reason: Rejection::DiskFull, first: ticket, last: ticket });
    assert_eq!(store.rejections().get(Rejection::DiskFull), 1);
    assert!(ask(&mut store, &interest("/a")).is_some());
    assert_eq!(ask(&mut store, &interest("/b")), None);
    disk.set_faults(Faults::default());
    store.insert(NOW, &data).unwrap();
    store.commit().unwrap();
    drop(store);
    let mut store = open(&disk);
    assert!(ask(&mut store, &interest("/a")).is_some() && ask(&mut store, &interest("/b")).is_some());
}

#[test]
fn on_a_full_disk_objects_can_be_deleted_and_make_room() {
    let disk = SimulatedDisk::new(1);
    let mut store = open(&disk);
    for object in 0..40 {
        store.insert(NOW, &data_of(&format!("/o{object}"), 1, 4000)).unwrap();
        store.commit().unwrap();
    }
    store.checkpoint().unwrap();
    disk.set_faults(Faults { capacity_bytes: disk.used_bytes(), ..Faults::default() });
    assert_eq!(store.insert(NOW, &data_of("/new", 1, 4000)).ok(), Some(InsertionId(40)));
    assert_eq!(store.commit().unwrap_err().reason, Rejection::DiskFull);
    for object in 0..20 {
        let name = format!("/o{object}").parse().unwrap();
        assert_eq!(store.delete(NOW, &Selection::Object(Dialect::Ndn, name)).unwrap().objects, 1);
    }
    settle(&mut store);
    store.insert(NOW, &data_of("/new", 1, 4000)).unwrap();
    store.commit().unwrap();
    assert!(ask(&mut store, &interest("/new")).is_some() && ask(&mut store, &interest("/o20")).is_some());
}

#[test]
fn packets_of_ccnx_are_found_by_name_prefix_digest_and_selectors() {
    use packet::ccnx::{ChildSelector, ContentObjectFields, InterestFields, SignedInfo, Ticks};
    let mut store = open(&SimulatedDisk::new(1));
    let version = |number: u8| [0xfd, 4, 0x99, 0x60, 0x2d, 0x20, number];
    let name = |last: u8, segment: &[u8]| {
        let version = version(last);
        let parts = [&b"a"[..], &version, segment].map(Component::generic);
        Name::from_components(parts).unwrap()
    };
    let mut objects = Vec::new();
    for (last, segment) in [(1, &[0][..]), (2, &[0]), (2, &[0, 1])] {
        let mut signed_info = SignedInfo::new(&[1; 32], Ticks::from_count(1));
        signed_info.final_block_id = Some(&[0, 1]);
        let name = name(last, segment);
        let object = ContentObjectFields { name: (&name).into(), signed_info, content: b"x" };
        let wire = object.encode(None, |_| Ok::<_, packet::EncodeError>([0xaa; 16])).unwrap();
        let data = Data::decode_ccnx(wire.into()).unwrap();
        store.insert(NOW, &data).unwrap();
        objects.push(data);
    }
    store.commit().unwrap();
    let mut find = |name: Name, fields: InterestFields<'_>| {
        let interest = Interest::decode_ccnx(fields.encode(&name).unwrap().into()).unwrap();
        match store.answer(NOW, &interest) {
            Some(Answer::Data(data)) => objects.iter().position(|object| object.wire() == data.wire()),
            _ => None,
        }
    };
    let usual = InterestFields::default;
    assert_eq!(find(name(2, &[0, 1]), usual()), Some(2));
    assert_eq!(find(name(2, &[0, 2]), usual()), None);
    let rightmost = InterestFields { child_selector: Some(ChildSelector::RIGHTMOST), ..usual() };
    assert_eq!(find("/a".parse().unwrap(), rightmost), Some(1));
    let digest = objects[0].implicit_digest();
    let full = name(1, &[0]).with(Component::generic(&objects[0].ccnx().unwrap().implicit_digest())).unwrap();
    assert_ne!(digest, [0; 32]);
    assert_eq!(find(full, usual()), Some(0));
    assert_eq!(find(name(1, &[0]).with(Component::generic(&[0; 32])).unwrap(), usual()), None);
    let finals: Vec<_> = store.catalogue().iter().map(|(_, object)| object.final_segment).collect();
    assert_eq!(finals, [Some(1), Some(1)]);
    assert!(store.catalogue().iter().last().unwrap().1.is_complete());
}

#[test]
fn a_flipped_bit_costs_its_object_and_is_told() {
    let mut dropped = 0;
    for seed in 0..40 {
        let disk = SimulatedDisk::new(seed);
        let mut store = open(&disk);
        let stored: Vec<Data> = (0..6).map(|object| put(&mut store, &format!("/o{object}/seg=0"))).collect();
        store.commit().unwrap();
        store.checkpoint().unwrap();
        assert!(disk.flip_a_bit(|name| name.ends_with(".volume"), 64));
        let mut missing = 0;
        for data in &stored {
            match store.answer(NOW, &InterestBuilder::new(data.name().to_name()).build().unwrap()) {
                Some(Answer::Data(answer)) => assert_eq!(answer.wire(), data.wire()),
                _ => missing += 1,
            }
        }
        assert!(missing <= 1);
        dropped += missing;
        assert_eq!(store.rejections().get(Rejection::Corrupt), missing);
        let told = std::iter::from_fn(|| store.poll_event()).count() as u64;
        assert_eq!(told, missing);
        assert_eq!(store.stats().objects, 6 - missing);
    }
    assert!(dropped > 30, "{dropped}");
}

#[test]
fn a_damaged_object_of_ccnx_is_told_by_its_name_there() {
    let name: AnyName = "ccnx:/damaged".parse().unwrap();
    let wire = packet::ccnx::InterestFields::default().encode(&name.name).unwrap();
    let asked = Interest::decode_ccnx(wire.into()).unwrap();
    let told = (1..20).find_map(|seed| {
        let disk = SimulatedDisk::new(seed);
        let mut store = open(&disk);
        store.insert(NOW, &ccnx_data("ccnx:/damaged", &[7; 500], None)).unwrap();
        store.commit().unwrap();
        assert!(disk.flip_a_bit(|name| name.ends_with(".volume"), 64));
        store.answer(NOW, &asked);
        store.poll_event()
    });
    assert_eq!(told, Some(Event::Corrupt(name)));
}

#[test]
fn a_second_store_on_the_same_disk_is_told_who_has_it() {
    let disk = SimulatedDisk::new(1);
    let _store = open(&disk);
    let error = Store::open(Arc::new(disk.clone()), config(), keys()).unwrap_err();
    assert!(matches!(error, OpenError::InUse(_)) && error.to_string().contains("in use by cairn"), "{error}");
}

#[test]
fn a_lost_or_damaged_index_is_made_anew_from_the_volumes() {
    for damage in 0..3 {
        let disk = SimulatedDisk::new(damage);
        let mut store = open(&disk);
        for object in 0..20 {
            (0..5).for_each(|segment| _ = put(&mut store, &format!("/o{object}/seg={segment}")));
            store.commit().unwrap();
        }
        store.checkpoint().unwrap();
        store.delete(NOW, &Selection::Prefix(Dialect::Ndn, "/o3".parse().unwrap())).unwrap();
        settle(&mut store);
        store.checkpoint().unwrap();
        drop(store);
        match damage {
            0 => disk.remove("index.redb").unwrap(),
            1 => {
                let file = disk.open("index.redb", false).unwrap();
                file.write_at(0, &[0xaa; 4096]).unwrap();
            }
            _ => assert!((0..2000).all(|_| disk.flip_a_bit(|name| name == "index.redb", 4096))),
        }
        let (mut store, recovery) = open_with(&disk, config());
        assert!(recovery.rebuilt || damage == 2);
        let stats = store.stats();
        assert_eq!((stats.objects, stats.segments), (19, 95), "damage {damage}");
        assert!(ask(&mut store, &interest("/o4/seg=4")).is_some());
        // Before the new index knows anything.
        disk.crash();
        drop(store);
        let (mut store, _) = open_with(&disk, config());
        assert_eq!(store.stats().segments, 95, "damage {damage}");
        assert!(ask(&mut store, &interest("/o4/seg=4")).is_some());
    }
}

#[test]
fn what_was_deleted_stays_deleted_though_all_around_the_notice_was_punched() {
    for seed in 0..10 {
        let disk = SimulatedDisk::new(seed);
        let (mut store, _) = open_with(&disk, StoreConfig { checkpoint_bytes: 1 << 20, ..config() });
        (0..8).for_each(|object| _ = put(&mut store, &format!("/first/{object}")));
        store.commit().unwrap();
        store.checkpoint().unwrap();
        let all = Selection::Prefix(Dialect::Ndn, "/".parse().unwrap());
        assert_eq!(store.delete(NOW, &all).unwrap().objects, 8);
        for object in 0..12 {
            put(&mut store, &format!("/later/{object}"));
            store.commit().unwrap();
            store.delete(NOW, &all).unwrap();
            settle(&mut store);
        }
        assert_eq!(store.counters().checkpoints, 1, "the index still knows the first objects");
        disk.crash();
        drop(store);
        assert_eq!(open(&disk).stats().objects, 0, "seed {seed}");
    }
}

#[test]
fn eviction_begins_above_the_threshold_and_spares_what_is_pinned_and_what_is_asked_for() {
    let disk = SimulatedDisk::new(1);
    let deletion = DeletionRule { threshold_bytes: 20_000, ratio: 0.5 };
    let (mut store, _) = open_with(&disk, StoreConfig { deletion, ..config() });
    store.set_eviction(Box::new(DeleteQueue::default()));
    for object in 0..30 {
        (0..2).for_each(|segment| _ = put(&mut store, &format!("/o{object}/seg={segment}")));
        store.commit().unwrap();
        if object == 0 {
            let id = store.catalogue().iter().next().unwrap().0;
            assert_eq!(store.pin(NOW, &[id], true), Ok(1));
        }
        assert!(ask(&mut store, &interest("/o1/seg=0")).is_some() || object == 0);
        settle(&mut store);
        assert!(store.bytes() <= 20_000);
    }
    assert!(store.counters().evictions > 10);
    assert!(ask(&mut store, &interest("/o0/seg=1")).is_some(), "pinned");
    assert!(ask(&mut store, &interest("/o1/seg=1")).is_some(), "asked for");
    drop(store);
    let (store, _) = open_with(&disk, config());
    assert_eq!(store.catalogue().iter().filter(|(_, object)| object.pinned).count(), 1);
}

#[test]
fn volumes_that_are_mostly_holes_are_compacted_at_the_rate_that_is_allowed_and_removed() {
    let disk = SimulatedDisk::new(1);
    let rate = StoreConfig { compact_below: 0.5, compact_bytes_per_second: 10_000, ..config() };
    let (mut store, _) = open_with(&disk, rate.clone());
    for object in 0..200 {
        (0..2).for_each(|segment| _ = put(&mut store, &format!("/o{object}/seg={segment}")));
        store.commit().unwrap();
    }
    store.checkpoint().unwrap();
    let before = store.stats();
    for object in (0..200).filter(|object| object % 10 != 0) {
        store.delete(NOW, &Selection::Prefix(Dialect::Ndn, format!("/o{object}").parse().unwrap())).unwrap();
    }
    let mut now = NOW;
    loop {
        match store.maintain(now).unwrap() {
            PendingMaintenance::More => {}
            PendingMaintenance::Later(then) => now = then,
            PendingMaintenance::Idle => break,
        }
    }
    let after = store.stats();
    assert!(store.counters().volumes_removed >= 3, "{:?}", store.counters());
    assert!(after.volumes < before.volumes);
    let copied = store.counters().compacted_bytes;
    assert!(now.as_millis() - NOW.as_millis() >= copied / 10 - 2000, "{copied} bytes");
    drop(store);
    let (mut store, recovery) = open_with(&disk, rate);
    assert_eq!((recovery.damaged, store.stats().objects), (0, 20));
    for object in (0..200).step_by(10) {
        assert!(ask(&mut store, &interest(&format!("/o{object}/seg=1"))).is_some());
    }
}

#[test]
fn each_limit_refuses_with_its_reason_and_counts() {
    let limits = Limits {
        max_bytes: 10_000,
        max_objects: 4,
        max_segments: 3,
        max_objects_of_prefix: 2,
        max_open_packets: 5,
        ..Limits::default()
    };
    let (mut store, _) = open_with(&SimulatedDisk::new(1), StoreConfig { limits, ..config() });
    let mut refused = |uri: &str, bytes: usize| {
        let result = store.insert(NOW, &data_of(uri, 1, bytes)).err();
        store.commit().unwrap();
        result
    };
    for segment in 0..3 {
        assert_eq!(refused(&format!("/a/x/seg={segment}"), 10), None);
    }
    assert_eq!(refused("/a/x/seg=3", 10), Some(Rejection::SegmentsFull));
    assert_eq!(refused("/a/y", 10), None);
    assert_eq!(refused("/a/z", 10), Some(Rejection::PrefixFull));
    assert_eq!(refused("/b", 10), None);
    assert_eq!(refused("/c", 10), None);
    assert_eq!(refused("/d", 10), Some(Rejection::ObjectsFull));
    let long = "/".to_owned() + &"x".repeat(8500);
    assert_eq!(refused(&long, 10), Some(Rejection::NameTooLong));
    assert_eq!(refused("/b", 6000), None);
    assert_eq!(refused("/c", 6000), None);
    assert_eq!(refused("/a/x/seg=0", 10), Some(Rejection::BytesFull));
    for rejection in
        [Rejection::SegmentsFull, Rejection::PrefixFull, Rejection::ObjectsFull, Rejection::NameTooLong]
    {
        assert_eq!(store.rejections().get(rejection), 1, "{rejection}");
    }
    let limits = Limits { max_open_packets: 5, ..Limits::default() };
    let (mut store, _) = open_with(&SimulatedDisk::new(1), StoreConfig { limits, ..config() });
    (0..5).for_each(|_| _ = put(&mut store, "/a"));
    assert_eq!(store.insert(NOW, &data_of("/a", 1, 1)), Err(Rejection::TooManyOpen));
}

#[test]
fn at_the_limit_on_objects_the_policy_makes_room_and_without_one_new_objects_are_refused() {
    for has_policy in [true, false] {
        let limits = Limits { max_objects: 40, ..Limits::default() };
        let deletion = DeletionRule { threshold_bytes: limits.max_bytes, ratio: 0.25 };
        let (mut store, _) = open_with(&SimulatedDisk::new(1), StoreConfig { limits, deletion, ..config() });
        if has_policy {
            store.set_eviction(Box::new(DeleteQueue::default()));
        }
        for object in 0..400 {
            // What is asked for stays.
            ask(&mut store, &interest("/o0"));
            let _ = store.insert(NOW, &data_of(&format!("/o{object}"), 1, 10));
            store.commit().unwrap();
            settle(&mut store);
            assert!(store.stats().objects <= 40);
        }
        assert_eq!(store.counters().evictions > 300, has_policy);
        assert_eq!(store.rejections().get(Rejection::ObjectsFull), if has_policy { 0 } else { 360 });
        assert!(ask(&mut store, &interest("/o0")).is_some());
        assert_eq!(ask(&mut store, &interest("/o399")).is_some(), has_policy);
    }
}

#[test]
fn memory_is_less_than_eight_bytes_a_segment_and_four_hundred_an_object() {
    let mut store =
        open_with(&SimulatedDisk::new(1), StoreConfig { volume_bytes: 1 << 30, ..StoreConfig::default() }).0;
    for object in 0..300 {
        let uri = format!("/edge/videos/some-video-{object:05}/v=1700000000000");
        for segment in 0..100 {
            store.insert(NOW, &data_of(&format!("{uri}/seg={segment}"), 1, 100)).unwrap();
        }
        store.commit().unwrap();
    }
    store.set_eviction(Box::new(DeleteQueue::default()));
    let stats = store.stats();
    assert_eq!((stats.objects, stats.runs), (300, 300));
    assert!(
        stats.memory_bytes / stats.objects <= 400,
        "{} bytes an object",
        stats.memory_bytes / stats.objects
    );
    assert!(stats.memory_bytes / stats.segments < 8);
}
