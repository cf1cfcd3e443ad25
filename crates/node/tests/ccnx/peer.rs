//! A node that speaks both dialects, and peers of it that speak CCNx.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::os::unix::net::UnixStream;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use cairn_node::Node;
use cairn_node::config::Config;
use cairn_node::control::{FaceUri, NodeControl, Unmanaged};
use packet::ccnx::{
    ContentKind, ContentObjectView, InterestFields, InterestView, Scope, Ticks, matches, message_len, uri,
};
use packet::{Component, Name};
use testkit::folder::TestFolder;
use trust::ccnx::{CcnxSigner, verify_by_own_key};
use trust::{KeyKind, PrivateKey};

/// How long an answer may take on a busy machine, and how long nothing must come to be believed.
const TIMEOUT: Duration = Duration::from_secs(20);
const SHORT_TIMEOUT: Duration = Duration::from_millis(300);

pub(crate) struct Host {
    pub(crate) node: Node,
    folder: TestFolder,
}

pub(crate) struct Peer<S> {
    socket: S,
    kept: Vec<u8>,
    signer: CcnxSigner,
}

/// What carries messages.
pub(crate) trait Socket {
    fn transmit(&mut self, bytes: &[u8]);
    /// What came, nothing within the time.
    fn take(&mut self, within: Duration) -> Vec<u8>;
}

fn taken(read: std::io::Result<usize>, bytes: &[u8]) -> Vec<u8> {
    read.map_or_else(|_| Vec::new(), |length| bytes[..length].to_vec())
}

impl Socket for UnixStream {
    fn transmit(&mut self, bytes: &[u8]) {
        self.write_all(bytes).unwrap();
    }

    fn take(&mut self, within: Duration) -> Vec<u8> {
        self.set_read_timeout(Some(within)).unwrap();
        let mut bytes = vec![0; 1 << 16];
        taken(self.read(&mut bytes), &bytes)
    }
}

impl Socket for TcpStream {
    fn transmit(&mut self, bytes: &[u8]) {
        self.write_all(bytes).unwrap();
    }

    fn take(&mut self, within: Duration) -> Vec<u8> {
        self.set_read_timeout(Some(within)).unwrap();
        let mut bytes = vec![0; 1 << 16];
        taken(self.read(&mut bytes), &bytes)
    }
}

impl Socket for UdpSocket {
    fn transmit(&mut self, bytes: &[u8]) {
        self.send(bytes).unwrap();
    }

    fn take(&mut self, within: Duration) -> Vec<u8> {
        self.set_read_timeout(Some(within)).unwrap();
        let mut bytes = vec![0; 1 << 16];
        taken(self.recv(&mut bytes), &bytes)
    }
}

impl Host {
    pub(crate) fn new() -> Self {
        Host::with(|_| {})
    }

    pub(crate) fn with(change: impl FnOnce(&mut Config)) -> Self {
        let folder = TestFolder::numbered("ccnx");
        let any: Vec<SocketAddr> = vec!["127.0.0.1:0".parse().unwrap()];
        let mut config = Config::default();
        (config.udp.listen, config.tcp.listen) = (any.clone(), any.clone());
        config.websocket.listen = Vec::new();
        config.unix.listen = Some(vec![folder.join("nfd.sock")]);
        config.ccnx.enabled = true;
        (config.ccnx.udp, config.ccnx.tcp) = (any.clone(), any);
        config.ccnx.unix = vec![folder.join("ccnd.sock")];
        config.ccnx.key_file = Some(folder.join("ccnx.key"));
        change(&mut config);
        Host { node: Node::start(&config, Box::new(Unmanaged)).unwrap(), folder }
    }

    pub(crate) fn folder(&self) -> &std::path::Path {
        &self.folder
    }

    /// A neighbour that speaks the other dialect.
    pub(crate) fn ndn_udp(&self) -> UdpSocket {
        let channels = self.node.control().channels();
        let addresses =
            channels.iter().filter_map(|uri| if let FaceUri::Udp(at) = uri { Some(*at) } else { None });
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.connect(addresses.min_by_key(|at| *at == self.udp_address()).unwrap()).unwrap();
        socket
    }

    pub(crate) fn unix(&self) -> Peer<UnixStream> {
        Peer::new(UnixStream::connect(self.folder.join("ccnd.sock")).unwrap())
    }

    pub(crate) fn tcp(&self) -> TcpStream {
        TcpStream::connect(("127.0.0.1", self.tcp_port())).unwrap()
    }

    pub(crate) fn tcp_port(&self) -> u16 {
        self.address(|uri| if let FaceUri::Tcp(address) = uri { Some(*address) } else { None }).port()
    }

    /// What management has counted under a word, where metrics are served.
    pub(crate) fn counted(&self, word: &str) -> u64 {
        let mut connection = TcpStream::connect(self.node.metrics_address().unwrap()).unwrap();
        connection.write_all(b"GET /metrics HTTP/1.1\r\n\r\n").unwrap();
        let mut page = String::new();
        connection.read_to_string(&mut page).unwrap();
        let line = format!("cairn_management_total{{what=\"{word}\"}} ");
        page.lines().find_map(|other| other.strip_prefix(&line)).map_or(0, |count| count.parse().unwrap())
    }

