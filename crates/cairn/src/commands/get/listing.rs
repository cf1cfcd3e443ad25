//! What is in a folder, for people and scripts.

use std::io::{self, BufWriter, Write};

use packet::Component;

/// Bytes of the name of a file; no system has longer ones.
const MAX_NAME_BYTES: usize = 4096;

/// Writes a listing, in which a zero byte stands behind each name, one name a line, as names are written: no
/// name, whoever chose it, breaks a line or commands a terminal.
pub(super) struct ListingWriter<W: Write> {
    out: BufWriter<W>,
    /// The beginning of a name whose end has not come yet.
    begun: Vec<u8>,
}

impl<W: Write> ListingWriter<W> {
    pub(super) fn new(out: BufWriter<W>) -> Self {
        ListingWriter { out, begun: Vec::new() }
    }

    /// Takes the next bytes of the listing.
    pub(super) fn write(&mut self, content: &[u8]) -> io::Result<()> {
        for byte in content {
            match byte {
                0 => self.end_name()?,
                _ if self.begun.len() >= MAX_NAME_BYTES => {
                    let text = "it is not what is in a folder: a name has no end";
                    return Err(io::Error::new(io::ErrorKind::InvalidData, text));
                }
                other => self.begun.push(*other),
            }
        }
        Ok(())
    }

    pub(super) fn finish(&mut self) -> io::Result<()> {
        if !self.begun.is_empty() {
            self.end_name()?;
        }
        self.out.flush()
    }

    fn end_name(&mut self) -> io::Result<()> {
        let name = std::mem::take(&mut self.begun);
        // A slash tells a folder.
        let (name, slash) = name.strip_suffix(b"/").map_or((&name[..], ""), |name| (name, "/"));
        writeln!(self.out, "{}{slash}", Component::generic(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_without_an_end_is_refused() {
        let mut writer = ListingWriter::new(BufWriter::new(Vec::new()));
        writer.write(&[b'x'; MAX_NAME_BYTES]).unwrap();
        assert!(writer.write(b"x").is_err());
    }

    #[test]
    fn every_name_is_one_line_that_reads_back_as_that_name() {
        let mut writer = ListingWriter::new(BufWriter::new(Vec::new()));
        for piece in [&b"plain\0sub dir/\0ev"[..], b"il\x1b[2J\n\0seg=1\0...\0", b"cut off"] {
            writer.write(piece).unwrap();
        }
        writer.finish().unwrap();
        let text = String::from_utf8(writer.out.into_inner().unwrap()).unwrap();
        let expected = "plain\nsub%20dir/\nevil%1B%5B2J%0A\nseg%3D1\n......\ncut%20off\n";
        assert_eq!(text, expected);
    }
}
