//! What the router's other traffic costs while its repository serves all that it can: exchanges of 1 kB by
//! unix sockets, beside somebody who fetches stored packets as fast as they come.
//!
//! The data plane is one thread that does both. What it takes for both at once is compared with what it takes
//! for as many exchanges and as many stored packets when it does one of them at a time.

use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use client::{Client, Event, Remote};
use node::Node;
use node::config::Config;
use node::control::Unmanaged;
use node::load::{Shape, StreamExchange, StreamSocket};
use packet::ndn::InterestBuilder;
use packet::{Name, median};
use system::proc_files::schedstat;

use super::router::config;
use super::{Bound, Row, SEGMENTS, Stage, disk};
use crate::tool::ToolError;

/// Interests of exchanges on their way at once, and of the one who fetches.
const WINDOW: u64 = 64;
const ROUNDS: usize = 7;
const SPAN: Duration = Duration::from_millis(400);
const TIMEOUT: Duration = Duration::from_secs(10);
const INTEREST_TIMEOUT: packet::time::Duration = packet::time::Duration::from_secs(5);
/// Packets in the content store: so few that none of those fetched is there when it is asked for again.
const CACHED: u32 = 1024;

pub(super) fn measure(stage: &Stage, rows: &mut Vec<Row>) -> Result<(), ToolError> {
    stage.progress.set_message("other traffic of the router");
    let Router { node, mut exchange, remote } = Router::start(stage, ["listen", "producer"], WINDOW, |_| {})?;
    let deadline = Instant::now() + TIMEOUT;
    while exchange.report().data == 0 {
        exchange.run(Duration::from_millis(50))?;
        if Instant::now() > deadline {
            return Err(ToolError::other("the router forwarded nothing"));
        }
    }
    let fetcher = Fetcher { objects: stage.objects, wanted: AtomicBool::new(false), ..Fetcher::default() };
    let outcome = std::thread::scope(|scope| {
        let fetching = scope.spawn(|| fetcher.run(&remote));
        let outcome = rounds(&mut exchange, &fetcher);
        fetcher.is_over.store(true, Ordering::Relaxed);
        fetching.join().map_err(|_| ToolError::other("the one who fetches has failed"))??;
        outcome
    });
    drop(node);
    let [mut exchanges, mut stored, mut both] = outcome?;
    let [exchange, stored, both] = [&mut exchanges, &mut stored, &mut both].map(|values| median(values));
    rows.push(Row::new("an exchange of 1 kB alone: CPU of the data plane", exchange, "µs", Bound::Nothing));
    rows.push(Row::new("a stored packet alone: CPU of the data plane", stored, "µs", Bound::Nothing));
    let what = "exchanges and stored packets at once, of one after the other";
    rows.push(Row::new(what, both, "times", Bound::AtMost(1.2)));
    Ok(())
}

/// A router with the repository of the benchmark, somebody who exchanges packets through it, and where others
/// connect.
pub(super) struct Router {
    pub(super) node: Node,
    pub(super) exchange: StreamExchange,
    pub(super) remote: Remote,
}

impl Router {
    /// With unix sockets of these names, and what is changed of its configuration.
    pub(super) fn start(
        stage: &Stage,
        sockets: [&str; 2],
        window: u64,
        change: impl FnOnce(&mut Config),
    ) -> Result<Self, ToolError> {
        let [socket, producing] = sockets.map(|name| stage.folder.path(name));
        let listener = UnixListener::bind(&producing)?;
        let to_producer =
            format!("[[face]]\nremote = \"unix://{}\"\nroutes = [\"/bench/forward\"]\n", producing.display());
        let mut config = config(&stage.folder.path(disk::STORE), &socket, &to_producer)?;
        config.content_store.max_entries = CACHED;
        change(&mut config);
        let node = Node::start(&config, Box::new(Unmanaged)).map_err(ToolError::other)?;
        let producer = StreamSocket::Unix(listener.accept()?.0);
        let consumer = StreamSocket::Unix(UnixStream::connect(&socket)?);
        let exchange = StreamExchange::new(consumer, producer, Shape::default(), window, 0)?;
        let remote = format!("unix://{}", socket.display()).parse().map_err(ToolError::other)?;
        Ok(Router { node, exchange, remote })
    }
}

