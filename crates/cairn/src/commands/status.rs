//! `cairn status`: how a forwarder is.

mod reasons;
mod watch;

use std::process::ExitCode;

use clap::Args;
use client::{ClientError, ManagementError};
use management::{
    ChannelStatus, CsInfo, Dataset, FaceQueryFilter, FaceStatus, FibEntry, GeneralStatus, RibEntry,
    StrategyChoice, Totals,
};
use packet::time::Duration;
use serde_json::{Value, json};

use watch::Watch;

use super::{content_store, face, route, strategy};
use crate::tool::forwarder::{Forwarder, ForwarderArguments};
use crate::tool::units::{duration, show_duration, show_size};
use crate::tool::{ToolError, finish, output};

/// Show how a forwarder is: what it holds, what went through it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cairn status
  cairn status --all --json
  cairn status --watch 1s
  cairn status --reasons

Exit codes: 0 done, or with --watch stopped by Ctrl-C; 1 failure; 2 wrong usage.")]
pub(crate) struct StatusArguments {
    #[command(flatten)]
    pub(crate) forwarder: ForwarderArguments,
    /// Also show faces, routes, strategies and the content store.
    #[arg(long)]
    all: bool,
    /// Show it repeatedly until Ctrl-C, with rates: every two seconds, or at this interval, 100ms or more.
    /// If the forwarder goes away, wait for it. (NFD gives the same answer for a second.)
    #[arg(long, value_name = "EVERY", num_args = 0..=1, default_missing_value = "2s", value_parser = interval)]
    watch: Option<Duration>,
    /// With --watch: stop after showing it this many times.
    #[arg(long, value_name = "NUMBER", requires = "watch")]
    count: Option<u64>,
    /// Print what the words mean that say why something was dropped, and ask no forwarder.
    #[arg(long, conflicts_with_all = ["all", "watch"])]
    reasons: bool,
}

/// Nobody reads faster, and who asks more often than a forwarder can tell gets the same answers again.
fn interval(text: &str) -> Result<Duration, String> {
    let interval = duration(text).map_err(|error| error.to_string())?;
    if interval < Duration::from_millis(100) { Err("the shortest is 100ms".to_owned()) } else { Ok(interval) }
}

/// All that a forwarder tells.
struct Report {
    general: GeneralStatus,
    rest: Option<Details>,
}

struct Details {
    /// `None` from a forwarder that does not tell, such as ndnd.
    channels: Option<Vec<ChannelStatus>>,
    faces: Vec<FaceStatus>,
    fib: Vec<FibEntry>,
    rib: Vec<RibEntry>,
    store: Vec<CsInfo>,
    strategies: Vec<StrategyChoice>,
}

impl StatusArguments {
    pub(crate) fn run(&self) -> ExitCode {
        if self.reasons {
            return finish(reasons::print(self.forwarder.json).map(|()| ExitCode::SUCCESS));
        }
        self.forwarder.manage(|forwarder| self.run_on(forwarder))
    }

    pub(crate) fn run_on(&self, forwarder: &mut Forwarder) -> Result<(), ToolError> {
        if self.reasons {
            return reasons::print(forwarder.json);
        }
        match self.watch {
            Some(every) => Watch { all: self.all, every, count: self.count }.run(forwarder),
            None => Report::fetch(forwarder, self.all)?.print(forwarder.json, None),
        }
    }
}

impl Report {
    fn fetch(forwarder: &mut Forwarder, all: bool) -> Result<Self, ToolError> {
        let general = forwarder.dataset(Dataset::StatusGeneral.name()?, GeneralStatus::decode)?;
        let rest = if all {
            Some(Details {
                channels: match forwarder.list(Dataset::FacesChannels) {
                    Err(ToolError::Client(ClientError::Refused { why, .. }))
                        if !matches!(why, ManagementError::Malformed(_)) =>
                    {
                        None
                    }
                    channels => Some(channels?),
                },
                faces: forwarder.faces(&FaceQueryFilter::default())?,
                fib: forwarder.list(Dataset::FibList)?,
                rib: forwarder.list(Dataset::RibList)?,
                store: forwarder.list(Dataset::CsInfo)?,
                strategies: forwarder.list(Dataset::StrategyList)?,
            })
        } else {
            None
        };
        Ok(Report { general, rest })
    }

