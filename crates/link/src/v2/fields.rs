//! Which network-layer field may come with which packet (NDNLPv2 digest, section 2).

use packet::ndn::lp::types;
use packet::ndn::tlv;
use packet::{LinkHeader, NackReason, PacketKind};

use super::DIALECT;
use super::config::Config;
use crate::DropReason;

/// The kind of a network packet by its outermost element, which must fill all of `packet`.
///
/// # Errors
/// Why it is no network packet.
#[inline]
pub(crate) fn kind_of(packet: &[u8], nack: Option<NackReason>) -> Result<PacketKind, DropReason> {
    match (plain_kind_of(packet), nack) {
        (Some(kind), None) => Ok(kind),
        _ => any_kind_of(packet, nack),
    }
}

/// The same of a packet that has type and length in few bytes, as nearly all have; `None` if it has not,
/// or is none.
#[inline]
pub(crate) fn plain_kind_of(packet: &[u8]) -> Option<PacketKind> {
    // Not by `PacketKind::announced`: to look at type and length at once saves up to five instructions a
    // packet.
    let mut reader = tlv::Reader::new(packet, "Packet");
    let kind = match reader.plain(types::INTEREST) {
        Some(_) => PacketKind::Interest,
        None => reader.plain(types::DATA).map(|_| PacketKind::Data)?,
    };
    reader.is_empty().then_some(kind)
}

fn any_kind_of(packet: &[u8], nack: Option<NackReason>) -> Result<PacketKind, DropReason> {
    let number = |at| tlv::read_number(packet, at).map_err(|_| DropReason::MalformedPacket);
    let (_, length_start) = number(0)?;
    let (length, value_start) = number(length_start)?;
    if length != (packet.len() - value_start) as u64 {
        return Err(DropReason::MalformedPacket);
    }
    match (PacketKind::announced(DIALECT, packet), nack) {
        (Some(PacketKind::Data), Some(_)) => Err(DropReason::FieldNotAllowed),
        (Some(_), Some(_)) => Ok(PacketKind::Nack),
        (kind, None) => kind.ok_or(DropReason::UnknownPacketType),
        (None, Some(_)) => Err(DropReason::UnknownPacketType),
    }
}

/// Checks the fields that came with a packet and takes out those that are to be ignored.
pub(crate) fn admit(kind: PacketKind, header: &mut LinkHeader, config: &Config) -> Result<(), DropReason> {
    // It is for forwarders to say where a packet came from, and no forwarder believes another one.
    if !config.local_fields {
        header.incoming_face = None;
    }
    // How fast to ask is told by Data alone; elsewhere it means nothing, and others may skip the field
    // anyhow.
    if kind != PacketKind::Data {
        header.explicit_rate = None;
    }
    let allowed = match kind {
        PacketKind::Interest => {
            if header.next_hop_face.is_some() && !config.local_fields {
                return Err(DropReason::LocalFieldsDisabled);
            }
            header.cache_policy.is_none() && header.prefix_announcement.is_none()
        }
        // CachePolicy is honoured with local fields off, too: it asks for no privilege.
        PacketKind::Data => header.next_hop_face.is_none() && !header.non_discovery,
        PacketKind::Nack => {
            if !config.link_type.is_point_to_point() {
                return Err(DropReason::NackOnMultiAccess);
            }
            header.next_hop_face.is_none()
                && header.cache_policy.is_none()
                && !header.non_discovery
                && header.prefix_announcement.is_none()
        }
    };
    if !allowed {
        return Err(DropReason::FieldNotAllowed);
    }
    if !config.self_learning {
        header.non_discovery = false;
        header.prefix_announcement = None;
    }
    Ok(())
}

/// Takes out of the header of a packet to be sent what the link may not carry.
pub(crate) fn strip(header: &mut LinkHeader, config: &Config) {
    if !config.local_fields {
        header.incoming_face = None;
        header.next_hop_face = None;
    }
    if !config.self_learning {
        header.non_discovery = false;
        header.prefix_announcement = None;
    }
}

#[cfg(test)]
mod tests {
    use packet::{Buffer, CachePolicy, ExplicitRate};

    use super::*;

    const KINDS: [PacketKind; 3] = [PacketKind::Interest, PacketKind::Data, PacketKind::Nack];

