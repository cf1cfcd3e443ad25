//! Standard output for what others published: byte by byte as it is, but on a terminal, which it must not
//! command.

use std::fs::File;
use std::io::{self, IoSlice, IsTerminal as _, Write};
use std::os::fd::AsFd as _;

use client::is_unprintable;

/// Bytes of a character in UTF-8, at most.
const MAX_CHAR_BYTES: usize = 4;

/// Writes content as it is, or as text that a terminal shows and does not obey.
#[derive(Debug)]
pub(crate) struct ContentWriter<W> {
    out: W,
    to_terminal: bool,
    /// The beginning of a character whose end has not come yet.
    begun: Vec<u8>,
}

/// Standard output without the buffer that would look for lines in it.
pub(crate) fn standard_output() -> io::Result<ContentWriter<File>> {
    let to_terminal = io::stdout().is_terminal();
    let out = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    Ok(ContentWriter { out, to_terminal, begun: Vec::new() })
}

impl<W> ContentWriter<W> {
    /// What it writes to.
    pub(crate) fn get_ref(&self) -> &W {
        &self.out
    }

    pub(crate) fn into_inner(self) -> W {
        self.out
    }
}

impl<W: Write> Write for ContentWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.to_terminal {
            return self.out.write(bytes);
        }
        self.begun.extend_from_slice(bytes);
        let whole = self.begun.len() - begun_at_end(&self.begun);
        let text: String =
            String::from_utf8_lossy(self.begun.get(..whole).unwrap_or_default())
                .chars()
                .map(|c| {
                    if is_unprintable(c) && !matches!(c, '\n' | '\t') {
                        char::REPLACEMENT_CHARACTER
                    } else {
                        c
                    }
                })
                .collect();
        self.begun.drain(..whole);
        self.out.write_all(text.as_bytes())?;
        Ok(bytes.len())
    }

    fn write_vectored(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        if !self.to_terminal {
            return self.out.write_vectored(slices);
        }
        let first = slices.iter().find(|slice| !slice.is_empty());
        self.write(first.map(|slice| &**slice).unwrap_or_default())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// How many bytes at the end are the beginning of a character.
fn begun_at_end(bytes: &[u8]) -> usize {
    (1..MAX_CHAR_BYTES)
        .find(|&count| {
            let Some(tail) = bytes.len().checked_sub(count).and_then(|at| bytes.get(at..)) else { return false };
            matches!(std::str::from_utf8(tail), Err(error) if error.error_len().is_none() && error.valid_up_to() == 0)
        })
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVIL: &[u8] =
        b"\x1b]0;owned\x07a\xff\xc2\x9b2J\xe2\x80\xae\r\n\tGr\xc3\xbc\xc3\x9fe \xf0\x9f\x91\x8b";

    fn written(to_terminal: bool, piece: usize) -> Vec<u8> {
        let mut writer = ContentWriter { out: Vec::new(), to_terminal, begun: Vec::new() };
        EVIL.chunks(piece).for_each(|piece| writer.write_all(piece).unwrap());
        writer.out
    }

    #[test]
    fn content_commands_no_terminal_wherever_it_is_cut_and_is_left_as_it_is_for_all_others() {
        for piece in 1..=EVIL.len() {
            assert_eq!(written(false, piece), EVIL);
            let shown = String::from_utf8(written(true, piece)).unwrap();
            assert_eq!(
                shown, "\u{fffd}]0;owned\u{fffd}a\u{fffd}\u{fffd}2J\u{fffd}\u{fffd}\n\tGrüße 👋",
                "{piece}"
            );
        }
    }
}
