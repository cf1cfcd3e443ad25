//! `cairn capture`: the frames of a node's faces, for Wireshark.

use std::fs::File;
use std::io::{self, IsTerminal as _, Read as _, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Args;
use client::Remote;
use engine::FaceId;
use formats::printable::printable_path;
use node::capture::{REFUSED, Request};
use packet::AnyName;
use system::is_try_again;
use thiserror::Error;

use super::node::fail;
use crate::tool::files;
use crate::tool::interrupt::Interrupt;
use crate::tool::units::duration;

/// What to capture, and where to.
#[derive(Debug, Args)]
#[command(after_help = "\
Frames of all transports are written as frames of Ethernet with the type that NDN and CCNx have (0x8624); each face is an interface of the file, and each \
frame says its direction. With --prefix, fragments but the first of a packet are left out: only the first has a name. The socket belongs \
to the node's user alone.

Examples:
  cairn capture -w all.pcapng                             every frame of every face, until Ctrl-C
  cairn capture --face 256 --prefix /lab -w lab.pcapng --for 5s
  cairn capture -w - | wireshark -k -i -                  live

Exit codes: 0 done; 1 no node, or the file cannot be written; 2 wrong usage.")]
pub(crate) struct CaptureArguments {
    /// Number of the face; all faces if not given.
    #[arg(long)]
    face: Option<u32>,
    /// Only packets with names under this prefix: `/lab`, or `ccnx:/lab` for those of CCNx.
    #[arg(long)]
    prefix: Option<AnyName>,
    /// The file to write, in pcapng; `-` for standard output.
    #[arg(long, short, value_name = "FILE")]
    write: PathBuf,
    /// Stop after this time; otherwise at Ctrl-C.
    #[arg(long = "for", value_name = "TIME", value_parser = duration)]
    time: Option<packet::time::Duration>,
    /// The node's capture socket. Without it, it is looked for beside the unix socket at which the tools
    /// find the forwarder.
    #[arg(long, value_name = "PATH")]
    socket: Option<PathBuf>,
}

/// Why nothing was captured.
#[derive(Debug, Error)]
enum CaptureError {
    #[error(
        "cannot reach a node's capture socket at {paths}: {source}. Is the node running, and by the same user?"
    )]
    Connect { paths: String, source: io::Error },
    #[error("cannot write {path}: {source}")]
    Write { path: String, source: io::Error },
    #[error("pcapng is not for a terminal: use -w FILE, or pipe it into wireshark -k -i -")]
    Terminal,
    #[error(transparent)]
    System(#[from] io::Error),
    #[error("the node refuses: {0}")]
    Refused(String),
}

impl CaptureError {
    /// Whether nobody reads what is written: that is the reader's business.
    fn is_closed_pipe(&self) -> bool {
        matches!(self, CaptureError::Write { source, .. } if source.kind() == io::ErrorKind::BrokenPipe)
    }
}

impl CaptureArguments {
    pub(crate) fn run(self) -> ExitCode {
        match capture(&self) {
            Ok(bytes) => {
                tell!("{bytes} bytes captured");
                ExitCode::SUCCESS
            }
            Err(error) if error.is_closed_pipe() => ExitCode::SUCCESS,
            Err(error) => fail(&error),
        }
    }
}

fn capture(arguments: &CaptureArguments) -> Result<u64, CaptureError> {
    let interrupt = Interrupt::catch()?;
    let mut node = connect(arguments)?;
    let shown = printable_path(&arguments.write);
    let write = |source| CaptureError::Write { path: shown.clone(), source };
    let mut output: Box<dyn Write> = if shown == "-" {
        if io::stdout().is_terminal() {
            return Err(CaptureError::Terminal);
        }
        Box::new(io::stdout())
    } else {
        Box::new(create(&arguments.write, &interrupt).map_err(write)?)
    };
    let request = Request { face: arguments.face.map(FaceId), prefix: arguments.prefix.clone() };
    writeln!(node, "{request}")?;
    node.set_read_timeout(Some(Duration::from_millis(100)))?;
    let end = arguments.time.map(|time| Instant::now() + Duration::from_nanos(time.as_nanos()));
    let (mut bytes, mut piece) = (0u64, vec![0; 1 << 16]);
    while end.is_none_or(|end| Instant::now() < end) && !interrupt.came() {
        let read = match node.read(&mut piece) {
            Ok(0) => break,
            Ok(read) => piece.get(..read).unwrap_or_default(),
            Err(error) if is_try_again(&error) => continue,
            Err(error) => return Err(error.into()),
        };
        if let Some(reason) = read.strip_prefix(REFUSED.as_bytes()).filter(|_| bytes == 0) {
            return Err(CaptureError::Refused(String::from_utf8_lossy(reason).trim().to_owned()));
        }
        // Written as it comes, so that a file that is looked at, or left at Ctrl-C, is whole but for its last
        // frame.
        output.write_all(read).and_then(|()| output.flush()).map_err(write)?;
        bytes += read.len() as u64;
    }
    Ok(bytes)
}

/// A new file in place of what stands there; what is no file, such as a pipe, as it is.
fn create(path: &Path, interrupt: &Interrupt) -> io::Result<File> {
    let path = files::destination(path)?;
    match path.metadata() {
        Ok(metadata) if !metadata.is_file() => files::open_special(&path, || interrupt.came()),
        _ => files::create(&path, false),
    }
}

/// Where a node offers captures that nothing else was said of: beside the forwarder's socket that other tools
/// use, or one of the usual ones.
fn usual_sockets() -> Vec<PathBuf> {
    let forwarder = match Remote::default_forwarder() {
        Ok(Remote::Unix(path)) => Some(path),
        _ => None,
    };
    let mut sockets: Vec<PathBuf> = forwarder.into_iter().chain(node::default_unix_paths()).collect();
    for socket in &mut sockets {
        socket.set_extension("capture");
    }
    sockets.dedup();
    sockets
}

fn connect(arguments: &CaptureArguments) -> Result<UnixStream, CaptureError> {
    let paths = arguments.socket.clone().map_or_else(usual_sockets, |path| vec![path]);
    let mut last = io::Error::from(io::ErrorKind::NotFound);
    for path in &paths {
        match UnixStream::connect(path) {
            Ok(node) => return Ok(node),
            Err(error) => last = error,
        }
    }
    let paths = paths.iter().map(|path| printable_path(path)).collect::<Vec<_>>().join(" or ");
    Err(CaptureError::Connect { paths, source: last })
}
