//! Bounds of statements that are decided before anything runs: by what a measure can be, and by how it must
//! stand to another.

use super::all_limits::limits;
use super::limits::Limit;
use super::relation::{Range, Relation, is_less, is_strict, least_begun, range, relation};
use crate::experiment::measure::Measure;
use crate::experiment::model::Expect;
use crate::experiment::plan::Plan;
use crate::experiment::read::findings::Finding;

/// Why what a statement says in this case is decided before it runs; nothing where a run decides it.
///
/// A file is refused where that is so in every case. In one case of a sweep it is so by chance, and no
/// verdict on it says anything.
pub(crate) fn decided(plan: &Plan, expect: &Expect, is_virtual: bool) -> Option<String> {
    let measure = here(plan, &expect.value)?;
    let mut found = bounds(plan, expect, &measure, is_virtual).into_iter();
    // What no result meets is contradicted, whatever makes it so.
    found.find(|bound| bound.how == How::Always).map(|bound| bound.message)
}

/// All bounds of a statement that are decided, each field once.
pub(super) fn bounds(plan: &Plan, expect: &Expect, measure: &Measure, is_virtual: bool) -> Vec<Undecidable> {
    let mut list = [by_its_range(plan, expect, measure), by_arithmetic(plan, expect, measure)].concat();
    for limit in limits(plan, measure, is_virtual) {
        list.extend(by_a_limit(expect, measure, &limit));
    }
    list.sort_by_key(|bound| bound.how);
    let mut fields = std::collections::BTreeSet::new();
    list.retain(|bound| fields.insert(bound.field));
    list
}

/// A measure that is of this plan's case.
pub(super) fn here(plan: &Plan, text: &str) -> Option<Measure> {
    let measure: Measure = text.parse().ok()?;
    measure.case.as_ref().is_none_or(|case| *case == plan.case).then_some(measure)
}

/// A bound that is a number.
pub(super) fn number(bound: Option<&toml::Value>) -> Option<f64> {
    bound.and_then(|bound| bound.as_float().or(bound.as_integer().map(|number| number as f64)))
}

/// How a bound is decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum How {
    /// No result misses it.
    Always,
    /// No result of any file meets it, by what is measured: that is a mistake.
    Never,
    /// No result of this file meets it, by what the file sets: a run contradicts it.
    NeverHere,
}

/// A bound that no result meets, or none misses.
#[derive(Debug, Clone)]
pub(super) struct Undecidable {
    pub(super) field: &'static str,
    pub(super) how: How,
    pub(super) message: String,
    pub(super) suggestion: String,
}

impl Undecidable {
    fn new(field: &'static str, how: How, message: String, suggestion: &str) -> Self {
        Undecidable { field, how, message, suggestion: suggestion.to_owned() }
    }

    /// Is it a mistake, and not what a run contradicts?
    pub(super) fn is_mistake(&self) -> bool {
        self.how != How::NeverHere
    }

    pub(super) fn at(self, key: &str) -> Finding {
        Finding {
            key: format!("{key}.{}", self.field),
            message: self.message,
            suggestion: Some(self.suggestion),
            ..Finding::default()
        }
    }
}

const WITHIN: &str = "write a bound between what can happen";

/// The bounds of a statement that are numbers.
struct Numbers {
    at_least: Option<f64>,
    more_than: Option<f64>,
    at_most: Option<f64>,
    less_than: Option<f64>,
    /// What the value must be between, where it must be about a number.
    about: Option<[f64; 2]>,
}

impl Numbers {
    fn of(expect: &Expect) -> Self {
        let times = expect.times.unwrap_or(1.0);
        let bound = |bound: &Option<toml::Value>| number(bound.as_ref()).map(|number| number * times);
        let part = expect.within.map_or(0.2, |share| share.0);
        let around = |about: f64| [about - about.abs() * part, about + about.abs() * part];
        Numbers {
            at_least: bound(&expect.at_least),
            more_than: bound(&expect.more_than),
            at_most: bound(&expect.at_most),
            less_than: bound(&expect.less_than),
            about: expect.about_number().map(around),
        }
    }
}

