//! The sections `authorizations` and `rib`.

use toml::{Table, Value};

use super::info::Entry;
use super::{Target, wrong, yes};
use crate::config::ConfigError;

/// What a section with `certfile any` must allow for nothing to be opened that NFD keeps closed.
const ALL_MODULES: [&str; 4] = ["faces", "fib", "cs", "strategy-choice"];

impl Target<'_> {
    pub(super) fn authorizations(&mut self, section: &Entry) -> Result<(), ConfigError> {
        let mut is_open = false;
        for authorize in &section.entries {
            if authorize.key != "authorize" {
                self.unknown("authorizations.", authorize);
                continue;
            }
            let certificate = authorize.find("certfile").map_or("", |entry| entry.value.as_str());
            let privileges = authorize.find("privileges").map_or(&[][..], |entry| &entry.entries);
            if certificate == "any" {
                let text = "certfile any: as long as no [[authorize]] names a certificate, whoever reaches a local socket may do \
                            everything, with any signature or none";
                self.note(authorize, text);
                is_open |= ALL_MODULES.iter().all(|&name| privileges.iter().any(|entry| entry.key == name));
                continue;
            }
            let modules = privileges.iter().map(|privilege| privilege.key.as_str().into()).collect();
            self.authorize(authorize, certificate, modules, false);
        }
        if is_open || self.names_keys() {
            return Ok(());
        }
        let problem = "authorizations allows commands to nobody, or not all of them to everybody, and without [[authorize]] \
                       a Cairn node obeys everybody on its host: name a certificate here";
        Err(wrong(section, problem.to_owned()))
    }

    /// Whether commands need a key that is named.
    fn names_keys(&self) -> bool {
        self.config.contains_key("authorize")
    }

    /// Whose keys may do what.
    fn authorize(&mut self, entry: &Entry, certificate: &str, modules: Vec<Value>, delegates: bool) {
        if certificate.is_empty() {
            return self.note(entry, "no certificate is named here, so nobody is authorized");
        }
        let path = self.folder.join(certificate);
        let mut section = Table::new();
        section.insert("certificate".to_owned(), path.to_string_lossy().as_ref().into());
        section.insert("modules".to_owned(), Value::Array(modules));
        section.insert("delegates".to_owned(), delegates.into());
        self.push("authorize", section);
        let text = "with [[authorize]] only commands by the keys that are named count, for routes, too: routes need the module rib";
        self.note(entry, text);
    }

    pub(super) fn rib(&mut self, section: &Entry) -> Result<(), ConfigError> {
        for entry in &section.entries {
            match entry.key.as_str() {
                "localhost_security" => {
                    if !self.validator(entry, "rib") && !self.names_keys() {
                        let problem = "rib.localhost_security names no trust anchor that has a counterpart, and without \
                                       [[authorize]] everybody on this host may make routes: name a file";
                        return Err(wrong(entry, problem.to_owned()));
                    }
                }
                "localhop_security" => {
                    let is_taken_over = self.validator(entry, "localhop");
                    self.set("management", "localhop", is_taken_over);
                    if !is_taken_over {
                        let text = "rib.localhop_security names no trust anchor that has a counterpart: neighbours may not \
                                    register routes";
                        self.note(entry, text);
                    }
                }
                "prefix_announcement_validation" => self.note(
                    entry,
                    "rib.prefix_announcement_validation: announcements are believed of keys that may make routes; see \
                     docs/management.md",
                ),
                "auto_prefix_propagate" => self.note(
                    entry,
                    "rib.auto_prefix_propagate has no counterpart: have each prefix registered at the gateway with `cairn route \
                     add PREFIX 0 --connect udp://GATEWAY`",
                ),
                "readvertise_nlsr" if !yes(entry)? => {}
                "readvertise_nlsr" => self.note(
                    entry,
                    "rib.readvertise_nlsr has no counterpart: name the prefixes in nlsr.conf, or tell NLSR with `nlsrc advertise \
                     PREFIX`",
                ),
                _ => self.unknown("rib.", entry),
            }
        }
        Ok(())
    }

    /// The trust anchors of a validator. Its rules are not taken over: here they are hierarchical. False if
    /// there is no anchor that could be taken over, so that what it guards must stay closed.
    fn validator(&mut self, section: &Entry, module: &str) -> bool {
        let mut is_taken_over = false;
        for entry in &section.entries {
            if entry.key != "trust-anchor" {
                let text =
                    format!("{}.{}: rules are hierarchical here, and nothing else", section.key, entry.key);
                self.note(entry, text);
                continue;
            }
            match entry.find("type").map(|kind| kind.value.as_str()) {
                Some("any") => is_taken_over = true,
                Some("file") => {
                    let file = entry.find("file-name").map_or("", |file| file.value.as_str());
                    self.authorize(entry, file, vec![module.into()], true);
                    is_taken_over |= !file.is_empty();
                }
                _ => self.note(
                    entry,
                    "this kind of trust anchor has no counterpart: name the certificates in [[authorize]]",
                ),
            }
        }
        is_taken_over
    }
}
