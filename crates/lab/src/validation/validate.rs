//! The same plan on real forwarders and in virtual time, number by number.

use std::path::PathBuf;

use serde::Serialize;
use toml::{Table, Value};

use super::ValidationError;
use crate::analysis::RepeatResult;
use crate::experiment::Experiment;
use crate::experiment::plan::{Activity, Plan};
use crate::report::{CaseData, Numbers, RunData};
use crate::run::progress::Progress;
use crate::run::{Options, RunFolder, execute, resume};
use crate::stats::{Estimate, FEWEST, FEWEST_ORDERS, Level, Sample};

/// How far a number may be off where links limit: goodput, download times, hit rates.
const LINKS: f64 = 0.05;
/// And where the processor does: round trips, busy time, and downloads through a node that has a share of a
/// processor only.
const PROCESSOR: f64 = 0.15;
/// So many repeats are enough for every number, also for those whose first repeat is no draw.
const ENOUGH_REPEATS: usize = FEWEST_ORDERS + 1;
/// Of a processor that is used less nobody can tell the part that packets take.
const MIN_BUSY_PERCENT: f64 = 5.0;
/// Content stores that answer less than this part of Interests are none to speak of, in percent.
const MIN_HITS_PERCENT: f64 = 5.0;
/// A forwarder that waits longer for a processor is told of, in percent of the time.
const MUCH_WAITING_PERCENT: f64 = 5.0;

/// Why virtual time is slower where a processor is full, with a profile that says what packets cost that come
/// alone, and not what of that is waking: an experiment in the folder of causes shows it.
const WAITING_TOGETHER: &str = "packets that wait together cost less";

/// Where the difference of two backends lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Agreement {
    /// All of its 90 % interval is within the margin.
    Within,
    /// None of it is.
    Beyond,
    /// Nobody can say.
    Uncertain,
}

impl Agreement {
    /// In words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Agreement::Within => "within",
            Agreement::Beyond => "beyond",
            Agreement::Uncertain => "too uncertain",
        }
    }
}

/// One number on both backends.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// The case; empty when there is only one.
    pub case: String,
    /// The measure, such as `files.goodput`.
    pub measure: String,
    /// Its unit.
    pub unit: &'static str,
    /// On real forwarders.
    pub real: Estimate,
    /// In virtual time.
    pub simulated: Estimate,
    /// How much more it is in virtual time, as a part of the real number.
    pub difference: f64,
    /// The 90 % interval of that; nothing when it is not known.
    pub interval: Option<[f64; 2]>,
    /// How far it may be off.
    pub margin: f64,
    /// Is it?
    pub agreement: Agreement,
    /// Why it is not within, as far as that is known.
    pub reason: String,
}

/// An experiment on both backends.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Validation {
    /// Its file's name without the ending.
    pub experiment: String,
    /// Its title.
    pub title: String,
    /// Its numbers.
    pub rows: Vec<Row>,
    /// Cases without a valid run, and why.
    pub not_valid: Vec<String>,
}

impl Validation {
    /// Is every number within its margin?
    #[must_use]
    pub fn is_within(&self) -> bool {
        self.not_valid.is_empty()
            && !self.rows.is_empty()
            && self.rows.iter().all(|row| row.agreement == Agreement::Within)
    }
}

