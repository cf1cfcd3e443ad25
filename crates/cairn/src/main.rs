//! The one command: `cairn …`.

use std::process::ExitCode;

/// Forwarding allocates a buffer for each packet; this allocator does that in a few nanoseconds.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    cairn::command().run()
}
