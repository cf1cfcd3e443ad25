//! How frames leave and arrive: one file for each kind of socket.

mod channels;
pub(crate) mod datagram;
pub(crate) mod ethernet;
mod place;
pub(crate) mod stream;
pub(crate) mod train;
pub(crate) mod websocket;

pub(crate) use channels::Channels;
pub(crate) use place::Place;
