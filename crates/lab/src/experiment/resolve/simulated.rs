//! Producers, consumers, events and traces with their defaults filled in and their names looked up.

use flow::WorkloadSpec;
use flow::workload::{Setting, Spacing};
use packet::random::Zipf;

use super::choice::{Draw, Purpose};
use super::network;
use crate::experiment::model::{self, File};
use crate::experiment::plan::{
    Activity, Answers, ConsumerKind, ConsumerPlan, Links, ProducerKey, ProducerPlan, TraceFormat, TracePlan,
    VerificationPlan, Workload,
};
use crate::experiment::profile::{Profile, nanos};
use crate::experiment::read::findings::Findings;
use crate::experiment::units::Span;

/// More bytes of Data than this do not fit into one packet.
const MAX_PACKET_BYTES: u64 = packet::Dialect::Ndn.max_packet_bytes() as u64;
/// A published file is in memory.
const MAX_FILE_BYTES: u64 = 1 << 30;

/// Do other seeds make another network, or other nodes do something in it?
pub(super) fn is_drawn(file: &File) -> bool {
    file.topology.as_ref().is_some_and(network::is_random)
        || file.group.values().any(|group| group.nodes.is_random())
        || file.producer.values().any(|producer| producer.at.is_random())
        || file.consumer.values().any(|consumer| consumer.at.is_random())
        || file.download.values().any(|download| download.at.is_random())
}

/// Who answers.
pub(super) fn producers(file: &File, names: &[&str], seed: u64, f: &mut Findings) -> Vec<ProducerPlan> {
    file.producer.iter().map(|(name, given)| producer(name, given, names, seed, f)).collect()
}

fn producer(
    name: &str,
    given: &model::Producer,
    names: &[&str],
    seed: u64,
    f: &mut Findings,
) -> ProducerPlan {
    let key = format!("producer.{name}");
    f.prefix(&format!("{key}.prefix"), &given.prefix);
    let nodes = given.at.nodes(&format!("{key}.at"), names, Draw { seed, purpose: Purpose::Producers }, f);
    let said = [("packet", given.packet), ("content", given.content), ("file", given.file)];
    let said: Vec<_> = said.into_iter().filter_map(|(name, size)| Some((name, size?.0))).collect();
    if said.len() > 1 {
        let words: Vec<String> = said.iter().map(|(name, _)| format!("`{name}`")).collect();
        f.add(&key, format!("{} exclude each other", words.join(" and ")), None);
    }
    let answers = match said.first() {
        Some(("packet", bytes)) => Answers::Packets(*bytes),
        Some(("file", bytes)) => Answers::File(*bytes),
        Some((_, bytes)) => Answers::Contents(*bytes),
        None => Answers::Contents(1000),
    };
    let (most, what) = match answers {
        Answers::Packets(bytes) => (bytes <= MAX_PACKET_BYTES, "packet"),
        Answers::Contents(bytes) => (bytes <= MAX_PACKET_BYTES - 800, "content"),
        Answers::File(bytes) => (bytes > 0 && bytes <= MAX_FILE_BYTES, "file"),
    };
    if !most {
        let message = match what {
            "file" => "a published file has from 1 byte to 1 GiB",
            _ => "a packet has no more than 8800 bytes, of which 800 are for its name and signature",
        };
        f.add(format!("{key}.{what}"), message, None);
    }
    ProducerPlan {
        name: name.to_owned(),
        nodes,
        prefix: given.prefix.clone(),
        answers,
        freshness_ns: given.freshness.map(|span| span.0),
        reply_delay_ns: given.reply_delay.map(|span| span.0),
        key: producer_key(&key, given, f),
    }
}

fn producer_key(key: &str, given: &model::Producer, f: &mut Findings) -> ProducerKey {
    let key = format!("{key}.key");
    let words =
        [("digest", ProducerKey::Digest), ("trusted", ProducerKey::Trusted), ("forged", ProducerKey::Forged)];
    let word = given.key.as_deref().unwrap_or("digest");
    let found = f.word(&key, word, &words).unwrap_or_default();
    if found != ProducerKey::Digest && given.file.is_none() {
        f.add(key, "only a `file` is signed with a key", Some("add file = \"1 MB\"".to_owned()));
    }
    found
}

/// Who asks.
pub(super) fn consumers(
    file: &File,
    names: &[&str],
    seed: u64,
    profile: Option<&Profile>,
    f: &mut Findings,
) -> Vec<Workload> {
    let consumer = |(name, given): (&String, &model::Consumer)| {
        let mut workload = consumer(file, name, given, names, seed, f)?;
        if let Activity::Consume(plan) = &mut workload.does {
            plan.verify = verification(file, &format!("consumer.{name}"), given, profile, f);
        }
        Some(workload)
    };
    file.consumer.iter().filter_map(consumer).collect()
}

