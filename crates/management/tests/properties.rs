//! What holds for every message: what is written can be read and is the same, whatever order its fields are
//! put in and whatever else stands between them; and no bytes make a decoder panic.
#![allow(clippy::unwrap_used, reason = "tests")]

use cairn_management::{
    ControlParameters, ControlResponse, CsFlags, CsInfo, DatasetFetch, Dropped, FaceEventNotification,
    FaceFlags, FacePersistency, FaceQueryFilter, FaceScope, FaceStatus, FibEntry, GeneralStatus, LinkType,
    NextHopRecord, PrefixAnnouncement, RepositoryTotals, RibEntry, Route, RouteFlags, RouteOrigin,
    StatusCode, StrategyChoice, Totals, decode_list, encode_list, segments,
};
use packet::ndn::ValidityPeriod;
use packet::ndn::tlv::{Reader, write_element, write_header};
use packet::{Component, ComponentKind, Name, PacketCounts, UnixTime};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

/// Numbers of every width.
fn number() -> impl Strategy<Value = u64> {
    (any::<u64>(), 0..64u32).prop_map(|(number, shift)| number >> shift)
}

fn text() -> impl Strategy<Value = String> {
    "\\PC{0,20}"
}

fn name() -> impl Strategy<Value = Name> {
    let kind = prop_oneof![4 => Just(8u16), 1 => 3..=65_535u16];
    vec((kind, vec(any::<u8>(), 0..8)), 0..5).prop_map(|all| {
        let components =
            all.iter().map(|(kind, value)| Component::new(ComponentKind::new(*kind).unwrap(), value));
        Name::from_components(components).unwrap()
    })
}

fn parameters() -> impl Strategy<Value = ControlParameters> {
    let first = (option::of(name()), option::of(number()), option::of(text()), option::of(text()));
    let second = vec(option::of(number()), 11);
    (first, option::of(name()), second).prop_map(|((name, face_id, uri, local_uri), strategy, numbers)| {
        ControlParameters {
            name,
            face_id,
            uri,
            local_uri,
            origin: numbers[0].map(RouteOrigin::from_number),
            cost: numbers[1],
            capacity: numbers[2],
            count: numbers[3],
            flags: numbers[4],
            mask: numbers[5],
            strategy,
            expiration_period_ms: numbers[6],
            face_persistency: numbers[7].map(FacePersistency::from_number),
            base_congestion_marking_interval_ns: numbers[8],
            default_congestion_threshold_bytes: numbers[9],
            mtu_bytes: numbers[10],
        }
    })
}

fn packet_counts(numbers: &[u64]) -> PacketCounts {
    PacketCounts {
        in_interests: numbers[0],
        in_data: numbers[1],
        in_nacks: numbers[2],
        out_interests: numbers[3],
        out_data: numbers[4],
        out_nacks: numbers[5],
    }
}

fn face() -> impl Strategy<Value = FaceStatus> {
    (text(), text(), vec(option::of(number()), 4), vec(number(), 13)).prop_map(
        |(uri, local_uri, options, numbers)| FaceStatus {
            face_id: numbers[0],
            uri,
            local_uri,
            expiration_period_ms: options[0],
            scope: FaceScope::from_number(numbers[1]),
            persistency: FacePersistency::from_number(numbers[2]),
            link_type: LinkType::from_number(numbers[3]),
            base_congestion_marking_interval_ns: options[1],
            default_congestion_threshold_bytes: options[2],
            mtu_bytes: options[3],
            packets: packet_counts(&numbers[4..]),
            in_bytes: numbers[10],
            out_bytes: numbers[11],
            flags: FaceFlags(numbers[12]),
        },
    )
}

fn rib_entry() -> impl Strategy<Value = RibEntry> {
    let route = (number(), number(), number(), number(), option::of(number())).prop_map(
        |(face_id, origin, cost, flags, expiration_period_ms)| Route {
            face_id,
            origin: RouteOrigin::from_number(origin),
            cost,
            flags: RouteFlags(flags),
            expiration_period_ms,
        },
    );
    (name(), vec(route, 0..4)).prop_map(|(prefix, routes)| RibEntry { prefix, routes })
}

fn fib_entry() -> impl Strategy<Value = FibEntry> {
    let hop = (number(), number()).prop_map(|(face_id, cost)| NextHopRecord { face_id, cost });
    (name(), vec(hop, 0..4)).prop_map(|(prefix, next_hops)| FibEntry { prefix, next_hops })
}

fn filter() -> impl Strategy<Value = FaceQueryFilter> {
    (vec(option::of(text()), 3), vec(option::of(number()), 4)).prop_map(|(texts, numbers)| FaceQueryFilter {
        face_id: numbers[0],
        uri_scheme: texts[0].clone(),
        uri: texts[1].clone(),
        local_uri: texts[2].clone(),
        scope: numbers[1].map(FaceScope::from_number),
        persistency: numbers[2].map(FacePersistency::from_number),
        link_type: numbers[3].map(LinkType::from_number),
    })
}

