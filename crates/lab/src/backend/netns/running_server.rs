//! The server of a node as it runs: its processes, from their start to their end.

use std::process::Child;

use crate::backend::machine::processes::with_children;
use crate::driver::server::Server;
use crate::experiment::plan::NodeIndex;

/// The server of a node.
pub(super) struct RunningServer {
    pub(super) node: NodeIndex,
    pub(super) driver: Box<dyn Server>,
    pub(super) children: Vec<Child>,
}

impl RunningServer {
    pub(super) fn node(&self) -> NodeIndex {
        self.node
    }

    /// Its processes, without those that they have started.
    pub(super) fn pids(&self) -> impl Iterator<Item = u32> {
        self.children.iter().map(Child::id)
    }

    /// Ends its processes; what they have started ends with them, or with the world.
    pub(super) fn stop(&mut self) {
        use nix::sys::signal::{Signal, kill};
        for pid in with_children(self.pids().collect::<Vec<_>>()) {
            // One that is gone needs no signal.
            let _ = kill(nix::unistd::Pid::from_raw(i32::try_from(pid).unwrap_or(0)), Signal::SIGKILL);
        }
        for child in &mut self.children {
            let _ = child.wait();
        }
    }

    /// How the first of its processes ended, if one has.
    pub(super) fn ended(&mut self) -> Option<String> {
        let status = self.children.iter_mut().find_map(|child| child.try_wait().ok().flatten())?;
        Some(format!("ended with {status}"))
    }
}
