//! A planted bug, six comparisons deep. Random bytes would need 2^48 attempts; a fuzzer that sees coverage
//! needs well under a second. `cargo xtask fuzz smoke` fails if it is not found.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut met = 0;
    for (byte, wanted) in bytes.iter().zip(b"canary") {
        if byte != wanted {
            return;
        }
        met += 1;
    }
    assert!(met < 6, "the canary was found, as it must be");
});
