//! On which processors a thread may run.

use std::io;

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;

/// The calling thread.
const SELF: Pid = Pid::from_raw(0);

/// The numbers of the processors that the calling thread may use.
pub(crate) fn allowed() -> io::Result<Vec<usize>> {
    let allowed = sched_getaffinity(SELF)?;
    Ok((0..CpuSet::count()).filter(|processor| allowed.is_set(*processor) == Ok(true)).collect())
}

/// Keeps the calling thread, and all that it starts from now on, on one processor.
pub(crate) fn stay_on(processor: usize) -> io::Result<()> {
    let mut only = CpuSet::new();
    only.set(processor)?;
    Ok(sched_setaffinity(SELF, &only)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_pinned_thread_starts_is_on_the_same_processor() -> io::Result<()> {
        let last = *allowed()?.last().ok_or(io::ErrorKind::NotFound)?;
        let inherited = std::thread::spawn(move || {
            stay_on(last)?;
            std::thread::spawn(allowed).join().unwrap_or_else(|_| Err(io::ErrorKind::Other.into()))
        });
        assert_eq!(inherited.join().unwrap_or_else(|_| Err(io::ErrorKind::Other.into()))?, [last]);
        Ok(())
    }
}
