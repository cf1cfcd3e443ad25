//! `nfd.conf` made a configuration of ours. Whatever is converted can be read and its notes are lines of
//! their own; lines that say nothing change nothing but the numbers of those behind them.

#![no_main]

use std::path::Path;

use node::config::{Config, from_nfd};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let folder = Path::new("/etc/ndn");
    let converted = from_nfd(text, folder);
    let padded = from_nfd(&format!("; nothing\n\n{text}\n; nothing\n"), folder);
    let Ok(converted) = converted else {
        assert!(padded.is_err(), "a comment makes sense of it");
        return;
    };
    let config = Config::read(&converted.text).expect("what was converted cannot be read");
    assert!(converted.notes.iter().all(|note| !note.contains(char::is_control)));
    let padded = padded.expect("a comment makes no sense of it");
    assert_eq!(padded.notes.len(), converted.notes.len());
    assert_eq!(Config::read(&padded.text).as_ref(), Ok(&config));
});