/// Bounds that no result of a run that counts misses, or none meets. A bound that no result meets is no
/// friend of the statement: the run contradicts it, as it does where a link is a little too slow.
fn by_a_limit(expect: &Expect, measure: &Measure, limit: &Limit) -> Vec<Undecidable> {
    let Numbers { at_least, more_than, at_most, less_than, about } = Numbers::of(expect);
    let Limit { least, most, why, instead } = limit;
    let mut list = Vec::new();
    let mut tell = |field, how, bound: Option<f64>, is_so: &dyn Fn(f64) -> bool| {
        let Some(bound) = bound.filter(|bound| is_so(*bound)) else { return };
        // What the file says to be so by construction it may leave no choice of.
        if how == How::Always && expect.by_construction.is_some() {
            return;
        }
        let what = if how == How::Always { ALWAYS } else { NEVER };
        let message = format!("`{measure}` {why}: {what} ({bound})");
        let or = "or `by_construction` with the setting that makes it so";
        list.push(Undecidable::new(field, how, message, &format!("{instead}, {or}")));
    };
    tell("at_least", How::Always, at_least, &|bound| bound <= *least);
    tell("more_than", How::Always, more_than, &|bound| bound < *least);
    tell("at_most", How::Always, at_most, &|bound| bound >= *most);
    tell("less_than", How::Always, less_than, &|bound| bound > *most);
    let is_wide = |_: f64| about.is_some_and(|[low, high]| low <= *least && high >= *most);
    tell("about", How::Always, expect.about_number(), &is_wide);
    tell("at_least", How::NeverHere, at_least, &|bound| bound > *most);
    tell("more_than", How::NeverHere, more_than, &|bound| bound >= *most);
    tell("at_most", How::NeverHere, at_most, &|bound| bound < *least);
    tell("less_than", How::NeverHere, less_than, &|bound| bound <= *least);
    let is_off = |_: f64| about.is_some_and(|[low, high]| high < *least || low > *most);
    tell("about", How::NeverHere, expect.about_number(), &is_off);
    list
}

/// Bounds that lie at the ends of what a measure can be, or beyond them.
fn by_its_range(plan: &Plan, expect: &Expect, measure: &Measure) -> Vec<Undecidable> {
    let Numbers { at_least, more_than, at_most, less_than, about } = Numbers::of(expect);
    let Range { least, most, is_set } = range(plan, measure);
    let never = if is_set { How::NeverHere } else { How::Never };
    let range = match most.is_finite() {
        true if least >= most => format!("always {most}"),
        true => format!("{least} to {most}"),
        false => format!("never below {least}"),
    };
    let mut list = Vec::new();
    let mut tell = |field, bound: Option<f64>, is_so: &dyn Fn(f64) -> bool, what: &str| {
        let Some(bound) = bound.filter(|bound| is_so(*bound)) else { return };
        // What is below all that there can be is so in any file.
        let never = if matches!(field, "at_most" | "less_than") { How::Never } else { never };
        let message = format!("`{measure}` is {range} here: {what} ({bound})");
        let how = if what == NEVER { never } else { How::Always };
        list.push(Undecidable::new(field, how, message, WITHIN));
    };
    tell("at_least", at_least, &|bound| bound > most, NEVER);
    tell("more_than", more_than, &|bound| bound >= most, NEVER);
    tell("at_most", at_most, &|bound| bound < least, NEVER);
    tell("less_than", less_than, &|bound| bound <= least, NEVER);
    tell("at_least", at_least, &|bound| bound <= least, ALWAYS);
    tell("more_than", more_than, &|bound| bound < least, ALWAYS);
    tell("at_most", at_most, &|bound| bound >= most, ALWAYS);
    tell("less_than", less_than, &|bound| bound > most, ALWAYS);
    let begun = least_begun(plan, measure).unwrap_or(f64::NEG_INFINITY);
    tell(
        "at_least",
        at_least.filter(|bound| *bound > least && *bound <= most),
        &|bound| bound <= begun,
        VALID,
    );
    tell("more_than", more_than.filter(|bound| *bound >= least), &|bound| bound < begun, VALID);
    let [low, high] = about.unwrap_or_default();
    tell("about", expect.about_number(), &|_| high < least || low > most, NEVER);
    tell("about", expect.about_number(), &|_| low <= least && high >= most, ALWAYS);
    let pairs = [(more_than, at_most), (at_least, less_than), (more_than, less_than)];
    let empty = pairs.into_iter().filter_map(|(low, high)| low.filter(|low| Some(*low) == high));
    let told = |low| {
        Undecidable::new(
            "value",
            How::Never,
            format!("nothing is more than {low} and less than {low}"),
            WITHIN,
        )
    };
    list.extend(empty.map(told));
    list
}

