//! The packet summary in PSML, as the testbed report's tools read it.

use std::fmt::Write as _;
use std::io::{self, Write};

use super::dissect::Summary;

const COLUMNS: [&str; 7] = ["No.", "Time", "Source", "Destination", "Protocol", "Length", "Info"];

/// Writes a summary.
#[derive(Debug)]
pub struct PsmlWriter<W> {
    out: W,
    number: u64,
}

impl<W: Write> PsmlWriter<W> {
    /// Begins a file.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn new(mut out: W) -> io::Result<Self> {
        writeln!(out, "<?xml version=\"1.0\"?>\n<psml version=\"0\" creator=\"cairn\">\n<structure>")?;
        for column in COLUMNS {
            writeln!(out, "<section>{column}</section>")?;
        }
        writeln!(out, "</structure>\n")?;
        Ok(PsmlWriter { out, number: 0 })
    }

    /// Adds a packet.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn packet(&mut self, time_ns: u64, length: u32, summary: &Summary) -> io::Result<()> {
        self.number += 1;
        let time = format!("{}.{:06}", time_ns / 1_000_000_000, time_ns / 1000 % 1_000_000);
        let fields = [
            self.number.to_string(),
            time,
            summary.source(),
            summary.destination(),
            summary.protocol().to_owned(),
            length.to_string(),
            summary.info(),
        ];
        let mut block = String::from("<packet>\n");
        for field in fields {
            let _ = writeln!(block, "<section>{}</section>", escape(&field));
        }
        block.push_str("</packet>\n\n");
        self.out.write_all(block.as_bytes())
    }

    /// Ends the file.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn finish(mut self) -> io::Result<W> {
        writeln!(self.out, "</psml>")?;
        self.out.flush()?;
        Ok(self.out)
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
