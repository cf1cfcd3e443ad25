//! Applications that answer.

use flow::source::{Reply, Server, ServerConfig, Source, SourceError};
use packet::time::{Duration, Instant};
use packet::{Data, Dialect, Interest, LinkHeader, Name, NameRef};

use super::late_replies::LateReplies;
use super::{Application, Context};
use crate::dialect::{DataMaker, DataSize};

/// Answers every Interest under its prefix with Data of exactly its name, in the dialect of the Interest.
///
/// The content is zeros and nobody has signed it: a simulation is not about those, and they would cost more
/// than all the rest. An application that publishes what a consumer verifies writes its own Data.
#[derive(Debug)]
pub struct Producer {
    prefix: Name,
    server: Server<Zeros>,
    replies: LateReplies<Data>,
}

/// The Data of a [`Producer`].
#[derive(Debug)]
struct Zeros {
    size: DataSize,
    freshness: Duration,
    maker: DataMaker,
}

impl Zeros {
    fn data(&mut self, dialect: Dialect, name: NameRef<'_>) -> Option<Data> {
        self.maker.data(dialect, name, self.size, self.freshness)
    }
}

impl Source for Zeros {
    #[inline]
    fn answer(&mut self, interest: &Interest) -> Result<Reply, SourceError> {
        Ok(self.data(interest.dialect(), interest.name()).map_or(Reply::NoReply, Reply::Data))
    }
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

impl Producer {
    /// Answers with so many bytes of content, fresh for ten seconds, at once.
    pub fn new(content_bytes: usize) -> Self {
        Producer::sized(DataSize::Content(content_bytes))
    }

    fn sized(size: DataSize) -> Self {
        let (freshness, maker) = (Duration::from_secs(10), DataMaker::default());
        let source = Zeros { size, freshness, maker };
        Producer {
            prefix: Name::root(),
            server: Server::new(source, ServerConfig::default(), Instant::ZERO),
            replies: LateReplies::new(Duration::ZERO),
        }
    }

    /// Answers with packets of so many bytes in all, whatever the length of their names, as far as that is
    /// possible.
    pub fn of_packet_size(packet_bytes: usize) -> Self {
        Producer::sized(DataSize::Packet(packet_bytes))
    }

    /// With Data that is fresh for so long; in CCNx for whole seconds, and with less than one for ever.
    pub fn freshness(mut self, freshness: Duration) -> Self {
        let source = self.server.source_mut();
        (source.freshness, source.maker) = (freshness, DataMaker::default());
        self
    }

    /// Answering after so long.
    pub fn reply_delay(self, reply_delay: Duration) -> Self {
        Producer { replies: LateReplies::new(reply_delay), ..self }
    }

    /// Under this prefix; [`Network::add_producer`](crate::Network::add_producer) sets it.
    pub fn prefix(self, prefix: Name) -> Self {
        Producer { prefix, ..self }
    }

    /// What it has done.
    pub fn report(&self) -> ProducerReport {
        let counters = self.server.counters();
        ProducerReport {
            interests: counters.interests,
            data: counters.data - self.replies.waiting() as u64,
            unanswerable: counters.unanswered,
        }
    }

    /// The Data for a name; `None` if it would exceed the size of a packet.
    pub fn data(&mut self, dialect: Dialect, name: NameRef<'_>) -> Option<Data> {
        self.server.source_mut().data(dialect, name)
    }
}

impl Application for Producer {
    fn handle_interest(&mut self, context: &mut Context<'_>, interest: &Interest, _header: &LinkHeader) {
        // It is served for ever, and so any clock will do.
        let Ok(Reply::Data(data)) = self.server.handle_interest(context.time(), interest) else { return };
        if let Some(data) = self.replies.hold(context, data) {
            context.send_data(data);
        }
    }

    fn handle_timer(&mut self, context: &mut Context<'_>) {
        while let Some(data) = self.replies.due(context) {
            context.send_data(data);
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
