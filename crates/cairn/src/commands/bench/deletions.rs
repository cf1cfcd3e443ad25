//! `cairn bench deletions`: how long deletions take on this disk, for the paper's requests and several
//! layouts.
//!
//! The request stream of the paper's study is replayed as fast as the disk allows, with a real Data packet
//! for each segment, until so many deletions were made: figure 6 of Gadow, Anastasiades et al., "Persistent
//! Caching in Information-Centric Networking" (2015). Nothing is read meanwhile, and no router takes part.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, ValueEnum};
use indicatif::ProgressBar;
use packet::ndn::DataBuilder;
use packet::random::Random;
use repo::disk::{Disk, RealDisk};
use repo::evaluation::{Reading, Requests, Run, Workload};
use repo::eviction::{DeleteQueue, DeletionRule, ObjectEviction};
use repo::reclaim::{CopyAndSwap, FilePerObject, PunchHoles, Reclaim, ServiceDuringDeletion};
use serde_json::json;

use super::repository::{Folder, check_room, delete_in_parts};
use crate::tool::{ToolError, output};

/// How to measure deletions.
#[derive(Debug, Args)]
#[command(after_help = "\
Each layout takes the same requests in a folder of its own, which is removed afterwards. The folder needs 1.75 times the bytes of \
the repository.

Examples:
  cairn bench deletions
  cairn bench deletions --workload youtube --megabytes 8000 --folder /var/lib
  cairn bench deletions --megabytes 200 --deletions 2 --json

Exit codes: 0 done; 1 failure; 2 wrong usage.")]
pub(crate) struct DeletionsArguments {
    /// Whose requests.
    #[arg(long, value_enum, default_value_t = Requested::Webserver)]
    workload: Requested,
    /// Megabytes that are stored when a deletion begins.
    #[arg(long, default_value_t = 2000, value_parser = clap::value_parser!(u64).range(100..=1 << 20))]
    megabytes: u64,
    /// Deletions to be timed for each layout and each part.
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1000))]
    deletions: u32,
    /// How many per cent of what is stored a deletion takes; both of the paper's if not given.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=100))]
    percent: Vec<u32>,
    /// Where to put what is stored, for the time of the measurement; the folder for temporary files if left
    /// out.
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Requested {
    /// The paper's files of a web server.
    Webserver,
    /// The paper's videos.
    Youtube,
}

