//! Work on a thread of its own, while Python's thread tells of its progress and listens to Ctrl-C.

use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use lab::order::Event;
use lab::run::Stop;
use lab::run::progress::Progress;
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;

use crate::errors::internal_error;

/// Python hears of an interrupt after so long at most.
const TIMEOUT: Duration = Duration::from_millis(50);
/// Whoever is slow to listen keeps the run waiting behind so many.
const MAX_UNHEARD: usize = 256;

/// What a listener is told: a kind, words, how much is done, of how much.
type Message = (&'static str, String, f64, f64);

fn message(progress: &Progress) -> Option<Message> {
    let none = |kind, text: String| (kind, text, 0.0, 0.0);
    Some(match progress {
        Progress::Folder(path) => none("folder", path.display().to_string()),
        Progress::Repeat { case, name, repeat, .. } => {
            let before = (case.0 - 1) as f64 * f64::from(repeat.1) + f64::from(repeat.0 - 1);
            ("repeat", name.clone(), before, case.1 as f64 * f64::from(repeat.1))
        }
        Progress::Count { done, all } => ("count", String::new(), *done as f64, *all as f64),
        Progress::Step(name) => none("step", name.clone()),
        Progress::Note(text) => none("note", text.clone()),
        Progress::Done { invalid } if !invalid.is_empty() => none("invalid", invalid.join("; ")),
        Progress::Sample(Event::Sample { node, seconds, .. }) => ("sample", node.clone(), *seconds, 0.0),
        Progress::Done { .. } | Progress::Skipped | Progress::Sample(_) | Progress::Share(_) => return None,
    })
}

/// Where a run says what happens.
pub(crate) struct Reporter(SyncSender<Message>);

impl Reporter {
    pub(crate) fn report(&self, progress: &Progress) {
        if let Some(message) = message(progress) {
            // Nobody listens any more once the run was asked to end.
            let _ = self.0.send(message);
        }
    }
}

/// Does `work` on a thread of its own. Ctrl-C, and whatever else `listener` or a handler of a signal raises,
/// asks it to end, waits until it has, and is raised then.
pub(crate) fn follow<R: Send + 'static>(
    py: Python<'_>,
    listener: Option<&Bound<'_, PyAny>>,
    stop: &Stop,
    work: impl FnOnce(&Reporter) -> R + Send + 'static,
) -> PyResult<R> {
    let (sender, receiver) = sync_channel(MAX_UNHEARD);
    let thread = thread::Builder::new().name("cairn-run".to_owned());
    let thread = thread.spawn(move || work(&Reporter(sender)));
    let thread = thread.map_err(|error| PyOSError::new_err(error.to_string()))?;
    let raised = listen(py, listener, stop, &Mutex::new(receiver));
    let ended = py.detach(|| thread.join());
    raised?;
    ended.map_err(|panic| internal_error(py, &*panic))
}

/// Passes on what the run says, until it says no more. What is raised meanwhile ends the run.
fn listen(
    py: Python<'_>,
    listener: Option<&Bound<'_, PyAny>>,
    stop: &Stop,
    receiver: &Mutex<Receiver<Message>>,
) -> PyResult<()> {
    let mut raised = Ok(());
    loop {
        let next =
            py.detach(|| receiver.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(TIMEOUT));
        let heard = match next {
            Ok(told) => listener.map_or(Ok(()), |listener| listener.call1(told).map(drop)),
            Err(RecvTimeoutError::Timeout) => Ok(()),
            Err(RecvTimeoutError::Disconnected) => return raised,
        };
        let heard = heard.and_then(|()| py.check_signals());
        // The first one counts, and nothing is told after it.
        if let (Ok(()), Err(error)) = (&raised, heard) {
            stop.ask();
            raised = Err(error);
        }
    }
}
