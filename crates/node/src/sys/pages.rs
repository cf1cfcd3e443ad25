//! Which pages the process's memory is made of.
#![allow(unsafe_code, reason = "prctl and madvise have no safe interface for it")]

/// Of `PR_SET_THP_DISABLE`, from Linux 6.18 on: memory that was advised about may have large pages.
const EXCEPT_ADVISED: libc::c_ulong = 1 << 1;
/// The least that the system gives advice about.
const SMALL_PAGE_BYTES: usize = 4096;

/// Has the system give memory a small page at a time, for all of this process and what it starts, but where
/// [`prefer_large_pages`] asks for large ones.
///
/// A large page is emptied all at once: for as long as that takes, which is milliseconds where the machine is
/// virtual, no packet is forwarded. A system that knows no exceptions gives small pages there, too. One that
/// does not know the request goes on as before.
pub fn use_small_pages() {
    let (yes, unused): (libc::c_ulong, libc::c_ulong) = (1, 0);
    // SAFETY: the request takes numbers only; it changes how the system answers later page faults and
    // touches no memory.
    let refused = unsafe { libc::prctl(libc::PR_SET_THP_DISABLE, yes, EXCEPT_ADVISED, unused, unused) } != 0;
    if refused {
        // SAFETY: the same.
        unsafe { libc::prctl(libc::PR_SET_THP_DISABLE, yes, unused, unused, unused) };
    }
}

/// Asks for large pages in memory that is read here and there, where it is worth the wait for a few of them:
/// of a table of some 20 MB that every packet reads at two places, ten. Without them, finding its small pages
/// took a seventh of the time that an exchange takes outside of the kernel.
pub(crate) fn prefer_large_pages(start: *const u8, bytes: usize) {
    let first = start.addr().next_multiple_of(SMALL_PAGE_BYTES);
    let Some(length) = (start.addr() + bytes).checked_sub(first) else { return };
    let first = start.with_addr(first).cast_mut().cast();
    // SAFETY: this advice changes neither what memory holds nor who may use it, wherever it is; a system that
    // does not follow it, or a range that is not there, is an error, which changes nothing.
    unsafe { libc::madvise(first, length, libc::MADV_HUGEPAGE) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_system_gives_small_pages_once_it_was_asked_to() {
        use_small_pages();
        let unused: libc::c_ulong = 0;
        // SAFETY: the request takes and gives numbers only.
        let answer = unsafe { libc::prctl(libc::PR_GET_THP_DISABLE, unused, unused, unused, unused) };
        // 3 where there are exceptions. A system without large pages knows no such request.
        assert!([1, 3, -1].contains(&answer), "{answer}");
    }

    #[test]
    fn advice_reaches_memory_of_any_place_and_size_and_leaves_what_it_holds() {
        let memory = vec![7_u8; 5 << 20];
        for (from, to) in [(0, 5 << 20), (1, 4095), (1, 2), (4096, 4096), (123, 3 << 20)] {
            prefer_large_pages(memory[from..].as_ptr(), to - from);
        }
        assert!(memory.iter().all(|byte| *byte == 7));
        let smaps = std::fs::read_to_string("/proc/self/smaps").unwrap();
        let is_advised =
            |line: &str| line.starts_with("VmFlags:") && line.split(' ').any(|flag| flag == "hg");
        let has_large_pages = std::path::Path::new("/sys/kernel/mm/transparent_hugepage").exists();
        assert_eq!(smaps.lines().any(is_advised), has_large_pages);
    }
}
