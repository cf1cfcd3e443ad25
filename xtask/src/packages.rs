//! Programs that checks need and the system does not have. Nothing becomes a service, nothing that is there
//! is upgraded, and what is about to happen is said first.

use std::path::{Path, PathBuf};

use crate::process;

/// Below the workspace, for programs that are unpacked and not installed. Tests look there, too.
const FOLDER: &str = "target/test-tools";

/// Where the SSH server's program is when it was unpacked.
pub(crate) const SSHD: &str = "target/test-tools/sshd/usr/sbin/sshd";

/// Has the system's package manager install a package that has no service.
pub(crate) fn install(package: &str, root: &Path) -> Result<(), String> {
    println!("{package} is missing: installing it with apt-get, which upgrades nothing that is there");
    let arguments = ["install", "--yes", "--no-install-recommends", "--no-upgrade", package];
    process::run("apt-get", &arguments, root, &[("DEBIAN_FRONTEND", "noninteractive")])
}

/// Unpacks packages into a folder of their own, and installs nothing.
fn unpack(name: &str, packages: &[&str], root: &Path) -> Result<PathBuf, String> {
    let folder = root.join(FOLDER).join(name);
    let shown = folder.to_string_lossy().into_owned();
    println!("unpacking {} into {shown}; nothing is installed, and nothing started", packages.join(" and "));
    std::fs::create_dir_all(&folder).map_err(|error| format!("{shown}: {error}"))?;
    let download = || process::run("apt-get", &[&["download"], packages].concat(), &folder, &[]);
    if download().is_err() {
        process::run("apt-get", &["update"], &folder, &[])?;
        download()?;
    }
    let entries = std::fs::read_dir(&folder).map_err(|error| format!("{shown}: {error}"))?;
    for file in entries.flatten().map(|entry| entry.path()) {
        if file.extension().is_some_and(|ending| ending == "deb") {
            process::run("dpkg-deb", &["-x", &file.to_string_lossy(), "."], &folder, &[])?;
        }
    }
    Ok(folder)
}

/// The SSH server that hosts made for tests run: the system's, or one in a folder of its own.
pub(crate) fn sshd(root: &Path) -> Result<(), String> {
    let places = ["/usr/sbin/sshd", "/usr/local/sbin/sshd", "/usr/bin/sshd"];
    let own = root.join(SSHD);
    if own.is_file() || places.iter().any(|place| Path::new(place).is_file()) {
        return Ok(());
    }
    // Of what it is linked with, the library of host lists is not everywhere.
    unpack("sshd", &["openssh-server", "libwrap0"], root)?;
    if own.is_file() { Ok(()) } else { Err("the package openssh-server has no sshd".to_owned()) }
}

/// Where HTTP servers and proxies are unpacked that the lab compares with.
pub(crate) const HTTP: &str = "target/test-tools/http";

/// Packages of HTTP servers and proxies, and of the libraries of these that are not everywhere.
const HTTP_PACKAGES: &[&str] = &[
    "lighttpd",
    "nginx",
    "squid",
    "squid-common",
    "squid-langpack",
    "varnish",
    "libvarnishapi3",
    "libecap3",
    "libjemalloc2",
    "libltdl7",
    "libnetfilter-conntrack3",
    "libnfnetlink0",
    "libpcre2-8-0",
    "libxxhash0",
];

/// lighttpd, nginx and Squid, the system's or in a folder of their own, where others are unpacked with them.
pub(crate) fn http(root: &Path) -> Result<(), String> {
    let is_installed = |program: &str| Path::new("/usr/sbin").join(program).is_file();
    let unpacked = |program: &str| root.join(HTTP).join("usr/sbin").join(program).is_file();
    let is_there =
        || ["lighttpd", "nginx", "squid"].iter().all(|program| is_installed(program) || unpacked(program));
    if !is_there() {
        unpack("http", HTTP_PACKAGES, root)?;
    }
    if is_there() { Ok(()) } else { Err("the packages lack lighttpd, nginx or squid".to_owned()) }
}

/// Where a browser is unpacked.
const BROWSER: &str = "target/test-tools/browser";

