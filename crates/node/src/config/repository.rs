//! Persistent repositories, as the configuration says them.

use std::path::PathBuf;

use flow::SpecError;
use formats::printable::printable_path;
use packet::ccnx::uri;
use packet::{Name, NameRef, NameScope};
use repo::ccnr::{Authority, CcnrConfig, GLOBAL_PREFIX};
use repo::eviction::{DeletionRule, ObjectEvictionSpec};
use repo::{Limits, StoreConfig};
use serde::{Deserialize, Serialize};
use trust::ccnx::publisher_key;

use super::ConfigError;
use super::cold::ColdSection;

/// A file with a key, or with the object that holds one, is smaller.
const MAX_ANCHOR_BYTES: u64 = 64 << 10;

/// A repository on a disk behind the content store: Data that passes by is kept in it, and Interests that the
/// content store has no answer for are answered from it.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct RepositorySection {
    /// The folder that it lies in, which is made if it is not there.
    pub path: PathBuf,
    /// Data is kept whose name begins with one of these.
    #[serde(default = "everything")]
    pub prefixes: Vec<String>,
    /// Data is not kept, nevertheless, whose name begins with one of these: what is of worth only at once.
    #[serde(default)]
    pub exclude: Vec<String>,
    /// Bytes that packets may take on the disk. When there are more, objects are deleted.
    #[serde(default = "default_bytes")]
    pub max_bytes: u64,
    /// Objects that may be kept.
    #[serde(default = "default_objects")]
    pub max_objects: u32,
    /// Segments that may be kept of one object.
    #[serde(default = "default_segments")]
    pub max_segments: u32,
    /// Objects that may be kept below one prefix of one component; left out, any number.
    pub max_objects_of_prefix: Option<u32>,
    /// Who is deleted: delete-queue, lru, lfu, gdsf, tiny-lfu, sieve or s3-fifo, with parameters.
    #[serde(default = "default_eviction")]
    pub eviction: String,
    /// The part of what is kept that one deletion frees at least, from 0 to 1.
    #[serde(default = "default_delete_part")]
    pub delete_part: f64,
    /// Packets of fewer bytes are not kept.
    #[serde(default)]
    pub min_packet_bytes: usize,
    /// Packets of more bytes are not kept; left out, all are.
    pub max_packet_bytes: Option<usize>,
    /// Data that is fresh for less than so many milliseconds is not kept.
    #[serde(default)]
    pub min_freshness_millis: u64,
    /// Interests that may wait for the disk at once; others go upstream.
    #[serde(default = "default_waiting")]
    pub max_waiting: usize,
    /// Milliseconds that an Interest waits for the disk before it goes upstream.
    #[serde(default = "default_timeout", alias = "patience_millis")]
    pub timeout_millis: u64,
    /// Clients of CCNx may hand over objects below these names (`ccnx:/…`), as to ccnr; left out, none.
    #[serde(default)]
    pub ccnx_namespaces: Vec<String>,
    /// Who may: `host`, applications on this host, or `anyone`.
    #[serde(default)]
    pub ccnx_clients: CcnxClients,
    /// Files with the public keys of publishers, or the objects that hold them: what they have signed is
    /// stored, whoever hands it over, and nothing else.
    #[serde(default)]
    pub ccnx_anchors: Vec<PathBuf>,
    /// The name (`ccnx:/…`) below which its policy is; left out, that of ccnr.
    pub ccnx_name: Option<String>,
    /// Where volumes go that the folder has no room for.
    pub cold: Option<ColdSection>,
}

/// Whose objects of CCNx are stored because somebody asks for that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CcnxClients {
    /// Those of applications on this host.
    #[default]
    Host,
    /// Everybody's.
    Anyone,
}

fn everything() -> Vec<String> {
    vec!["/".to_owned()]
}

fn default_bytes() -> u64 {
    8 << 30
}

fn default_objects() -> u32 {
    1 << 20
}

fn default_segments() -> u32 {
    1 << 20
}

fn default_eviction() -> String {
    "delete-queue".to_owned()
}

fn default_delete_part() -> f64 {
    0.25
}

fn default_waiting() -> usize {
    4096
}

fn default_timeout() -> u64 {
    100
}

impl RepositorySection {
    /// Who is deleted.
    ///
    /// # Errors
    /// There is no such policy, or it does not take such parameters.
    pub(crate) fn policy(&self) -> Result<ObjectEvictionSpec, ConfigError> {
        let bad = |error: SpecError| ConfigError::new(format!("repository.eviction: {error}"));
        self.eviction.parse().map_err(bad)
    }

