//! What packets cost a forwarder on some machine: measured by `cairn lab calibrate`, used by virtual time.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::model::File;
use super::plan::LinkKind;
use super::read::findings::Findings;
use super::read::named_files::Files;

/// What the packets of one exchange cost a forwarder, in microseconds of a processor.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PacketCost {
    /// The Interest, where it comes while the forwarder is at work.
    pub interest_us: f64,
    /// The Data packet, without its content, where it comes so.
    pub data_us: f64,
    /// What each kilobyte (1,000 bytes) of content adds to that.
    pub data_us_per_kilobyte: f64,
    /// What an Interest costs more that finds the forwarder asleep: pairs of for how many milliseconds it has
    /// done nothing for Interests, and microseconds. Between them it is a line, beyond them what it is at the
    /// ends. Where nothing is said, waking costs nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waking: Vec<[f64; 2]>,
    /// The same of Data with 4,096 bytes of content, by for how long nothing was done for Data. As much as
    /// for an Interest where nothing is said.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub data_waking: Vec<[f64; 2]>,
    /// What each kilobyte of content beyond 4,096 bytes adds to that, or takes off.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub data_waking_us_per_kilobyte: f64,
    /// What each frame of Data adds but the first, where a slow link brings them one by one and the forwarder
    /// has to look at each. Over a fast link they come together.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub frame_us: f64,
}

fn is_nothing(cost: &f64) -> bool {
    *cost == 0.0
}

/// The content of the Data whose waking is measured.
const WAKING_CONTENT_BYTES: u32 = 4096;

/// What waking costs after so many milliseconds, in microseconds.
pub(crate) fn on_curve(points: &[[f64; 2]], slept_ms: f64) -> f64 {
    let above = points.partition_point(|[slept, _]| *slept <= slept_ms);
    let below = above.checked_sub(1).and_then(|below| points.get(below));
    match (below, points.get(above)) {
        (None, None) => 0.0,
        (Some([_, cost]), None) | (None, Some([_, cost])) => *cost,
        (Some([from, low]), Some([to, high])) => low + (high - low) * (slept_ms - from) / (to - from),
    }
}

impl PacketCost {
    /// What an Interest and Data with so much content cost more for which the forwarder has slept so long.
    #[must_use]
    pub fn waking_us(&self, slept_ms: f64, content_bytes: u32) -> [f64; 2] {
        let interest = on_curve(&self.waking, slept_ms);
        if self.data_waking.is_empty() {
            return [interest; 2];
        }
        let kilobytes = (f64::from(content_bytes) - f64::from(WAKING_CONTENT_BYTES)) / 1e3;
        let data = on_curve(&self.data_waking, slept_ms) + self.data_waking_us_per_kilobyte * kilobytes;
        [interest, data.max(0.0)]
    }

    /// A Data packet with so much content.
    #[must_use]
    pub fn data_with(&self, content_bytes: u32) -> f64 {
        self.data_us + self.data_us_per_kilobyte * f64::from(content_bytes) / 1e3
    }
}

/// What packets of one kind of link cost, in microseconds of a processor.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkCost {
    /// An Interest that comes from a neighbour and goes to another.
    pub interest_us: f64,
    /// Data that comes from a neighbour and goes to another, without its content.
    pub data_us: f64,
    /// What each kilobyte (1,000 bytes) of content adds to that.
    pub data_us_per_kilobyte: f64,
    /// What waking the forwarder up costs such an Interest, as in [`PacketCost::waking`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waking: Vec<[f64; 2]>,
    /// And such Data, as in [`PacketCost::data_waking`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub data_waking: Vec<[f64; 2]>,
    /// As in [`PacketCost::data_waking_us_per_kilobyte`].
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub data_waking_us_per_kilobyte: f64,
    /// As in [`PacketCost::frame_us`].
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub frame_us: f64,
    /// An Interest of a neighbour for 4 KiB that the content store answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_hit_us: Option<f64>,
    /// What such an Interest costs more that finds the forwarder asleep, as in [`PacketCost::waking`]. Waking
    /// costs it what it costs others where nothing is said.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cache_hit_waking: Vec<[f64; 2]>,
    /// What each kilobyte of content costs more where a content store takes it in: memory that was not used
    /// before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub store_us_per_kilobyte: Option<f64>,
    /// How long a packet waits that comes while the forwarder sleeps, until it begins with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_us: Option<f64>,
    /// At a consumer's forwarder: what comes from an application and what goes to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consumer: Option<PacketCost>,
    /// At a producer's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub producer: Option<PacketCost>,
}

