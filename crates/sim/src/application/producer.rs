//! Applications that answer.

use std::collections::VecDeque;

use packet::ndn::tlv;
use packet::time::{Duration, Instant};
use packet::{Buffer, Data, Dialect, Interest, LinkHeader, Name, NameRef};

use super::content_object::{content_element_len, content_object};
use super::{Application, Context};

/// Answers every Interest under its prefix with Data of exactly its name, in the dialect of the Interest.
///
/// The content is zeros and nobody has signed it: a simulation is not about those, and they would cost more
/// than all the rest. An application that publishes what a consumer verifies writes its own Data.
#[derive(Debug)]
pub struct Producer {
    prefix: Name,
    size: Size,
    freshness: Duration,
    reply_delay: Duration,
    /// All of a Data of NDN behind its name, for the content length it was made for.
    tail: Vec<u8>,
    tail_content: Option<usize>,
    scratch: Vec<u8>,
    /// The last Data of NDN that was made; the next one mostly differs only in its name.
    last: Option<Data>,
    replies: VecDeque<(Instant, Data)>,
    report: ProducerReport,
}

#[derive(Clone, Copy, Debug)]
enum Size {
    Content(usize),
    Packet(usize),
}

/// What a producer has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProducerReport {
    /// Interests that came.
    pub interests: u64,
    /// Data sent.
    pub data: u64,
    /// Interests that could not be answered: a name too long for a packet.
    pub unanswerable: u64,
}

const DATA: u32 = 6;
const NAME: u32 = 7;
const META_INFO: u32 = 20;
const CONTENT: u32 = 21;
const FRESHNESS: u32 = 25;
/// SignatureInfo with SignatureType 200, which is "null", and an empty SignatureValue.
const NULL_SIGNATURE: [u8; 7] = [22, 3, 27, 1, 200, 23, 0];

impl Producer {
    /// Answers with so many bytes of content, fresh for ten seconds, at once.
    pub fn new(content_bytes: usize) -> Self {
        Producer {
            prefix: Name::root(),
            size: Size::Content(content_bytes),
            freshness: Duration::from_secs(10),
            reply_delay: Duration::ZERO,
            tail: Vec::new(),
            tail_content: None,
            scratch: Vec::new(),
            last: None,
            replies: VecDeque::new(),
            report: ProducerReport::default(),
        }
    }

    /// Answers with packets of so many bytes in all, whatever the length of their names, as far as that is
    /// possible.
    pub fn of_packet_size(packet_bytes: usize) -> Self {
        Producer { size: Size::Packet(packet_bytes), ..Producer::new(0) }
    }

    /// With Data that is fresh for so long; in CCNx for whole seconds, and with less than one for ever.
    pub fn freshness(self, freshness: Duration) -> Self {
        Producer { freshness, tail_content: None, last: None, ..self }
    }

    /// Answering after so long.
    pub fn reply_delay(self, reply_delay: Duration) -> Self {
        Producer { reply_delay, ..self }
    }

    /// Under this prefix; [`Network::add_producer`](crate::Network::add_producer) sets it.
    pub fn prefix(self, prefix: Name) -> Self {
        Producer { prefix, ..self }
    }

    /// What it has done.
    pub fn report(&self) -> ProducerReport {
        self.report
    }

    /// The Data for a name; `None` if it would exceed the size of a packet.
    pub fn data(&mut self, dialect: Dialect, name: NameRef<'_>) -> Option<Data> {
        if dialect == Dialect::Ccnx {
            return self.data_of_ccnx(name);
        }
        if let Some(data) = self.last.as_ref().and_then(|last| last.renamed(name)) {
            return Some(data);
        }
        let data = self.encode(name)?;
        self.last = Some(data.clone());
        Some(data)
    }

    #[cold]
    fn encode(&mut self, name: NameRef<'_>) -> Option<Data> {
        let name = name.canonical();
        let name_len = tlv::element_len(NAME, name.len());
        let content = match self.size {
            Size::Content(bytes) => bytes,
            Size::Packet(bytes) => self.content_for(bytes, name_len),
        };
        if self.tail_content != Some(content) {
            self.make_tail(content);
        }
        let out = &mut self.scratch;
        out.clear();
        tlv::write_header(out, DATA, name_len + self.tail.len());
        tlv::write_element(out, NAME, name);
        out.extend_from_slice(&self.tail);
        Data::decode_ndn(Buffer::copy_from(out)).ok()
    }

