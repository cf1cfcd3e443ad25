//! One line for each request, in the common log format that web servers write.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use packet::UnixTime;

use crate::counters::Counters;
use crate::failure::Failure;

/// Where lines go.
pub type WriteLine = Arc<dyn Fn(&str) + Send + Sync>;

/// A request under way: counted, and written down when it is over.
pub(crate) struct TrackedRequest {
    counters: Arc<Counters>,
    log: Option<WriteLine>,
    /// All of the line that is known before the response is.
    line: String,
    status: u16,
    sent_bytes: u64,
    has_failed: bool,
}

impl TrackedRequest {
    pub(crate) fn new(
        counters: Arc<Counters>,
        log: Option<WriteLine>,
        (from, at): (IpAddr, UnixTime),
        request_line: &str,
    ) -> Self {
        let line = match log {
            Some(_) => format!("{from} - - [{}] \"{}\"", date(at), Quoted(request_line)),
            None => String::new(),
        };
        TrackedRequest { counters, log, line, status: 0, sent_bytes: 0, has_failed: false }
    }

    pub(crate) fn answered(&mut self, status: u16) {
        self.status = status;
        self.counters.count_response(status);
    }

    pub(crate) fn sent(&mut self, bytes: usize) {
        self.sent_bytes += bytes as u64;
        self.counters.sent_bytes_total.add(bytes as u64);
    }

    pub(crate) fn broke_off(&mut self, _failure: &Failure) {
        self.has_failed = true;
        self.counters.broken_total.add(1);
    }

    pub(crate) fn abandoned(&mut self) {
        if !self.has_failed {
            self.counters.abandoned_total.add(1);
        }
    }
}

impl Drop for TrackedRequest {
    fn drop(&mut self) {
        if let Some(log) = &self.log {
            log(&format!("{} {} {}", self.line, self.status, self.sent_bytes));
        }
    }
}

/// What a stranger wrote, so that it begins no line and ends no quotes.
struct Quoted<'a>(&'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for letter in self.0.chars() {
            match letter {
                '"' | '\\' => write!(f, "\\{letter}")?,
                ' '..='~' => write!(f, "{letter}")?,
                other => write!(f, "\\u{{{:x}}}", u32::from(other))?,
            }
        }
        Ok(())
    }
}

/// As in `24/Nov/2026:04:05:06 +0000`.
fn date(at: UnixTime) -> String {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let iso = at.to_iso();
    let part = |range: std::ops::Range<usize>| {
        std::str::from_utf8(iso.get(range).unwrap_or_default()).unwrap_or_default().to_owned()
    };
    let month = part(4..6).parse::<usize>().ok().and_then(|month| MONTHS.get(month.wrapping_sub(1)));
    let (day, month, year) = (part(6..8), month.unwrap_or(&"Jan"), part(0..4));
    format!("{day}/{month}/{year}:{}:{}:{} +0000", part(9..11), part(11..13), part(13..15))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[test]
    fn a_line_is_in_the_common_format_and_nobody_adds_another() {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let kept = lines.clone();
        let log: WriteLine = Arc::new(move |line| kept.lock().unwrap().push(line.to_owned()));
        let at = (IpAddr::from([127, 0, 0, 1]), UnixTime::from_secs(951_827_696));
        let mut ticket =
            TrackedRequest::new(Arc::new(Counters::default()), Some(log), at, "GET /ndn/\"a\n b HTTP/1.1");
        ticket.answered(200);
        ticket.sent(1234);
        drop(ticket);
        let expected =
            r#"127.0.0.1 - - [29/Feb/2000:12:34:56 +0000] "GET /ndn/\"a\u{a} b HTTP/1.1" 200 1234"#;
        assert_eq!(*lines.lock().unwrap(), [expected]);
    }
}
