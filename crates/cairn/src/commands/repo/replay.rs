//! `cairn repo replay`: which policy would have served most of what a trace asks for?

use std::fs::File;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use formats::printable::printable_path;
use repo::eviction::{DeletionRule, ObjectEvictionSpec, names, optimum, start};
use repo::trace::{Objects, Outcome, RequestTraceFormat, TraceReader, replay};
use serde_json::json;

use crate::tool::{ToolError, output};

/// Try policies on a recorded trace of requests, without a disk.
#[derive(Debug, Args)]
#[command(after_help = "\
Formats: csv (time,object,size, or with a header that names obj_id and obj_size), oracle-general (libCacheSim), wiki (Wikimedia's caching \
traces), cdn (webcachesim: time object size). Compressed traces have to be unpacked.

Examples:
  cairn repo replay requests.csv --max-bytes 8000000000
  cairn repo replay wiki2018.tr --format cdn --max-bytes 100000000000 --eviction gdsf --eviction delete-queue/inclusion~0.5
  cairn repo replay cluster.oracleGeneral --format oracle-general --max-bytes 1000000000 --json

Exit codes: 0 done; 1 failure; 2 wrong usage.")]
pub(crate) struct ReplayArguments {
    /// The trace.
    trace: PathBuf,
    /// How it is written.
    #[arg(long, default_value = "csv", value_name = "FORMAT")]
    format: RequestTraceFormat,
    /// Bytes that there is room for.
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u64).range(1..))]
    max_bytes: u64,
    /// The part of it that a deletion frees, from 0 to 1.
    #[arg(long, value_name = "PART", default_value_t = 0.0, value_parser = part)]
    delete_part: f64,
    /// A policy with its parameters; may be given several times. All if left out.
    #[arg(long, alias = "policy", value_name = "POLICY")]
    eviction: Vec<ObjectEvictionSpec>,
    /// Requests at the beginning that do not count.
    #[arg(long, value_name = "COUNT", default_value_t = 0)]
    warm_up: usize,
    /// Requests that are read at most; each takes 16 bytes of memory.
    #[arg(long, value_name = "COUNT", default_value_t = 20_000_000)]
    max_requests: usize,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

fn part(text: &str) -> Result<f64, String> {
    let number: Option<f64> = text.parse().ok();
    number.filter(|part| (0.0..=1.0).contains(part)).ok_or_else(|| "must lie between 0 and 1".to_owned())
}

impl ReplayArguments {
    pub(super) fn run(&self) -> Result<ExitCode, ToolError> {
        let (requests, objects) = self.read()?;
        let rule = DeletionRule { threshold_bytes: self.max_bytes, ratio: self.delete_part };
        let mut policies = self.eviction.clone();
        if policies.is_empty() {
            policies =
                names().map(|name| name.parse().map_err(ToolError::other)).collect::<Result<_, _>>()?;
        }
        let outcomes: Vec<(String, Outcome)> = policies
            .iter()
            .map(|policy| (policy.to_string(), replay(&requests, rule, start(policy), self.warm_up)))
            .collect();
        let schedule = optimum::schedule(&requests, self.max_bytes, self.warm_up);
        let bound = optimum::bound(&requests, self.max_bytes, self.warm_up);
        let counted = requests.len().saturating_sub(self.warm_up) as u64;
        if self.json {
            let policies: Vec<_> = outcomes
                .iter()
                .map(|(policy, outcome)| {
                    json!({"eviction": policy, "hits": outcome.hits, "hit_bytes": outcome.hit_bytes,
                        "deletions": outcome.deletions})
                })
                .collect();
            let bytes = outcomes.first().map_or(0, |(_, outcome)| outcome.bytes);
            output::json_line(&json!({"requests": counted, "objects": objects, "bytes": bytes,
                "policies": policies, "schedule_hits": schedule, "bound_hits": bound}))?;
            return Ok(ExitCode::SUCCESS);
        }
        let percent = |some: u64, all: u64| format!("{:.2}", some as f64 * 100.0 / all.max(1) as f64);
        let mut rows: Vec<Vec<String>> = outcomes
            .iter()
            .map(|(policy, outcome)| {
                let hits = percent(outcome.hits, outcome.requests);
                let bytes = percent(outcome.hit_bytes, outcome.bytes);
                vec![hits, bytes, outcome.deletions.to_string(), policy.clone()]
            })
            .collect();
        for (hits, what) in
            [(schedule, "(a schedule that knows the future)"), (bound, "(none can do better)")]
        {
            rows.push(vec![percent(hits, counted), String::new(), String::new(), what.to_owned()]);
        }
        output::table(&["hits, %", "bytes, %", "deletions", "eviction"], &rows)?;
        output::line(format_args!("{counted} requests for {objects} objects"))?;
        Ok(ExitCode::SUCCESS)
    }

    fn read(&self) -> Result<(Vec<optimum::Request>, usize), ToolError> {
        let file = File::open(&self.trace).map_err(ToolError::file(&self.trace))?;
        let (mut requests, mut objects) = (Vec::new(), Objects::default());
        for entry in TraceReader::new(file, self.format).take(self.max_requests) {
            let entry = entry.map_err(|error| {
                ToolError::other(format_args!("{}: {error}", printable_path(&self.trace)))
            })?;
            requests.push(objects.number(entry));
        }
        Ok((requests, objects.len()))
    }
}
