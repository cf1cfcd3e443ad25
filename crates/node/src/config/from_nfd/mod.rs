//! A configuration of NFD, made one of ours.
//!
//! What NFD does when a key or a section is left out counts, too: where the section of a transport is
//! missing, NFD does not have that transport. What has no counterpart is told and left out.

mod faces;
mod info;
mod security;

use std::path::Path;

use toml::{Table, Value};

use super::{Config, ConfigError};
use crate::control::strategy_name::strategy_in_text;
use info::Entry;

/// What became of a configuration of NFD.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Converted {
    /// A configuration for a Cairn node, with the first thousand notes as comments.
    pub text: String,
    /// What has no counterpart, or works otherwise, each with its line.
    pub notes: Vec<String>,
}

/// Notes that stand in a configuration: one with all that a strange file may give could not be read again.
const MAX_COMMENTS: usize = 1000;

/// Makes a configuration of a text as in `nfd.conf`. Names of files in it are understood as below `folder`.
///
/// # Errors
/// The line that makes no sense, and why.
pub fn from_nfd(text: &str, folder: &Path) -> Result<Converted, ConfigError> {
    let file = info::read(text)?;
    let mut target = Target { config: Table::new(), notes: Vec::new(), folder };
    for section in &file.entries {
        match section.key.as_str() {
            "general" => target.general(section),
            "log" => target.log(section),
            "forwarder" => target.forwarder(section)?,
            "tables" => target.tables(section)?,
            "face_system" => target.face_system(section)?,
            "authorizations" => target.authorizations(section)?,
            "rib" => target.rib(section)?,
            _ => target.unknown("", section),
        }
    }
    if file.find("face_system").is_none() {
        target.face_system(&Entry::default())?;
    }
    target.finish()
}

/// The configuration that is being made.
struct Target<'a> {
    config: Table,
    notes: Vec<String>,
    folder: &'a Path,
}

