//! A forwarder that does what a test tells it to, at the other end of a real socket.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::thread::JoinHandle;
use std::time::Duration;

use cairn_client::{Client, Connection, Remote};
use management::{ControlResponse, StatusCode};
use packet::ccnx::management::ForwardingEntry;
use packet::ccnx::{InterestFields, Ticks, message_len};
use packet::ndn::DataBuilder;
use packet::ndn::lp::LpPacketView;
use packet::{Buffer, Data, Dialect, Interest, LinkHeader, NackReason, Name};
use testkit::folder::TestFolder;
use trust::ccnx::CcnxSigner;

/// A packet as it came, with its link fields.
pub(crate) struct Received {
    pub(crate) packet: Buffer,
    pub(crate) header: LinkHeader,
    pub(crate) nack: Option<NackReason>,
}

impl Received {
    pub(crate) fn interest(&self) -> Interest {
        Interest::decode_ndn(self.packet.clone()).unwrap()
    }

    pub(crate) fn data(&self) -> Data {
        Data::decode_ndn(self.packet.clone()).unwrap()
    }
}

/// The forwarder's end of a stream.
pub(crate) struct Peer {
    stream: UnixStream,
    bytes: Vec<u8>,
}

impl Peer {
    /// The next packet; `None` when the client has gone.
    pub(crate) fn receive(&mut self) -> Option<Received> {
        loop {
            if let Ok((view, length)) = LpPacketView::decode_first(&self.bytes) {
                let packet = view.fragment.map(Buffer::copy_from);
                let (header, nack) = (view.link_header(), view.nack);
                self.bytes.drain(..length);
                match packet {
                    Some(packet) => return Some(Received { packet, header, nack }),
                    None => continue,
                }
            }
            let mut more = [0; 4096];
            match self.stream.read(&mut more) {
                Ok(0) | Err(_) => return None,
                Ok(count) => self.bytes.extend_from_slice(&more[..count]),
            }
        }
    }

    pub(crate) fn send(&mut self, packet: &Buffer, header: &LinkHeader, nack: Option<NackReason>) {
        let mut bytes = Vec::new();
        LpPacketView { nack, fragment: Some(packet), ..LpPacketView::with_header(header) }.encode(&mut bytes);
        self.write(&bytes);
    }

    pub(crate) fn send_data(&mut self, data: &Data) {
        self.send(data.wire(), &LinkHeader::default(), None);
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) {
        // The client may have gone, having heard enough; then the next `receive` tells.
        let _ = self.stream.write_all(bytes);
    }
}

/// A client connected to a forwarder that follows `script` in a thread of its own.
pub(crate) fn connect<T: Send + 'static>(
    script: impl FnOnce(Peer) -> T + Send + 'static,
) -> (Client, JoinHandle<T>) {
    let folder = TestFolder::numbered("client");
    let path = folder.join("nfd.sock");
    let listener = UnixListener::bind(&path).unwrap();
    let thread = std::thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        // A test that waits for what never comes fails instead of hanging.
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        script(Peer { stream, bytes: Vec::new() })
    });
    (Client::connect(&Remote::Unix(path)).unwrap(), thread)
}

/// A place where clients connect, again and again.
pub(crate) struct Listener {
    listener: UnixListener,
    _folder: TestFolder,
}

impl Listener {
    pub(crate) fn accept(&self) -> Peer {
        let (stream, _) = self.listener.accept().unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        Peer { stream, bytes: Vec::new() }
    }
}

/// Where a forwarder listens.
pub(crate) fn forwarder() -> (Remote, Listener) {
    let folder = TestFolder::numbered("outage");
    let path = folder.join("nfd.sock");
    let listener = UnixListener::bind(&path).unwrap();
    (Remote::Unix(path), Listener { listener, _folder: folder })
}

/// Answers a command.
pub(crate) fn answer_command(peer: &mut Peer, command: &Interest, code: u32) {
    let response = ControlResponse {
        code: StatusCode::from_number(code.into()),
        text: "as told".into(),
        body: Vec::new(),
    };
    let data = DataBuilder::new(command.name().to_name()).content(response.encode());
    peer.send_data(&data.build_with_digest().unwrap());
}

/// A forwarder of CCNx at the other end of a stream, which has a key.
pub(crate) struct Ccnd {
    stream: TcpStream,
    bytes: Vec<u8>,
    signer: CcnxSigner,
}

impl Ccnd {
    /// With a key of its own, as after each start without a file for it.
    pub(crate) fn accept(listener: &TcpListener) -> Self {
        let (stream, _) = listener.accept().unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let key = trust::PrivateKey::generate(trust::KeyKind::Rsa).unwrap();
        Ccnd { stream, bytes: Vec::new(), signer: CcnxSigner::new(key).unwrap() }
    }

    /// Answers the next request, and says what it asked for: `KEY`, or a verb. One that is meant for another
    /// forwarder gets no answer.
    pub(crate) fn serve(&mut self) -> String {
        let interest = self.receive();
        let name = interest.name().to_name();
        let components: Vec<Vec<u8>> =
            name.as_ref().components().map(|component| component.value.to_vec()).collect();
        let (content, asked) = match &components[..] {
            [_, id, _, _] if id == self.signer.publisher() => {
                let prefix = Name::root();
                let entry = ForwardingEntry { face_id: Some(7), ..ForwardingEntry::new(&prefix) };
                (entry.encode().unwrap(), String::from_utf8(components[2].clone()).unwrap())
            }
            [.., last] if last == b"KEY" => (self.signer.spki().to_vec(), "KEY".to_owned()),
            _ => return "for another".to_owned(),
        };
        let now = Ticks::from_unix(1_700_000_000, 0);
        let answer = self.signer.sign(&name, &content, now, |info| info).unwrap();
        self.stream.write_all(&answer).unwrap();
        asked
    }

    pub(crate) fn ask(&mut self, name: &Name) {
        self.stream.write_all(&InterestFields::default().encode(name).unwrap()).unwrap();
    }

    fn receive(&mut self) -> Interest {
        loop {
            if let Ok(Some(length)) = message_len(&self.bytes) {
                let rest = self.bytes.split_off(length);
                let message = std::mem::replace(&mut self.bytes, rest);
                return Interest::decode_ccnx(message.into()).unwrap();
            }
            let mut more = [0; 4096];
            let count = self.stream.read(&mut more).unwrap();
            assert!(count > 0, "the client has gone");
            self.bytes.extend_from_slice(&more[..count]);
        }
    }
}

/// A client of CCNx that may make requests, and where it connects.
pub(crate) fn ccnx_client() -> (Client, TcpListener) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let remote: Remote = format!("tcp4://{}", listener.local_addr().unwrap()).parse().unwrap();
    let mut client = Client::over(Connection::open_in(Dialect::Ccnx, &remote).unwrap());
    let key = trust::PrivateKey::generate(trust::KeyKind::Rsa).unwrap();
    client.sign_requests_with(CcnxSigner::new(key).unwrap());
    (client, listener)
}
