//! The machine a run took place on, for the report and for whoever repeats it.

use std::fs;

use serde::{Deserialize, Serialize};

/// What can be said of a machine without asking anyone.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// Operating system and version of its kernel.
    pub kernel: String,
    /// The processor's name.
    pub processor: String,
    /// How many of them.
    pub processors: usize,
    /// Memory in bytes.
    pub memory_bytes: u64,
}

/// Bytes of this machine's memory, if the system says so.
pub(crate) fn memory_bytes() -> Option<u64> {
    system::meminfo::total_bytes(&fs::read_to_string("/proc/meminfo").ok()?)
}

impl Machine {
    /// This one.
    #[must_use]
    pub fn here() -> Self {
        let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
        let field = |text: &str, key: &str| {
            let line = text.lines().find(|line| line.starts_with(key)).unwrap_or_default();
            line.split_once(':').map(|(_, value)| value.trim().to_owned()).unwrap_or_default()
        };
        Machine {
            kernel: format!("Linux {}", read("/proc/sys/kernel/osrelease").trim()),
            processor: field(&read("/proc/cpuinfo"), "model name"),
            processors: std::thread::available_parallelism().map_or(1, usize::from),
            memory_bytes: memory_bytes().unwrap_or(0),
        }
    }
}
