//! The command `cairn` with five things of its own in it, each a file that knows nothing of the others: what
//! somebody outside of the repository writes. The files are examples, whose own `main` tries each alone.

#[path = "../../../examples/controller.rs"]
#[allow(dead_code, reason = "the example has a main of its own")]
mod controller;
#[path = "../../../examples/eviction.rs"]
#[allow(dead_code, reason = "the example has a main of its own")]
mod eviction;
#[path = "../../../examples/object_eviction.rs"]
#[allow(dead_code, reason = "the example has a main of its own")]
mod object_eviction;
#[path = "../../../examples/strategy.rs"]
#[allow(dead_code, reason = "the example has a main of its own")]
mod strategy;
#[path = "../../../examples/workload.rs"]
#[allow(dead_code, reason = "the example has a main of its own")]
mod workload;

use std::process::ExitCode;

fn main() -> ExitCode {
    cairn::command()
        .with_strategy(strategy::TURNS)
        .with_controller(controller::GENTLE)
        .with_eviction(eviction::OLDEST)
        .with_object_eviction(object_eviction::LARGEST)
        .with_workload(workload::PAGES)
        .run()
}
