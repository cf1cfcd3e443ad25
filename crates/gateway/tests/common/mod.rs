//! A gateway on a real socket, in front of a forwarder that answers as a test tells it to.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use cairn_gateway::{GatewayConfig, Server, TrustPolicy};
use client::{AsyncClient, Remote, Trust};
use flow::source::{Reply, Source};
use packet::ndn::lp::LpPacketView;
use packet::{Buffer, Interest, LinkHeader};
use testkit::folder::TestFolder;
use tokio::sync::oneshot;

const TIMEOUT: Duration = Duration::from_secs(60);

/// The socket of a forwarder, in its folder.
pub(crate) const SOCKET: &str = "nfd.sock";

/// The gateway, and what the forwarder was asked for.
pub(crate) struct World {
    pub(crate) address: SocketAddr,
    pub(crate) asked: Arc<Mutex<Vec<String>>>,
    pub(crate) log: Arc<Mutex<Vec<String>>>,
    end: Option<oneshot::Sender<()>>,
    gateway: Option<JoinHandle<()>>,
    /// Where the forwarder is found, which goes with the test.
    _forwarder: TestFolder,
}

/// An answer of HTTP.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
    /// Whether all came that was promised.
    pub(crate) is_whole: bool,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(other, _)| other.eq_ignore_ascii_case(name));
        found.map_or("", |(_, value)| value)
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// Answers Interests by `source` until the client goes.
fn answer_by(mut stream: UnixStream, mut source: impl Source, asked: &Mutex<Vec<String>>) {
    let mut bytes = Vec::new();
    loop {
        if let Ok((view, length)) = LpPacketView::decode_first(&bytes) {
            let interest = view.fragment.map(Buffer::copy_from).and_then(|it| Interest::decode_ndn(it).ok());
            bytes.drain(..length);
            let Some(interest) = interest else { continue };
            asked.lock().unwrap().push(interest.name().to_string());
            let (wire, nack) = match source.answer(&interest).unwrap() {
                Reply::Data(data) => (data.into_wire(), None),
                Reply::Nack(reason) => (interest.wire().clone(), Some(reason)),
                Reply::NoReply | Reply::NotMine => continue,
            };
            let header = LinkHeader::default();
            let mut out = Vec::new();
            LpPacketView { nack, fragment: Some(&wire), ..LpPacketView::with_header(&header) }
                .encode(&mut out);
            if stream.write_all(&out).is_err() {
                return;
            }
            continue;
        }
        let mut more = [0; 16 << 10];
        match stream.read(&mut more) {
            Ok(0) | Err(_) => return,
            Ok(count) => bytes.extend_from_slice(&more[..count]),
        }
    }
}

impl World {
    pub(crate) fn new(source: impl Source + Send + 'static) -> World {
        World::with(source, Trust::anybody, |_| {})
    }

    pub(crate) fn with(
        source: impl Source + Send + 'static,
        trust: impl Fn() -> Trust + Send + Sync + 'static,
        change: impl FnOnce(&mut GatewayConfig) + Send + 'static,
    ) -> World {
        let (listener, forwarder) = listen();
        let asked = Arc::<Mutex<Vec<String>>>::default();
        let noted = asked.clone();
        std::thread::spawn(move || {
            let (stream, _) = listener.accept().unwrap();
            answer_by(stream, source, &noted);
        });
        let mut world = World::at(forwarder, trust, change);
        world.asked = asked;
        world
    }

