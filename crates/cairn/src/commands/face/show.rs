//! `cairn face list`, `show` and `channels`.

use clap::Args;
use management::{
    ChannelStatus, ControlParameters, Dataset, FaceFlags, FacePersistency, FaceQueryFilter, FaceScope,
    FaceStatus, LinkType,
};
use packet::time::Duration;
use serde_json::{Map, Value, json};

use crate::tool::ToolError;
use crate::tool::face_address::{FaceName, canonical};
use crate::tool::forwarder::Forwarder;
use crate::tool::output;
use crate::tool::units::{show_duration, show_size};

/// List the faces, all or those that fit.
#[derive(Debug, Args)]
pub(super) struct ListArguments {
    /// Only faces with this scheme at either end: udp4, tcp6, unix, ether …
    #[arg(long)]
    scheme: Option<String>,
    /// Only faces that lead to this address.
    #[arg(long, value_name = "URI")]
    remote: Option<String>,
    /// Only faces that begin at this address.
    #[arg(long, value_name = "URI")]
    local: Option<String>,
    /// Only faces of this scope: local or non-local.
    #[arg(long, value_parser = scope)]
    scope: Option<FaceScope>,
    /// Only faces of this persistency: persistent, on-demand or permanent.
    #[arg(long, value_parser = persistency)]
    persistency: Option<FacePersistency>,
    /// Only faces of this link type: point-to-point, multi-access or adhoc.
    #[arg(long, value_parser = link_type)]
    link: Option<LinkType>,
}

/// Show all that is known about a face.
#[derive(Debug, Args)]
pub(super) struct ShowArguments {
    /// Its number, or the address of its peer.
    face: FaceName,
}

/// List where the forwarder listens.
#[derive(Debug, Args)]
pub(super) struct ChannelArguments {}

impl ListArguments {
    pub(super) fn run(&self, forwarder: &mut Forwarder) -> Result<(), ToolError> {
        let filter = FaceQueryFilter {
            face_id: None,
            uri_scheme: self.scheme.clone(),
            uri: self.remote.as_deref().map(canonical).transpose()?,
            local_uri: self.local.clone(),
            scope: self.scope,
            persistency: self.persistency,
            link_type: self.link,
        };
        let faces = forwarder.faces(&filter)?;
        if forwarder.json {
            let all: Vec<Value> = faces.iter().map(to_json).collect();
            return Ok(output::json(&Value::Array(all))?);
        }
        Ok(print_table(&faces)?)
    }
}

impl ShowArguments {
    pub(super) fn run(&self, forwarder: &mut Forwarder) -> Result<(), ToolError> {
        let face = self.face.must_find(forwarder)?;
        if forwarder.json {
            return Ok(output::json(&to_json(&face))?);
        }
        for (key, value) in details(&face) {
            output::pair(key, value)?;
        }
        Ok(())
    }
}

impl ChannelArguments {
    #[expect(clippy::unused_self, reason = "all commands run alike")]
    pub(super) fn run(&self, forwarder: &mut Forwarder) -> Result<(), ToolError> {
        let channels: Vec<ChannelStatus> = forwarder.list(Dataset::FacesChannels)?;
        if forwarder.json {
            let all: Vec<Value> = channels.iter().map(|channel| json!(channel.local_uri)).collect();
            return Ok(output::json(&Value::Array(all))?);
        }
        for channel in channels {
            output::line(output::printable(&channel.local_uri))?;
        }
        Ok(())
    }
}

/// The table of `face list`, and of the full status.
pub(in crate::commands) fn print_table(faces: &[FaceStatus]) -> std::io::Result<()> {
    let head = ["face", "remote", "local", "kind", "in I/D/N", "out I/D/N", "in", "out", "flags"];
    output::table(&head, &rows(faces))
}

fn rows(faces: &[FaceStatus]) -> Vec<Vec<String>> {
    faces
        .iter()
        .map(|face| {
            vec![
                face.face_id.to_string(),
                face.uri.clone(),
                face.local_uri.clone(),
                format!("{} {}", face.scope, face.persistency),
                format!("{}/{}/{}", face.packets.in_interests, face.packets.in_data, face.packets.in_nacks),
                format!(
                    "{}/{}/{}",
                    face.packets.out_interests, face.packets.out_data, face.packets.out_nacks
                ),
                show_size(face.in_bytes as f64),
                show_size(face.out_bytes as f64),
                face.flags.words().collect::<Vec<_>>().join(","),
            ]
        })
        .collect()
}

fn details(face: &FaceStatus) -> Vec<(&'static str, String)> {
    let mut lines = vec![
        ("face", face.face_id.to_string()),
        ("remote", face.uri.clone()),
        ("local", face.local_uri.clone()),
        ("scope", face.scope.to_string()),
        ("persistency", face.persistency.to_string()),
        ("link", face.link_type.to_string()),
    ];
    if let Some(ms) = face.expiration_period_ms {
        lines.push(("closes when idle in", show_duration(Duration::from_millis(ms))));
    }
    if let Some(mtu) = face.mtu_bytes {
        lines.push(("MTU", format!("{mtu} B")));
    }
    if let Some(interval) = face.base_congestion_marking_interval_ns {
        lines.push(("marking interval", show_duration(Duration::from_nanos(interval))));
    }
    if let Some(threshold) = face.default_congestion_threshold_bytes {
        lines.push(("marking threshold", format!("{threshold} B")));
    }
    let counts = |interests, data, nacks, bytes: u64| {
        format!("{interests} Interests, {data} Data, {nacks} Nacks, {}", show_size(bytes as f64))
    };
    lines.push((
        "in",
        counts(face.packets.in_interests, face.packets.in_data, face.packets.in_nacks, face.in_bytes),
    ));
    lines.push((
        "out",
        counts(face.packets.out_interests, face.packets.out_data, face.packets.out_nacks, face.out_bytes),
    ));
    lines.push(("flags", face.flags.words().collect::<Vec<_>>().join(", ")));
    lines
}

