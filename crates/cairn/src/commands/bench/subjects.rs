//! What is measured: the bare relay, Cairn, ndnd, and any command.

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::Command;

use node::load::{StreamSocket, relay_streams};
use packet::Dialect;

use super::ndnd::Ndnd;
use super::ports::{free_tcp_port, free_udp_port};
use super::process::{Forwarder, Processors};

/// A forwarder to be measured.
#[derive(Clone, Debug)]
pub(super) enum Subject {
    Relay,
    Cairn,
    Ndnd(PathBuf),
    Command(String),
}

/// Ways to reach a forwarder and its producer.
#[derive(Clone, Debug)]
pub(super) enum Wiring {
    Udp { listen: SocketAddr, producer: SocketAddr },
    Tcp { listen: SocketAddr, producer: SocketAddr },
    Unix { listen: PathBuf, producer: PathBuf },
}

/// Where forwarders run: processors, and a directory for their files.
pub(super) struct Stage {
    pub(super) directory: PathBuf,
    pub(super) processors: Processors,
    pub(super) prefix: String,
    /// The network namespace that forwarders run in, if not in ours.
    pub(super) namespace: Option<String>,
    /// What is spoken.
    pub(super) dialect: Dialect,
}

impl Stage {
    /// The same command, run where forwarders run.
    fn within(&self, command: Command) -> Command {
        let Some(namespace) = &self.namespace else { return command };
        let mut outer = Command::new("ip");
        outer.args(["netns", "exec", namespace]).arg(command.get_program()).args(command.get_args());
        for (key, value) in command.get_envs() {
            if let Some(value) = value {
                outer.env(key, value);
            }
        }
        outer
    }
}

impl Subject {
    pub(super) fn name(&self) -> &'static str {
        match self {
            Subject::Relay => "bare relay",
            Subject::Cairn => "cairn",
            Subject::Ndnd(_) => "ndnd",
            Subject::Command(_) => "command",
        }
    }

    /// Whether it can be measured in this way.
    pub(super) fn speaks(&self, wiring: &Wiring) -> bool {
        match self {
            Subject::Relay | Subject::Cairn => true,
            Subject::Ndnd(_) => matches!(wiring, Wiring::Udp { .. } | Wiring::Tcp { .. }),
            Subject::Command(_) => matches!(wiring, Wiring::Udp { .. }),
        }
    }

    /// Starts it. It may take a moment until it forwards.
    pub(super) fn start(&self, wiring: &Wiring, stage: &Stage) -> io::Result<Forwarder> {
        let command = match self {
            Subject::Relay => relay(wiring)?,
            Subject::Cairn => cairn(wiring, stage)?,
            Subject::Ndnd(program) => return ndnd(program, wiring, stage),
            Subject::Command(command) => user_command(command, wiring, stage)?,
        };
        Forwarder::start(&mut stage.within(command), &stage.processors)
    }
}

fn relay(wiring: &Wiring) -> io::Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("bench");
    match wiring {
        Wiring::Udp { listen, producer } => {
            command.args(["relay-udp", &listen.to_string(), &producer.to_string()])
        }
        Wiring::Tcp { listen, producer } => {
            command.args(["relay-stream", &listen.to_string(), &producer.to_string()])
        }
        Wiring::Unix { listen, producer } => command.arg("relay-stream").arg(listen).arg(producer),
    };
    Ok(command)
}

fn cairn(wiring: &Wiring, stage: &Stage) -> io::Result<Command> {
    let (udp, tcp, unix, remote) = match wiring {
        Wiring::Udp { listen, producer } => (
            format!("\"{listen}\""),
            String::new(),
            String::new(),
            format!("{}://{producer}", scheme("udp", *producer)),
        ),
        Wiring::Tcp { listen, producer } => (
            String::new(),
            format!("\"{listen}\""),
            String::new(),
            format!("{}://{producer}", scheme("tcp", *producer)),
        ),
        Wiring::Unix { listen, producer } => {
            (String::new(), String::new(), format!("{listen:?}"), format!("unix://{}", producer.display()))
        }
    };
    let text = format!(
        "[udp]\nlisten = [{udp}]\n[tcp]\nlisten = [{tcp}]\n[unix]\nlisten = [{unix}]\n[websocket]\nlisten = []\n\
         [[face]]\nremote = \"{remote}\"\nroutes = [\"{}\"]\n",
        stage.prefix
    );
    let (text, file) = match (stage.dialect, wiring) {
        // There may be several, one behind the other.
        (Dialect::Ccnx, Wiring::Udp { listen, .. }) => {
            (ccnx_over_udp(*listen, &remote, stage), format!("ccnx-{}.toml", listen.port()))
        }
        (_, Wiring::Udp { listen, .. }) => (text, format!("cairn-{}.toml", listen.port())),
        _ => (text, "cairn.toml".to_owned()),
    };
    let file = stage.directory.join(file);
    std::fs::write(&file, text)?;
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["node", "run", "--config"]).arg(file).env("CAIRN_LOG", "warn");
    Ok(command)
}

