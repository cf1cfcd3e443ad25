//! An object by its name, verified, into memory, a file or anything that can be written to.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use flow::verify::{
    AnchoredVerifier, IntegrityVerifier, ManifestVerifier, PublisherVerifier, Summary, Verifier,
};
use flow::{ControllerSpec, Discovery, FetchConfig, Fetcher, Progress, Segment, Verification, VerifiedFetch};
use packet::random::Random;
use packet::time::Instant;
use packet::{Dialect, Name};
use system::Clock;
use trust::policy::Rules;
use trust::{Certificate, Policy, PublicKey, Validator, ValidatorLimits};

use crate::client::Client;
use crate::client::fetching::{FetchFailure, FetchOptions, Reader};

/// Bytes that an object may have that is fetched into memory, if nobody says otherwise.
const MAX_IN_MEMORY: u64 = 256 << 20;

/// Whom to believe. There is no default: whoever fetches says it.
pub struct Trust(Option<Box<dyn Verifier>>);

impl Trust {
    /// Anybody. What is damaged is refused: in NDN by its digest, without a look at signatures; in CCNx by
    /// its signature, and all of an object must be signed by one publisher.
    pub fn anybody() -> Self {
        Trust(None)
    }

    /// Whoever has the private half of `key`: for objects of CCNx.
    pub fn publisher(key: PublicKey) -> Self {
        Trust::verifier(Box::new(PublisherVerifier::new([key], Clock::seed())))
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

    /// Whoever has a chain of certificates up to one of `anchors` that `policy` allows.
    pub fn policy(policy: Policy, anchors: impl IntoIterator<Item = Certificate>) -> Self {
        let random = Random::from_seed(Clock::seed());
        let validator = Validator::new(policy, anchors, ValidatorLimits::default(), random);
        Trust::verifier(Box::new(AnchoredVerifier::new(validator)))
    }

    /// What `verifier` accepts.
    pub fn verifier(verifier: Box<dyn Verifier>) -> Self {
        Trust(Some(verifier))
    }

    /// The same for the object's manifest, and a hash for each segment: for objects of NDN that are published
    /// so.
    #[must_use]
    pub fn with_manifest(self) -> Self {
        let verifier = self.into_verifier(Dialect::Ndn);
        Trust::verifier(Box::new(ManifestVerifier::new(verifier, Clock::seed())))
    }

    fn into_verifier(self, dialect: Dialect) -> Box<dyn Verifier> {
        match (self.0, dialect) {
            (Some(verifier), _) => verifier,
            (None, Dialect::Ndn) => Box::new(IntegrityVerifier::new()),
            (None, Dialect::Ccnx) => Box::new(PublisherVerifier::new([], Clock::seed())),
        }
    }
}

impl std::fmt::Debug for Trust {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Trust").field(&self.0.as_ref().map(|verifier| verifier.summary())).finish()
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
pub struct Get<'a, C = &'a mut Client> {
    client: C,
    request: FetchRequest<'a>,
}

/// What is to be fetched, and how.
pub(crate) struct FetchRequest<'a> {
    name: Name,
    trust: Trust,
    config: FetchConfig,
    options: FetchOptions,
    max_bytes: Option<u64>,
    watch: Box<dyn FnMut(&Progress) -> bool + Send + 'a>,
}

impl Client {
    /// Fetches the object `name`, with or without its version, in the dialect of the connection, and believes
    /// whom `trust` names. What else comes over the connection meanwhile is answered by what is
    /// [attached](Client::serve), or kept for [`Client::next`].
    ///
    /// ```no_run
    /// use cairn_client::{Client, Remote, Trust};
    ///
    /// let mut client = Client::connect(&Remote::default_forwarder()?)?;
    /// let name = "/lab/file".parse()?;
    /// let (bytes, fetched) = client.get(&name, Trust::anybody()).into_memory()?;
    /// println!("{} bytes of {}: {}", bytes.len(), fetched.name, fetched.summary.text);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn get(&mut self, name: &Name, trust: Trust) -> Get<'_> {
        let dialect = self.connection.dialect();
        Get::new(self, name, trust, dialect)
    }
}

