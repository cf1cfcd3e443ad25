//! One file says everything: the typed model of an experiment, its checks, and the plan that backends carry
//! out.

mod cases;
mod controls;
mod describe;
pub mod figures;
mod load;
mod locate;
pub mod measure;
pub mod model;
pub mod names;
pub mod plan;
pub mod problem;
mod reference;
mod resolve;
mod resolve_workloads;
mod template;
pub mod units;

pub use describe::{Described, Field, Table};
pub use load::Experiment;
pub use plan::Plan;
pub use problem::{Problem, Problems};
pub use reference::reference;
pub use resolve::{Finding, resolve};
pub use template::template;
