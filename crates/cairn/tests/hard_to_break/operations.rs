//! The forwarder as a service: idle, told to read its configuration again, told to end, and run by a user
//! without rights.

use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use client::Client;
use management::{CsInfo, Dataset, decode_list};
use rustix::process::Signal;
use testkit::folder::TestFolder;

use crate::daemon::{Daemon, SOON, wait_until};

fn capacity(client: &mut Client) -> u64 {
    let content = client.dataset(Dataset::CsInfo.name().unwrap()).unwrap();
    decode_list::<CsInfo>(&content).unwrap()[0].capacity
}

#[test]
fn a_forwarder_with_nothing_to_do_uses_next_to_no_processor_time() {
    const IDLE: Duration = Duration::from_secs(5);
    let daemon = Daemon::start(None);
    let mut clients: Vec<Client> = (0..20).map(|_| daemon.client()).collect();
    clients.iter_mut().for_each(|client| assert_eq!(capacity(client), 1 << 20));
    let (began, used) = (Instant::now(), daemon.processor_time());
    while began.elapsed() < IDLE {
        std::thread::park_timeout(Duration::from_millis(100));
    }
    let used = daemon.processor_time() - used;
    // A thousandth of one processor.
    assert!(used < IDLE / 1000, "{used:?} of {IDLE:?}");
}

#[test]
fn a_signal_has_the_configuration_read_again_and_one_that_makes_no_sense_changes_nothing() {
    let daemon = Daemon::start(None);
    let mut client = daemon.client();
    let before = std::fs::read_to_string(daemon.config()).unwrap();
    let reload_with = |more: &str| {
        std::fs::write(daemon.config(), format!("{before}{more}")).unwrap();
        daemon.signal(Signal::HUP);
    };
    reload_with("[content_store]\nmax_entries = 1234\n");
    wait_until(|| "the capacity does not change".to_owned(), || capacity(&mut client) == 1234);
    wait_until(
        || "that it was read again is not mentioned".to_owned(),
        || daemon.log().contains("configuration read again"),
    );
    reload_with("[content_store]\nmax_entrys = 99\n");
    wait_until(
        || "the mistake is not mentioned".to_owned(),
        || {
            let log = daemon.log();
            log.contains("configuration not taken over") && log.contains("max_entries")
        },
    );
    assert_eq!(capacity(&mut client), 1234);
    reload_with("[[strategy]]\nprefix = '/x'\nstrategy = 'multicast'\n[node]\npin_to_cpu = 0\n");
    wait_until(|| "the capacity is not the default again".to_owned(), || capacity(&mut client) == 1 << 20);
    wait_until(
        || "what needs a restart is not named".to_owned(),
        || daemon.log().contains("a restart is needed for node.pin_to_cpu"),
    );
    let strategies = client.dataset(Dataset::StrategyList.name().unwrap()).unwrap();
    let strategies: Vec<management::StrategyChoice> = decode_list(&strategies).unwrap();
    assert!(strategies.iter().any(|choice| choice.prefix == "/x".parse().unwrap()), "{strategies:?}");
}

#[test]
fn a_forwarder_that_ends_removes_all_its_sockets() {
    let mut daemon = Daemon::start(None);
    let capture = daemon.unix.with_extension("capture");
    wait_until(|| "no socket for captures".to_owned(), || capture.exists());
    let status = daemon.terminate();
    assert!(status.is_some_and(|status| status.code() == Some(0)), "it ended with {status:?}");
    assert!(!daemon.unix.exists() && !capture.exists());
}

/// The user that owns nothing. Who is not root is no more than that already.
const NOBODY: u32 = 65_534;

/// A folder of its own, with the program in it where everybody can reach it.
struct Bare {
    folder: TestFolder,
}

impl Bare {
    fn new(name: &str) -> Self {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = TestFolder::new(name);
        std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o777)).unwrap();
        std::fs::copy(env!("CARGO_BIN_EXE_cairn"), folder.join("cairn")).unwrap();
        Bare { folder }
    }

    /// The forwarder, run by nobody.
    fn command(&self, more: &str) -> Command {
        let config = self.folder.join("node.toml");
        let unix = self.folder.join("nfd.sock");
        let text = format!(
            "[udp]\nlisten = ['127.0.0.1:0']\n[tcp]\nlisten = []\n[websocket]\nlisten = []\n[unix]\nlisten = ['{}']\n{more}",
            unix.display()
        );
        std::fs::write(&config, text).unwrap();
        let mut command = Command::new(self.folder.join("cairn"));
        command.args([Path::new("node"), Path::new("run"), Path::new("--config"), &config]);
        command.current_dir(&self.folder).env_remove("CAIRN_LOG").stderr(Stdio::piped());
        if rustix::process::geteuid().is_root() {
            command.uid(NOBODY).gid(NOBODY);
        }
        command
    }
}

#[test]
fn a_user_without_rights_runs_a_forwarder() {
    let bare = Bare::new("nobody");
    let mut process = bare.command("").spawn().unwrap();
    let mut log = BufReader::new(process.stderr.take().unwrap()).lines();
    assert!(log.any(|line| line.unwrap().ends_with("running")));
    let mut client = Client::connect(&client::Remote::Unix(bare.folder.join("nfd.sock"))).unwrap();
    assert_eq!(capacity(&mut client), 1 << 20);
    rustix::process::kill_process(rustix::process::Pid::from_child(&process), Signal::TERM).unwrap();
    let deadline = Instant::now() + SOON;
    while process.try_wait().unwrap().is_none() {
        assert!(Instant::now() < deadline, "it does not end");
        std::thread::yield_now();
    }
    assert!(process.wait().unwrap().success());
}

#[test]
fn ethernet_without_the_right_to_it_is_refused_with_the_name_of_the_capability() {
    let bare = Bare::new("ethernet");
    let mut process = bare.command("[ethernet]\ninterfaces = ['lo']\n").spawn().unwrap();
    let mut log = String::new();
    process.stderr.take().unwrap().read_to_string(&mut log).unwrap();
    assert_eq!(process.wait().unwrap().code(), Some(1), "{log}");
    let complaint = log.lines().last().unwrap();
    assert!(complaint.contains("Ethernet on lo needs the capability CAP_NET_RAW"), "{log}");
    assert!(complaint.contains("setcap cap_net_raw+ep"), "{log}");
}
