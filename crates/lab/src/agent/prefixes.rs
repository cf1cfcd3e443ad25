//! What an agent asked for and what it answered, by prefixes that the experiment names.

use std::io;

use formats::csv;
use packet::{Name, NameRef};

use super::error::{self, JobError};
use super::job::Job;
use crate::memory_files;

/// How the name of the table begins of what was asked; the node's name follows.
pub(crate) const ASKED: &str = "prefixes-asked-";
/// And of the table of what was answered.
pub(crate) const ANSWERED: &str = "prefixes-answered-";
/// Columns of the first: the prefix's place in the plan, Interests sent, Data and Nacks that came for them.
const ASKED_HEAD: [&str; 4] = ["prefix", "sent", "satisfied", "nacks"];
/// Columns of the second: the place, and Data sent.
const ANSWERED_HEAD: [&str; 2] = ["prefix", "answered"];

/// What is counted of a prefix.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct AgentPrefixCounts {
    pub(super) sent: u64,
    pub(super) satisfied: u64,
    pub(super) nacks: u64,
    pub(super) answered: u64,
}

/// Counts by prefix. A name may lie below several.
#[derive(Debug, Default)]
pub(super) struct PrefixLog(Vec<(Name, AgentPrefixCounts)>);

impl PrefixLog {
    pub(super) fn new(job: &Job) -> Result<Self, JobError> {
        let counted = |prefix: &String| Ok((error::name(prefix)?, AgentPrefixCounts::default()));
        job.prefixes.iter().map(counted).collect::<Result<_, JobError>>().map(PrefixLog)
    }

    /// Changes the counts of every prefix of a name.
    pub(super) fn note(&mut self, name: NameRef<'_>, change: impl Fn(&mut AgentPrefixCounts)) {
        for (prefix, counts) in &mut self.0 {
            if prefix.as_ref().is_prefix_of(name) {
                change(counts);
            }
        }
    }

    /// Writes what was asked, if anything is counted.
    pub(super) fn write_asked(&self, job: &Job) -> io::Result<()> {
        let numbers = |counts: &AgentPrefixCounts| vec![counts.sent, counts.satisfied, counts.nacks];
        self.write(job, ASKED, &ASKED_HEAD, numbers)
    }

    /// Writes what was answered, if anything is counted.
    pub(super) fn write_answered(&self, job: &Job) -> io::Result<()> {
        self.write(job, ANSWERED, &ANSWERED_HEAD, |counts| vec![counts.answered])
    }

    fn write(
        &self,
        job: &Job,
        kind: &str,
        head: &[&str],
        numbers: impl Fn(&AgentPrefixCounts) -> Vec<u64>,
    ) -> io::Result<()> {
        if self.0.is_empty() {
            return Ok(());
        }
        let head: Vec<String> = head.iter().map(|&word| word.to_owned()).collect();
        let rows = self.0.iter().enumerate().map(|(place, (_, counts))| {
            let numbers = numbers(counts).into_iter().map(|number| number.to_string());
            std::iter::once(place.to_string()).chain(numbers).collect::<Vec<String>>()
        });
        let text = csv::to_string(std::iter::once(head).chain(rows));
        memory_files::write(&job.folder.join(format!("{kind}{}.csv", job.node)), text)
    }
}
