//! Inputs to start from: the bytes of the golden vectors, and the files in `fuzz/seeds/TARGET/` for what is
//! text.

use std::path::Path;

use testkit::vectors::Vector;

use super::Target;
use crate::tree::Tree;

/// Writes a seed for every vector of the target's kinds, and for each of its files, into its corpus; gives
/// their number.
pub(super) fn write(root: &Path, target: &Target) -> Result<usize, String> {
    let folder = root.join("fuzz/corpus").join(target.name);
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let seeds = choose(&Tree::of_repository()?, target)?;
    for (name, bytes) in &seeds {
        let file = folder.join(format!("seed-{name}"));
        std::fs::write(&file, bytes).map_err(|error| format!("{}: {error}", file.display()))?;
    }
    Ok(seeds.len())
}

/// Names and bytes of the vectors of the target's kinds, and of its files.
fn choose(tree: &Tree, target: &Target) -> Result<Vec<(String, Vec<u8>)>, String> {
    let mut seeds = Vec::new();
    let files = format!("fuzz/seeds/{}/", target.name);
    for (path, text) in tree.iter() {
        if let Some(name) = path.strip_prefix(&files) {
            seeds.push((name.replace('/', "-"), text.as_bytes().to_vec()));
        }
        let Some(name) = path.strip_prefix("vectors/").and_then(|path| path.strip_suffix(".txt")) else {
            continue;
        };
        let vector = Vector::parse(name, text)?;
        if target.seed_kinds.iter().any(|kind| vector.kind().starts_with(kind)) {
            seeds.push((name.replace('/', "-"), vector.bytes));
        }
    }
    Ok(seeds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_are_chosen_by_the_beginning_of_their_kind() {
        let vector = |kind: &str| format!(";; source: x\n;; kind: {kind}\n0703 ; Name\n  0801 41 ; A\n");
        let tree = Tree::of(&[
            ("vectors/ndn/a.txt", &vector("ndn-name")),
            ("vectors/ndn/b.txt", &vector("ndn-lp")),
            ("vectors/ccnx/c.txt", &vector("ccnx-pdu")),
            ("vectors/README.md", "no vector"),
        ]);
        let names = |seed_kinds| {
            let target = Target { name: "x", about: "", seed_kinds };
            choose(&tree, &target).unwrap().into_iter().map(|(name, _)| name).collect::<Vec<_>>()
        };
        assert_eq!(names(&["ndn-"]), ["ndn-a", "ndn-b"]);
        assert_eq!(names(&["ndn-lp", "ccnx-"]), ["ccnx-c", "ndn-b"]);
        assert_eq!(names(&[]), [""; 0]);
        let target = Target { name: "x", about: "", seed_kinds: &["ccnx-"] };
        assert_eq!(choose(&tree, &target).unwrap()[0].1, [7, 3, 8, 1, 0x41]);
    }

    #[test]
    fn files_are_seeds_of_the_target_whose_folder_they_are_in() {
        let tree = Tree::of(&[("fuzz/seeds/x/a.txt", "text"), ("fuzz/seeds/xy/b.txt", "other")]);
        let target = Target { name: "x", about: "", seed_kinds: &[] };
        assert_eq!(choose(&tree, &target).unwrap(), [("a.txt".to_owned(), b"text".to_vec())]);
    }

    #[test]
    fn a_vector_that_cannot_be_read_is_named() {
        let tree = Tree::of(&[("vectors/ndn/a.txt", "0x")]);
        let target = Target { name: "x", about: "", seed_kinds: &[] };
        assert!(choose(&tree, &target).unwrap_err().starts_with("ndn/a, line 1:"));
    }
}
