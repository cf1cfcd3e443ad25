//! Some of the nodes: one, several, all, or so many drawn with the seed of the run.

use packet::random::Random;
use serde::{Deserialize, Serialize};

use crate::experiment::plan::NodeIndex;
use crate::experiment::read::findings::Findings;
use crate::experiment::reference::describe::Described;

/// Which nodes are meant.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(untagged, expecting = "a node, a list of nodes, \"all\", or { random = 10 }")]
pub enum Choice {
    /// One by its name, or `"all"`.
    One(String),
    /// These.
    Several(Vec<String>),
    /// So many, drawn with the seed.
    Random {
        /// How many.
        random: u32,
    },
}

impl Described for Choice {
    fn kind() -> String {
        "a node, a list of nodes, `\"all\"`, or `{ random = 10 }`".to_owned()
    }
}

/// For what nodes are drawn. Each draws from randomness of its own; two that draw for the same draw alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    Settings,
    Producers,
    Consumers,
}

/// How nodes are drawn where they are.
#[derive(Debug, Clone, Copy)]
pub(super) struct Draw {
    /// The seed of the run.
    pub(super) seed: u64,
    /// For what.
    pub(super) purpose: Purpose,
}

impl Purpose {
    fn salt(self) -> u64 {
        match self {
            Purpose::Settings => 0x6e6f_6465,
            Purpose::Producers => 0x7072_6f64,
            Purpose::Consumers => 0x636f_6e73,
        }
    }
}

impl Choice {
    /// Do other seeds mean other nodes?
    pub(in crate::experiment) fn is_random(&self) -> bool {
        matches!(self, Choice::Random { .. })
    }

    /// The nodes that are meant; a name that is none is a mistake at `key`.
    pub(super) fn nodes(&self, key: &str, names: &[&str], by: Draw, f: &mut Findings) -> Vec<NodeIndex> {
        let chosen: Vec<NodeIndex> = match self {
            Choice::One(word) if word == "all" => (0..names.len()).map(NodeIndex).collect(),
            Choice::One(name) => f.node(key, name, names).into_iter().collect(),
            Choice::Several(several) => several.iter().filter_map(|name| f.node(key, name, names)).collect(),
            Choice::Random { random } => draw(names.len(), *random as usize, by),
        };
        if matches!(self, Choice::Random { random } if *random as usize > names.len()) {
            f.add(key, format!("there are only {} nodes to draw from", names.len()), None);
        }
        if matches!(self, Choice::Several(several) if several.is_empty()) || self.is_none_drawn() {
            f.add(key, "no node is meant", None);
        }
        chosen
    }

    fn is_none_drawn(&self) -> bool {
        matches!(self, Choice::Random { random: 0 })
    }
}

fn draw(count: usize, wanted: usize, Draw { seed, purpose }: Draw) -> Vec<NodeIndex> {
    let mut pool: Vec<NodeIndex> = (0..count).map(NodeIndex).collect();
    let mut draws = Random::derive(seed, purpose.salt());
    let mut chosen = Vec::new();
    while chosen.len() < wanted && !pool.is_empty() {
        let place = draws.below(pool.len() as u64) as usize;
        chosen.push(pool.swap_remove(place));
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_drawn_once_each_and_alike_for_the_same_seed() {
        let by = |seed, purpose| draw(20, 8, Draw { seed, purpose });
        let of = |seed| by(seed, Purpose::Consumers);
        let mut once = of(1);
        once.sort_unstable();
        once.dedup();
        assert_eq!(once.len(), 8);
        assert_eq!(of(1), of(1));
        assert_ne!(of(1), of(2));
        assert_ne!(of(1), by(1, Purpose::Producers));
    }

    #[test]
    fn a_name_that_is_none_and_more_than_there_are_is_a_mistake() {
        let told = |choice: Choice| {
            let mut f = Findings::default();
            let chosen = choice.nodes("k", &["a", "b"], Draw { seed: 1, purpose: Purpose::Settings }, &mut f);
            (chosen, f.0.into_iter().map(|finding| finding.message).collect::<Vec<_>>().join("; "))
        };
        assert_eq!(told(Choice::One("all".into())), ([0, 1].map(NodeIndex).to_vec(), String::new()));
        assert!(told(Choice::One("c".into())).1.contains("no node called `c`"));
        assert!(told(Choice::Random { random: 3 }).1.contains("only 2 nodes"));
        assert!(told(Choice::Several(Vec::new())).1.contains("no node is meant"));
    }
}
