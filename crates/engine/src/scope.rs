//! How far packets may go, by their names (NFD's rules) and by the Interest's scope (CCNx).

use packet::{Data, Dialect, Interest};

/// The components that begin names of limited scope, as NDN and CCNx write them. A name begins with a
/// component exactly if its bytes begin with the component's.
const LOCALHOST: [&[u8]; 2] = [b"\x08\x09localhost", b"\xfa\xcdlocalhost\0"];
const LOCALHOP: [&[u8]; 2] = [b"\x08\x08localhop", b"\xfa\xc5localhop\0"];
/// What CCNx has for the first: the services of this host.
const CCNX_LOCALHOST: &[u8] = b"\xfa\xfd\xc1.M.S.localhost\0";

/// Tells in one comparison that almost all names of CCNx are neither, nor begin with what CCNx has for the
/// first.
#[inline(always)]
fn is_usual_in_ccnx(components: &[u8]) -> bool {
    !matches!(components.get(2), Some(b'l' | 0xc1))
}

/// Whether Data may neither come from, nor go to, another host, by its name.
#[inline(always)]
pub(crate) fn is_for_this_host_only(data: &Data) -> bool {
    data.may_have_limited_scope() && is_below_localhost(data.dialect(), data.wire_components())
}

#[cold]
fn is_below_localhost(dialect: Dialect, components: &[u8]) -> bool {
    components.starts_with(LOCALHOST[dialect as usize])
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
    let dialect = interest.dialect();
    if interest.may_have_limited_scope() && is_below_localhost(dialect, interest.wire_components()) {
        return false;
    }
    dialect == Dialect::Ndn || ccnx_scope(interest).is_none_or(|scope| scope > 1) && !stays_on_host()
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
        let is_usual = !interest.has_selectors() && is_usual_in_ccnx(interest.wire_components());
        return (is_usual || ccnx_may_leave(interest, from_remote, to_local))
            && (to_local || !stays_on_host());
    }
    if to_local {
        return true;
    }
    if interest.hop_limit() == Some(0) {
        return false;
    }
    !interest.may_have_limited_scope()
        || limited_may_leave(Dialect::Ndn, interest.wire_components(), from_remote)
}

/// Whether something of this name may go to another host.
#[cold]
fn limited_may_leave(dialect: Dialect, components: &[u8], from_remote: impl FnOnce() -> bool) -> bool {
    let made_its_hop = || components.starts_with(LOCALHOP[dialect as usize]) && from_remote();
    !is_below_localhost(dialect, components) && !made_its_hop()
}

#[inline(never)]
fn ccnx_may_leave(interest: &Interest, from_remote: impl FnOnce() -> bool, to_local: bool) -> bool {
    let scope = ccnx_scope(interest);
    if to_local {
        return scope != Some(0);
    }
    let components = interest.wire_components();
    if components.starts_with(CCNX_LOCALHOST) {
        return false;
    }
    let from_remote = from_remote();
    if !limited_may_leave(Dialect::Ccnx, components, || from_remote) {
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
    interest.ccnx_selectors()?.scope().map(|scope| scope.number())
}
