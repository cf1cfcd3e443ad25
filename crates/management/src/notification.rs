//! Following a stream of notifications: `<stream>/seq=0`, `<stream>/seq=1` …

use packet::error::DecodeError;
use packet::ndn::InterestBuilder;
use packet::time::Duration;
use packet::{Component, ComponentKind, Data, Name};

use crate::request::discovery_interest;

/// How long a forwarder may keep a request for the next notification waiting.
pub const NOTIFICATION_LIFETIME: Duration = Duration::from_secs(60);

/// The place of a subscriber in a stream.
///
/// Express [`StreamPosition::interest`], again when it times out, and give what comes to
/// [`StreamPosition::receive`]. When something is wrong with the answer, [`StreamPosition::restart`] begins
/// anew with whatever comes next.
#[derive(Clone, Debug)]
pub struct StreamPosition {
    stream: Name,
    next: Option<u64>,
}

impl StreamPosition {
    /// A subscriber who wants what happens from now on.
    pub fn new(stream: Name) -> Self {
        StreamPosition { stream, next: None }
    }

    /// What to ask for next.
    ///
    /// # Errors
    /// More bytes than a name can have.
    pub fn interest(&self) -> Result<InterestBuilder, DecodeError> {
        let interest = match self.next {
            None => discovery_interest(self.stream.clone()),
            Some(number) => {
                InterestBuilder::new(self.stream.with_number(ComponentKind::SEQUENCE_NUMBER, number)?)
            }
        };
        Ok(interest.lifetime(NOTIFICATION_LIFETIME))
    }

    /// Takes in the answer; gives its number in the stream and its content, or `None` if it does not belong
    /// to the stream.
    pub fn receive<'a>(&mut self, data: &'a Data) -> Option<(u64, &'a [u8])> {
        let name = data.name();
        let number = name
            .last()
            .filter(|last| last.kind == ComponentKind::SEQUENCE_NUMBER)
            .and_then(Component::number)?;
        let stream = name.prefix(name.component_count().saturating_sub(1));
        if stream != self.stream.as_ref() || self.next.is_some_and(|next| next != number) {
            return None;
        }
        self.next = number.checked_add(1);
        Some((number, data.content()))
    }

    /// Forgets the place, to go on with whatever comes next.
    pub fn restart(&mut self) {
        self.next = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use packet::ndn::DataBuilder;

    fn notification(uri: &str) -> Data {
        DataBuilder::new(uri.parse().unwrap()).content(b"x".to_vec()).build_with_digest().unwrap()
    }

    fn asked(position: &StreamPosition) -> String {
        let interest = position.interest().unwrap().build().unwrap();
        format!("{}{}", interest.name(), if interest.can_be_prefix() { "*" } else { "" })
    }

    #[test]
    fn a_subscriber_starts_anywhere_and_then_follows_number_by_number() {
        let mut position = StreamPosition::new("/s".parse().unwrap());
        assert_eq!(asked(&position), "/s*");
        assert_eq!(position.receive(&notification("/s/seq=7")), Some((7, &b"x"[..])));
        assert_eq!(asked(&position), "/s/seq=8");
        for other in ["/s/seq=7", "/s/seq=9", "/t/seq=8", "/s/v=8", "/s"] {
            assert_eq!(position.receive(&notification(other)), None, "{other}");
        }
        assert_eq!(asked(&position), "/s/seq=8");
        position.restart();
        assert_eq!(asked(&position), "/s*");
    }
}
