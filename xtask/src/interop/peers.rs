//! Installing peers, in pinned versions.

use std::path::{Path, PathBuf};

use crate::{dissectors, process};

/// The peers as they are installed.
pub(super) struct Peers {
    pub(super) ndnd: PathBuf,
    pub(super) versity: PathBuf,
    pub(super) python: PathBuf,
    /// Where the scripts of NDNts are, beside the packages they use.
    pub(super) node: PathBuf,
    /// Names and versions, as the page shows them.
    pub(super) versions: Vec<(&'static str, String)>,
}

const NDND: GoProgram = GoProgram {
    name: "ndnd",
    version: "v1.5.3",
    module: "github.com/named-data/ndnd",
    package: "./cmd/ndnd",
};
const VERSITY: GoProgram = GoProgram {
    name: "Versity Gateway",
    version: "v1.0.14",
    module: "github.com/versity/versitygw",
    package: "./cmd/versitygw",
};

/// A program that is built from its module.
struct GoProgram {
    name: &'static str,
    version: &'static str,
    module: &'static str,
    /// Where in the module it is.
    package: &'static str,
}

pub(super) fn install(root: &Path, folder: &Path) -> Result<Peers, String> {
    std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut peers = Peers {
        ndnd: NDND.build(folder)?,
        versity: VERSITY.build(folder)?,
        python: python(root, folder)?,
        node: node(root, folder)?,
        versions: vec![(NDND.name, NDND.version.to_owned())],
    };
    let version_in = |file: &str, before: &str| {
        let text = std::fs::read_to_string(root.join("tests/interop").join(file)).unwrap_or_default();
        let rest = text.split_once(before).map(|(_, rest)| rest.trim_start_matches([' ', '"', ':', '=']));
        rest.and_then(|rest| rest.split(['"', '\n']).next()).unwrap_or("?").to_owned()
    };
    peers.versions.push(("python-ndn", version_in("python/requirements.txt", "python-ndn=")));
    peers.versions.push(("NDNts", version_in("node/package.json", "\"@ndn/packet\"")));
    dissectors::install(folder)?;
    peers.versions.push(("tshark", "of the system; 4.0 or newer".to_owned()));
    peers.versions.push((VERSITY.name, VERSITY.version.to_owned()));
    Ok(peers)
}

impl GoProgram {
    /// Builds it. `go install` would do, but it asks for the list of all versions, which not every mirror of
    /// modules gives.
    fn build(&self, folder: &Path) -> Result<PathBuf, String> {
        let last = self.module.rsplit('/').next().unwrap_or(self.name);
        let binary = folder.join(format!("{last}-{}", self.version));
        if binary.exists() {
            return Ok(binary);
        }
        let shown = binary.to_string_lossy().into_owned();
        let module = format!("{}@{}", self.module, self.version);
        let answer = process::output("go", &["mod", "download", "-json", &module], folder)
            .map_err(|error| format!("{error}; interop needs Go, for {}", self.name))?;
        let source = answer
            .lines()
            .find_map(|line| line.trim().strip_prefix("\"Dir\": \"")?.split('"').next())
            .ok_or_else(|| format!("go does not say where {module} is:\n{answer}"))?;
        println!("building {} {}", self.name, self.version);
        let build = ["build", "-buildvcs=false", "-o", &shown, self.package];
        process::run("go", &build, Path::new(source), &[])?;
        Ok(binary)
    }
}

fn python(root: &Path, folder: &Path) -> Result<PathBuf, String> {
    let environment = folder.join("python");
    let python = environment.join("bin/python");
    let requirements = root.join("tests/interop/python/requirements.txt");
    if is_newer(&environment.join("installed"), &requirements) {
        return Ok(python);
    }
    let shown = environment.to_string_lossy();
    process::run("python3", &["-m", "venv", &shown], folder, &[])?;
    let requirements = requirements.to_string_lossy();
    process::run(
        &python.to_string_lossy(),
        &["-m", "pip", "install", "--quiet", "-r", &requirements],
        folder,
        &[],
    )?;
    std::fs::write(environment.join("installed"), "").map_err(|error| error.to_string())?;
    Ok(python)
}

fn node(root: &Path, folder: &Path) -> Result<PathBuf, String> {
    let place = folder.join("node");
    std::fs::create_dir_all(&place).map_err(|error| error.to_string())?;
    let scripts = root.join("tests/interop/node");
    let is_installed = is_newer(&place.join("installed"), &scripts.join("package.json"));
    for script in std::fs::read_dir(&scripts).map_err(|error| format!("{}: {error}", scripts.display()))? {
        let script = script.map_err(|error| error.to_string())?;
        std::fs::copy(script.path(), place.join(script.file_name()))
            .map_err(|error| format!("{}: {error}", script.path().display()))?;
    }
    if !is_installed {
        process::run("npm", &["install", "--no-audit", "--no-fund", "--ignore-scripts"], &place, &[])?;
        std::fs::write(place.join("installed"), "").map_err(|error| error.to_string())?;
    }
    Ok(place)
}

/// Whether `made` is there and younger than what it was made from.
fn is_newer(made: &Path, source: &Path) -> bool {
    let time = |path: &Path| std::fs::metadata(path).and_then(|data| data.modified()).ok();
    matches!((time(made), time(source)), (Some(made), Some(source)) if made > source)
}
