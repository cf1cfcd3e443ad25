//! One network on several cores, with the results of one core to the bit.
//!
//! A conservative parallel simulation. What one node sends, another cannot see before the delay of the link
//! is over, so a network is [partitioned](partition) along links of a millisecond and more. The delay of the
//! shortest of them is the *lookahead*. For half of it, a *window*, each part runs on a core of its own. What
//! it sends arrives in the window after the next one at the earliest, so there is a whole window to find out
//! where among other events it belongs.
//!
//! **The same order.** Events of one instant happen in the order in which they were planned, and on one core
//! a counter gives that order. Parts cannot share a counter. Each numbers what it plans by itself, and leaves
//! room between its numbers. While the next window is at work, [`order`] goes through what the parts have
//! done and puts it in the order of one core: by time, and at equal times by the numbers that one core would
//! have given.
//! These are known by then, because everything was planned by something that comes before it in this very
//! order. That yields the next numbers, the trace, and the place of what crosses among what its new part has
//! planned itself.
//!
//! **What is not divided.** Links that are shorter, that several share, or that carry frames stay within a
//! part. What the owner of the network has planned happens with the parts [put together](parts). Networks
//! with taps or captures run on one core, and so do those in which so little happens within a window that
//! handing over would take longer than the work.

mod gate;
mod order;
mod partition;
mod parts;
mod settling;
#[cfg(test)]
mod tests;
mod windows;

use std::num::NonZeroUsize;

use packet::time::{Duration, Instant};

use self::partition::Partition;
use crate::error::SimError;
use crate::events::queue::EventSource;
use crate::network::Network;
use crate::network::cores::Cores;

impl Network {
    /// Lets so many cores work on this network, where [`run_until`](Self::run_until) and
    /// [`run_for`](Self::run_for) let time pass and links of a millisecond and more allow it. Whatever the
    /// number, the results are the same to the bit; without this call it is one.
    ///
    /// Two things are not promised. After an error, or the panic of an application, the network is not to be
    /// used any more. And applications that share something beside the network may see the difference.
    ///
    /// ```
    /// use std::num::NonZeroUsize;
    /// use packet::time::Duration;
    /// use cairn_sim::{Consumer, LinkConfig, Network, Producer};
    ///
    /// let run = |cores| {
    ///     let mut network = Network::new(3);
    ///     let nodes = network.chain(4, &LinkConfig::ideal().mbps(1_000.0).millis(5))?;
    ///     network.add_producer(nodes[3], "/video", Producer::new(1_000))?;
    ///     network.add_application(nodes[0], Consumer::window("/video", 500)?)?;
    ///     network.route_shortest_paths()?;
    ///     network.set_cores(cores);
    ///     network.run_for(Duration::from_secs(1))?;
    ///     Ok::<_, cairn_sim::SimError>((network.trace().hash(), network.hops()))
    /// };
    /// assert_eq!(run(NonZeroUsize::MIN)?, run(NonZeroUsize::MIN.saturating_add(1))?);
    /// # Ok::<(), cairn_sim::SimError>(())
    /// ```
    pub fn set_cores(&mut self, cores: NonZeroUsize) {
        self.cores = Cores { count: cores.get(), ..Cores::default() };
    }

    /// Events since [`set_cores`](Self::set_cores) that happened while several cores were at work.
    pub fn events_on_several_cores(&self) -> u64 {
        self.cores.events
    }

    /// Lets time pass up to `end` on several cores, where that is worth it, and on one where not.
    pub(crate) fn run_on_cores(&mut self, end: Instant) -> Result<(), SimError> {
        while let Some(first) = self.first_event_at().filter(|at| *at <= end) {
            if self.cores.pausing > 0 {
                self.cores.pausing -= 1;
                self.step()?;
                continue;
            }
            let horizon = self.next_plan_at().min(end + Duration::from_nanos(1));
            if first < horizon {
                let is_worth_it = match Partition::of(self, self.cores.count) {
                    Some(partition) => self.run_divided(&partition, horizon)?,
                    None => false,
                };
                self.cores.pause_unless(is_worth_it);
            }
            while self.first_event_at() == Some(horizon) && horizon <= end {
                self.step()?;
            }
        }
        Ok(())
    }

    fn first_event_at(&self) -> Option<Instant> {
        self.core.queue.first().map(|event| event.turn.at)
    }

    /// When something happens next that the owner has planned, which may change anything anywhere.
    fn next_plan_at(&self) -> Instant {
        let plans = self.core.queue.events().filter(|event| matches!(event.source, EventSource::Plan(_)));
        plans.map(|event| event.turn.at).min().unwrap_or(Instant::NEVER)
    }
}
