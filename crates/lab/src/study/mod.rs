//! Studies that reproduce a paper and go on from there.

pub mod clock;
