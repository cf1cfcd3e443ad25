//! What Linux says about memory in `/proc/meminfo`.

/// The machine's memory in bytes, by the text of that file.
///
/// ```
/// let text = "MemTotal:       24576 kB\nMemFree:            1 kB\n";
/// assert_eq!(cairn_system::meminfo::total_bytes(text), Some(24 << 20));
/// ```
pub fn total_bytes(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_line_that_says_how_much_there_is_counts() {
        assert_eq!(total_bytes("MemFree: 1 kB\nMemTotal:       24576 kB\n"), Some(24 << 20));
        for text in ["", "MemTotal:", "MemTotal: 1 MB", "MemTotal: x kB", "SwapMemTotal: 1 kB"] {
            assert_eq!(total_bytes(text), None, "{text}");
        }
        assert_eq!(total_bytes(&format!("MemTotal: {} kB", u64::MAX)), None);
    }
}