impl LinkCost {
    /// The same for applications as between neighbours, and nothing of a content store.
    #[must_use]
    pub fn forwarding(cost: PacketCost) -> Self {
        LinkCost {
            interest_us: cost.interest_us,
            data_us: cost.data_us,
            data_us_per_kilobyte: cost.data_us_per_kilobyte,
            waking: cost.waking,
            data_waking: cost.data_waking,
            data_waking_us_per_kilobyte: cost.data_waking_us_per_kilobyte,
            frame_us: cost.frame_us,
            ..LinkCost::default()
        }
    }

    /// Between two neighbours.
    #[must_use]
    pub fn forwarder(&self) -> PacketCost {
        PacketCost {
            interest_us: self.interest_us,
            data_us: self.data_us,
            data_us_per_kilobyte: self.data_us_per_kilobyte,
            waking: self.waking.clone(),
            data_waking: self.data_waking.clone(),
            data_waking_us_per_kilobyte: self.data_waking_us_per_kilobyte,
            frame_us: self.frame_us,
        }
    }

    /// At a consumer's forwarder; what was not measured costs what it does between neighbours.
    #[must_use]
    pub fn consumer(&self) -> PacketCost {
        self.consumer.clone().unwrap_or_else(|| self.forwarder())
    }

    /// At a producer's.
    #[must_use]
    pub fn producer(&self) -> PacketCost {
        self.producer.clone().unwrap_or_else(|| self.forwarder())
    }

    /// The same at a node with a content store, which takes all Data in.
    #[must_use]
    pub fn storing(&self) -> Self {
        let store = self.store_us_per_kilobyte.unwrap_or(0.0);
        self.of_roles(|role| PacketCost { data_us_per_kilobyte: role.data_us_per_kilobyte + store, ..role })
    }

    /// The same where so many frames of each Data packet come apart from the one before.
    #[must_use]
    pub(crate) fn with_frames_apart(&self, frames: f64) -> Self {
        self.of_roles(|role| PacketCost { data_us: role.data_us + role.frame_us * frames, ..role })
    }

    /// The same with other costs in each role that is known.
    fn of_roles(&self, change: impl Fn(PacketCost) -> PacketCost) -> Self {
        let changed = LinkCost::forwarding(change(self.forwarder()));
        LinkCost {
            consumer: self.consumer.clone().map(&change),
            producer: self.producer.clone().map(&change),
            cache_hit_us: self.cache_hit_us,
            cache_hit_waking: self.cache_hit_waking.clone(),
            store_us_per_kilobyte: self.store_us_per_kilobyte,
            latency_us: self.latency_us,
            ..changed
        }
    }
}

/// What a signature under one kind of key costs, in microseconds of a processor, for 4 KiB of content.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SignatureCost {
    /// To make it.
    pub sign_us: f64,
    /// To check it.
    pub verify_us: f64,
}

/// What it takes to decode packets of a dialect, in microseconds of a processor.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DialectCost {
    /// An Interest with two components and a nonce.
    pub interest_us: f64,
    /// Data with 4 KiB of content.
    pub data_us: f64,
}

/// What a repository takes for a segment of 4 KiB, in microseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DiskCost {
    /// Until it is durable, among others that one sync makes durable.
    pub insert_us: f64,
    /// To answer with it.
    pub answer_us: f64,
}

/// What verification costs, in microseconds of a processor.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct VerificationCost {
    /// For a signature.
    pub signature_us: f64,
    /// For each 1,024 bytes that are hashed.
    pub hashed_kibibyte_us: f64,
}

/// What packets cost on a machine.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// The machine, in words.
    pub machine: String,
    /// The program, in words: a build without optimisation has other costs.
    pub program: String,
    /// What a forwarder takes without packets, in percent of a core, its counters being asked for twice a
    /// second.
    #[serde(default)]
    pub idle_percent: f64,
    /// How late timers are: so much later than its delay a link lets a frame go.
    #[serde(default)]
    pub timer_us: f64,
    /// By kind of link: `udp`, `tcp`, `ether`.
    pub link: BTreeMap<String, LinkCost>,
    /// By kind of key.
    #[serde(default)]
    pub signature: BTreeMap<String, SignatureCost>,
    /// By dialect: `ndn`, `ccnx`.
    #[serde(default)]
    pub dialect: BTreeMap<String, DialectCost>,
    /// A repository's disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk: Option<DiskCost>,
}

