//! One file says everything: the typed model of an experiment, its checks, and the plan that backends carry
//! out.

mod cases;
mod choice;
mod controls;
mod describe;
mod expectations;
pub mod figures;
mod lacks;
mod load;
mod locate;
pub mod measure;
pub mod model;
mod named_files;
pub mod names;
mod network;
mod origin;
mod paths;
pub mod plan;
pub mod problem;
pub mod profile;
mod recorded;
mod reference;
mod resolve;
mod resolve_arrivals;
mod resolve_contents;
mod resolve_links;
mod resolve_ndnlp;
mod resolve_nodes;
mod resolve_routes;
mod resolve_servers;
mod resolve_simulated;
mod resolve_workloads;
mod samples;
mod studies;
mod template;
pub mod units;

pub use describe::{Described, Field, Table};
pub use load::Experiment;
pub(crate) use named_files::{FILES_FOLDER, Files, kept_name};
pub(crate) use network::{NoTopology, topology_graph};
pub use plan::Plan;
pub use problem::{Problem, Problems};
pub use reference::reference;
pub use resolve::Finding;
pub(crate) use resolve::Findings;
pub use template::template;
