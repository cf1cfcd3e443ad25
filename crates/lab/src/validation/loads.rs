//! The experiments that a calibration consists of: packets that come alone, after sleeps of several lengths,
//! and packets that come together.

use std::fmt::Write as _;

/// What is measured of a kind of link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Part {
    /// Interests that nobody answers.
    Unanswered,
    /// The same from three sources in turn: closer to each other than one source can send bursts.
    Close,
    /// Interests, each answered by Data with so much content.
    Exchange { content_bytes: u32 },
    /// The same with [`LARGE`] content over links so slow that a forwarder finds each frame alone.
    Apart,
    /// The same with [`LARGE`] content and content stores, which take all of it in.
    Stored,
    /// Interests that the router's content store answers.
    Hit,
}

/// How what is asked for comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Pace {
    /// One in a second: next to nothing.
    Idle,
    /// One by one, so many microseconds apart.
    Alone { every_us: u32 },
    /// Many at once, and then nothing for [`PAUSE_US`]. Links have no rate, so that they stay together.
    Together,
}

/// The content of a segment as the lab has it, and next to none.
pub(super) const LARGE: u32 = 4096;
pub(super) const SMALL: u32 = 100;
/// The nodes, each in a role of its own.
pub(super) const NODES: [&str; 3] = ["consumer", "router", "producer"];
pub(super) const KINDS: [&str; 3] = ["udp", "tcp", "ether"];
/// From one Interest to the next where nobody answers, in microseconds.
pub(super) const SLEEPS_US: [u32; 4] = [1_250, 2_500, 10_000, PAUSE_US];
/// The same of three sources together.
pub(super) const CLOSES_US: [u32; 2] = [400, SHORT_US];
/// The least between exchanges. They fill half of a link then, so they tell nothing of round trips.
pub(super) const SHORT_US: u32 = 625;
/// From one exchange to the next.
pub(super) const EXCHANGES_US: [u32; 4] = [SHORT_US, 1_250, 2_500, 10_000];
/// Of small exchanges, and of those that a content store answers.
pub(super) const SMALL_US: [u32; 1] = [2_500];
pub(super) const HITS_US: [u32; 2] = [2_500, 10_000];
/// Of those over slow links: one of the former, which they are held against.
pub(super) const APART_US: [u32; 1] = [10_000];
/// The pause between bursts: one of the sleeps, so that it is known what waking up costs after it.
pub(super) const PAUSE_US: u32 = 40_000;
/// Interests in each burst that nobody answers.
pub(super) const FLOOD_BURST: u32 = 100;
/// Exchanges in a burst: their number is drawn, and this is its mean.
pub(super) const MEAN_BURST: u32 = 60;

pub(super) fn parts(kind: &str) -> Vec<Part> {
    let mut parts = vec![
        Part::Unanswered,
        Part::Close,
        Part::Exchange { content_bytes: LARGE },
        Part::Exchange { content_bytes: SMALL },
        Part::Stored,
    ];
    // The kernel puts the fragments of datagrams together itself.
    parts.push(if kind == "udp" { Part::Hit } else { Part::Apart });
    parts
}

/// The cases of a part.
pub(super) fn paces(part: Part) -> Vec<Pace> {
    let alone = |list: &[u32]| list.iter().map(|&every_us| Pace::Alone { every_us }).collect::<Vec<_>>();
    let (first, alone, last) = match part {
        Part::Unanswered => (Some(Pace::Idle), alone(&SLEEPS_US), Some(Pace::Together)),
        Part::Close => (None, alone(&CLOSES_US), None),
        Part::Exchange { content_bytes: SMALL } => (None, alone(&SMALL_US), Some(Pace::Together)),
        Part::Exchange { .. } => (None, alone(&EXCHANGES_US), Some(Pace::Together)),
        Part::Apart => (None, alone(&APART_US), None),
        Part::Stored => (None, Vec::new(), Some(Pace::Together)),
        Part::Hit => (None, alone(&HITS_US), Some(Pace::Together)),
    };
    first.into_iter().chain(alone).chain(last).collect()
}