impl<'a, C> Get<'a, C> {
    pub(crate) fn new(client: C, name: &Name, trust: Trust, dialect: Dialect) -> Self {
        let config = FetchConfig {
            dialect,
            verification: Verification::Owner,
            discovery: Discovery::MetadataThenPrefix,
            ..FetchConfig::default()
        };
        let request = FetchRequest {
            name: name.clone(),
            trust,
            config,
            options: FetchOptions::default(),
            max_bytes: None,
            watch: Box::new(|_| true),
        };
        Get { client, request }
    }

    /// Who fetches, and what.
    #[cfg(feature = "async")]
    pub(crate) fn into_parts(self) -> (C, FetchRequest<'a>) {
        (self.client, self.request)
    }

    /// Limits what is kept in memory, if nobody else has.
    pub(crate) fn bounded(mut self) -> Self {
        self.request.max_bytes.get_or_insert(MAX_IN_MEMORY);
        self
    }

    /// Asks as fast as this controller allows, instead of CUBIC.
    pub fn controller(mut self, controller: ControllerSpec) -> Self {
        self.request.config.transfer.controller = controller;
        self
    }

    /// Works with `config`, but for who verifies, and the dialect, which is the connection's.
    pub fn config(mut self, config: FetchConfig) -> Self {
        let dialect = self.request.config.dialect;
        self.request.config = FetchConfig { dialect, verification: Verification::Owner, ..config };
        self
    }

    /// Goes about it as `options` say.
    pub fn options(mut self, options: FetchOptions) -> Self {
        self.request.options = options;
        self
    }

    /// Fails when more than so many bytes come. Without it any number may be written, and 256 MiB kept in
    /// memory.
    pub fn at_most(mut self, bytes: u64) -> Self {
        self.request.max_bytes = Some(bytes);
        self
    }

    /// Tells `watch` how far it is, now and then and at every signal; it says whether to go on. It must not
    /// call the client, which may be locked meanwhile.
    pub fn progress(mut self, watch: impl FnMut(&Progress) -> bool + Send + 'a) -> Self {
        self.request.watch = Box::new(watch);
        self
    }
}

impl Get<'_> {
    /// Fetches into memory.
    ///
    /// # Errors
    /// The object cannot be had, not be trusted, or is too large; the forwarder went away for too long.
    pub fn into_memory(self) -> Result<(Vec<u8>, Fetched), FetchFailure> {
        let mut bytes = Vec::new();
        let fetched = self.bounded().write_to(&mut bytes)?;
        Ok((bytes, fetched))
    }

    /// Fetches into a file, which takes the place of what is there when it is complete, and not before: until
    /// then it has `.part` behind its name.
    ///
    /// # Errors
    /// As [`Get::into_memory`]; the file cannot be written. What has come is removed then.
    pub fn into_file(self, path: impl AsRef<Path>) -> Result<Fetched, FetchFailure> {
        let part = PartFile::create(path.as_ref())?;
        let mut out = BufWriter::new(part.file.try_clone()?);
        let fetched = self.write_to(&mut out)?;
        out.flush()?;
        part.complete()?;
        Ok(fetched)
    }

    /// Fetches and writes to `out`, in order, what is verified.
    ///
    /// # Errors
    /// As [`Get::into_memory`]; `out` fails.
    pub fn write_to(self, out: &mut dyn Write) -> Result<Fetched, FetchFailure> {
        let Get { client, request } = self;
        let (options, (fetch, rest)) = (request.options, request.begin(client.now()));
        let mut writer = Writer { out, rest };
        let (fetch, outcome) = client.fetch(fetch, &mut writer, &options);
        writer.rest.fetched(&fetch, outcome)
    }
}

