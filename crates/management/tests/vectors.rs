//! Every vector under `vectors/ndn-management` says what is in it; decoders must find the same, and encoders
//! must write the same bytes again, for other implementations accept no other order.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::fmt::Display;

use cairn_management::{
    ChannelStatus, ControlParameters, ControlResponse, CsInfo, FaceEventNotification, FaceQueryFilter,
    FaceStatus, FibEntry, GeneralStatus, RibEntry, StrategyChoice, decode_list, encode_list,
};
use packet::DecodeError;
use testkit::vectors::load;

/// Header lines as a decoder would write them, and the bytes an encoder writes.
type Described = (Vec<(String, String)>, Vec<u8>);

fn describe(kind: &str, wire: &[u8]) -> Result<Described, DecodeError> {
    Ok(match kind {
        "management-parameters" => {
            let parameters = ControlParameters::decode(wire)?;
            (items([control_parameters(&parameters)]), parameters.encode())
        }
        "management-response" => {
            let response = ControlResponse::decode(wire)?;
            let mut lines = vec![line("code", response.code.number()), line("text", &response.text)];
            if let Some(parameters) = response.parameters()? {
                lines.push(line("body", control_parameters(&parameters)));
            }
            (lines, response.encode())
        }
        "management-general" => {
            let status = GeneralStatus::decode(wire)?;
            (vec![line("fields", general(&status))], status.encode())
        }
        "management-faces" => list(wire, face)?,
        "management-channels" => {
            list(wire, |channel: &ChannelStatus| Line::default().add("LocalUri", &channel.local_uri))?
        }
        "management-fib" => list(wire, fib)?,
        "management-rib" => list(wire, rib)?,
        "management-cs" => list(wire, content_store)?,
        "management-strategies" => list(wire, |choice: &StrategyChoice| {
            Line::default().add("Name", choice.prefix.as_ref()).add("Strategy", choice.strategy.as_ref())
        })?,
        "management-filter" => {
            let filter = FaceQueryFilter::decode(wire)?;
            (items([query_filter(&filter)]), filter.encode())
        }
        "management-event" => {
            let event = FaceEventNotification::decode(wire)?;
            (items([face_event(&event)]), event.encode())
        }
        _ => panic!("{kind} is no kind of vector"),
    })
}

#[test]
fn decoders_find_what_the_vectors_say_and_encoders_write_the_same_bytes() {
    for vector in load("ndn-management") {
        let (found, encoded) =
            describe(vector.kind(), &vector.bytes).unwrap_or_else(|error| panic!("{}: {error}", vector.name));
        let known = ["source", "kind", "about", "canonical"];
        let expected: Vec<_> =
            vector.header.iter().filter(|(key, _)| !known.contains(&key.as_str())).cloned().collect();
        // Fields that came out of order are found in the canonical one.
        let sorted = |lines: &[(String, String)]| -> Vec<(String, Vec<String>)> {
            let words = |text: &str| {
                let mut words: Vec<String> = text.split(' ').map(str::to_owned).collect();
                words.sort();
                words
            };
            lines.iter().map(|(key, value)| (key.clone(), words(value))).collect()
        };
        if vector.get("canonical") == Some("false") {
            assert_eq!(sorted(&found), sorted(&expected), "{}", vector.name);
            assert_ne!(encoded, vector.bytes, "{}", vector.name);
            assert_eq!(describe(vector.kind(), &encoded).unwrap().0, found, "{}", vector.name);
        } else {
            assert_eq!(found, expected, "{}", vector.name);
            assert_eq!(encoded, vector.bytes, "{}", vector.name);
        }
    }
}

#[test]
fn a_vector_that_ends_early_is_refused() {
    for vector in load("ndn-management") {
        let is_list = |kind: &str| {
            ["faces", "channels", "fib", "rib", "strategies", "general"]
                .iter()
                .any(|word| kind.ends_with(word))
        };
        for len in 1..vector.bytes.len() {
            let outcome = describe(vector.kind(), &vector.bytes[..len]);
            // A list may end behind any of its items.
            assert!(outcome.is_err() || is_list(vector.kind()), "{} cut to {len}", vector.name);
        }
    }
}

fn list<T: cairn_management::DatasetItem>(
    wire: &[u8],
    describe: impl Fn(&T) -> Line,
) -> Result<Described, DecodeError> {
    let list: Vec<T> = decode_list(wire)?;
    Ok((items(list.iter().map(describe)), encode_list(&list)))
}

fn items(lines: impl IntoIterator<Item = Line>) -> Vec<(String, String)> {
    lines.into_iter().zip(1..).map(|(item, number)| line(&format!("item-{number}"), item)).collect()
}

fn line(key: &str, value: impl Display) -> (String, String) {
    (key.to_owned(), value.to_string())
}

#[derive(Default)]
struct Line(Vec<String>);

impl Line {
    fn add(mut self, field: &str, value: impl Display) -> Self {
        self.0.push(format!("{field}={value}"));
        self
    }

    fn add_if(self, field: &str, value: Option<impl Display>) -> Self {
        match value {
            Some(value) => self.add(field, value),
            None => self,
        }
    }
}

impl Display for Line {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0.join(" "))
    }
}