impl Target<'_> {
    fn set(&mut self, section: &str, key: &str, value: impl Into<Value>) {
        let section = self.config.entry(section).or_insert_with(|| Value::Table(Table::new()));
        if let Value::Table(section) = section {
            section.insert(key.to_owned(), value.into());
        }
    }

    /// Adds to a list of tables, such as `[[strategy]]`.
    fn push(&mut self, list: &str, item: Table) {
        let list = self.config.entry(list).or_insert_with(|| Value::Array(Vec::new()));
        if let Value::Array(list) = list {
            list.push(Value::Table(item));
        }
    }

    fn note(&mut self, entry: &Entry, text: impl AsRef<str>) {
        // What stands in the file goes into comments and to terminals: it may be anything.
        let text: String = text
            .as_ref()
            .chars()
            .map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c })
            .collect();
        self.notes.push(match entry.line {
            0 => text,
            line => format!("line {line}: {text}"),
        });
    }

    fn unknown(&mut self, section: &str, entry: &Entry) {
        self.note(entry, format!("{section}{} is not known, and left out", entry.key));
    }

    fn general(&mut self, section: &Entry) {
        for entry in &section.entries {
            match entry.key.as_str() {
                "user" | "group" => self.note(
                    entry,
                    format!("general.{} has no counterpart: start the node as that user, as the systemd unit does", entry.key),
                ),
                _ => self.unknown("general.", entry),
            }
        }
    }

    fn log(&mut self, section: &Entry) {
        for entry in &section.entries {
            let level = match entry.value.to_ascii_uppercase().as_str() {
                "NONE" => "off",
                "ERROR" | "FATAL" => "error",
                "WARN" => "warn",
                "DEBUG" => "debug",
                "TRACE" | "ALL" => "trace",
                _ => "info",
            };
            if entry.key == "default_level" {
                self.set("log", "filter", level);
            } else {
                let text =
                    format!("log.{}: parts of the log have other names here; see log.filter", entry.key);
                self.note(entry, text);
            }
        }
    }

    fn forwarder(&mut self, section: &Entry) -> Result<(), ConfigError> {
        for entry in &section.entries {
            match entry.key.as_str() {
                "default_hop_limit" => self.set("tables", "default_hop_limit", number(entry, 0, 255)?),
                _ => self.unknown("forwarder.", entry),
            }
        }
        Ok(())
    }

    fn tables(&mut self, section: &Entry) -> Result<(), ConfigError> {
        for entry in &section.entries {
            match entry.key.as_str() {
                "cs_max_packets" => {
                    self.set("content_store", "max_entries", number(entry, 0, u32::MAX.into())?);
                    let text = "cs_max_packets is content_store.max_entries; content_store.max_bytes limits the store, too";
                    self.note(entry, text);
                }
                "cs_policy" if entry.value == "lru" => self.set("content_store", "eviction", "lru"),
                "cs_policy" => {
                    let text = format!(
                        "cs_policy {} has no counterpart: content_store.eviction stays sieve",
                        entry.value
                    );
                    self.note(entry, text);
                }
                "cs_unsolicited_policy" => {
                    self.set("content_store", "unsolicited", entry.value.as_str());
                }
                "strategy_choice" => self.strategies(entry),
                "network_region" => {
                    let names = entry.entries.iter().map(|name| Value::from(name.key.as_str()));
                    self.set("tables", "producer_regions", Value::Array(names.collect()));
                }
                _ => self.unknown("tables.", entry),
            }
        }
        Ok(())
    }

    fn strategies(&mut self, choices: &Entry) {
        for choice in &choices.entries {
            if let Err(error) = strategy_in_text(&choice.value) {
                self.note(choice, format!("strategy for {}: {error}; it is left out", choice.key));
                continue;
            }
            if choice.key == "/" {
                self.set("tables", "default_strategy", choice.value.as_str());
                continue;
            }
            let mut strategy = Table::new();
            strategy.insert("prefix".to_owned(), choice.key.as_str().into());
            strategy.insert("strategy".to_owned(), choice.value.as_str().into());
            self.push("strategy", strategy);
        }
    }

    /// Writes the configuration, and sees whether it can be read.
    fn finish(self) -> Result<Converted, ConfigError> {
        let body = toml::to_string(&self.config).map_err(|error| ConfigError::new(error.to_string()))?;
        let mut text = String::from(
            "# Configuration of a Cairn node, made from one of NFD. What is left out has its default.\n",
        );
        for note in self.notes.iter().take(MAX_COMMENTS) {
            text.push_str("# ");
            text.push_str(note);
            text.push('\n');
        }
        if let Some(more @ 1..) = self.notes.len().checked_sub(MAX_COMMENTS) {
            text.push_str(&format!("# And {more} notes more.\n"));
        }
        text.push('\n');
        text.push_str(&body);
        let config = Config::read(&text)?;
        // Certificates may lie on another machine.
        Config { authorize: Vec::new(), ..config }.check()?;
        Ok(Converted { text, notes: self.notes })
    }
}

/// Whether an entry says yes.
fn yes(entry: &Entry) -> Result<bool, ConfigError> {
    match entry.value.as_str() {
        "yes" => Ok(true),
        "no" => Ok(false),
        other => Err(wrong(entry, format!("{} is {other:?}; it is yes or no", entry.key))),
    }
}

fn number(entry: &Entry, least: u64, most: u64) -> Result<i64, ConfigError> {
    let number = entry.value.parse::<u64>().ok().filter(|number| (least..=most).contains(number));
    number.and_then(|number| i64::try_from(number).ok()).ok_or_else(|| {
        wrong(entry, format!("{} is {:?}; it is a number from {least} to {most}", entry.key, entry.value))
    })
}

fn wrong(entry: &Entry, problem: String) -> ConfigError {
    ConfigError { line: Some(entry.line), problem }
}

#[cfg(test)]
mod tests;
