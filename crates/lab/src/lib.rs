//! Experiments: describes them, runs them, and reports the results with tables and figures.
//!
//! An experiment is a TOML file. It says which nodes there are, how they are linked, which workloads run and
//! what is expected. The same file runs on real forwarders in namespaces and in virtual time. A [study]
//! is an experiment, too: it repeats a paper's tables and figures, in virtual time, on all cores.
//!
//! ```no_run
//! # use cairn_lab::{experiment::Experiment, study};
//! let experiment = Experiment::read("experiments/clock-linear.toml".as_ref())?;
//! let runner = study::Runner { workers: None, progress: &|done, all| eprintln!("{done} of {all}") };
//! let report = study::run(&experiment, &runner)?;
//! println!("{}", report.to_text());
//! report.write_to("runs/clock-linear".as_ref())?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Where things are
//! - [`experiment`]: reads the file, reports mistakes, and makes a plan of each case.
//! - [`order`]: what every backend is told, and which files it leaves. [`backend`]: namespaces, hosts and
//!   virtual time. [`driver`]: the forwarder under test. [`agent`]: the workloads beside each forwarder.
//! - [`run`]: all cases and repeats of an experiment, in a run's folder. [`live`]: a network that stays.
//! - [`capture`], [`analysis`], [`stats`]: from raw measurements to numbers with confidence intervals.
//! - [`figure`], [`report`]: figures, and the report as a page and as a PDF.
//! - [`study`]: studies of papers. [`validation`]: how far virtual time is from real forwarders.

pub mod agent;
pub mod analysis;
pub mod backend;
pub mod capture;
pub mod driver;
pub mod experiment;
pub mod figure;
mod keys;
pub mod live;
mod memory_files;
pub mod order;
pub mod parallel;
pub mod prose;
pub mod report;
pub mod run;
mod sampling;
mod seal;
pub mod stats;
pub mod study;
pub mod validation;
mod wall_clock;
