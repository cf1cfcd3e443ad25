//! `cargo xtask bench`: runs every benchmark binary, one after the other.

use crate::process;
use crate::tree::{self, Tree};

/// Runs the benchmarks of all crates, or of the one that is named first; what else there is goes to the
/// benchmarks.
pub(crate) fn run(words: &[&str]) -> Result<(), String> {
    let tree = Tree::of_repository()?;
    let all = benchmarks(&tree);
    let (chosen, arguments) = choose(&all, words);
    if chosen.is_empty() {
        return Err("there is no benchmark: none of the crates has a file in `benches/`".to_owned());
    }
    let root = tree::root()?;
    for (name, bench) in chosen {
        println!("== {name}: {bench}");
        let package = format!("cairn-{name}");
        let command = ["bench", "--locked", "--package", &package, "--bench", bench, "--"];
        process::run("cargo", &[&command[..], arguments].concat(), &root, &[])?;
    }
    Ok(())
}

/// The benchmarks to run, and the arguments they get.
fn choose<'t, 'w>(
    all: &[(&'t str, &'t str)],
    words: &'w [&'w str],
) -> (Vec<(&'t str, &'t str)>, &'w [&'w str]) {
    match words {
        [first, rest @ ..] if all.iter().any(|(name, _)| name == first) => {
            (all.iter().copied().filter(|(name, _)| name == first).collect(), rest)
        }
        _ => (all.to_vec(), words),
    }
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

    #[test]
    fn the_first_word_may_name_a_crate_and_the_others_go_to_the_benchmark() {
        let all = [("engine", "forwarding"), ("packet", "decode")];
        assert_eq!(choose(&all, &[]), (all.to_vec(), &[][..]));
        assert_eq!(choose(&all, &["engine", "hit"]), (vec![("engine", "forwarding")], &["hit"][..]));
        assert_eq!(choose(&all, &["hit"]), (all.to_vec(), &["hit"][..]));
    }
}