/// What verification costs a consumer that verifies.
fn verification(
    file: &File,
    key: &str,
    given: &model::Consumer,
    profile: Option<&Profile>,
    f: &mut Findings,
) -> Option<VerificationPlan> {
    if !given.verify.unwrap_or(false) {
        for (name, time) in [("signature_time", given.signature_time), ("hash_time", given.hash_time)] {
            if time.is_some() {
                let hint = Some("add verify = true".to_owned());
                f.add(format!("{key}.{name}"), "nothing is verified", hint);
            }
        }
        return None;
    }
    let is_trusted = |producer: &model::Producer| producer.key.as_deref() == Some("trusted");
    if !file.producer.values().any(is_trusted) {
        let hint = Some("add key = \"trusted\" to the producer".to_owned());
        f.add(format!("{key}.verify"), "no producer has a trusted key: all would be refused", hint);
    }
    let measured = profile.and_then(|profile| profile.verification()).unwrap_or_default();
    let time = |given: Option<Span>, measured_us| given.map_or_else(|| nanos(measured_us), |span| span.0);
    Some(VerificationPlan {
        signature_ns: time(given.signature_time, measured.signature_us),
        hashed_kibibyte_ns: time(given.hash_time, measured.hashed_kibibyte_us),
    })
}

fn consumer(
    file: &File,
    name: &str,
    given: &model::Consumer,
    names: &[&str],
    seed: u64,
    f: &mut Findings,
) -> Option<Workload> {
    let key = format!("consumer.{name}");
    f.prefix(&format!("{key}.prefix"), &given.prefix);
    if given.attempts == Some(0) {
        f.add(format!("{key}.attempts"), "a name is asked for at least once", None);
    }
    let nodes = given.at.nodes(&format!("{key}.at"), names, Draw { seed, purpose: Purpose::Consumers }, f);
    let kind = kind_of(&key, given, f)?;
    let at = *nodes.first()?;
    let start_ns = given.start.map_or(0, |span| span.0);
    let stop_ns = given.stop.map_or(file.duration.0, |span| span.0);
    if stop_ns <= start_ns {
        f.add(format!("{key}.stop"), "it ends before it begins", None);
    }
    let does = Activity::Consume(ConsumerPlan {
        nodes,
        prefix: given.prefix.clone(),
        kind,
        items: given.items,
        lifetime_ns: given.lifetime.map(|span| span.0),
        attempts: given.attempts,
        stops: given.stop.is_some(),
        verify: None,
    });
    Some(Workload { name: name.to_owned(), at, start_ns, stop_ns, does, part_of: None })
}

/// Keys that only some kinds of consumers have.
const KEYS: [(&str, &[&str]); 8] = [
    ("rate", &["rate", "spacing", "items", "lifetime", "attempts", "stop"]),
    ("window", &["window", "items", "lifetime", "attempts", "stop"]),
    ("batch", &["batch", "items", "lifetime", "attempts", "stop"]),
    ("zipf", &["rate", "spacing", "objects", "exponent", "shift", "items", "lifetime", "attempts", "stop"]),
    ("workload", &["workload", "objects", "lifetime", "stop"]),
    ("transfer", &["controller", "items", "lifetime", "attempts"]),
    ("file", &["controller", "attempts", "verify", "signature_time", "hash_time"]),
    ("flood", &["rate", "lifetime", "stop"]),
];

/// Finds keys that a consumer of this kind has not.
fn only_allowed(key: &str, given: &model::Consumer, allowed: &[&str], f: &mut Findings) {
    for (name, is_there) in [
        ("rate", given.rate.is_some()),
        ("spacing", given.spacing.is_some()),
        ("window", given.window.is_some()),
        ("batch", !given.batch.is_empty()),
        ("objects", given.objects.is_some()),
        ("exponent", given.exponent.is_some()),
        ("shift", given.shift.is_some()),
        ("workload", given.workload.is_some()),
        ("controller", given.controller.is_some()),
        ("items", given.items.is_some()),
        ("lifetime", given.lifetime.is_some()),
        ("attempts", given.attempts.is_some()),
        ("stop", given.stop.is_some()),
        ("verify", given.verify.is_some()),
        ("signature_time", given.signature_time.is_some()),
        ("hash_time", given.hash_time.is_some()),
    ] {
        if is_there && !allowed.contains(&name) {
            let hint = Some(format!("it has: {}", allowed.join(", ")));
            f.add(
                format!("{key}.{name}"),
                format!("a consumer of kind {} has no `{name}`", given.kind),
                hint,
            );
        }
    }
}

