//! Which part of a run counts, and how long each number of a series lasted.

use super::table::Table;

/// The part of a run that is measured, in seconds from its start.
#[derive(Debug, Clone, Copy, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Window {
    /// Its begin.
    pub from: f64,
    /// Its end.
    pub until: f64,
    /// Whether it lasts from the first to the last activity of the workloads: nothing happens before it, so
    /// that what was counted in a second that its begin cuts belongs to the part within. What its end cuts
    /// belongs to it as far as it came before: links and forwarders may go on when no workload does.
    #[serde(default)]
    pub holds_all: bool,
    /// Whether the moment of its end lies in it, because nothing comes behind it: it ends with the run, or
    /// with the last activity.
    #[serde(default)]
    pub holds_end: bool,
}

/// Columns of a forwarder's log that count packets in the time since the line before, by the second.
const COUNTED: [&str; 4] = ["propagated", "noted", "answered", "expired"];

/// Columns that tell what part of that time something took. The others are of the moment.
const PARTS: [&str; 4] = ["cpu", "busy", "waited", "throttled"];

/// Columns that count since the forwarder began.
pub(crate) const COUNTERS: [&str; 8] = [
    "in_interests",
    "out_interests",
    "in_data",
    "out_data",
    "in_nacks",
    "out_nacks",
    "satisfied",
    "unsatisfied",
];

fn is_rate(column: &str) -> bool {
    COUNTED.contains(&column) || PARTS.contains(&column)
}

/// The name of the column that says how long a row lasted.
pub(crate) const LENGTH: &str = "length";

/// The name of the column that says when the last packet of a row crossed the link, in seconds from the
/// start.
pub(crate) const LAST_AT: &str = "last_at";

/// A last second that is shorter than this is joined to the one before: a rate over an instant says nothing.
const MIN_BIN: f64 = 0.5;

/// Moments that are no further apart are the same one, in seconds: logs have their times rounded.
const SAME_MOMENT: f64 = 1e-6;

impl Window {
    /// How much of a span lies in the window.
    fn overlap(self, from: f64, until: f64) -> f64 {
        (until.min(self.until) - from.max(self.from)).max(0.0)
    }

    /// Does a moment lie in the window? Its end is the begin of the next one, and lies in that, so that
    /// windows side by side count everything once.
    #[must_use]
    pub fn holds(self, at: f64) -> bool {
        at >= self.from && (at < self.until || (self.holds_end && at <= self.until))
    }

    /// The numbers of a forwarder's log, each with how long it counts. A rate lasted since the line before; a
    /// level stands for the time that is nearer to its line than to another.
    #[must_use]
    pub fn of_log(self, log: &Table, column: &str, seconds: f64) -> Vec<(f64, f64)> {
        let times = log.column("time");
        let is_rate = is_rate(column);
        let span = |place: usize, at: f64| {
            let before = place.checked_sub(1).and_then(|place| times.get(place)).copied();
            let behind = times.get(place + 1).copied();
            if is_rate {
                self.overlap(before.unwrap_or(0.0), at)
            } else {
                let middle = |other: Option<f64>, edge: f64| other.map_or(edge, |other| (other + at) / 2.0);
                self.overlap(middle(before, 0.0), middle(behind, seconds.max(at)))
            }
        };
        let values = log.column(column).into_iter();
        if self.holds_all && COUNTED.contains(&column) {
            let rates: Vec<f64> = values.collect();
            let counts = rates.iter().zip(times.iter().enumerate()).filter_map(|(rate, (place, at))| {
                let (length, before) =
                    (span(place, *at), place.checked_sub(1).and_then(|place| times.get(place)));
                let before = before.copied().unwrap_or(0.0);
                let begin = before.max(self.from);
                // When the last of it was counted nobody knows, but whether that went on.
                let goes_on = rates.get(place + 1).is_some_and(|rate| *rate > 0.0);
                let part = if goes_on { self.part_before_end(begin, *at) } else { 1.0 };
                let count = Counted { begin, count: rate * (at - before) * part, length };
                (length > 0.0).then_some(count)
            });
            return joined(counts.collect()).into_iter().map(|count| (count.rate(), count.length)).collect();
        }
        values.zip(times.iter().enumerate()).map(|(value, (place, at))| (value, span(place, *at))).collect()
    }

