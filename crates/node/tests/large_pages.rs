//! What an allocator of large pages promises its program.

use std::alloc::System;
use std::time::{Duration, Instant};

use cairn_node::{LargePages, prepare_large_pages, use_small_pages};

#[global_allocator]
static ALLOCATOR: LargePages<System> = LargePages(System);

const PAGE: usize = 2 << 20;

/// Bytes of this process that are in large pages, in kB; `None` where the system does not say.
fn large_kilobytes() -> Option<u64> {
    let rollup = std::fs::read_to_string("/proc/self/smaps_rollup").ok()?;
    let line = rollup.lines().find_map(|line| line.strip_prefix("AnonHugePages:"))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

/// Whether the system gives large pages to whom it is advised to, also beside [`use_small_pages`].
fn gives_large_pages() -> bool {
    let enabled = std::fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled").unwrap_or_default();
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let mut numbers = release.split(['.', '-']).map_while(|part| part.parse::<u32>().ok());
    let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    enabled.contains("[madvise]") || enabled.contains("[always]") && version >= (6, 18)
}

#[test]
fn memory_of_one_large_page_begins_on_one_keeps_its_bytes_and_is_large_where_the_system_can() {
    use_small_pages();
    prepare_large_pages().unwrap();
    let since = Instant::now();
    let mut tables: Vec<Vec<u64>> = Vec::new();
    while tables.len() < 8 {
        let mut table = vec![0u64; PAGE / 8];
        assert_eq!(table.as_ptr() as usize % PAGE, 0);
        assert!(table.iter().all(|&word| word == 0), "what was asked for as zero is zero");
        table.fill(tables.len() as u64);
        tables.push(table);
        std::thread::sleep(Duration::from_millis(30));
    }
    // Growing over the size and shrinking below it keeps what was written.
    let mut grown: Vec<u8> = (0..PAGE / 2).map(|at| at as u8).collect();
    grown.reserve_exact(PAGE - grown.len());
    grown.reserve_exact(3 * PAGE - grown.len());
    grown.shrink_to(PAGE);
    grown.shrink_to_fit();
    assert!(grown.iter().enumerate().all(|(at, &byte)| byte == at as u8));
    for (at, table) in tables.iter().enumerate() {
        assert!(table.iter().all(|&word| word == at as u64), "tables {at} and another share memory");
    }
    if gives_large_pages() {
        // How soon a page is cleared is the system's; that none ever is would be ours.
        while large_kilobytes() == Some(0) && since.elapsed() < Duration::from_secs(20) {
            tables.push(vec![1u64; PAGE / 8]);
            std::thread::sleep(Duration::from_millis(30));
        }
        assert_ne!(large_kilobytes(), Some(0));
    }
}
