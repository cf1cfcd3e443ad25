//! Which pages the process's memory is made of: small ones, but for what is asked for in one piece of exactly
//! a large page.
//!
//! A large page is cleared all at once when it is used first: for as long as that takes, which is
//! milliseconds where the machine is virtual, its thread does nothing else. Therefore a thread of its own
//! clears the next one ahead, and whoever gets no large page at once gets small ones.
#![allow(unsafe_code, reason = "allocators, prctl and madvise have no safe interface for it")]

use std::alloc::{self, GlobalAlloc, Layout};
use std::ptr::{self, NonNull};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use std::thread::{self, Thread};

/// Bytes of a large page, on all machines that have them beside pages of 4 kB.
const LARGE_PAGE_BYTES: usize = 2 << 20;

/// A large page that nobody has yet. It was allocated by the allocator that takes it from here.
static READY: AtomicPtr<u8> = AtomicPtr::new(ptr::null_mut());

/// Whether the program's allocator is one of [`LargePages`], as far as is known.
static SERVING: AtomicBool = AtomicBool::new(false);

/// The thread that makes the next one ready.
static CLEARING: OnceLock<Thread> = OnceLock::new();

/// An allocator that gives what is exactly 2 MiB long a large page of memory if one is ready
/// ([`prepare_large_pages`]). All else comes from `A`.
///
/// ```
/// use cairn_node::LargePages;
/// use std::alloc::System;
/// #[global_allocator]
/// static ALLOCATOR: LargePages<System> = LargePages(System);
/// let table = vec![0u64; (2 << 20) / 8];
/// assert_eq!(table.as_ptr() as usize % (2 << 20), 0);
/// ```
#[derive(Debug)]
pub struct LargePages<A>(pub A);

/// How `A` is asked for it: what has the length of a large page begins where one can begin.
fn placed(layout: Layout) -> Layout {
    if layout.size() != LARGE_PAGE_BYTES {
        return layout;
    }
    layout.align_to(LARGE_PAGE_BYTES).unwrap_or(layout)
}

/// The page that is ready, if this asks for one and there is one.
#[inline]
fn take_ready(layout: Layout) -> Option<NonNull<u8>> {
    if layout.size() != LARGE_PAGE_BYTES || layout.align() > LARGE_PAGE_BYTES {
        return None;
    }
    SERVING.store(true, Ordering::Relaxed);
    let page = NonNull::new(READY.swap(ptr::null_mut(), Ordering::Acquire));
    if let Some(thread) = CLEARING.get() {
        thread.unpark();
    }
    page
}

// SAFETY: every piece of memory comes from `A`, asked for with `placed` of its layout, and goes back to `A`
// with the same: a page that is ready was asked for in that way too. `placed` keeps the size and never
// weakens the alignment. A page that is ready is zero, and is given to one caller only, because it is swapped
// out.
unsafe impl<A: GlobalAlloc> GlobalAlloc for LargePages<A> {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        match take_ready(layout) {
            Some(page) => page.as_ptr(),
            // SAFETY: the caller's promise about `layout` holds for `placed(layout)`, which is not empty
            // either.
            None => unsafe { self.0.alloc(placed(layout)) },
        }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        match take_ready(layout) {
            Some(page) => page.as_ptr(),
            // SAFETY: as in `alloc`.
            None => unsafe { self.0.alloc_zeroed(placed(layout)) },
        }
    }

    #[inline]
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller got `memory` for `layout` from here, so `A` gave it for `placed(layout)`.
        unsafe { self.0.dealloc(memory, placed(layout)) }
    }

    #[inline]
    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        if layout.size() != LARGE_PAGE_BYTES && new_size != LARGE_PAGE_BYTES {
            // SAFETY: neither layout is changed by `placed`, so this is what the caller promised.
            return unsafe { self.0.realloc(memory, layout, new_size) };
        }
        // SAFETY: the caller promises that `new_size` with this alignment is a valid layout.
        let new_layout = unsafe { Layout::from_size_align_unchecked(new_size, layout.align()) };
        // SAFETY: `new_size` is not 0 by the caller's promise.
        let new_memory = unsafe { self.alloc(new_layout) };
        if !new_memory.is_null() {
            // SAFETY: both are at least that long, and `new_memory` was free until now, so they do not
            // overlap; `memory` came from here for `layout` and is not used any more.
            unsafe {
                ptr::copy_nonoverlapping(memory, new_memory, layout.size().min(new_size));
                self.dealloc(memory, layout);
            }
        }
        new_memory
    }
}

