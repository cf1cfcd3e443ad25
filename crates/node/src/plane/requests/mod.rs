//! What others ask of the data plane: its control, ccnd's status page, and threads that it hands packets to.

pub(in crate::plane) mod operations;
pub(in crate::plane) mod services;
pub(in crate::plane) mod status_page;
pub(crate) mod tables;