/// Chromium without a window, the system's or in a folder of its own with what it needs and the system lacks.
pub(crate) fn browser(root: &Path) -> Result<(), String> {
    const PACKAGE: &str = "chromium-headless-shell";
    let installed = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"];
    if let Some(program) = installed.iter().find(|program| Path::new(program).is_file()) {
        return shows_a_page(Path::new(program), root, &[]);
    }
    let unpacked = root.join(BROWSER).join("usr/lib/chromium").join(PACKAGE);
    if !unpacked.is_file() {
        let needed = dependencies(PACKAGE, root)?;
        unpack("browser", &Vec::from_iter(needed.iter().map(String::as_str)), root)?;
    }
    let libraries = root.join(BROWSER).join("usr/lib").join(format!("{}-linux-gnu", std::env::consts::ARCH));
    // Those of sound have a folder of their own.
    let libraries = format!("{}:{}", libraries.display(), libraries.join("pulseaudio").display());
    shows_a_page(&unpacked, root, &[("LD_LIBRARY_PATH", &libraries)])
}

/// Where npm puts players of HLS and DASH, which are scripts of pages.
const PLAYERS: &str = "target/test-tools/players";

/// Players of HLS and DASH in a folder of their own.
pub(crate) fn players(root: &Path) -> Result<(), String> {
    let folder = root.join(PLAYERS);
    let wanted = root.join("crates/cairn/tests/browser/players/package.json");
    let shown = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
    let wanted = std::fs::read(&wanted).map_err(|error| shown(&wanted, error))?;
    let installed = folder.join("installed.json");
    if std::fs::read(&installed).is_ok_and(|of| of == wanted) {
        return Ok(());
    }
    println!("npm puts players of HLS and DASH into {}; no script of theirs is run there", folder.display());
    std::fs::create_dir_all(&folder).map_err(|error| shown(&folder, error))?;
    let package = folder.join("package.json");
    std::fs::write(&package, &wanted).map_err(|error| shown(&package, error))?;
    process::run("npm", &["install", "--no-audit", "--no-fund", "--ignore-scripts"], &folder, &[])?;
    std::fs::write(&installed, wanted).map_err(|error| shown(&installed, error))
}

/// Whether a browser works here, as far as one page shows.
fn shows_a_page(browser: &Path, root: &Path, variables: &[(&str, &str)]) -> Result<(), String> {
    let browser = browser.to_string_lossy();
    // One that hangs must not hang all that comes after it.
    let words = ["60", &browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"];
    let words = [&words[..], &["--dump-dom", "data:text/html,a page in a browser"]].concat();
    process::run("timeout", &words, root, variables)
}

/// A package and all that the package manager would install with it here.
fn dependencies(package: &str, root: &Path) -> Result<Vec<String>, String> {
    let words = ["install", "--simulate", "--no-install-recommends", "--no-upgrade", package];
    let plan = || process::output("apt-get", &words, root);
    let plan = match plan() {
        Ok(plan) => plan,
        Err(_) => {
            process::run("apt-get", &["update"], root, &[])?;
            plan()?
        }
    };
    let named = plan.lines().filter_map(|line| line.strip_prefix("Inst ")?.split(' ').next());
    Ok(named.map(str::to_owned).collect())
}

/// Where Slurm is unpacked, a manager of clusters.
const SLURM: &str = "target/test-tools/slurm";

/// Its packages, and those of the libraries of these that are not everywhere.
const SLURM_PACKAGES: &[&str] = &[
    "slurmctld",
    "slurmd",
    "slurm-client",
    "slurm-wlm-basic-plugins",
    "libhwloc15",
    "libmunge2",
    "liblz4-1",
    "libnuma1",
];

/// Slurm in a folder of its own: one that the system has manages a cluster already, and tests have theirs.
pub(crate) fn slurm(root: &Path) -> Result<(), String> {
    let programs = root.join(SLURM).join("usr/sbin");
    // Debian says in the program's name which of several builds it is.
    let is_there = || ["slurmctld-wlm", "slurmctld"].iter().any(|name| programs.join(name).is_file());
    if !is_there() {
        unpack("slurm", SLURM_PACKAGES, root)?;
    }
    if is_there() { Ok(()) } else { Err("the packages have no slurmctld".to_owned()) }
}