    /// In front of a forwarder that is there already.
    pub(crate) fn at(
        forwarder: TestFolder,
        trust: impl Fn() -> Trust + Send + Sync + 'static,
        change: impl FnOnce(&mut GatewayConfig) + Send + 'static,
    ) -> World {
        let log = Arc::<Mutex<Vec<String>>>::default();
        let (end, ended) = oneshot::channel::<()>();
        let (tell, address) = std::sync::mpsc::channel();
        let lines = log.clone();
        let remote = Remote::Unix(forwarder.join(SOCKET));
        let gateway = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async move {
                let client = AsyncClient::connect(&remote).await.unwrap();
                let mut config = GatewayConfig::new(TrustPolicy::new(trust));
                config.log = Some(Arc::new(move |line| lines.lock().unwrap().push(line.to_owned())));
                change(&mut config);
                let server = Server::bind("127.0.0.1:0".parse().unwrap(), client, config).await.unwrap();
                tell.send(server.local_addr().unwrap()).unwrap();
                server
                    .run(async {
                        let _ = ended.await;
                    })
                    .await;
            });
        });
        let address = address.recv().unwrap();
        let asked = Arc::default();
        World { address, asked, log, end: Some(end), gateway: Some(gateway), _forwarder: forwarder }
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(TIMEOUT)).unwrap();
        stream
    }

    /// Sends these bytes and reads one answer.
    pub(crate) fn send(&self, request: &[u8]) -> Answer {
        let mut stream = self.connect();
        stream.write_all(request).unwrap();
        read_answer(&mut BufReader::new(stream), request.starts_with(b"HEAD"))
    }

    /// Asks for a path, with headers.
    pub(crate) fn ask(&self, method: &str, path: &str, headers: &[&str]) -> Answer {
        let mut request = format!("{method} {path} HTTP/1.1\r\nHost: {}\r\n", self.address);
        for header in headers {
            request.push_str(header);
            request.push_str("\r\n");
        }
        request.push_str("\r\n");
        self.send(request.as_bytes())
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, &[])
    }

    /// How often names were asked for in which this stands.
    pub(crate) fn count_asked(&self, part: &str) -> usize {
        self.asked.lock().unwrap().iter().filter(|name| name.contains(part)).count()
    }

    /// A number that the gateway tells of itself.
    pub(crate) fn metric(&self, name: &str) -> u64 {
        let text = self.get("/-/metrics").text();
        let name = format!("cairn_gateway_{name} ");
        text.lines().find_map(|line| line.strip_prefix(&name)).unwrap().parse().unwrap()
    }

    /// Ends the gateway, which must not take long.
    pub(crate) fn end(&mut self) {
        if let Some(end) = self.end.take() {
            let _ = end.send(());
        }
        if let Some(gateway) = self.gateway.take() {
            gateway.join().unwrap();
        }
    }
}

/// A folder in which clients find a forwarder.
pub(crate) fn listen() -> (UnixListener, TestFolder) {
    let folder = TestFolder::numbered("gateway");
    (UnixListener::bind(folder.join(SOCKET)).unwrap(), folder)
}

impl Drop for World {
    fn drop(&mut self) {
        if let Some(end) = self.end.take() {
            let _ = end.send(());
        }
    }
}

/// Reads one answer.
pub(crate) fn read_answer(reader: &mut BufReader<TcpStream>, is_head: bool) -> Answer {
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    let status = line.split(' ').nth(1).unwrap_or_else(|| panic!("no answer but {line:?}")).parse().unwrap();
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        match line.trim_end().split_once(": ") {
            Some((name, value)) => headers.push((name.to_owned(), value.to_owned())),
            None => break,
        }
    }
    let mut answer = Answer { status, headers, body: Vec::new(), is_whole: true };
    if is_head || matches!(status, 204 | 304) {
        return answer;
    }
    if answer.header("transfer-encoding") == "chunked" {
        answer.is_whole = read_chunks(reader, &mut answer.body);
        return answer;
    }
    let length: usize = answer.header("content-length").parse().unwrap();
    answer.body.resize(length, 0);
    let mut read = 0;
    while read < length {
        match reader.read(&mut answer.body[read..]) {
            Ok(0) | Err(_) => break,
            Ok(count) => read += count,
        }
    }
    answer.body.truncate(read);
    answer.is_whole = read == length;
    answer
}

fn read_chunks(reader: &mut BufReader<TcpStream>, body: &mut Vec<u8>) -> bool {
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 {
            return false;
        }
        let Ok(length) = usize::from_str_radix(line.trim_end(), 16) else { return false };
        let mut chunk = vec![0; length + 2];
        if reader.read_exact(&mut chunk).is_err() {
            return false;
        }
        if length == 0 {
            return true;
        }
        body.extend_from_slice(&chunk[..length]);
    }
}