impl Requested {
    fn workload(self) -> Workload {
        match self {
            Requested::Webserver => Workload::WEB_SERVER,
            Requested::Youtube => Workload::YOUTUBE,
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Layout {
    CopyAndSwap,
    FilePerObject,
    PunchHoles,
}

const SEGMENT_BYTES: usize = 8000;
const SEED: u64 = 1;
const DAY: packet::time::Duration = packet::time::Duration::from_secs(86_400);
/// Pages of the B-tree that copy and swap may keep.
const TREE_CACHE_BYTES: usize = 64 << 20;
/// Two workloads' worth of room: the threshold, what is copied of it, and some files more.
const ROOM_PERCENT: u64 = 175;

/// What the deletions of one layout took.
#[derive(Debug)]
struct Timed {
    layout: Layout,
    percent: u32,
    /// Of each deletion: sorting, copying, everything else.
    deletions: Vec<[f64; 3]>,
    deletions_a_day: u64,
}

impl Layout {
    const ALL: [Layout; 3] = [Layout::CopyAndSwap, Layout::FilePerObject, Layout::PunchHoles];

    fn name(self) -> &'static str {
        match self {
            Layout::CopyAndSwap => "copy and swap",
            Layout::FilePerObject => "a file for each object",
            Layout::PunchHoles => "holes",
        }
    }

    fn make(self, folder: &Path) -> Result<Box<dyn Reclaim>, ToolError> {
        let disk: Arc<dyn Disk> = Arc::new(RealDisk::open(folder).map_err(ToolError::file(folder))?);
        Ok(match self {
            Layout::CopyAndSwap => Box::new(
                CopyAndSwap::new(&disk, ServiceDuringDeletion::Stop, TREE_CACHE_BYTES)
                    .map_err(ToolError::other)?,
            ),
            Layout::FilePerObject => Box::new(FilePerObject::new(&disk)),
            Layout::PunchHoles => Box::new(PunchHoles::new(&disk).map_err(ToolError::other)?),
        })
    }
}

impl Timed {
    /// Mean seconds of each part.
    fn means(&self) -> [f64; 3] {
        let count = self.deletions.len().max(1) as f64;
        [0, 1, 2].map(|part| self.deletions.iter().filter_map(|parts| parts.get(part)).sum::<f64>() / count)
    }
}

/// Measures all layouts, and prints them.
pub(super) fn run(arguments: &DeletionsArguments) -> Result<(), ToolError> {
    let folder = Folder::make(arguments.folder.as_deref())?;
    let threshold_bytes = arguments.megabytes * 1_000_000;
    check_room(&folder.path("."), threshold_bytes / 100 * ROOM_PERCENT)?;
    let progress = ProgressBar::new_spinner();
    progress.enable_steady_tick(Duration::from_millis(250));
    let percents = if arguments.percent.is_empty() { &[50, 25][..] } else { &arguments.percent };
    let mut all = Vec::new();
    for &percent in percents {
        let rule = DeletionRule { threshold_bytes, ratio: f64::from(percent) / 100.0 };
        let day = Run::new(
            arguments.workload.workload(),
            Reading::LITERAL,
            rule,
            DeleteQueue::default(),
            Random::from_seed(SEED),
        );
        let deletions_a_day = day.map_err(ToolError::other)?.run(DAY).deletions;
        for layout in Layout::ALL {
            let place = folder.path(&format!("{layout:?}"));
            let mut of = layout.make(&place)?;
            let told =
                |done| progress.set_message(format!("{} {percent} %: {done} deletions", layout.name()));
            let deletions = replay(arguments, rule, of.as_mut(), &told)?;
            drop(of);
            std::fs::remove_dir_all(&place).map_err(ToolError::file(&place))?;
            all.push(Timed { layout, percent, deletions, deletions_a_day });
        }
    }
    progress.finish_and_clear();
    Ok(print(arguments, &all)?)
}

/// Replays requests until enough was deleted. Returns what each deletion took.
fn replay(
    arguments: &DeletionsArguments,
    rule: DeletionRule,
    layout: &mut dyn Reclaim,
    told: &dyn Fn(usize),
) -> Result<Vec<[f64; 3]>, ToolError> {
    let workload = arguments.workload.workload();
    let mut requests =
        Requests::new(workload, Reading::LITERAL, Random::from_seed(SEED)).map_err(ToolError::other)?;
    let (mut queue, mut stored, mut bytes) = (DeleteQueue::default(), std::collections::BTreeMap::new(), 0);
    let mut deletions = Vec::new();
    while deletions.len() < arguments.deletions as usize {
        let request = requests.draw();
        let (file, size) = (request.file, u64::from(request.bytes));
        if stored.contains_key(&file) {
            queue.request(file, 0);
            continue;
        }
        insert(layout, file, request.bytes as usize)?;
        queue.include(file, u64::from(file), size);
        stored.insert(file, size);
        bytes += size;
        let Some(target) = rule.target_bytes(bytes) else { continue };
        let mut going = Vec::new();
        while bytes > target
            && let Some(file) = queue.evict()
        {
            bytes -= stored.remove(&file).unwrap_or(0);
            going.push(u64::from(file));
        }
        deletions.push(delete_in_parts(layout, &going)?);
        told(deletions.len());
    }
    Ok(deletions)
}

/// Stores a file, segment by segment, as one that was fetched; durable at the end.
fn insert(layout: &mut dyn Reclaim, file: u32, bytes: usize) -> Result<(), ToolError> {
    let mut left = bytes;
    for segment in 0.. {
        let name = format!("/bench/{file}/v=1/seg={segment}").parse().map_err(ToolError::other)?;
        let content = vec![file as u8; left.min(SEGMENT_BYTES)];
        let data = DataBuilder::new(name).content(content).build_with_digest()?;
        layout.insert(u64::from(file), segment, data.wire()).map_err(ToolError::other)?;
        left = left.saturating_sub(SEGMENT_BYTES);
        if left == 0 {
            break;
        }
    }
    layout.commit().map_err(ToolError::other)
}

fn print(arguments: &DeletionsArguments, all: &[Timed]) -> std::io::Result<()> {
    if arguments.json {
        let rows = all.iter().map(|timed| {
            let [sort, copy, clean_up] = timed.means();
            json!({
                "layout": timed.layout.name(),
                "percent": timed.percent,
                "sort_seconds": sort,
                "copy_seconds": copy,
                "clean_up_seconds": clean_up,
                "deletions": timed.deletions.len(),
                "deletions_a_day": timed.deletions_a_day,
            })
        });
        let rows: Vec<_> = rows.collect();
        return output::json(&json!({ "megabytes": arguments.megabytes, "rows": rows }));
    }
    let shown = |timed: &Timed| {
        let [sort, copy, clean_up] = timed.means();
        let whole = sort + copy + clean_up;
        let part = |seconds: f64| format!("{:.3} s ({:.0} %)", seconds, 100.0 * seconds / whole.max(1e-9));
        vec![
            timed.layout.name().to_owned(),
            format!("{} %", timed.percent),
            part(sort),
            part(copy),
            part(clean_up),
            format!("{whole:.3} s"),
            timed.deletions_a_day.to_string(),
            format!("{:.2} s", whole * timed.deletions_a_day as f64),
        ]
    };
    let rows: Vec<_> = all.iter().map(shown).collect();
    let heads = ["layout", "deletes", "sort", "copy", "clean-up", "a deletion", "a day", "all of a day"];
    output::table(&heads, &rows)
}