    #[cold]
    fn data_of_ccnx(&self, name: NameRef<'_>) -> Option<Data> {
        let name = name.to_name();
        let made = |content: usize| content_object(&name, &vec![0; content], self.freshness);
        match self.size {
            Size::Content(bytes) => made(bytes),
            Size::Packet(bytes) => {
                let others = made(0)?.wire().len() - content_element_len(0);
                made(longest_within(bytes, |content| others + content_element_len(content)))
            }
        }
    }

    /// The length of content with which the whole packet of NDN has so many bytes, or the nearest fewer.
    fn content_for(&self, packet_bytes: usize, name_len: usize) -> usize {
        longest_within(packet_bytes, |content: usize| {
            let meta =
                tlv::element_len(META_INFO, tlv::nni_element_len(FRESHNESS, self.freshness.as_millis()));
            let value = name_len + meta + tlv::element_len(CONTENT, content) + NULL_SIGNATURE.len();
            tlv::element_len(DATA, value)
        })
    }

    fn make_tail(&mut self, content: usize) {
        let tail = &mut self.tail;
        tail.clear();
        let freshness_ms = self.freshness.as_millis();
        tlv::write_header(tail, META_INFO, tlv::nni_element_len(FRESHNESS, freshness_ms));
        tlv::write_nni_element(tail, FRESHNESS, freshness_ms);
        tlv::write_header(tail, CONTENT, content);
        tail.resize(tail.len() + content, 0);
        tail.extend_from_slice(&NULL_SIGNATURE);
        self.tail_content = Some(content);
    }
}

/// The longest content with which a packet has no more than so many bytes, by how many it has with a content.
fn longest_within(packet_bytes: usize, whole: impl Fn(usize) -> usize) -> usize {
    let most = packet_bytes.saturating_sub(whole(0));
    (most.saturating_sub(8)..=most + 2).rev().find(|&content| whole(content) <= packet_bytes).unwrap_or(0)
}

impl Application for Producer {
    fn handle_interest(&mut self, context: &mut Context<'_>, interest: &Interest, _header: &LinkHeader) {
        self.report.interests += 1;
        let Some(data) = self.data(interest.dialect(), interest.name()) else {
            self.report.unanswerable += 1;
            return;
        };
        if self.reply_delay == Duration::ZERO {
            self.report.data += 1;
            return context.send_data(data);
        }
        let at = context.now() + self.reply_delay;
        if self.replies.is_empty() {
            context.wake_at(at);
        }
        self.replies.push_back((at, data));
    }

    fn handle_timer(&mut self, context: &mut Context<'_>) {
        let now = context.now();
        while let Some((at, _)) = self.replies.front() {
            if *at > now {
                return context.wake_at(*at);
            }
            if let Some((_, data)) = self.replies.pop_front() {
                self.report.data += 1;
                context.send_data(data);
            }
        }
    }

    fn prefixes(&self) -> Vec<Name> {
        vec![self.prefix.clone()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_have_the_size_that_was_asked_for() {
        for bytes in [60, 61, 200, 253, 254, 255, 256, 257, 258, 259, 260, 300, 1250, 1500, 8000, 8800] {
            let mut producer = Producer::of_packet_size(bytes);
            for uri in ["/a", "/video/seq=1", "/video/seq=70000", "/video/long/name/of/some/bytes/seq=1"] {
                let name: Name = uri.parse().unwrap();
                let len = producer.data(Dialect::Ndn, name.as_ref()).unwrap().wire().len();
                // Where a length field grows, one or two sizes cannot be reached.
                let near = len == bytes || (253..=262).contains(&bytes) && len + 4 >= bytes && len <= bytes;
                assert!(near, "{uri}: {len} for {bytes}");
            }
        }
        let name: Name = "/a".parse().unwrap();
        for dialect in Dialect::ALL {
            assert!(Producer::new(9000).data(dialect, name.as_ref()).is_none(), "{dialect}");
            let empty = Producer::new(0).data(dialect, name.as_ref()).unwrap();
            assert!(empty.content().is_empty() && empty.dialect() == dialect, "{dialect}");
        }
    }

    #[test]
    fn packets_of_ccnx_have_the_size_that_was_asked_for() {
        for bytes in [200, 216, 217, 218, 300, 1250, 2000, 2200, 2300, 8000, 8800] {
            let mut producer = Producer::of_packet_size(bytes);
            for uri in ["/a", "/video/%00", "/video/long/name/of/some/bytes/%00%01"] {
                let name: Name = uri.parse().unwrap();
                let len = producer.data(Dialect::Ccnx, name.as_ref()).unwrap().wire().len();
                // Where the header of the content grows, one size cannot be reached.
                assert!(len == bytes || len + 1 == bytes, "{uri}: {len} for {bytes}");
            }
        }
    }
}
