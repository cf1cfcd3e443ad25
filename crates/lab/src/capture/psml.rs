//! The packet summary in PSML, as the testbed report's tools read it.

use std::fmt::Write as _;
use std::io::{self, Write};

use formats::markup::escaped;

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
        writeln!(out, "<?xml version=\"1.0\" encoding=\"utf-8\"?>")?;
        writeln!(out, "<psml version=\"0\" creator=\"cairn/{}\">\n<structure>", env!("CARGO_PKG_VERSION"))?;
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
            let _ = writeln!(block, "<section>{}</section>", escaped(&field));
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

#[cfg(test)]
mod tests {
    use super::*;

    /// What `tshark -r two.pcap -T psml` of Wireshark 4.0.17 writes for two packets, without what is said of
    /// them.
    const TSHARK: &str = "<?xml version=\"1.0\" encoding=\"utf-8\"?>
<psml version=\"0\" creator=\"wireshark/4.0.17\">
<structure>
<section>No.</section>
<section>Time</section>
<section>Source</section>
<section>Destination</section>
<section>Protocol</section>
<section>Length</section>
<section>Info</section>
</structure>

<packet>
<section>1</section>
<section></section>
<section></section>
<section></section>
<section></section>
<section>47</section>
<section></section>
</packet>

<packet>
<section>2</section>
<section></section>
<section></section>
<section></section>
<section></section>
<section>48</section>
<section></section>
</packet>

</psml>
";

    #[test]
    fn the_form_is_that_of_tshark() {
        let mut writer = PsmlWriter::new(Vec::new()).unwrap();
        for length in [47, 48] {
            writer.packet(1_700_000_000_001_000_000, length, &Summary::default()).unwrap();
        }
        let text = String::from_utf8(writer.finish().unwrap()).unwrap();
        assert_eq!(text.matches("<section>1700000000.001000</section>").count(), 2);
        let text = text.replace(concat!("cairn/", env!("CARGO_PKG_VERSION")), "wireshark/4.0.17");
        assert_eq!(text.lines().count(), TSHARK.lines().count());
        for (ours, theirs) in text.lines().zip(TSHARK.lines()) {
            if theirs == "<section></section>" {
                assert!(ours.starts_with("<section>") && ours.ends_with("</section>"), "{ours}");
            } else {
                assert_eq!(ours, theirs);
            }
        }
    }

    #[test]
    fn what_is_said_of_a_packet_cannot_become_markup() {
        assert_eq!(escaped("Interest, /a&b<c>"), "Interest, /a&amp;b&lt;c&gt;");
    }
}
