//! Packets to be made in great numbers: built once, then changed in place.

use std::io;
use std::ops::Range;

use packet::ndn::lp::LpPacketView;
use packet::ndn::{DataBuilder, InterestBuilder};
use packet::random::Random;
use packet::time::Duration;
use packet::{Component, NackReason, Name};

/// Stands in a template where the number of a name goes.
const NUMBER: u64 = 0x5eed_b1a5_0f1e_1d00;
/// Stands in a template where the nonce goes.
const NONCE: u32 = 0xc0de_1a7e;

/// A lifetime that no honest application asks for.
pub(crate) const TEN_DAYS: Duration = Duration::from_secs(864_000);

/// What cannot be built is a mistake of the suite's own.
pub(crate) fn wrong(error: impl std::fmt::Display) -> io::Error {
    io::Error::other(error.to_string())
}

/// The name with this URI.
pub(crate) fn name(uri: &str) -> io::Result<Name> {
    uri.parse().map_err(wrong)
}

/// The name with this URI and a number of eight bytes below it.
pub(crate) fn numbered(uri: &str, number: u64) -> io::Result<Name> {
    name(uri)?.with(Component::generic(&number.to_be_bytes())).map_err(wrong)
}

/// A packet of which name and nonce can be changed.
#[derive(Clone, Debug)]
pub(crate) struct Template {
    wire: Vec<u8>,
    number: Option<Range<usize>>,
    nonce: Option<Range<usize>>,
}

impl Template {
    /// Of a packet made with the help of [`Template::interest`] and the like.
    fn of(wire: &[u8]) -> Template {
        let find = |wanted: &[u8]| {
            let at = wire.windows(wanted.len()).position(|window| window == wanted)?;
            Some(at..at + wanted.len())
        };
        Template {
            wire: wire.to_vec(),
            number: find(&NUMBER.to_be_bytes()),
            nonce: find(&NONCE.to_be_bytes()),
        }
    }

    /// An Interest for a number below a prefix.
    pub(crate) fn interest(
        prefix: &str,
        change: impl FnOnce(InterestBuilder) -> InterestBuilder,
    ) -> io::Result<Template> {
        Template::interest_for(numbered(prefix, NUMBER)?, change)
    }

    /// An Interest for this name; only its nonce can be changed.
    pub(crate) fn interest_for(
        name: Name,
        change: impl FnOnce(InterestBuilder) -> InterestBuilder,
    ) -> io::Result<Template> {
        let interest = change(InterestBuilder::new(name).nonce(NONCE)).build().map_err(wrong)?;
        Ok(Template::of(interest.wire()))
    }

    /// An Interest for a number below a prefix and for a digest behind it.
    pub(crate) fn interest_with_digest(
        prefix: &str,
        digest: &[u8; 32],
        change: impl FnOnce(InterestBuilder) -> InterestBuilder,
    ) -> io::Result<Template> {
        let digest = Component::new(packet::ComponentKind::IMPLICIT_DIGEST, digest);
        Template::interest_for(numbered(prefix, NUMBER)?.with(digest).map_err(wrong)?, change)
    }

    /// A Data with a number below a prefix. Its signature is right for another number only, which
    /// forwarders do not look at.
    pub(crate) fn data(prefix: &str, content: Vec<u8>) -> io::Result<Template> {
        let data = DataBuilder::new(numbered(prefix, NUMBER)?)
            .content(content)
            .freshness(Duration::from_secs(3600))
            .build_with_digest()
            .map_err(wrong)?;
        Ok(Template::of(data.wire()))
    }

    /// The Interest of another template as a Nack.
    pub(crate) fn nack(interest: &Template, reason: NackReason) -> Template {
        let view =
            LpPacketView { nack: Some(reason), fragment: Some(&interest.wire), ..LpPacketView::default() };
        let mut frame = Vec::new();
        view.encode(&mut frame);
        Template::of(&frame)
    }

    /// The packet with this number and this nonce.
    pub(crate) fn stamp(&self, number: u64, nonce: u32) -> Vec<u8> {
        let mut wire = self.wire.clone();
        let mut put = |place: &Option<Range<usize>>, bytes: &[u8]| {
            if let Some(place) = place.clone().and_then(|place| wire.get_mut(place)) {
                place.copy_from_slice(bytes);
            }
        };
        put(&self.number, &number.to_be_bytes());
        put(&self.nonce, &nonce.to_be_bytes());
        wire
    }

    /// The same with a nonce nobody has used.
    pub(crate) fn fresh(&self, number: u64, random: &mut Random) -> Vec<u8> {
        self.stamp(number, random.next_u32())
    }
}

#[cfg(test)]
mod tests {
    use packet::{Buffer, Data, Interest};

    use super::*;

    #[test]
    fn a_stamped_interest_has_the_number_and_the_nonce_and_is_good() {
        let template = Template::interest("/a/b", |interest| interest.lifetime(TEN_DAYS)).unwrap();
        let interest = Interest::decode_ndn(Buffer::from(template.stamp(7, 9))).unwrap();
        assert_eq!(interest.name(), numbered("/a/b", 7).unwrap().as_ref());
        assert_eq!(interest.nonce().map(|nonce| nonce.0), Some(9));
        assert_eq!(interest.lifetime(), TEN_DAYS);
    }

    #[test]
    fn a_stamped_data_has_the_number_and_decodes() {
        let template = Template::data("/a", vec![1; 20]).unwrap();
        let data = Data::decode_ndn(Buffer::from(template.stamp(8, 0))).unwrap();
        assert_eq!(data.name(), numbered("/a", 8).unwrap().as_ref());
    }

    #[test]
    fn a_nack_holds_the_interest_it_refuses() {
        let interest = Template::interest("/a", |interest| interest).unwrap();
        let nack = Template::nack(&interest, NackReason::Duplicate).stamp(3, 4);
        let view = LpPacketView::decode(&nack).unwrap();
        assert_eq!(view.nack, Some(NackReason::Duplicate));
        assert_eq!(view.fragment, Some(&*interest.stamp(3, 4)));
    }
}