/// A face as JSON.
pub(in crate::commands) fn to_json(face: &FaceStatus) -> Value {
    json!({
        "face_id": face.face_id,
        "remote": face.uri,
        "local": face.local_uri,
        "scope": face.scope.to_string(),
        "persistency": face.persistency.to_string(),
        "link": face.link_type.to_string(),
        "closes_when_idle_in_ms": face.expiration_period_ms,
        "mtu_bytes": face.mtu_bytes,
        "marking_interval_ns": face.base_congestion_marking_interval_ns,
        "marking_threshold_bytes": face.default_congestion_threshold_bytes,
        "in_interests": face.packets.in_interests,
        "in_data": face.packets.in_data,
        "in_nacks": face.packets.in_nacks,
        "in_bytes": face.in_bytes,
        "out_interests": face.packets.out_interests,
        "out_data": face.packets.out_data,
        "out_nacks": face.packets.out_nacks,
        "out_bytes": face.out_bytes,
        "flags": flag_words(face.flags),
    })
}

fn flag_words(flags: FaceFlags) -> Vec<&'static str> {
    flags.words().collect()
}

/// What a command left in force, as JSON: only what it tells.
pub(super) fn parameters_json(parameters: &ControlParameters) -> Value {
    let mut map = Map::new();
    let mut add = |key: &str, value: Option<Value>| {
        if let Some(value) = value {
            map.insert(key.to_owned(), value);
        }
    };
    add("face_id", parameters.face_id.map(Value::from));
    add("remote", parameters.uri.clone().map(Value::from));
    add("local", parameters.local_uri.clone().map(Value::from));
    add("persistency", parameters.face_persistency.map(|value| json!(value.to_string())));
    add("flags", parameters.flags.map(|flags| json!(flag_words(FaceFlags(flags)))));
    add("mtu_bytes", parameters.mtu_bytes.map(Value::from));
    add("marking_interval_ns", parameters.base_congestion_marking_interval_ns.map(Value::from));
    add("marking_threshold_bytes", parameters.default_congestion_threshold_bytes.map(Value::from));
    Value::Object(map)
}

pub(super) fn persistency(word: &str) -> Result<FacePersistency, String> {
    FacePersistency::from_word(word).ok_or_else(|| "use persistent, on-demand or permanent".to_owned())
}

fn scope(word: &str) -> Result<FaceScope, String> {
    FaceScope::from_word(word).ok_or_else(|| "use local or non-local".to_owned())
}

fn link_type(word: &str) -> Result<LinkType, String> {
    LinkType::from_word(word).ok_or_else(|| "use point-to-point, multi-access or adhoc".to_owned())
}

#[cfg(test)]
mod tests {
    use packet::PacketCounts;

    use super::*;

    #[test]
    fn faces_of_nfd_show_what_its_own_tool_says_of_them() {
        let vectors = testkit::vectors::load("ndn-management");
        let vector = vectors.iter().find(|vector| vector.name == "nfd-faces-list").unwrap();
        let faces: Vec<FaceStatus> = management::decode_list(&vector.bytes).unwrap();
        // From nfdc's report of the same faces.
        let rows: Vec<String> = rows(&faces).iter().map(|row| row.join(" ")).collect();
        assert_eq!(
            [rows[0].as_str(), &rows[3], &rows[4]],
            [
                "1 internal:// internal:// local permanent 0/19/0 20/0/0 3.348 kB 1.973 kB local-fields",
                "256 fd://19 unix:///run/nfdcap/a.sock local on-demand 15/1/0 1/14/0 1.235 kB 2.576 kB \
                 local-fields,congestion-marking",
                "258 udp4://127.0.0.1:17364 udp4://127.0.0.1:17363 non-local persistent 0/0/0 0/0/0 0 B 0 B \
                 lp-reliability,congestion-marking",
            ]
        );
    }

    #[test]
    fn a_face_shows_what_it_is_in_words() {
        let face = FaceStatus {
            face_id: 258,
            uri: "udp4://192.0.2.1:6363".into(),
            local_uri: "udp4://192.0.2.2:6363".into(),
            expiration_period_ms: Some(599_000),
            scope: FaceScope::NonLocal,
            persistency: FacePersistency::OnDemand,
            link_type: LinkType::PointToPoint,
            base_congestion_marking_interval_ns: Some(100_000_000),
            default_congestion_threshold_bytes: None,
            mtu_bytes: Some(1400),
            packets: PacketCounts {
                in_interests: 1,
                in_data: 2,
                in_nacks: 3,
                out_interests: 4,
                out_data: 5,
                out_nacks: 6,
            },
            in_bytes: 7000,
            out_bytes: 8,
            flags: FaceFlags(6),
        };
        let lines: Vec<String> =
            details(&face).iter().map(|(key, value)| format!("{key}: {value}")).collect();
        for expected in [
            "persistency: on-demand",
            "closes when idle in: 599 s",
            "marking interval: 100 ms",
            "in: 1 Interests, 2 Data, 3 Nacks, 7 kB",
            "flags: lp-reliability, congestion-marking",
        ] {
            assert!(lines.iter().any(|line| line == expected), "{expected} in {lines:?}");
        }
        let json = to_json(&face);
        assert_eq!(json["flags"], json!(["lp-reliability", "congestion-marking"]));
        assert_eq!(json["marking_threshold_bytes"], Value::Null);
    }
}
