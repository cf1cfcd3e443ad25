//! `cairn cert renew` and `cairn cert issue-renewals`: certificates that go on before they end.
//!
//! What an issuer elsewhere is asked is an Interest `/<issuer's identity>/RENEW` with two packets as its
//! parameters, the certificate that ends and a request for the new one, signed with the key of the former.
//! The answer is a Data with the new certificate, or one of content type Nack that says why there is none.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use client::{Client, Clock, Event};
use flow::source::{Reply, Server, ServerConfig, Source, SourceError};
use node::management::{RevocationList, RevocationListError};
use packet::ndn::{DataBuilder, InterestBuilder};
use packet::random::Random;
use packet::time::Duration;
use packet::{Component, ContentType, Data, Interest, Name};
use trust::certificate::names::{identity_of, key_of};
use trust::certificate::{Issue, names, self_signed};
use trust::store::{KeyStore, StoredKey};
use trust::text::packets_in;
use trust::validator::{CertificateFetchError, Subject};
use trust::{
    Certificate, Freshness, Policy, PrivateKey, SignatureVerifier, Signer, UnixTime, Validator,
    ValidatorLimits, ValidityPeriod,
};

use super::all_certificates;
use crate::commands::key::valid_for;
use crate::tool::connect::ConnectArguments;
use crate::tool::interrupt::Interrupt;
use crate::tool::serving::serve_until;
use crate::tool::trusting::certificates;
use crate::tool::units::{duration, positive_duration};
use crate::tool::{ToolError, output};

/// What stands behind the issuer's identity in the name of a request for renewal.
const RENEW: Component<'static> = Component::generic(b"RENEW");
/// How long an answer is waited for.
const TIMEOUT: Duration = Duration::from_secs(4);
/// How far the time in a request may lie from that of the issuer.
const MAX_AGE_MS: u64 = 120_000;

#[derive(Debug, Args)]
pub(super) struct RenewArguments {
    /// Identities or keys whose default certificates are looked at; all in the store if none is named.
    name: Vec<Name>,
    /// How long before its end a certificate is renewed. Left out: when a third of its time is left.
    #[arg(long, value_name = "TIME", value_parser = duration)]
    before: Option<Duration>,
    /// Make a new key for the new certificate, which becomes the identity's default: whoever has stolen the
    /// old one has it until its own certificate ends.
    #[arg(long)]
    new_key: bool,
    /// A file with trust anchors, by which answers of issuers elsewhere are verified.
    #[arg(long, value_name = "FILE")]
    anchor: Vec<PathBuf>,
    /// Do not end, but look again after so long.
    #[arg(long, value_name = "TIME", value_parser = positive_duration)]
    every: Option<Duration>,
}

#[derive(Debug, Args)]
pub(super) struct IssueRenewalsArguments {
    /// Whose certificates are renewed: a key or identity in the store, which has issued them.
    #[arg(long, value_name = "KEY")]
    by: Name,
    /// How long new certificates are valid; as long as those that they follow if it is left out.
    #[arg(long, value_name = "TIME", value_parser = duration)]
    valid: Option<Duration>,
    /// A file with records of revoked keys and certificates, which are not renewed. It is read again when it
    /// has changed.
    #[arg(long, value_name = "FILE")]
    revocations: Option<PathBuf>,
}

/// The names of keys that are looked at, and by what answers of issuers are verified.
struct Renewal<'a> {
    arguments: &'a RenewArguments,
    store: &'a KeyStore,
    connect: &'a ConnectArguments,
    /// Made when somebody elsewhere must be asked.
    client: Option<Client>,
}

