//! How much workloads ask for, key by key.

use std::collections::BTreeMap;

use packet::random::Random;
use toml::Value;

use super::concerned::overlap;
use crate::experiment::plan::{
    Activity, Answers, ArrivalsPlan, ConsumerKind, ConsumerPlan, ContentPlan, Plan, ProducerPlan, ReplayPlan,
    Workload, parameter,
};

/// So many sizes are drawn to know their mean.
const DRAWN_SIZES: u32 = 1000;

/// The content that a workload asks for.
pub(super) fn content<'a>(plan: &'a Plan, workload: &Workload) -> Option<&'a ContentPlan> {
    match &workload.does {
        Activity::Download { content, .. } | Activity::Traffic { content, .. } => plan.contents.get(*content),
        Activity::Program(program) => plan.contents.get(program.fetch.as_ref()?.content),
        _ => None,
    }
}

/// Who answers what a workload asks for, where that are producers.
pub(super) fn producers<'a>(
    plan: &'a Plan,
    workload: &'a Workload,
) -> impl Iterator<Item = &'a ProducerPlan> {
    let prefix = match &workload.does {
        Activity::Consume(consumer) => Some(consumer.prefix.as_str()),
        Activity::Ping { prefix, .. } | Activity::Flood { prefix, .. } => Some(prefix.as_str()),
        _ => None,
    };
    let is_asked =
        move |producer: &&ProducerPlan| prefix.is_some_and(|prefix| overlap(prefix, &producer.prefix));
    plan.producers.iter().filter(is_asked)
}

/// One of the amounts: the smaller, the less is asked for.
#[derive(Debug)]
struct Amount {
    /// What it is, by which that of a case is held against that of its control.
    what: String,
    /// The keys that it may come from. The first is named where none of them is changed.
    keys: Vec<String>,
    number: f64,
}

/// What a workload is told to do, where less of it is a smaller question and more a greater.
#[derive(Debug)]
pub(super) struct Amounts {
    own: String,
    list: Vec<Amount>,
}

impl Amounts {
    /// Of a workload of a plan.
    pub(super) fn of(plan: &Plan, workload: &Workload) -> Self {
        let own = format!("{}.{}", workload.does.table(), workload.measured_as());
        let mut amounts = Amounts { own, list: Vec::new() };
        // Who starts later or asks more seldom asks for less.
        amounts.add("start", &["start"], -(workload.start_ns as f64));
        amounts.add("stop", &["stop"], workload.stop_ns as f64);
        if let Some(content) = content(plan, workload) {
            amounts.add_content(content);
        }
        for producer in producers(plan, workload) {
            amounts.add_producer(producer);
        }
        amounts.add_activity(plan, workload);
        amounts
    }

    fn add(&mut self, what: &str, keys: &[&str], number: f64) {
        let keys = keys.iter().map(|key| format!("{}.{key}", self.own)).collect();
        self.list.push(Amount { what: what.to_owned(), keys, number });
    }

    /// Something that is said of a content or a producer; `other` is the key by which another one is chosen.
    fn add_of(&mut self, of: &str, what: &str, keys: &[&str], other: Option<&str>, number: f64) {
        let other = other.map(|key| format!("{}.{key}", self.own));
        let keys = keys.iter().map(|key| format!("{of}.{key}")).chain(other).collect();
        self.list.push(Amount { what: what.to_owned(), keys, number });
    }

    fn add_content(&mut self, content: &ContentPlan) {
        let of = format!("content.{}", content.name);
        let mean = content.sizes.as_ref().map_or(content.size_bytes as f64, |sizes| {
            let drawn = sizes.of_files(DRAWN_SIZES, &mut Random::derive(0, 0));
            drawn.iter().map(|size| *size as f64).sum::<f64>() / f64::from(DRAWN_SIZES)
        });
        let chosen = Some("content");
        self.add_of(&of, "content.size", &["size", "sizes"], chosen, mean);
        self.add_of(&of, "content.count", &["count"], chosen, f64::from(content.count));
        // As much in smaller segments takes more Interests.
        self.add_of(&of, "content.segment", &["segment"], chosen, -f64::from(content.segment_bytes));
    }