/// Has the system give memory a small page at a time, for all of this process and what it starts, but for
/// what is advised to be large ([`prepare_large_pages`]). Systems before Linux 6.18 cannot except that: there
/// all is small, unless the administrator has chosen that only what is advised is large. A system that does
/// not know the request goes on as before.
pub fn use_small_pages() {
    // What `prctl` calls PR_THP_DISABLE_EXCEPT_ADVISED.
    const EXCEPT_ADVISED: libc::c_ulong = 1 << 1;
    if !disable_large_pages(EXCEPT_ADVISED) && !only_what_is_advised_is_large() {
        disable_large_pages(0);
    }
}

/// False if the system does not know the request or one of its flags.
fn disable_large_pages(flags: libc::c_ulong) -> bool {
    let (yes, unused): (libc::c_ulong, libc::c_ulong) = (1, 0);
    // SAFETY: the request takes numbers only; it changes how the system answers later page faults and touches
    // no memory.
    unsafe { libc::prctl(libc::PR_SET_THP_DISABLE, yes, flags, unused, unused) == 0 }
}

/// What the administrator has chosen for all processes.
fn only_what_is_advised_is_large() -> bool {
    let choice = std::fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled");
    choice.is_ok_and(|choice| choice.contains("[madvise]"))
}

/// Starts the thread that keeps one large page ready, if the program's allocator is one of [`LargePages`].
/// Without it, and where the system has no large pages, everything works, with small ones.
///
/// # Errors
///
/// If no thread can be started.
pub fn prepare_large_pages() -> std::io::Result<()> {
    let clearing = thread::Builder::new().name("large-pages".into()).spawn(|| {
        loop {
            if READY.load(Ordering::Relaxed).is_null() && !make_ready() {
                return;
            }
            thread::park();
        }
    })?;
    // Fails if this was called before; then two threads clear a page each, and one of them never again.
    let _ = CLEARING.set(clearing.thread().clone());
    Ok(())
}

/// Clears a large page and leaves it in `READY`; false if there is no memory for it, or nobody to take it.
fn make_ready() -> bool {
    let Ok(layout) = Layout::from_size_align(LARGE_PAGE_BYTES, LARGE_PAGE_BYTES) else { return false };
    // SAFETY: the layout is not empty.
    let page = unsafe { alloc::alloc(layout) };
    if page.is_null() {
        return false;
    }
    if !SERVING.load(Ordering::Relaxed) {
        // SAFETY: the page was allocated above for this layout, and nobody else knows of it.
        unsafe { alloc::dealloc(page, layout) };
        return false;
    }
    // SAFETY: these bytes are this function's alone until they are published below. The advice does not
    // change what is in them. It comes before they are written, because that is when the system gives the
    // page.
    unsafe {
        libc::madvise(page.cast(), LARGE_PAGE_BYTES, libc::MADV_HUGEPAGE);
        page.write_bytes(0, LARGE_PAGE_BYTES);
    }
    let unused = READY.swap(page, Ordering::AcqRel);
    if !unused.is_null() {
        // SAFETY: whoever swaps a page out owns it; it was allocated for this layout.
        unsafe { alloc::dealloc(unused, layout) };
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_system_gives_small_pages_once_it_was_asked_to() {
        use_small_pages();
        // SAFETY: the request takes numbers only and returns one.
        let answer = unsafe { libc::prctl(libc::PR_GET_THP_DISABLE, 0, 0, 0, 0) };
        // With the second bit, all are small but those that are advised to be large.
        assert!(answer == 1 || answer == 3 || only_what_is_advised_is_large(), "{answer}");
    }
}
