//! Other people's repositories beside ours: each takes the same packets by bulk insertion over TCP and gives
//! them back through the same forwarder, a process of its own.
//!
//! ndn-python-repo is measured where its programs are found. ndnd's repository takes objects only out of
//! groups that it has joined, so it is named and not measured.

use std::io::{BufWriter, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use client::{Client, Event, Remote};
use packet::Name;
use packet::ndn::{DataBuilder, InterestBuilder};

use super::super::ports::free_tcp_port;
use super::super::process::Forwarder;
use super::{Bound, Row, SEGMENT_BYTES, Stage};
use crate::tool::ToolError;

const PROGRAM: &str = "ndn-python-repo";
/// Makes the keys without which that does not start; installed with it.
const KEYS_PROGRAM: &str = "pyndnsec";
const WINDOW: usize = 64;
const START_TIMEOUT: Duration = Duration::from_secs(20);
/// How long all of it may take.
const TIMEOUT: Duration = Duration::from_secs(1200);
/// An Interest that brings nothing for so long is sent again.
const INTEREST_TIMEOUT: packet::time::Duration = packet::time::Duration::from_secs(2);
/// Until the last packet is there it is asked for as often.
const POLL: packet::time::Duration = packet::time::Duration::from_millis(20);

/// What it took to insert and fetch.
struct Costs {
    insert: f64,
    fetch: f64,
    cpu: f64,
}

pub(super) fn measure(stage: &Stage, bytes: u64, rows: &mut Vec<Row>) -> Result<(), ToolError> {
    let note = "not measured: it takes objects only from groups that it has joined";
    rows.push(Row::note("ndnd's repository, insert and fetch", note));
    let Some(program) = find() else {
        rows.push(Row::note("ndn-python-repo, insert and fetch", "not found"));
        return Ok(());
    };
    let socket = stage.folder.path("node.sock");
    let _node = start_node(&stage.folder.path("node.toml"), &socket)?;
    let segments = bytes / SEGMENT_BYTES;
    stage.progress.set_message("bulk insertion and fetching: cairn");
    let ours = take(&mut start_ours(stage, &socket)?, &socket, "ours", segments)?;
    stage.progress.set_message("bulk insertion and fetching: ndn-python-repo");
    let theirs = take(&mut start_python(stage, &socket, &program)?, &socket, "theirs", segments)?;
    let megabytes = (segments * SEGMENT_BYTES) as f64 / 1e6;
    for (who, taken) in [("cairn repo run", &ours), (PROGRAM, &theirs)] {
        rows.push(Row::new(format!("{who}: {megabytes:.0} MB inserted"), taken.insert, "s", Bound::Nothing));
        rows.push(Row::new(format!("{who}: fetched"), taken.fetch, "s", Bound::Nothing));
        rows.push(Row::new(format!("{who}: CPU"), taken.cpu, "s", Bound::Nothing));
    }
    let times = (theirs.insert + theirs.fetch) / (ours.insert + ours.fetch);
    rows.push(Row::new("ndn-python-repo, of what ours takes", times, "times", Bound::Nothing));
    let what = "CPU of ndn-python-repo, of what ours takes";
    rows.push(Row::new(what, theirs.cpu / ours.cpu, "times", Bound::AtLeast(20.0)));
    Ok(())
}

/// The program, if it is in one of the folders of PATH.
fn find() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).map(|folder| folder.join(PROGRAM)).find(|file| file.is_file())
}

fn start_node(file: &Path, socket: &Path) -> Result<Forwarder, ToolError> {
    let text = format!(
        "[udp]\nlisten = []\n[tcp]\nlisten = []\n[websocket]\nlisten = []\n[unix]\nlisten = [{socket:?}]\n"
    );
    std::fs::write(file, text)?;
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["node", "run", "--config"]).arg(file).env("CAIRN_LOG", "warn");
    let mut node = Forwarder::start_anywhere(command)?;
    node.await_socket(socket, "cairn")?;
    Ok(node)
}

/// A repository as a process, and where it takes packets.
struct Repository {
    process: Forwarder,
    bulk: SocketAddr,
}

fn start_ours(stage: &Stage, socket: &Path) -> Result<Repository, ToolError> {
    let bulk = SocketAddr::new(Ipv4Addr::LOCALHOST.into(), free_tcp_port()?);
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["repo", "run"]).arg(stage.folder.path("ours")).arg("/ours").stdin(Stdio::null());
    command.args(["--bulk", &bulk.to_string()]).arg("--connect").arg(format!("unix://{}", socket.display()));
    Ok(Repository { process: Forwarder::start_anywhere(command)?, bulk })
}

