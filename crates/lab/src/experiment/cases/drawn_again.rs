//! What is drawn in a case drawn with other seeds: the networks of its repeats.

use std::collections::HashMap;

use super::Variant;
use super::controls;
use crate::experiment::plan::{Plan, SchedulePlan};
use crate::experiment::read::Experiment;
use crate::experiment::read::findings::Finding;

/// Every case of an experiment on a backend, by its name.
#[derive(Debug)]
pub struct DrawnAgain<'a> {
    experiment: &'a Experiment,
    backend: String,
    variants: HashMap<String, Variant>,
}

impl Experiment {
    /// The cases on a backend, for plans that are drawn again.
    ///
    /// # Errors
    ///
    /// What is wrong with the file on that backend.
    pub fn drawn_again(&self, backend: &str) -> Result<DrawnAgain<'_>, Vec<Finding>> {
        let (base, variants) = self.variants(backend)?;
        let controls = controls::controls(&base, &variants)?.into_iter().map(|(_, variant)| variant);
        let variants = controls.chain(variants).map(|variant| (variant.name.clone(), variant)).collect();
        Ok(DrawnAgain { experiment: self, backend: backend.to_owned(), variants })
    }
}

impl DrawnAgain<'_> {
    /// The plan of a case with what is drawn in it drawn with another seed, as each repeat does.
    ///
    /// # Errors
    ///
    /// What is wrong with the file, or with what was drawn.
    pub fn plan(&self, plan: &Plan, seed: u64) -> Result<Plan, Vec<Finding>> {
        let variant = self.variants.get(&plan.case).ok_or_else(|| {
            let message = format!("there is no case called `{}`", plan.case);
            vec![Finding { key: "case".to_owned(), message, suggestion: None, ..Finding::default() }]
        })?;
        let drawn = self.experiment.plan(variant, &self.backend, Some(seed))?;
        let SchedulePlan { repeats, seed, .. } = plan.schedule;
        let schedule = SchedulePlan { repeats, seed, ..drawn.schedule };
        Ok(Plan { control: plan.control.clone(), schedule, ..drawn })
    }
}
