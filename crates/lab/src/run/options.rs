//! What a run is started with.

use std::path::{Path, PathBuf};

use super::build::Build;
use super::shard::Shard;
use crate::backend::hosts::Inventory;
use crate::driver::Programs;
use crate::experiment::plan::TraceFormat;
use crate::order::Stop;

/// What a run is started with, beside the experiment.
#[derive(Debug, Clone)]
pub struct Options {
    /// The backend: `netns`, `hosts` or `sim`.
    pub backend: String,
    /// The machines, for `hosts`.
    pub hosts: Option<Inventory>,
    /// The folder that runs are put in.
    pub runs: PathBuf,
    /// The folder of this run, where it is not to be named after the experiment and the moment.
    pub out: Option<PathBuf>,
    /// Cores for virtual time, all of the machine if nothing is said: repeats go on beside each other, and
    /// where there are two cores and more for each, they work on it together.
    pub workers: Option<usize>,
    /// Another form of traces than the experiment says.
    pub trace_format: Option<TraceFormat>,
    /// Where programs are.
    pub programs: Programs,
    /// Other numbers of repeats than the experiment says.
    pub repeats: Option<u32>,
    /// Another seed than the experiment says.
    pub seed: Option<u64>,
    /// Only cases whose name holds this.
    pub only: Option<String>,
    /// Only this share of the cases.
    pub shard: Option<Shard>,
    /// Are controls run, too?
    pub controls: bool,
    /// What this program was built from.
    pub build: Build,
    /// Asks for an early end.
    pub stop: Stop,
}

impl Options {
    /// All of an experiment as its file says, controls included, into a folder of its own below `runs`.
    #[must_use]
    pub fn new(backend: &str, runs: &Path, programs: Programs) -> Self {
        Options {
            backend: backend.to_owned(),
            hosts: None,
            runs: runs.to_owned(),
            out: None,
            workers: None,
            trace_format: None,
            programs,
            repeats: None,
            seed: None,
            only: None,
            shard: None,
            controls: true,
            build: Build::default(),
            stop: Stop::default(),
        }
    }
}
