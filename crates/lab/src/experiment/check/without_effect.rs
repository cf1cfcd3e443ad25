//! What a file says and no run heeds: a factor of nothing, a number of pings that the run has no time for, a
//! control in which nobody asks for anything.

use super::decided::number;
use crate::experiment::model::Expect;
use crate::experiment::plan::{Activity, Plan};
use crate::experiment::read::findings::Finding;

/// Parts of an expectation that belong to a bound which it has not, and bounds that are no numbers.
pub(super) fn of_expectation(expect: &Expect, key: &str) -> Vec<Finding> {
    let bounds = [
        ("at_least", number(expect.at_least.as_ref())),
        ("at_most", number(expect.at_most.as_ref())),
        ("more_than", number(expect.more_than.as_ref())),
        ("less_than", number(expect.less_than.as_ref())),
        ("about", expect.about),
    ];
    let is_bound = [&expect.at_least, &expect.at_most, &expect.more_than, &expect.less_than];
    let has_factor = is_bound.iter().any(|bound| bound.is_some()) || expect.same_as.is_some();
    let parts = [
        ("times", expect.times.is_some() && !has_factor, "a bound such as `at_least`, or `same_as`"),
        ("within", expect.within.is_some() && expect.about.is_none(), "`about`"),
        ("margin", expect.margin.is_some() && expect.same_as.is_none(), "`same_as`"),
    ];
    let idle = parts.into_iter().filter(|(_, is_idle, _)| *is_idle);
    let idle = idle.map(|(field, _, of)| (field, format!("it goes with {of}, and there is none")));
    let endless = bounds.into_iter().filter(|(_, bound)| bound.is_some_and(|bound| !bound.is_finite()));
    let endless = endless.map(|(field, _)| (field, "no result is near to that: write a number".to_owned()));
    let told = |(field, message)| Finding { key: format!("{key}.{field}"), message, ..Finding::default() };
    idle.chain(endless).map(told).collect()
}

/// Pings that are counted and cannot all be sent: the run would be measured as if they had been.
pub(super) fn of_pings(plan: &Plan) -> Vec<Finding> {
    let mut findings = Vec::new();
    for workload in &plan.workloads {
        let Activity::Ping { every_ns, count, .. } = workload.does else { continue };
        let last_ns = every_ns.saturating_mul(count.saturating_sub(1)).saturating_add(workload.start_ns);
        if count != u64::MAX && last_ns >= plan.schedule.duration_ns {
            let seconds = |ns: u64| ns as f64 / 1e9;
            findings.push(Finding {
                key: format!("ping.{}.count", workload.name),
                message: format!(
                    "the last of {count} pings would leave after {} s, and the run ends after {} s",
                    seconds(last_ns),
                    seconds(plan.schedule.duration_ns)
                ),
                suggestion: Some("leave it out for as many as fit".to_owned()),
                ..Finding::default()
            });
        }
    }
    findings
}

/// Whether nobody asks for anything in it: then nothing that is said of traffic can be told from its want.
pub(super) fn is_idle(plan: &Plan) -> bool {
    let asks = |does: &Activity| !matches!(does, Activity::Load { .. } | Activity::Register(_));
    !plan.workloads.iter().any(|workload| asks(&workload.does))
}

#[cfg(test)]
mod tests {
    use crate::experiment::Experiment;

    const ROW: &str = "title = 't'\nduration = '5 s'\n[node]\na = {}\nb = {}\n[link]\na-b = { rate = '1 Mbit/s' }\n\
        [[route]]\nprefix = '/b'\npath = ['a', 'b']\n[ping.p]\nat = 'a'\nto = 'b'\nprefix = '/b/ping'\n";

    fn told(text: &str) -> String {
        let text = format!("{ROW}{text}");
        Experiment::parse("t", "t.toml", &text)
            .map_or_else(|problems| problems.to_string(), |_| String::new())
    }

    #[test]
    fn parts_of_an_expectation_without_the_bound_that_they_belong_to_are_mistakes() {
        let expect = |rest: &str| told(&format!("[[expect]]\nsay = 'S'\nvalue = 'p.rtt.mean'\n{rest}\n"));
        for (rest, field) in [
            ("falls = ['p.rtt.min']\ntimes = 3", "times"),
            ("about = 5\ntimes = 2", "times"),
            ("at_most = 3\nwithin = '50 %'", "within"),
            ("at_most = 3\nmargin = '50 %'", "margin"),
        ] {
            assert!(expect(rest).contains(&format!("expect.0.{field}: it goes with")), "{}", expect(rest));
        }
        assert!(expect("at_most = nan").contains("no result is near to that"), "{}", expect("at_most = nan"));
        assert_eq!(expect("at_most = 'p.rtt.max'\ntimes = 0.5"), "");
        assert_eq!(expect("about = 5\nwithin = '50 %'"), "");
    }

    #[test]
    fn more_pings_than_the_run_has_time_for_are_a_mistake() {
        let expect = "[[expect]]\nsay = 'S'\nvalue = 'p.rtt.mean'\nat_most = 3\n";
        let counted =
            |count: u32| told(&format!("every = '100 ms'\nstart = '1 s'\ncount = {count}\n{expect}"));
        assert!(counted(41).contains("the last of 41 pings would leave after 5 s"), "{}", counted(41));
        assert_eq!(counted(40), "");
    }

    #[test]
    fn a_control_takes_away_no_workload_that_is_the_only_one() {
        let rest = "[[expect]]\nname = 'e'\nsay = 'S'\nvalue = 'b.goodput.mean'\nat_least = 500\n[[control]]\n\
            name = 'c'\nremoves = 'the cause'\nset = { 'ping.p' = '' }\nfails = ['e']\n";
        assert!(told(rest).contains("nobody asks for anything"), "{}", told(rest));
    }
}