/// How a consumer asks, as far as that can be told.
fn kind_of(key: &str, given: &model::Consumer, f: &mut Findings) -> Option<ConsumerKind> {
    let allowed = f.word(&format!("{key}.kind"), &given.kind, &KEYS)?;
    only_allowed(key, given, allowed, f);
    let missing = |name: &str, f: &mut Findings| {
        let message = format!("a consumer of kind {} needs `{name}`", given.kind);
        f.add(key, message, Some(format!("add {name} = …")));
    };
    let per_second = match given.rate.map(|rate| rate.0) {
        Some(rate) if rate > 0.0 => Some(rate),
        Some(_) => {
            f.add(format!("{key}.rate"), "a rate must be above zero", None);
            return None;
        }
        None if allowed.contains(&"rate") => {
            missing("rate", f);
            return None;
        }
        None => None,
    };
    let spacing = match given.spacing.as_deref() {
        Some(word) => f.word(&format!("{key}.spacing"), word, &Spacing::WORDS)?,
        None if given.kind == "zipf" => Spacing::Poisson,
        None => Spacing::Constant,
    };
    Some(match given.kind.as_str() {
        "window" => match given.window {
            Some(window) if window > 0 => ConsumerKind::Window(window),
            Some(_) => {
                f.add(format!("{key}.window"), "with a window of 0 nothing is ever asked for", None);
                return None;
            }
            None => {
                missing("window", f);
                return None;
            }
        },
        "batch" if given.batch.is_empty() => {
            missing("batch", f);
            return None;
        }
        "batch" => ConsumerKind::Batches(given.batch.iter().map(|batch| (batch.at.0, batch.count)).collect()),
        "zipf" => zipf(key, given, per_second?, spacing, f)?,
        "workload" => match &given.workload {
            Some(text) => workload(key, text, given, f)?,
            None => {
                missing("workload", f);
                return None;
            }
        },
        "transfer" => ConsumerKind::Transfer(controller(key, given, f)?),
        "file" => ConsumerKind::File(controller(key, given, f)?),
        "flood" => ConsumerKind::Flood(per_second?),
        _ => ConsumerKind::Rate(per_second?, spacing),
    })
}

fn zipf(
    key: &str,
    given: &model::Consumer,
    per_second: f64,
    spacing: Spacing,
    f: &mut Findings,
) -> Option<ConsumerKind> {
    let Some(objects) = given.objects else {
        f.add(key, "a consumer of kind zipf needs `objects`", Some("add objects = 1000".to_owned()));
        return None;
    };
    let (exponent, shift) = (given.exponent.unwrap_or(0.8), given.shift.unwrap_or(0.0));
    if let Err(error) = Zipf::new(objects as usize, exponent, shift) {
        f.add(format!("{key}.objects"), error.to_string(), None);
        return None;
    }
    Some(ConsumerKind::Zipf { per_second, spacing, objects, exponent, shift })
}

/// A workload by its name and parameters.
fn workload(key: &str, text: &str, given: &model::Consumer, f: &mut Findings) -> Option<ConsumerKind> {
    let spec = super::named_workload::named_workload(&format!("{key}.workload"), text, f)?;
    // What it needs to know of the catalogue is found out by starting it.
    let setting = Setting { items: given.objects.map(u64::from), ..Setting::forever(0) };
    if let Err(error) = spec.parse::<WorkloadSpec>().and_then(|spec| spec.start(&setting).map(drop)) {
        let hint = given.objects.is_none().then(|| "add objects = 1000".to_owned());
        f.add(format!("{key}.workload"), error.to_string(), hint);
        return None;
    }
    Some(ConsumerKind::Workload { spec, objects: given.objects })
}

/// The controller that is named; nothing outside when it does not exist.
fn controller(key: &str, given: &model::Consumer, f: &mut Findings) -> Option<Option<String>> {
    let Some(word) = &given.controller else { return Some(None) };
    f.controller(&format!("{key}.controller"), word).map(|spec| Some(spec.to_owned()))
}

/// What virtual time writes down.
pub(super) fn trace(file: &File, links: &Links, f: &mut Findings) -> TracePlan {
    let given = file.trace.as_ref();
    let flag = |key: fn(&model::Trace) -> Option<bool>| given.and_then(key).unwrap_or(false);
    let formats = [("csv", TraceFormat::Csv), ("parquet", TraceFormat::Parquet)];
    let format = given.and_then(|trace| trace.format.as_deref()).unwrap_or("csv");
    let format = f.word("trace.format", format, &formats).unwrap_or_default();
    if given.and_then(|trace| trace.sample).is_some_and(|span| span.0 < 1_000) {
        f.add(
            "trace.sample",
            "looking that often would never end",
            Some("write at least \"1 us\"".to_owned()),
        );
    }
    let names: Vec<&str> = links.iter().map(|link| link.name.as_str()).collect();
    let mut captures = Vec::new();
    for (number, capture) in file.capture.iter().enumerate() {
        let link = f.link(&format!("capture.{number}.link"), &capture.link, &names);
        let most = usize::try_from(capture.max_frames.unwrap_or(100_000)).unwrap_or(usize::MAX);
        captures.extend(link.map(|link| (link, most)));
    }
    TracePlan {
        sample_ns: given.and_then(|trace| trace.sample).map(|span| span.0),
        packets: flag(|trace| trace.packets),
        delays: flag(|trace| trace.delays),
        values: flag(|trace| trace.values),
        drops: flag(|trace| trace.drops),
        one_in: given.and_then(|trace| trace.one_in).unwrap_or(1),
        max_records: given
            .and_then(|trace| trace.max_records)
            .map_or(10_000_000, |most| usize::try_from(most).unwrap_or(usize::MAX)),
        format,
        captures,
    }
}

