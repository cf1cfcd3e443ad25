//! Policies by name, with parameters: `delete-queue/inclusion~0.5/push-every~10`.

use packet::parameters::{ParameterError, Parameters};
use packet::registry::{AddError, Named, Registry, Spec, Startable};

use super::{DeleteQueue, DeleteQueueConfig, Gdsf, Lfu, ObjectEviction, Push, S3Fifo, Sieve, TinyLfu};

/// Makes an empty policy from its parameters.
pub type StartObjectEviction = fn(&mut Parameters) -> Result<Box<dyn ObjectEviction>, ParameterError>;

/// A policy that can be chosen by its name.
#[derive(Clone, Copy, Debug)]
pub struct ObjectEvictionKind {
    /// What it is called.
    pub word: &'static str,
    /// Makes one, from those parameters that it knows. Called once for each repository, and to check
    /// parameters.
    pub start: StartObjectEviction,
}

static POLICIES: Registry<ObjectEvictionKind> = Registry::new(&[
    ObjectEvictionKind { word: "delete-queue", start: delete_queue },
    // New objects enter where those that were asked for go.
    ObjectEvictionKind {
        word: "lru",
        start: |_| {
            let config = DeleteQueueConfig { inclusion_point: 1.0, push: Push::First };
            Ok(Box::new(DeleteQueue::new(config)))
        },
    },
    ObjectEvictionKind { word: "lfu", start: |_| Ok(Box::new(Lfu::default())) },
    ObjectEvictionKind { word: "gdsf", start: |_| Ok(Box::new(Gdsf::default())) },
    ObjectEvictionKind { word: "tiny-lfu", start: |_| Ok(Box::new(TinyLfu::default())) },
    ObjectEvictionKind { word: "sieve", start: |_| Ok(Box::new(Sieve::default())) },
    ObjectEvictionKind { word: "s3-fifo", start: |_| Ok(Box::new(S3Fifo::default())) },
]);

/// The paper's variants: `inclusion` is where new objects enter, from 0, the head, to 1; `push-every~n`
/// pushes on each n-th segment instead of the first only.
fn delete_queue(parameters: &mut Parameters) -> Result<Box<dyn ObjectEviction>, ParameterError> {
    let default = DeleteQueueConfig::default();
    let inclusion_point = parameters.factor("inclusion", default.inclusion_point)?;
    let push = match parameters.limit("push-every")? {
        None => default.push,
        Some(1) => Push::Every,
        Some(n) => Push::EveryNth(u32::try_from(n).unwrap_or(u32::MAX)),
    };
    Ok(Box::new(DeleteQueue::new(DeleteQueueConfig { inclusion_point, push })))
}

impl Named for ObjectEvictionKind {
    const WHAT: &'static str = "policy";

    fn word(&self) -> &'static str {
        self.word
    }
}

impl Startable for ObjectEvictionKind {
    type Setting<'a> = ();
    type Started = Box<dyn ObjectEviction>;

    fn registry() -> &'static Registry<Self> {
        &POLICIES
    }

    fn check(&self, parameters: &mut Parameters) -> Result<(), ParameterError> {
        (self.start)(parameters).map(|_| ())
    }

    fn start(&self, mut parameters: Parameters, (): ()) -> Box<dyn ObjectEviction> {
        // The parameters were checked when the choice was made; a policy that refuses them now is its
        // author's mistake, and the paper's is as good as any.
        (self.start)(&mut parameters).unwrap_or_else(|_| Box::new(DeleteQueue::default()))
    }
}

/// Which policy, with which parameters.
///
/// ```
/// use cairn_repo::eviction::{self, ObjectEvictionSpec};
/// let spec: ObjectEvictionSpec = "delete-queue/inclusion~0.5".parse()?;
/// assert!(eviction::start(&spec).is_empty());
/// assert!("delete-queue/inclusion~2".parse::<ObjectEvictionSpec>().is_err());
/// # Ok::<(), packet::registry::SpecError>(())
/// ```
pub type ObjectEvictionSpec = Spec<ObjectEvictionKind>;

/// An empty policy.
pub fn start(spec: &ObjectEvictionSpec) -> Box<dyn ObjectEviction> {
    spec.start(())
}

/// The words of all policies, for help texts.
pub fn names() -> impl Iterator<Item = &'static str> {
    POLICIES.words()
}

/// Adds policies to those that can be chosen by name, wherever a name is looked up in this process. To be
/// called once, when the program begins.
///
/// # Errors
/// A name is taken, or it is too late.
pub fn add_object_evictions(added: Vec<ObjectEvictionKind>) -> Result<(), AddError> {
    POLICIES.add(added)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(text: &str) -> Box<dyn ObjectEviction> {
        start(&text.parse().unwrap())
    }

    fn order(mut policy: Box<dyn ObjectEviction>) -> Vec<u32> {
        (0..4).for_each(|id| policy.include(id, 0, 1));
        policy.request(1, 0);
        policy.request(0, 0);
        policy.request(2, 3);
        std::iter::from_fn(|| policy.evict()).collect()
    }

    #[test]
    fn every_word_means_a_policy_and_lru_is_least_recently_used() {
        assert!(names().all(|name| policy(name).is_empty()) && names().count() == 7);
        assert_eq!(order(policy("lru")), [2, 3, 1, 0]);
    }

    #[test]
    fn the_papers_variants_are_parameters_of_the_delete_queue() {
        assert_eq!(order(policy("delete-queue/inclusion~1")), order(policy("lru")));
        assert_eq!(order(policy("delete-queue/inclusion~1/push-every~3")), [3, 1, 0, 2]);
        assert_eq!(order(policy("delete-queue/inclusion~1/push-every~2")), [2, 3, 1, 0]);
        let problem = |text: &str| text.parse::<ObjectEvictionSpec>().unwrap_err().to_string();
        assert!(problem("fifo").contains("there is no policy fifo; there are delete-queue, lru"));
        assert!(problem("delete-queue/push-every~0").contains("1 or more"));
        assert!(problem("lru/inclusion~0").contains("not known to this policy"));
    }
}
