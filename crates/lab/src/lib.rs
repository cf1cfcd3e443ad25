//! Experiments: what to run, running it, and what came out as tables and figures.
//!
//! An experiment is a TOML file. [`experiment::run`] runs it in virtual time on all cores and gives a [`Report`](report::Report):
//! tables beside the numbers of the paper that it repeats, figures as SVG with the numbers they were drawn from, and what did not come
//! out as hoped.
//!
//! ```no_run
//! let text = std::fs::read_to_string("experiments/clock-linear.toml")?;
//! let runner = lab::experiment::Runner { workers: None, progress: &|done, all| eprintln!("{done} of {all}") };
//! let report = lab::experiment::run(&text, &runner)?;
//! println!("{}", report.to_text());
//! report.write_to("runs/clock-linear".as_ref())?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod experiment;
pub mod figure;
pub mod parallel;
pub mod report;
pub mod study;