    /// What it is for clients of CCNx; nothing if it is nothing.
    ///
    /// # Errors
    /// What is no name of CCNx.
    pub(crate) fn ccnr(&self) -> Result<Option<CcnrConfig>, ConfigError> {
        let name = |key: &str, text: &str| {
            let bad = |error| ConfigError::new(format!("repository.{key}: {text:?}: {error}"));
            uri::parse(text).map_err(bad)
        };
        if self.ccnx_namespaces.is_empty() {
            return match self.ccnx_anchors.first() {
                None => Ok(None),
                Some(_) => Err(ConfigError::new(
                    "repository.ccnx_anchors: without ccnx_namespaces nothing of CCNx is stored; give the names"
                        .to_owned(),
                )),
            };
        }
        let namespaces = self.ccnx_namespaces.iter().map(|text| name("ccnx_namespaces", text));
        let authority = self.authority()?;
        Ok(Some(CcnrConfig {
            global_prefix: name("ccnx_name", self.ccnx_name.as_deref().unwrap_or(GLOBAL_PREFIX))?,
            namespaces: namespaces.collect::<Result<_, _>>()?,
            authority,
        }))
    }

    /// Whose objects of CCNx are stored.
    fn authority(&self) -> Result<Authority, ConfigError> {
        let publisher = |path: &PathBuf| {
            let bad = |why: String| {
                ConfigError::new(format!("repository.ccnx_anchors: {}: {why}", printable_path(path)))
            };
            let read = trust::whole_file::read(path, MAX_ANCHOR_BYTES);
            let bytes = read.map_err(|error| bad(error.to_string()))?;
            publisher_key(&bytes).map_err(|error| bad(error.to_string()))
        };
        match (self.ccnx_clients, self.ccnx_anchors.is_empty()) {
            (CcnxClients::Host, true) => Ok(Authority::Host),
            (CcnxClients::Anyone, true) => Ok(Authority::Anyone),
            (CcnxClients::Host, false) => {
                self.ccnx_anchors.iter().map(publisher).collect::<Result<_, _>>().map(Authority::Publishers)
            }
            (CcnxClients::Anyone, false) => {
                let why = "repository.ccnx_anchors: with ccnx_clients = \"anyone\" they would mean nothing; \
                           leave one of the two out";
                Err(ConfigError::new(why.to_owned()))
            }
        }
    }

    /// How the store behaves, and which Data is kept.
    ///
    /// # Errors
    /// What makes no sense.
    pub(crate) fn understood(&self) -> Result<(StoreConfig, KeepRule), ConfigError> {
        let bad = |key: &str, why: String| ConfigError::new(format!("repository.{key}: {why}"));
        let names = |key: &str, given: &[String]| {
            let name = |text: &String| text.parse().map_err(|error| bad(key, format!("{text:?}: {error}")));
            given.iter().map(name).collect::<Result<Vec<Name>, _>>()
        };
        self.policy()?;
        self.ccnr()?;
        if !(0.0..=1.0).contains(&self.delete_part) {
            return Err(bad("delete_part", format!("{} does not lie between 0 and 1", self.delete_part)));
        }
        if self.max_bytes < MIN_BYTES {
            let why = format!("{} is too little to be of use; give it at least {MIN_BYTES}", self.max_bytes);
            return Err(bad("max_bytes", why));
        }
        for (key, value) in [
            ("max_objects", u64::from(self.max_objects)),
            ("max_segments", u64::from(self.max_segments)),
            ("max_objects_of_prefix", u64::from(self.max_objects_of_prefix.unwrap_or(u32::MAX))),
            ("max_waiting", self.max_waiting as u64),
            ("timeout_millis", self.timeout_millis),
            ("prefixes", self.prefixes.len() as u64),
        ] {
            if value == 0 {
                let why = "with none of them nothing would be kept or answered; give it at least 1, \
                           or leave it out for the default";
                return Err(bad(key, why.to_owned()));
            }
        }
        if self.max_packet_bytes.is_some_and(|most| most < self.min_packet_bytes.max(1)) {
            let why = format!("no packet has at least {} bytes and no more", self.min_packet_bytes);
            return Err(bad("max_packet_bytes", why));
        }
        if let Some(cold) = &self.cold {
            cold.place()?;
        }
        let limits = Limits {
            max_bytes: self.max_bytes,
            max_objects: self.max_objects,
            max_segments: self.max_segments,
            max_objects_of_prefix: self.max_objects_of_prefix.unwrap_or(u32::MAX),
            ..Limits::default()
        };
        let store = StoreConfig {
            holder: "a Cairn node".to_owned(),
            volume_bytes: volume_bytes(self.max_bytes, self.cold.is_some()),
            limits,
            deletion: DeletionRule { threshold_bytes: self.max_bytes, ratio: self.delete_part },
            ..StoreConfig::default()
        };
        let kept = KeepRule {
            prefixes: names("prefixes", &self.prefixes)?,
            excluded: names("exclude", &self.exclude)?,
            packet_bytes: self.min_packet_bytes..=self.max_packet_bytes.unwrap_or(usize::MAX),
            min_freshness: packet::time::Duration::from_millis(self.min_freshness_millis),
        };
        Ok((store, kept))
    }
}

