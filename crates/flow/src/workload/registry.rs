//! Workloads by name.

use super::{Popularity, Setting, Workload, live, steady};
use packet::parameters::{ParameterError, Parameters};
use packet::registry::{AddError, Named, Registry, Spec, SpecError, Startable};

/// Makes a workload from its parameters and where it is to run.
pub type StartWorkload = fn(&mut Parameters, &Setting) -> Result<Box<dyn Workload>, ParameterError>;

/// A workload that can be chosen by its name.
#[derive(Clone, Copy, Debug)]
pub struct WorkloadKind {
    /// What it is called.
    pub word: &'static str,
    /// Makes a workload, from those parameters that it knows. Called once for each consumer, and to check
    /// parameters.
    pub start: StartWorkload,
}

static WORKLOADS: Registry<WorkloadKind> = Registry::new(&[
    WorkloadKind {
        word: "sequential",
        start: |parameters, setting| steady::start(parameters, setting, Popularity::parse_sequential),
    },
    WorkloadKind {
        word: "uniform",
        start: |parameters, setting| steady::start(parameters, setting, Popularity::parse_uniform),
    },
    WorkloadKind {
        word: "zipf",
        start: |parameters, setting| steady::start(parameters, setting, Popularity::parse_zipf),
    },
    WorkloadKind { word: "live", start: live::start },
]);

/// Where parameters are checked: there is little to be made of one item.
const ANYWHERE: Setting = Setting { items: Some(1), ..Setting::forever(0) };

impl Named for WorkloadKind {
    const WHAT: &'static str = "workload";

    fn word(&self) -> &'static str {
        self.word
    }
}

impl Startable for WorkloadKind {
    type Setting<'a> = &'a Setting;
    /// It may be that it cannot run here: it needs to know how many items there are, and neither the setting
    /// nor a parameter says so.
    type Started = Result<Box<dyn Workload>, SpecError>;

    fn registry() -> &'static Registry<Self> {
        &WORKLOADS
    }

    fn check(&self, parameters: &mut Parameters) -> Result<(), ParameterError> {
        (self.start)(parameters, &ANYWHERE).map(|_| ())
    }

    fn start(&self, mut parameters: Parameters, setting: &Setting) -> Self::Started {
        Ok((self.start)(&mut parameters, setting)?)
    }
}

/// Adds workloads to those that can be chosen by name, wherever a name is looked up in this process. To be
/// called once, when the program begins.
///
/// # Errors
/// A name is taken, or it is too late.
pub fn add_workloads(added: Vec<WorkloadKind>) -> Result<(), AddError> {
    WORKLOADS.add(added)
}

/// Which workload, with which parameters: `zipf/rate~500/spacing~poisson`.
pub type WorkloadSpec = Spec<WorkloadKind>;

/// The words of all workloads, for help texts.
pub fn workload_names() -> impl Iterator<Item = &'static str> {
    WORKLOADS.words()
}

#[cfg(test)]
mod tests {
    use super::*;
    use packet::time::Instant;

    #[test]
    fn every_workload_starts_by_its_word_alone_where_the_number_of_items_is_known() {
        for word in workload_names() {
            let spec: WorkloadSpec = word.parse().unwrap();
            let setting =
                Setting { begin: Instant::from_millis(500), items: Some(10), ..Setting::forever(3) };
            let mut workload = spec.start(&setting).unwrap();
            assert_eq!(workload.poll_item(Instant::from_millis(499)), None, "{word}");
            assert_eq!(workload.next_deadline(), setting.begin, "{word}");
            assert!(workload.poll_item(setting.begin).is_some_and(|item| item < 10), "{word}");
        }
    }

    #[test]
    fn what_is_wrong_with_a_workload_is_said() {
        for (text, message) in [
            ("uniform/rate~0", "parameter rate: must be above 0 and at most 1000000000"),
            ("uniform/spacing~even", "parameter spacing: must be constant or uniform or poisson"),
            ("zipf/exponent~-1", "parameter exponent: must be a number from 0 to 10"),
            ("zipf/items~0", "parameter items: must be a whole number of 1 or more"),
            ("sequential/speed~2", "parameter speed: is not known to this workload"),
        ] {
            assert_eq!(text.parse::<WorkloadSpec>().unwrap_err().to_string(), message);
        }
        let unknown = "bursts".parse::<WorkloadSpec>().unwrap_err().to_string();
        assert!(unknown.starts_with("there is no workload bursts; there are sequential, "), "{unknown}");
        let endless = Setting::forever(1);
        let refused = "zipf".parse::<WorkloadSpec>().unwrap().start(&endless).unwrap_err().to_string();
        assert_eq!(refused, "parameter items: is needed, because nothing else says how many there are");
        assert!("zipf/items~5".parse::<WorkloadSpec>().unwrap().start(&endless).is_ok());
        assert!("sequential".parse::<WorkloadSpec>().unwrap().start(&endless).is_ok());
    }

    #[test]
    fn workloads_are_added_before_any_is_looked_up() {
        assert!(workload_names().count() >= 3);
        let start: StartWorkload =
            |parameters, setting| steady::start(parameters, setting, Popularity::parse_uniform);
        let own = WorkloadKind { word: "own", start };
        assert_eq!(add_workloads(vec![own]), Err(AddError::TooLate));
    }
}
