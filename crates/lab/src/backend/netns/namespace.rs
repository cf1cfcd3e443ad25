//! A network namespace that lives as long as the thread that made it, and no longer.
//!
//! A namespace without a name cannot be left behind: when its last thread, process and socket are gone, the
//! kernel takes it away, and its interfaces with it. Work is done inside by sending it to the thread.

use std::fs::File;
use std::io;
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;

use nix::sched::{CloneFlags, unshare};

type Task = Box<dyn FnOnce() + Send>;

/// A thread in a network namespace of its own.
#[derive(Debug)]
pub struct Namespace {
    tasks: Option<Sender<Task>>,
    thread: Option<JoinHandle<()>>,
    handle: File,
}

/// Why no namespace could be had, or why it no longer answers.
#[derive(Debug, thiserror::Error)]
pub enum NamespaceError {
    /// The kernel refused.
    #[error("no network namespace could be made: {0}; run as root, or allow user namespaces")]
    Refused(#[from] io::Error),
    /// The thread is gone.
    #[error("the thread of the namespace `{0}` ended early")]
    Gone(String),
}

impl Namespace {
    /// Makes a namespace, with nothing in it but a loopback interface that is down.
    ///
    /// # Errors
    ///
    /// When the kernel refuses.
    pub fn new(name: &str) -> Result<Self, NamespaceError> {
        let (tasks, inbox) = channel::<Task>();
        let (opened, answer) = channel();
        let body = move || {
            let made = unshare(CloneFlags::CLONE_NEWNET)
                .map_err(io::Error::from)
                .and_then(|()| File::open("/proc/thread-self/ns/net"));
            let good = made.is_ok();
            if opened.send(made).is_err() || !good {
                return;
            }
            for task in inbox {
                task();
            }
        };
        let thread = std::thread::Builder::new().name(format!("node {name}")).spawn(body)?;
        let handle = answer.recv().map_err(|_| NamespaceError::Gone(name.to_owned()))??;
        Ok(Namespace { tasks: Some(tasks), thread: Some(thread), handle })
    }

    /// What stands for the namespace towards the kernel.
    #[must_use]
    pub fn handle(&self) -> &File {
        &self.handle
    }

    /// Does something inside and waits for its result. Processes that are started there are in the namespace.
    ///
    /// # Errors
    ///
    /// When the thread has ended.
    pub fn run<T: Send + 'static>(
        &self,
        task: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, NamespaceError> {
        let gone = || {
            NamespaceError::Gone(
                self.thread.as_ref().and_then(|thread| thread.thread().name()).unwrap_or("?").to_owned(),
            )
        };
        let (done, result) = channel();
        let task: Task = Box::new(move || {
            // The receiver waits below; it cannot be gone.
            let _ = done.send(task());
        });
        self.tasks.as_ref().ok_or_else(gone)?.send(task).map_err(|_| gone())?;
        result.recv().map_err(|_| gone())
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        drop(self.tasks.take());
        if let Some(thread) = self.thread.take() {
            // A panic inside has already been reported on standard error.
            let _ = thread.join();
        }
    }
}