    fn add_producer(&mut self, producer: &ProducerPlan) {
        let of = format!("producer.{}", producer.name);
        let (keys, bytes) = match producer.answers {
            Answers::Packets(bytes) => (["packet", "content", "file"], bytes),
            Answers::Contents(bytes) => (["content", "packet", "file"], bytes),
            Answers::File(bytes) => (["file", "content", "packet"], bytes),
        };
        self.add_of(&of, &of, &keys, None, bytes as f64);
    }

    fn add_activity(&mut self, plan: &Plan, workload: &Workload) {
        match &workload.does {
            Activity::Download { count, per_second, arrivals, .. } => {
                // Of a file each what the content has is not asked for by itself.
                let files = content(plan, workload).map_or(1, |content| content.count);
                self.add("count", &["count"], f64::from(*count) / f64::from(files.max(1)));
                match arrivals {
                    // At no rate, all at once.
                    None => self.add("rate", &["rate"], per_second.unwrap_or(f64::INFINITY)),
                    Some(ArrivalsPlan::Workload(text)) => self.add_text(text),
                    Some(ArrivalsPlan::Trace(trace)) => self.add_trace(trace),
                }
            }
            Activity::Ping { every_ns, count, .. } => {
                self.add("every", &["every"], -(*every_ns as f64));
                self.add("count", &["count"], *count as f64);
            }
            Activity::Flood { burst, every_ns, until, .. } => {
                self.add("burst", &["burst"], f64::from(*burst));
                self.add("every", &["every"], -(*every_ns as f64));
                self.add("until", &["until"], f64::from(*until));
            }
            Activity::Program(program) => self.add("count", &["count"], f64::from(program.count)),
            Activity::Consume(consumer) => self.add_consumer(consumer),
            Activity::Traffic { trace: Some(trace), .. } => self.add_trace(trace),
            Activity::Traffic { workload: text, .. } => self.add_text(text),
            Activity::Register(_) | Activity::Load { .. } => {}
        }
    }

    /// A workload in one line of text, which of traffic may be made of keys of its own.
    fn add_text(&mut self, text: &str) {
        let number = |key: &str| parameter(text, key).and_then(|number| number.parse().ok());
        self.add("rate", &["rate", "workload"], number("rate").unwrap_or(1.0));
        self.add("limit", &["workload"], number("limit").unwrap_or(f64::INFINITY));
    }

    fn add_trace(&mut self, trace: &ReplayPlan) {
        self.add("requests", &["trace.requests", "trace.file", "trace"], trace.own().count() as f64);
        self.add("speed", &["trace.speed", "trace"], trace.speed);
    }

    fn add_consumer(&mut self, consumer: &ConsumerPlan) {
        self.add("items", &["items"], consumer.items.map_or(f64::INFINITY, |items| items as f64));
        self.add("at", &["at"], consumer.nodes.len() as f64);
        match &consumer.kind {
            ConsumerKind::Rate(rate, _)
            | ConsumerKind::Zipf { per_second: rate, .. }
            | ConsumerKind::Flood(rate) => self.add("rate", &["rate"], *rate),
            ConsumerKind::Batches(batches) => {
                self.add("batch", &["batch"], batches.iter().map(|(_, count)| *count as f64).sum());
            }
            ConsumerKind::Workload { spec, .. } => self.add_text(spec),
            ConsumerKind::Window(_) | ConsumerKind::Transfer(_) | ConsumerKind::File(_) => {}
        }
    }

    /// Where another is told otherwise: by which key, of those that `set` changes if it is one of them, and
    /// whether that is less or more.
    pub(super) fn changed(
        &self,
        other: &Amounts,
        set: &BTreeMap<String, Value>,
    ) -> Vec<(String, &'static str)> {
        let told = |before: &Amount| {
            let after = other.list.iter().find(|after| after.what == before.what)?;
            let word = if after.number < before.number { "less" } else { "more" };
            let is_set = |key: &&String| set.keys().any(|pattern| is_below(key, pattern));
            let key = before.keys.iter().find(is_set).or(before.keys.first())?;
            (after.number != before.number).then(|| (key.clone(), word))
        };
        self.list.iter().filter_map(told).collect()
    }
}

/// Is a key the one that a pattern such as `link.*.rate` names, or one of the table that it names?
fn is_below(key: &str, pattern: &str) -> bool {
    let mut parts = key.split('.');
    pattern.split('.').all(|word| parts.next().is_some_and(|part| word == "*" || word == part))
}