    /// The outcome of a header with one field for Interest, Data and Nack.
    fn outcomes(config: &Config, set: fn(&mut LinkHeader)) -> [Result<LinkHeader, DropReason>; 3] {
        KINDS.map(|kind| {
            let mut header = LinkHeader::default();
            set(&mut header);
            admit(kind, &mut header, config).map(|()| header)
        })
    }

    fn announce(header: &mut LinkHeader) {
        header.prefix_announcement = Some(Buffer::copy_from(&[6, 0]));
    }

    #[test]
    fn each_field_is_admitted_dropped_or_ignored_as_the_table_says() {
        let off = Config::default();
        let on = Config { local_fields: true, ..Config::default() };
        let not_allowed = || Err(DropReason::FieldNotAllowed);
        let none = || Ok(LinkHeader::default());

        let next_hop: fn(&mut LinkHeader) = |header| header.next_hop_face = Some(300);
        let directed = LinkHeader { next_hop_face: Some(300), ..LinkHeader::default() };
        assert_eq!(outcomes(&on, next_hop), [Ok(directed), not_allowed(), not_allowed()]);
        let disabled = Err(DropReason::LocalFieldsDisabled);
        assert_eq!(outcomes(&off, next_hop), [disabled, not_allowed(), not_allowed()]);

        let no_cache: fn(&mut LinkHeader) = |header| header.cache_policy = Some(CachePolicy::NoCache);
        let uncached = LinkHeader { cache_policy: Some(CachePolicy::NoCache), ..LinkHeader::default() };
        assert_eq!(outcomes(&off, no_cache), [not_allowed(), Ok(uncached), not_allowed()]);

        let learning = Config::default();
        let ignorant = Config { self_learning: false, ..Config::default() };
        let non_discovery: fn(&mut LinkHeader) = |header| header.non_discovery = true;
        let shy = LinkHeader { non_discovery: true, ..LinkHeader::default() };
        assert_eq!(outcomes(&learning, non_discovery), [Ok(shy), not_allowed(), not_allowed()]);
        assert_eq!(outcomes(&ignorant, non_discovery), [none(), not_allowed(), not_allowed()]);

        let mut announced = LinkHeader::default();
        announce(&mut announced);
        assert_eq!(outcomes(&learning, announce), [not_allowed(), Ok(announced), not_allowed()]);
        assert_eq!(outcomes(&ignorant, announce), [not_allowed(), none(), not_allowed()]);

        let rate = ExplicitRate::from_per_1000_s(9);
        let rated: fn(&mut LinkHeader) = |header| header.explicit_rate = ExplicitRate::from_per_1000_s(9);
        let told = LinkHeader { explicit_rate: rate, ..LinkHeader::default() };
        assert_eq!(outcomes(&off, rated), [none(), Ok(told), none()]);

        let incoming: fn(&mut LinkHeader) = |header| header.incoming_face = Some(5);
        assert_eq!(outcomes(&off, incoming), [none(), none(), none()]);
        let marked: fn(&mut LinkHeader) = |header| header.congestion_mark = 2;
        assert!(
            outcomes(&off, marked).iter().all(|admitted| admitted.as_ref().unwrap().congestion_mark == 2)
        );
    }

    #[test]
    fn nacks_need_exactly_one_peer() {
        let many = Config { link_type: packet::LinkType::MultiAccess, ..Config::default() };
        let nothing = outcomes(&many, |_| ());
        assert_eq!(nothing[2], Err(DropReason::NackOnMultiAccess));
        assert!(nothing[0].is_ok() && nothing[1].is_ok());
    }

    #[test]
    fn the_kind_of_a_packet_follows_from_its_outermost_element_and_the_nack() {
        let nack = Some(NackReason::NoRoute);
        assert_eq!(kind_of(&[5, 1, 0], None), Ok(PacketKind::Interest));
        assert_eq!(kind_of(&[5, 1, 0], nack), Ok(PacketKind::Nack));
        assert_eq!(kind_of(&[6, 1, 0], None), Ok(PacketKind::Data));
        assert_eq!(kind_of(&[6, 1, 0], nack), Err(DropReason::FieldNotAllowed));
        assert_eq!(kind_of(&[7, 1, 0], None), Err(DropReason::UnknownPacketType));
        for malformed in [&[][..], &[5], &[5, 2, 0], &[5, 0, 0], &[5, 253, 0], &[253, 0, 5, 0]] {
            assert_eq!(kind_of(malformed, None), Err(DropReason::MalformedPacket), "{malformed:?}");
        }
    }
}
