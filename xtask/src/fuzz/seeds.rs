//! Inputs to start from: the bytes of the golden vectors.

use std::path::Path;

use super::Target;
use crate::tree::Tree;

/// Writes a seed for every vector of the target's kinds into its corpus; gives their number.
pub(super) fn write(root: &Path, target: &Target) -> Result<usize, String> {
    let folder = root.join("fuzz/corpus").join(target.name);
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let tree = Tree::of_repository()?;
    let mut seeds = 0;
    for (path, text) in tree.iter().filter(|(path, _)| path.starts_with("vectors/") && path.ends_with(".txt"))
    {
        if !kind(text).is_some_and(|kind| target.seed_kinds.iter().any(|seed| kind.starts_with(seed))) {
            continue;
        }
        let bytes = bytes(text).ok_or_else(|| format!("{path}: the bytes are not hexadecimal"))?;
        let name = path.trim_start_matches("vectors/").trim_end_matches(".txt").replace('/', "-");
        let file = folder.join(format!("seed-{name}"));
        std::fs::write(&file, bytes).map_err(|error| format!("{}: {error}", file.display()))?;
        seeds += 1;
    }
    Ok(seeds)
}

fn kind(vector: &str) -> Option<&str> {
    vector.lines().find_map(|line| line.strip_prefix(";; kind:")).map(str::trim)
}

fn bytes(vector: &str) -> Option<Vec<u8>> {
    let digits: Vec<u8> = vector
        .lines()
        .flat_map(|line| line.split(';').next().unwrap_or_default().bytes())
        .filter(|byte| !byte.is_ascii_whitespace())
        .collect();
    let pair = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    digits.chunks(2).map(|digits| if digits.len() == 2 { pair(digits) } else { None }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vector_gives_its_kind_and_its_bytes() {
        let vector = ";; source: x\n;; kind: ndn-name\n\n0703 ; Name\n  0801 41 ; A\n";
        assert_eq!(kind(vector), Some("ndn-name"));
        assert_eq!(bytes(vector), Some(vec![7, 3, 8, 1, 0x41]));
        assert_eq!(bytes("070"), None);
        assert_eq!(bytes("0x"), None);
    }
}
