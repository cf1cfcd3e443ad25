//! Between the words of the protocol and those of the node.

use engine::{FaceScope, NextHop};
use management::{
    ControlParameters, CsFlags, FaceEventKind, FaceEventNotification, FaceFlags, FacePersistency, FaceStatus,
    FibEntry, NextHopRecord, StatusCode,
};
use packet::time::Duration;
use packet::{Dialect, LinkType};

use super::MANAGED;
use crate::control::{
    self, ContentStoreChanges, ContentStoreStatus, CreateFaceError, FaceChanges, FaceConflict, FaceUri,
};

/// Largest packet of the network layer, which stands for an MTU that has no limit.
const UNLIMITED_MTU_BYTES: u64 = MANAGED.max_packet_bytes() as u64;

/// Status of a face as a dataset has it.
pub(super) fn face_status(face: &control::FaceSnapshot) -> FaceStatus {
    FaceStatus {
        face_id: face.id.0.into(),
        uri: face.remote.to_string(),
        local_uri: face.local.to_string(),
        expiration_period_ms: face.expires_in.map(Duration::as_millis),
        scope: face_scope(face.scope),
        persistency: face_persistency(face.persistency),
        link_type: link_type(face.link_type),
        base_congestion_marking_interval_ns: Some(face.congestion.interval.as_nanos()),
        default_congestion_threshold_bytes: Some(face.congestion.threshold_bytes),
        mtu_bytes: Some(mtu(face)),
        packets: face.traffic.packets,
        in_bytes: face.traffic.in_bytes,
        out_bytes: face.traffic.out_bytes,
        flags: face_flags(face),
    }
}

/// The number under which tools know the content store.
pub(super) const CONTENT_STORE_FACE: u64 = 254;
/// The number of the face by which nothing goes.
const NULL_FACE: u64 = 255;

/// Two faces that NFD lists because Data from its content store, and what goes nowhere, are said to come and
/// go by them.
pub(super) fn faces_without_peer() -> [FaceStatus; 2] {
    [(CONTENT_STORE_FACE, "contentstore://"), (NULL_FACE, "null://")].map(|(face_id, uri)| FaceStatus {
        face_id,
        uri: uri.to_owned(),
        local_uri: uri.to_owned(),
        expiration_period_ms: None,
        scope: management::FaceScope::Local,
        persistency: FacePersistency::Permanent,
        link_type: management::LinkType::PointToPoint,
        base_congestion_marking_interval_ns: None,
        default_congestion_threshold_bytes: None,
        mtu_bytes: Some(UNLIMITED_MTU_BYTES),
        packets: Default::default(),
        in_bytes: 0,
        out_bytes: 0,
        flags: FaceFlags::NONE,
    })
}

/// Whether a face is one of the node's own, which nobody makes or destroys.
pub(super) fn is_own_face(number: u64) -> bool {
    number <= NULL_FACE && number > 0
}

/// What happened to a face as a notification has it.
pub(super) fn face_event(event: &control::FaceEvent) -> FaceEventNotification {
    let face = &event.face;
    FaceEventNotification {
        kind: match event.kind {
            control::FaceEventKind::Created => FaceEventKind::Created,
            control::FaceEventKind::Destroyed => FaceEventKind::Destroyed,
            control::FaceEventKind::Up => FaceEventKind::Up,
            control::FaceEventKind::Down => FaceEventKind::Down,
        },
        face_id: face.id.0.into(),
        uri: face.remote.to_string(),
        local_uri: face.local.to_string(),
        scope: face_scope(face.scope),
        persistency: face_persistency(face.persistency),
        link_type: link_type(face.link_type),
        flags: face_flags(face),
    }
}

/// The settings of a face, as answers to commands have them; `with_addresses` adds where its ends are.
pub(super) fn face_parameters(face: &control::FaceSnapshot, with_addresses: bool) -> ControlParameters {
    ControlParameters {
        face_id: Some(face.id.0.into()),
        uri: with_addresses.then(|| face.remote.to_string()),
        local_uri: with_addresses.then(|| face.local.to_string()),
        flags: Some(face_flags(face).0),
        face_persistency: Some(face_persistency(face.persistency)),
        base_congestion_marking_interval_ns: Some(face.congestion.interval.as_nanos()),
        default_congestion_threshold_bytes: Some(face.congestion.threshold_bytes),
        mtu_bytes: Some(mtu(face)),
        ..Default::default()
    }
}

/// What a new face to `remote` is to speak: what its flag says, if the mask names that.
pub(super) fn dialect(parameters: &ControlParameters, remote: &FaceUri) -> Dialect {
    let (flags, mask) = (FaceFlags(parameters.flags.unwrap_or(0)), FaceFlags(parameters.mask.unwrap_or(0)));
    match remote {
        // Over IP alone there is no other.
        FaceUri::Ip(_) => Dialect::Ccnx,
        _ if mask.contains(FaceFlags::CCNX) && flags.contains(FaceFlags::CCNX) => Dialect::Ccnx,
        _ => MANAGED,
    }
}

/// What a command wants changed. Only flags that its mask names are.
pub(super) fn face_changes(parameters: &ControlParameters) -> FaceChanges {
    let (flags, mask) = (FaceFlags(parameters.flags.unwrap_or(0)), FaceFlags(parameters.mask.unwrap_or(0)));
    let flag = |flag| mask.contains(flag).then(|| flags.contains(flag));
    FaceChanges {
        persistency: parameters.face_persistency.and_then(node_persistency),
        local_fields: flag(FaceFlags::LOCAL_FIELDS),
        reliability: flag(FaceFlags::LP_RELIABILITY),
        congestion_marking: flag(FaceFlags::CONGESTION_MARKING),
        congestion_interval: parameters.base_congestion_marking_interval_ns.map(Duration::from_nanos),
        congestion_threshold_bytes: parameters.default_congestion_threshold_bytes,
        mtu_bytes: parameters.mtu_bytes,
        ndnlp1: None,
        ndnlp1_timings: None,
    }
}