/// The elements inside the one that `wire` is, in another order and with an unknown one before each.
fn shuffled(wire: &[u8], order: &[usize], unknown: u32) -> Vec<u8> {
    let mut reader = Reader::new(wire, "outer");
    let outer = reader.element().unwrap().unwrap();
    let mut inside = reader.inside(outer, "inner");
    let mut elements = Vec::new();
    while let Some(element) = inside.element().unwrap() {
        elements.push(element);
    }
    for (at, &to) in order.iter().enumerate().take(elements.len()) {
        let to = to % elements.len();
        elements.swap(at, to);
    }
    let mut value = Vec::new();
    for element in elements {
        write_element(&mut value, unknown, b"?");
        write_element(&mut value, element.kind, element.value);
    }
    let mut out = Vec::new();
    write_header(&mut out, outer.kind, value.len());
    out.extend(value);
    out
}

proptest! {
    #[test]
    fn parameters_come_back_in_any_order_with_unknown_fields_between(
        parameters in parameters(),
        order in vec(0..16usize, 16),
        unknown in 300..70_000u32,
    ) {
        let wire = parameters.encode();
        prop_assert_eq!(&ControlParameters::decode(&wire).unwrap(), &parameters);
        prop_assert_eq!(&ControlParameters::decode(&shuffled(&wire, &order, unknown)).unwrap(), &parameters);
    }

    #[test]
    fn of_a_repeated_field_the_first_counts(parameters in parameters(), again in number()) {
        let mut wire = ControlParameters { cost: Some(again), ..parameters.clone() }.encode();
        let mut reader = Reader::new(&wire, "outer");
        let mut value = reader.element().unwrap().unwrap().value.to_vec();
        value.extend_from_slice(&[0x6a, 1, 7]);
        wire.clear();
        write_element(&mut wire, 104, &value);
        prop_assert_eq!(ControlParameters::decode(&wire).unwrap().cost, Some(again));
    }

    #[test]
    fn responses_come_back(code in number(), text in text(), body in option::of(parameters())) {
        let mut response = ControlResponse::error(StatusCode::from_number(code), text);
        if let Some(body) = &body {
            response = response.with_body(body);
        }
        let received = ControlResponse::decode(&response.encode()).unwrap();
        prop_assert_eq!(&received, &response);
        prop_assert_eq!(received.parameters().unwrap(), body);
    }

    #[test]
    fn datasets_come_back(
        faces in vec(face(), 0..4),
        routes in vec(rib_entry(), 0..4),
        hops in vec(fib_entry(), 0..4),
        choices in vec((name(), name()), 0..4),
        counts in vec(number(), 15),
        version in text(),
    ) {
        prop_assert_eq!(&decode_list::<FaceStatus>(&encode_list(&faces)).unwrap(), &faces);
        prop_assert_eq!(&decode_list::<RibEntry>(&encode_list(&routes)).unwrap(), &routes);
        prop_assert_eq!(&decode_list::<FibEntry>(&encode_list(&hops)).unwrap(), &hops);
        let choices: Vec<_> =
            choices.into_iter().map(|(prefix, strategy)| StrategyChoice { prefix, strategy }).collect();
        prop_assert_eq!(&decode_list::<StrategyChoice>(&encode_list(&choices)).unwrap(), &choices);
        let info = CsInfo {
            capacity: counts[0],
            flags: CsFlags(counts[1]),
            entries: counts[2],
            hits: counts[3],
            misses: counts[4],
        };
        prop_assert_eq!(decode_list::<CsInfo>(&encode_list(&[info])).unwrap(), [info]);
        let status = GeneralStatus {
            version,
            start_timestamp_ms: counts[0],
            current_timestamp_ms: counts[1],
            name_tree_entries: counts[2],
            fib_entries: counts[3],
            pit_entries: counts[4],
            measurements_entries: counts[5],
            cs_entries: counts[6],
            packets: packet_counts(&counts[7..]),
            satisfied_interests: counts[13],
            unsatisfied_interests: counts[14],
            totals: (counts[0] % 2 == 0).then(|| Totals {
                faces: counts[1],
                queued_bytes: counts[2],
                reassembly_bytes: counts[3],
                memory_budget_bytes: counts[2],
                pit_bytes: counts[4],
                cs_bytes: counts[5],
                table_bytes: counts[6],
                rib_routes: counts[7],
                rib_bytes: counts[8],
                drops: counts[..3].iter().map(|count| Dropped {
                    layer: "link".to_owned(),
                    reason: format!("reason-{count}"),
                    count: *count,
                }).collect(),
                sharing: vec![("waited".to_owned(), counts[0])],
                repositories: counts[..2].iter().map(|count| RepositoryTotals {
                    path: format!("/var/lib/{count}"),
                    numbers: vec![("objects".to_owned(), *count)],
                }).collect(),
            }),
        };
        prop_assert_eq!(GeneralStatus::decode(&status.encode()).unwrap(), status);
    }

    #[test]
    fn filters_and_events_come_back(filter in filter(), face in face(), kind in number()) {
        prop_assert_eq!(FaceQueryFilter::decode(&filter.encode()).unwrap(), filter);
        let event = FaceEventNotification {
            kind: cairn_management::FaceEventKind::from_number(kind),
            face_id: face.face_id,
            uri: face.uri,
            local_uri: face.local_uri,
            scope: face.scope,
            persistency: face.persistency,
            link_type: face.link_type,
            flags: face.flags,
        };
        prop_assert_eq!(FaceEventNotification::decode(&event.encode()).unwrap(), event);
    }

    #[test]
    fn a_filter_made_of_a_face_selects_it_and_not_one_that_differs(face in face(), field in 0..6usize) {
        let everything = FaceQueryFilter {
            face_id: Some(face.face_id),
            uri_scheme: face.uri.split_once("://").map(|(scheme, _)| scheme.to_owned()),
            uri: Some(face.uri.clone()),
            local_uri: Some(face.local_uri.clone()),
            scope: Some(face.scope),
            persistency: Some(face.persistency),
            link_type: Some(face.link_type),
        };
        prop_assert!(everything.matches(&face));
        prop_assert!(FaceQueryFilter::default().matches(&face));
        let mut other = face.clone();
        match field {
            0 => other.face_id ^= 1,
            1 => other.uri.push('x'),
            2 => other.local_uri.push('x'),
            3 => other.scope = FaceScope::from_number(face.scope.number() ^ 1),
            4 => other.persistency = FacePersistency::from_number(face.persistency.number() ^ 1),
            _ => other.link_type = LinkType::from_number(face.link_type.number() ^ 1),
        }
        prop_assert!(!everything.matches(&other));
    }

    #[test]
    fn announcements_come_back(
        prefix in name(),
        version in number(),
        expiration_period_ms in number(),
        validity in option::of((0..253_402_300_800u64, 0..253_402_300_800u64)),
    ) {
        let validity = validity.map(|(from, to)| ValidityPeriod {
            not_before: UnixTime::from_secs(from),
            not_after: UnixTime::from_secs(to),
        });
        let announcement = PrefixAnnouncement { prefix, version, expiration_period_ms, validity };
        let data = announcement.to_data().unwrap().build_with_digest().unwrap();
        prop_assert_eq!(PrefixAnnouncement::decode(&data).unwrap(), announcement);
    }

    #[test]
    fn a_dataset_of_any_size_comes_back_from_its_segments(len in 0..40_000usize, version in number()) {
        let name: Name = "/localhost/nfd/faces/list".parse().unwrap();
        let content: Vec<u8> = (0..len).map(|byte| (byte * 7 % 251) as u8).collect();
        let served: Vec<_> = segments(&name, version, &content)
            .unwrap()
            .iter()
            .map(|segment| segment.build_with_digest().unwrap())
            .collect();
        prop_assert_eq!(served.len(), len.div_ceil(8000).max(1));
        let with_final_block = served.iter().filter(|data| data.ndn().unwrap().final_block().is_some());
        prop_assert_eq!(with_final_block.count(), 1, "only the last says that it is the last");

        let mut fetch = DatasetFetch::new(name);
        let mut received = None;
        // The first answer may be any segment, from a cache.
        let mut answer = served.last().unwrap().clone();
        for _ in 0..=served.len() {
            received = fetch.receive(&answer).unwrap();
            if received.is_some() {
                break;
            }
            let asked = fetch.interest().unwrap().build().unwrap();
            answer = served.iter().find(|data| data.name() == asked.name()).unwrap().clone();
        }
        prop_assert_eq!(received, Some(content));
    }

    #[test]
    fn no_bytes_make_a_decoder_panic(mut bytes in vec(any::<u8>(), 0..80), kind in any::<u8>()) {
        if let [first, second, ..] = &mut bytes[..] {
            (*first, *second) = (kind, 78);
        }
        let _ = ControlParameters::decode(&bytes);
        let _ = ControlResponse::decode(&bytes);
        let _ = FaceQueryFilter::decode(&bytes);
        let _ = FaceEventNotification::decode(&bytes);
        let _ = GeneralStatus::decode(&bytes);
        let _ = decode_list::<FaceStatus>(&bytes);
        let _ = decode_list::<RibEntry>(&bytes);
    }
}

#[test]
fn a_refusal_is_one_whether_it_is_marked_as_such_or_only_stands_where_a_segment_should() {
    let name: Name = "/localhost/nfd/faces/channels".parse().unwrap();
    let refusal = ControlResponse::error(StatusCode::NotImplemented, "unknown");
    for data in [
        cairn_management::refusal_data(name.clone(), &refusal),
        cairn_management::response_data(name.clone(), &refusal),
    ] {
        let mut fetch = DatasetFetch::new(name.clone());
        let outcome = fetch.receive(&data.build_with_digest().unwrap());
        assert_eq!(outcome, Err(cairn_management::DatasetError::Refused(refusal.clone())));
    }
}
