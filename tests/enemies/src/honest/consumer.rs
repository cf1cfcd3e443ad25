//! Somebody who asks for one number after another.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use packet::random::Random;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::line::{Answer, Line};
use super::{Book, Clock, Numbers, Phase};
use crate::stop::Stop;
use crate::wire::Template;

/// How somebody asks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Habits {
    /// Below which prefix.
    pub(crate) prefix: &'static str,
    /// Interests in a second.
    pub(crate) rate: u64,
    /// How long an answer may take; also the lifetime of an Interest. What comes later is lost.
    pub(crate) patience: Duration,
}

/// Asks until it is to stop.
pub(crate) fn consume(
    line: io::Result<Line>,
    habits: Habits,
    numbers: &Arc<Numbers>,
    clock: &Arc<Clock>,
    book: &Book,
    stop: &Stop,
) -> io::Result<()> {
    crate::ground::go_first();
    let lifetime = packet::time::Duration::from_millis(habits.patience.as_millis() as u64);
    let interest = Template::interest(habits.prefix, |interest| interest.lifetime(lifetime))?;
    let mut asked: BTreeMap<u64, (Instant, Phase)> = BTreeMap::new();
    let mut line = line?;
    let mut random = Random::from_seed(u64::from(std::process::id()));
    let interval = Duration::from_secs(1) / u32::try_from(habits.rate.max(1)).unwrap_or(u32::MAX);
    let mut due = Instant::now();
    while !stop.is_set() {
        let now = Instant::now();
        if now >= due {
            let (number, phase) = (numbers.take(habits.prefix), clock.now());
            book.write(phase, |figures| figures.sent += 1);
            if line.send(&interest.fresh(number, &mut random)) {
                asked.insert(number, (Instant::now(), phase));
            }
            // Who was kept from asking does not make up for it in a burst.
            due = if now > due + interval * 10 { now + interval } else { due + interval };
        }
        while let Some(entry) = asked.first_entry()
            && now > entry.get().0 + habits.patience
        {
            entry.remove();
        }
        wait(&line, due)?;
        line.receive(|answer| note(answer, &mut asked, habits.patience, book))?;
    }
    Ok(())
}

fn note(answer: Answer, asked: &mut BTreeMap<u64, (Instant, Phase)>, patience: Duration, book: &Book) {
    let (Answer::Good(number) | Answer::Forged(number) | Answer::Nack(number)) = answer;
    let Some((sent, phase)) = asked.remove(&number) else { return };
    let round_trip = sent.elapsed();
    book.write(phase, |figures| match answer {
        Answer::Good(_) if round_trip <= patience => figures.answered(round_trip),
        Answer::Good(_) => {}
        Answer::Forged(_) => figures.forged += 1,
        Answer::Nack(_) => figures.nacked += 1,
    });
}

/// Until something comes, or somebody is to be asked.
pub(super) fn wait(line: &Line, until: Instant) -> io::Result<()> {
    let left = until.saturating_duration_since(Instant::now());
    let timeout = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: i64::from(left.subsec_nanos()) };
    let fd = line.fd();
    match poll(&mut [PollFd::new(&fd, PollFlags::IN)], Some(&timeout)) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
