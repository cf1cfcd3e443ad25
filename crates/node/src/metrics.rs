//! Metrics for Prometheus: what the node's counters say, as text over HTTP.
//!
//! One connection at a time, each with little time and little to say: this is for a scraper on the same host.

use std::fmt::Write as _;
use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::control::{FaceStatus, NodeControl, NodeStatus};
use crate::node::RemoteControl;

/// The server; it ends when dropped.
pub(crate) struct MetricsServer {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// How long a request may take, and then each piece of a response.
const PATIENCE: Duration = Duration::from_secs(2);
/// Bytes of a response that are written at once.
const PIECE_BYTES: usize = 1 << 20;
/// Bytes of a request that are read; what matters stands in its first line.
const MAX_REQUEST_BYTES: usize = 8192;

impl MetricsServer {
    pub(crate) fn start(listen: SocketAddr, node: RemoteControl) -> io::Result<Self> {
        let listener = TcpListener::bind(listen)?;
        let address = listener.local_addr()?;
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        let thread = std::thread::Builder::new().name("metrics".to_owned()).spawn(move || {
            crate::start::threads::go_behind_the_data_plane();
            for connection in listener.incoming() {
                if stopped.load(Ordering::Relaxed) {
                    return;
                }
                let Ok(connection) = connection else {
                    std::thread::sleep(crate::ACCEPT_REST);
                    continue;
                };
                if let Err(error) = serve(connection, &node) {
                    tracing::debug!(%error, "a request for metrics failed");
                }
            }
        })?;
        tracing::info!("metrics at http://{address}/metrics");
        Ok(MetricsServer { address, stop, thread: Some(thread) })
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for MetricsServer {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        // Wakes the thread that waits for a connection.
        let woken = TcpStream::connect_timeout(&self.address, PATIENCE);
        if let Some(thread) = self.thread.take().filter(|_| woken.is_ok()) {
            let _ = thread.join();
        }
    }
}

fn serve(mut connection: TcpStream, node: &RemoteControl) -> io::Result<()> {
    let until = Instant::now() + PATIENCE;
    connection.set_write_timeout(Some(PATIENCE))?;
    let mut request = Vec::new();
    let mut piece = [0; 1024];
    while !request.windows(4).any(|end| end == b"\r\n\r\n") && request.len() < MAX_REQUEST_BYTES {
        // A byte now and then does not keep others waiting for ever.
        let left = until.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
        connection.set_read_timeout(Some(left))?;
        match connection.read(&mut piece)? {
            0 => break,
            read => request.extend_from_slice(piece.get(..read).unwrap_or_default()),
        }
    }
    let line = String::from_utf8_lossy(&request).lines().next().unwrap_or_default().to_owned();
    let mut words = line.split(' ');
    let (status, body) = match (words.next(), words.next()) {
        (Some("GET" | "HEAD"), Some("/metrics" | "/")) => ("200 OK", text(node)),
        (Some("GET" | "HEAD"), Some(_)) => ("404 Not Found", "Metrics are at /metrics.\n".to_owned()),
        _ => ("400 Bad Request", "This serves metrics at /metrics and nothing else.\n".to_owned()),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    connection.write_all(head.as_bytes())?;
    if !line.starts_with("HEAD") {
        let until = Instant::now() + PATIENCE;
        for (written, piece) in body.as_bytes().chunks(PIECE_BYTES).enumerate() {
            if Instant::now() > until + PATIENCE * written as u32 {
                return Err(io::ErrorKind::TimedOut.into());
            }
            connection.write_all(piece)?;
        }
    }
    Ok(())
}

fn text(node: &RemoteControl) -> String {
    let mut remote = node.clone();
    let status = remote.status();
    let mut page = render(&status);
    page.management(&node.application_counters());
    page.faces(&remote.faces());
    page.0
}

/// The text of all metrics.
fn render(status: &NodeStatus) -> Page {
    let mut page = Page::default();
    let tables = &status.tables;
    page.gauge("cairn_uptime_seconds", "How long the node has been running.", status.uptime.as_secs_f64());
    page.gauge("cairn_queued_bytes", "Memory of what waits for peers to read.", status.queued_bytes as f64);
    let partial = status.reassembly_bytes as f64;
    page.gauge("cairn_reassembly_bytes", "Memory of incomplete packets.", partial);
    let budget = status.memory_budget_bytes as f64;
    page.gauge("cairn_memory_budget_bytes", "What all tables and queues together may take.", budget);
    page.gauge("cairn_pending_interests", "Interests pending.", f64::from(tables.pending));
    page.gauge("cairn_pending_bytes", "Bytes that pending Interests take.", tables.pending_bytes as f64);
    page.gauge("cairn_routes", "Prefixes with next hops.", f64::from(tables.routes));
    page.gauge("cairn_cached_packets", "Data in the content store.", f64::from(tables.cached));
    page.gauge("cairn_cached_bytes", "Bytes in the content store.", tables.cached_bytes as f64);
    page.gauge("cairn_dead_nonces", "Names and nonces of past Interests.", tables.dead_nonces as f64);
    page.gauge(
        "cairn_table_bytes",
        "Bytes of all tables, packets not counted.",
        tables.footprint_bytes as f64,
    );
    page.counter("cairn_idle_wakeups_total", "Wake-ups without anything to do.", status.idle_wakeups);
    page.counter("cairn_socket_rests_total", "Sockets left alone because of them.", status.socket_rests);
    let help = "Applications not read from for a while because much waited for them.";
    page.counter("cairn_stream_holds_total", help, status.stream_holds);
    let engine = &status.engine;
    page.counter("cairn_cache_hits_total", "Interests answered from the content store.", engine.cache_hits);
    page.counter("cairn_pending_created_total", "Interests that became pending.", engine.pending_created);
    page.counter("cairn_pending_joined_total", "Interests that joined a pending one.", engine.pending_joined);
    page.counter("cairn_satisfied_total", "Pending Interests that Data answered.", engine.satisfied);
    page.counter("cairn_unsatisfied_total", "Pending Interests that nothing answered.", engine.unsatisfied);
    page.head("cairn_packets_total", "Packets, by kind and direction.", "counter");
    for (direction, counts) in [("in", status.in_packets), ("out", status.out_packets)] {
        for (kind, count) in ["interest", "data", "nack"].into_iter().zip(counts) {
            page.line("cairn_packets_total", &[("direction", direction), ("kind", kind)], count as f64);
        }
    }
    page.head("cairn_drops_total", "What was dropped, by layer and reason.", "counter");
    for (reason, count) in engine.drops.iter() {
        page.line("cairn_drops_total", &[("layer", "engine"), ("reason", reason.as_str())], count as f64);
    }
    for (reason, count) in status.transport_drops.iter() {
        page.line("cairn_drops_total", &[("layer", "transport"), ("reason", reason.as_str())], count as f64);
    }
    for (word, count) in &status.link_drops {
        page.line("cairn_drops_total", &[("layer", "link"), ("reason", word)], *count as f64);
    }
    page
}

#[derive(Default)]
struct Page(String);

impl Page {
    fn head(&mut self, name: &str, help: &str, kind: &str) {
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    fn line(&mut self, name: &str, labels: &[(&str, &str)], value: f64) {
        let labels = labels.iter().map(|(key, value)| format!("{key}=\"{}\"", escaped(value)));
        let labels = labels.collect::<Vec<_>>().join(",");
        let _ = if labels.is_empty() {
            writeln!(self.0, "{name} {value}")
        } else {
            writeln!(self.0, "{name}{{{labels}}} {value}")
        };
    }

    fn gauge(&mut self, name: &str, help: &str, value: f64) {
        self.head(name, help, "gauge");
        self.line(name, &[], value);
    }

    fn counter(&mut self, name: &str, help: &str, value: u64) {
        self.head(name, help, "counter");
        self.line(name, &[], value as f64);
    }

    fn management(&mut self, counters: &[(&str, u64)]) {
        self.head("cairn_management_total", "What management did, and what it refused.", "counter");
        for (word, count) in counters {
            self.line("cairn_management_total", &[("what", word)], *count as f64);
        }
    }

    fn faces(&mut self, faces: &[FaceStatus]) {
        self.gauge("cairn_faces", "Faces.", faces.len() as f64);
        type Value = fn(&FaceStatus) -> u64;
        let series: [(&str, &str, &str, Value); 5] = [
            ("cairn_face_in_bytes_total", "Bytes received.", "counter", |face| face.traffic.in_bytes),
            ("cairn_face_out_bytes_total", "Bytes sent.", "counter", |face| face.traffic.out_bytes),
            ("cairn_face_in_frames_total", "Frames received.", "counter", |face| face.traffic.in_frames),
            ("cairn_face_out_frames_total", "Frames sent.", "counter", |face| face.traffic.out_frames),
            ("cairn_face_queued_bytes", "Bytes that wait to be sent.", "gauge", |face| {
                face.traffic.queued_bytes
            }),
        ];
        for (name, help, kind, value) in series {
            self.head(name, help, kind);
            for face in faces {
                let (id, remote) = (face.id.to_string(), face.remote.to_string());
                self.line(name, &[("face", &id), ("remote", &remote)], value(face) as f64);
            }
        }
        let name = "cairn_face_drops_total";
        self.head(name, "What was dropped on a face, by layer and reason.", "counter");
        for face in faces {
            let id = face.id.to_string();
            let engine = face.traffic.packets.drops.iter().map(|(reason, count)| (reason.as_str(), count));
            let layers = [
                ("engine", engine.filter(|(_, count)| *count > 0).collect()),
                ("link", face.traffic.link_drops.clone()),
                ("transport", face.traffic.transport_drops.clone()),
            ];
            for (layer, drops) in layers {
                for (reason, count) in drops {
                    self.line(name, &[("face", &id), ("layer", layer), ("reason", reason)], count as f64);
                }
            }
        }
    }
}

fn escaped(label: &str) -> String {
    label.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
