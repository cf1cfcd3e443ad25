//! Rules out of a file.

use packet::NameRef;
use packet::ndn::SignatureType;
use serde::Deserialize;
use thiserror::Error;

use super::pattern::{NamePattern, PatternError, Search};
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
#[derive(Clone, Debug)]
pub struct Rules {
    anchors: Vec<String>,
    rules: Vec<Rule>,
}

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
        let rule = |(index, rule): (usize, FileRule)| {
            let pattern =
                |text: &str| text.parse().map_err(|error| RulesError::Pattern { number: index + 1, error });
            Ok(Rule {
                packet: rule.packet,
                name: pattern(&rule.name)?,
                signer: pattern(&rule.signer)?,
                signature: rule.signature,
            })
        };
        let rules = file.rule.into_iter().enumerate().map(rule).collect::<Result<_, _>>()?;
        Ok(Rules { anchors: file.anchors, rules })
    }

    /// The files with the certificates that need no proof.
    pub fn anchors(&self) -> &[String] {
        &self.anchors
    }

    pub(super) fn allow(&self, claim: Claim<'_>, identity: NameRef<'_>) -> Finding {
        let mut search = Search::new();
        match self.rules.iter().any(|rule| rule.allows(claim, identity, &mut search)) {
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
            ("/{x**}/{y**}/b", "/b"),
        ] {
            let text = format!("[[rule]]\nname = \"{name}\"\nsigner = \"{signer}\"\n");
            let policy = Policy::Rules(Rules::parse(&text.repeat(3)).unwrap());
            let refused = check(&policy, ClaimKind::Data, &long(2500), &format!("{}/KEY/1", long(900)));
            assert!(matches!(refused, Err(PolicyError::TooCostly { .. })), "{name} {signer}: {refused:?}");
        }
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
