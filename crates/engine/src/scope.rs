//! How far packets may go, by their names (NFD's rules) and by the Interest's scope (CCNx).

use packet::{Component, Interest, NameRef};

/// Whether a packet with this name may come from, or go to, another host at all.
#[inline]
pub(crate) fn is_for_this_host_only(name: NameRef<'_>) -> bool {
    starts_with(name, b"localhost")
}

/// Whether an Interest may be taken from a face.
#[inline]
pub(crate) fn interest_may_enter(interest: &Interest, from_local: bool) -> bool {
    if from_local {
        return true;
    }
    if is_for_this_host_only(interest.name()) {
        return false;
    }
    ccnx_scope(interest).is_none_or(|scope| scope > 1)
}

/// Whether an Interest may leave by a face. `from_remote`: all who wait for it are on other hosts.
#[inline]
pub(crate) fn interest_may_leave(interest: &Interest, from_remote: bool, to_local: bool) -> bool {
    if to_local {
        return ccnx_scope(interest) != Some(0);
    }
    let name = interest.name();
    if is_for_this_host_only(name) || interest.hop_limit() == Some(0) {
        return false;
    }
    if from_remote && starts_with(name, b"localhop") {
        return false;
    }
    match ccnx_scope(interest) {
        Some(0 | 1) => false,
        // The next host may pass it on to its applications, but no further.
        Some(2) => !from_remote,
        _ => true,
    }
}

fn ccnx_scope(interest: &Interest) -> Option<u8> {
    interest.ccnx()?.scope().map(|scope| scope.number())
}

#[inline]
fn starts_with(name: NameRef<'_>, word: &[u8]) -> bool {
    // Compares bytes before it decodes a component: this runs for every packet and every face.
    let canonical = name.canonical();
    canonical.get(2..2 + word.len()) == Some(word)
        && name.components().next() == Some(Component::generic(word))
}
