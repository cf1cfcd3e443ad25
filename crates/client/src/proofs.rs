//! What came to vouch for the packets of a fetch. Where it is forged, every packet is refused, and whoever
//! brought those has done nothing wrong.

use std::collections::VecDeque;

use flow::RefusedPacket;
use flow::verified::RequestKind;
use flow::verify::VerificationError;
use packet::{Component, Data, Dialect, NameRef};
use trust::certificate::names::is_certificate_name;
use trust::manifest::{ManifestError, object_of};

use crate::refused_packet::{RefusedPacketInfo, is_neighbour};

/// As many certificates as are asked for at once, and packets of manifests, and some more.
const KEPT: usize = 64;

/// The certificates and packets of manifests that came last, and by which faces, if the forwarder tells.
#[derive(Default)]
pub(crate) struct Proofs(VecDeque<(Data, Option<u64>)>);

impl Proofs {
    /// A packet came that the fetch has asked for.
    pub(crate) fn note(&mut self, data: &Data, incoming_face: Option<u64>) {
        let is_proof = is_certificate_name(data.name()) || is_of_manifest(data.name());
        if data.dialect() == Dialect::Ndn && is_proof {
            if self.0.len() >= KEPT {
                self.0.pop_front();
            }
            self.0.push_back((data.clone(), incoming_face));
        }
    }

    /// What is wrong where `refused` was refused.
    pub(crate) fn blame(&self, refused: RefusedPacket) -> RefusedPacketInfo {
        match self.culprit(&refused.error) {
            Some((data, incoming_face)) => {
                let vouches_for_face = refused.incoming_face;
                let proof = RefusedPacket { data: data.clone(), incoming_face: *incoming_face, ..refused };
                RefusedPacketInfo { vouches_for_face, ..RefusedPacketInfo::new(RequestKind::Proof, proof) }
            }
            None => RefusedPacketInfo::new(RequestKind::Object, refused),
        }
    }

    fn culprit(&self, error: &VerificationError) -> Option<&(Data, Option<u64>)> {
        let latest = |is_it: &dyn Fn(NameRef<'_>) -> bool| {
            let found = self.0.iter().rev().find(|(data, _)| is_it(data.name()))?;
            // The store of the forwarder has it from somebody.
            let mut same = self.0.iter().rev().filter(|(data, _)| data.wire() == found.0.wire());
            Some(same.find(|(_, face)| is_neighbour(*face)).unwrap_or(found))
        };
        match error {
            VerificationError::NotTrusted(error) => latest(&|name| error.concerns(name)),
            VerificationError::Manifest(error) => self.culprit(error).or_else(|| latest(&is_of_manifest)),
            VerificationError::BadManifest(
                ManifestError::Digest(number) | ManifestError::Discontinuous(number),
            ) => latest(&|name| {
                is_of_manifest(name) && name.last().and_then(Component::number) == Some(*number)
            }),
            VerificationError::BadManifest(_) => latest(&is_of_manifest),
            _ => None,
        }
    }
}

fn is_of_manifest(name: NameRef<'_>) -> bool {
    object_of(name).is_some()
}
