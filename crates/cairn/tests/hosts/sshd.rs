//! Hosts made of network namespaces, each with an SSH server of its own, and a desk from which they are
//! reached.
//!
//! Keys, configurations and known hosts are made for the test and go with it; no password is ever asked for.

use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use lab::backend::interface::Interface;
use lab::backend::netns::namespace::Namespace;
use lab::backend::netns::wiring::{Wiring, wire};
use lab::experiment::plan::{Arena, NodeIndex};
use lab::experiment::{Experiment, Plan};
use testkit::folder::TestFolder;
use testkit::needs::needed;

/// The desk is wired to each host, and the hosts in a row.
const NETWORK: &str = "title = 'hosts'\nduration = '1 s'\n[node]\na = {}\nb = {}\nc = {}\ndesk = {}\n\
                       [link]\na-b = {}\nb-c = {}\na-desk = {}\nb-desk = {}\nc-desk = {}\n";

/// Three hosts and a desk; all of it gone when dropped.
pub(crate) struct Hosts {
    pub(crate) folder: TestFolder,
    plan: Plan,
    wiring: Wiring,
    servers: Vec<Child>,
    namespaces: Arena<NodeIndex, Namespace>,
}

fn must(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Where `cargo xtask ci` unpacks a server when the system has none.
const UNPACKED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/test-tools/sshd");

/// The SSH server: where distributions have it, or the one in a folder of its own.
fn server() -> Result<PathBuf, String> {
    let unpacked = format!("{UNPACKED}/usr/sbin/sshd");
    let known = ["/usr/sbin/sshd", "/usr/local/sbin/sshd", "/usr/bin/sshd", &unpacked].map(PathBuf::from);
    let found = known.into_iter().find(|path| path.is_file());
    found.ok_or_else(|| "sshd is not installed; `cargo xtask ci` unpacks one".to_owned())
}

/// The folders of an unpacked server's libraries.
fn libraries() -> String {
    let folders = ["lib", "usr/lib"].map(|name| std::fs::read_dir(format!("{UNPACKED}/{name}")));
    let folders = folders.into_iter().flatten().flatten().flatten().map(|entry| entry.path());
    folders.map(|path| path.display().to_string()).collect::<Vec<_>>().join(":")
}

/// Where the parts of a newer server are when it was unpacked.
fn parts(server: &Path) -> String {
    let keys = [("SshdSessionPath", "sshd-session"), ("SshdAuthPath", "sshd-auth")];
    let places = keys.map(|(key, name)| (key, format!("{UNPACKED}/usr/lib/openssh/{name}")));
    let there = places.iter().filter(|(_, path)| server.starts_with(UNPACKED) && Path::new(path).is_file());
    there.map(|(key, path)| format!("{key} {path}\n")).collect()
}

impl Hosts {
    /// `None` where the machine does not allow it and the test run is not strict.
    pub(crate) fn start(name: &str) -> Option<Self> {
        let server = needed("SSH server", server())?;
        let root = if rustix::process::geteuid().is_root() { Ok(()) } else { Err("run as root") };
        needed("right to let an SSH server log us in", root)?;
        let made: Result<_, _> = ["a", "b", "c", "desk"].map(Namespace::new).into_iter().collect();
        let namespaces = needed("network namespaces", made)?;
        let plan =
            Experiment::parse("hosts", "hosts.toml", NETWORK).unwrap().plans("netns").unwrap().remove(0);
        let wiring = wire(&plan, &namespaces).unwrap();
        let mut folder = TestFolder::new(&format!("hosts-{name}"));
        folder.0 = folder.canonicalize().unwrap();
        let mut hosts = Hosts { folder, plan, wiring, servers: Vec::new(), namespaces };
        hosts.make_keys();
        hosts.start_servers(&server);
        Some(hosts)
    }

    fn path(&self, name: &str) -> String {
        self.folder.join(name).display().to_string()
    }

    fn make_keys(&self) {
        for key in ["host_key", "user_key"] {
            must(Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f", &self.path(key)]));
        }
        std::fs::copy(self.folder.join("user_key.pub"), self.folder.join("authorized_keys")).unwrap();
        let key = std::fs::read_to_string(self.folder.join("host_key.pub")).unwrap();
        let lines =
            ["a", "b", "c"].map(|node| format!("{} {key}", self.address(node, &format!("{node}-desk"))));
        std::fs::write(self.folder.join("known_hosts"), lines.concat()).unwrap();
    }

    fn start_servers(&mut self, server: &Path) {
        // The server wants this folder, which distributions make when they start it as a service.
        std::fs::create_dir_all("/run/sshd").unwrap();
        let configuration = format!(
            "Port 22\nHostKey {}\nAuthorizedKeysFile {}\nPidFile none\nStrictModes no\nUsePAM no\nPasswordAuthentication no\n\
             KbdInteractiveAuthentication no\nPermitRootLogin prohibit-password\nLogLevel ERROR\n\
             ClientAliveInterval 2\nClientAliveCountMax 3\n",
            self.path("host_key"),
            self.path("authorized_keys"),
        );
        std::fs::write(self.folder.join("sshd_config"), configuration + &parts(server)).unwrap();
        let mut users = std::fs::read_to_string("/etc/passwd").unwrap();
        if !users.lines().any(|line| line.starts_with("sshd:")) {
            users += "sshd:x:65500:65534::/run/sshd:/usr/sbin/nologin\n";
        }
        std::fs::write(self.folder.join("passwd"), users).unwrap();
        for namespace in self.namespaces.iter().take(3) {
            // A server that was never installed has no user for its unprivileged part: it gets one in a list
            // of users that only it sees.
            let mut command = Command::new("unshare");
            let script = "mount --bind \"$1\" /etc/passwd && exec \"$2\" -D -e -f \"$3\"";
            command.args(["--mount", "sh", "-c", script, "sshd", &self.path("passwd")]);
            command.arg(server).arg(self.path("sshd_config"));
            if server.starts_with(UNPACKED) {
                command.env("LD_LIBRARY_PATH", libraries());
            }
            let log =
                std::fs::File::create(self.folder.join(format!("sshd-{}.txt", self.servers.len()))).unwrap();
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
            let child = namespace.run(move || command.spawn()).unwrap().unwrap();
            self.servers.push(child);
        }
        for node in ["a", "b", "c"] {
            let address = self.address(node, &format!("{node}-desk"));
            let deadline = Instant::now() + Duration::from_secs(20);
            while self.at_desk(move || std::net::TcpStream::connect((address, 22)).is_err()) {
                assert!(Instant::now() < deadline, "the SSH server of {node} does not listen");
                std::thread::sleep(Duration::from_millis(20));
            }
        }
    }

    fn at_desk<T: Send + 'static>(&self, act: impl FnOnce() -> T + Send + 'static) -> T {
        self.namespaces[NodeIndex(3)].run(act).unwrap()
    }

    /// The address of a node's end of a link.
    fn address(&self, node: &str, link: &str) -> Ipv4Addr {
        self.interface(node, link).local
    }

    fn interface(&self, node: &str, link: &str) -> &Interface {
        let link = self.plan.links.position(|plan| plan.name == link).unwrap();
        let interfaces = &self.wiring.interfaces[&self.plan.node(node).unwrap()];
        interfaces.iter().find(|interface| interface.link == link).unwrap()
    }

    /// The file of hosts; those in `copied` get a copy of the program. Runs keep their files below the test's
    /// folder.
    pub(crate) fn inventory(&self, copied: &[&str]) -> String {
        let mut text = format!(
            "options = [\"-F\", \"none\", \"-i\", \"{}\", \"-o\", \"IdentitiesOnly=yes\", \"-o\", \"UserKnownHostsFile={}\", \
             \"-o\", \"StrictHostKeyChecking=yes\"]\n",
            self.path("user_key"),
            self.path("known_hosts"),
        );
        for node in ["a", "b", "c"] {
            let above = self.folder.join(format!("host-{node}"));
            std::fs::create_dir_all(&above).unwrap();
            text += &format!(
                "[host.{node}]\nssh = \"root@{}\"\nfolder = \"{}\"\n",
                self.address(node, &format!("{node}-desk")),
                above.display()
            );
            if !copied.contains(&node) {
                text += &format!("cairn = \"{}\"\n", env!("CARGO_BIN_EXE_cairn"));
            }
            text += &format!("[host.{node}.link]\n");
            for link in ["a-b", "b-c"].iter().filter(|link| link.contains(node)) {
                text += &format!("{link} = \"{}\"\n", self.address(node, link));
            }
        }
        text
    }

    /// What runs on hosts have left in the folders for their files.
    pub(crate) fn left_behind(&self) -> Vec<PathBuf> {
        let folders = ["a", "b", "c"].map(|node| std::fs::read_dir(self.folder.join(format!("host-{node}"))));
        folders.into_iter().flatten().flatten().flatten().map(|entry| entry.path()).collect()
    }

    /// Starts the lab at the desk.
    pub(crate) fn lab(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cairn"));
        command.args(["lab", "run", "small.toml", "--on", "hosts", "--hosts", "hosts.toml"]);
        command.current_dir(&self.folder);
        command
    }

    pub(crate) fn spawn(&self, mut command: Command) -> Child {
        self.at_desk(move || command.spawn().unwrap())
    }

    pub(crate) fn output(&self, mut command: Command) -> Output {
        self.at_desk(move || command.output().unwrap())
    }

    /// Ends the SSH server of a host as a failing machine would: with every connection to it.
    pub(crate) fn fail(&mut self, host: usize) {
        let node = ["a", "b", "c"][host];
        let interface = self.interface(node, &format!("{node}-desk")).name.clone();
        self.namespaces[NodeIndex(host)]
            .run(move || must(Command::new("ip").args(["link", "set", &interface, "down"])))
            .unwrap();
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        for server in &mut self.servers {
            let _ = server.kill();
            let _ = server.wait();
        }
    }
}
