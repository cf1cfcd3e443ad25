//! One file says everything: the typed model of an experiment, its checks, and the plan that backends carry
//! out.
//!
//! `read` goes from the text of a file to its tables and tells mistakes at their lines; `cases` makes the
//! cases of its sweeps and controls; `resolve` fills in every default of a case; `check` says what of it
//! cannot be carried out or judged. `model` is what a file may hold, and `plan` what a backend carries out.

pub mod backends;
pub mod bounds;
mod cases;
pub(crate) mod check;
pub mod measure;
pub mod model;
pub mod names;
pub mod plan;
pub mod problem;
pub mod profile;
mod read;
mod reference;
pub(crate) mod resolve;
pub mod units;

pub use cases::drawn_again::DrawnAgain;
pub(crate) use cases::swept::added_sweep;
pub use cases::swept::{SweepValue, with_sweep};
pub use plan::Plan;
pub use problem::{Problem, Problems};
pub use read::Experiment;
pub use read::findings::Finding;
pub(crate) use read::findings::Findings;
pub(crate) use read::named_files::{FILES_FOLDER, Files, kept_name};
pub use reference::describe::{Described, Field, Table};
pub use reference::template::template;
pub use reference::{reference, reference_json};
pub(crate) use resolve::network::{NoTopology, topology_graph};
