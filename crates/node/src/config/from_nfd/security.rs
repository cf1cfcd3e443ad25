//! The sections `authorizations` and `rib`.

use toml::{Table, Value};

use super::info::Entry;
use super::{Target, yes};
use crate::config::ConfigError;

impl Target<'_> {
    pub(super) fn authorizations(&mut self, section: &Entry) {
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
                continue;
            }
            let modules = privileges.iter().map(|privilege| privilege.key.as_str().into()).collect();
            self.authorize(authorize, certificate, modules, false);
        }
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
                "localhost_security" => self.validator(entry, "rib"),
                "localhop_security" => {
                    self.set("management", "localhop", true);
                    self.validator(entry, "localhop");
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

    /// The trust anchors of a validator. Its rules are not taken over: here they are hierarchical.
    fn validator(&mut self, section: &Entry, module: &str) {
        for entry in &section.entries {
            if entry.key != "trust-anchor" {
                let text =
                    format!("{}.{}: rules are hierarchical here, and nothing else", section.key, entry.key);
                self.note(entry, text);
                continue;
            }
            match entry.find("type").map(|kind| kind.value.as_str()) {
                Some("any") => {}
                Some("file") => {
                    let file = entry.find("file-name").map_or("", |file| file.value.as_str());
                    self.authorize(entry, file, vec![module.into()], true);
                }
                _ => self.note(
                    entry,
                    "this kind of trust anchor has no counterpart: name the certificates in [[authorize]]",
                ),
            }
        }
    }
}
