//! `cairn face create`, `update` and `destroy`.

use clap::Args;
use management::{Command, ControlParameters, FaceFlags, FacePersistency, StatusCode};
use packet::Dialect;
use packet::time::Duration;

use super::show::{parameters_json, persistency};
use crate::tool::ToolError;
use crate::tool::face_address::{FaceName, canonical_in};
use crate::tool::forwarder::{Forwarder, accepted};
use crate::tool::output;
use crate::tool::switch::{MaskedFlags, Switch, masked_flags};
use crate::tool::units::{duration, size};

/// How the addresses of faces begin that forwarders have for themselves.
const OWN_FACES: [&str; 3] = ["internal:", "contentstore:", "null:"];

/// Make a face to a peer. One that exists already is as good, and gets the settings that are given.
#[derive(Debug, Args)]
pub(super) struct CreateArguments {
    /// Where to: udp://host:port, tcp://host:port (the port may be left out), an Ethernet address in
    /// brackets after ether://, for CCNx an address after ip4:// or in brackets after ip6:// …
    remote: String,
    /// Where from, which ether:// needs: dev://eth0.
    #[arg(long, value_name = "URI")]
    local: Option<String>,
    /// What the peer speaks: ndn, or ccnx as ccnd does.
    #[arg(long, default_value = "ndn", value_name = "DIALECT")]
    dialect: Dialect,
    #[command(flatten)]
    settings: Settings,
}

/// Change a face.
#[derive(Debug, Args)]
pub(super) struct UpdateArguments {
    /// Its number, or the address of its peer.
    face: FaceName,
    #[command(flatten)]
    settings: Settings,
}

/// Remove a face.
#[derive(Debug, Args)]
pub(super) struct DestroyArguments {
    /// Its number, or the address of its peer.
    face: FaceName,
}

/// What a face can be made to do.
#[derive(Debug, Args)]
struct Settings {
    /// When it closes by itself: persistent (the default of new faces), when its socket fails; permanent,
    /// never.
    #[arg(long, value_parser = persistency)]
    persistency: Option<FacePersistency>,
    /// Largest frame in bytes.
    #[arg(long, value_name = "BYTES", value_parser = size)]
    mtu: Option<u64>,
    /// Whether losses are repaired (NDNLPv2 reliability); turn it on at both ends.
    #[arg(long, value_name = "ON|OFF")]
    reliability: Option<Switch>,
    /// Whether packets are marked when the send queue is long.
    #[arg(long, value_name = "ON|OFF")]
    congestion_marking: Option<Switch>,
    /// How long the queue must be too long before the first mark, such as 100ms.
    #[arg(long, value_name = "TIME", value_parser = duration)]
    marking_interval: Option<Duration>,
    /// Queue length above which packets are marked, such as 64KiB.
    #[arg(long, value_name = "BYTES", value_parser = size)]
    marking_threshold: Option<u64>,
    /// Whether the application at the other end is told by which face packets came.
    #[arg(long, value_name = "ON|OFF")]
    local_fields: Option<Switch>,
}

impl Settings {
    fn parameters(&self) -> ControlParameters {
        let MaskedFlags { flags, mask } = masked_flags(&[
            (self.local_fields, FaceFlags::LOCAL_FIELDS.0),
            (self.reliability, FaceFlags::LP_RELIABILITY.0),
            (self.congestion_marking, FaceFlags::CONGESTION_MARKING.0),
        ]);
        ControlParameters {
            face_persistency: self.persistency,
            mtu_bytes: self.mtu,
            base_congestion_marking_interval_ns: self.marking_interval.map(Duration::as_nanos),
            default_congestion_threshold_bytes: self.marking_threshold,
            flags,
            mask,
            ..Default::default()
        }
    }

    /// Whether a face lacks something that is asked for.
    fn differ_from(&self, face: &ControlParameters) -> bool {
        fn differs<T: PartialEq + Copy>(asked: Option<T>, has: Option<T>) -> bool {
            asked.is_some() && asked != has
        }
        let asked = self.parameters();
        let mask = asked.mask.unwrap_or(0);
        differs(asked.face_persistency, face.face_persistency)
            || differs(asked.mtu_bytes, face.mtu_bytes)
            || differs(asked.base_congestion_marking_interval_ns, face.base_congestion_marking_interval_ns)
            || differs(asked.default_congestion_threshold_bytes, face.default_congestion_threshold_bytes)
            || asked.flags.unwrap_or(0) & mask != face.flags.unwrap_or(0) & mask
    }
}

