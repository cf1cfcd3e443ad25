//! On which processors a thread may run. What it starts, threads and processes, may run on the same ones.

use std::io;

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// The numbers of the processors that the calling thread may use.
///
/// # Errors
/// The system does not say.
pub fn allowed() -> io::Result<Vec<usize>> {
    let allowed = sched_getaffinity(None)?;
    Ok((0..CpuSet::MAX_CPU).filter(|processor| allowed.is_set(*processor)).collect())
}

/// Keeps the calling thread, and all that it starts from now on, on these processors.
///
/// # Errors
/// There is none among them that the thread may use, or a number is higher than the system's highest.
pub fn stay_on(processors: &[usize]) -> io::Result<()> {
    let mut only = CpuSet::new();
    for processor in processors {
        if *processor >= CpuSet::MAX_CPU {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        only.set(*processor);
    }
    Ok(sched_setaffinity(None, &only)?)
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    fn join<T>(thread: thread::JoinHandle<io::Result<T>>) -> io::Result<T> {
        thread.join().unwrap_or_else(|_| Err(io::ErrorKind::Other.into()))
    }

    #[test]
    fn what_a_pinned_thread_starts_is_on_the_same_processor() -> io::Result<()> {
        let last = *allowed()?.last().ok_or(io::ErrorKind::NotFound)?;
        let inherited = thread::spawn(move || {
            stay_on(&[last])?;
            join(thread::spawn(allowed))
        });
        assert_eq!(join(inherited)?, [last]);
        Ok(())
    }

    #[test]
    fn a_processor_that_no_system_has_is_refused_and_so_is_none_at_all() -> io::Result<()> {
        let before = allowed()?;
        for processors in [&[CpuSet::MAX_CPU][..], &[]] {
            assert!(stay_on(processors).is_err_and(|error| error.kind() == io::ErrorKind::InvalidInput));
        }
        assert_eq!(allowed()?, before);
        Ok(())
    }
}
