//! `cargo xtask fuzz`: coverage-guided fuzzing with libFuzzer on the stable compiler.
//!
//! `cargo fuzz` wants a nightly compiler for its sanitizers. Cairn's crates have no unsafe code, so what is
//! left to find are panics, overflows, endless loops and broken promises, and for those stable is enough: the
//! compiler's own coverage pass is switched on by code-generation options, and `libfuzzer-sys` brings the
//! engine.

mod compile;
mod report;
mod run;
mod seeds;

use std::path::Path;
use std::thread::ScopedJoinHandle;

use crate::{process, tree};
use report::Report;
use run::{Campaign, Verdict};

/// One fuzz target: a binary in `fuzz/targets/` with the same name.
pub(crate) struct Target {
    name: &'static str,
    about: &'static str,
    /// What the kinds of golden vectors begin with whose bytes are good inputs to start from.
    seed_kinds: &'static [&'static str],
}

/// The target that must fail: a bug that only coverage can lead to.
const CANARY: Target = Target { name: "canary", about: "a planted bug that must be found", seed_kinds: &[] };

const TARGETS: &[Target] = &[
    Target {
        name: "ccnb_management",
        about: "what ccnd, ndnld and repositories are managed with: decode, encode again",
        seed_kinds: &["ccnx-", "ndnld-"],
    },
    Target {
        name: "ccnb_messages",
        about: "CCNx messages: decode, every accessor, encode again",
        seed_kinds: &["ccnx-"],
    },
    Target {
        name: "ccnd_requests",
        about: "clients of ccnd and ndnld: rights, answers, registrations that end",
        seed_kinds: &[],
    },
    Target {
        name: "ccnr_operations",
        about: "a repository of CCNx: commands, Data, a slow store; limits, rights, and an end",
        seed_kinds: &["ccnx-interest", "ccnx-content"],
    },
    Target {
        name: "engine_operations",
        about: "an engine among neighbours that do whatever they like: replies, scope, limits, counters",
        seed_kinds: &[],
    },
    Target {
        name: "face_input",
        about: "what comes by a face of a node, on each kind of link, in both dialects: limits, deadlines",
        seed_kinds: &[],
    },
    Target {
        name: "gateway_requests",
        about: "requests of HTTP: paths and names there and back, parts within the object, conditions",
        seed_kinds: &[],
    },
    Target {
        name: "link_v1_operations",
        about: "two ends of an NDNLP v1 link and a bad wire: limits, counters, deadlines",
        seed_kinds: &[],
    },
    Target {
        name: "link_v2_operations",
        about: "two ends of an NDNLPv2 link and a bad wire: limits, counters, deadlines",
        seed_kinds: &[],
    },
    Target {
        name: "name_uri",
        about: "names as text in both dialects: parse, print, parse",
        seed_kinds: &["ndn-name"],
    },
    Target { name: "ndn_lp", about: "LpPackets of NDNLPv2: decode, encode again", seed_kinds: &["ndn-lp"] },
    Target {
        name: "ndn_packet",
        about: "Interest and Data of NDN: decode, every accessor, encode again",
        seed_kinds: &["ndn-interest", "ndn-data"],
    },
    Target { name: "ndnlp_v1", about: "NDNLP v1 packets: decode, encode again", seed_kinds: &["ndnlp1-"] },
    Target {
        name: "nfd_configuration",
        about: "nfd.conf: convert, read what came of it, lines that say nothing change nothing",
        seed_kinds: &[],
    },
    Target {
        name: "nfd_management",
        about: "NFD's management protocol: decode, encode again, cut into segments",
        seed_kinds: &["management-", "ndn-interest", "ndn-data"],
    },
    Target {
        name: "repo_commands",
        about: "commands to a repository, and packets one behind the other: read, write again",
        seed_kinds: &["ndn-data"],
    },
    Target {
        name: "repo_records",
        about: "volumes of the repository: tile, find what is sound and nothing else",
        seed_kinds: &[],
    },
    Target {
        name: "request_traces",
        about: "traces of requests in all formats: the same in pieces, bounded, replayed",
        seed_kinds: &[],
    },
    Target {
        name: "tlv_reader",
        about: "elements tile their input and are in shortest form",
        seed_kinds: &["ndn-"],
    },
    Target {
        name: "topology_gml",
        about: "maps of the Topology Zoo as GML: read, build, the same as GraphML",
        seed_kinds: &[],
    },
    Target { name: "topology_graphml", about: "maps of the Topology Zoo: read, build", seed_kinds: &[] },
    Target {
        name: "topology_minindn",
        about: "Mini-NDN's topologies: read, write, read, build",
        seed_kinds: &[],
    },
    Target {
        name: "topology_named",
        about: "our own topologies as TOML and as JSON: read, build",
        seed_kinds: &[],
    },
    Target {
        name: "topology_ndnsim",
        about: "ndnSIM's annotated topologies: read, write, read, build",
        seed_kinds: &[],
    },
    Target {
        name: "topology_rocketfuel",
        about: "Rocketfuel's maps, weights and latencies: read, build",
        seed_kinds: &[],
    },
    Target {
        name: "trust_files",
        about: "certificates, records that revoke them, rules: read, what is accepted is what it says",
        seed_kinds: &["ndn-data"],
    },
];

