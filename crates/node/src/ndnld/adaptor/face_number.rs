//! Which face of the forwarder a new connection is.

use std::io::{self, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use engine::FaceId;
use packet::ccnx::management::{ForwardingEntry, ForwardingFlags, Verb};
use packet::ccnx::pdu::EMPTY_PDU;
use packet::ccnx::{ContentObjectView, InterestFields, Ticks, message_len};
use packet::{Component, Interest, Name};
use socket2::Socket;
use system::is_try_again;
use trust::ccnx::CcndRequest;

use super::Forwarder;
use super::links::Connection;
use crate::sys::random_words;

/// How long the forwarder may take to say it.
const TIMEOUT: Duration = Duration::from_secs(3);
/// For how long the forwarder keeps the registration that is made only to learn it.
const DISCOVERY_SECONDS: u32 = 1;
/// The most bytes of what comes until it has.
const MAX_BYTES: usize = 1 << 16;

/// Registers a name for a second, by which the forwarder tells the number of the face, and then says that
/// this is a link adapter. What has come behind the answer belongs to the link.
pub(super) fn learn(stream: OwnedFd, forwarder: &Forwarder, now: Ticks) -> io::Result<Connection> {
    let mut stream = Socket::from(stream);
    stream.set_read_timeout(Some(TIMEOUT / 3))?;
    let request = discovery(forwarder, now)?;
    stream.write_all(request.wire())?;
    let deadline = Instant::now() + TIMEOUT;
    let mut came = Vec::new();
    loop {
        let mut piece = [0; 4096];
        let len = match stream.read(&mut piece) {
            Ok(0) => return Err(io::Error::other("the forwarder has closed the connection")),
            Ok(len) => len,
            Err(error) if is_try_again(&error) => 0,
            Err(error) => return Err(error),
        };
        came.extend_from_slice(piece.get(..len).unwrap_or_default());
        while let Some(len) = message_len(&came).map_err(io::Error::other)? {
            let message: Vec<u8> = came.drain(..len).collect();
            let object = ContentObjectView::decode(&message).ok();
            let entry = object.as_ref().and_then(|object| ForwardingEntry::decode(object.content()).ok());
            if let Some(face) = entry.and_then(|entry| entry.face_id) {
                stream.write_all(&EMPTY_PDU)?;
                return Ok(Connection { face: FaceId(face), stream: stream.into(), came });
            }
        }
        if came.len() > MAX_BYTES || Instant::now() > deadline {
            return Err(io::Error::other("the forwarder does not say which face the connection is"));
        }
    }
}

fn discovery(forwarder: &Forwarder, now: Ticks) -> io::Result<Interest> {
    let of_ours: [&[u8]; 4] = [b"ccnx", b"ndnld", &forwarder.ccnd_id, b"discover-faceid"];
    let prefix = Name::from_components(of_ours.map(Component::generic)).map_err(io::Error::other)?;
    let entry = ForwardingEntry {
        flags: Some(ForwardingFlags::LAST.with(ForwardingFlags::LOCAL)),
        freshness_seconds: Some(DISCOVERY_SECONDS),
        ..ForwardingEntry::new(&prefix)
    };
    let [nonce] = random_words()?;
    let nonce = nonce.to_be_bytes();
    let lifetime = Some(Ticks::from_duration(packet::time::Duration::from_secs(4)));
    let fields = InterestFields { lifetime, nonce: Some(&nonce), ..InterestFields::default() };
    let request = CcndRequest::Prefix(Verb::SelfReg, entry);
    forwarder.signer.ccnd_request(&forwarder.ccnd_id, request, now, fields).map_err(io::Error::other)
}
