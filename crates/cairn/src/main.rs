//! The one command: `cairn …`.

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: allocator::Mimalloc = allocator::Mimalloc;

fn main() -> ExitCode {
    cairn::command().run()
}
