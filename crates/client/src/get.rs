//! An object by its name, verified, into memory, a file or anything that can be written to.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use flow::verify::{AnchoredVerifier, IntegrityVerifier, ManifestVerifier, Summary, Verifier};
use flow::{ControllerSpec, Discovery, FetchConfig, Fetcher, Progress, Segment, Verification, VerifiedFetch};
use packet::Name;
use packet::random::Random;
use trust::policy::Rules;
use trust::{Certificate, Policy, Validator, ValidatorLimits};

use crate::client::Client;
use crate::client::fetching::{FetchFailure, FetchOptions, Reader};
use crate::clock::Clock;

/// Bytes that an object may have that is fetched into memory, if nobody says otherwise.
const MOST_IN_MEMORY: u64 = 256 << 20;

/// Whom to believe. There is no default: whoever fetches says it.
pub struct Trust(Box<dyn Verifier>);

impl Trust {
    /// Anybody: digests are checked, so that what is damaged is refused, and no signature.
    pub fn anybody() -> Self {
        Trust(Box::new(IntegrityVerifier::new()))
    }

    /// Whoever has a chain of certificates up to one of `anchors`, in which each name lies under that of its
    /// signer: `/lab/alice` may sign `/lab/alice/file`, and `/lab` may sign what `/lab/alice` is.
    pub fn anchors(anchors: impl IntoIterator<Item = Certificate>) -> Self {
        Trust::policy(Policy::Hierarchical, anchors)
    }

    /// The same where `rules` say who may sign what.
    pub fn rules(rules: Rules, anchors: impl IntoIterator<Item = Certificate>) -> Self {
        Trust::policy(Policy::Rules(rules), anchors)
    }

    fn policy(policy: Policy, anchors: impl IntoIterator<Item = Certificate>) -> Self {
        let random = Random::from_seed(Clock::seed());
        let validator = Validator::new(policy, anchors, ValidatorLimits::default(), random);
        Trust(Box::new(AnchoredVerifier::new(validator)))
    }

    /// What `verifier` accepts.
    pub fn verifier(verifier: Box<dyn Verifier>) -> Self {
        Trust(verifier)
    }

    /// The same for the object's manifest, and a hash for each segment: for objects that are published so.
    #[must_use]
    pub fn with_manifest(self) -> Self {
        Trust(Box::new(ManifestVerifier::new(self.0, Clock::seed())))
    }
}

impl std::fmt::Debug for Trust {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Trust").field(&self.0.summary()).finish()
    }
}

/// What was fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetched {
    /// The object's name, with its version.
    pub name: Name,
    /// Its bytes in number.
    pub bytes: u64,
    /// Who vouches for it.
    pub summary: Summary,
}

/// An object that is to be fetched: see [`Client::get`].
#[must_use = "nothing is fetched before it is said where to"]
pub struct Get<'a> {
    client: &'a mut Client,
    name: Name,
    trust: Trust,
    config: FetchConfig,
    options: FetchOptions,
    most_bytes: Option<u64>,
    watch: Box<dyn FnMut(&Progress) -> bool + 'a>,
}

impl Client {
    /// Fetches the object `name`, with or without its version, and believes whom `trust` names. What else
    /// comes over the connection meanwhile is answered by what is [attached](Client::serve), or kept for
    /// [`Client::next`].
    ///
    /// ```no_run
    /// use client::{Client, Remote, Trust};
    ///
    /// let mut client = Client::connect(&Remote::default_forwarder()?)?;
    /// let name = "/lab/file".parse()?;
    /// let (bytes, fetched) = client.get(&name, Trust::anybody()).into_memory()?;
    /// println!("{} bytes of {}: {}", bytes.len(), fetched.name, fetched.summary.text);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn get(&mut self, name: &Name, trust: Trust) -> Get<'_> {
        let config = FetchConfig {
            verification: Verification::Owner,
            discovery: Discovery::MetadataThenPrefix,
            ..FetchConfig::default()
        };
        Get {
            client: self,
            name: name.clone(),
            trust,
            config,
            options: FetchOptions::default(),
            most_bytes: None,
            watch: Box::new(|_| true),
        }
    }
}

