//! Experiments: what to run, running it, and what came out as tables and figures.
//!
//! An experiment is a TOML file. It says which nodes there are, how they are linked, what is asked of them
//! and what is expected; the same file runs on real forwarders in namespaces and in virtual time. A [study]
//! is an experiment of another kind: it repeats a paper's tables and figures, in virtual time, on all cores.
//!
//! ```no_run
//! let text = std::fs::read_to_string("experiments/clock-linear.toml")?; let runner =
//! cairn_lab::study::Runner { workers: None, progress: &|done, all| eprintln!("{done} of {all}") }; let
//! report = cairn_lab::study::run(&text, &runner)?; println!("{}", report.to_text());
//! report.write_to("runs/clock-linear".as_ref())?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod agent;
pub mod analysis;
pub mod backend;
pub mod capture;
pub mod distance;
pub mod driver;
pub mod experiment;
pub mod figure;
pub mod live;
pub mod order;
pub mod parallel;
pub mod report;
pub mod run;
mod sampling;
pub mod stats;
pub mod study;
