//! `cargo xtask repository`: a process that is killed while it stores and deletes, from
//! `crates/repo/tests/kills.rs`.

use crate::{process, tree};

/// As often as continuous integration kills it.
const DEFAULT_ROUNDS: u64 = 50;

/// Kills it `--rounds N` times.
pub(crate) fn run(words: &[&str]) -> Result<(), String> {
    let rounds = rounds(words)?.to_string();
    let variables = [("CAIRN_KILL_ROUNDS", rounds.as_str())];
    let arguments = ["test", "--locked", "--package", "cairn-repo", "--test", "kills", "--", "--show-output"];
    process::run("cargo", &arguments, &tree::root()?, &variables)
}

fn rounds(words: &[&str]) -> Result<u64, String> {
    match words {
        [] => Ok(DEFAULT_ROUNDS),
        ["--rounds", number] => match number.parse() {
            Ok(rounds) if rounds > 0 => Ok(rounds),
            _ => Err(format!("--rounds wants a number above zero, not `{number}`")),
        },
        _ => Err(format!("repository takes `--rounds N`, not `{}`", words.join(" "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_of_rounds_above_zero_is_taken_and_nothing_else() {
        assert_eq!((rounds(&[]), rounds(&["--rounds", "7"])), (Ok(DEFAULT_ROUNDS), Ok(7)));
        for words in [&["--rounds"][..], &["--rounds", "0"], &["--rounds", "x"], &["7"]] {
            assert!(rounds(words).is_err(), "{words:?}");
        }
    }
}
