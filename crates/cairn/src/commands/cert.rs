//! `cairn cert`: certificates, asked for, issued, shown, published.

mod published;
mod renew;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Subcommand, ValueEnum};
use client::{Client, Clock};
use flow::source::{Packets, Server, ServerConfig};
use packet::random::Random;
use packet::time::Duration;
use packet::{Component, Name};
use serde_json::{Value, json};
use trust::certificate::{Issue, names, self_signed};
use trust::store::KeyStore;
use trust::text;
use trust::validator::{CertificateFetchError, Subject};
use trust::{Certificate, Policy, Revocation, RevocationReason, Signer, Validator, ValidatorLimits};

use self::published::{FetchArguments, PublishArguments};
use self::renew::{IssueRenewalsArguments, RenewArguments};
use super::key::valid_for;
use crate::tool::connect::ConnectArguments;
use crate::tool::interrupt::Interrupt;
use crate::tool::serving::serve_until;
use crate::tool::signing::StoreArguments;
use crate::tool::trusting::{certificates, revocations};
use crate::tool::units::duration;
use crate::tool::{ToolError, finish, output, write_output};

/// Ask for certificates, issue, show, check and publish them.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cairn cert export /lab -o root.cert                      the trust anchor, for everybody
  cairn cert request /lab/alice -o alice.req               Alice asks
  cairn cert sign alice.req --by /lab --issuer lab -o alice.cert   the lab certifies her
  cairn cert import alice.cert                             Alice uses it from now on
  cairn cert check alice.cert --anchor root.cert
  cairn cert list
  cairn cert show alice.cert
  cairn cert self-sign /lab --valid 20y                    a new certificate of an old key
  cairn cert delete /lab/alice/KEY/1/NA/v=1
  cairn cert revoke alice.cert -o alice.revoked            Alice's key was stolen
  cairn cert revoke alice.cert --by /lab -o alice.revoked  the lab takes its certificate back
  cairn cert serve /lab /lab/alice                         publish them, so that they can be fetched
  cairn cert publish-revocations revoked --by /lab         everybody who fetches /lab/REVOKED knows
  cairn cert fetch-revocations /lab/REVOKED --anchor root.cert -o revoked
  cairn cert renew                                         all that end soon
  cairn cert renew /lab/alice --anchor root.cert           by her issuer, who is elsewhere and runs:
  cairn cert issue-renewals --by /lab

Exit codes: 0 done; 1 failure; 2 wrong usage; 5 not trusted (check).")]
pub(crate) struct CertArguments {
    #[command(subcommand)]
    action: Action,
    #[command(flatten)]
    store: StoreArguments,
    #[command(flatten)]
    connect: ConnectArguments,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Show what is in certificates: in a file, or in the key store by name.
    Show {
        /// A file, or the name of a certificate, key or identity.
        what: String,
        /// As JSON.
        #[arg(long)]
        json: bool,
    },
    /// List the certificates in the key store.
    List {
        /// As JSON.
        #[arg(long)]
        json: bool,
    },
    /// Have a key sign a new certificate for itself, and make it the default.
    SelfSign {
        /// A key or identity.
        key: Name,
        /// How long it is valid.
        #[arg(long, value_name = "TIME", value_parser = duration, default_value = "20y")]
        valid: Duration,
    },
    /// Write a request for a certificate, to be signed by somebody else.
    Request {
        /// A key or identity.
        key: Name,
        /// Where to; standard output if it is left out.
        #[arg(long, short)]
        output: Option<PathBuf>,
    },
    /// Issue a certificate for a request, or for a certificate that its own key signed.
    Sign(SignArguments),
    /// Import certificates of keys in the store. The first that somebody else issued becomes the key's
    /// default.
    Import {
        /// The file; - for standard input.
        file: PathBuf,
    },
    /// Write a certificate to a file.
    Export {
        /// A certificate, or a key or identity, whose default certificate is meant.
        name: Name,
        /// Where to; standard output if it is left out.
        #[arg(long, short)]
        output: Option<PathBuf>,
        /// The form.
        #[arg(long, short, value_enum, default_value = "base64")]
        format: CertFormat,
    },
    /// Write a record that revokes a certificate: by its own key every certificate of the key, by the key of
    /// its issuer this one alone. It counts where it is put (`--revocations` of tools, `revocations` below
    /// `[management]` of a node), and where a list is fetched that it stands in: see publish-revocations.
    Revoke(RevokeArguments),
    /// Delete a certificate.
    Delete {
        /// Its name.
        name: Name,
    },
    /// Check whether certificates lead up to a trust anchor, without asking the network.
    Check {
        /// The file with the certificate.
        file: PathBuf,
        /// A file with trust anchors.
        #[arg(long, required = true)]
        anchor: Vec<PathBuf>,
        /// Files with certificates that may lie between.
        #[arg(long)]
        with: Vec<PathBuf>,
        /// A file with records of revoked keys and certificates.
        #[arg(long, value_name = "FILE")]
        revocations: Vec<PathBuf>,
    },
    /// Publish certificates from the key store until Ctrl-C, so that others can fetch them.
    Serve {
        /// Identities, keys or certificates; all that are in the store if none is named.
        name: Vec<Name>,
    },
    /// Publish records of revoked keys until Ctrl-C, as a list that is signed anew every so often. Nodes
    /// fetch it (`revocations_from` below `[management]`), and `get` and `peek` (`--revocations-from`).
    PublishRevocations(PublishArguments),
    /// Fetch such a list, verify it, and add what is new in it to a file with records.
    FetchRevocations(FetchArguments),
    /// Renew certificates that end soon: by the key itself if it signed them, by the issuer's key if it is in
    /// the store, and otherwise by asking the issuer over the network.
    Renew(RenewArguments),
    /// Renew certificates that a key has issued, for whoever has the key of one that still counts, until
    /// Ctrl-C.
    IssueRenewals(IssueRenewalsArguments),
}