    fn print(&self, as_json: bool, before: Option<&GeneralStatus>) -> Result<(), ToolError> {
        if as_json {
            return Ok(output::json(&self.json())?);
        }
        for (key, value) in lines(&self.general, before) {
            output::pair(key, value)?;
        }
        if let Some(totals) = &self.general.totals {
            let before = before.and_then(|before| Some((before.totals.as_ref()?, before)));
            for (key, value) in memory_lines(totals) {
                output::pair(key, value)?;
            }
            if !totals.sharing.is_empty() {
                output::line("\nOn shared links")?;
            }
            for (word, number) in &totals.sharing {
                output::pair(word.replace('-', " "), number)?;
            }
            for repository in &totals.repositories {
                output::line(format!("\nRepository at {}", repository.path))?;
                for (word, number) in &repository.numbers {
                    let is_always_shown =
                        ["objects", "segments", "hits", "misses", "insertions"].contains(&word.as_str());
                    if word.ends_with("bytes") {
                        output::pair(word, show_size(*number as f64))?;
                    } else if is_always_shown || *number > 0 {
                        // Of what is wrong only what has happened is shown.
                        output::pair(word, number)?;
                    }
                }
            }
            output::line(if totals.drops.is_empty() { "\nNothing was dropped" } else { "\nDropped" })?;
            let rows =
                drop_rows(totals, before.map(|(totals, before)| (totals, seconds(before, &self.general))));
            if !rows.is_empty() {
                output::table(&["layer", "reason", "packets"], &rows)?;
            }
        }
        let Some(rest) = &self.rest else { return Ok(()) };
        output::line("\nListens at")?;
        match &rest.channels {
            Some(channels) => {
                for channel in channels {
                    output::line(format_args!("  {}", output::printable(&channel.local_uri)))?;
                }
            }
            None => output::line("  (the forwarder does not tell)")?,
        }
        output::line("\nFaces")?;
        face::print_table(&rest.faces)?;
        output::line("\nRoutes")?;
        route::print_table(&rest.rib)?;
        output::line("\nNext hops")?;
        route::print_next_hops(&rest.fib)?;
        output::line("\nStrategies")?;
        strategy::print_table(&rest.strategies)?;
        output::line("\nContent store")?;
        for store in &rest.store {
            content_store::print(store)?;
        }
        Ok(())
    }

    fn json(&self) -> Value {
        let general = &self.general;
        let mut value = json!({
            "version": general.version,
            "start_timestamp_ms": general.start_timestamp_ms,
            "current_timestamp_ms": general.current_timestamp_ms,
            "uptime_ms": uptime(general).as_millis(),
            "name_tree_entries": general.name_tree_entries,
            "fib_entries": general.fib_entries,
            "pit_entries": general.pit_entries,
            "measurements_entries": general.measurements_entries,
            "cs_entries": general.cs_entries,
            "in_interests": general.packets.in_interests,
            "in_data": general.packets.in_data,
            "in_nacks": general.packets.in_nacks,
            "out_interests": general.packets.out_interests,
            "out_data": general.packets.out_data,
            "out_nacks": general.packets.out_nacks,
            "satisfied_interests": general.satisfied_interests,
            "unsatisfied_interests": general.unsatisfied_interests,
        });
        value["totals"] = general.totals.as_ref().map_or(Value::Null, totals_json);
        if let Some(rest) = &self.rest {
            let uris = |channels: &Vec<ChannelStatus>| -> Value {
                channels.iter().map(|channel| json!(channel.local_uri)).collect()
            };
            value["channels"] = rest.channels.as_ref().map_or(Value::Null, uris);
            value["faces"] = rest.faces.iter().map(face::to_json).collect();
            value["rib"] = rest.rib.iter().map(route::entry_json).collect();
            value["fib"] = rest.fib.iter().map(route::next_hops_json).collect();
            value["content_store"] = rest.store.first().map_or(Value::Null, content_store::info_json);
            value["strategies"] = rest.strategies.iter().map(strategy::choice_json).collect();
        }
        value
    }
}

fn uptime(status: &GeneralStatus) -> Duration {
    Duration::from_millis(status.current_timestamp_ms.saturating_sub(status.start_timestamp_ms))
}

/// Time between two looks at a forwarder.
fn seconds(before: &GeneralStatus, now: &GeneralStatus) -> f64 {
    now.current_timestamp_ms.saturating_sub(before.current_timestamp_ms) as f64 / 1000.0
}

/// A counter, and how fast it grew since it had another value so many seconds ago.
fn growth(now: u64, before: Option<(u64, f64)>) -> String {
    match before {
        Some((before, seconds)) if seconds > 0.0 => {
            let rate = now.saturating_sub(before) as f64 / seconds;
            format!("{now}  ({rate:.0}/s)")
        }
        _ => now.to_string(),
    }
}

/// What memory a Cairn node holds, and for what.
fn memory_lines(totals: &Totals) -> Vec<(&'static str, String)> {
    let size = |bytes: u64| show_size(bytes as f64);
    vec![
        ("faces", totals.faces.to_string()),
        ("routes in the RIB", format!("{}, {}", totals.rib_routes, size(totals.rib_bytes))),
        ("waiting for peers", size(totals.queued_bytes)),
        ("incomplete packets", size(totals.reassembly_bytes)),
        ("memory of Interests", size(totals.pit_bytes)),
        ("memory of Data", size(totals.cs_bytes)),
        ("memory of tables", size(totals.table_bytes)),
        ("memory budget", size(totals.memory_budget_bytes)),
    ]
}

/// What was dropped, what happens most often first; `before` is what it was so many seconds ago.
fn drop_rows(totals: &Totals, before: Option<(&Totals, f64)>) -> Vec<Vec<String>> {
    let mut drops: Vec<_> = totals.drops.iter().collect();
    drops.sort_by_key(|dropped| std::cmp::Reverse(dropped.count));
    let rows = drops.into_iter().map(|dropped| {
        let before = before.map(|(totals, seconds)| {
            let same =
                |other: &&management::Dropped| other.layer == dropped.layer && other.reason == dropped.reason;
            (totals.drops.iter().find(same).map_or(0, |other| other.count), seconds)
        });
        vec![dropped.layer.clone(), dropped.reason.clone(), growth(dropped.count, before)]
    });
    rows.collect()
}

