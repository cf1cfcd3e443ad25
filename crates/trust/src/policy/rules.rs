//! Rules out of a file.

use std::collections::BTreeMap;
use std::sync::Arc;

use packet::NameRef;
use packet::ndn::SignatureType;
use serde::Deserialize;
use thiserror::Error;

use super::pattern::{MAX_STEPS, NamePattern, PatternError, Search};
use super::{Claim, ClaimKind};

/// Rules, any of which may allow a packet, and the files of the trust anchors they start from.
///
/// ```
/// let rules = cairn_trust::policy::Rules::parse(r#"
///     anchors = ["lab-root.cert"]          # files, beside this one
///
///     [[rule]]
///     packet = "data"                      # or "interest", "certificate", "any"
///     name = "/lab/blog/{author}/**"       # what is signed
///     signer = "/lab/people/{author}"      # by whose key: the name before /KEY/
///     signature = ["ecdsa", "ed25519"]     # left out: any of ecdsa, ed25519, rsa, hmac
///
///     [[rule]]
///     packet = "certificate"
///     name = "/lab/people/{author}/KEY/**"
///     signer = "/lab"
/// "#)?;
/// assert_eq!(rules.anchors(), ["lab-root.cert"]);
/// # Ok::<(), cairn_trust::policy::RulesError>(())
/// ```
///
/// A packet is held only against rules whose patterns begin as its names do, so that a hundred thousand rules
/// for as many people cost a packet no more than a dozen. Cloning is cheap.
#[derive(Clone, Debug)]
pub struct Rules(Arc<RuleSet>);

#[derive(Debug, Default)]
struct RuleSet {
    anchors: Vec<String>,
    /// By the literal prefix of the name's pattern, and then of the signer's.
    rules: ByPrefix<ByPrefix<Vec<Rule>>>,
}

/// Things by prefixes of names.
#[derive(Debug)]
struct ByPrefix<T> {
    things: BTreeMap<Vec<u8>, T>,
    /// Components of the longest prefix.
    longest: usize,
}

impl<T> Default for ByPrefix<T> {
    fn default() -> Self {
        ByPrefix { things: BTreeMap::new(), longest: 0 }
    }
}

impl<T: Default> ByPrefix<T> {
    /// The thing of the literal prefix of `pattern`.
    fn of(&mut self, pattern: &NamePattern) -> &mut T {
        let (prefix, component_count) = pattern.literal_prefix();
        self.longest = self.longest.max(component_count);
        self.things.entry(prefix).or_default()
    }

    /// The things of prefixes of `name`, those of the longest first.
    fn for_name<'a>(&'a self, name: NameRef<'a>) -> impl Iterator<Item = &'a T> {
        let lengths = 0..=self.longest.min(name.component_count());
        lengths.rev().filter_map(move |length| self.things.get(name.prefix(length).canonical()))
    }
}

/// Rules whose names and signers have the same literal prefixes: as many as can be tried within the steps
/// that a packet may cost, at sixteen for each.
const MAX_RULES_OF_A_PREFIX: usize = MAX_STEPS as usize / 16;

#[derive(Clone, Debug)]
struct Rule {
    packet: PacketFilter,
    name: NamePattern,
    signer: NamePattern,
    signature: Vec<Algorithm>,
}