impl RenewArguments {
    pub(super) fn renew(&self, store: &KeyStore, connect: &ConnectArguments) -> Result<ExitCode, ToolError> {
        let interrupt = Interrupt::catch()?;
        let mut renewal = Renewal { arguments: self, store, connect, client: None };
        loop {
            let all_done = renewal.look_at_all()?;
            let Some(every) = self.every else {
                return Ok(if all_done { ExitCode::SUCCESS } else { ExitCode::FAILURE });
            };
            // A connection that stands still for days is none.
            renewal.client = None;
            let mut left = every;
            while left > Duration::ZERO {
                let step = left.min(Duration::from_millis(200));
                std::thread::sleep(std::time::Duration::from_nanos(step.as_nanos()));
                left = left.saturating_sub(step);
                if interrupt.came() {
                    return Ok(ExitCode::SUCCESS);
                }
            }
        }
    }

    /// Whether the time has come.
    fn is_due(&self, now: UnixTime, validity: ValidityPeriod) -> bool {
        let lifetime_ms = lifetime_secs(validity) * 1000;
        let before_ms = self.before.map_or(lifetime_ms / 3, Duration::as_millis);
        validity.not_after.as_millis().saturating_sub(now.as_millis()) <= before_ms
    }
}

impl Renewal<'_> {
    /// Renews what is due; whether all of that could be done.
    fn look_at_all(&mut self) -> Result<bool, ToolError> {
        let mut all_done = true;
        for name in self.keys()? {
            let found = self.store.find(&name)?;
            let Some(old) = found.default_certificate.clone() else { continue };
            if !self.arguments.is_due(Clock::start().unix(), old.validity()) {
                continue;
            }
            match self.renew(&found, &old) {
                Ok(renewed) => output::line(format_args!(
                    "renewed {}, valid until {}",
                    renewed.name(),
                    renewed.validity().not_after
                ))?,
                Err(error) => {
                    all_done = false;
                    tell!("cairn: {} is not renewed: {error}", old.name());
                }
            }
        }
        Ok(all_done)
    }

    fn keys(&self) -> Result<Vec<Name>, ToolError> {
        let mut keys = Vec::new();
        if self.arguments.name.is_empty() {
            // Of an identity only the key that it uses.
            for identity in self.store.identities()? {
                keys.push(self.store.default_key(&identity)?);
            }
        }
        for name in &self.arguments.name {
            keys.push(self.store.find(name)?.name);
        }
        Ok(keys)
    }

    fn renew(&mut self, found: &StoredKey, old: &Certificate) -> Result<Certificate, ToolError> {
        let now = Clock::start().unix();
        let (key, name) = if self.arguments.new_key {
            let identity = old.identity().to_name();
            let id = format!("{:016x}", Clock::seed());
            (
                PrivateKey::generate(found.key.kind())?,
                names::key_name(&identity, Component::generic(id.as_bytes()))?,
            )
        } else {
            (found.key.clone(), found.name.clone())
        };
        let validity = valid_for(now, Duration::from_secs(lifetime_secs(old.validity())));
        let issuer = old.signer().and_then(key_of).map(|issuer| issuer.to_name());
        let renewed = match issuer.as_ref().map(|issuer| self.store.find(issuer)) {
            _ if old.is_self_signed() => self_signed(&key, &name, names::SELF, now, validity)?,
            Some(Ok(issuer)) => {
                let issue = Issue { issuer_id: old.issuer_id(), version: now.as_millis(), validity };
                issue.certify(&name, &key.public_key()?, &issuer.signer())?
            }
            _ => {
                let request = self_signed(&key, &name, names::REQUEST, now, validity)?;
                self.ask_issuer(now, found, old, &request)?
            }
        };
        if self.arguments.new_key {
            self.store.add_key(&name, &key, Some(&renewed))?;
            self.store.set_default(&name)?;
        } else {
            self.store.add_certificate(&renewed)?;
        }
        self.store.set_default(&renewed.name().to_name())?;
        Ok(renewed)
    }

    fn ask_issuer(
        &mut self,
        now: UnixTime,
        found: &StoredKey,
        old: &Certificate,
        request: &Certificate,
    ) -> Result<Certificate, ToolError> {
        let mut anchors = Vec::new();
        for path in &self.arguments.anchor {
            anchors.extend(certificates(path)?);
        }
        if anchors.is_empty() {
            let what = "its issuer is elsewhere: name the anchor that its answer must lead up to (--anchor)";
            return Err(ToolError::other(what));
        }
        let issuer = old.signer().and_then(identity_of).unwrap_or(packet::NameRef::ROOT).to_name();
        let parameters = [old, request].map(|certificate| certificate.data().wire().to_vec()).concat();
        let mut random = Random::from_seed(Clock::seed());
        let interest = InterestBuilder::new(issuer.with(RENEW)?)
            .must_be_fresh(true)
            .lifetime(TIMEOUT)
            .nonce(random.next_u32())
            .application_parameters(parameters);
        let freshness = Freshness {
            nonce: Some(random.next_u64()),
            time_ms: Some(now.as_millis()),
            sequence_number: None,
        };
        let signer = Signer::new(found.key.clone(), old.name().to_name());
        let interest = signer.sign_interest(&interest, freshness)?;
        if self.client.is_none() {
            self.client = Some(self.connect.client()?);
        }
        let Some(client) = &mut self.client else { return Err(ToolError::other("there is no connection")) };
        let answer = ask(client, interest)?;
        if answer.ndn().is_some_and(|view| view.content_type() == ContentType::NACK) {
            let why = String::from_utf8_lossy(answer.content());
            return Err(ToolError::other(format!("{issuer} says: {}", output::printable(&why))));
        }
        let renewed = Certificate::decode(answer.content())?;
        let is_ours = renewed.key_name() == request.key_name()
            && renewed.public_key().spki() == request.public_key().spki();
        if !is_ours {
            return Err(ToolError::other(format!("{issuer} has answered with a certificate of another key")));
        }
        self.check_trusted(now, anchors, &renewed)?;
        Ok(renewed)
    }

    /// Whether a certificate leads up to an anchor, by way of those in the store.
    fn check_trusted(
        &self,
        now: UnixTime,
        anchors: Vec<Certificate>,
        renewed: &Certificate,
    ) -> Result<(), ToolError> {
        let known = all_certificates(self.store, &[])?;
        let random = Random::from_seed(Clock::seed());
        let mut validator = Validator::new(Policy::Hierarchical, anchors, ValidatorLimits::default(), random);
        validator.validate(now, Subject::Data(renewed.data().clone()));
        while let Some(asked) = validator.poll_interest() {
            match known.iter().find(|known| asked.name().is_prefix_of(known.name())) {
                Some(known) => drop(validator.handle_data(now, known.data())),
                None => validator.handle_failure(asked.name(), CertificateFetchError::Unsendable),
            }
        }
        match validator.poll_outcome().map(|outcome| outcome.verdict) {
            Some(Ok(_)) => Ok(()),
            Some(Err(refusal)) => Err(ToolError::other(format!("what was answered is refused: {refusal}"))),
            None => Err(ToolError::other("what was answered cannot be verified")),
        }
    }
}