/// How large volumes are. Each is a file that is kept open, and a process may have about a thousand of them:
/// a large repository has large volumes, some of which are mostly holes.
fn volume_bytes(max_bytes: u64, may_leave: bool) -> u64 {
    let most = if may_leave { MAX_COLD_VOLUME_BYTES } else { u64::MAX };
    (max_bytes / 8).clamp(16 << 20, 1 << 30).max(max_bytes / 256).min(most)
}

/// S3 takes 5 GiB by one request, and a volume may be larger than it should by a commit.
const MAX_COLD_VOLUME_BYTES: u64 = 4 << 30;
/// With less a volume would hold next to nothing.
const MIN_BYTES: u64 = 1 << 20;

/// Which Data a repository keeps.
#[derive(Clone, Debug)]
pub(crate) struct KeepRule {
    prefixes: Vec<Name>,
    excluded: Vec<Name>,
    packet_bytes: std::ops::RangeInclusive<usize>,
    min_freshness: packet::time::Duration,
}

impl KeepRule {
    /// Whether this Data is kept. What is for this host or this link alone never is, nor metadata: the store
    /// makes it from what it holds, and what has passed by is soon out of date.
    pub(crate) fn is_kept(&self, data: &packet::Data) -> bool {
        let name = data.name();
        let is_below = |prefix: &Name| prefix.as_ref().is_prefix_of(name);
        name.scope() == NameScope::Global
            && self.packet_bytes.contains(&data.wire().len())
            && data.freshness() >= self.min_freshness
            && self.prefixes.iter().any(is_below)
            && !self.excluded.iter().any(is_below)
            && !is_metadata(name)
    }
}

