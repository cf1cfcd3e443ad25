//! The data plane's sockets and what watches them.

use std::os::fd::OwnedFd;

use super::Listener;
use super::descriptors::DescriptorReserve;
use crate::transport::Channels;
use crate::transport::ethernet::EthernetChannel;

/// Sockets that several faces share, and the watch over those and over the faces' own.
pub(crate) struct Sockets {
    pub(super) epoll: OwnedFd,
    /// For datagrams.
    pub(super) channels: Channels,
    pub(super) ethernet: Vec<EthernetChannel>,
    pub(crate) listeners: Vec<Listener>,
    /// Kept for when the system has no descriptor left.
    pub(super) descriptors: DescriptorReserve,
}

impl Sockets {
    pub(super) fn new(epoll: OwnedFd) -> Self {
        Sockets {
            epoll,
            channels: Channels::default(),
            ethernet: Vec::new(),
            listeners: Vec::new(),
            descriptors: DescriptorReserve::new(),
        }
    }
}
