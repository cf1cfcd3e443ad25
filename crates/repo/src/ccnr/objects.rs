//! Objects that a repository of CCNx makes: what it answers to commands, its policy, and where that is.
use packet::ccnx::management::{Link, RepositoryInfo};
use packet::ccnx::{ContentKind, SignedInfo, Ticks, markers};
use packet::{Component, Data, DecodeError, Name, Now};
use trust::SignError;
use trust::ccnx::CcnxSigner;

use super::policy::Policy;

/// The formats and the version that ccnr names.
const INFO_FORMAT: &str = "1.1";
const REPOSITORY_VERSION: &str = "2.0";
/// How long answers count as fresh, in seconds.
const INFO_FRESHNESS: u32 = 12;
/// The same of what is listed.
const LISTING_FRESHNESS: u32 = 60;
/// Where the policy is told of, below the mark for services of this host.
const SERVICE: &[u8] = b"repository";
const POLICY: &[u8] = b"POLICY";
const LABEL: &str = "Repository Policy";

/// Makes and signs them.
#[derive(Debug)]
pub(super) struct Objects {
    signer: CcnxSigner,
}

impl Objects {
    pub(super) fn new(signer: CcnxSigner) -> Self {
        Objects { signer }
    }

    /// The digest of its key.
    pub(super) fn key(&self) -> &[u8; 32] {
        self.signer.publisher()
    }

    /// RepositoryInfo under the name that was asked for; with the name of the packet if that is stored.
    pub(super) fn info(
        &self,
        now: Now,
        asked: &Name,
        policy: &Policy,
        stored: Option<&Name>,
    ) -> Result<Data, SignError> {
        let info = RepositoryInfo {
            version: INFO_FORMAT,
            kind: if stored.is_some() { "DATA" } else { "INFO" },
            repository_version: REPOSITORY_VERSION,
            global_prefix: (&policy.global_prefix).into(),
            local_name: &policy.local_name,
            name: stored.map(Into::into),
            info: None,
        };
        let content = info.encode().map_err(cannot)?;
        self.sign(now, asked, &content, |info| SignedInfo { freshness_seconds: Some(INFO_FRESHNESS), ..info })
    }

    /// A segment of a listing.
    pub(super) fn listing(
        &self,
        now: Now,
        name: &Name,
        content: &[u8],
        last: Option<&[u8]>,
    ) -> Result<Data, SignError> {
        self.sign(now, name, content, |info| SignedInfo {
            freshness_seconds: Some(LISTING_FRESHNESS),
            final_block_id: last,
            ..info
        })
    }

    /// The object of a policy, and the link to it.
    pub(super) fn policy(&self, now: Now, policy: &Policy) -> Result<[Data; 2], SignError> {
        let target = policy.name().map_err(cannot)?;
        let only = markers::segment(0);
        let key = [markers::KEY_DIGEST, self.key()].concat();
        let version = markers::version(policy.version);
        let place = [markers::LOCALHOST, markers::SERVICE, SERVICE, POLICY, &key, &version, &only];
        let place = place.into_iter().map(Component::generic);
        let place = Name::from_components(place).map_err(cannot)?;
        let link = Link { name: (&target).into(), label: Some(LABEL), authenticator: None };
        let link = link.encode().map_err(cannot)?;
        let object = target.with(Component::generic(&only)).map_err(cannot)?;
        let whole = |info| SignedInfo { final_block_id: Some(&only), ..info };
        Ok([
            self.sign(now, &object, &policy.encode(), whole)?,
            self.sign(now, &place, &link, |info| SignedInfo {
                kind: Some(ContentKind::Link),
                ..whole(info)
            })?,
        ])
    }

    fn sign<'a>(
        &'a self,
        now: Now,
        name: &'a Name,
        content: &'a [u8],
        complete: impl FnOnce(SignedInfo<'a>) -> SignedInfo<'a>,
    ) -> Result<Data, SignError> {
        self.signer.sign_data(name, content, Ticks::from(now.unix), complete)
    }
}

/// The prefix below which the policy is told of.
pub(super) fn service_prefix() -> Result<Name, DecodeError> {
    let place = [markers::LOCALHOST, markers::SERVICE, SERVICE].into_iter().map(Component::generic);
    Name::from_components(place)
}

fn cannot(error: DecodeError) -> SignError {
    SignError::Encode(error.into())
}
