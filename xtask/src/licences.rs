//! `cargo xtask licences`: may we ship what we build with?
//!
//! Checks every third-party crate that is built, for every platform: its licence, that it comes from
//! crates.io, and that there is only one version of it. Needs no network; `cargo tree --locked` knows all of
//! it.

use std::collections::{BTreeMap, BTreeSet};

use crate::process;
use crate::tree;

/// Licences that code under Apache-2.0 may be combined with and that ask for nothing but their notice.
///
/// Left out on purpose: MPL-2.0 and the LGPL (a user who changes such a file owes its source, and a static
/// Rust binary makes that a promise about our build), the GPL family, and anything without an SPDX name.
const ALLOWED: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// Licences that single crates may have beside, and why.
const EXCEPTIONS: &[(&str, &str, &str)] =
    &[("libfuzzer-sys", "NCSA", "LLVM's older licence, like MIT; only fuzz targets use it, none is shipped")];

/// Crates that may be there in several versions, and why.
const DUPLICATES: &[(&str, &str)] =
    &[("syn", "thiserror's macros use version 3, divan's version 2; none of it is shipped")];

/// The workspaces that are checked, each with its own lock file.
const WORKSPACES: &[&str] = &["Cargo.toml", "fuzz/Cargo.toml", "python/Cargo.toml"];

/// One crate as `cargo tree` prints it.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Package {
    name: String,
    version: String,
    /// What stands in brackets behind the version: a path or an address. Empty for crates.io.
    source: String,
    licence: String,
}

/// Checks the repository.
pub(crate) fn run() -> Result<(), String> {
    let root = tree::root()?;
    let (mut complaints, mut checked, mut twice) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
    for manifest in WORKSPACES.iter().filter(|manifest| root.join(manifest).exists()) {
        let arguments = ["tree", "--manifest-path", manifest, "--workspace", "--locked", "--target", "all"];
        let form = ["--edges", "all", "--prefix", "none", "--format", "{p}|{l}"];
        let listing = process::output("cargo", &[&arguments[..], &form[..]].concat(), &root)?;
        let packages: BTreeSet<Package> = listing.lines().filter_map(parse).collect();
        for (name, versions) in duplicates(&packages) {
            if !DUPLICATES.iter().any(|(listed, _)| *listed == name) {
                complaints.push(format!("{manifest}: {name} is built in versions {versions}: make them one"));
            }
            twice.insert(name);
        }
        for complaint in check(&packages, &root.to_string_lossy()) {
            complaints.push(format!("{manifest}: {complaint}"));
        }
        checked.extend(packages.into_iter().filter(|package| package.source.is_empty()));
    }
    for (name, _) in DUPLICATES.iter().filter(|(name, _)| !twice.contains(*name)) {
        complaints.push(format!("{name} has one version now: remove it from DUPLICATES in {}", file!()));
    }
    if complaints.is_empty() {
        println!("licences: {} third-party crates, all fine", checked.len());
        return Ok(());
    }
    for complaint in &complaints {
        println!("{complaint}");
    }
    Err(format!("{} complaints about third-party crates", complaints.len()))
}

/// Reads a line such as `sha2 v0.11.0 (proc-macro)|MIT OR Apache-2.0`.
fn parse(line: &str) -> Option<Package> {
    let (package, licence) = line.split_once('|')?;
    let package = package.replace(" (*)", "").replace(" (proc-macro)", "");
    let licence = licence.trim_end_matches(" (*)");
    let mut words = package.splitn(3, ' ');
    let (name, version) = (words.next()?, words.next()?.strip_prefix('v')?);
    let source = words.next().unwrap_or_default().trim_matches(['(', ')']);
    Some(Package {
        name: name.into(),
        version: version.into(),
        source: source.into(),
        licence: licence.into(),
    })
}

/// Complaints about single crates.
fn check(packages: &BTreeSet<Package>, root: &str) -> Vec<String> {
    let mut complaints = Vec::new();
    for Package { name, version, source, licence } in packages {
        if !source.is_empty() && !source.starts_with(root) {
            complaints.push(format!("{name} {version} comes from {source}: use crates.io"));
        }
        if source.is_empty() && !is_allowed(licence, |licence| is_licence_allowed(name, licence)) {
            let licence = if licence.is_empty() { "none" } else { licence };
            complaints.push(format!(
                "{name} {version} has licence {licence}: find another crate, or argue in {}",
                file!()
            ));
        }
    }
    complaints
}

/// Crates that are there in more than one version, and which versions.
fn duplicates(packages: &BTreeSet<Package>) -> BTreeMap<String, String> {
    let mut versions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for package in packages {
        versions.entry(&package.name).or_default().push(&package.version);
    }
    versions.retain(|_, versions| versions.len() > 1);
    versions.into_iter().map(|(name, versions)| (name.to_owned(), versions.join(" and "))).collect()
}

