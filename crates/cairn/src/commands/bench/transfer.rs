//! `cairn bench transfer`: a large object through two forwarders, by the tools that come with them.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use indicatif::ProgressBar;
use lab::backend::machine::processes::ended_children_processor_ns;
use packet::random::Random;
use thiserror::Error;

use super::ndnd::Ndnd;
use super::own_folder;
use super::ports::{free_tcp_port, free_udp_port};
use super::process::Forwarder;
use super::subjects::find_ndnd;
use super::workbench::Row;

/// How to measure a transfer.
#[derive(Debug, Args)]
pub(crate) struct TransferArguments {
    /// Megabytes of the object.
    #[arg(long, default_value_t = 1000)]
    megabytes: u64,
    /// What links the forwarders; both if not given.
    #[arg(long, value_enum)]
    only: Vec<Link>,
    /// ndnd's program, to be measured too. Without it the one in PATH or ~/go/bin is taken, if there is one.
    #[arg(long, value_name = "PROGRAM")]
    ndnd: Option<PathBuf>,
    /// Leave ndnd out.
    #[arg(long)]
    no_ndnd: bool,
    /// Print JSON.
    #[arg(long)]
    pub(super) json: bool,
}

/// What links the two forwarders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Link {
    Udp,
    Tcp,
}

