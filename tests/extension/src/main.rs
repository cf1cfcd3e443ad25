//! The command `cairn` with three things of its own in it, each a file that knows nothing of the others: what
//! somebody outside of the repository writes.

mod gentle;
mod oldest;
mod turns;

use std::process::ExitCode;

fn main() -> ExitCode {
    cairn::command()
        .with_strategy(turns::TURNS)
        .with_controller(gentle::GENTLE)
        .with_eviction(oldest::OLDEST)
        .run()
}
