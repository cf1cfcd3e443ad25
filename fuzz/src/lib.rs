//! What fuzz targets share: worlds in which the state machines under test are put.

pub mod bad_link;
pub mod busy_node;
pub mod plain_node;
pub mod small_reads;
pub mod topology;
