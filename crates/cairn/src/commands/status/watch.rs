//! Showing it again and again, whatever becomes of the forwarder meanwhile.

use std::io::IsTerminal as _;

use management::GeneralStatus;
use packet::time::Duration;

use super::Report;
use crate::tool::forwarder::Forwarder;
use crate::tool::interrupt::Interrupt;
use crate::tool::{ToolError, output};

/// What is shown, and how often.
pub(super) struct Watch {
    /// Also what is not shown of the forwarder as a whole.
    pub(super) all: bool,
    pub(super) every: Duration,
    /// How many times at most.
    pub(super) count: Option<u64>,
}

impl Watch {
    /// Shows it until Ctrl-C, or often enough. A forwarder that cannot be asked the first time is a failure;
    /// one that goes away later is waited for, as it may be starting again.
    pub(super) fn run(&self, forwarder: &mut Forwarder) -> Result<(), ToolError> {
        let interrupt = Interrupt::catch()?;
        let mut before = None;
        let mut shown = 0;
        while !interrupt.came() {
            match self.show_and_wait(forwarder, &mut before, &mut shown) {
                Ok(()) if self.count.is_some_and(|count| shown >= count) => break,
                Ok(()) => {}
                Err(_) if interrupt.came() => break,
                Err(error) if shown > 0 => {
                    forwarder.await_return(error, &interrupt)?;
                    // It counts from zero again.
                    before = None;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn show_and_wait(
        &self,
        forwarder: &mut Forwarder,
        before: &mut Option<GeneralStatus>,
        shown: &mut u64,
    ) -> Result<(), ToolError> {
        let report = Report::fetch(forwarder, self.all)?;
        if !forwarder.json && std::io::stdout().is_terminal() {
            output::clear_terminal()?;
        }
        report.print(forwarder.json, before.as_ref())?;
        *before = Some(report.general);
        *shown += 1;
        if self.count.is_none_or(|count| *shown < count) {
            let until = forwarder.client.now() + self.every;
            // Nobody sends us anything; this waits, and ends early at a signal.
            while forwarder.client.next(Some(until))?.is_some() {}
        }
        Ok(())
    }
}