/// The text of an experiment as both backends shall have it: with what it says of namespaces for virtual time
/// as well, the token bucket that every real link has, costs by a profile and not by what it assumes, and
/// without what it expects.
///
/// # Errors
///
/// Where it is not TOML.
pub fn same_plan(text: &str, profile: Option<&str>) -> Result<String, toml::de::Error> {
    let mut file: Table = toml::from_str(text)?;
    for key in ["expect", "control", "figure"] {
        file.remove(key);
    }
    if let Some(on) = file.get_mut("on").and_then(Value::as_table_mut) {
        on.remove("sim");
        if let Some(real) = on.get("netns").cloned() {
            on.insert("sim".to_owned(), real);
        }
        for change in on.iter_mut().filter_map(|(_, change)| change.get_mut("set")?.as_table_mut()) {
            change.retain(|key, _| !key.starts_with("control."));
        }
    }
    give_buckets(&mut file);
    let Some(profile) = profile else { return Ok(unparse(&file)) };
    file.insert("profile".to_owned(), Value::String(profile.to_owned()));
    let assumed = |node: &mut Value| {
        if let Some(node) = node.as_table_mut() {
            node.remove("service_time");
            node.remove("data_service_time");
        }
    };
    let defaults = file.get_mut("defaults").and_then(|defaults| defaults.get_mut("node"));
    defaults.into_iter().for_each(assumed);
    let nodes = file.get_mut("node").and_then(Value::as_table_mut);
    nodes.into_iter().flat_map(|nodes| nodes.iter_mut()).for_each(|(_, node)| assumed(node));
    Ok(unparse(&file))
}

/// Says of all links that they have a token bucket but of those that say what they have instead.
fn give_buckets(file: &mut Table) {
    let defaults = file.entry("defaults").or_insert_with(|| Value::Table(Table::new()));
    let Some(defaults) = defaults.as_table_mut() else { return };
    let link = defaults.entry("link").or_insert_with(|| Value::Table(Table::new()));
    if let Some(link) = link.as_table_mut().filter(|link| !link.contains_key("codel")) {
        link.entry("token_bucket").or_insert(Value::Boolean(true));
    }
}

/// A table as text. What was read can be written.
fn unparse(file: &Table) -> String {
    toml::to_string(file).unwrap_or_default()
}

/// Runs an experiment on both backends, or reads what such a run has left in `options.runs`, and compares
/// them.
///
/// # Errors
///
/// When it cannot be run, or read.
pub fn validate(
    experiment: &Experiment,
    options: &Options,
    mut observe: impl FnMut(&Progress) + Send,
) -> Result<Validation, ValidationError> {
    experiment.can_run_on("netns")?;
    let real = run_on(experiment, options, "netns", &mut observe)?;
    let simulated = run_on(experiment, options, "sim", &mut observe)?;
    Ok(compare(experiment, &real, &simulated))
}

/// The run of an experiment on a backend: the one that is there, gone on with where it ended, or a new one.
pub(super) fn run_on(
    experiment: &Experiment,
    options: &Options,
    backend: &str,
    observe: impl FnMut(&Progress) + Send,
) -> Result<RunData, ValidationError> {
    let place = options.runs.join(format!("{}-{backend}", experiment.name));
    if let Ok(folder) = RunFolder::open(&place)
        && let Ok(record) = folder.record()
    {
        let is_mine =
            has_plan(&folder, experiment) && options.repeats.is_none_or(|asked| asked == record.repeats);
        if is_mine && record.complete {
            return as_left(&folder);
        }
        if is_mine {
            return as_left(&resume(&place, &options.programs, options.build.clone(), observe)?);
        }
        let why = "holds a run of another plan or profile, or of other repeats; take it away, or name another \
                   folder with --runs";
        return Err(ValidationError::Nothing(format!("{} {why}", place.display())));
    }
    let options =
        Options { backend: backend.to_owned(), out: Some(place), controls: false, ..options.clone() };
    Ok(RunData::read(&execute(experiment, &options, observe)?)?)
}

/// A run that is as it was left: from numbers that somebody has changed no distance follows.
fn as_left(folder: &RunFolder) -> Result<RunData, ValidationError> {
    let mut run = RunData::read(folder)?;
    run.look_at_tables();
    if run.faults.is_empty() {
        return Ok(run);
    }
    let (what, ways_out) = (run.faults.join("; "), run.ways_out.join("; "));
    Err(ValidationError::Nothing(format!(
        "{} is not as it was left: {what}; {ways_out}",
        folder.path().display()
    )))
}

/// Is a run one of this experiment: of its text, and of the files that it names, such as a profile?
fn has_plan(folder: &RunFolder, experiment: &Experiment) -> bool {
    let is = |path: PathBuf, bytes: &[u8]| std::fs::read(path).is_ok_and(|found| found == bytes);
    is(folder.experiment(), experiment.text.as_bytes())
        && experiment.files.iter().all(|(name, bytes)| is(folder.file_of_experiment(name), bytes))
}

