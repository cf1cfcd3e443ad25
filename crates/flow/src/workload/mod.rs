//! What is asked for, and when: the demand of a consumer who is simulated, measured with, or both.
//!
//! A [`Workload`] asks for items, which are numbers: the chunks of a catalogue in an experiment, the sequence
//! numbers below a prefix in a simulation, what stands for `{item}` in the names of `cairn traffic`. Its
//! owner makes Interests of them, and tells it what came of each. So a workload knows no names and no
//! sockets, and the same one runs wherever there is a consumer.
//!
//! | word | which item is next |
//! |---|---|
//! | `sequential` | the next one, and the first again after the last |
//! | `uniform` | each as likely |
//! | `zipf` | popular ones by the law of Zipf and Mandelbrot |
//! | `live` | the newest one: item number n is there n / `rate` seconds after the beginning of time |
//!
//! All of ours take `rate` in items a second (1) and `limit`, after how many it is over. `live` takes
//! `behind`, by how many milliseconds later each is asked for (0). The others take `spacing` (`constant`,
//! `uniform` or `poisson`) and `items` (how many there are, where the owner does not say it), and `zipf` also
//! `exponent` (1) and `shift` (0). [`Popularity`] and [`Spacing`] are the laws themselves.
//!
//! Two more things can happen to the times and items of these three. With `burst` (1) requests come in bursts
//! of so many on average, in which the rate is `peak` (10) times as high; the mean rate stays the same. With
//! `crowd` (1) there are so many times as many requests from `crowd-at` (0) milliseconds after the begin, for
//! `crowd-for` (10,000) milliseconds, and what is added asks for `crowd-item` (the last one): a flash crowd.

mod arrivals;
mod live;
mod popularity;
mod registry;
mod replay;
mod requester;
mod spacing;
mod steady;

use std::fmt;

use packet::NackReason;
use packet::time::{Duration, Instant};

pub use popularity::Popularity;
pub use registry::{StartWorkload, WorkloadKind, WorkloadSpec, add_workloads, workload_names};
pub use replay::Replay;
pub use requester::{Closed, Opened, Requester};
pub use spacing::{Spacing, mean_gap};

/// Where a workload runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    /// When it begins.
    pub begin: Instant,
    /// From when on nothing new is asked for. A [`Requester`] sees to it.
    pub end: Instant,
    /// How many items there are, counted from 0, where that is known. Of larger numbers a [`Requester`] takes
    /// the remainder.
    pub items: Option<u64>,
    /// Decides what it does by chance.
    pub seed: u64,
}

impl Setting {
    /// From the beginning of time and without an end, with any number of items.
    pub const fn forever(seed: u64) -> Self {
        Setting { begin: Instant::ZERO, end: Instant::NEVER, items: None, seed }
    }
}

/// What came of one that was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It came, so long after it was asked for.
    Data {
        /// From the Interest to the Data.
        round_trip: Duration,
    },
    /// The Interest came back.
    Nack(NackReason),
    /// Nothing came during the lifetime of the Interest.
    Timeout,
}

/// Decides what is asked for, and when. It is asked whenever its deadline has come and after everything that
/// it is told of; `now` never goes back.
///
/// ```
/// use cairn_flow::workload::{Outcome, Setting, Workload, WorkloadKind, WorkloadSpec};
/// use packet::time::Instant;
///
/// /// Asks for one item after the other, each when the one before has come.
/// #[derive(Debug)]
/// struct StopAndWait {
///     next: u64,
///     waits: bool,
/// }
///
/// impl Workload for StopAndWait {
///     fn poll_item(&mut self, _now: Instant) -> Option<u64> {
///         (!std::mem::replace(&mut self.waits, true)).then_some(self.next)
///     }
///     fn next_deadline(&self) -> Instant {
///         if self.waits { Instant::NEVER } else { Instant::ZERO }
///     }
///     fn handle_outcome(&mut self, _now: Instant, _item: u64, outcome: Outcome) {
///         self.waits = false;
///         self.next += u64::from(matches!(outcome, Outcome::Data { .. }));
///     }
/// }
///
/// let kind = WorkloadKind {
///     word: "stop-and-wait",
///     start: |_parameters, _setting| Ok(Box::new(StopAndWait { next: 0, waits: false })),
/// };
/// let mut workload = WorkloadSpec::of(kind)?
///     .start(&Setting::forever(1))?;
/// assert_eq!(workload.poll_item(Instant::ZERO), Some(0));
/// assert_eq!(workload.poll_item(Instant::ZERO), None);
/// # Ok::<(), cairn_flow::SpecError>(())
/// ```
pub trait Workload: fmt::Debug + Send {
    /// The next item to ask for, if one is due by `now`. Called until it gives none.
    fn poll_item(&mut self, now: Instant) -> Option<u64>;

    /// When the next item is due, if nothing happens until then; [`Instant::NEVER`] if none is.
    fn next_deadline(&self) -> Instant;

    /// Something came of an item that was asked for. Called once for each time it was.
    fn handle_outcome(&mut self, now: Instant, item: u64, outcome: Outcome) {
        let _ = (now, item, outcome);
    }

    /// Whether it will never ask for anything again, whatever happens.
    fn is_complete(&self) -> bool {
        false
    }
}
