//! The data plane's sockets and what watches them.

pub(in crate::plane) mod channels;
pub(in crate::plane) mod connected_sockets;
pub(in crate::plane) mod descriptors;
pub(in crate::plane) mod ip;
pub(in crate::plane) mod websocket_origin;

use std::os::fd::OwnedFd;

use crate::plane::Listener;
use crate::plane::sockets::descriptors::DescriptorReserve;
use crate::transport::Channels;
use crate::transport::ethernet::EthernetChannel;

/// Sockets that several faces share, and the watch over those and over the faces' own.
pub(crate) struct Sockets {
    pub(in crate::plane) epoll: OwnedFd,
    /// For datagrams.
    pub(in crate::plane) channels: Channels,
    pub(in crate::plane) ethernet: Vec<EthernetChannel>,
    pub(crate) listeners: Vec<Listener>,
    /// Kept for when the system has no descriptor left.
    pub(in crate::plane) descriptors: DescriptorReserve,
}

impl Sockets {
    pub(in crate::plane) fn new(epoll: OwnedFd) -> Self {
        Sockets {
            epoll,
            channels: Channels::default(),
            ethernet: Vec::new(),
            listeners: Vec::new(),
            descriptors: DescriptorReserve::new(),
        }
    }
}
