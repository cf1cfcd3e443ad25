//! What members are called on the screen, where several may have one name.

use std::collections::BTreeMap;

use packet::name::name_in_dialect;
use packet::{Dialect, Name};

use super::names::is_coming;

/// Gives the second of one name a number, and the third.
#[derive(Debug)]
pub(super) struct DuplicateNames {
    dialect: Dialect,
    names: BTreeMap<Name, Vec<Name>>,
}

/// Members of one name that are told apart. More than that are nobody's friends.
const MAX_DUPLICATES: usize = 64;

/// Names that are remembered. Of those that come later duplicates are not told apart.
const MAX_NAMES: usize = 256;

impl DuplicateNames {
    /// Nobody yet, in a room of this dialect.
    pub(super) fn new(dialect: Dialect) -> Self {
        DuplicateNames { dialect, names: BTreeMap::new() }
    }

    /// What `member` is called, a name that ends in the time of its coming.
    pub(super) fn word_for(&mut self, member: Name) -> String {
        let whole = member.as_ref();
        let count = whole.component_count();
        let nick = match whole.last() {
            Some(last) if is_coming(&last) => whole.prefix(count - 1).to_name(),
            // Of an application that tells its members apart by name alone.
            _ => member.clone(),
        };
        if self.names.len() >= MAX_NAMES && !self.names.contains_key(&nick) {
            return name_in_dialect(self.dialect, member.as_ref());
        }
        let word = name_in_dialect(self.dialect, nick.as_ref());
        let duplicates = self.names.entry(nick).or_default();
        let place = duplicates.iter().position(|other| *other == member).unwrap_or_else(|| {
            if duplicates.len() < MAX_DUPLICATES {
                duplicates.push(member);
                duplicates.len() - 1
            } else {
                MAX_DUPLICATES
            }
        });
        if place == 0 { word } else { format!("{word} ({})", place + 1) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_of_a_name_has_a_number_and_keeps_it() {
        let mut names = DuplicateNames::new(Dialect::Ndn);
        let mut word_for = |name: &str| names.word_for(name.parse().unwrap());
        assert_eq!(word_for("/ann/t=1"), "/ann");
        assert_eq!(word_for("/ann/t=2"), "/ann (2)");
        assert_eq!(word_for("/bob"), "/bob");
        assert_eq!(word_for("/ann/t=1"), "/ann");
        assert_eq!(word_for("/ann/t=2"), "/ann (2)");
    }

    #[test]
    fn however_many_come_only_so_many_are_remembered() {
        let mut names = DuplicateNames::new(Dialect::Ndn);
        for number in 0..1000 {
            names.word_for(format!("/ann/t={number}").parse().unwrap());
            names.word_for(format!("/{number}/t=1").parse().unwrap());
        }
        assert_eq!(names.names.len(), MAX_NAMES);
        assert!(names.names.values().all(|members| members.len() <= MAX_DUPLICATES));
    }
}