/// Runs one of the `fuzz` commands.
pub(crate) fn run(words: &[&str]) -> Result<(), String> {
    match words {
        ["list"] => list(),
        ["smoke", rest @ ..] => {
            let options = Options::parse(rest, 5)?;
            smoke(&options)
        }
        ["run", name, file] if !file.starts_with("--") => again(find(name)?, file),
        ["run", name, rest @ ..] => {
            let options = Options::parse(rest, 60)?;
            campaign(find(name)?, &options)
        }
        _ => Err("fuzz takes `list`, `smoke`, or `run TARGET`".to_owned()),
    }
}

#[derive(Debug, PartialEq)]
struct Options {
    seconds: u64,
    jobs: u64,
    json: bool,
}

impl Options {
    fn parse(words: &[&str], seconds: u64) -> Result<Self, String> {
        let mut options = Options { seconds, jobs: 1, json: false };
        let mut words = words.iter();
        while let Some(&word) = words.next() {
            match word {
                "--json" => options.json = true,
                "--seconds" | "--jobs" => {
                    let value = words.next().ok_or_else(|| format!("{word} wants a number"))?;
                    let number = value.parse().ok().filter(|&number: &u64| number > 0);
                    let number =
                        number.ok_or_else(|| format!("{word} wants a number above zero, not `{value}`"))?;
                    *(if word == "--jobs" { &mut options.jobs } else { &mut options.seconds }) = number;
                }
                _ => return Err(format!("fuzz does not know `{word}`")),
            }
        }
        Ok(options)
    }
}

fn find(name: &str) -> Result<&'static Target, String> {
    TARGETS.iter().chain([&CANARY]).find(|target| target.name == name).ok_or_else(|| {
        let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
        format!("there is no fuzz target `{name}`; there are {}", names.join(", "))
    })
}

fn list() -> Result<(), String> {
    for target in TARGETS.iter().chain([&CANARY]) {
        println!("  {:<20} {}", target.name, target.about);
    }
    Ok(())
}

fn smoke(options: &Options) -> Result<(), String> {
    let root = tree::root()?;
    compile::all(&root)?;
    let (mut reports, mut failures) = (vec![canary(&root)?], Vec::new());
    // As many targets at once as there are processors for their processes.
    let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let at_once = (processors / usize::try_from(options.jobs).unwrap_or(usize::MAX)).max(1);
    let root = root.as_path();
    for targets in TARGETS.chunks(at_once) {
        let results: Vec<Result<Report, String>> = std::thread::scope(|scope| {
            let start = |target| scope.spawn(move || fuzz_one(root, target, options, false));
            targets.iter().map(start).collect::<Vec<_>>().into_iter().map(joined).collect()
        });
        for result in results {
            match result {
                Ok(report) => reports.push(report),
                Err(failure) => failures.push(failure),
            }
        }
    }
    conclude(&reports, options);
    if failures.is_empty() { Ok(()) } else { Err(failures.join("\n\n")) }
}