    pub(crate) fn udp_address(&self) -> SocketAddr {
        self.address(|uri| if let FaceUri::Udp(address) = uri { Some(*address) } else { None })
    }

    pub(crate) fn udp(&self) -> UdpSocket {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.connect(self.udp_address()).unwrap();
        socket
    }

    /// The socket of the second dialect comes behind that of the first.
    fn address(&self, of: impl Fn(&FaceUri) -> Option<SocketAddr>) -> SocketAddr {
        self.node.control().channels().iter().filter_map(of).next_back().unwrap()
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        self.node.shut_down();
    }
}

impl<S: Socket> Peer<S> {
    pub(crate) fn new(socket: S) -> Self {
        // A key takes long to make, and who signs is not what these tests are about.
        static SIGNER: LazyLock<CcnxSigner> =
            LazyLock::new(|| CcnxSigner::new(PrivateKey::generate(KeyKind::Rsa).unwrap()).unwrap());
        Peer { socket, kept: Vec::new(), signer: SIGNER.clone() }
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) {
        self.socket.transmit(bytes);
    }

    /// The same to whoever may have gone.
    pub(crate) fn try_send(&mut self, bytes: &[u8])
    where
        S: Write,
    {
        let _ = self.socket.write_all(bytes);
    }

    pub(crate) fn signer(&self) -> &CcnxSigner {
        &self.signer
    }

    /// The next message.
    pub(crate) fn recv(&mut self) -> Vec<u8> {
        self.recv_within(TIMEOUT).expect("an answer comes")
    }

    /// That nothing comes for a while.
    pub(crate) fn hears_nothing(&mut self) -> bool {
        self.recv_within(SHORT_TIMEOUT).is_none()
    }

    fn recv_within(&mut self, within: Duration) -> Option<Vec<u8>> {
        loop {
            if let Ok(Some(length)) = message_len(&self.kept) {
                let rest = self.kept.split_off(length);
                return Some(std::mem::replace(&mut self.kept, rest));
            }
            let came = self.socket.take(within);
            if came.is_empty() {
                return None;
            }
            self.kept.extend(came);
        }
    }

    /// Asks, and gives the object that answers.
    pub(crate) fn ask(&mut self, interest: &[u8]) -> Vec<u8> {
        self.send(interest);
        let object = self.recv();
        let (interest, view) = (InterestView::decode(interest).unwrap(), ContentObjectView::decode(&object));
        assert!(matches(&interest, &view.unwrap()), "{:?}", interest.name());
        object
    }

    /// Finds out who the forwarder is, as the C library does.
    pub(crate) fn ccnd_id(&mut self) -> [u8; 32] {
        let object = self.ask(&interest("ccnx:/%C1.M.S.localhost/%C1.M.SRV/ccnd/KEY", Some(1)));
        let view = ContentObjectView::decode(&object).unwrap();
        assert_eq!(view.kind(), ContentKind::Key);
        assert_eq!(*view.publisher(), trust::sha256(view.content()));
        *view.publisher()
    }

    /// The Interest of a signed request.
    pub(crate) fn request(&self, id: &[u8; 32], verb: &str, content: &[u8]) -> Vec<u8> {
        let object = self.signer.sign(&Name::root(), content, moment(), |info| info).unwrap();
        let name = name(&[b"ccnx", id, verb.as_bytes(), &object]);
        InterestFields { scope: Some(Scope::HOST), ..InterestFields::default() }.encode(&name).unwrap()
    }

    /// Has a request carried out; kind and content of the answer, whose signature holds.
    pub(crate) fn command(&mut self, id: &[u8; 32], verb: &str, content: &[u8]) -> (ContentKind, Vec<u8>) {
        let request = self.request(id, verb, content);
        let answer = self.ask(&request);
        let view = ContentObjectView::decode(&answer).unwrap();
        verify_by_own_key(&view).unwrap();
        assert_eq!((view.publisher(), view.freshness_seconds()), (id, Some(10)));
        (view.kind(), view.content().to_vec())
    }

    /// A signed object.
    pub(crate) fn object(&self, uri: &str, content: &[u8]) -> Vec<u8> {
        let name = uri::parse(uri).unwrap();
        self.signer.sign(&name, content, Ticks::from_unix(1_700_000_000, 0), |info| info).unwrap()
    }
}

/// No two requests are the same, as no two moments are.
pub(crate) fn moment() -> Ticks {
    static SECONDS: AtomicU32 = AtomicU32::new(1_700_000_000);
    Ticks::from_unix(SECONDS.fetch_add(1, Ordering::Relaxed).into(), 0)
}

pub(crate) fn name(components: &[&[u8]]) -> Name {
    Name::from_components(components.iter().map(|component| Component::generic(component))).unwrap()
}

pub(crate) fn interest(uri: &str, scope: Option<u64>) -> Vec<u8> {
    let scope = scope.and_then(Scope::new);
    InterestFields { scope, ..InterestFields::default() }.encode(&uri::parse(uri).unwrap()).unwrap()
}

/// The name that a message asks for, or that it has.
pub(crate) fn name_in(message: &[u8]) -> String {
    match InterestView::decode(message) {
        Ok(interest) => interest.name().to_string(),
        Err(_) => ContentObjectView::decode(message).unwrap().name().to_string(),
    }
}
