//! What the kernel offers and safe crates do not: datagrams by the train, and a few socket options.

pub(crate) mod datagrams;
pub(crate) mod interfaces;
pub(crate) mod netlink_messages;
pub(crate) mod options;
pub(crate) mod packet_ring;
pub(crate) mod pages;
mod ring_slots;
pub(crate) mod threads;

/// Numbers from the system's random source.
pub(crate) fn random_words<const N: usize>() -> std::io::Result<[u64; N]> {
    let mut words = [0; N];
    for word in &mut words {
        let mut bytes = [0; 8];
        rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())?;
        *word = u64::from_ne_bytes(bytes);
    }
    Ok(words)
}
