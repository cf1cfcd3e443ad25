//! The part of an address that says whose it is.

use std::net::IpAddr;

/// Who is behind an address, as far as it tells: an address of IPv4, and of one of IPv6 its network of 64
/// bits, of which a host may have any number of addresses.
///
/// ```
/// use cairn_system::AddressPrefix;
/// let of = |text: &str| text.parse().map(AddressPrefix::of);
/// assert_eq!(of("2001:db8::1")?, of("2001:db8::2")?);
/// assert_eq!(of("::ffff:192.0.2.1")?, of("192.0.2.1")?);
/// assert_ne!(of("192.0.2.1")?, of("192.0.2.2")?);
/// # Ok::<(), std::net::AddrParseError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AddressPrefix {
    /// An address of IPv4.
    V4(u32),
    /// The first half of an address of IPv6.
    V6(u64),
}

impl AddressPrefix {
    /// That of an address. An address of IPv4 written as one of IPv6 is one of IPv4.
    pub fn of(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V4(address) => AddressPrefix::V4(address.to_bits()),
            IpAddr::V6(address) => AddressPrefix::V6((address.to_bits() >> 64) as u64),
        }
    }
}
