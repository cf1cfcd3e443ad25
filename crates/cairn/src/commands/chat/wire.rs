//! How a room's packets are made in each dialect.

use client::{Client, ClientError, RequestId};
use packet::ccnx::{InterestFields, SignedInfo, Ticks, markers};
use packet::ndn::{DataBuilder, InterestBuilder};
use packet::random::Random;
use packet::time::{Duration, Instant};
use packet::{Component, Data, Dialect, Interest, Name, UnixTime};
use trust::ccnx::CcnxSigner;
use trust::{InterestSigner, Signer};

use super::vector::StateVector;
use crate::tool::ToolError;
use crate::tool::ccnx::ccnx_interest_with;

/// How long a state vector may be under way.
const VECTOR_LIFETIME: Duration = Duration::from_secs(1);

/// How long caches may take a message for fresh.
const FRESHNESS: Duration = Duration::from_secs(3600);

/// What a member signs with, and so which dialect it speaks.
pub(super) enum RoomWire {
    Ndn { signer: Signer, interests: InterestSigner },
    Ccnx { signer: CcnxSigner, random: Random },
}

impl RoomWire {
    /// Tells the others a state vector. Nobody answers it.
    pub(super) fn vector_interest(
        &mut self,
        prefix: &Name,
        vector: &StateVector,
        now: Instant,
        unix: UnixTime,
    ) -> Result<Interest, ToolError> {
        match self {
            RoomWire::Ndn { interests, .. } => {
                let interest = InterestBuilder::new(prefix.clone())
                    .application_parameters(vector.encode())
                    .lifetime(VECTOR_LIFETIME)
                    .nonce(now.as_nanos() as u32);
                Ok(interests.sign(unix.as_millis(), &interest)?)
            }
            RoomWire::Ccnx { random, .. } => {
                // Without a nonce in the name, what two members tell would be one Interest to a forwarder,
                // and not all would hear both.
                let nonce = [markers::NONCE, &random.next_u64().to_be_bytes()].concat();
                let name = prefix.with(Component::generic(&vector.encode()))?;
                let name = name.with(Component::generic(&nonce))?;
                let nonce = random.next_u64();
                ccnx_interest_with(&name, InterestFields::default(), VECTOR_LIFETIME, nonce)
            }
        }
    }

    /// A message.
    pub(super) fn message(&self, name: Name, text: &str, unix: UnixTime) -> Result<Data, ToolError> {
        match self {
            RoomWire::Ndn { signer, .. } => {
                let data = DataBuilder::new(name).freshness(FRESHNESS).content(text.as_bytes().to_vec());
                Ok(signer.sign_data(&data)?)
            }
            RoomWire::Ccnx { signer, .. } => {
                Ok(signer.sign_data(&name, text.as_bytes(), unix.into(), |info| SignedInfo {
                    freshness_seconds: Some(Ticks::whole_seconds(FRESHNESS)),
                    ..info
                })?)
            }
        }
    }

    /// Asks for a message.
    pub(super) fn ask(
        &self,
        client: &mut Client,
        name: &Name,
        timeout: Duration,
    ) -> Result<RequestId, ClientError> {
        match self {
            RoomWire::Ndn { .. } => client.express(&InterestBuilder::new(name.clone()), timeout),
            RoomWire::Ccnx { .. } => {
                // The object's digest is a component behind its name.
                let fields = InterestFields { max_suffix_components: Some(1), ..InterestFields::default() };
                client.express(&(name.clone(), fields), timeout)
            }
        }
    }
}

/// The vector that an Interest under the room's prefix for them carries.
pub(super) fn vector_in(interest: &Interest, prefix: &Name) -> Option<StateVector> {
    match interest.dialect() {
        Dialect::Ndn => StateVector::decode(interest.ndn()?.application_parameters()?),
        Dialect::Ccnx => {
            let vector = interest.name().component(prefix.as_ref().component_count())?;
            StateVector::decode(vector.value)
        }
    }
    .ok()
    .map(|vector| vector.only_members_of(interest.dialect()))
}

#[cfg(test)]
mod tests {
    use packet::ccnx::uri;
    use trust::{KeyKind, PrivateKey};

    use super::super::names::{vector_prefix, with_coming};
    use super::*;

    fn ccnx() -> RoomWire {
        let signer = CcnxSigner::new(PrivateKey::generate(KeyKind::Rsa).unwrap()).unwrap();
        RoomWire::Ccnx { signer, random: Random::from_seed(1) }
    }

    #[test]
    fn in_ccnx_a_vector_is_a_component_and_no_two_interests_are_one() {
        let (mut wire, room) = (ccnx(), uri::parse("ccnx:/room/lab").unwrap());
        let prefix = vector_prefix(Dialect::Ccnx, &room).unwrap();
        let mut vector = StateVector::default();
        let ann = with_coming(
            Dialect::Ccnx,
            &"/ann".parse().unwrap(),
            UnixTime::from_secs(1),
            &mut Random::from_seed(1),
        );
        vector.raise(&ann.unwrap(), 5);
        let mut interest =
            || wire.vector_interest(&prefix, &vector, Instant::ZERO, UnixTime::from_secs(1)).unwrap();
        let (first, second) = (interest(), interest());
        assert_eq!(vector_in(&first, &prefix), Some(vector));
        let names = [&first, &second].map(|interest| interest.name().to_name());
        assert_ne!(names[0], names[1]);
        assert!(names[0].as_ref().component(2).is_some_and(|marker| marker.value == b"\xc1.svs"));
        assert_eq!(first.lifetime(), VECTOR_LIFETIME);
    }
}