impl Profile {
    /// The costs of a kind of link; those of `udp` where it was not measured.
    #[must_use]
    pub fn of(&self, kind: LinkKind) -> Option<LinkCost> {
        let name = match kind {
            LinkKind::Udp => "udp",
            LinkKind::Tcp => "tcp",
            LinkKind::Ether => "ether",
        };
        self.link.get(name).or_else(|| self.link.get("udp")).cloned()
    }

    /// What verification costs a consumer whose producers have Ed25519 keys; nothing when it was not
    /// measured.
    #[must_use]
    pub fn verification(&self) -> Option<VerificationCost> {
        let (signature, hash) = (self.signature.get("ed25519")?, self.signature.get("sha256")?);
        // Both are of 4 KiB, and whoever checks a signature hashes what is signed.
        let hashed_kibibyte_us = hash.verify_us / 4.0;
        Some(VerificationCost {
            signature_us: (signature.verify_us - hash.verify_us).max(0.0),
            hashed_kibibyte_us,
        })
    }

    /// Reads a profile.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let profile: Profile = toml::from_str(text).map_err(|error| error.message().to_owned())?;
        if profile.link.is_empty() {
            return Err("it has no costs of any kind of link".to_owned());
        }
        profile.link.iter().try_for_each(|(name, link)| check_link(name, link))?;
        for (kind, SignatureCost { sign_us, verify_us }) in &profile.signature {
            let place = format!("signature.{kind}");
            check_costs(&place, [("sign_us", *sign_us), ("verify_us", *verify_us)])?;
        }
        for (name, DialectCost { interest_us, data_us }) in &profile.dialect {
            let place = format!("dialect.{name}");
            check_costs(&place, [("interest_us", *interest_us), ("data_us", *data_us)])?;
        }
        if let Some(DiskCost { insert_us, answer_us }) = profile.disk {
            check_costs("disk", [("insert_us", insert_us), ("answer_us", answer_us)])?;
        }
        check_costs("profile", [("timer_us", profile.timer_us)])?;
        if !(0.0..=100.0).contains(&profile.idle_percent) {
            return Err("`idle_percent` is no part of a core".to_owned());
        }
        Ok(profile)
    }

    /// As a file, to be read again by [`Profile::parse`].
    ///
    /// # Errors
    ///
    /// When a number cannot be written.
    pub fn to_text(&self) -> Result<String, toml::ser::Error> {
        let head = "# What packets cost a forwarder on one machine, measured by `cairn lab calibrate`.\n";
        Ok(format!("{head}{}", toml::to_string(self)?))
    }
}

/// A cost as nanoseconds.
pub(super) fn nanos(cost_us: f64) -> u64 {
    let whole = Duration::try_from_secs_f64(cost_us / 1e6).unwrap_or_default();
    u64::try_from(whole.as_nanos()).unwrap_or(u64::MAX)
}

/// The profile that a file names; a mistake when it cannot be read.
pub(super) fn named(file: &File, files: &Files, f: &mut Findings) -> Option<Profile> {
    let name = file.profile.as_ref()?;
    let Some(text) = files.text(name) else {
        let hint = Some("`cairn lab calibrate FILE` writes one for this machine".to_owned());
        f.add("profile", format!("`{name}` cannot be read"), hint);
        return None;
    };
    match Profile::parse(text) {
        Ok(profile) => Some(profile),
        Err(why) => {
            let hint = Some(format!("`cairn lab calibrate {name}` writes it anew, with `--runs` elsewhere"));
            f.add("profile", format!("`{name}` is no profile: {why}"), hint);
            None
        }
    }
}