fn is_licence_allowed(package: &str, licence: &str) -> bool {
    ALLOWED.contains(&licence)
        || EXCEPTIONS.iter().any(|&(name, beside, _)| name == package && beside == licence)
}

/// Is an SPDX expression satisfied by the licences that `allowed` accepts? `AND` binds stronger than `OR`;
/// the slash of old manifests means `OR`.
fn is_allowed(expression: &str, allowed: impl Fn(&str) -> bool + Copy) -> bool {
    let expression = expression.replace('/', " OR ");
    let tokens: Vec<&str> = tokens(&expression);
    let mut rest = tokens.as_slice();
    let verdict = any_of(&mut rest, allowed);
    rest.is_empty() && verdict == Some(true)
}

fn tokens(expression: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    for word in expression.split_whitespace() {
        let inner = word.trim_matches(['(', ')']);
        let opening = word.len() - word.trim_start_matches('(').len();
        let closing = word.len() - word.trim_end_matches(')').len();
        tokens.extend(std::iter::repeat_n("(", opening));
        tokens.extend((!inner.is_empty()).then_some(inner));
        tokens.extend(std::iter::repeat_n(")", closing));
    }
    tokens
}

/// The verdict on alternatives; `None` if they are not written as SPDX asks.
fn any_of(rest: &mut &[&str], allowed: impl Fn(&str) -> bool + Copy) -> Option<bool> {
    let mut verdict = all_of(rest, allowed)?;
    while let ["OR", tail @ ..] = *rest {
        *rest = tail;
        verdict |= all_of(rest, allowed)?;
    }
    Some(verdict)
}

fn all_of(rest: &mut &[&str], allowed: impl Fn(&str) -> bool + Copy) -> Option<bool> {
    let mut verdict = one(rest, allowed)?;
    while let ["AND", tail @ ..] = *rest {
        *rest = tail;
        verdict &= one(rest, allowed)?;
    }
    Some(verdict)
}

fn one(rest: &mut &[&str], allowed: impl Fn(&str) -> bool + Copy) -> Option<bool> {
    match *rest {
        ["(", tail @ ..] => {
            *rest = tail;
            let verdict = any_of(rest, allowed)?;
            *rest = rest.strip_prefix(&[")"])?;
            Some(verdict)
        }
        [licence, "WITH", exception, tail @ ..] => {
            *rest = tail;
            Some(allowed(&format!("{licence} WITH {exception}")))
        }
        [licence, tail @ ..] => {
            *rest = tail;
            Some(allowed(licence))
        }
        [] => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packages(lines: &[&str]) -> BTreeSet<Package> {
        lines.iter().filter_map(|line| parse(line)).collect()
    }

    fn complaints(lines: &[&str]) -> Vec<String> {
        check(&packages(lines), "/root")
    }

    #[test]
    fn canary_a_licence_that_is_not_listed_is_refused() {
        for licence in
            ["GPL-3.0-only", "MPL-2.0", "MIT AND GPL-3.0-only", "", "MIT OR", "(MIT", "Apache-2.0 WITH X"]
        {
            assert_eq!(complaints(&[&format!("a v1.0.0|{licence}")]).len(), 1, "{licence}");
        }
    }

    #[test]
    fn one_acceptable_alternative_is_enough() {
        for licence in [
            "MIT",
            "MIT/GPL-3.0",
            "GPL-3.0 OR MIT",
            "(MIT OR GPL-3.0) AND Unicode-3.0",
            "Apache-2.0 WITH LLVM-exception OR GPL-3.0",
        ] {
            assert!(complaints(&[&format!("a v1.0.0|{licence}")]).is_empty(), "{licence}");
        }
    }

    #[test]
    fn an_exception_is_for_one_crate() {
        assert!(complaints(&["libfuzzer-sys v0.4.13|(MIT OR Apache-2.0) AND NCSA"]).is_empty());
        assert_eq!(complaints(&["other v0.4.13|(MIT OR Apache-2.0) AND NCSA"]).len(), 1);
    }

    #[test]
    fn canary_a_crate_from_elsewhere_is_refused() {
        assert_eq!(complaints(&["a v1.0.0 (https://example.org/a?rev=1#2)|MIT"]).len(), 1);
        assert_eq!(complaints(&["a v1.0.0 (/elsewhere/a)|MIT"]).len(), 1);
        assert!(complaints(&["a v1.0.0 (/root/crates/a)|", "b v1.0.0 (proc-macro) (*)|MIT"]).is_empty());
    }

    #[test]
    fn canary_a_second_version_is_noticed() {
        let twice =
            duplicates(&packages(&["a v1.0.0|MIT", "a v2.0.0|MIT", "a v2.0.0 (*)|MIT", "b v1.0.0|MIT"]));
        assert_eq!(twice.into_iter().collect::<Vec<_>>(), [("a".to_owned(), "1.0.0 and 2.0.0".to_owned())]);
    }
}