/// Why a transfer could not be measured.
#[derive(Debug, Error)]
pub(super) enum TransferError {
    #[error(transparent)]
    System(#[from] io::Error),
    #[error("{tool} did not bring the object within {seconds} seconds; it said last: {said}")]
    NoObject { tool: &'static str, seconds: u64, said: String },
    #[error("what {tool} brought is not what was put: it differs at byte {at}")]
    Different { tool: &'static str, at: u64 },
}

/// Whose forwarders and tools are used.
enum Software {
    Cairn,
    Ndnd(PathBuf),
}

/// What came of a fetch.
struct Fetched {
    wall: Duration,
    cpu: Duration,
}

/// How long it may take until the object can be fetched.
const TIMEOUT: Duration = Duration::from_secs(120);

pub(super) fn run(arguments: &TransferArguments) -> Result<Vec<Row>, TransferError> {
    let directory = own_folder()?;
    let outcome = measure(arguments, &directory);
    let _ = std::fs::remove_dir_all(directory);
    outcome
}

fn measure(arguments: &TransferArguments, directory: &Path) -> Result<Vec<Row>, TransferError> {
    let progress = ProgressBar::new_spinner();
    progress.enable_steady_tick(Duration::from_millis(250));
    progress.set_message("writing the object");
    let object = directory.join("object");
    write_object(&object, arguments.megabytes)?;
    let mut software = vec![Software::Cairn];
    if !arguments.no_ndnd {
        software.extend(arguments.ndnd.clone().or_else(find_ndnd).map(Software::Ndnd));
    }
    let mut rows: Vec<Row> = Vec::new();
    for link in [Link::Udp, Link::Tcp] {
        if !arguments.only.is_empty() && !arguments.only.contains(&link) {
            continue;
        }
        let mut own = None;
        for software in &software {
            progress.set_message(format!("{}: {}", link.title(), software.name()));
            let place = directory.join(format!("{link:?}-{}", software.name()));
            std::fs::create_dir_all(&place)?;
            let fetched = match software.transfer(link, &object, &place) {
                // Another's failure is a result, too.
                Err(error @ TransferError::NoObject { seconds, .. }) if own.is_some() => {
                    progress.suspend(|| tell!("cairn: {error}"));
                    let values = vec![("brought nothing within", seconds as f64, " s")];
                    rows.push(Row { part: link.title(), subject: software.name(), values });
                    continue;
                }
                outcome => outcome?,
            };
            let megabytes = arguments.megabytes as f64;
            let (wall, cpu) = (fetched.wall.as_secs_f64(), fetched.cpu.as_secs_f64());
            let mut values = vec![
                ("goodput", megabytes / wall, " MB/s"),
                ("CPU of all four processes", cpu, " s"),
                ("per CPU second", megabytes / cpu, " MB"),
            ];
            match own {
                None => own = Some(cpu),
                Some(own) => values.push(("CPU against cairn", cpu / own, "x")),
            }
            rows.push(Row { part: link.title(), subject: software.name(), values });
        }
    }
    progress.finish_and_clear();
    Ok(rows)
}

fn write_object(path: &Path, megabytes: u64) -> io::Result<()> {
    let mut file = BufWriter::with_capacity(1 << 20, File::create(path)?);
    let mut random = Random::from_seed(megabytes);
    for _ in 0..megabytes * 1_000_000 / 8 {
        file.write_all(&random.next_u64().to_le_bytes())?;
    }
    file.flush()
}

impl Link {
    fn title(self) -> &'static str {
        match self {
            Link::Udp => "put and get through two forwarders over UDP",
            Link::Tcp => "put and get through two forwarders over TCP",
        }
    }
}

impl Software {
    fn name(&self) -> &'static str {
        match self {
            Software::Cairn => "cairn",
            Software::Ndnd(_) => "ndnd",
        }
    }

    /// Starts two linked forwarders, puts the object at one and gets it at the other.
    fn transfer(&self, link: Link, object: &Path, place: &Path) -> Result<Fetched, TransferError> {
        let (near, far) = (place.join("near.sock"), place.join("far.sock"));
        let (port, scheme) = match link {
            Link::Udp => (free_udp_port()?, "udp4"),
            Link::Tcp => (free_tcp_port()?, "tcp4"),
        };
        let address = SocketAddr::new(Ipv4Addr::LOCALHOST.into(), port);
        let remote = format!("{scheme}://{address}");
        let far_node = self.start_forwarder(place, "far", &far, Some((link, address)), None)?;
        let near_node = self.start_forwarder(place, "near", &near, None, Some(&remote))?;
        let put = Forwarder::start_anywhere(self.put(object, &far)?)?;
        // A fetch that comes too early fails, and counts for nothing.
        let started = Instant::now();
        loop {
            let cpu = || far_node.cpu_time() + near_node.cpu_time();
            let of_ended_children =
                || Duration::from_nanos(ended_children_processor_ns().unwrap_or_default());
            let (before, children, begun) = (cpu(), of_ended_children(), Instant::now());
            let Comparison { ended, difference, said } = compare(&mut self.get(&near), object)?;
            if ended && difference.is_none() {
                let of_get = of_ended_children() - children;
                return Ok(Fetched {
                    wall: begun.elapsed(),
                    // What publishing cost before the fetch began is part of it.
                    cpu: cpu() - before + of_get + put.cpu_time(),
                });
            }
            if started.elapsed() > TIMEOUT {
                let tool = self.name();
                return Err(match difference {
                    Some(at) if ended => TransferError::Different { tool, at },
                    _ => TransferError::NoObject { tool, seconds: TIMEOUT.as_secs(), said },
                });
            }
            std::thread::sleep(Duration::from_millis(200));
        }
    }

    fn put(&self, object: &Path, socket: &Path) -> io::Result<Command> {
        let transport = format!("unix://{}", socket.display());
        Ok(match self {
            Software::Cairn => {
                let mut command = Command::new(std::env::current_exe()?);
                command.args(["put", "--quiet", "--connect", &transport, NAME, "--file"]).arg(object);
                command.stdin(Stdio::null());
                command
            }
            Software::Ndnd(program) => {
                let mut command = Ndnd { program, socket }.tool(&["put", NAME]);
                command.stdin(File::open(object)?);
                command
            }
        })
    }

    fn get(&self, socket: &Path) -> Command {
        let transport = format!("unix://{}", socket.display());
        match self {
            Software::Cairn => {
                let mut command = Command::new(std::env::current_exe().unwrap_or_else(|_| "cairn".into()));
                command.args(["get", "--quiet", "--connect", &transport, NAME]);
                command
            }
            Software::Ndnd(program) => Ndnd { program, socket }.tool(&["cat", NAME]),
        }
    }

    fn start_forwarder(
        &self,
        place: &Path,
        name: &str,
        socket: &Path,
        listen: Option<(Link, SocketAddr)>,
        neighbour: Option<&str>,
    ) -> io::Result<Forwarder> {
        let command = match self {
            Software::Cairn => cairn(&place.join(format!("{name}.toml")), socket, listen, neighbour)?,
            Software::Ndnd(program) => {
                let (mut udp, mut tcp) = (free_udp_port()?, free_tcp_port()?);
                match listen {
                    Some((Link::Udp, address)) => udp = address.port(),
                    Some((Link::Tcp, address)) => tcp = address.port(),
                    None => {}
                }
                let file = place.join(format!("{name}.yml"));
                Ndnd { program, socket }.forwarder(&file, udp, tcp, None)?
            }
        };
        let mut forwarder = Forwarder::start_anywhere(command)?;
        forwarder.await_socket(socket, self.name())?;
        if let (Software::Ndnd(program), Some(remote)) = (self, neighbour) {
            Ndnd { program, socket }.add_route(PREFIX, remote)?;
        }
        Ok(forwarder)
    }
}

const PREFIX: &str = "/bench";
const NAME: &str = "/bench/object";

/// What a command printed, beside a file.
struct Comparison {
    /// Whether it ended well.
    ended: bool,
    /// Where the two differ first.
    difference: Option<u64>,
    /// What it said last.
    said: String,
}

/// Runs a command and compares what it prints with a file.
fn compare(command: &mut Command, object: &Path) -> io::Result<Comparison> {
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    // Read beside, for a pipe that is full would stop the command.
    let errors = child.stderr.take().map(|mut pipe| {
        std::thread::spawn(move || {
            let mut said = String::new();
            let _ = pipe.read_to_string(&mut said);
            said
        })
    });
    let mut expected = BufReader::with_capacity(1 << 20, File::open(object)?);
    let (mut at, mut difference) = (0u64, None);
    if let Some(mut output) = child.stdout.take() {
        let (mut got, mut wanted) = (vec![0; 1 << 20], vec![0; 1 << 20]);
        loop {
            let read = output.read(&mut got)?;
            if read == 0 {
                break;
            }
            let wanted = wanted.get_mut(..read).unwrap_or_default();
            let same = expected.read_exact(wanted).is_ok() && got.get(..read) == Some(&*wanted);
            if !same && difference.is_none() {
                difference = Some(at);
            }
            at += read as u64;
        }
    }
    if difference.is_none() && at < std::fs::metadata(object)?.len() {
        difference = Some(at);
    }
    let ended = child.wait()?.success();
    let said = errors.and_then(|thread| thread.join().ok()).unwrap_or_default();
    let said = said.lines().last().unwrap_or_default().to_owned();
    Ok(Comparison { ended, difference, said })
}

fn cairn(
    file: &Path,
    socket: &Path,
    listen: Option<(Link, SocketAddr)>,
    neighbour: Option<&str>,
) -> io::Result<Command> {
    let listen = |link| match (listen, link) {
        (Some((wanted, address)), _) if wanted == link => format!("\"{address}\""),
        // To send from.
        (None, Link::Udp) => "\"127.0.0.1:0\"".to_owned(),
        _ => String::new(),
    };
    let face = neighbour
        .map(|remote| format!("[[face]]\nremote = \"{remote}\"\nroutes = [\"{PREFIX}\"]\n"))
        .unwrap_or_default();
    let text = format!(
        "[udp]\nlisten = [{}]\n[tcp]\nlisten = [{}]\n[unix]\nlisten = [{socket:?}]\n[websocket]\nlisten = []\n{face}",
        listen(Link::Udp),
        listen(Link::Tcp),
    );
    std::fs::write(file, text)?;
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["node", "run", "--config"]).arg(file).env("CAIRN_LOG", "warn");
    Ok(command)
}