fn control_parameters(parameters: &ControlParameters) -> Line {
    Line::default()
        .add_if("Name", parameters.name.as_ref().map(|name| name.as_ref()))
        .add_if("FaceId", parameters.face_id)
        .add_if("Uri", parameters.uri.as_ref())
        .add_if("LocalUri", parameters.local_uri.as_ref())
        .add_if("Origin", parameters.origin.map(|origin| origin.number()))
        .add_if("Cost", parameters.cost)
        .add_if("Capacity", parameters.capacity)
        .add_if("Count", parameters.count)
        .add_if("Flags", parameters.flags)
        .add_if("Mask", parameters.mask)
        .add_if("Strategy", parameters.strategy.as_ref().map(|name| name.as_ref()))
        .add_if("ExpirationPeriod", parameters.expiration_period_ms)
        .add_if("FacePersistency", parameters.face_persistency.map(|value| value.number()))
        .add_if("BaseCongestionMarkingInterval", parameters.base_congestion_marking_interval_ns)
        .add_if("DefaultCongestionThreshold", parameters.default_congestion_threshold_bytes)
        .add_if("Mtu", parameters.mtu_bytes)
}

fn general(status: &GeneralStatus) -> Line {
    Line::default()
        .add("NfdVersion", &status.version)
        .add("StartTimestamp", status.start_timestamp_ms)
        .add("CurrentTimestamp", status.current_timestamp_ms)
        .add("NNameTreeEntries", status.name_tree_entries)
        .add("NFibEntries", status.fib_entries)
        .add("NPitEntries", status.pit_entries)
        .add("NMeasurementsEntries", status.measurements_entries)
        .add("NCsEntries", status.cs_entries)
        .add("NInInterests", status.packets.in_interests)
        .add("NInData", status.packets.in_data)
        .add("NInNacks", status.packets.in_nacks)
        .add("NOutInterests", status.packets.out_interests)
        .add("NOutData", status.packets.out_data)
        .add("NOutNacks", status.packets.out_nacks)
        .add("NSatisfiedInterests", status.satisfied_interests)
        .add("NUnsatisfiedInterests", status.unsatisfied_interests)
}

fn face(face: &FaceStatus) -> Line {
    Line::default()
        .add("FaceId", face.face_id)
        .add("Uri", &face.uri)
        .add("LocalUri", &face.local_uri)
        .add_if("ExpirationPeriod", face.expiration_period_ms)
        .add("FaceScope", face.scope.number())
        .add("FacePersistency", face.persistency.number())
        .add("LinkType", face.link_type.number())
        .add_if("BaseCongestionMarkingInterval", face.base_congestion_marking_interval_ns)
        .add_if("DefaultCongestionThreshold", face.default_congestion_threshold_bytes)
        .add_if("Mtu", face.mtu_bytes)
        .add("NInInterests", face.packets.in_interests)
        .add("NInData", face.packets.in_data)
        .add("NInNacks", face.packets.in_nacks)
        .add("NOutInterests", face.packets.out_interests)
        .add("NOutData", face.packets.out_data)
        .add("NOutNacks", face.packets.out_nacks)
        .add("NInBytes", face.in_bytes)
        .add("NOutBytes", face.out_bytes)
        .add("Flags", face.flags.0)
}

fn fib(entry: &FibEntry) -> Line {
    entry.next_hops.iter().fold(Line::default().add("Name", entry.prefix.as_ref()), |mut line, hop| {
        line.0.push(format!(
            "NextHopRecord{{{}}}",
            Line::default().add("FaceId", hop.face_id).add("Cost", hop.cost)
        ));
        line
    })
}

fn rib(entry: &RibEntry) -> Line {
    entry.routes.iter().fold(Line::default().add("Name", entry.prefix.as_ref()), |mut line, route| {
        let fields = Line::default()
            .add("FaceId", route.face_id)
            .add("Origin", route.origin.number())
            .add("Cost", route.cost)
            .add("Flags", route.flags.0)
            .add_if("ExpirationPeriod", route.expiration_period_ms);
        line.0.push(format!("Route{{{fields}}}"));
        line
    })
}

fn content_store(info: &CsInfo) -> Line {
    Line::default()
        .add("Capacity", info.capacity)
        .add("Flags", info.flags.0)
        .add("NCsEntries", info.entries)
        .add("NHits", info.hits)
        .add("NMisses", info.misses)
}

fn query_filter(filter: &FaceQueryFilter) -> Line {
    Line::default()
        .add_if("FaceId", filter.face_id)
        .add_if("UriScheme", filter.uri_scheme.as_ref())
        .add_if("Uri", filter.uri.as_ref())
        .add_if("LocalUri", filter.local_uri.as_ref())
        .add_if("FaceScope", filter.scope.map(|scope| scope.number()))
        .add_if("FacePersistency", filter.persistency.map(|persistency| persistency.number()))
        .add_if("LinkType", filter.link_type.map(|link_type| link_type.number()))
}

fn face_event(event: &FaceEventNotification) -> Line {
    Line::default()
        .add("FaceEventKind", event.kind.number())
        .add("FaceId", event.face_id)
        .add("Uri", &event.uri)
        .add("LocalUri", &event.local_uri)
        .add("FaceScope", event.scope.number())
        .add("FacePersistency", event.persistency.number())
        .add("LinkType", event.link_type.number())
        .add("Flags", event.flags.0)
}
