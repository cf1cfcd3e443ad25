//! What chance decides in virtual time: where it decides nothing, one repeat is as good as many.

use super::{
    Activity, ArrivalsPlan, Change, ControllerChoice, EventPlan, NodePlan, Plan, SizesPlan, Workload,
};

impl Plan {
    /// Is there nothing random in virtual time but nonces? Then repeats are equal to the last digit.
    #[must_use]
    pub fn is_deterministic(&self) -> bool {
        let has_drawn_sizes = |content: usize| {
            let sizes = self.contents.get(content).and_then(|content| content.sizes.as_ref());
            sizes.is_some_and(|sizes| !matches!(sizes, SizesPlan::List(_)))
        };
        // What a workload of the program's own does by chance, nobody knows.
        let is_calm = |workload: &Workload| match &workload.does {
            Activity::Traffic { content, .. } if has_drawn_sizes(*content) => false,
            Activity::Traffic { trace: Some(_), .. } => true,
            Activity::Traffic { workload, .. } => {
                let draws = |word: &&str| workload.contains(word);
                matches!(workload.split('/').next(), Some("sequential" | "live"))
                    && !["spacing~poisson", "spacing~uniform", "burst~", "crowd~"].iter().any(draws)
            }
            Activity::Consume(consumer) => !consumer.kind.is_random(),
            Activity::Download { content, controller, arrivals, .. } => {
                let is_drawn =
                    matches!(arrivals, Some(ArrivalsPlan::Workload(_))) || has_drawn_sizes(*content);
                !is_drawn && !controller.draws()
            }
            _ => true,
        };
        let is_plain = |node: &NodePlan| {
            let draws = node
                .forwarder
                .placement
                .as_deref()
                .is_some_and(|word| word.starts_with("probability") || word == "fair-share");
            let strategy = node.forwarder.strategy.as_deref().unwrap_or("best-route");
            // The part before its parameters. These draw no random numbers; what others do differs with the
            // seed.
            let word = strategy.split('/').next().unwrap_or_default();
            !draws && matches!(word, "best-route" | "multicast" | "load-balance" | "stateful-forwarding")
        };
        let is_sure = |event: &EventPlan| match event.change {
            Change::LinkChange { loss, .. } => loss.unwrap_or(0.0) == 0.0,
            _ => true,
        };
        !self.schedule.drawn
            && self
                .links
                .iter()
                .all(|link| link.loss == 0.0 && !link.simulated.is_random() && !link.is_sharing())
            && self.events.iter().all(is_sure)
            && self.workloads.iter().all(is_calm)
            && self.nodes.iter().all(is_plain)
    }
}

impl ControllerChoice {
    /// Whether it decides by chance. What one of the program's own does, nobody knows.
    pub(super) fn draws(&self) -> bool {
        matches!(self, ControllerChoice::Named(spec) if controller_draws(spec))
    }
}

/// Whether the controller of this word, with its parameters, decides by chance.
pub(super) fn controller_draws(spec: &str) -> bool {
    const SURE: [&str; 10] = [
        "aimd",
        "bbr",
        "bic",
        "cubic",
        "fixed",
        "hobhis",
        "mircc",
        "nack-suppressing",
        "pcon",
        "stateful-forwarding",
    ];
    !SURE.contains(&spec.split('/').next().unwrap_or_default())
}