fn compare(experiment: &Experiment, real: &RunData, simulated: &RunData) -> Validation {
    let (mut rows, mut not_valid) = (Vec::new(), Vec::new());
    for left in &real.cases {
        let Some(right) = simulated.cases.iter().find(|case| case.plan.case == left.plan.case) else {
            continue;
        };
        for (backend, case) in [("real forwarders", left), ("virtual time", right)] {
            if !case.is_valid() {
                let why = case.results.iter().flat_map(RepeatResult::reasons).next().unwrap_or_default();
                let name = if case.plan.case.is_empty() { "" } else { &format!("{}, ", case.plan.case) };
                not_valid.push(format!("{name}on {backend}: {why}"));
            }
        }
        rows.extend(measures(left).into_iter().filter_map(|measure| row(left, right, &measure)));
    }
    let title = experiment.file.title.clone();
    Validation { experiment: experiment.name.clone(), title, rows, not_valid }
}

/// Whether a profile says what waking a forwarder up costs.
fn knows_waking(plan: &Plan) -> bool {
    let costs = plan.nodes.iter().filter_map(|node| node.costs.as_ref());
    costs.flat_map(|costs| &costs.links).any(|(_, link)| !link.arriving_asleep.iter().all(Vec::is_empty))
}

/// Whether a node has a share of a processor only, which then limits what passes.
fn has_share(case: &CaseData) -> bool {
    case.plan.nodes.iter().any(|node| node.cpu.is_some_and(|share| share < 1.0))
}

/// Something that both backends measure.
struct Measured {
    key: String,
    summary: &'static str,
    unit: &'static str,
    margin: f64,
}

/// What is compared of a case: what its workloads got, what its processors did, what its caches answered.
fn measures(case: &CaseData) -> Vec<Measured> {
    let mut list = Vec::new();
    let mut add = |key: String, summary, unit, margin| list.push(Measured { key, summary, unit, margin });
    let mut has_traffic = false;
    let limit = if has_share(case) { PROCESSOR } else { LINKS };
    for workload in &case.plan.workloads {
        let name = &workload.name;
        match workload.does {
            Activity::Download { .. } => {
                add(format!("{name}.goodput"), "mean", "B/s", limit);
                add(format!("{name}.duration"), "mean", "s", limit);
            }
            Activity::Ping { .. } => add(format!("{name}.rtt"), "median", "ms", PROCESSOR),
            Activity::Traffic { .. } => {
                has_traffic = true;
                add(format!("{name}.rtt"), "mean", "ms", PROCESSOR);
            }
            Activity::Flood { .. }
            | Activity::Consume(_)
            | Activity::Program(_)
            | Activity::Register(_)
            | Activity::Load { .. } => {}
        }
    }
    for node in &case.plan.nodes {
        add(format!("{}.cpu", node.name), "mean", "%", PROCESSOR);
        if has_traffic {
            add(format!("{}.{HITS}", node.name), "", "%", LINKS);
        }
    }
    list
}

/// The part of Interests that a node answers itself, of its cache: no measure of the file.
const HITS: &str = "hits";

fn numbers(case: &CaseData, measured: &Measured) -> Numbers {
    let Some(node) = measured.key.strip_suffix(HITS) else {
        return case.numbers(&measured.key, measured.summary);
    };
    let sum = |key: &str| case.numbers(&format!("{node}{key}"), "sum");
    sum("noted").with(sum("propagated"), |here, further| here / (here + further).max(1.0) * 100.0)
}

