//! A web site of another origin: one page, its scripts, and what it saw, which it reports by posting JSON.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;

pub(crate) struct Site {
    address: SocketAddr,
    content: Arc<Mutex<Content>>,
    reports: Receiver<Value>,
}

#[derive(Clone, Default)]
struct Content {
    page: Arc<str>,
    /// Other files, by their paths.
    files: Vec<(&'static str, Arc<[u8]>)>,
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
        let content: Arc<Mutex<Content>> = Arc::default();
        let shown = content.clone();
        // It ends with the test's process.
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (content, sender) = (shown.lock().unwrap().clone(), sender.clone());
                std::thread::spawn(move || answer(&stream, &content, &sender));
            }
        });
        Site { address, content, reports }
    }

    pub(crate) fn show(&self, page: &str) {
        self.content.lock().unwrap().page = page.replace("HELPERS", HELPERS).into();
    }

    /// Has a file beside the page.
    pub(crate) fn offer(&self, path: &'static str, file: Vec<u8>) {
        self.content.lock().unwrap().files.push((path, file.into()));
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn report(&self, timeout: Duration) -> Option<Value> {
        self.reports.recv_timeout(timeout).ok()
    }
}

/// Answers one request, and closes. Browsers connect in advance, too, and then say nothing.
fn answer(stream: &TcpStream, content: &Content, reports: &Sender<Value>) -> Option<()> {
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
    let (status, kind, body): (_, _, &[u8]) = if first.starts_with("POST /report ") {
        let mut report = vec![0; length];
        lines.read_exact(&mut report).ok()?;
        // Nobody listens once the test has what it wants.
        let _ = reports.send(serde_json::from_slice(&report).ok()?);
        ("200 OK", "text/plain", b"")
    } else if first.starts_with("GET / ") {
        ("200 OK", "text/html; charset=utf-8", content.page.as_bytes())
    } else if let Some((_, file)) =
        content.files.iter().find(|(path, _)| first.split(' ').nth(1) == Some(path))
    {
        ("200 OK", "text/javascript", file)
    } else {
        ("404 Not Found", "text/plain", b"")
    };
    let mut stream = stream;
    let length = body.len();
    let head = format!("HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n");
    write!(stream, "{head}Connection: close\r\n\r\n").ok()?;
    stream.write_all(body).ok()
}
