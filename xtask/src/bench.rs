//! `cargo xtask bench`: runs every benchmark binary, one after the other.

use crate::process;
use crate::tree::{self, Tree};

/// Runs the benchmarks of all crates; `filters` choose among their cases.
pub(crate) fn run(filters: &[&str]) -> Result<(), String> {
    let tree = Tree::of_repository()?;
    let benchmarks = benchmarks(&tree);
    if benchmarks.is_empty() {
        return Err("there is no benchmark yet: none of the crates has a file in `benches/`".to_owned());
    }
    let root = tree::root()?;
    for (name, bench) in benchmarks {
        println!("== {name}: {bench}");
        let package = format!("cairn-{name}");
        let mut arguments = vec!["bench", "--package", &package, "--bench", bench, "--"];
        arguments.extend(filters);
        process::run("cargo", &arguments, &root, &[])?;
    }
    Ok(())
}

/// Crate and benchmark for every file in a `benches` folder.
fn benchmarks(tree: &Tree) -> Vec<(&str, &str)> {
    tree.rust()
        .filter_map(|(path, _)| {
            let (name, file) = path.strip_prefix("crates/")?.split_once("/benches/")?;
            Some((name, file.strip_suffix(".rs")?))
        })
        .filter(|(_, bench)| !bench.contains('/'))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_in_a_benches_folder_is_a_benchmark() {
        let tree = Tree::of(&[
            ("crates/engine/benches/forwarding.rs", ""),
            ("crates/engine/benches/common/mod.rs", ""),
            ("crates/engine/src/lib.rs", ""),
        ]);
        assert_eq!(benchmarks(&tree), [("engine", "forwarding")]);
    }
}
