//! Processors that are kept awake while a run is measured.
//!
//! A processor of a virtual machine that has nothing to do is given back to the machine below, which takes
//! some tenths of a millisecond to let it go on. A packet that wakes a forwarder up waits for that at each
//! hop, the longer and the less evenly the more others use the machine below. So a process that never ends
//! runs on each processor where nothing else would: in a control group that is *idle* (`cpu.idle`, Linux
//! 5.15 and later), which everybody else goes before at once.

use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use system::processors;

use super::cgroup::Controllers;
use crate::order::Owner;

/// The process's own work: a thread on each processor that it may use, from the first line of its input,
/// when it is in its group, until the input ends.
///
/// # Errors
///
/// When the system does not say which processors those are.
pub fn keep_awake() -> io::Result<()> {
    if io::stdin().read_line(&mut String::new())? == 0 {
        return Ok(());
    }
    for processor in processors::allowed()? {
        std::thread::spawn(move || {
            let pinned = processors::stay_on(&[processor]);
            // Two threads on one processor would leave another asleep.
            while pinned.is_ok() {
                std::hint::spin_loop();
            }
        });
    }
    io::stdin().lock().read_to_end(&mut Vec::new()).map(drop)
}

/// The process that keeps processors awake.
#[derive(Debug)]
pub(crate) struct IdleInhibitor(Child);

impl IdleInhibitor {
    /// Starts it; nothing where the system has no group for it.
    pub(crate) fn start(controllers: &Controllers, owner: Owner, program: &Path) -> io::Result<Option<Self>> {
        let Some(group) = controllers.idle_group(owner)? else { return Ok(None) };
        let mut command = Command::new(program);
        command.args(["lab", "internal", "keep-awake"]).stdin(Stdio::piped()).stdout(Stdio::null());
        let mut awake = IdleInhibitor(command.spawn()?);
        group.add(awake.0.id())?;
        if let Some(input) = &mut awake.0.stdin {
            writeln!(input)?;
        }
        Ok(Some(awake))
    }
}

impl Drop for IdleInhibitor {
    fn drop(&mut self) {
        // It may have ended, and then there is nothing to end.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
