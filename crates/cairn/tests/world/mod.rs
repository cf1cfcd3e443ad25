//! A node of its own for a test, and the command to use it with.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use testkit::folder::TestFolder;

const TIMEOUT: Duration = Duration::from_secs(60);

/// A folder, a node in it, and what was started beside; all of it goes at the end.
pub(crate) struct World {
    pub(crate) folder: TestFolder,
    children: Vec<Child>,
}

impl World {
    pub(crate) fn new() -> World {
        World::with(&[], "")
    }

    /// With a node that neighbours can reach on this host.
    pub(crate) fn neighbourly() -> World {
        World::with(&["127.0.0.1:0"], "")
    }

    /// Makes a root, `/lab`, and a key that it certifies, `/lab/alice`; writes the root's certificate to
    /// `root.cert`, and the other to `alice.cert`.
    pub(crate) fn certify_alice(&self) {
        self.good(&["key", "new", "/lab", "--kind", "ed25519"]);
        self.good(&["key", "new", "/lab/alice"]);
        self.good(&["cert", "export", "/lab", "-o", "root.cert"]);
        self.good(&["cert", "request", "/lab/alice", "-o", "alice.req"]);
        self.good(&["cert", "sign", "alice.req", "--by", "/lab", "--issuer", "lab", "-o", "alice.cert"]);
        self.good(&["cert", "import", "alice.cert"]);
    }

    /// With a node that is a forwarder of CCNx as well.
    pub(crate) fn with_ccnx() -> World {
        World::with(
            &[],
            "[ccnx]\nenabled = true\nudp = []\ntcp = []\nunix = [\"ccnd.sock\"]\nkey_file = \"ccnx.key\"\n",
        )
    }

    /// The same over IP alone, at `local`, with a face to `remote` by which `route` is reached.
    pub(crate) fn over_ip(local: &str, face: Option<(&str, &str)>) -> World {
        let mut more = format!(
            "[ccnx]\nenabled = true\nudp = []\ntcp = []\nunix = [\"ccnd.sock\"]\nkey_file = \"ccnx.key\"\nip = [{local:?}]\n"
        );
        if let Some((remote, route)) = face {
            more += &format!(
                "[[face]]\ndialect = \"ccnx\"\nremote = {remote:?}\nroutes = [{route:?}]\nndnlp = \"acknowledged\"\n"
            );
        }
        World::with(&[], &more)
    }

    /// The same, with a repository that takes objects of CCNx below this prefix.
    pub(crate) fn with_ccnr(namespace: &str) -> World {
        let ccnx =
            "[ccnx]\nenabled = true\nudp = []\ntcp = []\nunix = [\"ccnd.sock\"]\nkey_file = \"ccnx.key\"\n";
        World::with(
            &[],
            &format!(
                "{ccnx}[[repository]]\npath = \"store\"\nprefixes = [\"/nothing\"]\nccnx_namespaces = [{namespace:?}]\n"
            ),
        )
    }

    /// With a node that pages of a browser on this host reach by WebSocket, and one that trusts some of them.
    pub(crate) fn with_websocket(local_origins: &[&str]) -> World {
        World::of(&[], &["127.0.0.1:0"], &format!("local_origins = {local_origins:?}\n"))
    }

    fn with(udp: &[&str], more: &str) -> World {
        World::of(udp, &[], more)
    }

    fn of(udp: &[&str], websocket: &[&str], more: &str) -> World {
        let folder = TestFolder::numbered("tools");
        let mut world = World { folder, children: Vec::new() };
        let config = format!(
            "[unix]\nlisten = [{:?}]\n[udp]\nlisten = {udp:?}\n[tcp]\nlisten = []\n[websocket]\nlisten = {websocket:?}\n{more}",
            world.socket()
        );
        world.write("node.toml", config.as_bytes());
        let node = world.start_node();
        world.children.push(node);
        world
    }

    /// Where neighbours reach the node.
    pub(crate) fn udp(&self) -> String {
        let listed = self.good(&["face", "channels"]);
        listed.lines().find(|channel| channel.starts_with("udp4://")).unwrap().to_owned()
    }

    /// Ends the node without a chance to say so, and starts another in its place.
    pub(crate) fn replace_node(&mut self) {
        self.kill_node();
        self.replace_node_that_is_gone();
    }

    /// Starts a node in place of the one that was killed.
    pub(crate) fn replace_node_that_is_gone(&mut self) {
        self.children[0] = self.start_node();
    }

    /// Ends the node without a chance to say so.
    pub(crate) fn kill_node(&mut self) {
        self.children[0].kill().unwrap();
        self.children[0].wait().unwrap();
    }

