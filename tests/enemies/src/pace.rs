//! So many packets and bytes in a second, and no more.

use std::time::Instant;

/// What may leave at once after a pause, in seconds of the whole rate.
const BURST_SECONDS: f64 = 0.005;

/// What an attacker has sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Spent {
    /// Packets, or about as many as TCP made of it.
    pub(crate) packets: u64,
    /// Bytes of payload, with what IP, UDP and Ethernet put before them.
    pub(crate) bytes: u64,
}

impl Spent {
    /// Bytes before each payload: Ethernet, IPv4 and UDP.
    const HEADERS: u64 = 14 + 20 + 8;

    /// One packet with a payload of so many bytes.
    pub(crate) fn packet(payload: usize) -> Spent {
        // What is larger than a frame goes in several, each a packet that the victim has to take.
        let frames = payload.div_ceil(1472).max(1) as u64;
        Spent { packets: frames, bytes: payload as u64 + frames * Spent::HEADERS }
    }

    /// So many packets of TCP without payload.
    pub(crate) fn handshake(packets: u64) -> Spent {
        Spent { packets, bytes: packets * 66 }
    }

    /// Adds what was sent besides.
    pub(crate) fn add(&mut self, other: Spent) {
        self.packets += other.packets;
        self.bytes += other.bytes;
    }
}

/// Two buckets, of packets and of bytes; what was overdrawn has to be waited for, so the rates hold
/// whatever the size of a packet.
#[derive(Debug)]
pub(crate) struct Pacer {
    packets_per_second: f64,
    bytes_per_second: f64,
    packets: f64,
    bytes: f64,
    filled: Instant,
}

impl Pacer {
    pub(crate) fn new(now: Instant, packets_per_second: u64, bits_per_second: u64) -> Self {
        Pacer {
            packets_per_second: packets_per_second as f64,
            bytes_per_second: bits_per_second as f64 / 8.0,
            packets: 0.0,
            bytes: 0.0,
            filled: now,
        }
    }

    /// How many packets may leave now.
    pub(crate) fn room(&mut self, now: Instant) -> usize {
        let seconds = now.saturating_duration_since(self.filled).as_secs_f64();
        self.filled = now;
        let fill = |level: f64, rate: f64| (level + seconds * rate).min(rate * BURST_SECONDS);
        self.packets = fill(self.packets, self.packets_per_second);
        self.bytes = fill(self.bytes, self.bytes_per_second);
        if self.bytes < 0.0 { 0 } else { self.packets.max(0.0) as usize }
    }

    /// Counts what has left.
    pub(crate) fn spend(&mut self, spent: Spent) {
        self.packets -= spent.packets as f64;
        self.bytes -= spent.bytes as f64;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// Sends packets of one size for ten seconds of made-up time, looking every 200 microseconds.
    fn sent_in_ten_seconds(packets_per_second: u64, bits_per_second: u64, payload: usize) -> Spent {
        let start = Instant::now();
        let mut pacer = Pacer::new(start, packets_per_second, bits_per_second);
        let mut sent = Spent::default();
        for step in 1..=50_000 {
            let room = pacer.room(start + Duration::from_micros(step * 200));
            for _ in 0..room {
                let packet = Spent::packet(payload);
                pacer.spend(packet);
                sent.add(packet);
            }
        }
        sent
    }

    #[test]
    fn small_packets_leave_at_the_rate_of_packets() {
        let sent = sent_in_ten_seconds(100_000, 1_000_000_000, 100).packets;
        assert!((990_000..=1_001_000).contains(&sent), "{sent}");
    }

    #[test]
    fn large_packets_leave_at_the_rate_of_bits() {
        let sent = sent_in_ten_seconds(100_000, 100_000_000, 8000);
        assert!((120_000_000..=129_000_000).contains(&sent.bytes), "{}", sent.bytes);
    }

    #[test]
    fn a_pause_saves_up_no_more_than_a_burst() {
        let start = Instant::now();
        let mut pacer = Pacer::new(start, 100_000, 1_000_000_000);
        assert_eq!(pacer.room(start + Duration::from_secs(60)), 500);
        assert_eq!(pacer.room(start + Duration::from_secs(60)), 500);
        pacer.spend(Spent { packets: 500, bytes: 0 });
        assert_eq!(pacer.room(start + Duration::from_secs(60)), 0);
    }

    #[test]
    fn what_ip_has_to_cut_counts_for_each_piece() {
        assert_eq!(Spent::packet(1472).packets, 1);
        assert_eq!(Spent::packet(8800).packets, 6);
    }
}
