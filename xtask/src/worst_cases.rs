//! `cargo xtask worst-cases`: what the worst packets that a stranger can think of cost the engine, in
//! instructions.
//!
//! Each case of `crates/engine/benches/worst_cases.rs` runs by itself under valgrind (callgrind), which
//! counts what happens in the step that is measured, whatever else the machine does. A packet may cost so
//! many times what an honest exchange costs in the same run; the benchmark says how many times. Data that
//! nobody asked for must cost less than the same that somebody did.

use std::path::{Path, PathBuf};

use crate::{process, table, tree};

const BENCH: &[&str] = &["bench", "--locked", "--package", "cairn-engine", "--bench", "worst_cases", "--"];
/// What all others are compared with: an Interest and the Data that answers it, two packets.
const HONEST: &str = "honest-exchange";
/// The cheaper first.
const CHEAPER: &[(&str, &str)] = &[
    ("unsolicited-data", "honest-data"),
    ("unsolicited-long-name", "solicited-long-name"),
    ("unsolicited-data-of-an-asked-digest", "solicited-data-of-an-asked-digest"),
];

/// What one case came to.
struct Count {
    name: String,
    /// How many times the honest exchange a packet may cost.
    allowed: f64,
    /// Why that.
    reason: String,
    instructions_per_packet: f64,
}

/// Runs all cases; gives what could not be run here, and why.
pub(crate) fn run() -> Result<Vec<String>, String> {
    if !process::succeeds("valgrind", &["--version"]) {
        return Ok(vec!["valgrind is not installed".to_owned()]);
    }
    let root = tree::root()?;
    let list = process::output("cargo", &[BENCH, &["list"]].concat(), &root)?;
    let log = root.join("target").join(format!("worst-cases-{}.log", std::process::id()));
    let counts: Result<Vec<Count>, String> = list.lines().map(|line| count(line, &root, &log)).collect();
    // Nothing depends on it any more, whatever came of it.
    let _ = std::fs::remove_file(&log);
    judge(&counts?)
}

/// Runs the case of one line of the list: its name, what it may cost, and why.
fn count(line: &str, root: &Path, log: &PathBuf) -> Result<Count, String> {
    let malformed = || format!("worst_cases lists `{line}`, which is no name, number and reason");
    let (name, rest) = line.split_once(' ').ok_or_else(malformed)?;
    let (allowed, reason) = rest.split_once(' ').ok_or_else(malformed)?;
    let allowed = allowed.parse().map_err(|_| malformed())?;
    let host = process::output("rustc", &["-vV"], root)?;
    let host = host.lines().find_map(|line| line.strip_prefix("host: "));
    let host = host.ok_or("rustc does not say which host it is for")?;
    let runner = format!("target.{host}.runner");
    let callgrind = format!(
        "{runner}=['valgrind','--tool=callgrind','--callgrind-out-file=/dev/null','--toggle-collect=*measured_step*',\
         '--log-file={}']",
        log.display()
    );
    let arguments = [&["--config", &callgrind], BENCH, &[name]].concat();
    let packets = process::output("cargo", &arguments, root)?;
    let report =
        std::fs::read_to_string(log).map_err(|error| format!("callgrind left no report: {error}"))?;
    let collected = report.lines().find_map(|line| line.split_once("Collected : ")?.1.trim().parse().ok());
    let packets = packets.lines().last().and_then(|line| line.trim().parse().ok());
    let (Some(collected), Some(packets)) = (collected, packets) else {
        return Err(format!("nothing was counted for {name}:\n{report}"));
    };
    let (collected, packets): (f64, f64) = (collected, packets);
    Ok(Count {
        name: name.to_owned(),
        allowed,
        reason: reason.to_owned(),
        instructions_per_packet: collected / packets,
    })
}

/// Prints all, and fails if one is too dear.
fn judge(counts: &[Count]) -> Result<Vec<String>, String> {
    let cost = |name: &str| {
        let found = counts.iter().find(|count| count.name == name);
        found.map(|count| count.instructions_per_packet).ok_or_else(|| format!("there is no case {name}"))
    };
    let honest = 2.0 * cost(HONEST)?;
    let (mut rows, mut failures) = (Vec::new(), Vec::new());
    for count in counts {
        let times = count.instructions_per_packet / honest;
        rows.push(vec![
            count.name.clone(),
            format!("{:.0}", count.instructions_per_packet),
            format!("{times:.1}"),
            format!("{:.0}", count.allowed),
            count.reason.clone(),
        ]);
        if times > count.allowed {
            failures.push(format!("{} costs {times:.1} times an honest exchange", count.name));
        }
    }
    println!("{}", table::render(&["case", "instructions", "exchanges", "allowed", "because of"], &rows));
    for (cheaper, dearer) in CHEAPER {
        if cost(cheaper)? >= cost(dearer)? {
            failures.push(format!("{cheaper} costs no less than {dearer}"));
        }
    }
    if failures.is_empty() { Ok(Vec::new()) } else { Err(failures.join("; ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(changed: (&str, f64)) -> Vec<Count> {
        let names = CHEAPER.iter().flat_map(|(cheaper, dearer)| [(*cheaper, 10.0), (*dearer, 20.0)]);
        let all = names.chain([(HONEST, 10.0)]);
        all.map(|(name, cost)| Count {
            name: name.to_owned(),
            allowed: 2.0,
            reason: String::new(),
            instructions_per_packet: if name == changed.0 { changed.1 } else { cost },
        })
        .collect()
    }

    #[test]
    fn what_is_within_its_bounds_passes() {
        assert_eq!(judge(&counts(("", 0.0))), Ok(Vec::new()));
    }

    #[test]
    fn a_packet_that_is_too_dear_fails_and_is_named() {
        let error = judge(&counts(("solicited-long-name", 50.0))).unwrap_err();
        assert_eq!(error, "solicited-long-name costs 2.5 times an honest exchange");
    }

    #[test]
    fn unsolicited_data_that_costs_no_less_than_solicited_fails() {
        let error = judge(&counts(("unsolicited-data", 20.0))).unwrap_err();
        assert_eq!(error, "unsolicited-data costs no less than honest-data");
    }
}
