//! WebSocket (RFC 6455), the server's side of it: an HTTP request, and then messages, each of which is one
//! frame of a face.
//!
//! Browsers have no other way to a forwarder. No extension is agreed to; text messages end the connection.

use std::ops::Range;

use aws_lc_rs::digest::{SHA1_FOR_LEGACY_USE_ONLY, digest};
use packet::Dialect;

/// The server's end of one connection.
#[derive(Debug, Default)]
pub(crate) struct WebSocket {
    open: bool,
    /// Bytes of the request in which its end does not begin.
    searched: usize,
    /// The parts so far of a message that comes in parts.
    message: Vec<u8>,
    in_parts: bool,
}

/// What the next bytes are.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// More bytes are needed.
    Incomplete,
    /// So many bytes have been used, for this.
    Used(usize, Event),
    /// No more sense can be made of the connection. What the peer should be told, if anything.
    Broken(Vec<u8>),
}

/// What came.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// Nothing that the owner needs to know.
    Nothing,
    /// A message: this part of the bytes shown.
    Message(Range<usize>),
    /// A message in parts is complete: take it with [`WebSocket::take_message`].
    Assembled,
    /// The peer asked to begin, is to be sent this answer, and says that about itself.
    Opened(Vec<u8>, UpgradeRequest),
    /// The peer is to be sent this.
    Reply(Vec<u8>),
    /// The peer is to be sent this, and then nothing more.
    Close(Vec<u8>),
}

/// What a request for an upgrade says about on whose behalf its sender connects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct UpgradeRequest {
    /// The web page, if it is one: browsers always say it, and pages cannot keep them from it (RFC 6454).
    pub(crate) origin: Option<String>,
    /// Whether a proxy passes on what somebody else says, who may be anywhere.
    pub(crate) is_forwarded: bool,
}

/// Bytes of a request.
const MAX_REQUEST_BYTES: usize = 8192;
/// What is spoken over WebSocket: NDN alone, for CCNx never had it.
pub(crate) const DIALECT: Dialect = Dialect::Ndn;
/// Bytes of a message, which is one frame of the link.
const MAX_MESSAGE_BYTES: usize = packet::ndn::lp::MAX_FRAME_BYTES;

const CONTINUATION: u8 = 0;
const BINARY: u8 = 2;
const CLOSE: u8 = 8;
const PING: u8 = 9;
const PONG: u8 = 10;

/// Where the empty line is that ends the head of a request of HTTP, in bytes of which so many were searched
/// before.
pub(crate) fn end_of_head(bytes: &[u8], searched: usize) -> Option<usize> {
    // It may have come in two parts.
    let begin = searched.saturating_sub(3);
    let end = bytes.get(begin..)?.windows(4).position(|window| window == b"\r\n\r\n")?;
    Some(begin + end)
}

impl WebSocket {
    /// Whether the request has been answered.
    pub(crate) fn is_open(&self) -> bool {
        self.open
    }

    /// Looks at what the next bytes are. Payload is unmasked in place, once its message is complete.
    pub(crate) fn step(&mut self, bytes: &mut [u8]) -> Step {
        if self.open { self.frame(bytes) } else { self.request(bytes) }
    }

