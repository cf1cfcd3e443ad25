//! `cargo xtask enemies`: attacks on a running node, and what honest traffic loses by them. The suite is
//! `tests/enemies`.

use std::path::{Path, PathBuf};

use crate::test_suite::FEATURES;
use crate::{process, tree};

/// A profile of Cargo, and the folder of its programs.
type Profile = (&'static str, &'static str);

/// Built in a fraction of the time of a release; see `Cargo.toml`.
const LONG: Profile = ("enemies", "enemies");

/// The programs of the tests: they are there in continuous integration, check arithmetic, and stand the rate
/// of the short form.
const SHORT: Profile = ("dev", "debug");

/// Builds the node and the suite, and runs it with the words given.
pub(crate) fn run(words: &[&str]) -> Result<(), String> {
    check(words)?;
    let only_list = words.contains(&"--list");
    if let Some(missing) = missing().filter(|_| !only_list) {
        return Err(format!("the attacks need {missing}"));
    }
    let root = tree::root()?;
    let profile = if words.contains(&"--short") { SHORT } else { LONG };
    let mut build = vec!["build", "--locked", "--profile", profile.0];
    match (only_list, profile) {
        (true, _) => build.extend(["--package", "cairn-enemies"]),
        // Just as tests are built, so that nothing is built again.
        (false, SHORT) => build.extend(["--workspace", "--features", FEATURES, "--bins"]),
        (false, _) => build.extend(["--package", "cairn-enemies", "--package", "cairn"]),
    }
    process::run("cargo", &build, &root, &[])?;
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let folder = built(&own, profile)?;
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

/// Where programs of a profile lie, seen from this one: `<target>/<profile>/xtask`.
fn built(own: &Path, (_, folder): Profile) -> Result<PathBuf, String> {
    let target = own.parent().and_then(Path::parent);
    target.map(|target| target.join(folder)).ok_or_else(|| format!("{} is in no folder", own.display()))
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
        let own = Path::new("/x/target/debug/xtask");
        assert_eq!(built(own, LONG), Ok(PathBuf::from("/x/target/enemies")));
        assert_eq!(built(own, SHORT), Ok(PathBuf::from("/x/target/debug")));
    }
}
