//! `cargo xtask swarm`: random networks that must heal, from `crates/sim/tests/swarm.rs`.

use crate::{process, tree};

/// As many as continuous integration tries.
const DEFAULT_SEEDS: u64 = 100;

/// Runs the swarm: `--seeds N` seeds, the first of which is `--seed S`.
pub(crate) fn run(words: &[&str]) -> Result<(), String> {
    let options = Options::parse(words)?;
    let (seeds, seed) = (options.seeds.to_string(), options.seed.to_string());
    let variables = [("CAIRN_SWARM_SEEDS", seeds.as_str()), ("CAIRN_SWARM_SEED", seed.as_str())];
    let arguments = ["test", "--locked", "--package", "cairn-sim", "--test", "swarm"];
    process::run("cargo", &arguments, &tree::root()?, &variables)
}

#[derive(Debug, PartialEq)]
struct Options {
    seeds: u64,
    seed: u64,
}

impl Options {
    fn parse(words: &[&str]) -> Result<Self, String> {
        let mut options = Options { seeds: DEFAULT_SEEDS, seed: 0 };
        let mut words = words.iter();
        while let Some(&word) = words.next() {
            let option = match word {
                "--seeds" => &mut options.seeds,
                "--seed" => &mut options.seed,
                _ => {
                    return Err(format!("swarm does not know `{word}`; it takes `--seeds N` and `--seed S`"));
                }
            };
            let value = words.next().ok_or_else(|| format!("{word} wants a number"))?;
            *option = value.parse().map_err(|_| format!("{word} wants a number, not `{value}`"))?;
        }
        if options.seeds == 0 {
            return Err("--seeds wants a number above zero".to_owned());
        }
        Ok(options)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_are_counted_from_the_one_given() {
        assert_eq!(Options::parse(&[]), Ok(Options { seeds: DEFAULT_SEEDS, seed: 0 }));
        assert_eq!(Options::parse(&["--seeds", "1", "--seed", "50"]), Ok(Options { seeds: 1, seed: 50 }));
    }

    #[test]
    fn a_run_without_seeds_is_refused() {
        for words in [&["--seeds", "0"][..], &["--seeds"], &["--seed", "x"], &["50"]] {
            assert!(Options::parse(words).is_err(), "{words:?}");
        }
    }
}
