//! Ways past a forger. What is forged answers again and again: out of a cache, or by the face that strategy
//! prefers.

use std::collections::BTreeSet;

use client::{ClaimedSigner, Client, RefusedPacketInfo};
use flow::verified::RequestKind;
use management::{Command, ControlParameters, Dataset, FaceFlags, FibEntry};
use packet::{Dialect, Name};
use trust::certificate::names::key_of;

/// Attempts after the first: one past the cache, the others by one next hop each.
const MAX_REFETCHES: usize = 7;

/// Refused packets that are told of, and erased from the cache.
const MAX_TOLD: usize = 8;

/// Packets of one name that are erased at once.
const ERASED_OF_A_NAME: u64 = 16;

/// Next hops that are looked at.
const MAX_HOPS: usize = 20;

/// What was refused so far.
#[derive(Debug, Default)]
pub(super) struct RefusedPackets {
    /// The first of them, each once.
    pub(super) told: Vec<RefusedPacketInfo>,
    last: Option<RefusedPacketInfo>,
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
            self.told.push(refused.clone());
        }
        self.last = Some(refused);
    }

    /// Those of them that something speaks against.
    fn bad(&self) -> impl Iterator<Item = &RefusedPacketInfo> {
        self.told.iter().filter(|refused| refused.missing_proof().is_none())
    }

    /// Whether what was to vouch for the packets was bad, and came by another face than they did.
    fn has_bad_proof_alone(&self) -> bool {
        self.last.as_ref().is_some_and(|last| {
            let is_from_one_face = last.is_traced() && last.incoming_face == last.vouches_for_face;
            last.kind == RequestKind::Proof && !is_from_one_face
        })
    }

    /// The faces by which bad proofs came.
    fn proof_forgers(&self) -> BTreeSet<u64> {
        let proofs = self.bad().filter(|refused| refused.kind == RequestKind::Proof);
        proofs.filter_map(|refused| refused.incoming_face).collect()
    }

    /// The faces by which packets came that are bad, or for which nobody vouches.
    fn suspects(&self) -> BTreeSet<u64> {
        let of_objects = self.told.iter().filter(|refused| refused.kind == RequestKind::Object);
        let of_both = self.bad().filter(|refused| refused.incoming_face == refused.vouches_for_face);
        of_objects.chain(of_both).filter_map(|refused| refused.incoming_face).collect()
    }

    /// What was to vouch for something, and was refused or could not be had.
    fn proofs(&self) -> Vec<Name> {
        let bad = self.bad().filter(|refused| refused.kind == RequestKind::Proof);
        let missing = self.told.iter().filter_map(RefusedPacketInfo::missing_proof);
        bad.map(|refused| refused.name.name.clone()).chain(missing.map(|missing| missing.name)).collect()
    }
}

/// The next hops of something, which are tried one after the other.
#[derive(Debug, Default)]
struct Hops {
    tried: BTreeSet<u64>,
    /// The one that is tried; as the forwarder's strategy wants if there is none.
    face: Option<u64>,
}

impl Hops {
    /// Goes on to the next one towards these names that is none of `others`; says whether there is one.
    fn go_on(&mut self, client: &mut Client, names: &[Name], others: &BTreeSet<u64>) -> bool {
        let untried = |face: &u64| !self.tried.contains(face) && !others.contains(face);
        let Some(next) = next_hops(client, names).into_iter().find(untried) else { return false };
        self.tried.insert(next);
        self.face = Some(next);
        true
    }
}

/// What is tried next.
#[derive(Debug, Default)]
pub(super) struct RefetchPlan {
    made: usize,
    has_local_fields: bool,
    object: Hops,
    proof: Hops,
    /// Whether the forwarder forgot what was refused.
    has_erased: bool,
}

impl RefetchPlan {
    /// The face by which Interests for the object leave the forwarder.
    pub(super) fn next_hop_face(&self) -> Option<u64> {
        self.object.face
    }