fn totals_json(totals: &Totals) -> Value {
    let drops = totals
        .drops
        .iter()
        .map(|dropped| json!({ "layer": dropped.layer, "reason": dropped.reason, "count": dropped.count }));
    let repositories = totals.repositories.iter().map(|repository| {
        let numbers = repository.numbers.iter().map(|(word, number)| (word.replace('-', "_"), json!(number)));
        let mut shown: serde_json::Map<String, Value> = numbers.collect();
        shown.insert("path".to_owned(), json!(repository.path));
        shown
    });
    let sharing = totals.sharing.iter().map(|(word, number)| (word.replace('-', "_"), json!(number)));
    json!({
        "faces": totals.faces,
        "sharing": sharing.collect::<serde_json::Map<String, Value>>(),
        "queued_bytes": totals.queued_bytes,
        "reassembly_bytes": totals.reassembly_bytes,
        "pit_bytes": totals.pit_bytes,
        "cs_bytes": totals.cs_bytes,
        "table_bytes": totals.table_bytes,
        "rib_routes": totals.rib_routes,
        "rib_bytes": totals.rib_bytes,
        "memory_budget_bytes": totals.memory_budget_bytes,
        "drops": drops.collect::<Vec<_>>(),
        "repositories": repositories.collect::<Vec<_>>(),
    })
}

/// What is shown of the forwarder as a whole; with what was shown before, how fast it grows.
fn lines(status: &GeneralStatus, before: Option<&GeneralStatus>) -> Vec<(&'static str, String)> {
    let counter = |now: u64, field: fn(&GeneralStatus) -> u64| {
        growth(now, before.map(|before| (field(before), seconds(before, status))))
    };
    vec![
        ("version", status.version.clone()),
        ("running for", show_duration(uptime(status))),
        ("prefixes in the FIB", status.fib_entries.to_string()),
        ("pending Interests", status.pit_entries.to_string()),
        ("Data kept", status.cs_entries.to_string()),
        ("Interests in", counter(status.packets.in_interests, |status| status.packets.in_interests)),
        ("Interests out", counter(status.packets.out_interests, |status| status.packets.out_interests)),
        ("Data in", counter(status.packets.in_data, |status| status.packets.in_data)),
        ("Data out", counter(status.packets.out_data, |status| status.packets.out_data)),
        ("Nacks in", counter(status.packets.in_nacks, |status| status.packets.in_nacks)),
        ("Nacks out", counter(status.packets.out_nacks, |status| status.packets.out_nacks)),
        ("satisfied Interests", counter(status.satisfied_interests, |status| status.satisfied_interests)),
        (
            "unsatisfied Interests",
            counter(status.unsatisfied_interests, |status| status.unsatisfied_interests),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use packet::PacketCounts;

    use super::*;

    #[test]
    fn rates_are_shown_from_the_second_time_on() {
        let before = GeneralStatus {
            start_timestamp_ms: 1000,
            current_timestamp_ms: 2000,
            packets: PacketCounts { in_interests: 100, ..Default::default() },
            ..Default::default()
        };
        let now = GeneralStatus {
            current_timestamp_ms: 4000,
            packets: PacketCounts { in_interests: 500, ..Default::default() },
            ..before.clone()
        };
        let line = |lines: Vec<(&str, String)>| {
            lines.into_iter().find(|(key, _)| *key == "Interests in").map(|(_, value)| value)
        };
        assert_eq!(line(lines(&before, None)).as_deref(), Some("100"));
        assert_eq!(line(lines(&now, Some(&before))).as_deref(), Some("500  (200/s)"));
        assert_eq!(line(lines(&before, Some(&before))).as_deref(), Some("100"));
        assert_eq!(uptime(&now), Duration::from_secs(3));
    }

    #[test]
    fn nobody_asks_more_often_than_a_forwarder_can_tell() {
        assert_eq!(interval("100ms"), Ok(Duration::from_millis(100)));
        assert!(interval("99ms").is_err() && interval("0").is_err());
    }

    #[test]
    fn drops_are_shown_with_the_most_frequent_first_and_their_rates() {
        let dropped = |reason: &str, count| management::Dropped {
            layer: "link".to_owned(),
            reason: reason.to_owned(),
            count,
        };
        let before = Totals { drops: vec![dropped("a", 1)], ..Default::default() };
        let now = Totals { drops: vec![dropped("a", 5), dropped("b", 40)], ..Default::default() };
        let counts =
            |before| drop_rows(&now, before).into_iter().map(|row| row[1..].join(" ")).collect::<Vec<_>>();
        assert_eq!(counts(None), ["b 40", "a 5"]);
        assert_eq!(counts(Some((&before, 2.0))), ["b 40  (20/s)", "a 5  (2/s)"]);
    }
}
