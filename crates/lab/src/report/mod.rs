//! The report: one page that says what was done, what came out, whether it can be trusted, and how to do it again.

mod chart;
mod data;
mod figures;
mod page;
mod repeat_it;
mod scale;
mod style;
mod summary;
mod svg;
mod tables;
mod topology;
mod transfers;
mod verdict;

pub use data::{CaseData, ReportError, RunData};
pub use page::write_report;
pub use verdict::{Verdict, verdicts};
