//! What strangers send to a repository: commands of ndn-python-repo, and packets one behind the other. What
//! is read is written and read again as the same; a stream in pieces is the stream in one.

#![no_main]

use cairn_fuzz::small_reads::SmallReads;
use repo::protocol::{Command, CommandStatus, MAX_OBJECTS, Notify, Query};
use repo::stream::DataStream;

/// What comes out of a stream: the packets, where it ends, and whether in good order.
fn packets(bytes: &[u8], length: usize) -> (Vec<Vec<u8>>, u64, bool) {
    let mut stream = DataStream::new(SmallReads(bytes, length));
    let mut packets = Vec::new();
    loop {
        match stream.next_data() {
            Ok(Some(data)) => packets.push(data.wire().to_vec()),
            Ok(None) => return (packets, stream.position(), true),
            Err(_) => return (packets, stream.position(), false),
        }
    }
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Ok(notify) = Notify::decode(bytes) {
        assert_eq!(Notify::decode(&notify.encode()), Ok(notify));
    }
    if let Ok(command) = Command::decode(bytes) {
        assert!(!command.objects.is_empty() && command.objects.len() <= MAX_OBJECTS);
        assert_eq!(Command::decode(&command.encode()), Ok(command));
    }
    if let Ok(query) = Query::decode(bytes) {
        assert_eq!(query.encode(), bytes);
    }
    if let Ok(status) = CommandStatus::decode(bytes) {
        assert_eq!(CommandStatus::decode(&status.encode()), Ok(status));
    }
    let whole = packets(bytes, usize::MAX);
    assert_eq!(whole, packets(bytes, 1 + bytes.len() % 7));
    let length: usize = whole.0.iter().map(Vec::len).sum();
    assert_eq!(whole.0.concat(), bytes[..length]);
    assert!(!whole.2 || length == bytes.len());
});
