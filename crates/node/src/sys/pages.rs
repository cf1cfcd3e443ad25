//! Which pages the process's memory is made of.
#![allow(unsafe_code, reason = "prctl has no safe interface for it")]

/// Has the system give memory a small page at a time, for all of this process and what it starts.
///
/// A large page is emptied all at once: for as long as that takes, which is milliseconds where the machine is
/// virtual, no packet is forwarded. A system that does not know the request goes on as before.
pub fn use_small_pages() {
    let (yes, unused): (libc::c_ulong, libc::c_ulong) = (1, 0);
    // SAFETY: the request takes numbers only; it changes how the system answers later page faults and
    // touches no memory.
    unsafe { libc::prctl(libc::PR_SET_THP_DISABLE, yes, unused, unused, unused) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_system_gives_small_pages_once_it_was_asked_to() {
        use_small_pages();
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("THP_enabled:"));
        assert!(line.is_none_or(|enabled| enabled.trim() == "0"), "{line:?}");
    }
}