/// Proves that fuzzing works here: only a fuzzer that sees coverage finds the planted bug.
fn canary(root: &Path) -> Result<Report, String> {
    const SECONDS: u64 = 20;
    let campaign = Campaign { root, target: &CANARY, seconds: SECONDS, seed: 1, seeds: 0, echo: false };
    match campaign.run()? {
        (Verdict::Crashed(_), report) => Ok(report),
        (Verdict::Passed, _) => {
            Err(format!("the canary's planted bug was not found in {SECONDS} s: fuzzing does not work here"))
        }
    }
}

fn campaign(target: &'static Target, options: &Options) -> Result<(), String> {
    let root = tree::root()?;
    compile::all(&root)?;
    let report = fuzz_one(&root, target, options, !options.json)?;
    conclude(&[report], options);
    Ok(())
}

/// Fuzzes one target with as many processes as asked for. They share the corpus.
fn fuzz_one(root: &Path, target: &'static Target, options: &Options, echo: bool) -> Result<Report, String> {
    let seeds = seeds::write(root, target)?;
    let runs: Vec<Result<(Verdict, Report), String>> = std::thread::scope(|scope| {
        let start = |seed| {
            let campaign =
                Campaign { root, target, seconds: options.seconds, seed, seeds, echo: echo && seed == 1 };
            scope.spawn(move || campaign.run())
        };
        let processes: Vec<_> = (1..=options.jobs).map(start).collect();
        processes.into_iter().map(joined).collect()
    });
    let mut total: Option<Report> = None;
    for run in runs {
        match run? {
            (Verdict::Crashed(artefact), _) => return Err(run::explain_crash(root, target, &artefact)),
            (Verdict::Passed, report) => {
                total = Some(total.map_or(report.clone(), |sum| sum.beside(&report)));
            }
        }
    }
    let report = total.ok_or("nothing was run")?;
    if report.counters == 0 || report.coverage == 0 {
        return Err(format!("{}: no coverage is measured, so fuzzing is blind here", target.name));
    }
    Ok(report)
}

fn joined<T>(thread: ScopedJoinHandle<'_, Result<T, String>>) -> Result<T, String> {
    thread.join().unwrap_or_else(|_| Err("a fuzzing thread died".to_owned()))
}

fn conclude(reports: &[Report], options: &Options) {
    if options.json {
        println!("{}", report::json(reports));
    } else {
        println!();
        print!("{}", report::render(reports));
    }
}

/// Runs one input once, with everything it prints visible, after showing what the target makes of its bytes.
fn again(target: &'static Target, file: &str) -> Result<(), String> {
    let root = tree::root()?;
    let file = std::path::absolute(file).map_err(|error| format!("{file}: {error}"))?;
    compile::all(&root)?;
    let (program, file) = (compile::binary(&root, target.name)?, file.to_string_lossy().into_owned());
    let program = program.to_string_lossy();
    let decoded = root.join("fuzz/artifacts").join(target.name).join("decoded.txt");
    let variable = ("RUST_LIBFUZZER_DEBUG_PATH", &*decoded.to_string_lossy());
    process::run(&program, &[&file], &root, &[variable])?;
    print!("{}", std::fs::read_to_string(&decoded).unwrap_or_default());
    println!();
    process::run(&program, &[&file], &root, &[])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Tree;

    #[test]
    fn every_target_has_a_file_and_every_file_is_a_target() {
        let tree = Tree::of_repository().unwrap();
        let stem = |path: &str| Some(path.strip_prefix("fuzz/targets/")?.strip_suffix(".rs")?.to_owned());
        let files: Vec<String> = tree.rust().filter_map(|(path, _)| stem(path)).collect();
        let mut names: Vec<&str> = TARGETS.iter().chain([&CANARY]).map(|target| target.name).collect();
        names.sort_unstable();
        assert_eq!(files, names);
        let manifest = tree.get("fuzz/Cargo.toml").unwrap();
        for name in names {
            assert!(manifest.contains(&format!("name = \"{name}\"")), "{name} is not in fuzz/Cargo.toml");
        }
    }

    #[test]
    fn options_are_read_and_nonsense_is_refused() {
        let options = Options::parse(&["--jobs", "2", "--json", "--seconds", "7"], 5).unwrap();
        assert_eq!(options, Options { seconds: 7, jobs: 2, json: true });
        for words in [&["--seconds"][..], &["--seconds", "0"], &["--jobs", "two"], &["--fast"]] {
            assert!(Options::parse(words, 5).is_err(), "{words:?}");
        }
    }
}