/// What is wrong with the costs of a kind of link, with the place where it stands.
fn check_link(name: &str, link: &LinkCost) -> Result<(), String> {
    let place = format!("link.{name}");
    let of_stores = [
        ("cache_hit_us", link.cache_hit_us),
        ("store_us_per_kilobyte", link.store_us_per_kilobyte),
        ("latency_us", link.latency_us),
    ];
    check_costs(&place, of_stores.into_iter().filter_map(|(key, cost)| Some((key, cost?))))?;
    check_curve(&place, "cache_hit_waking", &link.cache_hit_waking)?;
    check_packets(&place, &link.forwarder())?;
    for (role, costs) in [("consumer", &link.consumer), ("producer", &link.producer)] {
        if let Some(costs) = costs {
            check_packets(&format!("{place}.{role}"), costs)?;
        }
    }
    Ok(())
}

fn check_packets(place: &str, costs: &PacketCost) -> Result<(), String> {
    let PacketCost { interest_us, data_us, data_us_per_kilobyte, .. } = costs;
    let each = [
        ("interest_us", *interest_us),
        ("data_us", *data_us),
        ("data_us_per_kilobyte", *data_us_per_kilobyte),
        ("data_waking_us_per_kilobyte", costs.data_waking_us_per_kilobyte.abs()),
        ("frame_us", costs.frame_us),
    ];
    check_costs(place, each)?;
    check_curve(place, "waking", &costs.waking)?;
    check_curve(place, "data_waking", &costs.data_waking)
}

fn check_curve(place: &str, key: &str, points: &[[f64; 2]]) -> Result<(), String> {
    check_costs(place, points.iter().flatten().map(|number| (key, *number)))?;
    if points.is_sorted_by(|[shorter, _], [longer, _]| shorter < longer) {
        return Ok(());
    }
    Err(format!("`{place}.{key}` is not in order of how long the forwarder has slept"))
}

