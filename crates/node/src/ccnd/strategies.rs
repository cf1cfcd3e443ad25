//! Strategies that clients choose for prefixes, by ccnd's names for them or by Cairn's.

use engine::StrategySpec;
use packet::Name;
use packet::ccnx::management::{StatusResponse, StrategySelection, Verb, strategy_in_ccnd, strategy_of_ccnd};

use super::registration::name;
use super::requests::Answer;
use super::{Ccnd, DIALECT};
use crate::control::NodeControl;

/// Where in the full name of a strategy its word stands: /localhost/nfd/strategy/multicast/v=5.
const WORD_AT: usize = 3;

impl Ccnd {
    pub(super) fn choose_strategy(
        &mut self,
        node: &mut dyn NodeControl,
        verb: Verb,
        content: &[u8],
    ) -> Option<Answer> {
        let impossible = || Answer::refused(StatusResponse::PARAMETER, "could not process strategy req");
        let Ok(asked) = StrategySelection::decode(content) else {
            return StrategySelection::lacks_name(content).then(impossible).flatten();
        };
        asked.action?;
        self.try_to_choose(node, verb, &asked).or_else(impossible)
    }

    fn try_to_choose(
        &mut self,
        node: &mut dyn NodeControl,
        verb: Verb,
        asked: &StrategySelection<'_>,
    ) -> Option<Answer> {
        if asked.action != Some(verb.as_str()) || asked.ccnd_id.is_some_and(|id| id != self.id()) {
            return None;
        }
        let prefix = name(&asked.name)?;
        match verb {
            Verb::SetStrategy => {
                let word = asked.strategy?;
                let strategy: StrategySpec = strategy_of_ccnd(word).unwrap_or(word).parse().ok()?;
                node.set_strategy(DIALECT, &prefix, &strategy).ok()?;
            }
            Verb::RemoveStrategy => {
                node.unset_strategy(DIALECT, &prefix);
            }
            _ => {}
        }
        let (prefix, word) = in_force(node, &prefix)?;
        let told = StrategySelection {
            ccnd_id: Some(self.id()),
            strategy: Some(&word),
            // ccndc prints them, and there are always some.
            parameters: Some(""),
            ..StrategySelection::new(&prefix)
        };
        told.encode().ok().map(Answer::Done)
    }
}

/// The choice that holds for a prefix: where it was made, and its word.
fn in_force(node: &mut dyn NodeControl, prefix: &Name) -> Option<(Name, String)> {
    let mut choices = node.strategies(DIALECT);
    choices.retain(|choice| choice.prefix.as_ref().is_prefix_of(prefix.as_ref()));
    let choice = choices.into_iter().max_by_key(|choice| choice.prefix.as_ref().component_count())?;
    let word = choice.strategy.as_ref().component(WORD_AT)?;
    let word = strategy_in_ccnd(word.value)
        .map_or_else(|| String::from_utf8_lossy(word.value).into_owned(), str::to_owned);
    Some((choice.prefix, word))
}
