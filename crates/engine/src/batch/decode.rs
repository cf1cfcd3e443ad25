//! From bytes to packets that wait: what a codec reads is hashed, and recognised, while it is read.

use packet::ccnx::block::CLOSE;
use packet::ccnx::{ContentObjectView, Dtag, InterestView as CcnxInterestView, Reader};
use packet::error::DecodeError;
use packet::ndn::{DataView, InterestView};
use packet::{Buffer, Data, Dialect, Interest, LinkHeader, NackReason, Packet, PacketKind, WireName};

use super::ahead::{Expected, Upcoming};
use super::answers_due::DueAnswer;
use super::arrivals::Arrivals;
use super::spare_buffers::spare_buffer;
use crate::engine::Engine;

/// What a codec says of an Interest of CCNx that was read.
#[derive(Clone, Debug)]
pub enum Acceptance {
    /// It goes on, with nothing beside it.
    Plain,
    /// It goes on, and this comes with it.
    WithHeader(LinkHeader),
    /// It is left out; whoever says so has counted it.
    LeftOut,
}

impl Arrivals {
    /// Reads a packet of NDN where it lies. A Data may stay there; whatever else is good is copied last, so
    /// that nothing waits for memory that is not in the cache.
    ///
    /// # Errors
    /// It is no packet, or none that may come with this `nack`; nothing is added then.
    #[inline(always)]
    pub fn decode_ndn(
        &mut self,
        engine: &mut Engine,
        wire: &[u8],
        nack: Option<NackReason>,
        header: Option<LinkHeader>,
    ) -> Result<(), DecodeError> {
        if PacketKind::of(Dialect::Ndn, wire, nack) == Ok(PacketKind::Data) {
            let mut due = None;
            let view = DataView::decode_asking(wire, |name| {
                due = self.due_answer(engine, name);
                due.as_ref().map(|(due, _): &(DueAnswer, _)| due.component_count())
            })?;
            if due.is_none() {
                self.hash_next(engine, WireName::Ndn(view.name()), None);
            }
            let data = Data::within(self.memory.as_ref(), view, || spare_buffer(engine, wire.len()));
            match due {
                Some((due, expected)) => {
                    self.announce(engine, expected);
                    self.push_due_answer(data, due, header);
                }
                None => self.push_hashed(Packet::Data(data), header),
            }
        } else {
            let view = InterestView::decode(wire)?;
            self.hash_next(engine, WireName::Ndn(view.name()), view.nonce());
            self.push_hashed(Packet::asked_or_nacked(Interest::copy_of(view), nack), header);
        }
        Ok(())
    }

    /// Reads the packet of CCNx that `bytes` begin with where it lies; gives what follows it, or `None` if it
    /// is none: no length says where a packet of CCNx ends before it is read. `accept` may change an Interest
    /// and says whether it goes on.
    ///
    /// An Interest is compared with the one before it while it is read, and a ContentObject with what is due.
    #[inline(always)]
    pub fn decode_ccnx<'b>(
        &mut self,
        engine: &mut Engine,
        bytes: &'b [u8],
        accept: impl FnOnce(&mut Interest) -> Acceptance,
    ) -> Option<&'b [u8]> {
        let reader = Reader::new(bytes, "message");
        if reader.next_is(Dtag::INTEREST) {
            let before = self.last_ccnx_parent().unwrap_or_default();
            let view = CcnxInterestView::decode_first_after(bytes, before).ok()?;
            let mut interest = Interest::ccnx_copy_of(view);
            self.hash_next(engine, interest.wire_name(), interest.nonce());
            let rest = bytes.get(view.wire().len()..);
            let header = match accept(&mut interest) {
                Acceptance::Plain => None,
                Acceptance::WithHeader(header) => Some(header),
                Acceptance::LeftOut => return rest,
            };
            self.push_hashed(Packet::Interest(interest), header);
            return rest;
        }
        let mut due = None;
        let view = ContentObjectView::decode_first_asking(bytes, |rest| {
            due = self.due_ccnx_answer(engine, rest);
            due.as_ref().map(|(due, _): &(DueAnswer, _)| (due.name_bytes(), due.component_count()))
        });
        let view = view.ok()?;
        if due.is_none() {
            self.hash_next(engine, WireName::Ccnx(view.name()), None);
        }
        // What arrived in a train stays there.
        let wire_bytes = view.wire().len();
        let data = Data::ccnx_within(self.memory.as_ref(), view, || spare_buffer(engine, wire_bytes));
        match due {
            Some((due, expected)) => {
                self.announce(engine, expected);
                self.push_due_answer(data, due, None);
            }
            None => self.push_hashed(Packet::Data(data), None),
        }
        bytes.get(wire_bytes..)
    }

    /// Reads a packet that has memory of its own, as one that came in fragments.
    ///
    /// # Errors
    /// As [`decode_ndn`](Self::decode_ndn).
    pub fn decode_owned(
        &mut self,
        engine: &Engine,
        dialect: Dialect,
        wire: Buffer,
        nack: Option<NackReason>,
        header: Option<LinkHeader>,
    ) -> Result<(), DecodeError> {
        let hashes = self.next_hashes();
        let packet = Packet::decode_hashed(dialect, wire, nack, engine.hasher(), hashes)?;
        let expected = Expected::of(Upcoming::of(&packet, hashes));
        self.announce(engine, expected);
        self.push_hashed(packet, header);
        Ok(())
    }

    /// Whether a Data of NDN that has arrived is the one that the face was to send next by all likelihood;
    /// `name` is its name in canonical form, which need not have been looked into. If it is, the name is
    /// known and need not be hashed: [`push_due_answer`](Self::push_due_answer) takes the Data. Ask once for
    /// each Data.
    #[inline]
    pub(super) fn due_answer(&self, engine: &mut Engine, name: &[u8]) -> Option<(DueAnswer, Expected)> {
        let is_it =
            |interest: &Interest| interest.dialect() == Dialect::Ndn && interest.wire_components() == name;
        engine.due_answer(self.face, is_it)
    }

    /// The same for a ContentObject of CCNx, of which nothing has been read but that its name begins where
    /// the bytes of `rest` do. Interests with selectors are not recognised, which another object of the name
    /// may be meant for.
    #[inline]
    pub(super) fn due_ccnx_answer(&self, engine: &mut Engine, rest: &[u8]) -> Option<(DueAnswer, Expected)> {
        let is_it = |interest: &Interest| {
            let begins = |name: &[u8]| rest.get(name.len()) == Some(&CLOSE) && rest.starts_with(name);
            interest.dialect() == Dialect::Ccnx
                && !interest.has_selectors()
                && begins(interest.wire_components())
        };
        engine.due_answer(self.face, is_it)
    }
}
