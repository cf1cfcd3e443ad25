//! `cairn key`: makes keys, and takes them from one place to another.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand, ValueEnum};
use client::Clock;
use formats::printable::printable_path;
use packet::random::Random;
use packet::time::Duration;
use packet::{Buffer, Component, Data, Name};
use serde_json::json;
use trust::certificate::names;
use trust::store::{KeyStore, StoreError};
use trust::text::{self, packets_in};
use trust::{KeyKind, PrivateKey, SafeBag, UnixTime, ValidityPeriod, open_key_packet, to_key_packet};

use crate::tool::passphrase::PassphraseArguments;
use crate::tool::signing::StoreArguments;
use crate::tool::units::duration;
use crate::tool::{ToolError, finish, input, output, write_output};

/// Make keys, list, delete, export and import them.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cairn key new /lab/alice                        a key and a certificate that it signs itself
  cairn key list
  cairn key default /lab/alice                    what tools sign with when no key is named
  cairn key delete /lab/bob                       with all its keys and certificates
  cairn key export /lab/alice -o alice.safebag    for `ndnsec import`; asks for a passphrase
  cairn key import bob.key                        a SafeBag, a key of `ndnd sec keygen`, or PKCS#8

Exit codes: 0 done; 1 failure; 2 wrong usage.")]
pub(crate) struct KeyArguments {
    #[command(subcommand)]
    action: Action,
    #[command(flatten)]
    store: StoreArguments,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Make a key, and a certificate that it signs itself.
    #[command(alias = "generate", alias = "gen")]
    New(NewArguments),
    /// List identities, their keys, and the keys' certificates. A star marks defaults.
    List {
        /// Only this identity.
        identity: Option<Name>,
        /// As JSON.
        #[arg(long)]
        json: bool,
    },
    /// Make an identity, key or certificate the default of what it belongs to.
    Default {
        /// Its name.
        name: Name,
    },
    /// Delete an identity, key or certificate, and all below it.
    Delete {
        /// Its name.
        name: Name,
        /// Do not ask.
        #[arg(long, short)]
        yes: bool,
    },
    /// Write a key to a file, to be used elsewhere.
    Export(ExportArguments),
    /// Import a key from a file.
    Import(ImportArguments),
}

#[derive(Debug, Args)]
struct NewArguments {
    /// Whose key it is.
    identity: Name,
    /// The algorithm.
    #[arg(long, short, value_enum, default_value = "ecdsa")]
    kind: Kind,
    /// The size of an RSA key.
    #[arg(long, default_value = "2048")]
    bits: u32,
    /// The last component of the key's name; eight random bytes if it is left out.
    #[arg(long)]
    id: Option<String>,
    /// How long its own certificate is valid.
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "20y")]
    valid: Duration,
    /// Print as JSON what was made.
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Kind {
    Ecdsa,
    Ed25519,
    Rsa,
    /// One secret for both sides; has no certificate.
    Hmac,
}

#[derive(Debug, Args)]
struct ExportArguments {
    /// A key, one of its certificates, or an identity, whose default key is meant.
    name: Name,
    /// Where to; standard output if it is left out.
    #[arg(long, short)]
    output: Option<PathBuf>,
    /// The form.
    #[arg(long, short, value_enum, default_value = "safebag")]
    format: KeyFormat,
    #[command(flatten)]
    passphrase: PassphraseArguments,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum KeyFormat {
    /// Certificate and encrypted key, for ndn-cxx (`ndnsec import`).
    Safebag,
    /// The bare key in PEM, for ndnd (`ndnd sec key-import`). Not encrypted.
    Ndnd,
    /// The bare key, PKCS#8 in DER. Not encrypted.
    Pkcs8,
}

#[derive(Debug, Args)]
struct ImportArguments {
    /// The file; - for standard input.
    file: PathBuf,
    /// The name of the key, for forms that hold none (PKCS#8).
    #[arg(long)]
    name: Option<Name>,
    #[command(flatten)]
    passphrase: PassphraseArguments,
}

impl KeyArguments {
    pub(crate) fn run(&self) -> ExitCode {
        finish(self.act())
    }

