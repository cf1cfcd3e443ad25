//! How often and when packets are sent again and acknowledged.

use packet::ccnx::management::NdnldConnection;
use packet::time::Duration;

/// Parameters of acknowledgements, with `ndnldc`'s options for them (NDN-0006, section 3.4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timings {
    /// Packets that are kept to be sent again [-S]; zero switches that off. Twice the packets of a round-trip
    /// time is advised.
    pub sent_packets_capacity: u32,
    /// How often a packet is sent again at most [-C].
    pub retry_count: u32,
    /// How long to wait for its acknowledgement [-R]. Three round-trip times are advised.
    pub retransmit_time: Duration,
    /// How long an acknowledgement may wait for others [-A]. One round-trip time is advised.
    pub acknowledge_time: Duration,
}

impl Timings {
    /// The defaults of section 3.3.1, which also gives the advice above. Section 2.3 has another for a link
    /// whose delay is known: acknowledged within two delays, sent again after four, and twice.
    pub const PAPER: Timings = Timings {
        sent_packets_capacity: 100,
        retry_count: 5,
        retransmit_time: Duration::from_millis(1000),
        acknowledge_time: Duration::from_millis(300),
    };

    /// What a request of ndnld's control protocol asks for; the paper's where it says nothing.
    pub fn of_request(asked: &NdnldConnection<'_>) -> Self {
        let time = |millis: Option<u32>| millis.map(|millis| Duration::from_millis(millis.into()));
        let paper = Timings::PAPER;
        Timings {
            sent_packets_capacity: asked.sent_packets_capacity.unwrap_or(paper.sent_packets_capacity),
            retry_count: asked.retransmit_count.unwrap_or(paper.retry_count),
            retransmit_time: time(asked.retransmit_millis).unwrap_or(paper.retransmit_time),
            acknowledge_time: time(asked.acknowledge_millis).unwrap_or(paper.acknowledge_time),
        }
    }

    /// A message of ndnld's control protocol that says these and nothing else. It counts milliseconds.
    pub fn message(&self) -> NdnldConnection<'static> {
        let millis = |time: Duration| Some(u32::try_from(time.as_millis()).unwrap_or(u32::MAX));
        NdnldConnection {
            sent_packets_capacity: Some(self.sent_packets_capacity),
            retransmit_count: Some(self.retry_count),
            retransmit_millis: millis(self.retransmit_time),
            acknowledge_millis: millis(self.acknowledge_time),
            ..NdnldConnection::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_asks_for_the_timings_that_it_was_made_of_and_an_empty_one_for_those_of_the_paper() {
        let timings =
            Timings { retry_count: 0, acknowledge_time: Duration::from_millis(7), ..Timings::PAPER };
        assert_eq!(Timings::of_request(&timings.message()), timings);
        assert_eq!(Timings::of_request(&NdnldConnection::default()), Timings::PAPER);
    }
}