    /// The part before its end of what was counted from one moment to another.
    fn part_before_end(self, begin: f64, end: f64) -> f64 {
        if end <= self.until + SAME_MOMENT {
            return 1.0;
        }
        ((self.until - begin) / (end - begin)).clamp(0.0, 1.0)
    }

    /// How much an integral over time, given at some moments, has grown within the window: exactly, where its
    /// ends are among them or the level was constant around them. Nothing of a window that lasts no time.
    #[must_use]
    pub fn of_integral(self, table: &Table, column: &str) -> Option<f64> {
        let mut knots = vec![(0.0, 0.0)];
        knots.extend(table.points("time", column));
        let at = |moment: f64| {
            let place = knots.partition_point(|(at, _)| *at < moment);
            let (to, reached) = knots.get(place).or(knots.last()).copied()?;
            let (from, before) = knots.get(place.saturating_sub(1)).copied()?;
            let part = if to > from { ((moment - from) / (to - from)).clamp(0.0, 1.0) } else { 1.0 };
            Some(before + (reached - before) * part)
        };
        let is_known = knots.len() > 1 && self.until > self.from;
        if is_known { Some(at(self.until)? - at(self.from)?) } else { None }
    }

    /// The numbers of a link's table, each with how long it counts.
    #[must_use]
    pub fn of_bins(self, table: &Table, column: &str) -> Vec<(f64, f64)> {
        if !self.holds_all {
            let bins = table.column(column).into_iter().zip(bins(table));
            return bins.map(|(value, (at, length))| (value, self.overlap(at, at + length))).collect();
        }
        self.counted(table, column).into_iter().map(|count| (count.rate(), count.length)).collect()
    }

    /// What was counted in the rows of a link's table that lie in the window, as far as they do.
    fn counted(self, table: &Table, column: &str) -> Vec<Counted> {
        let (values, last_at) = (table.column(column), table.column(LAST_AT));
        let within = |(place, (at, length)): (usize, (f64, f64))| {
            let within = self.overlap(at, at + length);
            let begin = f64::max(at, self.from);
            // Tables of earlier versions do not tell when the last came, but whether more came behind it.
            let goes_on = values.get(place + 1).is_some_and(|value| *value > 0.0);
            let unknown = if goes_on { at + length } else { begin };
            let last = last_at.get(place).copied().filter(|last| last.is_finite()).unwrap_or(unknown);
            let count = values.get(place)? * length * self.part_before_end(begin, last);
            (within > 0.0).then_some(Counted { begin, count, length: within })
        };
        joined(bins(table).into_iter().enumerate().filter_map(within).collect())
    }

    /// The numbers of a link's table as they are drawn, each at its middle: within the window those that
    /// count, so that none of their means lies above all of them.
    #[must_use]
    pub fn drawn(self, table: &Table, column: &str) -> Vec<(f64, f64)> {
        let bins = table.column(column).into_iter().zip(bins(table));
        let is_outside = |at: f64, length: f64| !self.holds_all || self.overlap(at, at + length) <= 0.0;
        let outside = bins
            .filter(|(_, (at, length))| is_outside(*at, *length))
            .map(|(value, (at, length))| (at + length / 2.0, value));
        let mut points: Vec<(f64, f64)> = outside.collect();
        if self.holds_all {
            let counted = self.counted(table, column);
            points.extend(counted.into_iter().map(|count| (count.begin + count.length / 2.0, count.rate())));
        }
        points.retain(|(_, value)| value.is_finite());
        points.sort_by(|(one, _), (two, _)| one.total_cmp(two));
        points
    }

