//! The one command: `cairn …`.

use std::process::ExitCode;

/// Forwarding allocates a buffer for each packet; this allocator does that in a few nanoseconds. The index of
/// a forwarder's tables gets large pages, because lookups go anywhere in it.
#[global_allocator]
static ALLOCATOR: node::LargePages<mimalloc::MiMalloc> = node::LargePages(mimalloc::MiMalloc);

fn main() -> ExitCode {
    cairn::command().run()
}
