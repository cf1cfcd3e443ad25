//! Arrivals that are not steady: in bursts, or of a crowd that wants one thing.

use packet::parameters::{ParameterError, Parameters};
use packet::random::Random;
use packet::time::{Duration, Instant};

use super::Setting;

/// Requests in bursts of random length, with pauses between them so that the mean rate stays what it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bursts {
    /// Requests in a burst, on average.
    length: f64,
    /// The rate within a burst, as a multiple of the mean rate.
    peak: f64,
}

impl Bursts {
    /// `burst` and `peak`, if there are any.
    pub(super) fn parse(parameters: &mut Parameters) -> Result<Option<Self>, ParameterError> {
        let length = parameters.number("burst", 1.0, (1.0, 1e9))?;
        let peak = parameters.number("peak", 10.0, (1.0, 1e9))?;
        Ok((length > 1.0).then_some(Bursts { length, peak }))
    }

    /// The mean of the next gap: one within a burst, or the pause behind it.
    pub(super) fn gap(self, mean: Duration, random: &mut Random) -> Duration {
        let within = mean.as_secs_f64() / self.peak;
        if random.unit() * self.length >= 1.0 {
            return Duration::from_secs_f64(within);
        }
        // Of as many gaps as a burst has requests, this one makes up for all the others.
        Duration::from_secs_f64(mean.as_secs_f64() * self.length - within * (self.length - 1.0))
    }
}

/// For some time there are many more requests, and what is added asks for one item.
#[derive(Clone, Copy, Debug)]
pub(super) struct Crowd {
    from: Instant,
    until: Instant,
    /// How many times as many requests there are.
    times: f64,
    item: u64,
}

impl Crowd {
    /// `crowd` and what goes with it, if there is one.
    pub(super) fn parse(p: &mut Parameters, setting: &Setting) -> Result<Option<Self>, ParameterError> {
        let times = p.number("crowd", 1.0, (1.0, 1e9))?;
        let from = setting.begin + p.millis("crowd-at", Duration::ZERO)?;
        let until = from + p.millis("crowd-for", Duration::from_secs(10))?;
        // Else the one that is wanted least.
        let last = setting.items.unwrap_or(1).saturating_sub(1);
        let item = p.number("crowd-item", last as f64, (0.0, 9e15))? as u64;
        Ok((times > 1.0).then_some(Crowd { from, until, times, item }))
    }

    pub(super) fn is_there(&self, now: Instant) -> bool {
        (self.from..self.until).contains(&now)
    }

    pub(super) fn gap(&self, mean: Duration) -> Duration {
        Duration::from_secs_f64(mean.as_secs_f64() / self.times)
    }

    /// What the crowd wants, if the next request is one of its own.
    pub(super) fn item(&self, random: &mut Random) -> Option<u64> {
        (random.unit() * self.times >= 1.0).then_some(self.item)
    }
}