    /// How much a counter of the forwarder's log has grown within the window. A forwarder that started anew
    /// counts from nothing again; what it counted before the first line is not known.
    #[must_use]
    pub fn of_counter(self, log: &Table, column: &str) -> Option<f64> {
        let points = log.points("time", column);
        let grown = |pair: &[(f64, f64)]| {
            let [(from, before), (until, count)] = pair else { return 0.0 };
            let more = if count >= before { count - before } else { *count };
            let within = self.overlap(*from, *until);
            let part = if self.holds_all && within > 0.0 { 1.0 } else { within / (until - from).max(1e-9) };
            more * part
        };
        (points.len() > 1).then(|| points.windows(2).map(grown).sum())
    }

    /// The most that a level came to: of spans that end at a moment each, the highest of those in the window.
    #[must_use]
    pub fn of_most(self, table: &Table, column: &str) -> Option<f64> {
        let mut before = 0.0;
        let mut most: Option<f64> = None;
        for (at, highest) in table.points("time", column) {
            let is_within = if self.holds_all {
                self.overlap(before, at) > 0.0
            } else {
                before >= self.from && at <= self.until
            };
            if is_within {
                most = Some(most.unwrap_or(highest).max(highest));
            }
            before = at;
        }
        most
    }
}

/// What was counted from a moment on, and for how long.
#[derive(Debug, Clone, Copy)]
struct Counted {
    begin: f64,
    count: f64,
    length: f64,
}

impl Counted {
    fn rate(self) -> f64 {
        self.count / self.length
    }
}

/// Joins the first and the last count to their neighbour where they took less than [`MIN_BIN`].
fn joined(mut counted: Vec<Counted>) -> Vec<Counted> {
    let is_short = |count: &Counted| count.length < MIN_BIN;
    if counted.len() > 1
        && let Some(last) = counted.pop_if(|count| is_short(count))
        && let Some(neighbour) = counted.last_mut()
    {
        neighbour.count += last.count;
        neighbour.length += last.length;
    }
    if let [first, neighbour, ..] = counted.as_mut_slice()
        && is_short(first)
    {
        neighbour.begin = first.begin;
        neighbour.count += first.count;
        neighbour.length += first.length;
        counted.remove(0);
    }
    counted
}

/// Begin and length of each row of a link's table. Tables of earlier versions have whole seconds.
pub(crate) fn bins(table: &Table) -> Vec<(f64, f64)> {
    let mut lengths = table.column(LENGTH);
    lengths.resize(table.rows.len(), 1.0);
    table.column("time").into_iter().zip(lengths).collect()
}

/// Joins the last line of a forwarder's log to the one before when it came sooner than half a period after
/// that: the last sample is taken when the run ends, and a rate over the instant before says nothing. One
/// that was taken at an end of the window stays, because what was counted in the window ends there.
pub(crate) fn join_short_end(log: &mut Table, period_s: f64, window_ends_s: &[f64]) {
    let times = log.column("time");
    let [.., start, before, end] = times.as_slice() else { return };
    let (early, late) = (before - start, end - before);
    let is_end = window_ends_s.iter().any(|at| (at - before).abs() < SAME_MOMENT);
    if late >= period_s / 2.0 || early <= 0.0 || is_end {
        return;
    }
    let rates: Vec<bool> = log.columns.iter().map(|name| is_rate(name)).collect();
    let (Some(last), Some(mut joined)) = (log.rows.pop(), log.rows.pop()) else { return };
    for ((value, end), is_rate) in joined.iter_mut().zip(last).zip(rates) {
        *value = if is_rate { (*value * early + end * late) / (early + late) } else { end };
    }
    log.rows.push(joined);
}

