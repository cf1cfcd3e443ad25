//! The suite as a program; `cargo xtask enemies` starts it.
#![expect(clippy::print_stdout, reason = "a program talks to its user on standard output")]

use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match cairn_enemies::run(&words, &mut |line| println!("{line}")) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("enemies: {message}");
            ExitCode::from(2)
        }
    }
}