const VALID: &str = "and a run in which fewer are begun is not valid, which decides it";
const NEVER: &str = "no result is as stated";
const ALWAYS: &str = "no result contradicts this";
/// Decided by arithmetic, but for the case in which there is nothing to compare.
const ALMOST_ALWAYS: &str = "this is decided by arithmetic, unless both are equal, which says nothing";
const ALMOST_NEVER: &str = "no result is as stated, unless both are equal, which says nothing";

/// What is held against what is never above it, or below it, or against itself.
fn by_arithmetic(plan: &Plan, expect: &Expect, measure: &Measure) -> Vec<Undecidable> {
    let times = expect.times.unwrap_or(1.0);
    let mut before = measure.clone();
    let mut list = Vec::new();
    for (field, text) in expect.others() {
        let Ok(other) = text.parse::<Measure>() else { continue };
        let is_chain = matches!(field, "falls" | "rises");
        // A chain is judged link by link, from the value on.
        let one = if is_chain { std::mem::replace(&mut before, other.clone()) } else { measure.clone() };
        let case = |measure: &Measure| measure.case.clone().unwrap_or_else(|| plan.case.clone());
        // Where its text stands twice it is told elsewhere.
        if case(&one) != case(&other) || text == expect.value {
            continue;
        }
        let Some(relation) = relation(plan, &one, &other) else { continue };
        if relation == Relation::Same && (times - 1.0).abs() < 1e-9 {
            let message = format!("`{one}` and `{other}` are one number: it is held against itself");
            list.push(Undecidable::new(field, How::Always, message, "name another measure"));
            continue;
        }
        let is_same = relation == Relation::Same;
        let lower = (is_same || relation == Relation::NeverAbove) && (is_chain || times >= 1.0);
        let higher = (is_same || relation == Relation::NeverBelow) && (is_chain || times <= 1.0);
        let margin = expect.margin.map_or(0.05, |share| share.0);
        let what = match field {
            "same_as" if is_same && (times - 1.0).abs() <= margin * times => ALWAYS,
            "same_as" if is_same => NEVER,
            "at_most" if lower => ALWAYS,
            "at_least" if higher => ALWAYS,
            "at_least" if lower && is_less(plan, &one, &other) => ALMOST_NEVER,
            "at_most" if higher && is_less(plan, &one, &other) => ALMOST_NEVER,
            "more_than" | "falls" if lower => NEVER,
            "less_than" | "rises" if higher => NEVER,
            "less_than" | "rises" if lower && is_strict(&one, &other) => ALMOST_ALWAYS,
            "more_than" | "falls" if higher && is_strict(&one, &other) => ALMOST_ALWAYS,
            _ => continue,
        };
        let message = match (is_same, lower) {
            (true, _) => format!(
                "`{one}` and `{other}` are one number, and {times} times it is held against it: {what}"
            ),
            (false, true) => format!("`{one}` is never above `{other}`: {what}"),
            (false, false) => format!("`{one}` is never below `{other}`: {what}"),
        };
        let how = if matches!(what, NEVER | ALMOST_NEVER) { How::Never } else { How::Always };
        list.push(Undecidable::new(field, how, message, "name another measure, or `times`"));
    }
    list
}

#[cfg(test)]
mod tests {
    use crate::experiment::Experiment;

    /// Ten files from `c` and pings to it, over two links of 50 Mbit/s and 2 ms.
    const TEN_FILES: &str = r#"
title = "t"
duration = "15 s"
[node]
a = {}
b = {}
c = {}
[defaults.link]
rate = "50 Mbit/s"
delay = "2 ms"
[link]
a-b = {}
b-c = {}
[[route]]
prefix = "/f"
path = ["a", "b", "c"]
[[route]]
prefix = "/p"
path = ["a", "b", "c"]
[content.files]
prefix = "/f"
at = "c"
count = 10
size = "1 MB"
[download.files]
at = "a"
content = "files"
[ping.probe]
at = "a"
to = "c"
prefix = "/p"
count = 100
every = "100 ms"
[[route]]
prefix = "/e"
path = ["a", "b", "c"]
[ping.endless]
at = "a"
to = "c"
prefix = "/e"
every = "100 ms"
"#;