    /// The message that was put together.
    pub(crate) fn take_message(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.message)
    }

    fn request(&mut self, bytes: &[u8]) -> Step {
        // What has been looked at is not looked at again: a request may come byte by byte.
        let Some(end) = end_of_head(bytes, self.searched) else {
            self.searched = bytes.len();
            return if bytes.len() < MAX_REQUEST_BYTES { Step::Incomplete } else { refuse() };
        };
        let Some((accept, upgrade)) = bytes.get(..end).and_then(read_request) else { return refuse() };
        self.open = true;
        let answer = format!(
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {accept}\r\n\r\n"
        );
        Step::Used(end + 4, Event::Opened(answer.into_bytes(), upgrade))
    }

    fn frame(&mut self, bytes: &mut [u8]) -> Step {
        let Some(FrameHeader { first, length, start }) = FrameHeader::read(bytes) else {
            return Step::Incomplete;
        };
        let (is_last, reserved, opcode) = (first & 0x80 != 0, first & 0x70, first & 0x0f);
        let is_masked = bytes.get(1).is_some_and(|second| second & 0x80 != 0);
        let is_control = opcode >= CLOSE;
        // Clients must mask, nothing was agreed to that uses the reserved bits, and control frames are short
        // and whole.
        if !is_masked || reserved != 0 || is_control && (length > 125 || !is_last) {
            return Step::Broken(control(CLOSE, &1002u16.to_be_bytes()));
        }
        if length > MAX_MESSAGE_BYTES as u64 {
            return Step::Broken(control(CLOSE, &1009u16.to_be_bytes()));
        }
        let (start, end) = (start + 4, start + 4 + length as usize);
        let Some(mask) = bytes.get(start - 4..start).and_then(|mask| <[u8; 4]>::try_from(mask).ok()) else {
            return Step::Incomplete;
        };
        let Some(payload) = bytes.get_mut(start..end) else { return Step::Incomplete };
        for (byte, mask) in payload.iter_mut().zip(mask.into_iter().cycle()) {
            *byte ^= mask;
        }
        let event = match opcode {
            PING => Event::Reply(control(PONG, payload)),
            PONG => Event::Nothing,
            CLOSE => Event::Close(control(CLOSE, payload.get(..2).unwrap_or_default())),
            BINARY if !self.in_parts && is_last => Event::Message(start..end),
            BINARY if !self.in_parts => return self.part(payload, end, is_last),
            CONTINUATION if self.in_parts => return self.part(payload, end, is_last),
            BINARY | CONTINUATION => return Step::Broken(control(CLOSE, &1002u16.to_be_bytes())),
            _ => return Step::Broken(control(CLOSE, &1003u16.to_be_bytes())),
        };
        Step::Used(end, event)
    }

    fn part(&mut self, payload: &[u8], used: usize, is_last: bool) -> Step {
        if self.message.len() + payload.len() > MAX_MESSAGE_BYTES {
            return Step::Broken(control(CLOSE, &1009u16.to_be_bytes()));
        }
        self.message.extend_from_slice(payload);
        self.in_parts = !is_last;
        Step::Used(used, if is_last { Event::Assembled } else { Event::Nothing })
    }
}

/// What a frame begins with.
struct FrameHeader {
    /// Opcode and flags.
    first: u8,
    /// Bytes of the payload.
    length: u64,
    /// Where the mask begins.
    start: usize,
}

impl FrameHeader {
    fn read(bytes: &[u8]) -> Option<Self> {
        let (&first, &second) = (bytes.first()?, bytes.get(1)?);
        let (length, start) = match second & 0x7f {
            126 => (bytes.get(2..4)?.try_into().map_or(0, u16::from_be_bytes).into(), 4),
            127 => (bytes.get(2..10)?.try_into().map_or(0, u64::from_be_bytes), 10),
            short => (short.into(), 2),
        };
        Some(FrameHeader { first, length, start })
    }
}

/// A control frame of the server.
fn control(opcode: u8, payload: &[u8]) -> Vec<u8> {
    let payload = payload.get(..payload.len().min(125)).unwrap_or_default();
    let mut frame = vec![0x80 | opcode, payload.len() as u8];
    frame.extend_from_slice(payload);
    frame
}

/// A ping, as NFD sends it.
pub(crate) fn ping() -> Vec<u8> {
    control(PING, b"NFD-WebSocket")
}