impl CreateArguments {
    pub(super) fn run(&self, forwarder: &mut Forwarder) -> Result<(), ToolError> {
        let parameters = ControlParameters {
            uri: Some(canonical_in(self.dialect, &self.remote)?),
            local_uri: self.local.clone(),
            ..self.settings.parameters()
        };
        let parameters = match self.dialect {
            Dialect::Ndn => parameters,
            Dialect::Ccnx => ControlParameters {
                flags: Some(parameters.flags.unwrap_or(0) | FaceFlags::CCNX.0),
                mask: Some(parameters.mask.unwrap_or(0) | FaceFlags::CCNX.0),
                ..parameters
            },
        };
        let (face, what) = create(forwarder, &parameters)?;
        match face.face_id {
            Some(number) if what == "exists" && self.settings.differ_from(&face) => {
                let updated = update(forwarder, number, &self.settings)?;
                report(forwarder, "updated", &updated)
            }
            _ => report(forwarder, what, &face),
        }
    }
}

/// Makes a face, or finds that it exists; gives what it is, and which of the two it was.
pub(in crate::commands) fn create(
    forwarder: &mut Forwarder,
    parameters: &ControlParameters,
) -> Result<(ControlParameters, &'static str), ToolError> {
    let response = forwarder.try_command(Command::FacesCreate, parameters)?;
    if response.code == StatusCode::Conflict
        && let Some(existing) = response.parameters()?.filter(|body| body.face_id.is_some())
    {
        return Ok((existing, "exists"));
    }
    Ok((accepted(Command::FacesCreate, response)?, "created"))
}

impl UpdateArguments {
    pub(super) fn run(&self, forwarder: &mut Forwarder) -> Result<(), ToolError> {
        let face = self.face.must_find(forwarder)?;
        let updated = update(forwarder, face.face_id, &self.settings)?;
        report(forwarder, "updated", &updated)
    }
}

/// Changes a face; gives what it is now.
fn update(
    forwarder: &mut Forwarder,
    number: u64,
    settings: &Settings,
) -> Result<ControlParameters, ToolError> {
    let parameters = ControlParameters { face_id: Some(number), ..settings.parameters() };
    let response = forwarder.try_command(Command::FacesUpdate, &parameters)?;
    if response.code == StatusCode::Conflict
        && let Some(conflicts) = response.parameters()?
    {
        let conflicts = parameters_json(&conflicts);
        let settings = conflicts.as_object().into_iter().flatten();
        let settings: Vec<String> = settings.map(|(key, value)| format!("{key} {value}")).collect();
        let settings = settings.join(", ");
        return Err(ToolError::other(format!("face {number} cannot have {settings}; nothing was changed")));
    }
    accepted(Command::FacesUpdate, response)
}

impl DestroyArguments {
    pub(super) fn run(&self, forwarder: &mut Forwarder) -> Result<(), ToolError> {
        let face = self.face.must_find(forwarder)?;
        // A forwarder says of any face that it is gone, of its own ones too, which stay.
        if OWN_FACES.iter().any(|scheme| face.uri.starts_with(scheme)) {
            let (number, uri) = (face.face_id, face.uri);
            return Err(ToolError::other(format!(
                "face {number} to {uri} is the forwarder's own, and stays"
            )));
        }
        let parameters = ControlParameters { face_id: Some(face.face_id), ..Default::default() };
        forwarder.command(Command::FacesDestroy, &parameters)?;
        let gone = ControlParameters { uri: Some(face.uri), ..parameters };
        report(forwarder, "destroyed", &gone)
    }
}

fn report(forwarder: &Forwarder, what: &str, face: &ControlParameters) -> Result<(), ToolError> {
    if forwarder.json {
        let mut value = parameters_json(face);
        value["result"] = what.into();
        return Ok(output::json(&value)?);
    }
    let number = face.face_id.map_or_else(|| "?".to_owned(), |number| number.to_string());
    let to = face.uri.as_ref().map_or_else(String::new, |uri| format!(" to {uri}"));
    Ok(output::line(format_args!("face {number}{to} {what}"))?)
}
