//! Ways past a forger. What is forged answers again and again: out of a cache, or by the face that strategy
//! prefers.

use std::collections::VecDeque;

use client::{ClaimedSigner, Client, RefusedPacketInfo};
use management::{Command, ControlParameters, Dataset, FaceFlags, FibEntry};
use packet::{Dialect, Name};
use trust::certificate::names::key_of;

/// Attempts after the first: one past the cache, the others by one next hop each.
const MAX_REFETCHES: usize = 5;

/// Refused packets that are told of, and erased from the cache.
const MAX_TOLD: usize = 8;

/// Packets of one name that are erased at once.
const ERASED_OF_A_NAME: u64 = 16;

/// What was refused so far.
#[derive(Debug, Default)]
pub(super) struct RefusedPackets {
    /// The first of them, each once.
    pub(super) told: Vec<RefusedPacketInfo>,
    pub(super) count: u64,
}

impl RefusedPackets {
    /// Tells of a packet that was not told of yet.
    pub(super) fn add(&mut self, refused: RefusedPacketInfo) {
        self.count += 1;
        // That the store has it as well is no news.
        let is_same = |other: &RefusedPacketInfo| {
            other.digest == refused.digest
                && (other.incoming_face == refused.incoming_face || !refused.is_traced())
        };
        if self.told.len() < MAX_TOLD && !self.told.iter().any(is_same) {
            tell!("cairn: refused {refused}");
            self.told.push(refused);
        }
    }
}

/// What is tried next.
#[derive(Debug, Default)]
pub(super) struct RefetchPlan {
    made: usize,
    hops: VecDeque<u64>,
    /// The face by which Interests leave the forwarder; as its strategy wants if there is none.
    pub(super) next_hop_face: Option<u64>,
    /// Whether the forwarder forgot what was refused.
    has_erased: bool,
}

impl RefetchPlan {
    /// Prepares the next attempt to get past what was refused. Says whether there is one: only the
    /// forwarder on this host can be told to forget a packet, or which way to take.
    pub(super) fn prepare(&mut self, client: &mut Client, name: &Name, refusals: &RefusedPackets) -> bool {
        if refusals.count == 0 || self.made >= MAX_REFETCHES || !client.connection().remote().is_local() {
            return false;
        }
        self.made += 1;
        for refused in &refusals.told {
            self.has_erased |= erase(client, refused);
        }
        if self.made == 1 {
            if enable_local_fields(client) {
                self.hops = next_hops(client, name);
            }
            return self.has_erased || !self.hops.is_empty();
        }
        let forgers: Vec<u64> = refusals.told.iter().filter_map(|refused| refused.incoming_face).collect();
        self.next_hop_face =
            std::iter::from_fn(|| self.hops.pop_front()).find(|face| !forgers.contains(face));
        self.next_hop_face.is_some()
    }

    /// What else people can do, after nothing has helped.
    pub(super) fn advice(&self, refusals: &RefusedPackets) -> Option<String> {
        // Faces and caches of CCNx are not managed this way.
        let first = refusals.told.first().filter(|first| first.name.dialect == Dialect::Ndn)?;
        let traced = refusals.told.iter().find(|told| told.is_traced());
        if let Some(face) = traced.and_then(|told| told.incoming_face) {
            return Some(format!(
                "face {face} of the forwarder brings what was refused. Add a route by another face, or remove that by this one (cairn face show {face}, cairn route list). A cache behind it is rid of what was refused with: cairn cs erase {}",
                first.name
            ));
        }
        let store =
            if self.has_erased { "that of this host has forgotten it" } else { "that of this host, too" };
        Some(format!(
            "a cache on the way may hold what was refused ({store}). On a host that does, this erases it: cairn cs erase {}",
            first.name
        ))
    }
}

/// Has the forwarder forget what was refused, and what it has for a certificate of the key: that may be
/// what is forged. Says whether it lets us.
fn erase(client: &mut Client, refused: &RefusedPacketInfo) -> bool {
    let key = match &refused.signer {
        Some(ClaimedSigner::Name(locator)) => key_of(locator.as_ref()).map(|key| key.to_name()),
        Some(ClaimedSigner::KeyDigest(_)) | None => None,
    };
    [Some(refused.name.name.clone()), key].into_iter().flatten().fold(true, |all, name| {
        let wanted = ControlParameters {
            name: Some(name),
            count: Some(ERASED_OF_A_NAME),
            ..ControlParameters::default()
        };
        client.command(Command::CsErase, &wanted).is_ok_and(|response| response.is_ok()) && all
    })
}

/// Has the forwarder say by which face Data came, and take the next hop that it is told.
fn enable_local_fields(client: &mut Client) -> bool {
    let flag = Some(FaceFlags::LOCAL_FIELDS.0);
    let wanted = ControlParameters { flags: flag, mask: flag, ..ControlParameters::default() };
    client.command(Command::FacesUpdate, &wanted).is_ok_and(|response| response.is_ok())
}

/// The faces that lead to the name or to what is above or below it, those of the longest prefix first.
fn next_hops(client: &mut Client, name: &Name) -> VecDeque<u64> {
    let entries: Vec<FibEntry> = client.list(Dataset::FibList).unwrap_or_default();
    let mut entries: Vec<&FibEntry> = entries
        .iter()
        .filter(|entry| {
            entry.prefix.as_ref().is_prefix_of(name.as_ref())
                || name.as_ref().is_prefix_of(entry.prefix.as_ref())
        })
        .collect();
    entries.sort_by_key(|entry| std::cmp::Reverse(entry.prefix.as_ref().component_count()));
    let mut hops = VecDeque::new();
    for hop in entries.iter().flat_map(|entry| &entry.next_hops) {
        if hops.len() < 4 * MAX_REFETCHES && !hops.contains(&hop.face_id) {
            hops.push_back(hop.face_id);
        }
    }
    hops
}
