//! `cairn strategy`: how the forwarder decides.

use std::process::ExitCode;

use clap::{Args, Subcommand};
use management::{Command, ControlParameters, Dataset, StrategyChoice};
use packet::Name;
use serde_json::{Value, json};

use crate::tool::forwarder::{Forwarder, ForwarderArguments};
use crate::tool::{ToolError, output};

/// See and choose the strategies of a forwarder: how it decides where an Interest goes.
#[derive(Debug, Args)]
#[command(after_help = "\
A strategy is given by a word, with parameters after it if there are any, or by its full name.

Examples:
  cairn strategy list
  cairn strategy show /lab/file                   which one decides for this name
  cairn strategy set /lab multicast
  cairn strategy set /lab asf/v=5/probing-interval~30000
  cairn strategy unset /lab

Exit codes: 0 done; 1 failure, or refused by the forwarder; 2 wrong usage.")]
pub(crate) struct StrategyArguments {
    #[command(flatten)]
    pub(crate) forwarder: ForwarderArguments,
    #[command(subcommand)]
    command: StrategyCommand,
}

#[derive(Debug, Subcommand)]
enum StrategyCommand {
    /// List the choices.
    List,
    /// Show which strategy decides for a name.
    Show {
        /// The name.
        name: Name,
    },
    /// Choose a strategy for a prefix.
    Set {
        /// The names it decides for: this and all below it that have no choice of their own.
        prefix: Name,
        /// The strategy: best-route, multicast, access, asf, self-learning, random, load-balance or
        /// stateful-forwarding, with parameters after it if there are any; or a full name.
        #[arg(value_parser = strategy)]
        strategy: Name,
    },
    /// Remove the choice for a prefix.
    Unset {
        /// The prefix.
        prefix: Name,
    },
}

impl StrategyArguments {
    pub(crate) fn run(&self) -> ExitCode {
        self.forwarder.manage(|forwarder| self.run_on(forwarder))
    }

    pub(crate) fn run_on(&self, forwarder: &mut Forwarder) -> Result<(), ToolError> {
        match &self.command {
            StrategyCommand::List => {
                let choices: Vec<StrategyChoice> = forwarder.list(Dataset::StrategyList)?;
                print(forwarder.json, &choices)
            }
            StrategyCommand::Show { name } => {
                let choices: Vec<StrategyChoice> = forwarder.list(Dataset::StrategyList)?;
                let above =
                    choices.into_iter().filter(|choice| choice.prefix.as_ref().is_prefix_of(name.as_ref()));
                match above.max_by_key(|choice| choice.prefix.as_ref().component_count()) {
                    Some(choice) => print(forwarder.json, &[choice]),
                    None => {
                        Err(ToolError::other(format!("the forwarder has no strategy for {}", name.as_ref())))
                    }
                }
            }
            StrategyCommand::Set { prefix, strategy } => {
                let parameters = ControlParameters {
                    name: Some(prefix.clone()),
                    strategy: Some(strategy.clone()),
                    ..Default::default()
                };
                let set = forwarder.command(Command::StrategySet, &parameters)?;
                let strategy = set.strategy.unwrap_or_else(|| strategy.clone());
                report(forwarder, "set", prefix, Some(&strategy))
            }
            StrategyCommand::Unset { prefix } if prefix.as_ref().component_count() == 0 => {
                let problem = "/ always has a strategy: choose another with `cairn strategy set / STRATEGY`";
                Err(ToolError::other(problem))
            }
            StrategyCommand::Unset { prefix } => {
                let parameters = ControlParameters { name: Some(prefix.clone()), ..Default::default() };
                forwarder.command(Command::StrategyUnset, &parameters)?;
                report(forwarder, "unset", prefix, None)
            }
        }
    }
}

fn print(as_json: bool, choices: &[StrategyChoice]) -> Result<(), ToolError> {
    if as_json {
        return Ok(output::json(&Value::Array(choices.iter().map(choice_json).collect()))?);
    }
    Ok(print_table(choices)?)
}

/// The table of `strategy list`, and of the full status.
pub(in crate::commands) fn print_table(choices: &[StrategyChoice]) -> std::io::Result<()> {
    let row = |choice: &StrategyChoice| {
        vec![choice.prefix.as_ref().to_string(), choice.strategy.as_ref().to_string()]
    };
    output::table(&["prefix", "strategy"], &choices.iter().map(row).collect::<Vec<_>>())
}

/// A choice as JSON.
pub(in crate::commands) fn choice_json(choice: &StrategyChoice) -> Value {
    json!({
        "prefix": choice.prefix.as_ref().to_string(),
        "strategy": choice.strategy.as_ref().to_string(),
    })
}

fn report(
    forwarder: &Forwarder,
    what: &str,
    prefix: &Name,
    strategy: Option<&Name>,
) -> Result<(), ToolError> {
    let strategy = strategy.map(|strategy| strategy.as_ref().to_string());
    let prefix = prefix.as_ref();
    if forwarder.json {
        let value = json!({ "result": what, "prefix": prefix.to_string(), "strategy": strategy });
        return Ok(output::json(&value)?);
    }
    let strategy = strategy.map_or_else(String::new, |strategy| format!(" to {strategy}"));
    Ok(output::line(format_args!("strategy of {prefix} {what}{strategy}"))?)
}

/// Reads a strategy as people write it.
fn strategy(text: &str) -> Result<Name, String> {
    let uri = match text.split_once('/') {
        Some(("", _)) => text.to_owned(),
        // Parameters stand behind a version. A forwarder that has another says so.
        Some((word, parameters)) if parameters.contains('~') && !parameters.starts_with("v=") => {
            let is_it =
                |name: &Name| name.as_ref().component(3).is_some_and(|it| it.value == word.as_bytes());
            let base = engine::strategy_names().find(is_it);
            let base = base.ok_or_else(|| format!("{word} is no strategy that takes parameters"))?;
            format!("{base}/{parameters}")
        }
        _ => format!("/localhost/nfd/strategy/{text}"),
    };
    uri.parse().map_err(|error: packet::name::UriError| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_strategy_is_a_word_or_a_name() {
        let read = |text| strategy(text).unwrap().as_ref().to_string();
        assert_eq!(read("multicast"), "/localhost/nfd/strategy/multicast");
        assert_eq!(read("asf/v=5/max-timeouts~5"), "/localhost/nfd/strategy/asf/v=5/max-timeouts~5");
        assert_eq!(read("asf/max-timeouts~5"), read("asf/v=5/max-timeouts~5"));
        assert_eq!(read("/localhost/nfd/strategy/asf"), "/localhost/nfd/strategy/asf");
        assert!(strategy("v=x").is_err());
    }
}