    fn act(&self) -> Result<ExitCode, ToolError> {
        let store = self.store.open()?;
        match &self.action {
            Action::New(arguments) => arguments.make(&store)?,
            Action::List { identity, json } => list(&store, identity.as_ref(), *json)?,
            Action::Default { name } => store.set_default(name)?,
            Action::Delete { name, yes } => delete(&store, name, *yes)?,
            Action::Export(arguments) => arguments.export(&store)?,
            Action::Import(arguments) => arguments.import(&store)?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// From now on for so long; the beginning a second ago, as clocks differ.
pub(super) fn valid_for(now: UnixTime, duration: Duration) -> ValidityPeriod {
    let secs = duration.as_millis() / 1000;
    ValidityPeriod { not_before: now.minus_secs(1), not_after: now.plus_secs(secs) }
}

impl NewArguments {
    fn make(&self, store: &KeyStore) -> Result<(), ToolError> {
        let key = match self.kind {
            Kind::Ecdsa => PrivateKey::generate(KeyKind::EcdsaP256)?,
            Kind::Ed25519 => PrivateKey::generate(KeyKind::Ed25519)?,
            Kind::Rsa => PrivateKey::generate_rsa(self.bits)?,
            Kind::Hmac => PrivateKey::generate(KeyKind::Hmac)?,
        };
        let random = Random::from_seed(Clock::seed()).next_u64().to_be_bytes();
        let id = self.id.as_ref().map_or(&random[..], |id| id.as_bytes());
        let now = Clock::start().unix();
        let made =
            store.generate(&self.identity, Component::generic(id), key, now, valid_for(now, self.valid))?;
        let certificate = made.default_certificate.map(|certificate| certificate.name().to_string());
        if self.json {
            return Ok(output::json(&json!({ "key": made.name.to_string(), "certificate": certificate }))?);
        }
        output::line(format_args!("key          {}", made.name))?;
        if let Some(certificate) = certificate {
            output::line(format_args!("certificate  {certificate}"))?;
        }
        Ok(())
    }
}

fn list(store: &KeyStore, only: Option<&Name>, as_json: bool) -> Result<(), ToolError> {
    if let Some(only) = only {
        must_hold(store, only)?;
    }
    let default_identity = store.default_identity().ok();
    let mut found = Vec::new();
    for identity in store.identities()? {
        if only.is_some_and(|only| *only != identity) {
            continue;
        }
        let default_key = store.default_key(&identity).ok();
        let mut keys = Vec::new();
        for key in store.keys(&identity)? {
            let default = store.default_certificate(&key)?;
            // One that is damaged hides no others.
            let found = store.find(&key);
            let kind =
                found.map_or_else(|error| format!("unusable: {error}"), |found| found.key.kind().to_string());
            let certificates: Vec<_> = store
                .certificates(&key)?
                .iter()
                .map(|certificate| {
                    json!({
                        "name": certificate.name().to_string(),
                        "default": default.as_ref() == Some(certificate),
                        "validity": certificate.validity().to_string(),
                        "self_signed": certificate.is_self_signed(),
                    })
                })
                .collect();
            let is_default = default_key.as_ref() == Some(&key);
            keys.push(json!({
                "name": key.to_string(), "kind": kind, "default": is_default, "certificates": certificates,
            }));
        }
        let is_default = default_identity.as_ref() == Some(&identity);
        found.push(json!({ "identity": identity.to_string(), "default": is_default, "keys": keys }));
    }
    if as_json {
        return Ok(output::json(&json!(found))?);
    }
    if found.is_empty() {
        tell!("no keys in {}: make one with `cairn key new IDENTITY`", store.path().display());
    }
    for identity in &found {
        print_tree(identity)?;
    }
    Ok(())
}

fn print_tree(identity: &serde_json::Value) -> Result<(), ToolError> {
    let star = |value: &serde_json::Value| if value["default"] == true { "*" } else { " " };
    let text = |value: &serde_json::Value, key: &str| value[key].as_str().unwrap_or_default().to_owned();
    output::line(format_args!("{} {}", star(identity), text(identity, "identity")))?;
    for key in identity["keys"].as_array().into_iter().flatten() {
        output::line(format_args!("  {} {}  ({})", star(key), text(key, "name"), text(key, "kind")))?;
        for certificate in key["certificates"].as_array().into_iter().flatten() {
            let (name, validity) = (text(certificate, "name"), text(certificate, "validity"));
            output::line(format_args!("    {} {name}  ({validity})", star(certificate)))?;
        }
    }
    Ok(())
}

/// Fails if the store has not even the identity of `name`.
fn must_hold(store: &KeyStore, name: &Name) -> Result<(), ToolError> {
    let identity =
        names::identity_of(name.as_ref()).map_or_else(|| name.clone(), |identity| identity.to_name());
    if store.identities()?.contains(&identity) {
        return Ok(());
    }
    Err(StoreError::Missing(name.to_string(), store.path().to_owned()).into())
}

fn delete(store: &KeyStore, name: &Name, yes: bool) -> Result<(), ToolError> {
    must_hold(store, name)?;
    if !yes {
        tell!("Delete {name} and all below it, for good? [y/N]");
        let mut answer = String::new();
        std::io::stdin().read_line(&mut answer)?;
        if !matches!(answer.trim(), "y" | "Y" | "yes") {
            return Err(ToolError::other("nothing was deleted"));
        }
    }
    Ok(store.delete(name)?)
}

impl ExportArguments {
    fn export(&self, store: &KeyStore) -> Result<(), ToolError> {
        let found = store.find(&self.name)?;
        let bytes = match self.format {
            KeyFormat::Safebag => {
                let certificate = found.default_certificate.ok_or_else(|| {
                    ToolError::other(format!("{} has no certificate, and a SafeBag needs one", found.name))
                })?;
                let bag = SafeBag { certificate, key: found.key };
                text::to_base64(&bag.seal(&self.passphrase.choose()?)?).into_bytes()
            }
            KeyFormat::Ndnd => {
                let packet = to_key_packet(&found.key, &found.name)?;
                let headers = [("Name", found.name.to_string())];
                text::to_pem(text::KEY_LABEL, &headers, packet.wire()).into_bytes()
            }
            KeyFormat::Pkcs8 => found.key.to_pkcs8()?,
        };
        write_output(self.output.as_deref(), &bytes, true)
    }
}

impl ImportArguments {
    fn import(&self, store: &KeyStore) -> Result<(), ToolError> {
        let bytes = input(Some(&self.file))?;
        let shown = printable_path(&self.file);
        // PKCS#8 in DER begins as no packet and no text does.
        if bytes.first() == Some(&0x30) {
            let key = PrivateKey::from_der(&bytes)?;
            let name = self.name.as_ref().ok_or_else(|| {
                ToolError::other(format!("{shown} holds a bare key: say with --name what it is called"))
            })?;
            return self.add(store, name, &key);
        }
        let packets = packets_in(&bytes).map_err(|error| ToolError::other(format!("{shown}: {error}")))?;
        let mut imported = 0;
        for packet in packets {
            if packet.first() == Some(&0x80) {
                let bag = SafeBag::open(&packet, &self.passphrase.recall()?)?;
                let name = bag.certificate.to_key_name();
                store.add_key(&name, &bag.key, Some(&bag.certificate))?;
                output::line(format_args!("key          {name}"))?;
                output::line(format_args!("certificate  {}", bag.certificate.name()))?;
            } else {
                let data = Data::decode_ndn(Buffer::from(packet))?;
                let (name, key) = open_key_packet(&data).ok_or_else(|| {
                    ToolError::other(format!(
                        "{shown}: {} is no key; import certificates with `cairn cert import`",
                        data.name()
                    ))
                })??;
                self.add(store, &name, &key)?;
            }
            imported += 1;
        }
        if imported == 0 { Err(ToolError::other(format!("{shown} holds no key"))) } else { Ok(()) }
    }

    /// Adds a key without certificate, and has it sign one.
    fn add(&self, store: &KeyStore, name: &Name, key: &PrivateKey) -> Result<(), ToolError> {
        let now = Clock::start().unix();
        let validity = valid_for(now, Duration::from_secs(20 * 365 * 86_400));
        let certificate = match key.kind() {
            KeyKind::Hmac => None,
            _ => Some(trust::certificate::self_signed(key, name, names::SELF, now, validity)?),
        };
        store.add_key(name, key, certificate.as_ref())?;
        Ok(output::line(format_args!("key          {name}"))?)
    }
}