/// Each is a time of less than ten seconds.
fn check_costs<'a>(place: &str, costs: impl IntoIterator<Item = (&'a str, f64)>) -> Result<(), String> {
    match costs.into_iter().find(|(_, cost)| !(0.0..1e7).contains(cost)) {
        Some((key, cost)) => {
            Err(format!("`{place}.{key}` is {cost}, and must be 0 or more and below 10,000,000"))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Experiment;
    use crate::experiment::plan::NodePlan;

    const PROFILE: &str = "machine = 'm'\nprogram = 'p'\n[link.udp]\ninterest_us = 10.0\ndata_us = 20.0\n\
                           data_us_per_kilobyte = 5.0\nstore_us_per_kilobyte = 9.0\n[link.tcp]\ninterest_us = 7.5\n\
                           data_us = 1.0\ndata_us_per_kilobyte = 0.0\nstore_us_per_kilobyte = 0.5\n";

    #[test]
    fn a_profile_that_is_written_is_read_again() {
        let profile = Profile::parse(PROFILE).unwrap();
        assert_eq!(Profile::parse(&profile.to_text().unwrap()), Ok(profile.clone()));
        assert_eq!(profile.of(LinkKind::Ether), profile.of(LinkKind::Udp), "what was not measured");
        assert!(Profile::parse("machine = 'm'\nprogram = 'p'\n[link]\n").is_err());
        assert!(Profile::parse(&PROFILE.replace("7.5", "-7.5")).is_err());
    }

    #[test]
    fn what_is_no_cost_is_refused_with_its_key() {
        for (key, more) in [
            ("signature.hmac.verify_us", "[signature.hmac]\nsign_us = 1.0\nverify_us = -1.0\n"),
            ("dialect.ndn.interest_us", "[dialect.ndn]\ninterest_us = nan\ndata_us = 1.0\n"),
            ("disk.answer_us", "[disk]\ninsert_us = 1.0\nanswer_us = 1e7\n"),
            (
                "link.ether.interest_us",
                "[link.ether]\ninterest_us = inf\ndata_us = 1.0\ndata_us_per_kilobyte = 0.0\n",
            ),
        ] {
            let error = Profile::parse(&format!("{PROFILE}{more}")).unwrap_err();
            assert!(error.starts_with(&format!("`{key}` is ")), "{error}");
        }
    }

    const SLEEPER: &str = "machine = 'm'\nprogram = 'p'\n[link.udp]\ninterest_us = 10.0\ndata_us = 20.0\n\
                           data_us_per_kilobyte = 5.0\nwaking = [[0.0, 0.0], [1.25, 50.0], [10.0, 120.0]]\n\
                           data_waking = [[5.0, 30.0], [10.0, 70.0]]\ndata_waking_us_per_kilobyte = -2.5\n\
                           cache_hit_us = 12.0\ncache_hit_waking = [[0.0, 9.0]]\n\
                           [link.udp.producer]\ninterest_us = 1.0\ndata_us = 2.0\n\
                           data_us_per_kilobyte = 3.0\n\
                           waking = [[1.0, 7.0]]\n";

    #[test]
    fn a_profile_says_what_waking_costs_or_that_it_costs_nothing() {
        let profile = Profile::parse(SLEEPER).unwrap();
        assert_eq!(Profile::parse(&profile.to_text().unwrap()), Ok(profile.clone()));
        let cost = profile.of(LinkKind::Udp).unwrap();
        assert_eq!(cost.forwarder().waking_us(5.625, 4096), [85.0, 35.0], "half way between 1.25 and 10 ms");
        assert_eq!(cost.forwarder().waking_us(5.625, 96), [85.0, 45.0], "four kilobytes less");
        assert_eq!(cost.forwarder().waking_us(0.0, 60_000), [0.0, 0.0], "and never less than nothing");
        assert_eq!(
            cost.consumer().waking_us(99.0, 4096),
            [120.0, 70.0],
            "like forwarding where not measured"
        );
        assert_eq!(cost.producer().waking_us(0.0, 4096), [7.0, 7.0], "a point; and Data like an Interest");
        assert_eq!(cost.storing().producer().waking, [[1.0, 7.0]]);
        let old = Profile::parse(PROFILE).unwrap().of(LinkKind::Udp).unwrap();
        assert_eq!(old.forwarder().waking_us(5.0, 0), [0.0, 0.0]);
        let wrong = |was: &str, is: &str| Profile::parse(&SLEEPER.replace(was, is)).unwrap_err();
        assert!(wrong("[0.0, 0.0], [1.25", "[2.0, 0.0], [1.25").contains("in order"));
        assert!(wrong("[1.25, 50.0]", "[0.0, 50.0]").contains("in order"));
        assert!(wrong("50.0]", "-50.0]").starts_with("`link.udp.waking` is -50"));
        assert!(wrong("[5.0, 30.0]", "[5.0, nan]").starts_with("`link.udp.data_waking` is NaN"));
        assert!(wrong("[5.0, 30.0]", "[11.0, 30.0]").starts_with("`link.udp.data_waking` is not in order"));
        assert!(wrong("[[0.0, 9.0]]", "[[0.0, -9.0]]").starts_with("`link.udp.cache_hit_waking` is -9"));
        assert!(wrong("[[1.0, 7.0]]", "[[1.0, inf]]").starts_with("`link.udp.producer.waking` is inf"));
        assert!(wrong("[1.25, 50.0]", "[1.25]").contains("invalid length"));
    }

    #[test]
    fn nodes_cost_what_the_profile_says_unless_they_say_it_themselves() {
        let folder = testkit::folder::TestFolder::new("profile");
        std::fs::write(folder.join("m.toml"), PROFILE).unwrap();
        let row = testkit::experiment::ROW.replace("\nb = {}", "\nb = { service_time = '1 us' }");
        let row = row.replace("\na = {}", "\na = { forwarder = { content_store = 0 } }");
        let row = row.replacen("b-c = {}", "b-c = { kind = 'tcp' }", 1);
        let parse = |profile: &str| {
            let text = format!("title = 't'\nduration = '9 s'\nprofile = '{profile}'\n{row}");
            Experiment::parse_in(Some(&folder), "t", "t.toml", &text)
        };
        let plan = parse("m.toml").unwrap().plans("sim").unwrap().remove(0);
        let [a, b, c] = plan.nodes.as_slice() else { panic!("{} nodes", plan.nodes.len()) };
        // 4,096 bytes of content at 5 us for each kilobyte; only the last node has a content store.
        let first = |node: &NodePlan| node.costs.as_ref().map(|costs| costs.links[0].1.arriving_ns);
        assert_eq!((first(a), first(c)), (Some([10_000, 40_480]), Some([7_500, 3_048])));
        assert_eq!((first(b), b.service_time_ns), (None, 1_000));
        let problems = parse("n.toml").unwrap_err().to_string();
        assert!(problems.starts_with("t.toml:3: profile: `n.toml` cannot be read"), "{problems}");
    }
}
