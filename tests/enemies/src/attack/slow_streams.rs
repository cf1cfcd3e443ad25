//! Connections that send a byte a second, and connections that never read.

use std::io;
use std::time::{Duration, Instant};

use super::arms::Streams;
use super::{Attack, Field};
use crate::honest::STORE;
use crate::pace::Spent;
use crate::wire::Template;

const EACH: usize = 500;
/// Names that are asked for again and again: the store has them soon.
const WANTED: u64 = 64;

/// Half of them stop in the middle of a frame, the others ask for much and take nothing.
#[derive(Default)]
pub(super) struct SlowStreams {
    slow: Streams,
    deaf: Streams,
    interest: Option<Template>,
    last_byte: Option<Instant>,
    asked: u64,
}

impl Attack for SlowStreams {
    fn name(&self) -> &'static str {
        "slow-streams"
    }

    fn about(&self) -> &'static str {
        "TCP connections that send a byte a second, and others that ask for much and never read"
    }

    fn wants_store(&self) -> bool {
        true
    }

    fn begin(&mut self, _: &mut Field) -> io::Result<()> {
        self.interest = Some(Template::interest(STORE, |interest| interest)?);
        Ok(())
    }

    fn strike(&mut self, field: &mut Field, room: usize) -> io::Result<Spent> {
        let most = EACH.min(field.descriptors / 2);
        let mut spent = Spent::default();
        for (streams, receive_bytes) in [(&mut self.slow, None), (&mut self.deaf, Some(2048))] {
            if streams.count() < most {
                spent.add(streams.add(field.node, receive_bytes)?);
            }
        }
        self.slow.inspect();
        if self.last_byte.is_none_or(|last| last.elapsed() > Duration::from_secs(1)) {
            self.last_byte = Some(Instant::now());
            for _ in 0..self.slow.count() {
                // The type of a Data, again and again: its length is one as well, so the frame goes on.
                spent.add(self.slow.write_next(&[6]));
            }
        }
        let Some(interest) = &self.interest else { return Ok(spent) };
        for _ in 0..room / 4 {
            self.asked += 1;
            spent.add(self.deaf.write_next(&interest.fresh(self.asked % WANTED, &mut field.random)));
        }
        Ok(spent)
    }
}
