//! `cargo xtask enemies`: attacks on a running node, and what honest traffic loses by them. The suite is
//! `tests/enemies`.

use std::path::{Path, PathBuf};

use crate::{process, tree};

/// Built in a fraction of the time of a release; see `Cargo.toml`.
const PROFILE: &str = "enemies";

/// Builds the node and the suite, and runs it with the words given.
pub(crate) fn run(words: &[&str]) -> Result<(), String> {
    check(words)?;
    let only_list = words.contains(&"--list");
    if let Some(missing) = missing().filter(|_| !only_list) {
        return Err(format!("the attacks need {missing}"));
    }
    let root = tree::root()?;
    let mut build = vec!["build", "--locked", "--profile", PROFILE, "--package", "cairn-enemies"];
    if !only_list {
        build.extend(["--package", "cairn"]);
    }
    process::run("cargo", &build, &root, &[])?;
    let folder = built(&std::env::current_exe().map_err(|error| error.to_string())?)?;
    let text = |path: PathBuf| path.to_string_lossy().into_owned();
    let (suite, cairn) = (text(folder.join("cairn-enemies")), text(folder.join("cairn")));
    process::run(&suite, &[&["--cairn", &cairn], words].concat(), &root, &[])
}

/// What the attacks need of the system and is not here.
pub(crate) fn missing() -> Option<String> {
    if !process::succeeds("unshare", &["--net", "true"]) {
        return Some("network namespaces (run as root)".to_owned());
    }
    let ip = process::succeeds("ip", &["-V"]);
    (!ip).then(|| "the program `ip` (package iproute2)".to_owned())
}

/// Refuses what the suite would refuse after minutes of building. Names of attacks it knows better.
fn check(words: &[&str]) -> Result<(), String> {
    let mut words = words.iter();
    while let Some(&word) = words.next() {
        match word {
            "--short" | "--list" => {}
            "--attack" | "--json" | "--seed" => {
                words.next().ok_or_else(|| format!("{word} wants a value"))?;
            }
            _ => {
                return Err(format!(
                    "enemies does not know `{word}`; it takes `--short`, `--list`, `--attack NAME`, \
                     `--json FILE` and `--seed N`"
                ));
            }
        }
    }
    Ok(())
}

/// Where programs of the profile lie, seen from this one: `<target>/<profile>/xtask`.
fn built(own: &Path) -> Result<PathBuf, String> {
    let target = own.parent().and_then(Path::parent);
    target.map(|target| target.join(PROFILE)).ok_or_else(|| format!("{} is in no folder", own.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_checked_before_anything_is_built() {
        assert_eq!(check(&["--short", "--attack", "variants", "--json", "a.json", "--seed", "3"]), Ok(()));
        assert!(check(&["--shrt"]).unwrap_err().contains("`--shrt`"));
        assert!(check(&["--attack"]).unwrap_err().contains("wants a value"));
    }

    #[test]
    fn programs_of_the_profile_lie_beside_this_ones() {
        assert_eq!(built(Path::new("/x/target/debug/xtask")), Ok(PathBuf::from("/x/target/enemies")));
    }
}
