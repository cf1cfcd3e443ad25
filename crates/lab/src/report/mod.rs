//! The report: what was done, what came out, whether it can be trusted, and how to do it again; as a page and
//! as a PDF.
//!
//! [`RunData`] reads a run's folder. From it a document is composed, once, which becomes `report.html` and
//! `report.pdf`; each of its figures also becomes SVG, CSV and Parquet.

mod comparison;
mod compose;
mod contour;
mod data;
mod detailed;
mod document;
mod every_number;
mod facet;
mod factors;
mod faults;
mod figures;
mod files;
mod html;
mod map;
mod numbers;
mod overview;
mod paper;
mod parameter;
pub(crate) mod pdf;
mod plans;
mod quantity;
mod ranges;
mod repeat_it;
mod response;
mod results;
mod round_trips;
mod shown;
mod style;
mod summary;
mod tables;
mod topology;
mod undecided;
mod verdict;

pub use comparison::{Comparison, Pair};
pub use data::{CaseData, ReportError, RunData};
pub use every_number::{write_controls, write_results};
pub use files::{drawings, write_report, write_report_of};
pub(crate) use numbers::Numbers;
pub use results::{
    Row, RowControl, RowFinding, RowRun, RowStatement, RowVerdict, result_rows, results_markdown,
    write_results_pictures,
};
pub use shown::{
    ReportFigure, UnknownMeasure, cases_table, estimates_table, measures, report_figures, verdicts_table,
};
pub use verdict::{
    BoundNumber, Conclusion, Control, ControlNumber, Outcome, Verdict, VerdictNumbers, conclusion, unit_of,
    verdicts,
};
