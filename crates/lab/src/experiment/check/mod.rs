//! Whether an experiment that reads as one makes sense: what its figures and statements name is measured,
//! some result confirms each statement and some result contradicts it, and the backend can carry it out.

mod alike;
mod all_limits;
mod amounts;
mod asks_otherwise;
pub(crate) mod by_construction;
mod certain;
mod concerned;
pub(crate) mod decided;
pub(super) mod expectations;
pub(crate) mod figures;
pub(super) mod judgeable;
pub(super) mod lacks;
mod limits;
mod measured;
mod never_begun;
pub(crate) mod notes;
pub(super) mod one_line;
mod passing;
mod relation;
mod shortest_path;
mod too_much;
mod units;
mod without_effect;
