//! What a fuzzing process did, read from libFuzzer's output.

use crate::table;

/// One target's numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Report {
    target: &'static str,
    seeds: usize,
    /// Edges that have a counter, over all code that is built in.
    pub(super) counters: u64,
    /// Edges that were reached.
    pub(super) coverage: u64,
    /// Inputs in the corpus at the end.
    corpus: u64,
    executions: u64,
    per_second: u64,
}

impl Report {
    pub(super) fn new(target: &'static str, seeds: usize) -> Self {
        Report { target, seeds, ..Report::default() }
    }

    /// Takes in one line of libFuzzer's output.
    pub(super) fn read_line(&mut self, line: &str) {
        if let Some((_, rest)) = line.split_once("modules") {
            self.counters = number_after(rest, "(").unwrap_or(self.counters);
        } else if let Some(value) = number_after(line, "stat::number_of_executed_units:") {
            self.executions = value;
        } else if let Some(value) = number_after(line, "stat::average_exec_per_sec:") {
            self.per_second = value;
        } else if line.starts_with('#') {
            // A crash ends the process before the final numbers, so the last progress line has to do.
            self.executions = number_after(line, "#").unwrap_or(self.executions);
            self.coverage = number_after(line, "cov: ").unwrap_or(self.coverage);
            self.corpus = number_after(line, "corp: ").unwrap_or(self.corpus);
            self.per_second = number_after(line, "exec/s: ").unwrap_or(self.per_second);
        }
    }

    /// This run and another of the same target that ran at the same time.
    pub(super) fn beside(&self, other: &Report) -> Report {
        Report {
            coverage: self.coverage.max(other.coverage),
            corpus: self.corpus.max(other.corpus),
            executions: self.executions + other.executions,
            per_second: self.per_second + other.per_second,
            ..self.clone()
        }
    }
}

fn number_after(line: &str, words: &str) -> Option<u64> {
    let rest = line.split_once(words)?.1.trim_start();
    let end = rest.bytes().position(|byte| !byte.is_ascii_digit()).unwrap_or(rest.len());
    rest[..end].parse().ok()
}

pub(super) fn render(reports: &[Report]) -> String {
    let row = |report: &Report| {
        let Report { target, seeds, coverage, corpus, executions, per_second, .. } = report;
        // libFuzzer counts whole seconds: a target that ended within the first has no rate.
        let rate = if *per_second == 0 { "-".to_owned() } else { per_second.to_string() };
        let cells =
            [executions.to_string(), rate, coverage.to_string(), corpus.to_string(), seeds.to_string()];
        std::iter::once((*target).to_owned()).chain(cells).collect()
    };
    let header = ["target", "executions", "exec/s", "edges reached", "corpus", "seeds"];
    table::render(&header, &reports.iter().map(row).collect::<Vec<_>>())
}

pub(super) fn json(reports: &[Report]) -> String {
    let object = |report: &Report| {
        let Report { target, seeds, counters, coverage, corpus, executions, per_second } = report;
        format!(
            "{{\"target\":\"{target}\",\"executions\":{executions},\"executions_per_second\":{per_second},\
             \"edges_reached\":{coverage},\"edges\":{counters},\"corpus\":{corpus},\"seeds\":{seeds}}}"
        )
    };
    format!("[{}]", reports.iter().map(object).collect::<Vec<_>>().join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = "INFO: Loaded 1 modules   (1942 inline 8-bit counters): 1942 [0x1, 0x2), \n\
        #2\tINITED cov: 21 ft: 22 corp: 1/1b exec/s: 0 rss: 37Mb\n\
        #524288\tpulse  cov: 34 ft: 40 corp: 13/60b lim: 4096 exec/s: 262144 rss: 40Mb\n\
        #900000\tDONE   cov: 35 ft: 41 corp: 14/62b lim: 4096 exec/s: 300000 rss: 40Mb\n\
        Done 900000 runs in 3 second(s)\n\
        stat::number_of_executed_units: 900001\n\
        stat::average_exec_per_sec:     299999\n";

    fn read(output: &str) -> Report {
        let mut report = Report::new("x", 3);
        output.lines().for_each(|line| report.read_line(line));
        report
    }

    #[test]
    fn the_numbers_are_read_from_the_output() {
        let expected = Report {
            target: "x",
            seeds: 3,
            counters: 1942,
            coverage: 35,
            corpus: 14,
            executions: 900_001,
            per_second: 299_999,
        };
        assert_eq!(read(OUTPUT), expected);
    }

    #[test]
    fn a_run_that_crashes_has_the_numbers_of_its_last_progress_line() {
        let lines: Vec<&str> = OUTPUT.lines().take(3).collect();
        assert_eq!(read(&lines.join("\n")).executions, 524_288);
    }

    #[test]
    fn runs_side_by_side_add_up() {
        let both = read(OUTPUT).beside(&read(OUTPUT));
        assert_eq!((both.executions, both.coverage), (1_800_002, 35));
    }

    #[test]
    fn json_has_every_number() {
        assert_eq!(
            json(&[read(OUTPUT)]),
            "[{\"target\":\"x\",\"executions\":900001,\"executions_per_second\":299999,\
             \"edges_reached\":35,\"edges\":1942,\"corpus\":14,\"seeds\":3}]"
        );
    }
}