    /// What is wrong with a statement about them; nothing where it is sound.
    fn said(value: &str, bound: &str) -> String {
        let text = format!("{TEN_FILES}[[expect]]\nsay = \"So\"\nvalue = \"{value}\"\n{bound}\n");
        Experiment::parse("x", "x.toml", &text).map_or_else(|wrong| wrong.to_string(), |_| String::new())
    }

    #[test]
    fn a_statement_that_no_run_that_counts_can_miss_is_a_mistake() {
        for (value, bound, wrong) in [
            ("files.unfinished", "less_than = 1", "is not valid, for `gates.unfinished` allows 0 %"),
            ("files.unfinished", "at_most = 0", "is not valid, for `gates.unfinished` allows 0 %"),
            ("files.finished", "at_least = 10", "no result contradicts this (10)"),
            ("files.finished", "more_than = 9", "no result contradicts this (9)"),
            ("files.finished", "at_least = \"files.started\"", "are one number"),
            ("files.finished", "same_as = \"files.started\"", "are one number"),
            ("files.started", "about = 10\nwithin = \"1 %\"", "no result contradicts this (10)"),
            ("b.busy.mean", "at_most = 100", "is a part of what its processor has, 100 %"),
            ("b.cpu.mean", "at_most = 1000", "is a part of what its processor has, 100 %"),
            ("b.waited.mean", "at_most = 100\non = [\"sim\"]", "is a part of what its processor has, 100 %"),
            ("files.duration.mean", "at_least = \"0.15 s\"", "comes over links of 50 Mbit/s"),
            ("files.goodput", "at_least = \"5 Mbit/s\"", "in the 14 s that there are"),
            ("files.goodput", "at_least = \"1 bit/s\"", "in the 14 s that there are"),
            ("files.goodput", "at_most = \"52 Mbit/s\"", "headers"),
            ("probe.rtt.max", "at_most = \"20 s\"", "is waited for no longer than 4 s"),
            ("endless.started", "at_least = 100", "one every 0.1 s"),
            ("endless.finished", "at_most = 200", "no result contradicts this (200)"),
            ("b.pending.max", "more_than = 0\non = [\"sim\"]", "no way around"),
            ("b.in_interests", "more_than = 0", "no way around"),
            ("files.unfinished", "at_most = 0\n[measure]\nfrom = \"3 s\"\nuntil = \"5 s\"", "is not valid"),
            ("a.cpu.mean", "at_most = \"b.busy.mean\"\ntimes = 1000", "1000 times another measure"),
            ("files.goodput", "more_than = 0", "no result contradicts this (0)"),
            ("files.goodput", "at_most = 62_500_000", "write a bound below"),
            (
                "b.goodput",
                "at_most = 7_000_000\non = [\"sim\"]\n[measure]\nfrom = \"2 s\"\nuntil = \"4 s\"",
                "carried by the link",
            ),
            ("b.out_data", "at_most = \"b.in_data\"\ntimes = 1e9", "1000000000 times another measure"),
            ("b.out_data", "at_most = \"b.in_interests\"", "never above"),
            ("b.in_interests", "at_least = \"b.in_data\"", "never below"),
            ("b.goodput", "same_as = \"a.goodput\"\nmargin = \"99.9 %\"", "a margin of 50 % or more"),
            ("probe.rtt.min", "at_least = 8", "write a bound above 8 ms, or `by_construction`"),
            ("files.duration.max", "more_than = 0", "which take at least"),
            ("files.duration.max", "at_most = 15", "the run ends 14 s after the first of it begins"),
            ("files.duration.max", "at_most = 16", "the run ends 14 s after the first of it begins"),
            ("a.goodput.mean", "at_least = \"a.throughput.mean\"", "unless both are equal"),
        ] {
            let shown = said(value, bound);
            assert!(shown.contains(wrong), "{value} {bound}: {shown}");
        }
    }

    /// In virtual time, of two seconds.
    const TWO_SECONDS: &str = "on = [\"sim\"]\n[measure]\nfrom = \"2 s\"\nuntil = \"4 s\"";