/// Sends an Interest as it is, because it is signed, and waits for its Data.
fn ask(client: &mut Client, interest: Interest) -> Result<Data, ToolError> {
    let wanted = client.express_as_is(interest, TIMEOUT)?;
    loop {
        match client.next(None)? {
            Some(Event::Data { id, data, .. }) if id == wanted => return Ok(data),
            Some(Event::Nack { id, reason, .. }) if id == wanted => {
                return Err(ToolError::other(format!("the question to its issuer came back: {reason}")));
            }
            Some(Event::Timeout { id }) if id == wanted => {
                return Err(ToolError::other("its issuer does not answer"));
            }
            Some(_) => {}
            None => return Err(ToolError::other("interrupted")),
        }
    }
}

fn lifetime_secs(validity: ValidityPeriod) -> u64 {
    validity.not_after.as_millis().saturating_sub(validity.not_before.as_millis()) / 1000
}

impl IssueRenewalsArguments {
    pub(super) fn serve(&self, store: &KeyStore, client: &mut Client) -> Result<(), ToolError> {
        let interrupt = Interrupt::catch()?;
        let issuer = store.find(&self.by)?;
        let certificate = issuer.default_certificate.clone();
        let certificate =
            certificate.ok_or_else(|| ToolError::other(format!("{} has no certificate", issuer.name)))?;
        let revocations = match &self.revocations {
            Some(path) => RevocationList::in_file(path).map_err(|error| unreadable(path, &error))?,
            None => RevocationList::default(),
        };
        let prefix = certificate.identity().to_name().with(RENEW)?;
        client.register(&prefix)?;
        output::line(format_args!("renewing at {prefix}"))?;
        let clock = client.connection().clock();
        let source = Issuer { issuer, certificate, prefix, valid: self.valid, revocations, clock };
        let mut server = Server::new(source, ServerConfig::default(), client.now());
        serve_until(client, &mut server, &interrupt, |_, _| true)
    }
}