fn row(real: &CaseData, simulated: &CaseData, measured: &Measured) -> Option<Row> {
    let (found, predicted) = (numbers(real, measured), numbers(simulated, measured));
    let (left, right) = (found.estimate()?, predicted.estimate()?);
    let least = match measured.key.rsplit('.').next() {
        Some("cpu") => MIN_BUSY_PERCENT,
        Some(HITS) => MIN_HITS_PERCENT,
        _ => 0.0,
    };
    if left.mean <= least {
        return None;
    }
    // What it is compared with has no counts.
    let predicted = Sample { counts: Vec::new(), ..predicted.sample(None) };
    let found = Sample { counts: Vec::new(), ..found.sample(None) };
    let part = |difference: f64| difference / left.mean;
    // What is compared is limited by links and processors, and spreads about its mean.
    let (found, predicted) = (found.spread_as_normal(), predicted.spread_as_normal());
    let interval = predicted.less(1.0, &found, false, Level::Ninety);
    let interval = interval.map(|interval| [part(interval.low), part(interval.high)]);
    let too_few = too_few(&found, &predicted);
    let agreement =
        if too_few.is_some() { Agreement::Uncertain } else { agreement(interval, measured.margin) };
    Some(Row {
        case: real.plan.case.clone(),
        measure: measured.key.clone(),
        unit: measured.unit,
        real: left,
        simulated: right,
        difference: part(right.mean - left.mean),
        interval: interval.filter(|_| too_few.is_none()),
        margin: measured.margin,
        agreement,
        reason: match agreement {
            Agreement::Within => String::new(),
            _ => reason(real, measured, interval, too_few),
        },
    })
}

fn agreement(interval: Option<[f64; 2]>, margin: f64) -> Agreement {
    match interval {
        Some([low, high]) if low >= -margin && high <= margin => Agreement::Within,
        Some([low, high]) if high < -margin || low > margin => Agreement::Beyond,
        _ => Agreement::Uncertain,
    }
}

/// Of how a few repeats spread nothing follows, here as in statements: why that is so, where it is. Of what
/// hangs on the order of what happens at one instant the first repeat takes the planned one, which is no
/// draw, so that one repeat more is needed.
fn too_few(found: &Sample, predicted: &Sample) -> Option<String> {
    let repeats = found.values.len();
    let drawn = if predicted.hangs_on_order() { predicted.values.len() } else { FEWEST };
    let take = format!("take `--repeats {ENOUGH_REPEATS}`");
    match (repeats < FEWEST, drawn < FEWEST) {
        (true, _) => Some(format!("how {repeats} repeats spread says little: {take}")),
        (false, true) => Some(format!(
            "virtual time hangs on the order of what happens at one instant here, and how {drawn} drawn orders spread \
             says little: {take}"
        )),
        (false, false) => None,
    }
}

/// Why a number may be off, as far as the real run says it.
fn reason(
    real: &CaseData,
    measured: &Measured,
    interval: Option<[f64; 2]>,
    too_few: Option<String>,
) -> String {
    let mut reasons = Vec::new();
    let waited = real.plan.nodes.iter().filter_map(|node| {
        Some((real.estimate(&format!("{}.waited", node.name), "mean")?.mean, node.name.as_str()))
    });
    let most = waited.max_by(|a, b| a.0.total_cmp(&b.0));
    if let Some((percent, node)) = most.filter(|(percent, _)| *percent > MUCH_WAITING_PERCENT) {
        reasons.push(format!("`{node}` waited {percent:.0} % of the time for a processor that others had"));
    }
    if measured.key.ends_with(".rtt") && real.plan.links.iter().all(|link| link.delay_ns == 0) {
        reasons.push("links without delay: most of it is waking processes up".to_owned());
    }
    if let Some(too_few) = too_few {
        reasons.push(too_few);
        return reasons.join("; ");
    }
    if let Some([low, high]) = interval.filter(|[low, high]| high - low > 2.0 * measured.margin) {
        let half = (high - low) * 50.0;
        reasons.push(format!("±{half:.0} % are left open by {} repeats", real.results.len()));
    }
    let is_slower = match measured.key.rsplit('.').next() {
        Some("goodput") => interval.is_some_and(|[_, high]| high < -measured.margin),
        Some("duration") => interval.is_some_and(|[low, _]| low > measured.margin),
        _ => false,
    };
    if is_slower && has_share(real) && !knows_waking(&real.plan) {
        reasons.push(WAITING_TOGETHER.to_owned());
    }
    if reasons.is_empty() { "not known".to_owned() } else { reasons.join("; ") }
}

