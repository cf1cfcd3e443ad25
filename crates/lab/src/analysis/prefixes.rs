//! What clients asked for below prefixes that the experiment names, and what became of it.

use std::io;
use std::path::Path;

use packet::Name;
use serde::{Deserialize, Serialize};

use super::table::table_if_there;
use crate::agent::{ANSWERED, ASKED};
use crate::experiment::Plan;

/// Interests of all clients for names below a prefix, in the whole run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PrefixCounts {
    /// The prefix.
    pub prefix: String,
    /// Interests that were sent.
    pub asked: u64,
    /// Those that Data answered.
    pub satisfied: u64,
    /// Those that a Nack answered.
    pub refused: u64,
    /// Those that nothing answered.
    pub timed_out: u64,
    /// Of those that Data answered, those that never came to who serves the name; nothing where a program
    /// serves it, which nobody counts.
    pub hits: Option<u64>,
}

/// Reads what agents wrote: one entry for each prefix, in the order of the plan.
pub(super) fn read(plan: &Plan, raw: &Path) -> io::Result<Vec<PrefixCounts>> {
    let mut sums = vec![[0u64; 4]; plan.evaluation.prefixes.len()];
    if sums.is_empty() {
        return Ok(Vec::new());
    }
    for node in &plan.nodes {
        for (kind, first) in [(ASKED, 0), (ANSWERED, 3)] {
            let table = table_if_there(&raw.join(format!("{kind}{}.csv", node.name)))?;
            for row in &table.rows {
                let Some((place, numbers)) = row.split_first() else { continue };
                let Some(sums) = sums.get_mut(*place as usize) else { continue };
                let columns = sums.iter_mut().skip(first);
                columns.zip(numbers).for_each(|(sum, number)| *sum += *number as u64);
            }
        }
    }
    let counts = |(prefix, [asked, satisfied, refused, answered]): (&String, [u64; 4])| PrefixCounts {
        prefix: prefix.clone(),
        asked,
        satisfied,
        refused,
        timed_out: asked.saturating_sub(satisfied).saturating_sub(refused),
        hits: (!is_of_a_program(plan, prefix)).then(|| satisfied.saturating_sub(answered)),
    };
    Ok(plan.evaluation.prefixes.iter().zip(sums).map(counts).collect())
}

/// Does a program serve names below the prefix?
fn is_of_a_program(plan: &Plan, prefix: &str) -> bool {
    let Ok(prefix) = prefix.parse::<Name>() else { return true };
    plan.contents.iter().filter(|content| plan.is_served_by_a_program(content.at)).any(|content| {
        content.prefix.parse::<Name>().is_ok_and(|own| {
            own.as_ref().is_prefix_of(prefix.as_ref()) || prefix.as_ref().is_prefix_of(own.as_ref())
        })
    })
}

impl PrefixCounts {
    /// As measures.
    pub(super) fn values(&self) -> Vec<(String, f64)> {
        let key = |word: &str| format!("{}.{word}", self.prefix);
        let mut values = vec![
            (key("asked"), self.asked as f64),
            (key("satisfied"), self.satisfied as f64),
            (key("refused"), self.refused as f64),
            (key("timed_out"), self.timed_out as f64),
        ];
        values.extend(self.hits.map(|hits| (key("hits"), hits as f64)));
        values
    }
}