    fn start_node(&self) -> Child {
        let world = self;
        let mut node = world.command(&["node", "run", "-c", "node.toml"]);
        let child = node.stderr(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
        let deadline = Instant::now() + TIMEOUT;
        // The socket for captures is the last that it opens.
        let is_closed = |path| UnixStream::connect(path).is_err();
        while is_closed(world.socket()) || is_closed(world.path("nfd.capture")) {
            assert!(Instant::now() < deadline, "the node does not listen");
            std::thread::yield_now();
        }
        child
    }

    pub(crate) fn path(&self, file: &str) -> PathBuf {
        self.folder.join(file)
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.path("nfd.sock")
    }

    pub(crate) fn write(&self, file: &str, bytes: &[u8]) -> PathBuf {
        let path = self.path(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, bytes).unwrap();
        path
    }

    pub(crate) fn read(&self, file: &str) -> Vec<u8> {
        std::fs::read(self.path(file)).unwrap()
    }

    /// `cairn …` in this world's folder, with its node and its keys.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cairn"));
        command
            .args(arguments)
            .current_dir(&self.folder)
            .env_remove("CAIRN_LOG")
            .env("NDN_CLIENT_TRANSPORT", format!("unix://{}", self.socket().display()))
            .env("CCN_LOCAL_SOCKNAME", self.path("ccnd.sock"))
            .env_remove("CCN_LOCAL_TRANSPORT")
            .env_remove("CCN_LOCAL_PORT")
            .env("CAIRN_KEYS", self.path("keys"))
            .env("CAIRN_PASSPHRASE", "correct horse")
            .stdin(Stdio::null());
        command
    }

    /// What a command that succeeds prints as JSON.
    pub(crate) fn json(&self, arguments: &[&str]) -> serde_json::Value {
        serde_json::from_str(&self.good(&[arguments, &["--json"]].concat())).unwrap()
    }

    /// Runs `cairn …` to its end.
    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.run_with(arguments, b"")
    }

    /// The same with something to read.
    pub(crate) fn run_with(&self, arguments: &[&str], input: &[u8]) -> Output {
        let mut command = self.command(arguments);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input).unwrap();
        let (send, done) = mpsc::channel();
        let id = child.id();
        std::thread::spawn(move || send.send(child.wait_with_output()));
        match done.recv_timeout(TIMEOUT) {
            Ok(output) => output.unwrap(),
            Err(_) => {
                let _ = Command::new("kill").arg(id.to_string()).status();
                panic!("cairn {arguments:?} does not end");
            }
        }
    }

    /// Runs `cairn …`, which must end well, and gives what it printed.
    pub(crate) fn good(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "cairn {arguments:?}: {} {errors}", output.status);
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Starts `cairn …`, which serves until this world ends, and waits until it prints `ready` in a line.
    pub(crate) fn start(&mut self, arguments: &[&str], ready: &str) {
        let command = self.command(arguments);
        self.start_command(command, ready);
    }

    /// The same with any command.
    pub(crate) fn start_command(&mut self, mut command: Command, ready: &str) {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (send, lines) = mpsc::channel();
        let streams: [Box<dyn std::io::Read + Send>; 2] =
            [Box::new(child.stdout.take().unwrap()), Box::new(child.stderr.take().unwrap())];
        for stream in streams {
            let send = send.clone();
            std::thread::spawn(move || {
                for line in BufReader::new(stream).lines().map_while(Result::ok) {
                    // Nobody listens any more once it is ready; reading goes on, so that it does not block.
                    let _ = send.send(line);
                }
            });
        }
        drop(send);
        self.children.push(child);
        let mut seen = String::new();
        let deadline = Instant::now() + TIMEOUT;
        while let Ok(line) = lines.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            if line.contains(ready) {
                return;
            }
            seen.push_str(&line);
            seen.push('\n');
        }
        panic!("{command:?} does not say {ready:?} but:\n{seen}");
    }

    /// Ends what was started last, as Ctrl-C does, and gives its exit code.
    pub(crate) fn interrupt_last(&mut self) -> Option<i32> {
        self.end_last("-INT")
    }

    /// Ends what was started last by a signal, and gives its exit code.
    pub(crate) fn end_last(&mut self, signal: &str) -> Option<i32> {
        let mut child = self.children.pop().unwrap();
        let killed = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
        assert!(killed.success());
        child.wait().unwrap().code()
    }
}

impl Drop for World {
    fn drop(&mut self) {
        for child in self.children.iter_mut().rev() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Bytes that do not repeat early.
pub(crate) fn bytes(count: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_u32;
    let step = |_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    (0..count).map(step).collect()
}

/// All that a stream has to say.
pub(crate) fn all(mut stream: impl std::io::Read) -> Vec<u8> {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    bytes
}
