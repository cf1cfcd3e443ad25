//! `cairn cert publish-revocations` and `fetch-revocations`: lists of revoked keys, by the network.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::SystemTime;

use clap::Args;
use client::{Client, Clock};
use flow::source::{MemoryObject, Packets, Reply, Server, ServerConfig, Source, SourceError};
use flow::{Publication, PublicationConfig};
use formats::printable::printable_path;
use node::management::RevocationFile;
use packet::time::Duration;
use packet::{Component, Interest, Name};
use trust::certificate::names::identity_of;
use trust::files::{add_revocations, revocations_to_file};
use trust::store::KeyStore;
use trust::{Revocations, Signer, UnixTime};

use crate::tool::interrupt::Interrupt;
use crate::tool::serving::serve_until;
use crate::tool::trusting::{TrustArguments, fetch_list};
use crate::tool::units::positive_duration;
use crate::tool::{ToolError, input, output};

/// What a list is called below the identity of who signs it.
const USUAL_NAME: Component<'static> = Component::generic(b"REVOKED");

#[derive(Debug, Args)]
pub(super) struct PublishArguments {
    /// The file with records, as `cairn cert revoke` writes them. It is read again when it has changed; to
    /// revoke another key, write its record behind those that are there.
    file: PathBuf,
    /// Who signs the list: a key or identity in the store.
    #[arg(long, value_name = "KEY")]
    by: Name,
    /// What the list is called; REVOKED below the identity of who signs it, if it is left out. It speaks for
    /// keys whose names begin as its own does, but for its last component.
    #[arg(long = "as", value_name = "NAME")]
    name: Option<Name>,
    /// How old the list that is given may be. After that it is signed anew, also if nothing has changed: so
    /// whoever fetches it knows that nobody shows an old one.
    #[arg(long, value_name = "TIME", value_parser = positive_duration, default_value = "1min")]
    every: Duration,
}

#[derive(Debug, Args)]
pub(super) struct FetchArguments {
    /// The name of the list, without its version.
    name: Name,
    /// The file to which what is new is added. Nothing is ever taken away from it. When it was changed last,
    /// as the file system tells, is when the list was made.
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
    #[command(flatten)]
    trust: TrustArguments,
}

impl PublishArguments {
    pub(super) fn publish(&self, store: &KeyStore, client: &mut Client) -> Result<(), ToolError> {
        let interrupt = Interrupt::catch()?;
        let key = store.find(&self.by)?;
        let name = match &self.name {
            Some(name) => name.clone(),
            None => {
                let identity = identity_of(key.name.as_ref()).map(|identity| identity.to_name());
                identity.unwrap_or(Name::root()).with(USUAL_NAME)?
            }
        };
        let mut list = RevokedKeys {
            file: self.file.clone(),
            seen: None,
            bytes: Vec::new(),
            name: name.clone(),
            signer: key.signer(),
            every: self.every,
            clock: client.connection().clock(),
            versions: Vec::new(),
            made: UnixTime::ZERO,
        };
        list.read()?;
        client.register(&name)?;
        let certificate = key.default_certificate;
        if let Some(certificate) = &certificate {
            client.register(&certificate.to_key_name())?;
        }
        output::line(format_args!("publishing {name}"))?;
        let certificates = Packets::new(certificate.map(|certificate| certificate.data().clone()));
        let mut server = Server::new((certificates, list), ServerConfig::default(), client.now());
        serve_until(client, &mut server, &interrupt, |_, _| true)
    }
}

/// A list that is signed anew when its file has changed, or it has grown old, and somebody asks.
struct RevokedKeys {
    file: PathBuf,
    /// What the file looked like when it was read last, or tried to be.
    seen: Option<(SystemTime, u64)>,
    bytes: Vec<u8>,
    name: Name,
    signer: Signer,
    every: Duration,
    clock: Clock,
    /// The latest, and the one before for those who are in the middle of it.
    versions: Vec<MemoryObject<Publication, Vec<u8>>>,
    made: UnixTime,
}

impl RevokedKeys {
    /// Reads the file; says whether there is something else in it than before.
    fn read(&mut self) -> Result<bool, ToolError> {
        let metadata = std::fs::metadata(&self.file).map_err(ToolError::file(&self.file))?;
        let seen = Some((metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH), metadata.len()));
        if seen == self.seen {
            return Ok(false);
        }
        self.seen = seen;
        let mut records = Revocations::default();
        add_revocations(&input(Some(&self.file))?, &mut records)
            .map_err(|error| wrong(&self.file, &error))?;
        let bytes = revocations_to_file(&records);
        let is_new = bytes != self.bytes;
        self.bytes = bytes;
        Ok(is_new)
    }

    fn renew(&mut self) -> Result<(), SourceError> {
        let is_new = self.read().unwrap_or_else(|error| {
            // What was known goes on being published: nobody makes a key count again by spoiling the file.
            tell!("cairn: {error}; the list stays as it was");
            false
        });
        let now = self.clock.unix();
        let age_ms = now.as_millis().saturating_sub(self.made.as_millis());
        if !is_new && age_ms < self.every.as_millis() {
            return Ok(());
        }
        let version = now.as_millis().max(self.made.as_millis() + 1);
        let size = self.bytes.len() as u64;
        let mut config = PublicationConfig::new(self.name.clone(), version, size, self.signer.clone());
        config.metadata_freshness = Duration::from_secs(1).min(self.every);
        self.versions.push(MemoryObject::new(Publication::new(config)?, self.bytes.clone()));
        if self.versions.len() > 2 {
            self.versions.remove(0);
        }
        self.made = UnixTime::from_millis(version);
        Ok(())
    }
}

impl Source for RevokedKeys {
    fn answer(&mut self, interest: &Interest) -> Result<Reply, SourceError> {
        self.renew()?;
        // Below its name what only the one before has is no longer refused.
        let mut answer = Reply::NotMine;
        for version in self.versions.iter_mut().rev() {
            match version.answer(interest)? {
                Reply::NotMine => {}
                reply @ Reply::Data(_) => return Ok(reply),
                reply => answer = reply,
            }
        }
        Ok(answer)
    }
}

impl FetchArguments {
    pub(super) fn fetch(&self, client: &mut Client) -> Result<ExitCode, ToolError> {
        let validator = self.trust.validator()?;
        let validator =
            validator.ok_or_else(|| ToolError::other("say who vouches for the list: --anchor or --rules"))?;
        let list = match fetch_list(client, &self.name, validator)? {
            Ok(list) => list,
            Err(why) => {
                tell!("cairn: {}: {why}", self.name);
                return Ok(ExitCode::from(5));
            }
        };
        let mut file = RevocationFile::new(&self.output, [self.name.clone()]);
        let now = client.connection().clock().unix();
        let added = file.take_in(&self.name, list.made, now, &list.bytes);
        let added = added.map_err(|error| wrong(&self.output, &error))?;
        output::line(format_args!("{added} new records; the list was made at {}", list.made))?;
        Ok(ExitCode::SUCCESS)
    }
}

fn wrong(path: &Path, error: &dyn std::fmt::Display) -> ToolError {
    ToolError::other(format!("{}: {error}", printable_path(path)))
}
