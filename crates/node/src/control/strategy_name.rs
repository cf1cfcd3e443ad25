//! Names of strategies as NFD reads them, in commands and in configurations.

use engine::{StrategyError, StrategySpec};
use packet::{Component, ComponentKind, Name};

/// The strategy that a configuration names: by its word, or by its whole name as NFD's configuration has it.
///
/// # Errors
/// There is no such strategy, or not with these parameters.
pub(crate) fn strategy_in_text(text: &str) -> Result<StrategySpec, StrategyError> {
    match text.parse::<Name>() {
        Ok(name) if text.starts_with('/') => strategy_called(&name),
        _ => text.parse(),
    }
}

/// The strategy with this name, read as NFD reads it: the version may be written in the way of before typed
/// components, and parameters that the strategy does not have are passed over.
pub(crate) fn strategy_called(name: &Name) -> Result<StrategySpec, StrategyError> {
    let mut components: Vec<_> = name.components().collect();
    let number;
    if let Some(version) = components.get_mut(STRATEGY_VERSION_AT)
        && let Some(marked) = marked_version(version)
    {
        number = marked.to_vec();
        *version = Component::new(ComponentKind::VERSION, &number);
    }
    loop {
        let name = Name::from_components(components.iter().copied())
            .map_err(|_| StrategyError::unknown(&name.to_string()))?;
        let unknown = match StrategySpec::from_name(&name) {
            Err(StrategyError::Parameter(error)) if error.is_of_unknown_key() => error,
            other => return other,
        };
        let key = unknown.key.as_bytes();
        let is_it =
            |component: &Component<'_>| component.value.split(|byte| *byte == b'~').next() == Some(key);
        let behind = components.iter().skip(STRATEGY_VERSION_AT);
        let Some(place) = behind.clone().position(is_it) else {
            return Err(StrategyError::Parameter(unknown));
        };
        components.remove(STRATEGY_VERSION_AT + place);
        tracing::warn!(%name, "{unknown}; it is passed over");
    }
}

/// Where the version stands in the name of a strategy: `/localhost/nfd/strategy/best-route/v=5`.
const STRATEGY_VERSION_AT: usize = 4;

/// The number behind the marker of a version: 0xFD, then one, two, four or eight bytes.
fn marked_version<'a>(component: &Component<'a>) -> Option<&'a [u8]> {
    let number = component.value.strip_prefix(&[0xfd])?;
    let is_one = component.kind == ComponentKind::GENERIC && matches!(number.len(), 1 | 2 | 4 | 8);
    is_one.then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configuration_names_a_strategy_by_a_word_or_as_nfd_s_does() {
        for text in [
            "best-route",
            "/localhost/nfd/strategy/best-route",
            "/localhost/nfd/strategy/best-route/v=5",
            "/localhost/nfd/strategy/best-route/%FD%05",
            "/localhost/nfd/strategy/best-route/v=5/no-such-parameter~1",
        ] {
            let spec = strategy_in_text(text).unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!(spec.name().to_string(), "/localhost/nfd/strategy/best-route/v=5");
        }
        for text in ["best", "/localhost/nfd/strategy/best", "/localhost/nfd/strategy/best-route/%FD%09"] {
            assert!(strategy_in_text(text).is_err(), "{text}");
        }
    }
}