#[cfg(test)]
mod tests {
    use testkit::folder::TestFolder;

    use super::*;
    use crate::driver::Programs;

    #[test]
    fn a_difference_is_within_only_with_all_of_its_interval() {
        assert_eq!(agreement(Some([-0.04, 0.05]), LINKS), Agreement::Within);
        assert_eq!(agreement(Some([-0.06, 0.01]), LINKS), Agreement::Uncertain);
        assert_eq!(agreement(Some([0.06, 0.09]), LINKS), Agreement::Beyond);
        assert_eq!(agreement(None, PROCESSOR), Agreement::Uncertain, "a single repeat");
    }

    #[test]
    fn from_numbers_that_somebody_has_changed_no_distance_follows() {
        let runs = TestFolder::new("validate");
        let text = format!("title = 't'\nduration = '20 s'\nuntil_done = true\n{}", testkit::experiment::ROW);
        let experiment = Experiment::parse("t", "t.toml", &text).unwrap_or_else(|wrong| panic!("{wrong}"));
        let programs = Programs { cairn: "cairn".into(), ndnd: None, nfd: None };
        let options = Options::new("sim", &runs, programs);
        let read =
            || run_on(&experiment, &options, "sim", |_| {}).map(drop).map_err(|error| error.to_string());
        assert_eq!((read(), read()), (Ok(()), Ok(())));
        let path = runs.join("t-sim/case-01/repeat-01/result.json");
        let whole = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, whole.replacen("\"mean\": ", "\"mean\": 1", 1)).unwrap();
        let refused = read().unwrap_err();
        assert!(refused.contains("t-sim is not as it was left: repeat 1 of 1 was changed"), "{refused}");
        assert!(refused.contains("(result.json)") && refused.contains("cairn lab resume"), "{refused}");
        std::fs::write(&path, &whole).unwrap();
        assert_eq!(read(), Ok(()));
    }

    #[test]
    fn fewer_repeats_than_say_something_are_told_with_the_number_that_does() {
        let of = |repeats: usize, planned: Option<f64>| Sample {
            values: vec![1.0; repeats],
            planned: planned.map(|number| vec![(0, number)]),
            ..Sample::default()
        };
        let exact = Sample { exact: true, ..of(1, None) };
        for (repeats, predicted) in [(2, &exact), (4, &of(4, None)), (4, &of(5, Some(1.0)))] {
            let told = too_few(&of(repeats, None), predicted).unwrap();
            assert_eq!(told, format!("how {repeats} repeats spread says little: take `--repeats 6`"));
        }
        let told = too_few(&of(5, None), &of(4, Some(1.0))).unwrap();
        assert!(told.contains("how 4 drawn orders spread") && told.ends_with("take `--repeats 6`"), "{told}");
        for (repeats, predicted) in [(5, &exact), (6, &of(5, Some(1.0)))] {
            assert_eq!(too_few(&of(repeats, None), predicted), None);
        }
        let page = include_str!("../../../../docs/validation.md").replace('\n', " ");
        assert!(page.contains("six repeats are needed") && ENOUGH_REPEATS == 6);
    }

    #[test]
    fn real_numbers_are_held_against_drawn_orders_by_the_interval_of_the_difference() {
        let real = [0.2124, 0.2143, 0.2087, 0.2113, 0.2035, 0.2107];
        let real = Sample { values: real.to_vec(), ..Sample::default() }.spread_as_normal();
        let tied = |values: &[f64]| Sample {
            values: values.to_vec(),
            repeats: (1..=values.len() as u32).collect(),
            planned: Some(vec![(0, 0.1936)]),
            ..Sample::default()
        };
        for drawn in [[0.1936, 0.1937, 0.1936, 0.1936, 0.1937], [0.1936; 5]] {
            let interval = tied(&drawn).spread_as_normal().less(1.0, &real, false, Level::Ninety).unwrap();
            let parts = [interval.low, interval.high].map(|end| end / real.mean());
            assert!(parts[0] > -0.1 && parts[1] < -0.06, "{parts:?}");
            assert_eq!(agreement(Some(parts), LINKS), Agreement::Beyond, "one pair at -4.9 % is no pair");
        }
    }

    #[test]
    fn every_number_beyond_its_margin_has_its_reason_and_its_experiment_is_spoken_of_above() {
        let page = include_str!("../../../../docs/validation.md");
        let (_, why) = page.split_once("## What misses, and why").unwrap();
        let (why, tables) = why.split_once("## What came of it").unwrap();
        let mut count = 0;
        for section in tables.split("\n### ").filter(|section| section.contains("**beyond**")) {
            let experiment = section.split(':').next().unwrap_or_default();
            assert!(why.contains(&format!("`{experiment}`")), "{experiment}");
            for row in section.lines().filter(|line| line.starts_with('|') && line.contains("**beyond**")) {
                let measure = row.split('|').nth(1).unwrap_or_default().trim();
                let in_row =
                    row.split_once("**beyond**: ").map(|(_, reason)| reason.trim_end_matches([' ', '|']));
                let below = section.split("\n\n").find_map(|part| part.strip_prefix(&format!("{measure}: ")));
                assert!(in_row.or(below).is_some_and(|reason| !reason.is_empty()), "{row}");
                count += 1;
            }
        }
        assert!(count > 0);
    }

    #[test]
    fn a_plan_knows_what_waking_costs_if_its_profile_says_so() {
        let folder = TestFolder::new("knows-waking");
        let plan = |waking: &str| {
            let profile = "machine = 'm'\nprogram = 'p'\n[link.udp]\ninterest_us = 1.0\ndata_us = 1.0\n\
                           data_us_per_kilobyte = 0.0\n";
            std::fs::write(folder.join("m.toml"), format!("{profile}{waking}")).unwrap();
            let row = testkit::experiment::ROW;
            let text = format!("title = 't'\nduration = '9 s'\nprofile = 'm.toml'\n{row}");
            let experiment = Experiment::parse_in(Some(&folder), "t", "t.toml", &text).unwrap();
            experiment.plans("sim").unwrap().remove(0)
        };
        assert!(knows_waking(&plan("waking = [[1.0, 5.0]]\n")));
        assert!(!knows_waking(&plan("")));
    }

    #[test]
    fn both_backends_get_the_plan_of_the_real_one() {
        let text = format!(
            "title = 't'\nduration = '9 s'\n[defaults.node]\nservice_time = '9 us'\nservice_queue = 7\n{}\
             [[expect]]\nsay = 'S'\nvalue = 'files.loss'\nat_most = 0\n[on.netns]\nwhy = 'w'\n\
             set = {{ 'download.files.count' = 2 }}\n[on.sim]\nwhy = 'w'\nset = {{ repeats = 9 }}\n",
            testkit::experiment::ROW
        );
        let same = same_plan(&text, None).unwrap();
        let plan = |backend| {
            let experiment =
                Experiment::parse("t", "t.toml", &same).unwrap_or_else(|wrong| panic!("{wrong}"));
            experiment.plans(backend).unwrap().remove(0)
        };
        let (real, simulated) = (plan("netns"), plan("sim"));
        assert_eq!((real.schedule.repeats, simulated.schedule.repeats), (1, 1));
        assert_eq!(real.workloads, simulated.workloads);
        assert_eq!(real.nodes, simulated.nodes);
        assert!(real.evaluation.expectations.is_empty());
        assert_eq!(
            real.nodes.as_slice()[0].service_time_ns,
            9_000,
            "without a profile it is what the file says"
        );
        let profiled = same_plan(&text, Some("m.toml")).unwrap();
        assert!(profiled.contains("m.toml") && !profiled.contains("service_time"));
        assert!(profiled.contains("service_queue"));
        assert!(real.links.iter().all(|link| link.simulated.token_bucket), "as every real link");
        let own = same_plan("[defaults.link]\ncodel = {}\n", None).unwrap();
        assert!(!own.contains("token_bucket"), "{own}");
    }
}
