//! Sleeping until something is ready, or until a deadline: some are kept more exactly than others.

use std::os::fd::{AsFd, OwnedFd};

use packet::time::{Duration, Instant};
use rustix::event::{PollFd, PollFlags, Timespec, epoll, poll};

/// Exact deadlines that are nearer are kept to a thousandth of the sleep, as well as the kernel can. Of later
/// ones a millisecond is no part to speak of.
const EXACT: Duration = Duration::from_millis(100);
/// To what others are rounded up.
const ROUGH: Duration = Duration::from_millis(1);

/// How long to sleep if nothing becomes ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::plane) enum Sleep {
    Forever,
    /// So long, rounded up to a millisecond.
    Roughly(Duration),
    /// So long; [`EXACT`] and more is rounded up to a millisecond, too.
    Exactly(Duration),
}

impl Sleep {
    /// Until the earlier of two deadlines, one of which does not mind to be rounded up; neither has passed.
    pub(in crate::plane) fn until(now: Instant, exact: Instant, rough: Instant) -> Self {
        let left = exact.min(rough).saturating_since(now);
        if exact.saturating_since(rough) < ROUGH { Sleep::Exactly(left) } else { Sleep::Roughly(left) }
    }
}

/// Waits until a socket of the set is ready, or for so long.
///
/// `epoll_wait` knows whole milliseconds only, and rounds up. Where that matters `ppoll` waits for the set,
/// which is one more call. (`epoll_pwait2` could do both, and asks for Linux 5.11.)
///
/// # Errors
/// Those of the kernel.
pub(in crate::plane) fn sleep(
    sockets: &OwnedFd,
    events: &mut Vec<epoll::Event>,
    how_long: Sleep,
) -> rustix::io::Result<()> {
    let timeout = match how_long {
        Sleep::Forever => None,
        Sleep::Exactly(left) if wants_more_than_milliseconds(left) => {
            let set = PollFd::from_borrowed_fd(sockets.as_fd(), PollFlags::IN);
            poll(&mut [set], Some(&timespec(left)))?;
            Some(timespec(Duration::ZERO))
        }
        Sleep::Exactly(left) | Sleep::Roughly(left) => Some(timespec(left)),
    };
    epoll::wait(sockets, rustix::buffer::spare_capacity(events), timeout.as_ref()).map(|_| ())
}

fn wants_more_than_milliseconds(left: Duration) -> bool {
    left > Duration::ZERO && left < EXACT && !left.as_nanos().is_multiple_of(ROUGH.as_nanos())
}

fn timespec(of: Duration) -> Timespec {
    let nanos = of.as_nanos();
    Timespec { tv_sec: (nanos / 1_000_000_000) as i64, tv_nsec: (nanos % 1_000_000_000) as i64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_exact_deadlines_are_not_rounded_and_far_ones_cost_one_call() {
        let wants = |micros| wants_more_than_milliseconds(Duration::from_micros(micros));
        assert!([1, 999, 1_001, 10_250, 99_999].into_iter().all(wants));
        assert!(![0, 1_000, 2_000, 100_000, 100_001, 4_000_250].into_iter().any(wants));
    }

    #[test]
    fn no_exact_deadline_is_slept_past_for_one_that_is_rounded_up() {
        let at = |micros: u64| Instant::from_nanos(micros * 1000);
        let until = |exact, rough| Sleep::until(at(100), exact, rough);
        let micros = Duration::from_micros;
        assert_eq!(until(at(300), at(5_000)), Sleep::Exactly(micros(200)));
        assert_eq!(until(at(900), at(400)), Sleep::Exactly(micros(300)), "it is within the millisecond");
        assert_eq!(until(at(1_400), at(400)), Sleep::Roughly(micros(300)));
        assert_eq!(until(Instant::NEVER, at(400)), Sleep::Roughly(micros(300)));
    }

    #[test]
    fn what_is_ready_ends_any_sleep_and_is_told() {
        let set = epoll::create(epoll::CreateFlags::CLOEXEC).unwrap();
        let (here, there) = std::os::unix::net::UnixStream::pair().unwrap();
        let data = epoll::EventData::new_u64(7);
        epoll::add(&set, here.as_fd(), data, epoll::EventFlags::IN).unwrap();
        let mut events = Vec::with_capacity(4);
        let short = Duration::from_micros(1_500);
        for how_long in [Sleep::Exactly(short), Sleep::Roughly(short)] {
            sleep(&set, &mut events, how_long).unwrap();
            assert!(events.is_empty(), "nothing is ready");
        }
        std::io::Write::write_all(&mut &there, b"x").unwrap();
        let none = Duration::ZERO;
        for how_long in [Sleep::Exactly(short), Sleep::Exactly(none), Sleep::Roughly(none), Sleep::Forever] {
            events.clear();
            sleep(&set, &mut events, how_long).unwrap();
            assert_eq!(events.len(), 1);
            assert_eq!(events[0].data.u64(), 7);
        }
    }
}