    #[test]
    fn a_link_that_copies_packets_or_lets_them_overtake_others_may_carry_more_than_its_rate() {
        let expect =
            format!("[[expect]]\nsay = \"So\"\nvalue = \"b.goodput\"\nat_most = 7_000_000\n{TWO_SECONDS}\n");
        let said = |more: &str| {
            let text = TEN_FILES.replace("delay = \"2 ms\"", &format!("delay = \"2 ms\"\n{more}"));
            Experiment::parse("x", "x.toml", &format!("{text}{expect}"))
                .map_or_else(|wrong| wrong.to_string(), |_| String::new())
        };
        assert!(said("").contains("carried by the link"), "{}", said(""));
        for more in ["duplicate = \"80 %\"", "jitter = \"1 ms\""] {
            assert_eq!(said(more), "");
        }
    }

    #[test]
    fn a_statement_that_a_run_can_miss_is_none_whether_any_can_meet_it_or_not() {
        for (value, bound) in [
            ("files.unfinished", "at_most = 0\nby_construction = \"the 10 files have 15 s: `duration`\""),
            ("files.finished", "at_least = 9\n[gates]\nunfinished = \"20 %\""),
            ("b.busy.mean", "at_most = 90"),
            // The kernel sums over processors, and over threads.
            ("b.throttled.mean", "at_most = 100\non = [\"netns\"]"),
            ("b.waited.mean", "at_most = 100\non = [\"netns\"]"),
            ("b.busy.max", "less_than = 100\n[sample]\n"),
            ("probe.loss", "at_most = 20"),
            // A slow forwarder or a full queue may lose all of them.
            ("probe.loss", "at_most = 99"),
            // A short run may carry little but what buckets let go at once.
            ("b.goodput", "at_most = 7_000_000"),
            ("a.load", "at_most = 100"),
            // Whole packets of a second, or of an instant, may be more than the link's rate.
            ("a.load.max", "at_most = 100\non = [\"sim\"]"),
            ("a.load", "at_most = 100\non = [\"sim\"]"),
            ("b.goodput", "at_most = 7_000_000\non = [\"sim\"]"),
            (
                "b.goodput.max",
                "at_most = 7_000_000\non = [\"sim\"]\n[measure]\nfrom = \"2 s\"\nuntil = \"4 s\"",
            ),
            ("b.goodput", "at_most = 6_260_000\non = [\"sim\"]\n[measure]\nfrom = \"2 s\"\nuntil = \"4 s\""),
            // Clients count what the queue of the link has dropped.
            ("files.retransmissions", "at_most = 1e9"),
            // Samples of real forwarders may miss it, and their links let a part of a file go at once.
            ("b.pending.max", "more_than = 0"),
            ("files.goodput", "at_most = \"49.99 Mbit/s\""),
            ("files.goodput", "at_most = 6_000_000"),
            // No result meets these: a run contradicts them.
            ("files.goodput", "at_least = 7_000_000"),
            ("b.goodput", "at_least = 7_000_000"),
            ("files.finished", "less_than = 10"),
            ("probe.rtt.min", "at_most = 7"),
            ("b.goodput", "same_as = \"a.goodput\"\nmargin = \"49 %\""),
            ("b.in_interests", "more_than = \"b.in_data\"\n[measure]\nfrom = \"1 s\""),
            ("probe.rtt.min", "at_least = 8.1"),
            ("probe.rtt.min", "at_least = 8\nby_construction = \"each link has a delay: link.*.delay\""),
            ("files.duration.max", "at_most = 13.9"),
            ("files.duration.mean", "at_most = \"0.1 s\""),
            ("files.duration.mean", "at_least = \"0.17 s\""),
            ("files.goodput", "at_least = \"6 Mbit/s\""),
            ("files.goodput", "at_most = \"49 Mbit/s\""),
            ("files.finished", "at_least = 11"),
            ("probe.started", "at_least = 100\n[gates]\nunfinished = \"10 %\""),
            // What was ordered and never begun is unfinished, too.
            ("files.unfinished", "at_most = \"files.started\"\n[gates]\nunfinished = \"100 %\""),
            ("files.started", "less_than = \"files.unfinished\"\n[gates]\nunfinished = \"100 %\""),
            ("probe.rtt.max", "at_most = \"1 s\""),
            ("endless.started", "at_least = 141"),
            ("endless.finished", "at_most = 130"),
            ("b.in_interests", "more_than = 100"),
            ("files.retransmissions", "at_most = 1000"),
            ("a.goodput.mean", "at_least = \"a.throughput.mean\"\ntimes = 0.9"),
        ] {
            let shown = said(value, &bound.replace("\n[sample]\n", ""));
            assert!(shown.is_empty() || shown.contains("depends on how often"), "{value} {bound}: {shown}");
        }
    }