/// A file that is no list of rules.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RulesError {
    /// It is no TOML, or has other keys.
    #[error("{0}")]
    Syntax(String),
    /// A pattern is none.
    #[error("rule {number}: {error}")]
    Pattern {
        /// Which rule, counted from 1.
        number: usize,
        /// What is wrong with it.
        error: PatternError,
    },
    /// A file without rules would refuse everything.
    #[error("there is no [[rule]]: everything would be refused")]
    Empty,
    /// So many rules would have to be tried for one packet that it could not be found out which allows it.
    #[error(
        "rule {number}: {limit} rules before it have patterns that begin with the same components, and more cannot be tried for one packet"
    )]
    TooManyOfAPrefix {
        /// Which rule, counted from 1.
        number: usize,
        /// How many there may be.
        limit: usize,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    anchors: Vec<String>,
    #[serde(default)]
    rule: Vec<FileRule>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileRule {
    #[serde(default)]
    packet: PacketFilter,
    name: String,
    signer: String,
    #[serde(default)]
    signature: Vec<Algorithm>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
enum PacketFilter {
    #[default]
    Any,
    Data,
    Interest,
    Certificate,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Algorithm {
    Ecdsa,
    Ed25519,
    Rsa,
    Hmac,
}

impl Rules {
    /// Reads the text of a rule file.
    ///
    /// # Errors
    /// No TOML, unknown keys or values, no pattern, no rule; the error names line or rule.
    pub fn parse(text: &str) -> Result<Self, RulesError> {
        let file: File = toml::from_str(text).map_err(|error| RulesError::Syntax(error.to_string()))?;
        if file.rule.is_empty() {
            return Err(RulesError::Empty);
        }
        let mut set = RuleSet { anchors: file.anchors, ..RuleSet::default() };
        for (number, rule) in (1..).zip(file.rule) {
            let pattern = |text: &str| text.parse().map_err(|error| RulesError::Pattern { number, error });
            let rule = Rule {
                packet: rule.packet,
                name: pattern(&rule.name)?,
                signer: pattern(&rule.signer)?,
                signature: rule.signature,
            };
            let same = set.rules.of(&rule.name).of(&rule.signer);
            if same.len() == MAX_RULES_OF_A_PREFIX {
                return Err(RulesError::TooManyOfAPrefix { number, limit: MAX_RULES_OF_A_PREFIX });
            }
            same.push(rule);
        }
        Ok(Rules(Arc::new(set)))
    }

    /// The files with the certificates that need no proof.
    pub fn anchors(&self) -> &[String] {
        &self.0.anchors
    }

    pub(super) fn allow(&self, claim: Claim<'_>, identity: NameRef<'_>) -> Finding {
        let mut search = Search::new();
        let by_signer = self.0.rules.for_name(claim.name);
        let mut rules = by_signer.flat_map(|by_signer| by_signer.for_name(identity)).flatten();
        match rules.any(|rule| rule.allows(claim, identity, &mut search)) {
            true => Finding::Allowed,
            false if search.is_exhausted() => Finding::TooCostly,
            false => Finding::NotAllowed,
        }
    }
}

/// What the rules say about a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Finding {
    Allowed,
    NotAllowed,
    /// It could not be found out at a reasonable cost.
    TooCostly,
}

impl Rule {
    fn allows<'p, 'n>(
        &'p self,
        claim: Claim<'n>,
        identity: NameRef<'n>,
        search: &mut Search<'p, 'n>,
    ) -> bool {
        let kind = match self.packet {
            PacketFilter::Any => true,
            PacketFilter::Data => claim.kind == ClaimKind::Data,
            PacketFilter::Interest => claim.kind == ClaimKind::Interest,
            PacketFilter::Certificate => claim.kind == ClaimKind::Certificate,
        };
        kind && self.takes(claim.signature_type)
            && self.name.matches(claim.name, search, &mut |search| {
                self.signer.matches(identity, search, &mut |_| true)
            })
    }

    fn takes(&self, signature_type: SignatureType) -> bool {
        let algorithm = match signature_type {
            SignatureType::SHA256_WITH_ECDSA => Algorithm::Ecdsa,
            SignatureType::ED25519 => Algorithm::Ed25519,
            SignatureType::SHA256_WITH_RSA => Algorithm::Rsa,
            SignatureType::HMAC_WITH_SHA256 => Algorithm::Hmac,
            _ => return false,
        };
        self.signature.is_empty() || self.signature.contains(&algorithm)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::{Policy, PolicyError};
    use packet::Name;

    const BLOG: &str = r#"
        [[rule]]
        packet = "data"
        name = "/lab/blog/{author}/{post**}/seg=0"
        signer = "/lab/people/{author}"
        signature = ["ecdsa"]

        [[rule]]
        packet = "certificate"
        name = "/{site**}/people/*/KEY/**"
        signer = "/{site**}"
    "#;

    fn check(policy: &Policy, kind: ClaimKind, name: &str, signer: &str) -> Result<(), PolicyError> {
        let (name, signer): (Name, Name) = (name.parse().unwrap(), signer.parse().unwrap());
        policy.check(Claim {
            kind,
            name: name.as_ref(),
            signer: signer.as_ref(),
            signature_type: SignatureType::SHA256_WITH_ECDSA,
        })
    }

    #[test]
    fn variables_tie_the_signer_to_the_name() {
        let policy = Policy::Rules(Rules::parse(BLOG).unwrap());
        let data = |name, signer| check(&policy, ClaimKind::Data, name, signer).is_ok();
        assert!(data("/lab/blog/alice/2024/first/seg=0", "/lab/people/alice/KEY/1"));
        assert!(data("/lab/blog/alice/seg=0", "/lab/people/alice/KEY/1/lab/v=1"));
        assert!(!data("/lab/blog/alice/first/seg=0", "/lab/people/bob/KEY/1"));
        assert!(!data("/lab/blog/alice/first/seg=1", "/lab/people/alice/KEY/1"));
        assert!(!data("/lab/people/alice/KEY/1/lab/v=1", "/lab/KEY/1"));
        let certificate = |name, signer| check(&policy, ClaimKind::Certificate, name, signer).is_ok();
        assert!(certificate("/lab/x/people/alice/KEY/1/lab/v=1", "/lab/x/KEY/1"));
        assert!(!certificate("/lab/x/people/alice/KEY/1/lab/v=1", "/lab/y/KEY/1"));
        assert!(certificate("/people/alice/KEY/1/lab/v=1", "/KEY/1"));
    }

    /// A name of so many components, all alike.
    fn long(count: usize) -> String {
        "/a".repeat(count)
    }

    #[test]
    fn a_name_of_thousands_of_components_is_refused_before_it_costs_much() {
        for (name, signer) in [
            ("/{x**}/{y**}", "/{y**}/{x**}"),
            ("/{x**}/{y**}", "/{x**}/b/{y**}"),
            ("/{x**}/*/{y**}/b", "/**/{x**}"),
        ] {
            let text = format!("[[rule]]\nname = \"{name}\"\nsigner = \"{signer}\"\n");
            let policy = Policy::Rules(Rules::parse(&text.repeat(3)).unwrap());
            let refused = check(&policy, ClaimKind::Data, &long(2500), &format!("{}/KEY/1", long(900)));
            assert!(matches!(refused, Err(PolicyError::TooCostly { .. })), "{name} {signer}: {refused:?}");
        }
        // Where the signer is another from its first component on, nothing has to be tried.
        let rules = Rules::parse("[[rule]]\nname = \"/{x**}/{y**}/b\"\nsigner = \"/b\"\n").unwrap();
        assert_eq!(cost(&rules, &long(2500), &long(900)), (0, false));
    }

    #[test]
    fn names_of_an_honest_length_are_matched_whatever_is_in_them() {
        let policy = |name: &str, signer: &str| {
            let text = format!("[[rule]]\nname = \"{name}\"\nsigner = \"{signer}\"\n");
            Policy::Rules(Rules::parse(&text).unwrap())
        };
        let swapped = policy("/{x**}/{y**}/seg=0", "/{y**}/{x**}");
        let data = |policy: &Policy, name: &str, signer: &str| {
            check(policy, ClaimKind::Data, name, &format!("{signer}/KEY/1")).is_ok()
        };
        assert!(data(&swapped, "/a/b/c/seg=0", "/c/a/b"));
        assert!(!data(&swapped, "/a/b/c/seg=0", "/c/b/a"));
        // Empty components, binary ones, and other types are components like any other.
        assert!(data(&swapped, "/.../32=x/%00%FF/seg=0", "/%00%FF/.../32=x"));
        let twice = policy("/{x}/{x}/**", "/{x}");
        assert!(data(&twice, "/.../.../a", "/...") && !data(&twice, "/.../a/a", "/..."));
        assert!(!data(&twice, "/32=a/a/b", "/a"), "a type is part of what a variable stands for");
        // A hundred components are more than anybody has, and cost little.
        assert!(data(&policy("/{x**}/seg=0", "/{x**}"), &format!("{}/seg=0", long(100)), &long(100)));
        assert!(!data(&swapped, &format!("{}/seg=1", long(100)), &long(100)));
        let odd = format!("/{}/seg=0", "x".repeat(8000));
        assert!(!data(&swapped, &odd, "/x"));
    }

    /// What a packet costs, in steps.
    fn cost(rules: &Rules, name: &str, signer: &str) -> (u32, bool) {
        let (name, signer): (Name, Name) = (name.parse().unwrap(), signer.parse().unwrap());
        let claim = Claim {
            kind: ClaimKind::Data,
            name: name.as_ref(),
            signer: signer.as_ref(),
            signature_type: SignatureType::ED25519,
        };
        let mut search = Search::new();
        let rules = rules.0.rules.for_name(claim.name).flat_map(|rules| rules.for_name(claim.signer));
        let allows = rules.flatten().any(|rule| rule.allows(claim, claim.signer, &mut search));
        (search.steps(), allows)
    }

    #[test]
    fn of_a_hundred_thousand_rules_the_last_one_allows_what_it_says_and_none_costs_more_for_the_others() {
        let of_person = |name: &str, signer: &str| {
            let rule = |number: usize| {
                let number = number.to_string();
                let (name, signer) = (name.replace('N', &number), signer.replace('N', &number));
                format!("[[rule]]\nname = \"{name}\"\nsigner = \"{signer}\"\n")
            };
            (0..100_000).map(rule).collect::<String>()
        };
        for (name, signer) in [
            ("/lab/blog/aN/**", "/lab/people/aN"),
            // Everybody may write here, or the names say nothing.
            ("/lab/wiki/**", "/lab/people/aN"),
            ("/{site**}/index", "/lab/people/aN"),
        ] {
            let many = Rules::parse(&of_person(name, signer)).unwrap();
            let one = Rules::parse(&format!("[[rule]]\nname = {name:?}\nsigner = {signer:?}\n")).unwrap();
            for packet in ["/lab/blog/a99999/x", "/lab/wiki/a/b", "/lab/blog/index", "/else/where"] {
                let of_one = cost(&one, &packet.replace("a99999", "aN"), "/lab/people/aN");
                assert_eq!(cost(&many, packet, "/lab/people/a99999"), of_one, "{name} {packet}");
                assert!(!cost(&many, packet, "/lab/people/a100000").1, "{name} {packet}");
            }
        }
    }

    #[test]
    fn more_rules_of_one_prefix_than_can_be_tried_are_refused_and_as_many_as_can_are_tried() {
        let text = |count: usize| {
            let rule = |number| format!("[[rule]]\nname = \"/{{x}}/n{number}/**\"\nsigner = \"/{{x}}\"\n");
            (1..=count).map(rule).collect::<String>()
        };
        let policy = Policy::Rules(Rules::parse(&text(MAX_RULES_OF_A_PREFIX)).unwrap());
        let last = format!("/a/n{MAX_RULES_OF_A_PREFIX}/x");
        assert!(check(&policy, ClaimKind::Data, &last, "/a/KEY/1").is_ok());
        let refused = check(&policy, ClaimKind::Data, &last, "/b/KEY/1");
        assert!(matches!(refused, Err(PolicyError::NoRule { .. })), "{refused:?}");
        let error = Rules::parse(&text(MAX_RULES_OF_A_PREFIX + 1)).unwrap_err();
        assert_eq!(
            error,
            RulesError::TooManyOfAPrefix { number: MAX_RULES_OF_A_PREFIX + 1, limit: MAX_RULES_OF_A_PREFIX }
        );
        assert!(error.to_string().starts_with("rule 4097: 4096 rules before it"), "{error}");
    }

    #[test]
    fn an_algorithm_that_is_not_listed_is_refused() {
        let policy = Policy::Rules(Rules::parse(&BLOG.replace("ecdsa", "rsa")).unwrap());
        let refused =
            check(&policy, ClaimKind::Data, "/lab/blog/a/p/seg=0", "/lab/people/a/KEY/1").unwrap_err();
        assert_eq!(refused.to_string(), "no rule lets /lab/people/a sign the data /lab/blog/a/p/seg=0");
    }

    #[test]
    fn hierarchical_means_under_the_signers_name() {
        let check = |name, signer| check(&Policy::Hierarchical, ClaimKind::Data, name, signer);
        assert!(check("/lab/alice/x", "/lab/alice/KEY/1").is_ok());
        assert!(check("/lab/alice/x", "/lab/KEY/1").is_ok());
        assert!(check("/lab/alicex", "/lab/alice/KEY/1").is_err());
        assert!(check("/lab", "/lab/alice/KEY/1").is_err());
    }

    #[test]
    fn a_file_that_is_wrong_says_where() {
        let error = |text: &str| Rules::parse(text).unwrap_err().to_string();
        assert!(error("").contains("no [[rule]]"));
        assert!(error("[[rule]]\nname = \"/a\"\n").contains("signer"));
        assert!(error("[[rule]]\nname = \"/a\"\nsigner = \"b\"\n").starts_with("rule 1: \"b\""));
        assert!(error("[[rule]]\nname = \"/{a\"\nsigner = \"/b\"\n").contains("{name}"));
        assert!(error("[[rule]]\nname = \"/**/a/**/b/**\"\nsigner = \"/b\"\n").contains("at most two"));
        assert!(error("[[rule]]\nnmae = \"/a\"\nsigner = \"/b\"\n").contains("nmae"));
    }
}
