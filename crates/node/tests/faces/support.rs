//! A node on ports that the system picked, and peers that speak to it over real sockets.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::time::{Duration, Instant};

use cairn_node::Node;
use cairn_node::config::Config;
use cairn_node::control::{
    CreateFace, CreateFaceError, FaceChanges, FacePersistency, FaceSnapshot, FaceUri, NodeControl, Unmanaged,
};
use engine::{FaceId, NextHop};
use packet::ndn::lp::LpPacketView;
use packet::ndn::{DataBuilder, InterestBuilder, tlv};
use packet::{Dialect, Name};
use testkit::folder::TestFolder;

/// How long anything may take before it counts as not happening.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(10);

/// A running node.
pub(crate) struct TestNode {
    pub(crate) node: Node,
    pub(crate) directory: TestFolder,
}

impl TestNode {
    pub(crate) fn start() -> Self {
        Self::start_with(|_| {})
    }

    pub(crate) fn start_with(change: impl FnOnce(&mut Config)) -> Self {
        let mut config = quiet_config();
        let directory = TestFolder::numbered("faces");
        config.unix.listen = Some(vec![directory.join("nfd.sock")]);
        change(&mut config);
        let node = Node::start(&config, Box::new(Unmanaged)).unwrap();
        TestNode { node, directory }
    }

    /// Where the node listens, by the scheme of the address.
    pub(crate) fn address(&self, scheme: &str) -> SocketAddr {
        let uris = self.node.control().channels();
        let uri = uris.iter().find(|uri| uri.scheme() == scheme).unwrap();
        match uri {
            FaceUri::Udp(address) | FaceUri::Tcp(address) | FaceUri::WebSocket(address) => *address,
            other => panic!("{other} is no address and port"),
        }
    }

    pub(crate) fn create(&self, remote: &str) -> FaceSnapshot {
        self.try_to_create(remote).unwrap()
    }

    pub(crate) fn try_to_create(&self, remote: &str) -> Result<FaceSnapshot, CreateFaceError> {
        let request = CreateFace {
            remote: remote.parse().unwrap(),
            local: None,
            persistency: FacePersistency::Persistent,
            changes: FaceChanges::default(),
            dialect: Dialect::Ndn,
        };
        self.node.control().create_face(request)
    }

    pub(crate) fn route(&self, prefix: &str, face: FaceId) {
        let hop = NextHop { face, cost: 0 };
        self.node.control().add_next_hop(Dialect::Ndn, &name(prefix), hop, None).unwrap();
    }

    /// All faces but the node's own.
    pub(crate) fn faces(&self) -> Vec<FaceSnapshot> {
        let mut faces = self.node.control().faces();
        faces.retain(|face| face.remote.scheme() != "internal");
        faces
    }

    /// Waits until something is so.
    pub(crate) fn until(&self, what: &str, mut holds: impl FnMut(&Self) -> bool) {
        let deadline = Instant::now() + TIMEOUT;
        while !holds(self) {
            assert!(Instant::now() < deadline, "not within {TIMEOUT:?}: {what}");
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

impl Drop for TestNode {
    fn drop(&mut self) {
        self.node.shut_down();
    }
}

pub(crate) fn quiet_config() -> Config {
    let any: SocketAddr = "127.0.0.1:0".parse().unwrap();
    let mut config = Config::default();
    config.udp.listen = vec![any];
    config.tcp.listen = vec![any];
    config.websocket.listen = vec![any];
    config.unix.listen = Some(Vec::new());
    config
}

pub(crate) fn name(uri: &str) -> Name {
    uri.parse().unwrap()
}

pub(crate) fn interest(uri: &str) -> Vec<u8> {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NONCE: AtomicU32 = AtomicU32::new(1);
    let nonce = NONCE.fetch_add(1, Ordering::Relaxed);
    InterestBuilder::new(name(uri)).nonce(nonce).build().unwrap().wire().to_vec()
}

pub(crate) fn data(uri: &str, length: usize) -> Vec<u8> {
    DataBuilder::new(name(uri)).content(vec![7; length]).build_with_digest().unwrap().wire().to_vec()
}

/// The network packet in a frame that is whole.
pub(crate) fn packet_of(frame: &[u8]) -> Vec<u8> {
    LpPacketView::decode(frame).unwrap().fragment.unwrap().to_vec()
}

/// A peer on UDP.
pub(crate) fn udp_peer() -> UdpSocket {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.set_read_timeout(Some(TIMEOUT)).unwrap();
    socket
}

pub(crate) fn receive(socket: &UdpSocket) -> Vec<u8> {
    loop {
        let mut frame = vec![0; 65_536];
        let (length, from) = match socket.recv_from(&mut frame) {
            // A stop by a tracer, such as the leak check, ends a call that has a time-out.
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            received => received.expect("a frame in time"),
        };
        frame.truncate(length);
        // The node asks now and then whether what it sent has been taken.
        match link::v2::answer_echo(&frame, 8 << 20) {
            Some(reply) => drop(socket.send_to(&reply, from).unwrap()),
            None => return frame,
        }
    }
}

/// The next frame of a stream.
pub(crate) fn read_frame(stream: &mut impl Read) -> Vec<u8> {
    let mut frame = Vec::new();
    let mut byte = [0];
    loop {
        if let Ok((length, start)) = tlv::read_number(&frame, 1) {
            frame.resize(start + length as usize, 0);
            stream.read_exact(&mut frame[start..]).unwrap();
            return frame;
        }
        stream.read_exact(&mut byte).expect("a frame in time");
        frame.push(byte[0]);
    }
}

pub(crate) fn tcp_peer(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(TIMEOUT)).unwrap();
    stream.set_nodelay(true).unwrap();
    stream
}

/// A WebSocket client, as far as a test needs one.
pub(crate) struct WebSocketPeer {
    pub(crate) stream: TcpStream,
}

impl WebSocketPeer {
    pub(crate) fn connect(address: SocketAddr) -> Self {
        Self::connect_with(address, "")
    }

    /// Connects with more lines in the request.
    pub(crate) fn connect_with(address: SocketAddr, more: &str) -> Self {
        let mut stream = tcp_peer(address);
        let request = format!(
            "GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
            Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n{more}\r\n"
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = Vec::new();
        let mut byte = [0];
        while !answer.ends_with(b"\r\n\r\n") {
            stream.read_exact(&mut byte).unwrap();
            answer.push(byte[0]);
        }
        assert!(answer.starts_with(b"HTTP/1.1 101 "));
        WebSocketPeer { stream }
    }

    pub(crate) fn send(&mut self, message: &[u8]) {
        let mut frame = vec![0x82, 0x80 | 126];
        frame.extend((message.len() as u16).to_be_bytes());
        frame.extend([1, 2, 3, 4]);
        frame.extend(message.iter().zip([1, 2, 3, 4].into_iter().cycle()).map(|(byte, mask)| byte ^ mask));
        self.stream.write_all(&frame).unwrap();
    }

    pub(crate) fn receive(&mut self) -> Vec<u8> {
        let mut head = [0; 2];
        self.stream.read_exact(&mut head).expect("a message in time");
        assert_eq!(head[0], 0x82, "one binary message");
        let length = match head[1] {
            126 => {
                let mut length = [0; 2];
                self.stream.read_exact(&mut length).unwrap();
                usize::from(u16::from_be_bytes(length))
            }
            short => usize::from(short),
        };
        let mut message = vec![0; length];
        self.stream.read_exact(&mut message).unwrap();
        message
    }
}
