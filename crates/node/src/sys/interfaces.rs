//! Network interfaces of this host.
#![allow(unsafe_code, reason = "getifaddrs has no safe interface")]

use std::collections::BTreeMap;
use std::ffi::CStr;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::os::fd::AsRawFd as _;

use crate::face_uri::MacAddress;

/// A network interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Interface {
    pub(crate) name: String,
    pub(crate) index: u32,
    pub(crate) is_up: bool,
    pub(crate) is_loopback: bool,
    pub(crate) can_multicast: bool,
    pub(crate) mac: Option<MacAddress>,
    pub(crate) v4: Vec<Ipv4Addr>,
    pub(crate) v6: Vec<Ipv6Addr>,
    /// The largest packet that it takes.
    pub(crate) mtu_bytes: usize,
}

/// All interfaces, in order of name.
pub(crate) fn all() -> io::Result<Vec<Interface>> {
    let mut list: *mut libc::ifaddrs = std::ptr::null_mut();
    // SAFETY: the function stores a list that stays valid until it is freed below.
    if unsafe { libc::getifaddrs(&raw mut list) } != 0 {
        return Err(io::Error::last_os_error());
    }
    let mut interfaces = BTreeMap::new();
    let mut next = list;
    // SAFETY: each element of the list is valid until the list is freed, and ends with a null pointer.
    while let Some(element) = unsafe { next.as_ref() } {
        note(&mut interfaces, element);
        next = element.ifa_next;
    }
    // SAFETY: the list came from getifaddrs, and nothing refers to it any more.
    unsafe { libc::freeifaddrs(list) };
    Ok(interfaces.into_values().collect())
}

fn note(interfaces: &mut BTreeMap<String, Interface>, element: &libc::ifaddrs) {
    // SAFETY: the name of an element is a string that ends with zero.
    let name = unsafe { CStr::from_ptr(element.ifa_name) }.to_string_lossy().into_owned();
    let has = |flag: libc::c_int| element.ifa_flags & flag as libc::c_uint != 0;
    let interface = interfaces.entry(name.clone()).or_insert_with(|| Interface {
        index: index_of(&name),
        // One that has just gone takes nothing.
        mtu_bytes: mtu_of(&name).unwrap_or(0),
        name,
        is_up: has(libc::IFF_UP) && has(libc::IFF_RUNNING),
        is_loopback: has(libc::IFF_LOOPBACK),
        can_multicast: has(libc::IFF_MULTICAST),
        mac: None,
        v4: Vec::new(),
        v6: Vec::new(),
    });
    // SAFETY: the address is null or valid as long as the list.
    let Some(address) = (unsafe { element.ifa_addr.as_ref() }) else { return };
    match libc::c_int::from(address.sa_family) {
        libc::AF_INET => {
            // SAFETY: the family says what the address is; it may lie at any alignment.
            let address = unsafe { element.ifa_addr.cast::<libc::sockaddr_in>().read_unaligned() };
            interface.v4.push(Ipv4Addr::from(address.sin_addr.s_addr.to_ne_bytes()));
        }
        libc::AF_INET6 => {
            // SAFETY: as above.
            let address = unsafe { element.ifa_addr.cast::<libc::sockaddr_in6>().read_unaligned() };
            interface.v6.push(Ipv6Addr::from(address.sin6_addr.s6_addr));
        }
        libc::AF_PACKET => {
            // SAFETY: as above.
            let address = unsafe { element.ifa_addr.cast::<libc::sockaddr_ll>().read_unaligned() };
            let bytes = address.sll_addr.first_chunk::<6>().filter(|_| address.sll_halen == 6);
            interface.mac = bytes.map(|bytes| MacAddress(*bytes));
        }
        _ => {}
    }
}

/// The largest packet that an interface takes.
fn mtu_of(name: &str) -> io::Result<usize> {
    let socket = any_socket()?;
    // SAFETY: all bytes zero are a valid request: an empty name, and numbers.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    // The last byte stays zero, which ends the name.
    let places = request.ifr_name.iter_mut().take(libc::IFNAMSIZ - 1);
    places.zip(name.bytes()).for_each(|(place, byte)| *place = byte as libc::c_char);
    // SAFETY: the descriptor is open; the kernel reads the name of the request and writes a number to it.
    let outcome = unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCGIFMTU as _, &raw mut request) };
    if outcome != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: this request fills in the MTU, a number.
    let mtu = unsafe { request.ifr_ifru.ifru_mtu };
    usize::try_from(mtu).map_err(io::Error::other)
}

fn index_of(name: &str) -> u32 {
    // Not by way of /sys, which may show another network namespace.
    let index = any_socket().and_then(|socket| Ok(rustix::net::netdevice::name_to_index(&socket, name)?));
    index.unwrap_or(0)
}

/// A socket to ask the system by.
fn any_socket() -> io::Result<std::net::UdpSocket> {
    let unbound = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::DGRAM, None)?;
    Ok(unbound.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loopback_interface_is_found_with_its_address() {
        let all = all().unwrap();
        let loopback = all.iter().find(|interface| interface.is_loopback).unwrap();
        assert!(loopback.v4.contains(&Ipv4Addr::LOCALHOST), "{loopback:?}");
        assert!(loopback.index > 0 && loopback.mtu_bytes > 1000);
    }
}
