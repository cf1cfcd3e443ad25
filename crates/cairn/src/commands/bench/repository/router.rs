//! What a router with a repository spends on packets that it has on its disk, in the page cache, beside those
//! in its content store. Who asks has a unix socket, as applications have.

use std::path::Path;

use client::{Client, Event, Remote};
use node::Node;
use node::config::Config;
use node::control::{NodeControl as _, Unmanaged};
use packet::ndn::InterestBuilder;
use packet::time::Duration;
use packet::{Name, median};
use rustix::time::{ClockId, clock_gettime};

use super::{Bound, Row, SEGMENTS, Stage, disk};
use crate::tool::ToolError;

/// Objects that are asked for twice: first the repository answers, then the content store.
const OBJECTS: u64 = 12;
const WINDOW: usize = 64;
const TIMEOUT: Duration = Duration::from_secs(5);
const ROUNDS: u64 = 7;

pub(super) fn measure(stage: &Stage, rows: &mut Vec<Row>) -> Result<(), ToolError> {
    stage.progress.set_message("serving through the router");
    let socket = stage.folder.path("socket");
    let mut config = config(&stage.folder.path(disk::STORE), &socket, "")?;
    // Full after the first round, as that of a router that has run for a while: before that, each packet
    // takes memory that the system has to clear first, whoever brings it.
    config.content_store.max_entries = (OBJECTS * SEGMENTS) as u32;
    let node = Node::start(&config, Box::new(Unmanaged)).map_err(ToolError::other)?;
    let remote: Remote = format!("unix://{}", socket.display()).parse().map_err(ToolError::other)?;
    let mut consumer = Consumer(Client::connect(&remote)?);
    let kept = (0..stage.objects).filter(|&object| !Stage::goes(object));
    let kept: Vec<u64> = kept.collect();
    let (mut stored, mut cached) = (Vec::new(), Vec::new());
    for objects in kept.chunks(OBJECTS as usize).take(ROUNDS as usize) {
        let names = objects.iter().flat_map(|&object| (0..SEGMENTS).map(move |s| Stage::name(object, s)));
        let names = names.map(|name| name.parse().map_err(ToolError::other));
        let names = names.collect::<Result<Vec<Name>, _>>()?;
        stored.push(consumer.micros_each(&names)?);
        cached.push(consumer.micros_each(&names)?);
    }
    let found = node.control().status().second_store.map_or(0, |counters| counters.found);
    if found < SEGMENTS * OBJECTS.min(kept.len() as u64) {
        return Err(ToolError::other(format!("the repository answered only {found} Interests")));
    }
    let (stored, cached) = (median(&mut stored), median(&mut cached));
    rows.push(Row::new("a hit of the content store: CPU", cached, "µs", Bound::Nothing));
    rows.push(Row::new("a hit of the repository: CPU", stored, "µs", Bound::Nothing));
    let what = "a hit of the repository, of one of the content store";
    rows.push(Row::new(what, stored / cached, "times", Bound::AtMost(3.0)));
    Ok(())
}

/// A router with the repository in this folder, which serves this socket, and more lines.
pub(super) fn config(folder: &Path, socket: &Path, more: &str) -> Result<Config, ToolError> {
    let text = format!(
        "[[repository]]\npath = {folder:?}\nprefixes = [\"/kept\"]\nmax_bytes = {}\ntimeout_millis = 4000\n{more}",
        1_u64 << 40
    );
    let mut config = Config::read(&text).map_err(ToolError::other)?;
    config.udp.listen = Vec::new();
    config.tcp.listen = Vec::new();
    config.websocket.listen = Vec::new();
    config.unix.listen = Some(vec![socket.to_owned()]);
    config.content_store.eviction = "lru".to_owned();
    Ok(config)
}

/// An application, all of which runs in this thread.
struct Consumer(Client);

impl Consumer {
    /// Microseconds of all threads but this one for each of these packets.
    fn micros_each(&mut self, names: &[Name]) -> Result<f64, ToolError> {
        let began = others_nanos();
        let (mut coming, mut open) = (names.iter(), 0);
        loop {
            while open < WINDOW
                && let Some(name) = coming.next()
            {
                self.0.express(&InterestBuilder::new(name.clone()), TIMEOUT)?;
                open += 1;
            }
            if open == 0 {
                return Ok((others_nanos() - began) as f64 / 1000.0 / names.len() as f64);
            }
            match self.0.next(None)? {
                Some(Event::Data { .. }) => open -= 1,
                Some(_) => return Err(ToolError::other("the router did not find a packet that is stored")),
                None => return Err(ToolError::other("interrupted")),
            }
        }
    }
}

/// Processor time of the process without this thread.
fn others_nanos() -> i64 {
    let nanos = |clock| {
        let time = clock_gettime(clock);
        time.tv_sec * 1_000_000_000 + time.tv_nsec
    };
    nanos(ClockId::ProcessCPUTime) - nanos(ClockId::ThreadCPUTime)
}