pub(super) fn name(kind: &str, part: Part) -> String {
    match part {
        Part::Exchange { content_bytes } => format!("calibrate-{kind}-{content_bytes}"),
        Part::Apart => format!("calibrate-{kind}-apart"),
        Part::Stored => format!("calibrate-{kind}-stored"),
        Part::Unanswered => format!("calibrate-{kind}-interests"),
        Part::Close => format!("calibrate-{kind}-close"),
        Part::Hit => format!("calibrate-{kind}-hits"),
    }
}

/// The name of a case.
pub(super) fn case_name(pace: Pace) -> String {
    match pace {
        Pace::Idle => "idle".to_owned(),
        Pace::Alone { every_us } => format!("alone every {every_us} us"),
        Pace::Together => "together".to_owned(),
    }
}

/// What a case sets. Links have a rate where packets come alone, as in most experiments: it is what makes
/// large packets come in several frames one after the other.
fn set(part: Part, pace: Pace) -> String {
    let rate_mbps = if part == Part::Apart { 15 } else { 100 };
    let rate = format!("\"defaults.link.rate\" = \"{rate_mbps} Mbit/s\"");
    let is_flood = matches!(part, Part::Unanswered);
    match pace {
        Pace::Idle => format!("{rate}, \"flood.load.every\" = \"1 s\""),
        // Three sources, each of which has its own times.
        Pace::Alone { every_us } if part == Part::Close => {
            let mut sets = rate;
            for (name, number) in SOURCES.into_iter().zip(0..) {
                let _ = write!(
                    sets,
                    ", \"flood.{name}.every\" = \"{} us\", \"flood.{name}.start\" = \"{} us\"",
                    3 * every_us,
                    START_US + number * every_us,
                );
            }
            sets
        }
        Pace::Alone { every_us } if is_flood => {
            format!("{rate}, \"flood.load.every\" = \"{every_us} us\"")
        }
        Pace::Alone { every_us } => {
            let rate_of = 1_000_000 / every_us;
            format!("{rate}, \"traffic.load.workload\" = \"sequential/rate~{rate_of}\"")
        }
        Pace::Together if is_flood => {
            format!("\"flood.load.every\" = \"{PAUSE_US} us\", \"flood.load.burst\" = {FLOOD_BURST}")
        }
        Pace::Together => {
            let rate = u64::from(MEAN_BURST) * 1_000_000 / u64::from(PAUSE_US);
            // Within a burst no time passes, so that the pause behind each is the whole of its time.
            let workload = format!("sequential/rate~{rate}/burst~{MEAN_BURST}/peak~1000000000");
            // As many chunks as no burst has: of two Interests for one the router would see one.
            let chunks = if part == Part::Hit {
                format!(", \"content.files.size\" = \"{} B\"", LARGE * 600)
            } else {
                String::new()
            };
            format!("\"traffic.load.workload\" = \"{workload}\"{chunks}")
        }
    }
}

/// The sources of packets that come closer to each other than one alone sends them.
const SOURCES: [&str; 3] = ["one", "two", "three"];
/// When loads begin.
const START_US: u32 = 500_000;

/// What the consumer asks for.
fn load(part: Part) -> String {
    let flood = |name: &str| {
        format!(
            "[flood.{name}]\nat = \"consumer\"\nprefix = \"/cost/none/{name}\"\nburst = 1\nuntil = 1000000\n\
             start = \"{START_US} us\"\n"
        )
    };
    match part {
        Part::Unanswered => flood("load"),
        Part::Close => SOURCES.map(flood).join("\n"),
        Part::Exchange { .. } | Part::Apart | Part::Stored | Part::Hit => {
            "[traffic.load]\nat = \"consumer\"\ncontent = \"files\"\nstart = \"500 ms\"\n".to_owned()
        }
    }
}

