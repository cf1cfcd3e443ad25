//! A browser without a window: the system's, or one that was unpacked for tests.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;
use testkit::folder::TestFolder;
use testkit::needs::needed;

use crate::site::Site;
use crate::world::World;

/// Where `cargo xtask ci` unpacks one when the system has none.
const UNPACKED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/test-tools/browser");
/// How long a page may take for all that it tries.
const TIMEOUT: Duration = Duration::from_secs(60);

pub(crate) struct Chromium {
    program: PathBuf,
    libraries: String,
}

impl Chromium {
    /// `None` where tests may do without.
    pub(crate) fn find() -> Option<Chromium> {
        let unpacked = Path::new(UNPACKED);
        let libraries = unpacked.join("usr/lib").join(format!("{}-linux-gnu", std::env::consts::ARCH));
        // Of the libraries of the distribution, those of sound have a folder of their own.
        let libraries = format!("{}:{}", libraries.display(), libraries.join("pulseaudio").display());
        let places = [
            (PathBuf::from("/usr/bin/chromium-headless-shell"), String::new()),
            (PathBuf::from("/usr/bin/chromium"), String::new()),
            (unpacked.join("usr/lib/chromium/chromium-headless-shell"), libraries),
        ];
        let found = places.into_iter().find(|(program, _)| program.is_file());
        let found =
            found.ok_or("it is neither installed nor unpacked; `cargo xtask ci` unpacks it".to_owned());
        let chromium = found.map(|(program, libraries)| Chromium { program, libraries });
        needed("Chromium", chromium.and_then(Chromium::that_works))
    }

    /// One that is there may lack something of the system all the same.
    fn that_works(self) -> Result<Chromium, String> {
        let home = TestFolder::numbered("browser");
        let mut command = self.dump(&home, "data:text/html,here", &[]);
        let output = command.stderr(Stdio::piped()).output().map_err(|error| error.to_string())?;
        let shown = String::from_utf8_lossy(&output.stdout);
        if shown.contains("here") {
            Ok(self)
        } else {
            Err(String::from_utf8_lossy(&output.stderr).into_owned())
        }
    }

    /// Prints a page; one that hangs is ended.
    fn dump(&self, home: &Path, address: &str, more: &[&str]) -> Command {
        let mut command = Command::new("timeout");
        command.arg("60").arg(&self.program).arg("--dump-dom");
        self.complete(command, home, address, more)
    }

    fn complete(&self, mut command: Command, home: &Path, address: &str, more: &[&str]) -> Command {
        if !self.libraries.is_empty() {
            command.env("LD_LIBRARY_PATH", &self.libraries);
        }
        // Tests run as root in containers, where its sandbox cannot be built; the pages are our own.
        command.args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--mute-audio",
        ]);
        command.arg("--autoplay-policy=no-user-gesture-required");
        // What it would say to its makers at the start has nowhere to go here.
        command.args(["--disable-background-networking", "--no-first-run"]);
        command.arg(format!("--user-data-dir={}", home.join("browser").display()));
        command.env("HOME", home).args(more).arg(address);
        command.stdin(Stdio::null()).stderr(Stdio::null());
        command
    }

    /// What a page reports of what it tried.
    pub(crate) fn visit(&self, world: &World, site: &Site) -> Value {
        let address = format!("http://{}/", site.address());
        // It stays until it is told to go.
        let program = Command::new(&self.program);
        let mut child = self
            .complete(program, &world.folder, &address, &["--remote-debugging-port=0"])
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let reported = site.report(TIMEOUT);
        let _ = child.kill();
        let _ = child.wait();
        reported.expect("the page reports")
    }

    /// A page as it stands after its scripts had some seconds.
    pub(crate) fn page(&self, world: &World, address: &str) -> String {
        let output = self.dump(&world.folder, address, &["--virtual-time-budget=5000"]).output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    }
}