#[cfg(test)]
mod tests {
    use crate::experiment::Experiment;

    fn of_consumer(workload: &str) -> String {
        format!(
            "title = 't'\nduration = '2 s'\nroutes = 'shortest'\ntopology = {{ kind = 'dumbbell', pairs = 1 }}\n\
             [defaults.link]\nrate = '10 Mbps'\ndelay = '5 ms'\n[producer.data]\nat = 'right-0'\nprefix = '/d'\n\
             [consumer.c]\nkind = 'workload'\nat = 'left-0'\nprefix = '/d'\nworkload = '{workload}'\n"
        )
    }

    #[test]
    fn a_workload_that_needs_to_know_how_many_objects_there_are_is_told_before_the_run() {
        let check = |text: &str| Experiment::parse("x", "x.toml", text).map(drop).map_err(|e| e.to_string());
        let told = check(&of_consumer("zipf/rate~5")).unwrap_err();
        assert!(told.contains("consumer.c.workload") && told.contains("add objects = 1000"), "{told}");
        assert!(check(&(of_consumer("zipf/rate~5") + "objects = 0\n")).is_err());
        assert_eq!(check(&(of_consumer("zipf/rate~5") + "objects = 10\n")), Ok(()));
        assert_eq!(check(&of_consumer("zipf/rate~5/items~10")), Ok(()));
        assert_eq!(check(&of_consumer("sequential")), Ok(()));
    }

    #[test]
    fn traffic_whose_gaps_or_sizes_are_drawn_is_not_the_same_in_each_repeat() {
        let of = |size: &str, workload: &str| {
            let text = format!(
                "title = 't'\nduration = '2 s'\n[node.a]\n[node.b]\n[link.a-b]\nrate = '10 Mbps'\n\
                 [[route]]\nprefix = '/d'\npath = ['a', 'b']\n\
                 [content.files]\nat = 'b'\nprefix = '/d'\n{size}\n\
                 [traffic.t]\nat = 'a'\ncontent = 'files'\nworkload = '{workload}'\n"
            );
            let experiment = Experiment::parse("x", "x.toml", &text).unwrap();
            experiment.plans("sim").unwrap()[0].is_deterministic()
        };
        let is_deterministic = |workload: &str| of("size = '1 MB'", workload);
        assert!(is_deterministic("sequential/rate~5"));
        assert!(is_deterministic("sequential/rate~5/spacing~constant"));
        assert!(!is_deterministic("sequential/rate~5/spacing~uniform"));
        assert!(!is_deterministic("sequential/rate~5/spacing~poisson"));
        assert!(!is_deterministic("uniform/rate~5/items~9"));
        let drawn = "count = 9\nsizes = { law = 'log-normal', median = '20 kB', deviation = 1 }";
        assert!(!of(drawn, "sequential/rate~5"));
        assert!(of("sizes = { list = ['20 kB', '9 kB'] }", "sequential/rate~5"));
    }

    #[test]
    fn downloads_under_a_controller_that_draws_or_of_files_whose_sizes_are_drawn_differ() {
        let is_deterministic = |size: &str, keys: &str| {
            let text = format!(
                "title = 't'\nduration = '2 s'\n[node.a]\n[node.b]\n[link.a-b]\nrate = '10 Mbps'\n\
                 [[route]]\nprefix = '/d'\npath = ['a', 'b']\n\
                 [content.files]\nat = 'b'\nprefix = '/d'\n{size}\n\
                 [download.t]\nat = 'a'\ncontent = 'files'\n{keys}\n"
            );
            let experiment = Experiment::parse("x", "x.toml", &text).unwrap_or_else(|e| panic!("{e}"));
            experiment.plans("sim").unwrap()[0].is_deterministic()
        };
        let (even, drawn) =
            ("size = '1 MB'", "count = 5\nsizes = { law = 'pareto', least = '200 kB', most = '3 MB' }");
        assert!(is_deterministic(even, "") && is_deterministic(even, "controller = 'pcon'"));
        assert!(!is_deterministic(even, "controller = 'raaqm'"));
        assert!(!is_deterministic(drawn, ""));
    }
}
