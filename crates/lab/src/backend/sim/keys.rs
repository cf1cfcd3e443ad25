//! Keys of producers, and what consumers believe of them.

use flow::verify::{AnchoredVerifier, Verifier};
use packet::random::Random;
use trust::{Certificate, Policy, Signer, Validator, ValidatorLimits};

use super::error::{ApplicationError, SimulationError};
use crate::experiment::plan::{Plan, ProducerKey, ProducerPlan};
use crate::keys::{IdentityKeyError, KeyRole, certificate, signer};

/// The keys of an experiment.
#[derive(Debug)]
pub(super) struct Keys {
    seed: u64,
    /// Certificates of trusted keys, one for each prefix that has one.
    anchors: Vec<Certificate>,
}

impl Keys {
    pub(super) fn of(plan: &Plan, seed: u64) -> Result<Self, SimulationError> {
        let mut keys = Keys { seed, anchors: Vec::new() };
        let trusted = plan.producers.iter().filter(|producer| producer.key == ProducerKey::Trusted);
        for producer in trusted {
            let anchor = certificate(seed, &producer.prefix);
            keys.anchors.push(anchor.map_err(|error| ApplicationError::of(&producer.name)(error.into()))?);
        }
        Ok(keys)
    }

    /// What signs the segments of a producer's file. Producers of one prefix share a key.
    pub(super) fn signer(&self, producer: &ProducerPlan) -> Result<Signer, IdentityKeyError> {
        match producer.key {
            ProducerKey::Digest => Ok(Signer::digest()),
            ProducerKey::Trusted => signer(self.seed, KeyRole::Trusted, &producer.prefix),
            ProducerKey::Forged => signer(self.seed, KeyRole::Forged, &producer.prefix),
        }
    }

    /// Believes trusted keys for names under the prefix of their producer.
    pub(super) fn verifier(&self) -> Box<dyn Verifier> {
        let (anchors, random) = (self.anchors.clone(), Random::from_seed(self.seed));
        let validator = Validator::new(Policy::Hierarchical, anchors, ValidatorLimits::default(), random);
        Box::new(AnchoredVerifier::new(validator))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Experiment;

    const TEXT: &str = "title = 't'\nduration = '9 s'\n[node]\na = {}\nb = {}\n[link]\na-b = {}\n\
        [producer.studio]\nat = 'b'\nprefix = '/film'\nfile = '9 kB'\nkey = 'trusted'\n\
        [producer.pirate]\nat = 'b'\nprefix = '/film'\nfile = '9 kB'\nkey = 'forged'\n\
        [consumer.viewer]\nat = 'a'\nkind = 'file'\nprefix = '/film'\nverify = true\n";

    fn plan(text: &str) -> Result<Plan, String> {
        let experiment = Experiment::parse("t", "t.toml", text).map_err(|wrong| wrong.to_string())?;
        experiment.plans("sim").unwrap_or_default().pop().ok_or_else(|| "one case".to_owned())
    }

    #[test]
    fn one_seed_makes_the_same_keys_and_another_makes_others() {
        let plan = plan(TEXT).unwrap();
        let anchors = |seed| Keys::of(&plan, seed).unwrap().anchors.remove(0).data().wire().to_vec();
        assert_eq!(anchors(1), anchors(1));
        assert_ne!(anchors(1), anchors(2));
    }

    #[test]
    fn a_forger_calls_another_key_by_the_trusted_ones_name() {
        let plan = plan(TEXT).unwrap();
        let keys = Keys::of(&plan, 1).unwrap();
        let of = |key| plan.producers.iter().find(|producer| producer.key == key).unwrap();
        let signers = [ProducerKey::Trusted, ProducerKey::Forged].map(|key| keys.signer(of(key)).unwrap());
        assert_eq!(signers[0].key_locator(), signers[1].key_locator());
        let digest = |signer: &Signer| signer.key().unwrap().digest().unwrap();
        assert_ne!(digest(&signers[0]), digest(&signers[1]));
        assert_eq!(keys.anchors.len(), 1, "a forger's certificate is nobody's anchor");
    }

    #[test]
    fn verification_without_a_trusted_key_and_costs_of_none_are_mistakes() {
        let wrong = plan(&TEXT.replace("'trusted'", "'digest'")).unwrap_err();
        assert!(wrong.contains("consumer.viewer.verify: no producer has a trusted key"), "{wrong}");
        let wrong = plan(&TEXT.replace("verify = true", "hash_time = '1 us'")).unwrap_err();
        assert!(wrong.contains("hash_time: nothing is verified"), "{wrong}");
        let wrong = plan(&TEXT.replacen("file = '9 kB'\n", "", 1)).unwrap_err();
        assert!(wrong.contains("producer.studio.key: only a `file` is signed with a key"), "{wrong}");
        let wrong = plan(&TEXT.replace("'file'\nprefix", "'window'\nwindow = 1\nprefix")).unwrap_err();
        assert!(wrong.contains("a consumer of kind window has no `verify`"), "{wrong}");
    }
}
