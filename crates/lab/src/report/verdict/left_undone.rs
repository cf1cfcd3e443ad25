//! Work that a run was allowed to leave: numbers of what was finished are those of the lucky ones. And what
//! is still waited for when a run ends whose consumers have no end.

use super::super::data::CaseData;
use crate::analysis::ConsumerCounts;
use crate::experiment::measure::Measure;

/// Numbers that count what was left, or what was begun.
const COUNT_IT: [&str; 4] = ["started", "finished", "unfinished", "loss"];

/// How much of the work that a number is of was not finished in valid repeats, in words; nothing where all
/// was, or where the number says it itself.
pub(super) fn beside(case: &CaseData, measure: &Measure) -> Option<String> {
    if let Some(waiting) = OpenInterests::of(case, &measure.subject) {
        return waiting.words().filter(|_| measure.quantity != "unfinished");
    }
    if COUNT_IT.contains(&measure.quantity.as_str()) {
        return None;
    }
    let sum =
        |quantity: &str| case.values(&format!("{}.{quantity}", measure.subject), "sum").iter().sum::<f64>();
    let (finished, left) = (sum("finished"), sum("unfinished"));
    let all = finished + left;
    (left > 0.0).then(|| format!("of what was finished: {left:.0} of {all:.0} were not"))
}

/// What consumers without an end still wait for when runs end, of all valid repeats together.
#[derive(Debug, Default, PartialEq)]
struct OpenInterests {
    asked: u64,
    open: u64,
    /// What they ask for in one mean round trip, and one Interest at each node.
    on_the_way: f64,
}

impl OpenInterests {
    /// Of consumers of that name; nothing where there are none, or where what they ask for has an end.
    fn of(case: &CaseData, name: &str) -> Option<Self> {
        let valid = case.counts.iter().zip(&case.results).filter(|(_, result)| result.is_valid());
        let consumers = valid.flat_map(|(counts, _)| {
            let own = counts.consumers.iter().filter(|consumer| consumer.workload == name);
            own.map(|consumer| (consumer, counts.seconds))
        });
        let mut consumers = consumers.peekable();
        consumers.peek()?;
        let mut waiting = OpenInterests::default();
        for (consumer, seconds) in consumers {
            if consumer.is_complete.is_some() || consumer.kind == "flood" {
                return None;
            }
            waiting.add(consumer, seconds);
        }
        Some(waiting)
    }

    fn add(&mut self, consumer: &ConsumerCounts, seconds: f64) {
        let ConsumerCounts { asked, received, failed, mean_delay_ms, .. } = *consumer;
        self.asked += asked;
        self.open += asked.saturating_sub(received).saturating_sub(failed);
        self.on_the_way += asked as f64 / seconds.max(1e-9) * mean_delay_ms / 1e3 + 1.0;
    }

    fn words(&self) -> Option<String> {
        let OpenInterests { asked, open, on_the_way } = *self;
        (open as f64 > on_the_way).then(|| {
            format!(
                "of {asked} that were asked for {open} were still waited for at the end, of which {on_the_way:.0} can be \
                 on their way"
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_be_on_its_way_at_the_end_is_not_told_and_more_is() {
        let consumer = |received, failed| ConsumerCounts {
            asked: 1000,
            received,
            failed,
            mean_delay_ms: 50.0,
            ..ConsumerCounts::default()
        };
        let told = |received, failed| {
            let mut waiting = OpenInterests::default();
            waiting.add(&consumer(received, failed), 10.0);
            waiting.words()
        };
        // 100 a second with 50 ms: five, and one.
        assert_eq!((told(994, 0), told(0, 1000)), (None, None));
        let words = told(900, 0).unwrap_or_default();
        assert_eq!(
            words,
            "of 1000 that were asked for 100 were still waited for at the end, of which 6 can be on their way"
        );
    }
}
