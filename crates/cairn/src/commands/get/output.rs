//! Where the bytes go: from the packets they came in, without a copy.

use std::fs::File;
use std::io::{self, BufWriter, IoSlice, Write};

use flow::Segment;

use crate::tool::content::{self, ContentWriter};

/// Bytes that are gathered when they come in small segments. Larger ones leave from where they are.
const GATHERED_BYTES: usize = 32 << 10;

/// What a pipe holds if the system lets it, so that its two ends need not take turns for every few packets.
const PIPE_BYTES: usize = 256 << 10;

/// Standard output, with as much room as a pipe can have.
pub(super) fn standard_output() -> io::Result<ContentWriter<File>> {
    let out = content::standard_output()?;
    // Fails for what is no pipe, and where the system grants less; both are fine.
    let _ = rustix::pipe::fcntl_setpipe_size(out.get_ref(), PIPE_BYTES);
    Ok(out)
}

/// Gathers small segments.
pub(super) fn writer<W: Write>(out: W) -> BufWriter<W> {
    BufWriter::with_capacity(GATHERED_BYTES, out)
}

/// Writes all of these segments.
pub(super) fn write_segments(out: &mut impl Write, segments: &[Segment]) -> io::Result<()> {
    let mut slices: Vec<IoSlice<'_>> = segments
        .iter()
        .map(|segment| IoSlice::new(segment.data.content()))
        .filter(|slice| !slice.is_empty())
        .collect();
    let mut rest = slices.as_mut_slice();
    while !rest.is_empty() {
        match out.write_vectored(rest) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => IoSlice::advance_slices(&mut rest, count),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use packet::ndn::DataBuilder;

    /// Takes only some bytes at a time.
    struct Slow(Vec<u8>);

    impl Write for Slow {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let count = bytes.len().min(1 + self.0.len() % 5000);
            self.0.extend_from_slice(bytes.get(..count).unwrap_or_default());
            Ok(count)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn segments_are_written_whole_and_in_order_however_little_is_taken_at_a_time() {
        let segment = |segment: u64| {
            let content = vec![segment as u8; segment as usize * 997 % 8000];
            let data = DataBuilder::new("/a".parse().unwrap()).content(content).build_with_digest().unwrap();
            Segment { segment, data }
        };
        let segments: Vec<Segment> = (0..40).map(segment).collect();
        let expected: Vec<u8> = segments.iter().flat_map(|segment| segment.data.content().to_vec()).collect();
        for at_once in [1, 3, 40] {
            let mut out = writer(Slow(Vec::new()));
            for segments in segments.chunks(at_once) {
                write_segments(&mut out, segments).unwrap();
            }
            let written = out.into_inner().map_err(|error| error.into_error()).unwrap();
            assert_eq!(written.0, expected, "{at_once} at once");
        }
    }
}
