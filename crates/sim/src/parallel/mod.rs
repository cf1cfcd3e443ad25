//! One network on several cores, with the results of one core to the bit.
//!
//! A conservative parallel simulation. What one node sends, another cannot see before the delay of the link
//! is over, so a network is [partitioned](partition) along links of a millisecond and more. The delay of the
//! shortest of them is the *lookahead*: for so long, a *window*, each part runs on a core of its own. Then
//! what crosses between the parts is handed over, and the next window begins.
//!
//! **The same order.** Events of one instant happen in the order in which they were planned, and on one core
//! a counter gives that order. Parts cannot share a counter. Each numbers what it plans by itself, and leaves
//! room between its numbers. At the end of a window, [`order`] goes through what the parts have done and puts
//! it in the order of one core: by time, and at equal times by the numbers that one core would have given.
//! These are known by then, because everything was planned by something that comes before it in this very
//! order. That yields the next numbers, the trace, and the place of what crosses among what its new part has
//! planned itself.
//!
//! **What is not divided.** Links that are shorter, that several share, or that carry frames stay within a
//! part. What the owner of the network has planned happens with the parts [put together](parts). Networks
//! with taps or captures run on one core, and so do those in which so little happens within a window that
//! handing over would take longer than the work.

mod journal;
mod order;
mod partition;
mod parts;
#[cfg(test)]
mod tests;
mod windows;

use std::num::NonZeroUsize;

use packet::time::{Duration, Instant};

pub(crate) use self::journal::{Journal, Notes};
use self::partition::Partition;
use crate::error::SimError;
use crate::event_queue::Source;
use crate::network::Network;

/// Periods that are left to one core after the first that was not worth dividing; twice as many after the
/// next, and so on.
const FIRST_REST: u32 = 4;
const LONGEST_REST: u32 = 256;
/// Handing over takes as long as some dozens of events.
const WORTH_IT: u64 = 50;

/// How a network uses cores.
pub(crate) struct Cores {
    count: usize,
    /// Events a window, on average, that have to happen beside others: with fewer, one core is as fast.
    worth_it: u64,
    /// Empty networks with room for all that a part may have.
    parts: Vec<Network>,
    /// Periods for which no partition is tried, and how many that were the last time.
    resting: u32,
    last_rest: u32,
    /// Events that happened on a core beside others.
    events: u64,
}

impl Default for Cores {
    fn default() -> Self {
        Cores {
            count: 1,
            worth_it: WORTH_IT,
            parts: Vec::new(),
            resting: 0,
            last_rest: FIRST_REST / 2,
            events: 0,
        }
    }
}

impl Cores {
    #[inline]
    pub(crate) fn are_several(&self) -> bool {
        self.count > 1
    }
}

impl Network {
    /// Lets so many cores work on this network, where [`run_until`](Self::run_until) and
    /// [`run_for`](Self::run_for) let time pass and links of a millisecond and more allow it. Whatever the
    /// number, the results are the same to the bit; without this call it is one.
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

    /// Events so far that happened while several cores were at work.
    pub fn events_on_several_cores(&self) -> u64 {
        self.cores.events
    }

    /// Lets time pass up to `end` on several cores, as far as that is worth it. What is left to happen until
    /// then is for one core.
    pub(crate) fn run_on_cores(&mut self, end: Instant) -> Result<(), SimError> {
        if self.cores.resting > 0 {
            self.cores.resting -= 1;
            return Ok(());
        }
        while self.core.queue.first().is_some_and(|event| event.turn.at <= end) {
            let horizon = self.next_plan_at().min(end + Duration::from_nanos(1));
            if self.core.queue.first().is_some_and(|event| event.turn.at < horizon) {
                let Some(partition) = Partition::of(self, self.cores.count) else {
                    self.rest();
                    return Ok(());
                };
                let was_worth_it = self.run_divided(&partition, horizon, self.cores.worth_it)?;
                if !was_worth_it {
                    self.rest();
                    return Ok(());
                }
                self.cores.last_rest = FIRST_REST / 2;
            }
            while self.core.queue.first().is_some_and(|event| event.turn.at == horizon) && horizon <= end {
                self.step()?;
            }
        }
        Ok(())
    }

    fn rest(&mut self) {
        self.cores.last_rest = (self.cores.last_rest * 2).min(LONGEST_REST);
        self.cores.resting = self.cores.last_rest;
    }

    /// When something happens next that the owner has planned, which may change anything anywhere.
    fn next_plan_at(&self) -> Instant {
        let plans = self.core.queue.events().filter(|event| matches!(event.source, Source::Plan(_)));
        plans.map(|event| event.turn.at).min().unwrap_or(Instant::NEVER)
    }
}
