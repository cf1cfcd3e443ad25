//! Looking at everything from time to time.

use crate::arena::Id;
use crate::network::previous_sample::{OfChannel, OfNode};
use crate::network::{Network, Plan};
use crate::trace::{EngineDropRecord, FaceRecord, LinkRecord, NodeRecord, ValueRecord};

impl Network {
    /// Takes a sample, and plans the next one unless nothing is left to happen.
    pub(crate) fn sample_and_go_on(&mut self) {
        self.sample_nodes();
        self.sample_links();
        self.sample_applications();
        self.previous.at = self.core.now;
        if let Some(span) = self.core.trace.config.sample_every
            && self.core.queue.len() > 0
        {
            self.plan(self.core.now + span, Plan::Sample);
        }
    }

    fn sample_nodes(&mut self) {
        let time = self.core.now;
        let span = time.saturating_since(self.previous.at).as_secs_f64();
        self.previous.nodes.resize_with(self.core.nodes.len(), Default::default);
        for (number, node) in self.core.nodes.indexed() {
            let Some(engine) = &node.engine else { continue };
            let (counters, misses) = (*engine.counters(), engine.content_store_counters().misses);
            let entry_seconds = node.levels.entry_seconds(time);
            let [was_pending, was_cached] = self.previous.nodes[number.index()].entry_seconds;
            let mean = |now: f64, was: f64| if span > 0.0 { (now - was) / span } else { 0.0 };
            let (mean_pending, mean_cached) =
                (mean(entry_seconds[0], was_pending), mean(entry_seconds[1], was_cached));
            let before = &mut self.previous.nodes[number.index()];
            // After a restart counters begin anew.
            let since = |now: u64, before: u64| now.checked_sub(before).unwrap_or(now);
            let sizes = engine.table_sizes();
            self.core.trace.nodes.push(NodeRecord {
                time,
                node: number,
                pending: sizes.pending,
                pending_bytes: sizes.pending_bytes,
                cached: sizes.cached,
                cached_bytes: sizes.cached_bytes,
                cache_hits: since(counters.cache_hits, before.counters.cache_hits),
                cache_misses: since(misses, before.misses),
                satisfied: since(counters.satisfied, before.counters.satisfied),
                unsatisfied: since(counters.unsatisfied, before.counters.unsatisfied),
                drops: since(counters.drops.total(), before.counters.drops.total()),
                mean_pending,
                mean_cached,
            });
            for ((reason, now), (_, earlier)) in counters.drops.iter().zip(before.counters.drops.iter()) {
                let packets = since(now, earlier);
                if packets > 0 {
                    let record = EngineDropRecord { time, node: number, reason: reason.as_str(), packets };
                    self.core.trace.engine_drops.push(record);
                }
            }
            *before = OfNode { counters, misses, entry_seconds };
            for (face, _) in engine.faces() {
                let Some(&now) = engine.face_counters(face) else { continue };
                let before = self.previous.faces.insert((number, face), now).unwrap_or_default();
                self.core.trace.faces.push(FaceRecord {
                    time,
                    node: number,
                    face,
                    packets: now.packets.since(&before.packets),
                    pending: engine.face_pending(face).unwrap_or(0),
                });
            }
        }
    }

    fn sample_links(&mut self) {
        let time = self.core.now;
        let span = time.saturating_since(self.previous.at).as_secs_f64();
        self.previous.channels.resize_with(self.core.channels.len(), Default::default);
        for (channel, before) in self.core.channels.iter_mut().zip(&mut self.previous.channels) {
            let queue = channel.queue_length(time);
            let (now, packet_seconds) = (channel.counters, channel.packet_seconds(time));
            let waited = packet_seconds - before.packet_seconds;
            self.core.trace.links.push(LinkRecord {
                time,
                link: channel.link,
                from_end: channel.end,
                packets: now.packets - before.counters.packets,
                bytes: now.bytes - before.counters.bytes,
                drops: now.drops.total() - before.counters.drops.total(),
                marks: now.marks - before.counters.marks,
                queue_packets: queue.packets,
                queue_bytes: queue.bytes,
                mean_queue_packets: if span > 0.0 { waited / span } else { 0.0 },
            });
            *before = OfChannel { counters: now, packet_seconds };
        }
    }

    fn sample_applications(&mut self) {
        let time = self.core.now;
        for (number, application) in self.applications.indexed() {
            let Some(attachment) = self.core.attachments.get(number) else { continue };
            let node = attachment.node;
            let values = &mut self.core.trace.values;
            application.sample(&mut |what, value| {
                values.push(ValueRecord { time, node, application: number, what, value });
            });
        }
    }
}
