//! A node's faces over real sockets: packets come through, faces come and go, and neighbours that die are found again.

mod lifecycle;
mod links;
mod support;
mod transports;
