//! A packet's way through the node: from a socket, through taps and codec, to the engine and out again.

pub(in crate::plane) mod fair_turn;
pub(in crate::plane) mod impaired;
pub(in crate::plane) mod one_frame;
pub(in crate::plane) mod receive;
pub(in crate::plane) mod samples;
pub(in crate::plane) mod send;
pub(in crate::plane) mod taps;
