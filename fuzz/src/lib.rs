//! What fuzz targets share: worlds in which the state machines under test are put.

// As tests of the node call it, of which one file is used here.
extern crate node as cairn_node;

pub mod bad_link;
pub mod busy_node;
pub mod plain_node;
pub mod small_reads;
pub mod topology;
