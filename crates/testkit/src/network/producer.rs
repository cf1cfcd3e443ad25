//! Applications that answer.

use std::collections::BTreeMap;

use packet::ccnx::{ContentObjectFields, SignedInfo, Ticks};
use packet::ndn::DataBuilder;
use packet::random::Random;
use packet::time::{Duration, Instant};
use packet::{Buffer, Data, Dialect, EncodeError, Interest, LinkHeader, Name, NameRef, PitToken};

/// What a producer answers with. The content is made from the name, so that anybody can tell whether it arrived unchanged.
#[derive(Clone, Debug)]
pub struct Produce {
    /// How long the Data is fresh. Whole seconds in CCNx. Default zero, which is: never.
    pub freshness: Duration,
    /// Bytes of content. Default 100.
    pub content_bytes: usize,
    /// How long an answer takes. Default zero.
    pub reply_delay: Duration,
    /// Whether Interests are answered at all. Default true.
    pub answers: bool,
    /// Which language. Default NDN.
    pub dialect: Dialect,
}

impl Default for Produce {
    fn default() -> Self {
        Produce {
            freshness: Duration::ZERO,
            content_bytes: 100,
            reply_delay: Duration::ZERO,
            answers: true,
            dialect: Dialect::Ndn,
        }
    }
}

impl Produce {
    /// The Data under `name`: always the same for the same name.
    pub fn data(&self, name: NameRef<'_>) -> Data {
        let seed = name
            .canonical()
            .iter()
            .fold(0u64, |sum, &byte| sum.rotate_left(5).wrapping_mul(31).wrapping_add(u64::from(byte) + 1));
        let mut random = Random::from_seed(seed);
        let content: Vec<u8> = (0..self.content_bytes).map(|_| random.next_u64() as u8).collect();
        match self.dialect {
            Dialect::Ndn => DataBuilder::new(name.to_name())
                .freshness(self.freshness)
                .content(content)
                .build_with_digest()
                .expect("content of a producer fits into a packet"),
            Dialect::Ccnx => self.ccnx_data(&name.to_name(), &content),
        }
    }

    fn ccnx_data(&self, name: &Name, content: &[u8]) -> Data {
        let seconds = self.freshness.as_millis() / 1000;
        let signed_info = SignedInfo {
            freshness_seconds: (seconds > 0).then_some(seconds as u32),
            ..SignedInfo::new(&[0x11; 32], Ticks::from_unix(1_000_000_000, 0))
        };
        let fields = ContentObjectFields { name: name.into(), signed_info, content };
        let wire = fields.encode(None, |_| Ok::<_, EncodeError>([0x22; 16])).expect("the object fits");
        Data::decode_ccnx(Buffer::from(wire)).expect("what was encoded decodes")
    }
}

/// An answer that is due.
pub(super) struct Reply {
    pub(super) data: Data,
    pub(super) header: LinkHeader,
}

/// One application.
pub(super) struct Producer {
    pub(super) node: usize,
    pub(super) port: usize,
    pub(super) prefix: Name,
    pub(super) produce: Produce,
    /// Interests that came.
    pub(super) asked: u64,
    replies: BTreeMap<(Instant, u64), Reply>,
    serial: u64,
}

impl Producer {
    pub(super) fn new(node: usize, port: usize, prefix: Name, produce: Produce) -> Self {
        Producer { node, port, prefix, produce, asked: 0, replies: BTreeMap::new(), serial: 0 }
    }

    pub(super) fn handle_interest(&mut self, now: Instant, interest: &Interest, pit_token: PitToken) {
        self.asked += 1;
        if !self.produce.answers || interest.dialect() != self.produce.dialect {
            return;
        }
        let data = self.produce.data(interest.name());
        if interest.matches(&data) {
            self.serial += 1;
            let header = LinkHeader { pit_token, ..LinkHeader::default() };
            self.replies.insert((now + self.produce.reply_delay, self.serial), Reply { data, header });
        }
    }

    pub(super) fn poll_reply(&mut self, now: Instant) -> Option<Reply> {
        if self.next_deadline() > now {
            return None;
        }
        self.replies.pop_first().map(|(_, reply)| reply)
    }

    pub(super) fn next_deadline(&self) -> Instant {
        self.replies.first_key_value().map_or(Instant::NEVER, |((at, _), _)| *at)
    }
}