impl<'a> Get<'a> {
    /// Asks as fast as this controller allows, instead of CUBIC.
    pub fn controller(mut self, controller: ControllerSpec) -> Self {
        self.config.transfer.controller = controller;
        self
    }

    /// Works with `config`, but for who verifies.
    pub fn config(mut self, config: FetchConfig) -> Self {
        self.config = FetchConfig { verification: Verification::Owner, ..config };
        self
    }

    /// Goes about it as `options` say.
    pub fn options(mut self, options: FetchOptions) -> Self {
        self.options = options;
        self
    }

    /// Fails when more than so many bytes come. Without it any number may be written, and 256 MiB kept in
    /// memory.
    pub fn at_most(mut self, bytes: u64) -> Self {
        self.most_bytes = Some(bytes);
        self
    }

    /// Tells `watch` how far it is, now and then and at every signal; it says whether to go on.
    pub fn progress(mut self, watch: impl FnMut(&Progress) -> bool + 'a) -> Self {
        self.watch = Box::new(watch);
        self
    }

    /// Fetches into memory.
    ///
    /// # Errors
    /// The object cannot be had, not be trusted, or is too large; the forwarder went away for too long.
    pub fn into_memory(mut self) -> Result<(Vec<u8>, Fetched), FetchFailure> {
        self.most_bytes.get_or_insert(MOST_IN_MEMORY);
        let mut bytes = Vec::new();
        let fetched = self.write_to(&mut bytes)?;
        Ok((bytes, fetched))
    }

    /// Fetches into a file, which takes the place of what is there when it is complete, and not before: until
    /// then it has `.part` behind its name.
    ///
    /// # Errors
    /// As [`Get::into_memory`]; the file cannot be written. What has come is removed then.
    pub fn into_file(self, path: impl AsRef<Path>) -> Result<Fetched, FetchFailure> {
        let path = path.as_ref();
        let mut part = path.as_os_str().to_owned();
        part.push(".part");
        let part = PathBuf::from(part);
        // What stands there need not be ours: it is not followed and not overwritten.
        let file = OpenOptions::new().write(true).create_new(true).open(&part)?;
        let written = self.into_part(file).and_then(|fetched| {
            std::fs::rename(&part, path)?;
            Ok(fetched)
        });
        if written.is_err() {
            // There is nothing more to be said about it than what failed.
            let _ = std::fs::remove_file(&part);
        }
        written
    }

    fn into_part(self, file: File) -> Result<Fetched, FetchFailure> {
        let mut out = BufWriter::new(file);
        let fetched = self.write_to(&mut out)?;
        out.flush()?;
        Ok(fetched)
    }

    /// Fetches and writes to `out`, in order, what is verified.
    ///
    /// # Errors
    /// As [`Get::into_memory`]; `out` fails.
    pub fn write_to(self, out: &mut dyn Write) -> Result<Fetched, FetchFailure> {
        let Get { client, name, trust, config, options, most_bytes, watch } = self;
        let fetcher = Fetcher::new(name.clone(), config, client.now(), Clock::seed());
        let most_bytes = most_bytes.unwrap_or(u64::MAX);
        let mut writer = Writer { out, watch, bytes: 0, most_bytes };
        let (fetch, outcome) = client.fetch(VerifiedFetch::new(fetcher, trust.0), &mut writer, &options);
        if writer.bytes > most_bytes {
            return Err(FetchFailure::TooLarge(most_bytes));
        }
        outcome?;
        let name = fetch.fetcher().object_name().unwrap_or(&name).clone();
        Ok(Fetched { name, bytes: writer.bytes, summary: fetch.verifier().summary() })
    }
}

struct Writer<'a, 'b> {
    out: &'b mut dyn Write,
    watch: Box<dyn FnMut(&Progress) -> bool + 'a>,
    bytes: u64,
    most_bytes: u64,
}

impl Reader for Writer<'_, '_> {
    fn segments(&mut self, segments: &[Segment]) -> io::Result<()> {
        for segment in segments {
            self.bytes += segment.data.content().len() as u64;
            if self.bytes > self.most_bytes {
                return Err(io::ErrorKind::FileTooLarge.into());
            }
            self.out.write_all(segment.data.content())?;
        }
        Ok(())
    }

    fn progress(&mut self, fetcher: &Fetcher) -> bool {
        (self.watch)(&fetcher.progress())
    }
}