/// The bytes that stand before a binary message of the server.
pub(crate) fn message_header(length: usize) -> ([u8; 10], usize) {
    let mut header = [0x80 | BINARY, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let bytes = (length as u64).to_be_bytes();
    match length {
        0..126 => {
            header[1] = length as u8;
            (header, 2)
        }
        126..65_536 => {
            header[1] = 126;
            header[2..4].copy_from_slice(&bytes[6..]);
            (header, 4)
        }
        _ => {
            header[1] = 127;
            header[2..].copy_from_slice(&bytes);
            (header, 10)
        }
    }
}

fn refuse() -> Step {
    Step::Broken(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n".to_vec())
}

/// The answer to the key in a request to become a WebSocket, and who asks; `None` if it is no such request.
fn read_request(request: &[u8]) -> Option<(String, UpgradeRequest)> {
    let text = std::str::from_utf8(request).ok()?;
    let mut lines = text.split("\r\n");
    let (mut key, mut is_websocket, mut version) = (None, false, false);
    let mut upgrade = UpgradeRequest::default();
    if !lines.next()?.starts_with("GET ") {
        return None;
    }
    for line in lines {
        let (name, value) = line.split_once(':')?;
        // A name with a space behind it, a line that goes on with the one before, and an end that only some
        // programs see: what one of them takes for a page's origin, another must not miss (RFC 9112, 5.1).
        if name.is_empty()
            || name.bytes().any(|byte| !byte.is_ascii_graphic())
            || value.contains(['\r', '\n'])
        {
            return None;
        }
        let value = value.trim();
        match name.to_ascii_lowercase().as_str() {
            "sec-websocket-key" => key = Some(value),
            "sec-websocket-version" => version = value == "13",
            "upgrade" => is_websocket = value.eq_ignore_ascii_case("websocket"),
            "origin" => upgrade.origin = Some(value.to_owned()),
            "forwarded" | "via" | "x-real-ip" | "true-client-ip" | "cf-connecting-ip" => {
                upgrade.is_forwarded = true;
            }
            // Pages cannot set it, and browsers say with it that a page asks, whoever took the origin away.
            "sec-fetch-site" => upgrade.is_forwarded |= !value.eq_ignore_ascii_case("none"),
            other => upgrade.is_forwarded |= other.starts_with("x-forwarded-"),
        }
    }
    let key = key.filter(|_| is_websocket && version)?;
    let joined = format!("{key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11");
    let accept = trust::text::to_base64(digest(&SHA1_FOR_LEGACY_USE_ONLY, joined.as_bytes()).as_ref());
    Some((accept.trim_end().to_owned(), upgrade))
}

#[cfg(test)]
mod tests {
    use super::*;

    const REQUEST: &[u8] =
        b"GET /chat HTTP/1.1\r\nHost: server.example.com\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
        Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n";

    fn open() -> WebSocket {
        let mut socket = WebSocket::default();
        let Step::Used(used, Event::Opened(answer, upgrade)) = socket.step(&mut REQUEST.to_vec()) else {
            panic!()
        };
        assert_eq!(upgrade, UpgradeRequest::default());
        assert_eq!(used, REQUEST.len());
        // The worked example of RFC 6455, section 1.3.
        assert!(
            String::from_utf8(answer)
                .unwrap()
                .contains("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n")
        );
        socket
    }

    #[test]
    fn a_request_that_comes_byte_by_byte_is_looked_through_once() {
        let mut socket = WebSocket::default();
        for len in 1..REQUEST.len() {
            assert_eq!(socket.step(&mut REQUEST[..len].to_vec()), Step::Incomplete);
            assert!(socket.searched + 3 >= len, "{len}");
        }
        let last = socket.step(&mut REQUEST.to_vec());
        assert!(matches!(last, Step::Used(used, Event::Opened(..)) if used == REQUEST.len()), "{last:?}");
    }

    fn masked(first: u8, payload: &[u8]) -> Vec<u8> {
        let mask = [0x37, 0xfa, 0x21, 0x3d];
        let mut frame = vec![first];
        match payload.len() {
            0..126 => frame.push(0x80 | payload.len() as u8),
            _ => {
                frame.push(0x80 | 126);
                frame.extend((payload.len() as u16).to_be_bytes());
            }
        }
        frame.extend(mask);
        frame.extend(payload.iter().zip(mask.into_iter().cycle()).map(|(byte, mask)| byte ^ mask));
        frame
    }

    /// The request with another line at its end.
    fn with(line: &str) -> Vec<u8> {
        let mut request = REQUEST[..REQUEST.len() - 2].to_vec();
        request.extend([line.as_bytes(), b"\r\n"].concat());
        request
    }

    #[test]
    fn what_is_no_request_for_a_websocket_is_refused() {
        for request in [
            &b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"[..],
            b"POST / HTTP/1.1\r\n\r\n",
            b"\r\n\r\n",
            b"\xff\r\n\r\n",
            &with("Origin : https://example.net\r\n"),
            &with(" Origin: https://example.net\r\n"),
            &with("X: y\nOrigin: https://example.net\r\n"),
            &with(": https://example.net\r\n"),
        ] {
            assert!(
                matches!(WebSocket::default().step(&mut request.to_vec()), Step::Broken(_)),
                "{request:?}"
            );
        }
        assert_eq!(WebSocket::default().step(&mut b"GET / HT".to_vec()), Step::Incomplete);
        assert!(matches!(WebSocket::default().step(&mut vec![b'x'; 9000]), Step::Broken(_)));
    }

    #[test]
    fn who_asks_is_read_from_the_request() {
        let upgrade = |more: &str| match WebSocket::default().step(&mut with(more)) {
            Step::Used(_, Event::Opened(_, upgrade)) => upgrade,
            other => panic!("{other:?}"),
        };
        let page = |origin: &str| UpgradeRequest { origin: Some(origin.to_owned()), is_forwarded: false };
        assert_eq!(upgrade("Origin: https://example.net\r\n"), page("https://example.net"));
        assert_eq!(upgrade("oRIGIN:null\r\n"), page("null"));
        for header in
            ["Forwarded: for=192.0.2.7", "X-Forwarded-For: 192.0.2.7", "Via: 1.1 proxy", "X-Real-IP: ::1"]
                .into_iter()
                .chain([
                    "X-Forwarded-Host: x",
                    "CF-Connecting-IP: ::1",
                    "True-Client-IP: ::1",
                    "Sec-Fetch-Site: cross-site",
                ])
        {
            let expected = UpgradeRequest { origin: None, is_forwarded: true };
            assert_eq!(upgrade(&format!("{header}\r\n")), expected, "{header}");
        }
    }

    #[test]
    fn messages_come_unmasked_whole_or_in_parts() {
        let mut socket = open();
        for length in [0, 5, 125, 126, 5000] {
            let payload: Vec<u8> = (0..length).map(|byte| byte as u8).collect();
            let mut bytes = masked(0x82, &payload);
            let all = bytes.len();
            for cut in [1, 3, all - 1] {
                assert_eq!(socket.step(&mut bytes[..cut].to_vec()), Step::Incomplete);
            }
            let Step::Used(used, Event::Message(range)) = socket.step(&mut bytes) else { panic!() };
            assert_eq!((used, &bytes[range]), (all, &payload[..]));
        }
        assert!(matches!(socket.step(&mut masked(0x02, b"Hel")), Step::Used(_, Event::Nothing)));
        // Control frames may come between.
        let Step::Used(_, Event::Reply(pong)) = socket.step(&mut masked(0x89, b"hi")) else { panic!() };
        assert_eq!(pong, [0x8a, 2, b'h', b'i']);
        assert!(matches!(socket.step(&mut masked(0x80, b"lo")), Step::Used(_, Event::Assembled)));
        assert_eq!(socket.take_message(), b"Hello");
    }

    #[test]
    fn frames_that_break_the_rules_end_the_connection() {
        let close = |code: u16| Step::Broken(control(CLOSE, &code.to_be_bytes()));
        assert_eq!(open().step(&mut [0x82, 1, b'x']), close(1002), "not masked");
        assert_eq!(open().step(&mut masked(0xc2, b"x")), close(1002), "reserved bit");
        assert_eq!(open().step(&mut masked(0x80, b"x")), close(1002), "continues nothing");
        assert_eq!(open().step(&mut masked(0x81, b"x")), close(1003), "text");
        assert_eq!(open().step(&mut masked(0x09, b"x")), close(1002), "control in parts");
        assert_eq!(open().step(&mut masked(0x82, &[0; MAX_MESSAGE_BYTES + 1])), close(1009), "too large");
        let mut endless = vec![0x82, 0xff];
        endless.extend(u64::MAX.to_be_bytes());
        assert_eq!(open().step(&mut endless), close(1009), "absurdly large");
        assert!(matches!(open().step(&mut masked(0x88, &[3, 232])), Step::Used(_, Event::Close(_))));
    }

    #[test]
    fn a_message_too_large_in_parts_ends_the_connection() {
        let mut socket = open();
        assert!(matches!(socket.step(&mut masked(0x02, &[0; 8000])), Step::Used(_, Event::Nothing)));
        assert!(matches!(socket.step(&mut masked(0x00, &[0; 8000])), Step::Broken(_)));
    }

    #[test]
    fn headers_of_messages_have_the_length_in_the_shortest_form() {
        for (length, header) in
            [(5, &[0x82, 5][..]), (126, &[0x82, 126, 0, 126]), (8800, &[0x82, 126, 0x22, 0x60])]
        {
            let (bytes, used) = message_header(length);
            assert_eq!(&bytes[..used], header);
        }
        assert_eq!(message_header(70_000).1, 10);
    }
}