#[derive(Debug, Args)]
struct SignArguments {
    /// The file with the request.
    request: PathBuf,
    /// Who signs: a key or identity in the store.
    #[arg(long)]
    by: Name,
    /// The issuer id in the certificate's name.
    #[arg(long, default_value = "NA")]
    issuer: String,
    /// How long it is valid.
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "365d")]
    valid: Duration,
    /// Where to; standard output if it is left out.
    #[arg(long, short)]
    output: Option<PathBuf>,
    /// The form.
    #[arg(long, short, value_enum, default_value = "base64")]
    format: CertFormat,
}

#[derive(Debug, Args)]
struct RevokeArguments {
    /// The file with the certificate.
    certificate: PathBuf,
    /// Who revokes it: a key or identity in the store; the certificate's own key if it is left out.
    #[arg(long)]
    by: Option<Name>,
    /// Why: unspecified, key-compromise, issuer-compromise or superseded.
    #[arg(long, default_value = "key-compromise", value_parser = reason)]
    reason: RevocationReason,
    /// Where to; standard output if it is left out.
    #[arg(long, short)]
    output: Option<PathBuf>,
}

fn reason(word: &str) -> Result<RevocationReason, String> {
    let known = RevocationReason::WORDS.iter().find(|(other, _)| *other == word);
    let words = RevocationReason::WORDS.map(|(word, _)| word).join(", ");
    known.map(|(_, reason)| *reason).ok_or_else(|| format!("there are {words}"))
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum CertFormat {
    /// As ndnsec writes and reads it.
    Base64,
    /// As ndnd writes and reads it.
    Pem,
    /// The bare packet.
    Raw,
}

impl CertFormat {
    fn encode(self, certificate: &Certificate) -> Vec<u8> {
        let wire = certificate.data().wire();
        match self {
            CertFormat::Base64 => text::to_base64(wire).into_bytes(),
            CertFormat::Pem => {
                let signer = certificate.signer().map(|name| name.to_string()).unwrap_or_default();
                let headers = [
                    ("Name", certificate.name().to_string()),
                    ("SignerKey", signer),
                    ("Validity", certificate.validity().to_string()),
                ];
                text::to_pem(text::CERTIFICATE_LABEL, &headers, wire).into_bytes()
            }
            CertFormat::Raw => wire.to_vec(),
        }
    }
}

impl CertArguments {
    pub(crate) fn run(&self) -> ExitCode {
        finish(self.act())
    }

    fn act(&self) -> Result<ExitCode, ToolError> {
        if let Action::Check { file, anchor, with, revocations } = &self.action {
            return check(file, &Evidence { anchors: anchor, revocations, with });
        }
        if let Action::FetchRevocations(arguments) = &self.action {
            return arguments.fetch(&mut self.connect.client()?);
        }
        let store = self.store.open();
        if let Action::Show { what, json } = &self.action {
            return show(what, store, *json);
        }
        let store = store?;
        match &self.action {
            Action::List { json } => list(&store, *json)?,
            Action::SelfSign { key, valid } => {
                let found = store.find(key)?;
                let now = Clock::start().unix();
                let made = self_signed(&found.key, &found.name, names::SELF, now, valid_for(now, *valid))?;
                store.add_certificate(&made)?;
                store.set_default(&made.name().to_name())?;
                output::line(made.name())?;
            }
            Action::Request { key, output } => {
                let found = store.find(key)?;
                let now = Clock::start().unix();
                let validity = valid_for(now, Duration::from_secs(10 * 86_400));
                let request = self_signed(&found.key, &found.name, names::REQUEST, now, validity)?;
                write_output(output.as_deref(), &CertFormat::Base64.encode(&request), false)?;
            }
            Action::Sign(arguments) => arguments.sign(&store)?,
            Action::Revoke(arguments) => arguments.revoke(&store)?,
            Action::Import { file } => {
                for certificate in certificates(file)? {
                    store.add_certificate(&certificate)?;
                    output::line(certificate.name())?;
                }
            }
            Action::Export { name, output, format } => {
                let found = store.find(name)?;
                let certificate = found
                    .default_certificate
                    .ok_or_else(|| ToolError::other(format!("{} has no certificate", found.name)))?;
                write_output(output.as_deref(), &format.encode(&certificate), false)?;
            }
            Action::Delete { name } if names::is_certificate_name(name.as_ref()) => store.delete(name)?,
            Action::Delete { name } => {
                return Err(ToolError::other(format!("{name} is no certificate: see `cairn key delete`")));
            }
            Action::Serve { name } => serve(&store, name, &mut self.connect.client()?)?,
            Action::PublishRevocations(arguments) => {
                arguments.publish(&store, &mut self.connect.client()?)?;
            }
            Action::Renew(arguments) => return arguments.renew(&store, &self.connect),
            Action::IssueRenewals(arguments) => arguments.serve(&store, &mut self.connect.client()?)?,
            Action::Show { .. } | Action::Check { .. } | Action::FetchRevocations(_) => {}
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl SignArguments {
    fn sign(&self, store: &KeyStore) -> Result<(), ToolError> {
        let issuer = store.find(&self.by)?;
        let now = Clock::start().unix();
        let issue = Issue {
            issuer_id: Component::generic(self.issuer.as_bytes()),
            version: now.as_millis(),
            validity: valid_for(now, self.valid),
        };
        let mut bytes = Vec::new();
        for request in certificates(&self.request)? {
            let issued = issue.certify_request(&request, &issuer.signer())?;
            tell!("issued {}", issued.name());
            bytes.extend(self.format.encode(&issued));
        }
        write_output(self.output.as_deref(), &bytes, false)
    }
}

impl RevokeArguments {
    fn revoke(&self, store: &KeyStore) -> Result<(), ToolError> {
        let mut text = String::new();
        for certificate in certificates(&self.certificate)? {
            let by = self.by.clone().unwrap_or_else(|| certificate.to_key_name());
            let found = store.find(&by)?;
            let issuer = certificate.signer().and_then(names::key_of);
            let may = [Some(certificate.key_name()), issuer].contains(&Some(found.name.as_ref()));
            if !may {
                let (by, name) = (&found.name, certificate.name());
                return Err(ToolError::other(format!("{by} neither owns nor issued {name}")));
            }
            let signer = Signer::new(found.key.clone(), found.name.clone());
            let record = Revocation::issue(&certificate, &signer, Clock::start().unix(), self.reason)
                .map_err(|error| ToolError::other(error.to_string()))?;
            tell!("revoked {}", record.certificate());
            let headers = [("Name", record.data().name().to_string())];
            text.push_str(&text::to_pem(REVOCATION_LABEL, &headers, record.data().wire()));
        }
        write_output(self.output.as_deref(), text.as_bytes(), false)
    }
}

/// What a PEM block with a record is called.
const REVOCATION_LABEL: &str = "NDN REVOCATION";

fn describe(certificate: &Certificate) -> Value {
    json!({
        "name": certificate.name().to_string(),
        "identity": certificate.identity().to_string(),
        "key": certificate.key_name().to_string(),
        "issuer_id": certificate.issuer_id().to_string(),
        "kind": certificate.public_key().kind().to_string(),
        "not_before": certificate.validity().not_before.to_string(),
        "not_after": certificate.validity().not_after.to_string(),
        "valid_now": certificate.validity().contains(Clock::start().unix()),
        "signer": certificate.signer().map(|name| name.to_string()),
        "self_signed": certificate.is_self_signed(),
        "key_digest": packet::hex::encode(&certificate.public_key().digest()),
    })
}

fn show(what: &str, store: Result<KeyStore, ToolError>, as_json: bool) -> Result<ExitCode, ToolError> {
    let found = if Path::new(what).exists() || what == "-" {
        certificates(Path::new(what))?
    } else {
        let name: Name = what
            .parse()
            .map_err(|error| ToolError::other(format!("{what} is neither a file nor a name: {error}")))?;
        store?.find(&name)?.default_certificate.into_iter().collect()
    };
    let described: Vec<Value> = found.iter().map(describe).collect();
    if as_json {
        output::json(&json!(described))?;
        return Ok(ExitCode::SUCCESS);
    }
    for value in &described {
        for (key, value) in value.as_object().into_iter().flatten() {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            output::line(format_args!("{:<12} {}", key.replace('_', " "), output::printable(&text)))?;
        }
        output::line("")?;
    }
    Ok(ExitCode::SUCCESS)
}

fn list(store: &KeyStore, as_json: bool) -> Result<(), ToolError> {
    let all = all_certificates(store, &[])?;
    if as_json {
        return Ok(output::json(&json!(all.iter().map(describe).collect::<Vec<_>>()))?);
    }
    let row = |certificate: &Certificate| {
        let validity = certificate.validity();
        vec![
            certificate.name().to_string(),
            certificate.public_key().kind().to_string(),
            validity.not_after.to_string(),
        ]
    };
    let rows: Vec<Vec<String>> = all.iter().map(row).collect();
    Ok(output::table(&["CERTIFICATE", "KIND", "VALID UNTIL"], &rows)?)
}

/// The certificates of the named identities, keys and certificates; all if there are none.
fn all_certificates(store: &KeyStore, named: &[Name]) -> Result<Vec<Certificate>, ToolError> {
    let mut found = Vec::new();
    for identity in store.identities()? {
        for key in store.keys(&identity)? {
            for certificate in store.certificates(&key)? {
                let is_named =
                    |name: &Name| *name == identity || *name == key || name.as_ref() == certificate.name();
                if named.is_empty() || named.iter().any(is_named) {
                    found.push(certificate);
                }
            }
        }
    }
    if found.is_empty() && !named.is_empty() {
        return Err(ToolError::other("none of these has a certificate in the key store"));
    }
    Ok(found)
}

/// The files by which certificates are checked.
struct Evidence<'a> {
    anchors: &'a [PathBuf],
    revocations: &'a [PathBuf],
    /// Certificates that may lead up to an anchor.
    with: &'a [PathBuf],
}

fn check(file: &Path, evidence: &Evidence<'_>) -> Result<ExitCode, ToolError> {
    let mut trusted = Vec::new();
    for path in evidence.anchors {
        trusted.extend(certificates(path)?);
    }
    let mut known = Vec::new();
    for path in evidence.with {
        known.extend(certificates(path)?);
    }
    let now = Clock::start().unix();
    let random = Random::from_seed(Clock::seed());
    let mut validator = Validator::new(Policy::Hierarchical, trusted, ValidatorLimits::default(), random);
    validator.set_revocations(revocations(evidence.revocations)?);
    let mut all_trusted = true;
    for certificate in certificates(file)? {
        let name = certificate.name().to_string();
        if !certificate.validity().contains(now) {
            tell!("{name}: refused: it is valid from {}", certificate.validity());
            all_trusted = false;
            continue;
        }
        validator.validate(now, Subject::Data(certificate.data().clone()));
        let mut missing = None;
        while let Some(asked) = validator.poll_interest() {
            match known.iter().find(|known| asked.name().is_prefix_of(known.name())) {
                Some(known) => {
                    validator.handle_data(now, known.data());
                }
                None => {
                    missing = Some(asked.name().to_string());
                    validator.handle_failure(asked.name(), CertificateFetchError::Unsendable);
                }
            }
        }
        match validator.poll_outcome().map(|outcome| outcome.verdict) {
            Some(Ok(signer)) => output::line(format_args!("{name}: trusted, signed by {}", signer.name()))?,
            Some(Err(refusal)) => {
                match missing {
                    Some(signer) => tell!(
                        "{name}: refused: it leads to {signer}, which is neither an anchor nor in a file that --with names"
                    ),
                    None => tell!("{name}: refused: {refusal}"),
                }
                all_trusted = false;
            }
            None => all_trusted = false,
        }
    }
    Ok(if all_trusted { ExitCode::SUCCESS } else { ExitCode::from(5) })
}

fn serve(store: &KeyStore, named: &[Name], client: &mut Client) -> Result<(), ToolError> {
    let interrupt = Interrupt::catch()?;
    let found = all_certificates(store, named)?;
    let mut keys: Vec<Name> = found.iter().map(Certificate::to_key_name).collect();
    keys.sort();
    keys.dedup();
    for key in &keys {
        client.register(key)?;
    }
    for certificate in &found {
        output::line(format_args!("serving {}", certificate.name()))?;
    }
    // Of those that fit the latest, for versions grow.
    let source = Packets::new(found.iter().map(|certificate| certificate.data().clone()));
    let mut server = Server::new(source, ServerConfig::default(), client.now());
    serve_until(client, &mut server, &interrupt, |_, _| true)
}