fn unreadable(path: &Path, error: &RevocationListError) -> ToolError {
    ToolError::other(format!("{}: {error}", formats::printable::printable_path(path)))
}

/// Renews certificates that it has issued.
struct Issuer {
    issuer: StoredKey,
    certificate: Certificate,
    prefix: Name,
    valid: Option<Duration>,
    revocations: RevocationList,
    clock: Clock,
}

impl Issuer {
    /// The new certificate, or in words why there is none.
    fn issue(&self, interest: &Interest) -> Result<Certificate, String> {
        let now = self.clock.unix();
        let view = interest.ndn().ok_or("it is no Interest of NDN")?;
        let parameters = view.application_parameters().ok_or("it has no parameters")?;
        let packets = packets_in(parameters).map_err(|error| error.to_string())?;
        let [old, request] = &packets[..] else {
            return Err("its parameters are not a certificate and a request".to_owned());
        };
        let [old, request] = [old, request].map(|packet| Certificate::decode(packet));
        let (old, request) = (old.map_err(|e| e.to_string())?, request.map_err(|e| e.to_string())?);
        let time_ms = view.signature_info().and_then(|info| info.time_ms).ok_or("it does not say when")?;
        if time_ms.abs_diff(now.as_millis()) > MAX_AGE_MS {
            return Err("its time is not now".to_owned());
        }
        let own = self.issuer.key.public_key().map_err(|error| error.to_string())?;
        let is_own = SignatureVerifier::new(own).verify_data(old.data()).is_ok();
        if !is_own || old.is_self_signed() {
            return Err(format!("{} was not issued here", old.name()));
        }
        if !old.validity().contains(now) {
            return Err(format!("{} is valid from {}, and not now", old.name(), old.validity()));
        }
        if self.revocations.current().find(&old, Some(&self.certificate)).is_some() {
            return Err(format!("{} is revoked", old.name()));
        }
        old.verifier().verify_interest(interest).map_err(|error| format!("its signature: {error}"))?;
        if request.identity() != old.identity() {
            return Err(format!("{} is not the identity of {}", request.identity(), old.name()));
        }
        let lifetime = self.valid.unwrap_or(Duration::from_secs(lifetime_secs(old.validity())));
        let issue = Issue {
            issuer_id: old.issuer_id(),
            version: now.as_millis(),
            validity: valid_for(now, lifetime),
        };
        issue.certify_request(&request, &self.issuer.signer()).map_err(|error| error.to_string())
    }
}

impl Source for Issuer {
    fn answer(&mut self, interest: &Interest) -> Result<Reply, SourceError> {
        if !self.prefix.as_ref().is_prefix_of(interest.name()) || interest.can_be_prefix() {
            return Ok(Reply::NotMine);
        }
        let data = DataBuilder::new(interest.name().to_name()).freshness(Duration::from_millis(1));
        let data = match self.issue(interest) {
            Ok(certificate) => {
                tell!("renewed {}", certificate.name());
                data.content(certificate.data().wire().to_vec())
            }
            Err(why) => {
                tell!("refused: {}", output::printable(&why));
                data.content_type(ContentType::NACK).content(why.into_bytes())
            }
        };
        Ok(Reply::matching(interest, self.issuer.signer().sign_data(&data)?))
    }
}
