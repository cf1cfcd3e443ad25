//! Lines of the log that a stranger can bring about.

use std::fmt::Write as _;
use std::net::UdpSocket;
use std::sync::{Mutex, Once};
use std::time::{Duration, Instant};

use packet::ndn::DataBuilder;
use packet::ndn::lp::{Echo, LpPacketView};
use tracing::field::{Field, Visit};
use tracing::{Event, Metadata, Subscriber, span};

use crate::peer::{Listener, interest};
use crate::victim::{SOON, Victim, connect, wait_until};

/// Lines about what paths carry, of all nodes in this process.
static PATH_LINES: Mutex<Vec<String>> = Mutex::new(Vec::new());
const PATH_LINE: &str = "frames of another size";

/// Keeps lines, of all nodes in this process.
struct Keeping;

/// The text of an event.
#[derive(Default)]
struct Text(String);

impl Visit for Text {
    fn record_debug(&mut self, _: &Field, value: &dyn std::fmt::Debug) {
        let _ = write!(self.0, "{value:?} ");
    }
}

impl Subscriber for Keeping {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_event() && *metadata.level() <= tracing::Level::INFO
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut text = Text::default();
        event.record(&mut text);
        if text.0.contains(PATH_LINE) {
            PATH_LINES.lock().unwrap().push(text.0);
        }
    }

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

/// A stranger's port that answers every probe but those that ask again for a size that arrived.
struct Fickle {
    socket: UdpSocket,
    arrived: usize,
    /// Probes that are still to be left without an answer.
    silent: u32,
}

impl Fickle {
    fn new(node: &Listener) -> Self {
        let Listener::Udp(address) = node else { panic!("only datagrams have a path MTU") };
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.connect(address).unwrap();
        socket.set_nonblocking(true).unwrap();
        Fickle { socket, arrived: 0, silent: 0 }
    }

    /// Asks for much, in so many bytes that the node may probe with as many.
    fn ask(&self) {
        let asked = interest(&"/large".parse().unwrap()).build().unwrap();
        let mut frame = Vec::new();
        LpPacketView { fragment: Some(asked.wire()), padding: 8000, ..LpPacketView::default() }
            .encode(&mut frame);
        let _ = self.socket.send(&frame);
    }

    fn answer(&mut self) {
        let mut frame = [0; 9000];
        while let Ok(length) = self.socket.recv(&mut frame) {
            let Ok((view, _)) = LpPacketView::decode_first(&frame[..length]) else { continue };
            let Some(Echo::Request(number)) = view.echo else { continue };
            if length > 8700 || (self.silent > 0 && length > 1200) {
                self.silent = self.silent.saturating_sub(1);
                continue;
            }
            if length == self.arrived {
                (self.arrived, self.silent) = (0, 2);
                continue;
            }
            self.arrived = length;
            let mut reply = Vec::new();
            LpPacketView { echo: Some(Echo::Reply(number)), ..LpPacketView::default() }.encode(&mut reply);
            let _ = self.socket.send(&reply);
        }
    }
}

#[test]
fn neighbours_whose_paths_seem_to_change_all_the_time_do_not_fill_the_log() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| tracing::subscriber::set_global_default(Keeping).unwrap());
    let victim = Victim::with(|config| config.content_store.unsolicited = "admit-local".to_owned());
    let large = DataBuilder::new("/large".parse().unwrap())
        .content(vec![1; 8000])
        .freshness(packet::time::Duration::from_secs(3600))
        .build_with_digest()
        .unwrap();
    let mut producer = connect(&victim.unix, Instant::now() + SOON);
    producer.send(large.wire()).unwrap();
    let mut strangers: Vec<Fickle> = (0..20).map(|_| Fickle::new(&victim.udp)).collect();
    let (started, mut asked) = (Instant::now(), None::<Instant>);
    wait_until("they have gone on for six seconds", || {
        if asked.is_none_or(|asked| asked.elapsed() > Duration::from_millis(300)) {
            asked = Some(Instant::now());
            strangers.iter().for_each(Fickle::ask);
        }
        strangers.iter_mut().for_each(Fickle::answer);
        started.elapsed() > Duration::from_secs(6)
    });
    let ports: Vec<String> =
        strangers.iter().map(|stranger| stranger.socket.local_addr().unwrap().to_string()).collect();
    let is_about = |line: &&String| ports.iter().any(|port| line.contains(port));
    let lines = PATH_LINES.lock().unwrap().iter().filter(is_about).count() as u64;
    let seconds = started.elapsed().as_secs();
    assert!((1..=seconds + 2).contains(&lines), "{lines} lines in {seconds} s");
    victim.assert_serves();
}