    #[test]
    fn goodput_is_all_that_a_link_carries_where_the_file_says_that_it_has_no_headers() {
        let text = |rate: &str, bound: &str| {
            let text = TEN_FILES.replace("rate = \"50 Mbit/s\"", &format!("rate = \"50 Mbit/s\"\n{rate}"));
            let text = format!("{text}[[expect]]\nsay = \"So\"\nvalue = \"a.goodput.mean\"\n{bound}\n");
            Experiment::parse("x", "x.toml", &text).map_or_else(|wrong| wrong.to_string(), |_| String::new())
        };
        let (bound, none) = ("at_least = \"a.throughput.mean\"", "overhead = \"0 B\"");
        assert!(text("", bound).contains("unless both are equal"));
        let told = text(none, bound);
        assert!(told.contains("are one number") && !told.contains("unless both are equal"), "{told}");
        // The greatest may be as much as the mean.
        assert_eq!(text(none, "at_least = \"a.throughput.max\""), "");
    }

    #[test]
    fn what_a_store_may_answer_or_nobody_has_bounded_is_decided_by_no_link() {
        let said = |text: &str| {
            Experiment::parse("x", "x.toml", text).map_or_else(|wrong| wrong.to_string(), |_| String::new())
        };
        let expect =
            |value: &str, bound: &str| format!("[[expect]]\nsay = \"So\"\nvalue = \"{value}\"\n{bound}\n");
        let slow = expect("files.goodput", "at_most = 7_000_000");
        assert!(said(&format!("{TEN_FILES}{slow}")).contains("comes by links"));
        // Files that come a second time may stand in the store of the node.
        let twice = TEN_FILES.replace("content = \"files\"", "content = \"files\"\ncount = 20");
        assert_eq!(said(&format!("{twice}{slow}")), "");
        let other = "[download.others]\nat = \"a\"\ncontent = \"files\"\n";
        assert_eq!(said(&format!("{TEN_FILES}{other}{slow}")), "");
        // So may one that another node has fetched: on the way, or through the client's node.
        let unlimited = TEN_FILES.replace("rate = \"50 Mbit/s\"\n", "");
        let late = expect("files.duration.min", "at_least = 0.004");
        assert!(said(&format!("{unlimited}{late}")).contains("more than 0.008 s"));
        let near = other.replace("\"a\"", "\"b\"");
        assert_eq!(said(&format!("{unlimited}{near}{late}")), "");
        assert!(said(&format!("{TEN_FILES}{late}")).contains("comes over links"));
        assert_eq!(said(&format!("{TEN_FILES}{near}{late}")), "");
        // A clock of the node's own says other times than there are.
        let clock = TEN_FILES.replace("[node]\na = {}", "[node]\na = { tick = \"500 ms\" }");
        assert_ne!(clock, TEN_FILES);
        for (value, bound, why) in [
            ("files.duration.min", "at_least = 0.004", "comes over links"),
            ("files.duration.max", "at_most = 15", "the run ends"),
            ("files.goodput", "more_than = 0", "no result contradicts this"),
            ("probe.rtt.max", "at_most = \"20 s\"", "is waited for no longer"),
            ("endless.started", "at_least = 100", "one every"),
            // What takes longer than there is, and pings more or fewer than their number.
            ("files.duration.max", "at_most = 100", "no result contradicts this"),
            ("endless.finished", "at_most = 200", "no result contradicts this"),
            ("endless.started", "at_most = 200", "no result contradicts this"),
            ("probe.started", "at_least = 100", "a run in which fewer are begun is not valid"),
        ] {
            let bound = expect(value, bound);
            assert!(said(&format!("{TEN_FILES}{bound}")).contains(why), "{value}");
            assert!(!said(&format!("{clock}{bound}")).contains(why), "{value}");
        }
        // A link that becomes faster, or one without a rate.
        let event =
            "[[event]]\nat = \"5 s\"\naction = \"link-change\"\nlink = \"a-b\"\nrate = \"90 Mbit/s\"\n";
        let faster = said(&format!("{TEN_FILES}{event}{slow}"));
        assert!(!faster.contains("comes by links") && !faster.contains("carried by"), "{faster}");
        let unbound = TEN_FILES.replace("rate = \"50 Mbit/s\"\n", "");
        assert_eq!(said(&format!("{unbound}{slow}")), "");
    }
}