    /// The same for Interests for what vouches for it.
    pub(super) fn proof_next_hop_face(&self) -> Option<u64> {
        self.proof.face
    }

    /// Prepares the next attempt to get past what was refused. Says whether there is one: only the
    /// forwarder on this host can be told to forget a packet, or which way to take.
    pub(super) fn prepare(&mut self, client: &mut Client, name: &Name, refusals: &RefusedPackets) -> bool {
        if refusals.count == 0 || self.made >= MAX_REFETCHES || !client.connection().remote().is_local() {
            return false;
        }
        self.made += 1;
        // Those as well for which nobody vouches: from the store they would come again, by whatever face
        // others are asked.
        for refused in &refusals.told {
            self.has_erased |= erase(client, refused);
        }
        if self.made == 1 {
            self.has_local_fields = enable_local_fields(client);
            // Once more by the way of before, to see who brings it.
            return self.has_erased || self.has_local_fields;
        }
        self.has_local_fields && self.go_on(client, name, refusals)
    }

    /// Chooses the next way to what was wrong.
    fn go_on(&mut self, client: &mut Client, name: &Name, refusals: &RefusedPackets) -> bool {
        let (proofs, proof_forgers) = (refusals.proofs(), refusals.proof_forgers());
        if refusals.has_bad_proof_alone() && self.proof.go_on(client, &proofs, &proof_forgers) {
            return true;
        }
        // Whoever forges packets can say that a key has signed them that nobody has.
        if self.object.go_on(client, std::slice::from_ref(name), &refusals.suspects()) {
            let face = self.object.face.filter(|_| !proof_forgers.is_empty());
            self.proof = Hops { face, ..Hops::default() };
            return true;
        }
        self.object.face = None;
        self.proof.go_on(client, &proofs, &proof_forgers)
    }

    /// What else people can do, after nothing has helped.
    pub(super) fn advice(&self, refusals: &RefusedPackets) -> Option<String> {
        // Faces and caches of CCNx are not managed this way.
        let Some(first) = refusals.bad().next() else {
            let missing = refusals.told.iter().find_map(RefusedPacketInfo::missing_proof)?;
            return Some(format!(
                "nothing speaks against what came, but nobody shows what vouches for it. Add a route to whoever has {missing}, or see who is asked for it: cairn route list"
            ));
        };
        if first.name.dialect != Dialect::Ndn {
            return None;
        }
        let traced = refusals.bad().find(|told| told.is_traced());
        if let Some((traced, face)) = traced.and_then(|told| Some((told, told.incoming_face?))) {
            return Some(format!(
                "face {face} of the forwarder brings what was refused. Add a route by another face, or remove that by this one (cairn face show {face}, cairn route list). A cache behind it is rid of what was refused with: cairn cs erase {}",
                traced.name
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

/// The faces that lead to one of the names or to what is above or below it, those of the longest prefix
/// first.
fn next_hops(client: &mut Client, names: &[Name]) -> Vec<u64> {
    if names.is_empty() {
        return Vec::new();
    }
    let entries: Vec<FibEntry> = client.list(Dataset::FibList).unwrap_or_default();
    let is_on_the_way = |entry: &&FibEntry| {
        names.iter().any(|name| {
            entry.prefix.as_ref().is_prefix_of(name.as_ref())
                || name.as_ref().is_prefix_of(entry.prefix.as_ref())
        })
    };
    let mut entries: Vec<&FibEntry> = entries.iter().filter(is_on_the_way).collect();
    entries.sort_by_key(|entry| std::cmp::Reverse(entry.prefix.as_ref().component_count()));
    let mut hops = Vec::new();
    for hop in entries.iter().flat_map(|entry| &entry.next_hops) {
        if hops.len() < MAX_HOPS && !hops.contains(&hop.face_id) {
            hops.push(hop.face_id);
        }
    }
    hops
}
