//! A forwarding engine among neighbours that do whatever they like; see `cairn_fuzz::busy_node` for what must
//! hold.

#![no_main]

use cairn_fuzz::busy_node::{self, Plan};

libfuzzer_sys::fuzz_target!(|plan: Plan| busy_node::run(&plan));