/// The configuration of a node that speaks CCNx over UDP and nothing else.
fn ccnx_over_udp(listen: SocketAddr, remote: &str, stage: &Stage) -> String {
    format!(
        "[udp]\nlisten = []\n[tcp]\nlisten = []\n[unix]\nlisten = []\n[websocket]\nlisten = []\n\
         [ccnx]\nenabled = true\nudp = [\"{listen}\"]\ntcp = []\nunix = []\nkey_file = {:?}\n\
         [[face]]\nremote = \"{remote}\"\ndialect = \"ccnx\"\nroutes = [\"ccnx:{}\"]\n",
        stage.directory.join(format!("ccnx-{}.key", listen.port())),
        stage.prefix
    )
}

fn scheme(transport: &str, address: SocketAddr) -> String {
    format!("{transport}{}", if address.is_ipv4() { 4 } else { 6 })
}

fn ndnd(program: &Path, wiring: &Wiring, stage: &Stage) -> io::Result<Forwarder> {
    let (udp, tcp, remote) = match wiring {
        Wiring::Udp { listen, producer } => (listen.port(), free_tcp_port()?, format!("udp4://{producer}")),
        Wiring::Tcp { listen, producer } => (free_udp_port()?, listen.port(), format!("tcp4://{producer}")),
        Wiring::Unix { .. } => return Err(io::ErrorKind::Unsupported.into()),
    };
    let ndnd = Ndnd { program, socket: &stage.directory.join("ndnd.sock") };
    // One forwarding thread, because it gets one processor.
    let command = ndnd.forwarder(&stage.directory.join("ndnd.yml"), udp, tcp, Some(1))?;
    let mut forwarder = Forwarder::start(&mut stage.within(command), &stage.processors)?;
    forwarder.await_socket(ndnd.socket, "ndnd")?;
    ndnd.add_route(&stage.prefix, &remote)?;
    Ok(forwarder)
}

fn user_command(command: &str, wiring: &Wiring, stage: &Stage) -> io::Result<Command> {
    let Wiring::Udp { listen, producer } = wiring else { return Err(io::ErrorKind::Unsupported.into()) };
    let line = command
        .replace("{port}", &listen.port().to_string())
        .replace("{producer}", &producer.to_string())
        .replace("{prefix}", &stage.prefix);
    let mut shell = Command::new("sh");
    shell.args(["-c", &line]);
    Ok(shell)
}

/// The bare relay for connections, as a process.
pub(super) fn relay_stream(local: &str, producer: &str) -> io::Result<()> {
    let (consumer, producer) = if local.starts_with('/') {
        let listener = UnixListener::bind(local)?;
        let producer = StreamSocket::Unix(UnixStream::connect(producer)?);
        (StreamSocket::Unix(listener.accept()?.0), producer)
    } else {
        let listener = TcpListener::bind(local)?;
        let producer = StreamSocket::Tcp(TcpStream::connect(producer)?);
        (StreamSocket::Tcp(listener.accept()?.0), producer)
    };
    relay_streams(&consumer, &producer)
}

/// ndnd's program, if it is installed.
pub(super) fn find_ndnd() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let home = std::env::var_os("HOME").map(|home| Path::new(&home).join("go").join("bin"));
    std::env::split_paths(&path)
        .chain(home)
        .map(|directory| directory.join("ndnd"))
        .find(|file| file.is_file())
}