fn start_python(stage: &Stage, socket: &Path, program: &Path) -> Result<Repository, ToolError> {
    let home = stage.folder.path("python");
    std::fs::create_dir_all(&home).map_err(ToolError::file(&home))?;
    let bulk = SocketAddr::new(Ipv4Addr::LOCALHOST.into(), free_tcp_port()?);
    let file = home.join("repository.yml");
    let text = format!(
        "repo_config:\n  repo_name: 'bench'\n  register_root: False\ndb_config:\n  db_type: 'sqlite3'\n  sqlite3:\n    path: '{}'\n\
         tcp_bulk_insert:\n  addr: '{}'\n  port: '{}'\n  register_prefix: True\n  prefixes:\n  - '/theirs'\n\
         logging_config:\n  level: 'ERROR'\n",
        home.join("repository.db").display(),
        bulk.ip(),
        bulk.port()
    );
    std::fs::write(&file, text)?;
    // It lies beside the other.
    let made = Command::new(program.with_file_name(KEYS_PROGRAM))
        .arg("Init-Pib")
        .env("HOME", &home)
        .stdin(Stdio::null())
        .output()?;
    if !made.status.success() {
        let said = String::from_utf8_lossy(&made.stderr).into_owned();
        return Err(ToolError::other(format!("{KEYS_PROGRAM} has failed: {said}")));
    }
    let mut command = Command::new(program);
    command.arg("-c").arg(file).env("HOME", &home).stdin(Stdio::null());
    command.env("NDN_CLIENT_TRANSPORT", format!("unix://{}", socket.display()));
    Ok(Repository { process: Forwarder::start_anywhere(command)?, bulk })
}

fn name(prefix: &str, segment: u64) -> Result<Name, ToolError> {
    format!("/{prefix}/object/v=1/seg={segment}").parse().map_err(ToolError::other)
}

fn take(repository: &mut Repository, socket: &Path, prefix: &str, segments: u64) -> Result<Costs, ToolError> {
    let remote: Remote = format!("unix://{}", socket.display()).parse().map_err(ToolError::other)?;
    let mut consumer = Client::connect(&remote)?;
    let connection = connect(repository)?;
    let before = repository.process.cpu_time();
    let began = Instant::now();
    let mut to = BufWriter::with_capacity(1 << 20, connection);
    for segment in 0..segments {
        let content = vec![segment as u8; SEGMENT_BYTES as usize];
        to.write_all(DataBuilder::new(name(prefix, segment)?).content(content).build_with_digest()?.wire())?;
    }
    to.flush()?;
    drop(to);
    // Nobody acknowledges: all was inserted when the last packet can be had.
    fetch(&mut consumer, prefix, segments - 1..segments, POLL)?;
    let insert = began.elapsed().as_secs_f64();
    let began = Instant::now();
    fetch(&mut consumer, prefix, 0..segments - 1, INTEREST_TIMEOUT)?;
    let fetch = began.elapsed().as_secs_f64();
    Ok(Costs { insert, fetch, cpu: (repository.process.cpu_time() - before).as_secs_f64() })
}

fn connect(repository: &mut Repository) -> Result<TcpStream, ToolError> {
    let deadline = Instant::now() + START_TIMEOUT;
    loop {
        match TcpStream::connect(repository.bulk) {
            Ok(connection) => return Ok(connection),
            Err(error) if Instant::now() > deadline || repository.process.has_ended() => {
                return Err(ToolError::other(format!("a repository takes no connections: {error}")));
            }
            Err(_) => std::thread::sleep(Duration::from_millis(50)),
        }
    }
}

/// Fetches these segments, each again until it comes.
fn fetch(
    consumer: &mut Client,
    prefix: &str,
    segments: std::ops::Range<u64>,
    timeout: packet::time::Duration,
) -> Result<(), ToolError> {
    let deadline = Instant::now() + TIMEOUT;
    let (mut coming, mut again, mut open) = (segments, Vec::new(), Vec::new());
    loop {
        while open.len() < WINDOW
            && let Some(segment) = again.pop().or_else(|| coming.next())
        {
            let interest = InterestBuilder::new(name(prefix, segment)?).lifetime(timeout);
            open.push((consumer.express(&interest, timeout)?, segment));
        }
        if open.is_empty() {
            return Ok(());
        }
        let (id, has_come) = match consumer.next(None)? {
            Some(Event::Data { id, .. }) => (id, true),
            Some(Event::Nack { id, .. } | Event::Timeout { id, .. }) => (id, false),
            Some(_) => continue,
            None => return Err(ToolError::other("interrupted")),
        };
        if let Some(place) = open.iter().position(|(other, _)| *other == id) {
            let (_, segment) = open.swap_remove(place);
            if !has_come {
                // Nobody has registered the name yet, or a packet was lost.
                std::thread::sleep(Duration::from_millis(1));
                again.push(segment);
            }
        }
        if Instant::now() > deadline {
            return Err(ToolError::other(format!("/{prefix} was not fetched in time")));
        }
    }
}
