//! Serving a source of Data over a face inside the process.

use std::time::Duration;

use flow::source::{AppFace, Reply};
use packet::time::Instant;
use packet::{Interest, LinkHeader, Packet};

use crate::transport::inner::{InnerFace, InnerFaceGone, InnerPacket};

/// Carries what comes to it by the routes that lead to it. It ends when the node ends or somebody
/// [destroys](crate::control::NodeControl::destroy_face) the face. What else comes, such as answers to
/// Interests of its own, is lost.
impl AppFace for InnerFace {
    type Error = InnerFaceGone;

    fn now(&self) -> Instant {
        InnerFace::now(self)
    }

    fn next_interest(&mut self, until: Instant) -> Result<Option<(Interest, LinkHeader)>, InnerFaceGone> {
        loop {
            match self.recv()? {
                Some(InnerPacket { packet: Packet::Interest(interest), header, .. }) => {
                    return Ok(Some((interest, header)));
                }
                Some(_) => continue,
                None => {}
            }
            let left = until.saturating_since(InnerFace::now(self)).as_nanos();
            if left == 0 {
                return Ok(None);
            }
            self.wait((until != Instant::NEVER).then(|| Duration::from_nanos(left)));
        }
    }

    fn send(&mut self, interest: &Interest, asked: &LinkHeader, reply: &Reply) -> Result<(), InnerFaceGone> {
        let packet = match reply {
            Reply::Data(data) => Packet::Data(data.clone()),
            Reply::Nack(reason) => Packet::Nack(interest.clone(), *reason),
            Reply::NoReply | Reply::NotMine => return Ok(()),
        };
        let header = LinkHeader { pit_token: asked.pit_token.clone(), ..LinkHeader::NONE };
        // A source of another dialect would be a mistake of whoever made both.
        self.send_in_time(InnerPacket { header, ..InnerPacket::from(packet) }).map_err(|_| InnerFaceGone)
    }

    /// What was sent is on its way already.
    fn flush(&mut self) -> Result<(), InnerFaceGone> {
        Ok(())
    }
}
