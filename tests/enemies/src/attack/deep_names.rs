//! Names of thousands of components.

use std::io;
use std::time::{Duration, Instant};

use packet::ndn::tlv;
use packet::ndn::types;
use packet::{Component, Name};

use super::arms::Ports;
use super::{Attack, Field};
use crate::honest::SILENT;
use crate::pace::Spent;
use crate::wire::{Template, name, wrong};

const PENDING_COMPONENTS: usize = 70;
/// As many as fit into a packet: more than a name may have, which a node finds out as it counts them.
const TOO_MANY_COMPONENTS: usize = 4300;
/// As many as a name may have.
const MAX_COMPONENTS: usize = 128;

/// A prefix of more than 64 components is pending, and Data with thousands of components come that nobody
/// asked for.
#[derive(Default)]
pub(super) struct DeepNames {
    ports: Ports,
    interest: Option<Template>,
    data: Vec<Vec<u8>>,
    asked: Option<Instant>,
}

impl Attack for DeepNames {
    fn name(&self) -> &'static str {
        "deep-names"
    }

    fn about(&self) -> &'static str {
        "a prefix of 70 components pending, then unsolicited Data of 128 and of 4,300 components"
    }

    fn begin(&mut self, field: &mut Field) -> io::Result<()> {
        self.ports = Ports::open(1, field.node)?;
        let asked = deep(&name(SILENT)?, PENDING_COMPONENTS)?;
        let lifetime = packet::time::Duration::from_secs(60);
        self.interest = Some(Template::interest_for(asked.clone(), |interest| {
            interest.can_be_prefix(true).lifetime(lifetime)
        })?);
        // Below what is asked for but for the last component, and below nothing at all.
        let apart = asked.prefix(PENDING_COMPONENTS - 1).with(Component::generic(b"z")).map_err(wrong)?;
        let nobody = name("/nobody")?;
        self.data = [TOO_MANY_COMPONENTS, MAX_COMPONENTS]
            .iter()
            .flat_map(|&components| [raw_data(&apart, components), raw_data(&nobody, components)])
            .collect();
        Ok(())
    }

    fn strike(&mut self, field: &mut Field, room: usize) -> io::Result<Spent> {
        if self.asked.is_none_or(|asked| asked.elapsed() > Duration::from_millis(500)) {
            self.asked = Some(Instant::now());
            let interest = self.interest.iter().map(|interest| interest.fresh(0, &mut field.random));
            return Ok(self.ports.volley(&interest.collect::<Vec<_>>()));
        }
        let data: Vec<Vec<u8>> = self.data.iter().take((room / 6).max(1)).cloned().collect();
        Ok(self.ports.volley(&data))
    }
}

/// The name with components of one letter up to so many.
fn deep(start: &Name, components: usize) -> io::Result<Name> {
    let more = vec![Component::generic(b"a"); components - start.components().count()];
    Name::from_components(start.components().chain(more)).map_err(wrong)
}

/// A Data whose name is `start` and then empty components, so many in all.
fn raw_data(start: &Name, components: usize) -> Vec<u8> {
    let mut name = start.canonical().to_vec();
    for _ in start.components().count()..components {
        Component::generic(b"").append_to(&mut name);
    }
    let mut value = Vec::new();
    tlv::write_element(&mut value, types::NAME, &name);
    let mut info = Vec::new();
    tlv::write_element(&mut info, types::SIGNATURE_TYPE, &[0]);
    tlv::write_element(&mut value, types::SIGNATURE_INFO, &info);
    tlv::write_element(&mut value, types::SIGNATURE_VALUE, &[0; 32]);
    let mut data = Vec::new();
    tlv::write_element(&mut data, types::DATA, &value);
    data
}

#[cfg(test)]
mod tests {
    use packet::{Buffer, Data};

    use super::*;

    #[test]
    fn the_deep_data_does_not_answer_the_deep_interest() {
        let mut field = Field {
            node: ([127, 0, 0, 1], 9).into(),
            web: ([127, 0, 0, 1], 9).into(),
            honest: Default::default(),
            descriptors: 1,
            random: packet::random::Random::from_seed(1),
        };
        let mut attack = DeepNames::default();
        attack.begin(&mut field).unwrap();
        let interest = Buffer::from(attack.interest.unwrap().stamp(0, 1));
        let interest = packet::Interest::decode_ndn(interest).unwrap();
        assert_eq!(interest.component_count(), PENDING_COMPONENTS);
        let decoded: Vec<Data> =
            attack.data.into_iter().filter_map(|data| Data::decode_ndn(Buffer::from(data)).ok()).collect();
        assert_eq!(decoded.len(), 2, "those with as many components as a name may have");
        assert!(decoded.iter().all(|data| !interest.matches(data)));
    }

    #[test]
    fn the_deep_data_is_as_deep_as_a_name_can_be_and_as_a_packet_can_be() {
        let of = |components| raw_data(&name("/a").unwrap(), components);
        let most = Data::decode_ndn(Buffer::from(of(MAX_COMPONENTS))).unwrap();
        assert_eq!(most.component_count(), MAX_COMPONENTS);
        assert!(Data::decode_ndn(Buffer::from(of(MAX_COMPONENTS + 1))).is_err());
        assert!((8600..=8800).contains(&of(TOO_MANY_COMPONENTS).len()));
    }
}
