//! How far packets may go, by their names (NFD's rules) and by the Interest's scope (CCNx).

use packet::{Dialect, Interest, NameRef};

/// The generic components that begin names of limited scope, in canonical form. A name begins with a
/// component exactly if its bytes begin with the component's.
const LOCALHOST: &[u8] = b"\x08\x09localhost";
const LOCALHOP: &[u8] = b"\x08\x08localhop";
/// What CCNx has for the first: the services of this host.
const CCNX_LOCALHOST: &[u8] = b"\x08\x0f\xc1.M.S.localhost";

/// Tells in one comparison that almost all names are neither.
#[inline(always)]
fn may_be_limited(name: NameRef<'_>) -> bool {
    matches!(name.canonical(), [8, 8 | 9, b'l', ..])
}

/// Whether a packet with this name may come from, or go to, another host at all.
#[inline]
pub(crate) fn is_for_this_host_only(name: NameRef<'_>) -> bool {
    may_be_limited(name) && name.canonical().starts_with(LOCALHOST)
}

/// Whether an Interest may be taken from a face. `stays_on_host` says whether its name is one of this host
/// alone; it is asked only in CCNx.
#[inline]
pub(crate) fn interest_may_enter(
    interest: &Interest,
    from_local: bool,
    stays_on_host: impl FnOnce() -> bool,
) -> bool {
    if from_local {
        return true;
    }
    if is_for_this_host_only(interest.name()) {
        return false;
    }
    let Some(view) = interest.ccnx() else { return true };
    view.scope().is_none_or(|scope| scope.number() > 1) && !stays_on_host()
}

/// Whether an Interest may leave by a face. `from_remote` says whether all who wait for it are on other
/// hosts, `stays_on_host` whether its name is one of this host alone (CCNx); they are asked only where that
/// counts.
#[inline(always)]
pub(crate) fn interest_may_leave(
    interest: &Interest,
    from_remote: impl FnOnce() -> bool,
    stays_on_host: impl FnOnce() -> bool,
    to_local: bool,
) -> bool {
    if interest.dialect() == Dialect::Ccnx {
        return ccnx_may_leave(interest, from_remote, to_local) && (to_local || !stays_on_host());
    }
    if to_local {
        return true;
    }
    if interest.hop_limit() == Some(0) {
        return false;
    }
    let name = interest.name();
    !may_be_limited(name) || limited_may_leave(name, from_remote)
}

/// Whether something of this name may go to another host.
#[cold]
fn limited_may_leave(name: NameRef<'_>, from_remote: impl FnOnce() -> bool) -> bool {
    let made_its_hop = || name.canonical().starts_with(LOCALHOP) && from_remote();
    !is_for_this_host_only(name) && !made_its_hop()
}

#[inline(never)]
fn ccnx_may_leave(interest: &Interest, from_remote: impl FnOnce() -> bool, to_local: bool) -> bool {
    let scope = ccnx_scope(interest);
    if to_local {
        return scope != Some(0);
    }
    let from_remote = from_remote();
    let name = interest.name();
    if !limited_may_leave(name, || from_remote) || name.canonical().starts_with(CCNX_LOCALHOST) {
        return false;
    }
    match scope {
        Some(0 | 1) => false,
        // The next host may pass it on to its applications, but no further.
        Some(2) => !from_remote,
        _ => true,
    }
}

fn ccnx_scope(interest: &Interest) -> Option<u8> {
    interest.ccnx()?.scope().map(|scope| scope.number())
}