/// Makes rates of what was counted by the second in a run of so many seconds, each over the length of its own
/// row.
pub(crate) fn rates(table: &mut Table, seconds: f64) {
    let is_count: Vec<bool> =
        table.columns.iter().map(|name| !["time", LAST_AT].contains(&name.as_str())).collect();
    let last = table.rows.len().saturating_sub(1);
    let mut lengths = vec![1.0; table.rows.len()];
    if let Some(length) = lengths.get_mut(last) {
        *length = (seconds - last as f64).clamp(1e-9, 1.0);
    }
    if last > 0 && lengths.get(last).is_some_and(|length| *length < MIN_BIN) {
        let (row, rest) = (table.rows.pop().unwrap_or_default(), lengths.pop().unwrap_or_default());
        if let (Some(before), Some(length)) = (table.rows.last_mut(), lengths.last_mut()) {
            *length += rest;
            for ((sum, more), is_count) in before.iter_mut().zip(row).zip(&is_count).skip(1) {
                *sum = if *is_count { *sum + more } else { sum.max(more) };
            }
        }
    }
    table.columns.push(LENGTH.to_owned());
    for (row, length) in table.rows.iter_mut().zip(lengths) {
        let counts = row.iter_mut().zip(&is_count).filter(|(_, is_count)| **is_count);
        counts.for_each(|(value, _)| *value /= length);
        row.push(length);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::Summary;

    #[test]
    fn a_moment_lies_in_one_of_two_windows_side_by_side_and_the_last_window_holds_its_end() {
        let window = |from, until, holds_end| Window { from, until, holds_end, holds_all: false };
        let (first, last) = (window(1.0, 2.0, false), window(2.0, 3.0, true));
        let holds = |at: f64| (first.holds(at), last.holds(at));
        assert_eq!(
            [1.0, 1.5, 2.0, 3.0].map(holds),
            [(true, false), (true, false), (false, true), (false, true)]
        );
    }

    /// A link that carried 100 packets a second for so long, counted by the second.
    fn counted(seconds: f64) -> Table {
        let mut table = Table::new(&["time", "interests"]);
        let rows = seconds.ceil() as usize;
        for second in 0..rows {
            let length = (seconds - second as f64).min(1.0);
            table.rows.push(vec![second as f64, 100.0 * length]);
        }
        table
    }

    #[test]
    fn a_run_of_a_little_more_than_whole_seconds_has_the_rate_of_its_seconds() {
        for seconds in [20.013, 20.0, 20.5, 20.999, 0.2] {
            let mut table = counted(seconds);
            rates(&mut table, seconds);
            let whole = Window { from: 0.0, until: seconds, holds_all: true, holds_end: true };
            let summary = Summary::weighed(&whole.of_bins(&table, "interests")).unwrap();
            assert!((summary.mean - 100.0).abs() < 1e-6, "{seconds} s: {}", summary.mean);
            assert!((summary.sum - 100.0 * seconds).abs() < 1e-6, "{seconds} s: the sum is the count");
            assert!((summary.min - 100.0).abs() < 1e-6, "{seconds} s: no cliff at the end: {}", summary.min);
        }
    }

    #[test]
    fn what_lies_outside_of_the_window_does_not_count() {
        let mut table = counted(10.0);
        // A second of nothing at the start, and two at the end.
        for second in [0, 8, 9] {
            table.rows[second][1] = 0.0;
        }
        rates(&mut table, 10.0);
        let mean = |from, until| {
            Summary::weighed(
                &Window { from, until, holds_all: false, holds_end: false }.of_bins(&table, "interests"),
            )
            .map(|summary| summary.mean)
        };
        assert_eq!((mean(1.0, 8.0), mean(0.0, 10.0)), (Some(100.0), Some(70.0)));
        assert_eq!((mean(1.0, 8.5).map(|mean| (mean * 10.0).round()), mean(3.0, 3.0)), (Some(933.0), None));
    }

    #[test]
    fn what_happened_between_the_first_and_the_last_activity_is_counted_whole() {
        // 100 packets in the 0.3 s from 0.9 s on, counted by the second.
        let mut table = Table::new(&["time", "interests"]);
        table.rows = vec![vec![0.0, 30.0], vec![1.0, 70.0], vec![2.0, 0.0]];
        rates(&mut table, 3.0);
        let active = Window { from: 0.9, until: 1.2, holds_all: true, holds_end: true };
        let summary = Summary::weighed(&active.of_bins(&table, "interests")).unwrap();
        assert!((summary.sum - 100.0).abs() < 1e-6, "{}", summary.sum);
        assert!((summary.mean - 100.0 / 0.3).abs() < 1e-6, "{}", summary.mean);
        assert!(summary.max < 400.0, "an end of less than half a second is joined: {}", summary.max);
        let drawn = active.drawn(&table, "interests");
        let most = drawn.iter().map(|(_, value)| *value).fold(0.0, f64::max);
        assert!(most >= summary.mean - 1e-9, "a mean is not above all that is drawn: {drawn:?}");
        assert_eq!(drawn.last(), Some(&(2.5, 0.0)), "what is outside is drawn as it is");
    }

    #[test]
    fn what_a_link_carries_behind_the_last_activity_is_not_of_the_window() {
        // A slow link goes on for 5 s with what was asked for in a tenth of a second.
        let mut table = Table::new(&["time", "bytes", LAST_AT]);
        table.rows = (0..7)
            .map(|second| match f64::from(second) {
                at if (1.0..6.0).contains(&at) => vec![at, 1250.0, at + 1.0],
                at => vec![at, 0.0, 0.0],
            })
            .collect();
        rates(&mut table, 7.0);
        let mean = |table: &Table, until: f64| {
            let active = Window { from: 1.0, until, holds_all: true, holds_end: true };
            Summary::weighed(&active.of_bins(table, "bytes")).map(|summary| summary.mean.round())
        };
        for until in [1.002, 1.1, 1.9, 3.3, 6.0] {
            assert_eq!(mean(&table, until), Some(1250.0), "{until}");
        }
        // So it is where nothing comes in the row behind, and where nobody knows when the last came.
        table.rows.truncate(2);
        assert_eq!(mean(&table, 1.1), Some(1250.0));
        let mut unknown = Table::new(&["time", "bytes"]);
        unknown.rows = [[0.0, 0.0], [1.0, 1250.0], [2.0, 1250.0]].map(Vec::from).to_vec();
        rates(&mut unknown, 3.0);
        assert_eq!(mean(&unknown, 1.1), Some(1250.0));
        // What had come by then is all of it.
        let mut done = Table::new(&["time", "bytes", LAST_AT]);
        done.rows = [[0.0, 0.0, 0.0], [1.0, 1250.0, 1.1]].map(Vec::from).to_vec();
        rates(&mut done, 2.0);
        assert_eq!(mean(&done, 1.1), Some(12_500.0));
    }

    #[test]
    fn what_a_forwarder_counts_behind_the_last_activity_is_not_of_the_window() {
        let mut log = Table::new(&["time", "propagated"]);
        log.rows = [[1.0, 0.0], [1.5, 20.0], [2.0, 20.0], [2.5, 0.0]].map(Vec::from).to_vec();
        let active = Window { from: 1.0, until: 1.1, holds_all: true, holds_end: true };
        let summary = Summary::weighed(&active.of_log(&log, "propagated", 2.5)).unwrap();
        assert!((summary.mean - 20.0).abs() < 1e-9, "{summary:?}");
    }

    #[test]
    fn what_a_sample_counted_before_the_first_activity_is_that_of_the_activity() {
        // 100 Interests in the half second from 1.2 s on; samples come at whole seconds.
        let mut log = Table::new(&["time", "propagated", "in_interests"]);
        log.rows = [[1.0, 0.0, 7.0], [2.0, 100.0, 107.0], [3.0, 0.0, 107.0]].map(Vec::from).to_vec();
        let active = Window { from: 1.2, until: 1.7, holds_all: true, holds_end: true };
        let summary = Summary::weighed(&active.of_log(&log, "propagated", 3.0)).unwrap();
        assert!((summary.sum - 100.0).abs() < 1e-9 && (summary.mean - 200.0).abs() < 1e-9, "{summary:?}");
        assert_eq!(active.of_counter(&log, "in_interests"), Some(100.0));
        // A part of a sample that the file's own window cuts is a part of its count.
        let cut = Window { from: 1.5, until: 3.0, holds_all: false, holds_end: false };
        assert_eq!(cut.of_counter(&log, "in_interests"), Some(50.0));
        log.rows.push(vec![4.0, 0.0, 5.0]);
        let anew = Window { from: 3.0, until: 4.0, holds_all: true, holds_end: true };
        assert_eq!(anew.of_counter(&log, "in_interests"), Some(5.0), "it started anew");
    }

    #[test]
    fn the_most_of_a_level_is_that_of_spans_in_the_window() {
        let mut table = Table::new(&["time", "most"]);
        table.rows =
            [[1.0, 9.0], [2.0, 3.0], [2.5, f64::NAN], [3.0, 4.0], [4.0, 8.0]].map(Vec::from).to_vec();
        let most = |from, until, holds_all| {
            Window { from, until, holds_all, holds_end: holds_all }.of_most(&table, "most")
        };
        assert_eq!(most(1.0, 3.0, true), Some(4.0));
        assert_eq!((most(0.5, 3.5, false), most(0.5, 3.5, true)), (Some(4.0), Some(9.0)));
    }

    #[test]
    fn the_sample_at_the_end_of_a_run_is_no_cliff() {
        let mut log = Table::new(&["time", "pending", "cpu"]);
        log.rows =
            [[0.0, 0.0, 0.0], [0.5, 7.0, 50.0], [1.0, 7.0, 50.0], [1.1, 0.0, 0.0]].map(Vec::from).to_vec();
        let sum = |log: &Table| {
            let whole = Window { from: 0.0, until: 1.1, holds_all: true, holds_end: true };
            Summary::weighed(&whole.of_log(log, "cpu", 1.1)).map(|summary| summary.sum)
        };
        let before = sum(&log);
        join_short_end(&mut log, 0.5, &[]);
        let close = |found: f64, wanted: f64| (found - wanted).abs() < 1e-9;
        let end = log.rows.last().unwrap();
        assert!(close(end[0], 1.1) && close(end[1], 0.0), "what holds at the end is of the end: {end:?}");
        assert!(close(end[2], 50.0 * 0.5 / 0.6) && log.rows.len() == 3, "{end:?}");
        assert!(close(sum(&log).unwrap(), before.unwrap()), "nothing is lost");
        let whole = log.clone();
        join_short_end(&mut log, 0.5, &[]);
        assert_eq!(log, whole, "a whole period stays as it is");
    }

    #[test]
    fn what_was_counted_up_to_a_window_that_ends_shortly_before_the_run_is_what_was_counted() {
        let mut log = Table::new(&["time", "out_data"]);
        log.rows = [[9.0, 320.0], [9.5, 340.0], [9.95, 358.0], [10.0, 360.0]].map(Vec::from).to_vec();
        join_short_end(&mut log, 0.5, &[9.0, 9.95]);
        let window = Window { from: 9.0, until: 9.95, holds_all: false, holds_end: false };
        assert_eq!(window.of_counter(&log, "out_data"), Some(38.0));
    }

    #[test]
    fn the_sum_of_a_rate_is_the_count_however_often_it_was_looked_at() {
        let mut log = Table::new(&["time", "pending", "propagated"]);
        // 50 Interests a second, seen twice a second and then once in two seconds.
        for at in [0.0, 0.5, 1.0, 1.5, 2.0, 4.0, 6.0] {
            log.rows.push(vec![at, if at < 2.0 { 10.0 } else { 40.0 }, 50.0]);
        }
        let whole = Window { from: 0.0, until: 6.0, holds_all: true, holds_end: true };
        let sum = |column| Summary::weighed(&whole.of_log(&log, column, 6.0)).unwrap();
        assert!((sum("propagated").sum - 300.0).abs() < 1e-9);
        // 10 up to 1.75 s, nearer to the line before, and 40 from then on.
        assert!((sum("pending").mean - (17.5 + 170.0) / 6.0).abs() < 1e-9, "{}", sum("pending").mean);
    }
}
