//! The interface that a socket is bound to, as it was when that was done.

use crate::face_uri::MacAddress;
use crate::sys::interfaces::Interface;

/// An interface by its name, which lasts longer than its number.
#[derive(Clone, Debug)]
pub(crate) struct NamedInterface {
    pub(crate) name: String,
    pub(crate) index: u32,
    mac: Option<MacAddress>,
    mtu_bytes: usize,
    is_down: bool,
    /// Whether the socket has said that it is of no more use.
    pub(crate) is_lost: bool,
    /// Whether it has been told already that a new socket could not be had.
    pub(crate) has_failed: bool,
}

impl NamedInterface {
    pub(crate) fn of(interface: &Interface) -> Self {
        NamedInterface {
            name: interface.name.clone(),
            index: interface.index,
            mac: interface.mac,
            mtu_bytes: interface.mtu_bytes,
            is_down: false,
            is_lost: false,
            has_failed: false,
        }
    }

    pub(crate) fn is_down(&self) -> bool {
        self.is_down
    }

    pub(crate) fn goes_down(&mut self) {
        self.is_down = true;
    }

    /// A socket has been bound to the interface as it is now.
    pub(crate) fn comes_up(&mut self, interface: &Interface) {
        *self = NamedInterface::of(interface);
    }

    /// Whether the interface has the same Ethernet address.
    pub(crate) fn has_mac_of(&self, interface: &Interface) -> bool {
        self.mac == interface.mac
    }

    /// Whether the socket must be made anew for this interface, which is up.
    pub(crate) fn differs_from(&self, interface: &Interface) -> bool {
        let now = NamedInterface::of(interface);
        self.is_down
            || self.is_lost
            || (self.index, self.mac, self.mtu_bytes) != (now.index, now.mac, now.mtu_bytes)
    }
}
