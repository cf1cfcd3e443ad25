//! How frames leave and arrive: one file for each kind of socket.

pub(crate) mod datagram;
pub(crate) mod ethernet;
pub(crate) mod stream;
pub(crate) mod train;
pub(crate) mod websocket;
