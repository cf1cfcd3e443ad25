//! `cairn sim swarm`.

use std::io::Write as _;
use std::num::NonZeroUsize;
use std::process::ExitCode;

use clap::Args;
use sim::swarm::{SwarmFailure, SwarmReport};

use super::{Failure, workers};
use crate::tool::output;

#[derive(Debug, Args)]
pub(crate) struct Swarm {
    /// The first seed.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// How many seeds, one after the other.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    seeds: u64,
    /// Networks at a time; by default as many as there are cores.
    #[arg(long, value_name = "N")]
    workers: Option<NonZeroUsize>,
    /// Print what came of each network as JSON.
    #[arg(long)]
    json: bool,
}

impl Swarm {
    pub(crate) fn run(&self) -> Result<ExitCode, Failure> {
        let seeds: Vec<u64> = (self.seed..self.seed.saturating_add(self.seeds)).collect();
        let workers = self.workers.map_or_else(workers::cores, NonZeroUsize::get);
        let outcomes = workers::do_all(&seeds, workers, |&seed| sim::swarm::run(seed));
        if self.json {
            let all: Vec<_> =
                seeds.iter().zip(&outcomes).map(|(seed, outcome)| described(*seed, outcome)).collect();
            output::json(&all.into())?;
            let healed = outcomes.iter().all(Result::is_ok);
            return Ok(if healed { ExitCode::SUCCESS } else { ExitCode::FAILURE });
        }
        let mut to = std::io::stdout().lock();
        let (mut failures, mut fetched, mut hops) = (0, 0, 0);
        for outcome in &outcomes {
            match outcome {
                Ok(report) => {
                    fetched += report.fetched;
                    hops += report.hops;
                }
                Err(SwarmFailure { seed, promise, problem }) => {
                    failures += 1;
                    writeln!(to, "seed {seed}: {promise:?}: {problem}")?;
                }
            }
        }
        if let [Ok(SwarmReport { nodes, links, hash, .. })] = outcomes.as_slice() {
            writeln!(to, "{nodes} nodes, {links} links, trace hash {hash:016x}")?;
        }
        writeln!(
            to,
            "{} of {} networks healed; {fetched} names fetched, {hops} packets over links",
            outcomes.len() - failures,
            outcomes.len()
        )?;
        match outcomes.iter().find_map(|outcome| outcome.as_ref().err()) {
            None => Ok(ExitCode::SUCCESS),
            Some(failure) => {
                writeln!(to, "again with: cairn sim swarm --seed {}", failure.seed)?;
                Ok(ExitCode::FAILURE)
            }
        }
    }
}

/// A network for programs.
fn described(seed: u64, outcome: &Result<SwarmReport, SwarmFailure>) -> serde_json::Value {
    match outcome {
        Ok(SwarmReport { nodes, links, fetched, hops, hash }) => serde_json::json!({
            "seed": seed, "healed": true, "nodes": nodes, "links": links, "fetched": fetched, "hops": hops,
            "trace_hash": format!("{hash:016x}"),
        }),
        Err(SwarmFailure { promise, problem, .. }) => serde_json::json!({
            "seed": seed, "healed": false, "promise": format!("{promise:?}"), "problem": problem.to_string(),
        }),
    }
}
