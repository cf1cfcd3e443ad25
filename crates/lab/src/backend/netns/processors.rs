//! The machine's processors: which nodes run on which, and that none sleeps while a run is measured.

use system::processors;

use super::world::{World, WorldError, io_error};
use crate::backend::machine::idle_inhibitor::IdleInhibitor;

impl World<'_> {
    /// Nothing where the experiment does not want it, or the system cannot; then the report says so.
    pub(super) fn keep_processors_awake(&mut self) -> Result<Option<IdleInhibitor>, WorldError> {
        let wanted = self.plan().schedule.keep_awake;
        let start = || IdleInhibitor::start(&self.controllers, self.order.owner, &self.order.programs.cairn);
        let awake = if wanted { start().map_err(io_error("processors cannot be kept awake"))? } else { None };
        let words = if awake.is_some() { "kept awake" } else { "sleep when they have nothing to do" };
        self.outcome.control.push_str("; processors: ");
        self.outcome.control.push_str(words);
        Ok(awake)
    }

    /// Gives each node one processor, in turns. What is started in a namespace stays where its thread is.
    pub(super) fn deal_out_processors(&self) -> Result<(), WorldError> {
        let failed = |error| io_error("a node cannot be kept on one processor")(error);
        let allowed = processors::allowed().map_err(failed)?;
        for (namespace, processor) in self.namespaces.iter().zip(allowed.into_iter().cycle()) {
            namespace.run(move || processors::stay_on(&[processor]))?.map_err(failed)?;
        }
        Ok(())
    }
}
