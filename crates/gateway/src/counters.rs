//! What a gateway has done, for whoever watches it.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};

/// One number that only grows, or one that goes up and down.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    pub(crate) fn add(&self, count: u64) {
        self.0.fetch_add(count, Ordering::Relaxed);
    }

    pub(crate) fn take(&self, count: u64) {
        self.0.fetch_sub(count, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// A counter as Prometheus reads it.
struct Metric {
    name: &'static str,
    /// `counter` or `gauge`.
    kind: &'static str,
    help: &'static str,
    value: u64,
}

/// Defines the counters, their names and what they mean.
macro_rules! atomic_counters {
    ($($(#[doc = $help:literal])* $field:ident: $kind:literal,)*) => {
        /// What a gateway has done.
        #[derive(Debug, Default)]
        pub(crate) struct Counters {
            $($(#[doc = $help])* pub(crate) $field: Counter,)*
            /// Responses by the first digit of their status.
            pub(crate) responses: [Counter; 5],
        }

        impl Counters {
            fn all(&self) -> Vec<Metric> {
                vec![$(Metric {
                    name: stringify!($field),
                    kind: $kind,
                    help: concat!($($help),*),
                    value: self.$field.get(),
                },)*]
            }
        }
    };
}

atomic_counters! {
    /// Connections that are open.
    connections: "gauge",
    /// Connections that were accepted.
    connections_total: "counter",
    /// Connections that were refused because too many were open.
    connections_refused_total: "counter",
    /// Connections that were closed so that another got their place.
    connections_gave_way_total: "counter",
    /// Connections that were closed because the client took nothing for too long.
    connections_stalled_total: "counter",
    /// Requests that waited too long for their turn to fetch.
    fetches_refused_total: "counter",
    /// Questions for the forwarder's state that were refused because too many were asked at once.
    looks_refused_total: "counter",
    /// Bytes of bodies that were sent.
    sent_bytes_total: "counter",
    /// Responses that the client did not take to the end.
    abandoned_total: "counter",
    /// Responses that broke off because the object did not come or was not trusted.
    broken_total: "counter",
}

impl Counters {
    /// In the text format of Prometheus.
    pub(crate) fn to_prometheus(&self) -> String {
        let mut out = String::new();
        for Metric { name, kind, help, value } in self.all() {
            let help = help.trim();
            // Writing to a String does not fail.
            let _ = writeln!(out, "# HELP cairn_gateway_{name} {help}\n# TYPE cairn_gateway_{name} {kind}");
            let _ = writeln!(out, "cairn_gateway_{name} {value}");
        }
        out.push_str("# HELP cairn_gateway_responses_total Responses by the class of their status.\n");
        out.push_str("# TYPE cairn_gateway_responses_total counter\n");
        for (class, count) in (1..).zip(&self.responses) {
            let _ = writeln!(out, "cairn_gateway_responses_total{{class=\"{class}xx\"}} {}", count.get());
        }
        out
    }

    pub(crate) fn count_response(&self, status: u16) {
        let class = usize::from(status / 100).saturating_sub(1);
        if let Some(counter) = self.responses.get(class) {
            counter.add(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_counter_is_told_with_its_meaning() {
        let counters = Counters::default();
        counters.sent_bytes_total.add(7);
        counters.count_response(404);
        let text = counters.to_prometheus();
        assert!(text.contains("\ncairn_gateway_sent_bytes_total 7\n"), "{text}");
        assert!(text.contains("# HELP cairn_gateway_connections Connections that are open.\n"), "{text}");
        assert!(text.contains("cairn_gateway_responses_total{class=\"4xx\"} 1\n"), "{text}");
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            assert!(line.rsplit_once(' ').unwrap().1.parse::<u64>().is_ok(), "{line}");
        }
    }
}