/// What happened in a span of time.
struct Usage {
    /// Of the data plane's thread.
    micros: f64,
    exchanges: f64,
    fetched: f64,
}

/// In each round: microseconds of an exchange alone, and of a stored packet alone; and the time for both at
/// once, of what as many of each take alone.
fn rounds(exchange: &mut StreamExchange, fetcher: &Fetcher) -> Result<[Vec<f64>; 3], ToolError> {
    let (mut alone, mut stored, mut at_once) = (Vec::new(), Vec::new(), Vec::new());
    // Caches and tables are filled first.
    watch(exchange, fetcher, true, true)?;
    for _ in 0..ROUNDS {
        let quiet = watch(exchange, fetcher, true, false)?;
        let fetching = watch(exchange, fetcher, false, true)?;
        let both = watch(exchange, fetcher, true, true)?;
        let of_exchange = quiet.micros / quiet.exchanges.max(1.0);
        let of_stored = fetching.micros / fetching.fetched.max(1.0);
        alone.push(of_exchange);
        stored.push(of_stored);
        at_once.push(both.micros / (of_exchange * both.exchanges + of_stored * both.fetched).max(1.0));
    }
    Ok([alone, stored, at_once])
}

fn watch(
    exchange: &mut StreamExchange,
    fetcher: &Fetcher,
    exchanges: bool,
    fetches: bool,
) -> Result<Usage, ToolError> {
    fetcher.wanted.store(fetches, Ordering::Relaxed);
    let (nanos, done, fetched) = (data_plane_nanos()?, exchange.report().data, fetcher.count());
    if exchanges {
        exchange.run(SPAN)?;
    } else {
        std::thread::sleep(SPAN);
    }
    Ok(Usage {
        micros: (data_plane_nanos()? - nanos) as f64 / 1000.0,
        exchanges: (exchange.report().data - done) as f64,
        fetched: (fetcher.count() - fetched) as f64,
    })
}

/// Time that the data plane's thread has run.
fn data_plane_nanos() -> Result<u64, ToolError> {
    for task in std::fs::read_dir("/proc/self/task")?.flatten() {
        let is_it =
            std::fs::read_to_string(task.path().join("comm")).is_ok_and(|name| name.trim() == "data-plane");
        if is_it {
            let text = std::fs::read_to_string(task.path().join("schedstat"))?;
            let [nanos, _] = schedstat(&text)
                .ok_or_else(|| ToolError::other("the system does not tell how long a thread has run"))?;
            return Ok(nanos);
        }
    }
    Err(ToolError::other("the data plane's thread is not there"))
}

/// Somebody who fetches stored packets while it is wanted.
#[derive(Default)]
struct Fetcher {
    objects: u64,
    wanted: AtomicBool,
    is_over: AtomicBool,
    fetched: AtomicU64,
}

impl Fetcher {
    fn count(&self) -> u64 {
        self.fetched.load(Ordering::Relaxed)
    }

    fn run(&self, remote: &Remote) -> Result<(), ToolError> {
        let mut client = Client::connect(remote)?;
        let kept: Vec<u64> = (0..self.objects).filter(|&object| !Stage::goes(object)).collect();
        let of = |&object: &u64| (0..SEGMENTS).map(move |segment| Stage::name(object, segment));
        let mut names = kept.iter().cycle().flat_map(of);
        let mut open = 0;
        while !self.is_over.load(Ordering::Relaxed) {
            while open < WINDOW && self.wanted.load(Ordering::Relaxed) {
                let Some(name) = names.next() else { return Err(ToolError::other("nothing is stored")) };
                let name: Name = name.parse().map_err(ToolError::other)?;
                client.express(&InterestBuilder::new(name), INTEREST_TIMEOUT)?;
                open += 1;
            }
            if open == 0 {
                std::thread::sleep(Duration::from_millis(1));
                continue;
            }
            match client.next(None)? {
                Some(Event::Data { .. }) => open -= 1,
                Some(_) => return Err(ToolError::other("the router did not find a packet that is stored")),
                None => return Ok(()),
            }
            self.fetched.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    }
}
