//! A web site of another origin: one page, which reports what it saw by posting JSON.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;

pub(crate) struct Site {
    address: SocketAddr,
    page: Arc<Mutex<String>>,
    reports: Receiver<Value>,
}

/// What pages are given to report with.
const HELPERS: &str = include_str!("helpers.js");

impl Site {
    pub(crate) fn start(page: &str) -> Site {
        let site = Site::empty();
        site.show(page);
        site
    }

    /// One whose page needs to know something that needs to know the site's address.
    pub(crate) fn empty() -> Site {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (sender, reports) = channel();
        let page: Arc<Mutex<String>> = Arc::default();
        let shown = page.clone();
        // It ends with the test's process.
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (page, sender) = (shown.lock().unwrap().clone(), sender.clone());
                std::thread::spawn(move || answer(&stream, &page, &sender));
            }
        });
        Site { address, page, reports }
    }

    pub(crate) fn show(&self, page: &str) {
        *self.page.lock().unwrap() = page.replace("HELPERS", HELPERS);
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn report(&self, timeout: Duration) -> Option<Value> {
        self.reports.recv_timeout(timeout).ok()
    }
}

/// Answers one request, and closes. Browsers connect in advance, too, and then say nothing.
fn answer(stream: &TcpStream, page: &str, reports: &Sender<Value>) -> Option<()> {
    let mut lines = BufReader::new(stream);
    let mut first = String::new();
    lines.read_line(&mut first).ok()?;
    let mut length = 0;
    loop {
        let mut line = String::new();
        lines.read_line(&mut line).ok()?;
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        if line.trim().is_empty() {
            break;
        }
    }
    let (status, body) = if first.starts_with("POST /report ") {
        let mut report = vec![0; length];
        lines.read_exact(&mut report).ok()?;
        // Nobody listens once the test has what it wants.
        let _ = reports.send(serde_json::from_slice(&report).ok()?);
        ("200 OK", "")
    } else if first.starts_with("GET / ") {
        ("200 OK", page)
    } else {
        ("404 Not Found", "")
    };
    let mut stream = stream;
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {length}\r\n"
    );
    write!(stream, "{head}Connection: close\r\n\r\n{body}").ok()
}
