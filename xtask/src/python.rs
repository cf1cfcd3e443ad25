//! `cargo xtask python`: the lab as a Python package, built as a wheel, installed where nothing else is, and
//! tested there; its notebooks are run from top to bottom.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::{process, tree};

/// Below the workspace: the environment, and the wheel that is tested.
const FOLDER: &str = "target/python";
/// The oldest Python that the package is for.
const OLDEST: (u32, u32) = (3, 10);

/// Builds, installs and tests. `tests` goes on to pytest; with it notebooks are left out. Gives what is
/// missing for that.
pub(crate) fn run(tests: &[&str]) -> Result<Vec<String>, String> {
    let root = tree::root()?;
    if let Some(missing) = missing(&root) {
        return Ok(vec![missing]);
    }
    let manifest = "python/Cargo.toml";
    let environment = match environment(&root) {
        Ok(environment) => environment,
        Err(why) => return Ok(vec![format!("the packages of python/requirements.txt cannot be had: {why}")]),
    };
    let python = environment.join("bin/python");
    let target = root.join("target");
    let variables = [
        ("CARGO_TARGET_DIR", &*target.to_string_lossy()),
        // So that cargo asks the environment's Python, and no other, about itself.
        ("PYO3_PYTHON", &*python.to_string_lossy()),
        ("PYO3_BUILD_EXTENSION_MODULE", "1"),
    ];
    let clippy = ["clippy", "--manifest-path", manifest, "--locked", "--", "-D", "warnings"];
    process::run("cargo", &clippy, &root, &variables)?;
    let wheel = wheel(&root, &environment, &variables)?;
    let python = python.to_string_lossy();
    let install = ["-m", "pip", "install", "--quiet", "--no-deps", "--force-reinstall"];
    process::run(&python, &[&install[..], &[&*wheel.to_string_lossy()]].concat(), &root, &[])?;
    tested(&root, &environment, &python, tests)?;
    Ok(Vec::new())
}

/// The tests, and unless some were named, the notebooks.
fn tested(root: &Path, environment: &Path, python: &str, tests: &[&str]) -> Result<(), String> {
    process::run("cargo", &["build", "--locked", "--package", "cairn"], root, &[])?;
    let scratch = environment.with_file_name("scratch");
    let _ = std::fs::remove_dir_all(&scratch);
    std::fs::create_dir_all(&scratch).map_err(|error| format!("{}: {error}", scratch.display()))?;
    let cairn = root.join("target/debug/cairn");
    let variables = [
        ("CAIRN", &*cairn.to_string_lossy()),
        ("CAIRN_REPOSITORY", &*root.to_string_lossy()),
        // No window is there to draw in, and nothing is left in the home folder.
        ("MPLBACKEND", "agg"),
        ("MPLCONFIGDIR", &*scratch.to_string_lossy()),
        ("IPYTHONDIR", &*scratch.to_string_lossy()),
        ("PYTHONDONTWRITEBYTECODE", "1"),
    ];
    let folder = root.join("python");
    let arguments = ["-m", "pytest", "--quiet", "--rootdir", &*folder.to_string_lossy()];
    let settings = folder.join("pyproject.toml");
    let settings = ["-c", &*settings.to_string_lossy()];
    let all = folder.join("tests");
    let all = [&*all.to_string_lossy()];
    let arguments = [&arguments[..], &settings, &all, tests].concat();
    process::run(python, &arguments, &scratch, &variables)?;
    if tests.is_empty() {
        let runner = folder.join("run_notebooks.py");
        let notebooks = folder.join("notebooks");
        let words = [&*runner.to_string_lossy(), &*notebooks.to_string_lossy()];
        process::run(python, &words, &scratch, &variables)?;
    }
    Ok(())
}

/// Why the package cannot be tested here.
fn missing(root: &Path) -> Option<String> {
    let Ok(said) = process::output("python3", &["-c", "import sys; print(*sys.version_info[:2])"], root)
    else {
        return Some("the Python package needs python3".to_owned());
    };
    if version(&said).is_none_or(|version| version < OLDEST) {
        let (major, minor) = OLDEST;
        return Some(format!("the Python package needs Python {major}.{minor} or newer"));
    }
    if !process::succeeds("python3", &["-c", "import venv, ensurepip"]) {
        return Some(
            "the Python package is tested in an environment of its own, which needs python3-venv".into(),
        );
    }
    None
}

/// Two numbers, as Python prints them.
fn version(said: &str) -> Option<(u32, u32)> {
    let mut numbers = said.split_whitespace().map(|number| number.parse().ok());
    Some((numbers.next()??, numbers.next()??))
}

/// An environment of its own with the packages of `python/requirements.txt`.
fn environment(root: &Path) -> Result<PathBuf, String> {
    let environment = root.join(FOLDER).join("environment");
    let requirements = root.join("python/requirements.txt");
    let wanted = std::fs::read_to_string(&requirements).map_err(|error| error.to_string())?;
    let noted = environment.join("installed.txt");
    if std::fs::read_to_string(&noted).is_ok_and(|installed| installed == wanted) {
        return Ok(environment);
    }
    let _ = std::fs::remove_dir_all(&environment);
    std::fs::create_dir_all(root.join(FOLDER)).map_err(|error| error.to_string())?;
    let shown = environment.to_string_lossy();
    process::run("python3", &["-m", "venv", &shown], root, &[])?;
    let python = environment.join("bin/python");
    let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r"];
    let listed = requirements.to_string_lossy();
    let install = [&install[..], &[&*listed]].concat();
    process::run(&python.to_string_lossy(), &install, root, &[])?;
    std::fs::write(noted, wanted).map_err(|error| error.to_string())?;
    Ok(environment)
}

/// A wheel as it is built in seconds. Users get the one of `make wheel`.
fn wheel(root: &Path, environment: &Path, variables: &[(&str, &str)]) -> Result<PathBuf, String> {
    let out = root.join(FOLDER).join("wheels");
    let _ = std::fs::remove_dir_all(&out);
    let maturin = environment.join("bin/maturin");
    let words = ["build", "--quiet", "--locked", "--profile", "dev", "--out"];
    let out_shown = out.to_string_lossy();
    let words = [&words[..], &[&*out_shown]].concat();
    process::run(&maturin.to_string_lossy(), &words, &root.join("python"), variables)?;
    let entries = std::fs::read_dir(&out).map_err(|error| format!("{out_shown}: {error}"))?;
    let mut files = entries.flatten().map(|entry| entry.path());
    let wheel = files.find(|file| file.extension() == Some(OsStr::new("whl")));
    wheel.ok_or_else(|| format!("maturin left no wheel in {out_shown}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_python_that_is_too_old_is_known_by_its_numbers_and_not_by_its_letters() {
        assert_eq!(version("3 9\n"), Some((3, 9)));
        assert!(version("3 9").unwrap() < OLDEST && version("3 10").unwrap() >= OLDEST);
        assert_eq!(version(""), None);
    }
}