/// Whether this names metadata: the keyword, and behind it a version and a segment at most.
fn is_metadata(name: NameRef<'_>) -> bool {
    let above = name.component_count().saturating_sub(3);
    name.components().skip(above).any(|component| component == flow::naming::METADATA)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use packet::ccnx::Ticks;
    use packet::ndn::DataBuilder;
    use trust::ccnx::CcnxSigner;
    use trust::{KeyKind, PrivateKey};

    fn section(text: &str) -> RepositorySection {
        Config::read(&format!("[[repository]]\npath = 'x'\n{text}")).unwrap().repositories.remove(0)
    }

    #[test]
    fn what_is_kept_is_chosen_by_prefix_size_and_freshness() {
        let text = "prefixes = ['/a', '/b']\nexclude = ['/a/live']\nmin_packet_bytes = 40\n\
                    max_packet_bytes = 400\nmin_freshness_millis = 10";
        let (_, kept) = section(text).understood().unwrap();
        let is_kept = |uri: &str, bytes: usize, freshness: u64| {
            let freshness = packet::time::Duration::from_millis(freshness);
            let data = DataBuilder::new(uri.parse().unwrap()).freshness(freshness).content(vec![0; bytes]);
            kept.is_kept(&data.build_with_digest().unwrap())
        };
        assert!(is_kept("/a/x", 100, 10) && is_kept("/b", 100, 1000));
        assert!(!is_kept("/c", 100, 10) && !is_kept("/a/live/1", 100, 10));
        assert!(!is_kept("/a/x", 400, 10) && !is_kept("/a/x", 100, 9));
        let (_, all) = section("").understood().unwrap();
        let data = |uri: &str| DataBuilder::new(uri.parse().unwrap()).build_with_digest().unwrap();
        assert!(all.is_kept(&data("/x")));
        assert!(!all.is_kept(&data("/localhost/x")) && !all.is_kept(&data("/localhop/x")));
    }

    #[test]
    fn a_repository_of_any_size_has_few_hundred_volumes_and_one_with_a_cold_tier_none_that_s3_refuses() {
        let config = |text: &str| section(text).understood().unwrap().0;
        for (max_bytes, expected) in [(1 << 20, 16 << 20), (8_u64 << 30, 1 << 30), (256 << 30, 1 << 30)] {
            assert_eq!(config(&format!("max_bytes = {max_bytes}")).volume_bytes, expected);
        }
        let large = "max_bytes = 8000000000000";
        assert!(8_000_000_000_000 / config(large).volume_bytes <= 256);
        let cold = format!("{large}\n[repository.cold]\nhot_bytes = 1\nfolder = 'x'");
        assert!(config(&cold).volume_bytes < 5 << 30);
    }

    #[test]
    fn names_of_this_host_or_link_are_not_kept_in_ccnx_either() {
        let (_, all) = section("").understood().unwrap();
        let signer = CcnxSigner::new(PrivateKey::generate(KeyKind::Rsa).unwrap()).unwrap();
        for (name, is_kept) in [
            ("ccnx:/%C1.M.S.localhost/x", false),
            ("ccnx:/%C1.M.S.neighborhood/x", false),
            ("ccnx:/x/%C1.M.S.localhost", true),
        ] {
            let name = uri::parse(name).unwrap();
            let wire = signer.sign(&name, b"x", Ticks::from_unix(1_700_000_000, 0), |info| info).unwrap();
            let data = packet::Data::decode_ccnx(packet::Buffer::from(wire)).unwrap();
            assert_eq!(all.is_kept(&data), is_kept, "{name}");
        }
    }

    #[test]
    fn metadata_is_not_kept_and_what_only_lies_below_its_word_is() {
        let (_, all) = section("").understood().unwrap();
        for (uri, is_kept) in [
            ("/a/32=metadata", false),
            ("/a/32=metadata/v=1/seg=0", false),
            ("/a/metadata/v=1/seg=0", true),
            ("/a/32=metadata/b/v=1/seg=0", true),
        ] {
            let data = DataBuilder::new(uri.parse().unwrap()).build_with_digest().unwrap();
            assert_eq!(all.is_kept(&data), is_kept, "{uri}");
        }
    }

    #[test]
    fn what_makes_no_sense_is_refused_by_its_key() {
        for (text, expected) in [
            ("eviction = 'fifo'", "repository.eviction: there is no policy fifo; there are delete-queue"),
            ("delete_part = 1.5", "repository.delete_part: 1.5"),
            ("max_bytes = 10", "repository.max_bytes: 10"),
            ("prefixes = ['a']", "repository.prefixes: \"a\""),
            ("exclude = ['a']", "repository.exclude: \"a\""),
            ("max_objects = 0", "repository.max_objects: with none of them nothing would be kept"),
            ("max_segments = 0", "repository.max_segments: "),
            ("max_objects_of_prefix = 0", "repository.max_objects_of_prefix: "),
            ("max_waiting = 0", "repository.max_waiting: "),
            ("timeout_millis = 0", "repository.timeout_millis: "),
            ("patience_millis = 0", "repository.timeout_millis: "),
            ("prefixes = []", "repository.prefixes: "),
            ("ccnx_namespaces = ['a']", "repository.ccnx_namespaces: \"a\""),
            (
                "ccnx_anchors = ['/none']",
                "repository.ccnx_anchors: without ccnx_namespaces nothing of CCNx is stored",
            ),
            (
                "ccnx_namespaces = ['ccnx:/']\nccnx_anchors = ['/none']",
                "repository.ccnx_anchors: /none: No such",
            ),
            (
                "ccnx_namespaces = ['ccnx:/']\nccnx_anchors = ['/dev/zero']",
                "repository.ccnx_anchors: /dev/zero: it is no file",
            ),
            (
                "ccnx_namespaces = ['ccnx:/']\nccnx_anchors = ['x']\nccnx_clients = 'anyone'",
                "repository.ccnx_anchors: with ccnx_clients = \"anyone\" they would mean nothing",
            ),
            ("ccnx_namespaces = ['ccnx:/']\nccnx_name = 'a'", "repository.ccnx_name: \"a\""),
            (
                "[repository.cold]\nhot_bytes = 1",
                "repository.cold: give either folder, or endpoint and bucket",
            ),
            (
                "[repository.cold]\nhot_bytes = 1\nfolder = 'x'\nbucket = 'y'",
                "repository.cold: give either folder, or endpoint and bucket",
            ),
            ("min_packet_bytes = 9\nmax_packet_bytes = 8", "repository.max_packet_bytes: no packet has"),
        ] {
            let problem = section(text).understood().unwrap_err().to_string();
            assert!(problem.starts_with(expected), "{problem}");
        }
    }
}
