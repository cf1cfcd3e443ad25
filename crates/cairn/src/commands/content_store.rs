//! `cairn cs`: what the forwarder keeps.

use std::process::ExitCode;

use clap::{Args, Subcommand};
use management::{Command, ControlParameters, CsFlags, CsInfo, Dataset};
use packet::Name;
use serde_json::{Value, json};

use crate::tool::forwarder::{Forwarder, ForwarderArguments};
use crate::tool::switch::{MaskedFlags, Switch, masked_flags};
use crate::tool::units::size;
use crate::tool::{ToolError, output};

/// See and change the content store of a forwarder: the Data it keeps for who asks next.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cairn cs info
  cairn cs config --capacity 100k
  cairn cs config --serve off
  cairn cs erase /lab

Exit codes: 0 done; 1 failure, or refused by the forwarder; 2 wrong usage.")]
pub(crate) struct ContentStoreArguments {
    #[command(flatten)]
    pub(crate) forwarder: ForwarderArguments,
    #[command(subcommand)]
    command: ContentStoreCommand,
}

#[derive(Debug, Subcommand)]
enum ContentStoreCommand {
    /// Show how much it holds and how often it could answer.
    Info,
    /// Change its settings.
    Config {
        /// How many Data packets it may hold.
        #[arg(long, value_name = "NUMBER", value_parser = size)]
        capacity: Option<u64>,
        /// Whether it stores Data.
        #[arg(long, value_name = "ON|OFF")]
        admit: Option<Switch>,
        /// Whether it answers Interests.
        #[arg(long, value_name = "ON|OFF")]
        serve: Option<Switch>,
    },
    /// Erase Data.
    Erase {
        /// The prefix of the Data to erase.
        prefix: Name,
        /// Erase at most this many.
        #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(1..))]
        count: Option<u64>,
    },
}

impl ContentStoreArguments {
    pub(crate) fn run(&self) -> ExitCode {
        self.forwarder.manage(|forwarder| self.run_on(forwarder))
    }

    pub(crate) fn run_on(&self, forwarder: &mut Forwarder) -> Result<(), ToolError> {
        match &self.command {
            ContentStoreCommand::Info => {
                let list: Vec<CsInfo> = forwarder.list(Dataset::CsInfo)?;
                let info = list
                    .first()
                    .ok_or_else(|| ToolError::other("the forwarder says nothing of its store"))?;
                if forwarder.json {
                    return Ok(output::json(&info_json(info))?);
                }
                Ok(print(info)?)
            }
            ContentStoreCommand::Config { capacity, admit, serve } => {
                let changed =
                    forwarder.command(Command::CsConfig, &config_parameters(*capacity, *admit, *serve))?;
                let flags = CsFlags(changed.flags.unwrap_or_default());
                if forwarder.json {
                    return Ok(output::json(&json!({
                        "capacity": changed.capacity,
                        "admit": flags.contains(CsFlags::ENABLE_ADMIT),
                        "serve": flags.contains(CsFlags::ENABLE_SERVE),
                    }))?);
                }
                let capacity = changed.capacity.unwrap_or_default();
                Ok(output::line(format_args!("capacity {capacity}, {}", switches(flags)))?)
            }
            ContentStoreCommand::Erase { prefix, count } => {
                let erased = erase(forwarder, prefix, *count)?;
                if forwarder.json {
                    return Ok(output::json(
                        &json!({ "prefix": prefix.as_ref().to_string(), "erased": erased }),
                    )?);
                }
                Ok(output::line(format_args!("{erased} Data under {} erased", prefix.as_ref()))?)
            }
        }
    }
}

fn config_parameters(
    capacity: Option<u64>,
    admit: Option<Switch>,
    serve: Option<Switch>,
) -> ControlParameters {
    let switches = [(admit, CsFlags::ENABLE_ADMIT.0), (serve, CsFlags::ENABLE_SERVE.0)];
    let MaskedFlags { flags, mask } = masked_flags(&switches);
    ControlParameters { capacity, flags, mask, ..Default::default() }
}

/// Erases command by command, for a forwarder erases only so many at once and says when there may be more.
fn erase(forwarder: &mut Forwarder, prefix: &Name, count: Option<u64>) -> Result<u64, ToolError> {
    let mut erased = 0;
    loop {
        let left = count.map(|count| count.saturating_sub(erased));
        if left == Some(0) {
            return Ok(erased);
        }
        let parameters = ControlParameters { name: Some(prefix.clone()), count: left, ..Default::default() };
        let answer = forwarder.command(Command::CsErase, &parameters)?;
        let now = answer.count.unwrap_or_default();
        erased += now;
        if answer.capacity.is_none() || now == 0 {
            return Ok(erased);
        }
    }
}

/// The lines of `cs info`, and of the full status.
pub(in crate::commands) fn print(info: &CsInfo) -> std::io::Result<()> {
    let lookups = info.hits + info.misses;
    let ratio = if lookups == 0 { String::new() } else { format!(" ({:.1} %)", percent(info.hits, lookups)) };
    for (key, value) in [
        ("capacity", info.capacity.to_string()),
        ("holds", info.entries.to_string()),
        ("hits", format!("{}{ratio}", info.hits)),
        ("misses", info.misses.to_string()),
        ("switches", switches(info.flags)),
    ] {
        output::pair(key, value)?;
    }
    Ok(())
}

fn percent(part: u64, whole: u64) -> f64 {
    part as f64 * 100.0 / whole as f64
}

fn switches(flags: CsFlags) -> String {
    let word = |flag| if flags.contains(flag) { "on" } else { "off" };
    format!("admit {}, serve {}", word(CsFlags::ENABLE_ADMIT), word(CsFlags::ENABLE_SERVE))
}

/// The store as JSON.
pub(in crate::commands) fn info_json(info: &CsInfo) -> Value {
    json!({
        "capacity": info.capacity,
        "entries": info.entries,
        "hits": info.hits,
        "misses": info.misses,
        "admit": info.flags.contains(CsFlags::ENABLE_ADMIT),
        "serve": info.flags.contains(CsFlags::ENABLE_SERVE),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_given_is_changed() {
        let parameters = config_parameters(Some(100), Some(Switch::Off), None);
        assert_eq!((parameters.capacity, parameters.flags, parameters.mask), (Some(100), Some(0), Some(1)));
        let parameters = config_parameters(None, None, Some(Switch::On));
        assert_eq!((parameters.capacity, parameters.flags, parameters.mask), (None, Some(2), Some(2)));
        assert_eq!(config_parameters(None, None, None), ControlParameters::default());
    }
}