/// An experiment of three nodes.
pub(super) fn text(kind: &str, part: Part) -> String {
    let (segment, size) = match part {
        Part::Exchange { content_bytes } => (content_bytes, u64::from(content_bytes) * 20_000),
        Part::Apart | Part::Stored => (LARGE, u64::from(LARGE) * 20_000),
        Part::Unanswered | Part::Close => (LARGE, u64::from(LARGE)),
        Part::Hit => (LARGE, u64::from(LARGE) * 10),
    };
    let router = if part == Part::Hit { "{ forwarder = { content_store = 1000 } }" } else { "{}" };
    let stores = if part == Part::Stored { "{}" } else { "{ forwarder = { content_store = 0 } }" };
    let cases = paces(part).into_iter().fold(String::new(), |mut text, pace| {
        let _ = write!(text, "\n[[case]]\nname = \"{}\"\nset = {{ {} }}\n", case_name(pace), set(part, pace));
        text
    });
    format!(
        r#"title = "What packets cost over {kind}: {part:?}"
duration = "3 s"
one_processor = true
gates = {{ waited = "100 %", invalid_samples = "20 %", steal = "30 %", unfinished = "100 %", retries = 1 }}
measure = {{ from = "1 s", until = "3 s" }}

[defaults]
link = {{ kind = "{kind}", delay = "1 ms" }}
node = {stores}

[node]
consumer = {{}}
router = {router}
producer = {{}}

[link]
consumer-router = {{}}
router-producer = {{}}

[[route]]
prefix = "/cost"
path = ["consumer", "router", "producer"]

[content.files]
prefix = "/cost"
at = "producer"
size = "{size} B"
segment = "{segment} B"

{}{cases}"#,
        load(part)
    )
}

/// The same with costs by a profile, which [`Experiment`](crate::experiment::Experiment) finds by its name.
/// Real links have a token bucket, which has to be said of others.
pub(super) fn text_of_virtual_time(kind: &str, part: Part, profile: &str) -> String {
    let text = text(kind, part).replacen("delay = \"1 ms\"", "delay = \"1 ms\", token_bucket = true", 1);
    format!("profile = \"{profile}\"\n{text}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_in_virtual_time_have_the_bucket_of_real_ones() {
        for (kind, part) in
            KINDS.into_iter().flat_map(|kind| parts(kind).into_iter().map(move |part| (kind, part)))
        {
            assert!(
                text_of_virtual_time(kind, part, "p.toml").contains("token_bucket = true"),
                "{kind} {part:?}"
            );
        }
    }
    use crate::experiment::Experiment;
    use crate::experiment::plan::Activity;

    #[test]
    fn every_calibration_is_a_sound_experiment_with_a_case_for_each_pace() {
        for kind in KINDS {
            for part in parts(kind) {
                let name = name(kind, part);
                let parsed = Experiment::parse(&name, &name, &text(kind, part));
                let plans = parsed.unwrap_or_else(|wrong| panic!("{wrong}")).plans("netns").unwrap();
                let names: Vec<&str> = plans.iter().map(|plan| plan.case.as_str()).collect();
                let expected: Vec<String> = paces(part).into_iter().map(case_name).collect();
                assert_eq!(names, expected, "{name}");
            }
        }
    }

    #[test]
    fn three_sources_send_one_after_the_other_at_even_times() {
        let text = text("udp", Part::Close);
        let plans = Experiment::parse("t", "t", &text).unwrap().plans("netns").unwrap();
        for (plan, every_us) in plans.iter().zip(CLOSES_US) {
            let mut starts: Vec<u64> = plan.workloads.iter().map(|workload| workload.start_ns).collect();
            starts.sort_unstable();
            let close = u64::from(every_us) * 1000;
            assert_eq!(starts, [0, 1, 2].map(|number| 500_000_000 + number * close));
            let every = |workload: &crate::experiment::plan::Workload| match workload.does {
                Activity::Flood { every_ns, .. } => every_ns,
                _ => 0,
            };
            assert!(plan.workloads.iter().all(|workload| every(workload) == 3 * close));
        }
    }
}
