//! A trace of requests as experiments use it: times from the first request on, objects by small numbers.

use repo::trace::{Objects, RequestTraceFormat, TraceReader};

use crate::experiment::plan::Shared;

/// Most requests of a trace that are read: one run replays no more.
pub(in crate::experiment) const MAX_REQUESTS: usize = 1_000_000;

/// A trace.
#[derive(Debug, Clone)]
pub(in crate::experiment) struct Recorded {
    /// When each request was made, in nanoseconds from the earliest, and for which object.
    pub(in crate::experiment) requests: Shared<(u64, u32)>,
    /// The size of each object where it appears first.
    pub(in crate::experiment) sizes: Shared<u64>,
    /// Whether there are more requests than were read.
    pub(in crate::experiment) goes_on: bool,
}

impl Recorded {
    /// Reads a trace in that format.
    pub(in crate::experiment) fn read(bytes: &[u8], format: &str) -> Result<Self, String> {
        let format: RequestTraceFormat =
            format.parse().map_err(|error: packet::registry::UnknownWord| error.to_string())?;
        let (mut objects, mut requests, mut sizes) = (Objects::default(), Vec::new(), Vec::new());
        let mut goes_on = false;
        for entry in TraceReader::new(bytes, format) {
            let entry = entry.map_err(|error| error.to_string())?;
            if requests.len() == MAX_REQUESTS {
                goes_on = true;
                break;
            }
            let number = requests.len() + 1;
            let time = entry.time_ns.ok_or_else(|| format!("request {number} has no time in seconds"))?;
            let request = objects.number(entry);
            if request.key as usize == sizes.len() {
                sizes.push(request.bytes);
            }
            requests.push((time, u32::try_from(request.key).unwrap_or(u32::MAX)));
        }
        // Who records at several places writes down times that go back a little.
        requests.sort_by_key(|(time, _)| *time);
        let Some((first, _)) = requests.first().copied() else { return Err("it has no requests".to_owned()) };
        requests.iter_mut().for_each(|(time, _)| *time -= first);
        Ok(Recorded { requests: requests.into(), sizes: sizes.into(), goes_on })
    }
}