impl<'a> FetchRequest<'a> {
    #[cfg(feature = "async")]
    pub(crate) fn options(&self) -> FetchOptions {
        self.options
    }

    /// The fetch, and what is left to be seen to.
    pub(crate) fn begin(self, now: Instant) -> (VerifiedFetch, FetchMonitor<'a>) {
        let verifier = self.trust.into_verifier(self.config.dialect);
        let fetcher = Fetcher::new(self.name.clone(), self.config, now, Clock::seed());
        let max_bytes = self.max_bytes.unwrap_or(u64::MAX);
        let rest = FetchMonitor { name: self.name, watch: self.watch, bytes: 0, max_bytes };
        (VerifiedFetch::new(fetcher, verifier), rest)
    }
}

/// What whoever fetches has to see to while it goes on.
pub(crate) struct FetchMonitor<'a> {
    name: Name,
    watch: Box<dyn FnMut(&Progress) -> bool + Send + 'a>,
    bytes: u64,
    max_bytes: u64,
}

impl FetchMonitor<'_> {
    /// Counts what has come, as far as it may be kept.
    pub(crate) fn count(&mut self, segment: &Segment) -> io::Result<()> {
        self.bytes += segment.data.content().len() as u64;
        if self.bytes > self.max_bytes { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(()) }
    }

    /// Tells how far it is; says whether to go on.
    pub(crate) fn tell(&mut self, fetcher: &Fetcher) -> bool {
        (self.watch)(&fetcher.progress())
    }

    /// What was fetched.
    pub(crate) fn fetched(
        self,
        fetch: &VerifiedFetch,
        outcome: Result<(), FetchFailure>,
    ) -> Result<Fetched, FetchFailure> {
        if self.bytes > self.max_bytes {
            return Err(FetchFailure::TooLarge(self.max_bytes));
        }
        outcome?;
        let name = fetch.fetcher().object_name().unwrap_or(&self.name).clone();
        Ok(Fetched { name, bytes: self.bytes, summary: fetch.verifier().summary() })
    }
}

/// A file that is not whole yet. It goes unless it is completed.
///
/// No [`trust::whole_file::Replacement`]: a download lasts, so what it has is there to be seen under a name
/// that one knows, and who finds that name taken lets the other finish. What a power cut takes can be fetched
/// again. `cairn get` writes its parts itself: it leaves behind what has come, with notes beside it, goes on
/// with that another time, and takes the place of what an earlier run left.
pub(crate) struct PartFile {
    pub(crate) file: File,
    part: PathBuf,
    path: PathBuf,
    is_complete: bool,
}

impl PartFile {
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        let mut part = path.as_os_str().to_owned();
        part.push(".part");
        let part = PathBuf::from(part);
        // What stands there need not be ours: it is not followed and not overwritten.
        let file = OpenOptions::new().write(true).create_new(true).open(&part)?;
        Ok(PartFile { file, part, path: path.to_owned(), is_complete: false })
    }

    /// Puts it in its place.
    pub(crate) fn complete(mut self) -> io::Result<()> {
        std::fs::rename(&self.part, &self.path)?;
        self.is_complete = true;
        Ok(())
    }
}

impl Drop for PartFile {
    fn drop(&mut self) {
        if !self.is_complete {
            // There is nothing more to be said about it than what failed.
            let _ = std::fs::remove_file(&self.part);
        }
    }
}

struct Writer<'a, 'b> {
    out: &'b mut dyn Write,
    rest: FetchMonitor<'a>,
}

impl Reader for Writer<'_, '_> {
    fn segments(&mut self, segments: &[Segment]) -> io::Result<()> {
        for segment in segments {
            self.rest.count(segment)?;
            self.out.write_all(segment.data.content())?;
        }
        Ok(())
    }

    fn progress(&mut self, fetcher: &Fetcher) -> bool {
        self.rest.tell(fetcher)
    }
}