/// Those of the `wanted` parameters that the face cannot have.
pub(super) fn conflicts(wanted: &ControlParameters, conflicts: &[FaceConflict]) -> ControlParameters {
    let mut body = ControlParameters::default();
    let mut bits = FaceFlags::NONE;
    for conflict in conflicts {
        match conflict {
            FaceConflict::Persistency => body.face_persistency = wanted.face_persistency,
            FaceConflict::LocalFields => bits = bits.with(FaceFlags::LOCAL_FIELDS),
            FaceConflict::Reliability => bits = bits.with(FaceFlags::LP_RELIABILITY),
            FaceConflict::CongestionMarking => {
                bits = bits.with(FaceFlags(FaceFlags::CONGESTION_MARKING.0 & wanted.mask.unwrap_or(0)));
                body.base_congestion_marking_interval_ns = wanted.base_congestion_marking_interval_ns;
                body.default_congestion_threshold_bytes = wanted.default_congestion_threshold_bytes;
            }
            FaceConflict::Mtu => body.mtu_bytes = wanted.mtu_bytes,
        }
    }
    if bits != FaceFlags::NONE {
        body.flags = Some(wanted.flags.unwrap_or(0) & bits.0);
        body.mask = Some(bits.0);
    }
    body
}

/// The code that tells why a face was not made.
pub(super) fn create_error_code(error: &CreateFaceError) -> StatusCode {
    match error {
        CreateFaceError::Exists(_) => StatusCode::Conflict,
        CreateFaceError::Unsupported(_) => StatusCode::UnsupportedProtocol,
        CreateFaceError::TooManyFaces { .. } | CreateFaceError::ShuttingDown => StatusCode::Unavailable,
        CreateFaceError::Socket(_) | CreateFaceError::FailedAtOnce => StatusCode::SocketError,
    }
}

pub(super) fn node_persistency(persistency: FacePersistency) -> Option<control::FacePersistency> {
    Some(match persistency {
        FacePersistency::Persistent => control::FacePersistency::Persistent,
        FacePersistency::OnDemand => control::FacePersistency::OnDemand,
        FacePersistency::Permanent => control::FacePersistency::Permanent,
        FacePersistency::Unknown(_) => return None,
    })
}

fn face_persistency(persistency: control::FacePersistency) -> FacePersistency {
    match persistency {
        control::FacePersistency::Persistent => FacePersistency::Persistent,
        control::FacePersistency::OnDemand => FacePersistency::OnDemand,
        control::FacePersistency::Permanent => FacePersistency::Permanent,
    }
}

fn face_scope(scope: FaceScope) -> management::FaceScope {
    match scope {
        FaceScope::NonLocal => management::FaceScope::NonLocal,
        FaceScope::Local => management::FaceScope::Local,
    }
}

fn link_type(link_type: LinkType) -> management::LinkType {
    match link_type {
        LinkType::PointToPoint => management::LinkType::PointToPoint,
        LinkType::MultiAccess => management::LinkType::MultiAccess,
        LinkType::AdHoc => management::LinkType::AdHoc,
    }
}

fn face_flags(face: &control::FaceSnapshot) -> FaceFlags {
    let all = [
        (face.local_fields, FaceFlags::LOCAL_FIELDS),
        (face.reliability, FaceFlags::LP_RELIABILITY),
        (face.congestion_marking, FaceFlags::CONGESTION_MARKING),
        (face.dialect == Dialect::Ccnx, FaceFlags::CCNX),
    ];
    all.iter().filter(|(is_set, _)| *is_set).fold(FaceFlags::NONE, |flags, (_, flag)| flags.with(*flag))
}

fn mtu(face: &control::FaceSnapshot) -> u64 {
    face.mtu_bytes.map_or(UNLIMITED_MTU_BYTES, |bytes| bytes.min(UNLIMITED_MTU_BYTES))
}

/// What a command wants changed of the content store.
pub(super) fn content_store_changes(parameters: &ControlParameters) -> ContentStoreChanges {
    let (flags, mask) = (CsFlags(parameters.flags.unwrap_or(0)), CsFlags(parameters.mask.unwrap_or(0)));
    let flag = |flag| mask.contains(flag).then(|| flags.contains(flag));
    ContentStoreChanges {
        max_entries: parameters.capacity.map(|capacity| u32::try_from(capacity).unwrap_or(u32::MAX)),
        admit: flag(CsFlags::ENABLE_ADMIT),
        serve: flag(CsFlags::ENABLE_SERVE),
        ..Default::default()
    }
}

pub(super) fn content_store_flags(store: &ContentStoreStatus) -> CsFlags {
    let admit = if store.admit { CsFlags::ENABLE_ADMIT } else { CsFlags::NONE };
    if store.serve { admit.with(CsFlags::ENABLE_SERVE) } else { admit }
}

pub(super) fn fib_entry(route: control::RouteStatus) -> FibEntry {
    let mut hops = route.next_hops;
    hops.sort_by_key(|NextHop { face, cost }| (*cost, *face));
    let record = |hop: NextHop| NextHopRecord { face_id: hop.face.0.into(), cost: hop.cost };
    FibEntry { prefix: route.prefix, next_hops: hops.into_iter().map(record).collect() }
}
