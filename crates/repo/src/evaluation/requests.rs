//! What is asked for, one request after the other.

use packet::random::{Gamma, Random, Zipf, ZipfError};
use packet::time::{Duration, Instant};

use super::{CLASSES, Reading, Workload};
use crate::eviction::optimum;

/// A request for a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// When, from the beginning.
    pub at: Instant,
    /// The number of the file, by age.
    pub file: u32,
    /// Its class of popularity.
    pub class: u8,
    /// Its size, in bytes.
    pub bytes: u32,
    /// Whether it is the one that creates the file.
    pub is_new: bool,
}

/// Requests without end. What they ask for does not depend on what any cache has.
#[derive(Debug)]
pub struct Requests {
    workload: Workload,
    reading: Reading,
    random: Random,
    popularity: Zipf,
    file_class: Zipf,
    sizes: Gamma,
    /// Sizes by number, in bytes.
    files: Vec<u32>,
    /// The files of each class, and how many of them are too old to be asked for.
    classes: [(Vec<u32>, usize); CLASSES],
    next_request: u64,
    next_file: u64,
}

impl Requests {
    /// From the beginning.
    ///
    /// # Errors
    /// An exponent of the workload is negative or no number.
    pub fn new(workload: Workload, reading: Reading, random: Random) -> Result<Self, ZipfError> {
        let mut requests = Requests {
            popularity: Zipf::new(CLASSES, workload.popularity_alpha, 0.0)?,
            file_class: Zipf::new(CLASSES, workload.files_alpha, 0.0)?,
            sizes: Gamma::new(workload.size_shape, workload.size_scale_bytes),
            next_request: workload.request_interval.as_nanos(),
            next_file: workload.file_interval.as_nanos(),
            workload,
            reading,
            random,
            files: Vec::new(),
            classes: Default::default(),
        };
        (0..reading.first_files).for_each(|_| {
            requests.create();
        });
        Ok(requests)
    }

    /// The next request.
    #[inline]
    pub fn draw(&mut self) -> Request {
        loop {
            let at = self.next_request.min(self.next_file);
            if at < self.next_request {
                self.next_file += self.workload.file_interval.as_nanos().max(1);
                return Request { at: Instant::from_nanos(at), ..self.create() };
            }
            self.next_request += self.workload.request_interval.as_nanos().max(1);
            let class = self.popularity.draw(&mut self.random) as u8;
            // In the beginning a class may have nothing to ask for.
            if let Some(request) = self.choose(class) {
                return Request { at: Instant::from_nanos(at), ..request };
            }
        }
    }

    /// One of a class, each as likely; the time is still to be told.
    #[inline]
    fn choose(&mut self, class: u8) -> Option<Request> {
        let (files, too_old) = self.classes.get_mut(usize::from(class))?;
        if let Some(newest) = self.reading.newest_only {
            let oldest = (self.files.len() as u32).saturating_sub(newest);
            *too_old += files[*too_old..].iter().take_while(|file| **file < oldest).count();
        }
        let files = files.get(*too_old..)?;
        let file = *files.get(self.random.below(files.len() as u64) as usize)?;
        let bytes = *self.files.get(file as usize)?;
        Some(Request { at: Instant::ZERO, file, class, bytes, is_new: false })
    }

    /// A new file; the time is still to be told.
    fn create(&mut self) -> Request {
        let drawn = self.file_class.draw(&mut self.random) as usize;
        let class = if self.reading.last_has_most { CLASSES - 1 - drawn } else { drawn };
        let (min, max) = (self.workload.min_bytes as f64, self.workload.max_bytes as f64);
        let bytes = self.sizes.draw(&mut self.random).clamp(min, max) as u32;
        let file = self.files.len() as u32;
        self.files.push(bytes);
        if let Some((files, _)) = self.classes.get_mut(class) {
            files.push(file);
        }
        Request { at: Instant::ZERO, file, class: class as u8, bytes, is_new: true }
    }
}

impl Iterator for Requests {
    type Item = Request;

    fn next(&mut self) -> Option<Request> {
        Some(self.draw())
    }
}

/// What a [`Run`](super::Run) sees, for policies that have to know the future.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestTrace {
    /// All requests.
    pub requests: Vec<optimum::Request>,
    /// How many of them come before the evaluation begins.
    pub begins: usize,
    /// How many of the others count: those that do not create their file.
    pub counted: u64,
}

/// All requests of a run with room for so many bytes, until `duration` after what does not fit comes.
///
/// # Errors
/// An exponent of the workload is negative or no number.
pub fn trace(
    workload: Workload,
    threshold_bytes: u64,
    duration: Duration,
    random: Random,
) -> Result<RequestTrace, ZipfError> {
    let mut requests = Requests::new(workload, Reading::LITERAL, random)?;
    let (mut trace, mut created, mut end) = (RequestTrace::default(), 0u64, None);
    loop {
        let Request { at, file, bytes, is_new, .. } = requests.draw();
        if end.is_some_and(|end| at > end) {
            return Ok(trace);
        }
        trace.requests.push(optimum::Request { key: file.into(), bytes: bytes.into() });
        trace.counted += u64::from(end.is_some() && !is_new);
        created += if is_new { u64::from(bytes) } else { 0 };
        // Nothing has left before, so what is stored is all that was created.
        if created > threshold_bytes && end.is_none() {
            (trace.begins, end) = (trace.requests.len(), Some(at + duration));
        }
    }
}
