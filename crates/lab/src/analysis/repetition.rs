//! Which Interests on a link ask again, and which only ask for a name that was asked for before.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::path::Path;

use formats::csv;
use packet::Name;

use crate::experiment::Plan;
use crate::experiment::plan::Activity;
use crate::memory_files;
use crate::run::open_table;

/// How the files begin in which agents write down what they asked for again; the node's name follows.
pub(crate) const AGAIN: &str = "again-";

/// What an Interest is to those before it on the same link in the same direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Repetition {
    /// Nobody has asked for this name.
    First,
    /// The same Interest again: the same packet, or one with which the same origin asks once more for what it
    /// has not got.
    Again,
    /// Another Interest for a name that was asked for before.
    SameName,
}

/// What the origins of Interests say of them.
#[derive(Debug, Default)]
pub(crate) struct Origins {
    hasher: RandomState,
    /// Names with nonces of Interests that ask again, as numbers.
    again: HashSet<u64>,
    /// Prefixes of floods. A flood asks for each name once and then refreshes it.
    floods: Vec<Vec<u8>>,
}

/// What was seen on a link.
#[derive(Debug, Default, Clone)]
pub(crate) struct LinkHistory {
    names: HashSet<u64>,
    packets: HashSet<u64>,
}

impl Origins {
    pub(crate) fn of(plan: &Plan) -> Self {
        let prefix = |does: &Activity| match does {
            Activity::Flood { prefix, .. } => prefix.parse::<Name>().ok(),
            _ => None,
        };
        let floods = plan.workloads.iter().filter_map(|workload| prefix(&workload.does));
        Origins {
            floods: floods.map(|name| name.as_ref().canonical().to_vec()).collect(),
            ..Origins::default()
        }
    }

    /// Reads what the agents of a run wrote down beside its captures.
    pub(crate) fn read(plan: &Plan, raw: &Path) -> io::Result<Self> {
        let mut origins = Origins::of(plan);
        for name in memory_files::names(raw)? {
            if !name.starts_with(AGAIN) {
                continue;
            }
            for row in csv::Reader::new(open_table(&entry_path(raw, &name))?).skip(1) {
                let row = row?;
                let (Some(nonce), Some(name)) = (row.get(0), row.get(1)) else { continue };
                if let (Ok(nonce), Ok(name)) = (nonce.parse(), name.parse::<Name>()) {
                    origins.note(&name, nonce);
                }
            }
        }
        Ok(origins)
    }

    /// An Interest with which a transfer asks once more.
    pub(crate) fn note(&mut self, name: &Name, nonce: u32) {
        let number = self.hasher.hash_one((name.as_ref().canonical(), nonce));
        self.again.insert(number);
    }

    /// What an Interest is to what was seen before it.
    pub(crate) fn ask(
        &self,
        seen: &mut LinkHistory,
        outwards: bool,
        name: &[u8],
        nonce: Option<u32>,
    ) -> Repetition {
        let is_new = seen.names.insert(self.hasher.hash_one((outwards, name)));
        // Floods are large, and their nonces would say nothing more.
        if self.floods.iter().any(|prefix| name.starts_with(prefix)) {
            return if is_new { Repetition::First } else { Repetition::Again };
        }
        let Some(nonce) = nonce else { return if is_new { Repetition::First } else { Repetition::SameName } };
        let is_other = seen.packets.insert(self.hasher.hash_one((outwards, name, nonce)));
        match (is_new, is_other) {
            (true, _) => Repetition::First,
            (false, false) => Repetition::Again,
            (false, true) if self.again.contains(&self.hasher.hash_one((name, nonce))) => Repetition::Again,
            (false, true) => Repetition::SameName,
        }
    }
}

/// A file that may have been compressed since, under its plain name.
fn entry_path(raw: &Path, name: &str) -> std::path::PathBuf {
    raw.join(name.strip_suffix(".gz").unwrap_or(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_same_interest_and_the_same_origin_ask_again() {
        let mut origins = Origins::default();
        let name: Name = "/files/7/seg=3".parse().unwrap();
        origins.note(&name, 11);
        let mut seen = LinkHistory::default();
        let mut ask = |nonce| origins.ask(&mut seen, true, name.as_ref().canonical(), Some(nonce));
        assert_eq!(ask(10), Repetition::First);
        assert_eq!(ask(10), Repetition::Again, "the same packet twice");
        assert_eq!(ask(11), Repetition::Again, "its origin says so");
        assert_eq!(ask(12), Repetition::SameName, "somebody else, or a new download of the same file");
        assert_eq!(
            origins.ask(&mut seen, false, name.as_ref().canonical(), Some(10)),
            Repetition::First,
            "the other way"
        );
    }

    #[test]
    fn what_a_flood_sends_twice_it_sends_again() {
        let origins = Origins { floods: vec![b"\x08\x01x".to_vec()], ..Origins::default() };
        let mut seen = LinkHistory::default();
        let mut ask = |nonce| origins.ask(&mut seen, true, b"\x08\x01x\x08\x017", Some(nonce));
        assert_eq!((ask(1), ask(2)), (Repetition::First, Repetition::Again));
    }
}
