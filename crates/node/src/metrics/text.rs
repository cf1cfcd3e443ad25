//! The metrics as text in the format of Prometheus.

use std::fmt::Write as _;

use engine::{ContentStoreCounters, EngineCounters};

use super::connections::ConnectionCounters;
use crate::control::{FaceSnapshot, MemoryStatus, NodeControl, NodeStatus};
use crate::remote_control::RemoteControl;

/// All metrics as they are now.
pub(super) fn text(node: &RemoteControl, connections: &ConnectionCounters) -> String {
    let mut remote = node.clone();
    let status = remote.status();
    let mut page = render(&status);
    page.connections(connections);
    page.management(&node.application_counters());
    page.faces(&remote.faces());
    page.0
}

/// The text of all metrics.
fn render(status: &NodeStatus) -> Page {
    let mut page = Page::default();
    let tables = &status.tables;
    page.gauge("cairn_uptime_seconds", "How long the node has been running.", status.uptime.as_secs_f64());
    page.memory(&status.memory);
    page.gauge("cairn_pending_interests", "Interests pending.", f64::from(tables.pending));
    page.gauge("cairn_pending_bytes", "Bytes that pending Interests take.", tables.pending_bytes as f64);
    page.gauge("cairn_routes", "Prefixes with next hops.", f64::from(tables.routes));
    page.gauge("cairn_cached_packets", "Data in the content store.", f64::from(tables.cached));
    page.gauge("cairn_cached_bytes", "Bytes in the content store.", tables.cached_bytes as f64);
    page.gauge("cairn_dead_nonces", "Names and nonces of past Interests.", tables.dead_nonces as f64);
    let help = "How often the older half of them was forgotten early for want of room.";
    page.counter("cairn_dead_nonces_forgotten_early_total", help, tables.dead_nonces_forgotten_early);
    let help = "Entries that strategies had measured and forgot early for want of room.";
    page.counter("cairn_measurements_forgotten_early_total", help, tables.measurements_forgotten_early);
    page.gauge(
        "cairn_table_bytes",
        "Bytes of all tables, packets not counted.",
        tables.footprint_bytes as f64,
    );
    page.counter("cairn_idle_wakeups_total", "Wake-ups without anything to do.", status.turns.idle_wakeups);
    page.counter(
        "cairn_socket_rests_total",
        "Sockets left alone because of them.",
        status.turns.socket_rests,
    );
    let help = "Applications not read from for a while because much waited for them.";
    page.counter("cairn_stream_holds_total", help, status.turns.stream_holds);
    page.engine(&status.engine);
    page.content_store(&status.content_store);
    page.head("cairn_packets_total", "Packets, by kind and direction.", "counter");
    let packets = &status.packets;
    let received = [packets.in_interests, packets.in_data, packets.in_nacks];
    let sent = [packets.out_interests, packets.out_data, packets.out_nacks];
    for (direction, counts) in [("in", received), ("out", sent)] {
        for (kind, count) in ["interest", "data", "nack"].into_iter().zip(counts) {
            page.line("cairn_packets_total", &[("direction", direction), ("kind", kind)], count as f64);
        }
    }
    let help = "What was done on shared links: Interests that waited, Data kept, frames rebuilt, and so on.";
    page.head("cairn_shared_links_total", help, "counter");
    for (word, count) in status.sharing_numbers() {
        page.line("cairn_shared_links_total", &[("what", word)], count as f64);
    }
    page.head("cairn_drops_total", "What was dropped, by layer and reason.", "counter");
    for (reason, count) in status.engine.drops.iter() {
        page.line("cairn_drops_total", &[("layer", "engine"), ("reason", reason.as_str())], count as f64);
    }
    for (reason, count) in status.transport_drops.iter() {
        page.line("cairn_drops_total", &[("layer", "transport"), ("reason", reason.as_str())], count as f64);
    }
    for (word, count) in &status.link_drops {
        page.line("cairn_drops_total", &[("layer", "link"), ("reason", word)], *count as f64);
    }
    page.verification(status);
    page.repositories(status);
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

    /// Each counter but those that count packets, which stand with the packets.
    fn engine(&mut self, engine: &EngineCounters) {
        let EngineCounters {
            cache_hits,
            pending_created,
            pending_joined,
            satisfied,
            unsatisfied,
            held_without_route,
            interests_sent: _,
            data_sent: _,
            nacks_sent: _,
            searches_cut_short,
            events_lost,
            drops: _,
        } = *engine;
        self.counter("cairn_cache_hits_total", "Interests answered from the content store.", cache_hits);
        self.counter("cairn_pending_created_total", "Interests that became pending.", pending_created);
        self.counter("cairn_pending_joined_total", "Interests that joined a pending one.", pending_joined);
        let help = "Interests of CCNx that wait without a route.";
        self.counter("cairn_held_without_route_total", help, held_without_route);
        self.counter("cairn_satisfied_total", "Pending Interests that Data answered.", satisfied);
        self.counter("cairn_unsatisfied_total", "Pending Interests that nothing answered.", unsatisfied);
        let help = "Data for which not all pending Interests were looked at that it might have answered.";
        self.counter("cairn_pending_cut_short_total", help, searches_cut_short);
        let help = "Events of the engine that were lost because too many waited.";
        self.counter("cairn_events_lost_total", help, events_lost);
    }

    /// Each counter but the hits, which are the engine's.
    fn content_store(&mut self, store: &ContentStoreCounters) {
        let ContentStoreCounters {
            hits: _,
            misses,
            insertions,
            refreshes,
            evictions,
            passed_on,
            replaced,
            searches_cut_short,
        } = *store;
        self.counter("cairn_cache_misses_total", "Interests that the content store cannot answer.", misses);
        self.counter("cairn_cache_insertions_total", "Data taken in.", insertions);
        self.counter("cairn_cache_refreshes_total", "Data that renewed a copy of itself.", refreshes);
        self.counter("cairn_cache_evictions_total", "Data that left for want of room.", evictions);
        let help = "Data that was not taken in because of the placement.";
        self.counter("cairn_cache_passed_on_total", help, passed_on);
        let help = "Objects of CCNx that gave way to a newer one of their name.";
        self.counter("cairn_cache_replaced_total", help, replaced);
        let help = "Searches in the content store that reached their limit.";
        self.counter("cairn_cache_searches_cut_short_total", help, searches_cut_short);
    }

    fn memory(&mut self, memory: &MemoryStatus) {
        let queued = memory.queued_bytes as f64;
        self.gauge("cairn_queued_bytes", "Memory of what waits for peers to read.", queued);
        let partial = memory.reassembly_bytes as f64;
        self.gauge("cairn_reassembly_bytes", "Memory of incomplete packets.", partial);
        let budget = memory.budget_bytes as f64;
        self.gauge("cairn_memory_budget_bytes", "What all tables and queues together may take.", budget);
    }

    fn verification(&mut self, status: &NodeStatus) {
        let Some(sampling) = &status.sampling else { return };
        let name = "cairn_verification_total";
        self.head(
            name,
            "Data of the content store that was to be verified, and what became of it.",
            "counter",
        );
        for (word, count) in sampling.numbers() {
            self.line(name, &[("what", word)], count as f64);
        }
    }

    fn repositories(&mut self, status: &NodeStatus) {
        if let Some(asked) = &status.second_store {
            let name = "cairn_repository_questions_total";
            self.head(
                name,
                "Interests that repositories were asked about, Data offered to them, and what became of both.",
                "counter",
            );
            for (word, count) in asked.numbers() {
                self.line(name, &[("what", word)], count as f64);
            }
        }
        if status.repositories.is_empty() {
            return;
        }
        let name = "cairn_repository";
        self.head(name, "What a repository holds and has done, and what it refused, by word.", "gauge");
        for repository in &status.repositories {
            let path = repository.path.display().to_string();
            for (word, number) in repository.numbers() {
                self.line(name, &[("path", &path), ("what", word)], number as f64);
            }
        }
    }

    fn connections(&mut self, counters: &ConnectionCounters) {
        let name = "cairn_metrics_connections_total";
        self.head(name, "Connections to this server, and what became of them.", "counter");
        for (word, count) in [
            ("answered", counters.answered),
            ("left", counters.left),
            ("too-slow", counters.too_slow),
            ("too-large", counters.too_large),
            ("gave-way", counters.gave_way),
        ] {
            self.line(name, &[("what", word)], count as f64);
        }
    }

    fn management(&mut self, counters: &[(&str, u64)]) {
        self.head("cairn_management_total", "What management did, and what it refused.", "counter");
        for (word, count) in counters {
            self.line("cairn_management_total", &[("what", word)], *count as f64);
        }
    }

    fn faces(&mut self, faces: &[FaceSnapshot]) {
        self.gauge("cairn_faces", "Faces.", faces.len() as f64);
        type Value = fn(&FaceSnapshot) -> u64;
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
            let engine = face.traffic.engine_drops.iter().map(|(reason, count)| (reason.as_str(), count));
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
