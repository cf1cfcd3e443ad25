//! How frames leave and arrive: one file for each kind of socket, and `inner` for applications inside the
//! process, over a `ring` each way.

mod channels;
pub(crate) mod datagram;
pub(crate) mod ethernet;
pub(crate) mod ethernet_socket;
mod frame_sink;
pub(crate) mod inner;
mod named_interface;
pub(crate) mod read_size;
pub(crate) mod ring;
pub(crate) mod stream;
pub(crate) mod stream_socket;
pub(crate) mod train;
pub(crate) mod websocket;

pub(crate) use channels::Channels;
pub(crate) use frame_sink::FrameSink;
pub(crate) use named_interface::NamedInterface;
