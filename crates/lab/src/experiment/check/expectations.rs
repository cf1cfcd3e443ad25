//! What expectations name must be measured in the experiment.

use super::measured::in_place_of;
use crate::experiment::backends::{NETNS, VIRTUAL_TIME};
use crate::experiment::bounds::wrong_unit;
use crate::experiment::measure::{
    CONTENT_VALUES, Measure, MeasureError, NETWORK, NETWORK_VALUES, NODE_SERIES, NODE_TOTALS, PREFIX_VALUES,
    SUMMARIES, WORKLOAD_VALUES,
};
use crate::experiment::model::Expect;
use crate::experiment::plan::{Plan, Workload};
use crate::experiment::problem::suggest;
use crate::experiment::read::findings::Finding;
use crate::experiment::units::Share;
use crate::prose::capitalised;

/// What is wrong with a plan's expectations.
pub(in crate::experiment) fn findings(plan: &Plan, cases: &[String]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (number, expect) in plan.evaluation.expectations.iter().enumerate() {
        let key = format!("expect.{number}");
        let units = wrong_units(plan, expect);
        let is_told = |field: &str, text: &str| {
            let bound = expect.texts().into_iter().find(|(key, bound)| *key == field && *bound == text);
            bound.is_some() && units.iter().any(|(key, ..)| *key == field)
        };
        let mut check = |field: &str, text: &str| {
            if is_told(field, text) {
                return;
            }
            if let Err((message, suggestion)) = known(plan, cases, text) {
                findings.push(Finding {
                    key: format!("{key}.{field}"),
                    message,
                    suggestion,
                    ..Finding::default()
                });
            }
        };
        check("value", &expect.value);
        for (field, text) in expect.others() {
            check(field, text);
        }
        findings.extend(units.into_iter().map(|(field, message, suggestion)| Finding {
            key: format!("{key}.{field}"),
            message,
            suggestion: Some(suggestion),
            ..Finding::default()
        }));
        findings.extend(senseless(expect).map(|(field, message)| Finding {
            key: format!("{key}.{field}"),
            message,
            ..Finding::default()
        }));
        // What a report prints is a sentence. One that goes on with the experiment's title begins with dots.
        if expect.say.chars().next().is_some_and(char::is_lowercase) {
            findings.push(Finding {
                key: format!("{key}.say"),
                message: "a sentence begins with a capital letter".to_owned(),
                suggestion: Some(format!("write \"{}\"", capitalised(&expect.say))),
                ..Finding::default()
            });
        }
        if !expect.says_something() {
            findings.push(Finding {
                key: key.clone(),
                message: "nothing is expected of the value".to_owned(),
                suggestion: Some(
                    "add `at_least`, `at_most`, `less_than`, `same_as`, `falls` or `about`".to_owned(),
                ),
                ..Finding::default()
            });
        }
    }
    findings
}

/// Bounds that are numbers in a unit of another kind than the value's: each with its key, what is wrong, and
/// what would be right.
fn wrong_units(plan: &Plan, expect: &Expect) -> Vec<(&'static str, String, String)> {
    let Ok(measure) = expect.value.parse::<Measure>() else { return Vec::new() };
    let unit = measure.unit_in(plan);
    let told = |(key, text): (&'static str, &str)| {
        let (message, hint) = wrong_unit(text, &measure, unit).or_else(|| {
            let hint = "write a number, with its unit or without".to_owned();
            (key == "about").then(|| (format!("`{text}` is no number"), hint))
        })?;
        Some((key, message, hint))
    };
    expect.texts().into_iter().filter_map(told).collect()
}

/// What is this part of a number from it is not near it any more.
const MAX_MARGIN: f64 = 0.5;

/// More than so many times another measure, or less than such a part of it, says nothing of both.
const MAX_TIMES: f64 = 100.0;

/// What no run could confirm, or every run.
fn senseless(expect: &Expect) -> impl Iterator<Item = (&'static str, String)> {
    let itself = expect
        .others()
        .into_iter()
        .filter(|(_, text)| *text == expect.value)
        .map(|(field, _)| (field, "it is held against itself".to_owned()));
    let number = |bound: &Option<toml::Value>| {
        bound.as_ref().and_then(|bound| bound.as_float().or(bound.as_integer().map(|number| number as f64)))
    };
    let low = number(&expect.at_least).into_iter().chain(number(&expect.more_than)).reduce(f64::max);
    let high = number(&expect.at_most).into_iter().chain(number(&expect.less_than)).reduce(f64::min);
    let empty = low
        .zip(high)
        .filter(|(low, high)| low > high)
        .map(|(low, high)| ("value", format!("nothing is more than {low} and less than {high}")));
    // No measure is ever below 0.
    let certain = number(&expect.at_least)
        .filter(|low| *low <= 0.0)
        .map(|low| ("at_least", format!("everything that is measured is at least {low}: this cannot fail")));
    let nothing = expect
        .about_number()
        .filter(|about| *about == 0.0)
        .map(|_| ("about", "a part of 0 is 0: say `at_most` with a number".to_owned()));
    let times = expect.times.filter(|times| !(times.is_finite() && *times > 0.0));
    let times = times.map(|times| ("times", format!("{times} times anything is no bound")));
    let is_measure = |bound: &Option<toml::Value>| bound.as_ref().is_some_and(toml::Value::is_str);
    let others = [&expect.at_least, &expect.at_most, &expect.more_than, &expect.less_than];
    let has_measure = expect.same_as.is_some() || others.into_iter().any(is_measure);
    let far = expect.times.filter(|times| has_measure && !(1.0 / MAX_TIMES..=MAX_TIMES).contains(times));
    let far = far.filter(|times| *times > 0.0).map(|times| {
        ("times", format!("{times} times another measure holds anything: {MAX_TIMES} is the most, 1/{MAX_TIMES} the least"))
    });
    let wide = |share: Option<Share>| share.is_some_and(|share| share.0 >= MAX_MARGIN);
    let margins = [("margin", wide(expect.margin)), ("within", wide(expect.within))];
    let margins = margins.into_iter().filter(|(_, is_wide)| *is_wide);
    let most = MAX_MARGIN * 100.0;
    let margins = margins.map(|(field, _)| {
        (field, format!("a margin of {most} % or more holds hardly anything: write less than {most} %"))
    });
    itself
        .chain(empty)
        .chain(certain)
        .chain(nothing)
        .chain(times)
        .chain(far)
        .chain(margins)
        .collect::<Vec<_>>()
        .into_iter()
}

/// What is measured of a workload or a content of that name, or of both.
fn of_clients(plan: &Plan, name: &str) -> Option<Vec<&'static str>> {
    let is_workload = plan.workloads.iter().any(|workload| workload.measured_as() == name);
    let is_content = plan.contents.iter().any(|content| content.name == name);
    let lists = [(is_workload, WORKLOAD_VALUES), (is_content, CONTENT_VALUES)];
    let lists = lists.into_iter().filter(|(is_there, _)| *is_there);
    (is_workload || is_content)
        .then(|| lists.flat_map(|(_, list)| list.iter().map(|(word, _)| *word)).collect())
}

/// Of these quantities those that some backend measures of a measure's subject: no other would be taken.
fn measured_there(plan: &Plan, measure: &Measure, mut quantities: Vec<&'static str>) -> Vec<&'static str> {
    let of_backends = [NETNS, VIRTUAL_TIME].map(|backend| in_place_of(plan, backend, measure));
    let there: Vec<&str> = of_backends.into_iter().flatten().flatten().collect();
    if !there.is_empty() {
        quantities.retain(|word| there.contains(word));
    }
    quantities
}

/// Does a measure exist in a plan?
fn known(plan: &Plan, cases: &[String], text: &str) -> Result<(), (String, Option<String>)> {
    let measure: Measure = text.parse().map_err(|error: MeasureError| (error.to_string(), None))?;
    // What is said of another case is looked for in that one, which may have nodes and workloads of its own.
    if measure.case.as_ref().is_some_and(|case| *case != plan.case && cases.contains(case)) {
        return Ok(());
    }
    let words =
        |list: &'static [(&str, &str)]| -> Vec<&'static str> { list.iter().map(|(word, _)| *word).collect() };
    let quantities = if measure.subject == NETWORK && plan.node(NETWORK).is_none() {
        words(NETWORK_VALUES)
    } else if plan.node(&measure.subject).is_some() {
        [words(NODE_SERIES), words(NODE_TOTALS)].concat()
    } else if plan.evaluation.prefixes.contains(&measure.subject) {
        words(PREFIX_VALUES)
    } else if measure.subject.starts_with('/') {
        let prefixes: Vec<&str> = plan.evaluation.prefixes.iter().map(String::as_str).collect();
        let hint = match prefixes.as_slice() {
            [] => format!("write [measure] prefixes = [\"{}\"]", measure.subject),
            prefixes => suggest(&measure.subject, prefixes),
        };
        return Err((format!("`{}` is not among `measure.prefixes`", measure.subject), Some(hint)));
    } else if let Some(words) = of_clients(plan, &measure.subject) {
        words
    } else {
        let subjects: Vec<&str> = plan
            .nodes
            .iter()
            .map(|node| node.name.as_str())
            .chain(plan.workloads.iter().map(Workload::measured_as))
            .chain(plan.contents.iter().map(|content| content.name.as_str()))
            .collect();
        let hint = suggest(&measure.subject, &subjects);
        return Err((
            format!("`{}` is neither a node nor a workload nor a content", measure.subject),
            Some(hint),
        ));
    };
    let is_of_workloads = WORKLOAD_VALUES.iter().any(|(word, _)| *word == measure.quantity);
    if is_of_workloads
        && !quantities.contains(&measure.quantity.as_str())
        && plan.node(&measure.subject).is_none()
    {
        // Whatever is asked of it: the wrong name is one mistake.
        let workloads: Vec<&str> = plan.workloads.iter().map(Workload::measured_as).collect();
        let message = format!("there is no workload called `{}`, of which this is measured", measure.subject);
        return Err((message, Some(suggest(&measure.subject, &workloads))));
    }
    if !quantities.contains(&measure.quantity.as_str()) {
        let hint = suggest(&measure.quantity, &measured_there(plan, &measure, quantities));
        return Err((format!("`{}` is not measured of `{}`", measure.quantity, measure.subject), Some(hint)));
    }
    if !SUMMARIES.contains(&measure.summary.as_str()) {
        return Err((
            format!("`{}` is not a summary", measure.summary),
            Some(suggest(&measure.summary, SUMMARIES)),
        ));
    }
    match &measure.case {
        Some(case) if !cases.contains(case) => {
            let near = formats::spelling::nearest(case, cases.iter().map(String::as_str));
            let hint = near.map_or_else(|| cases.join("; "), |near| format!("did you mean `{near}`?"));
            Err((format!("there is no case called `{case}`"), Some(hint)))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use testkit::experiment::ROW;

    use crate::experiment::Experiment;

    #[test]
    fn whoever_names_no_measure_is_told_of_none_that_would_be_refused_as_well() {
        let said = |value: &str| {
            let text = format!(
                "title = 't'\nduration = '9 s'\n{ROW}[[expect]]\nsay = 'S'\nvalue = '{value}'\nat_most = 4\n"
            );
            Experiment::parse("t", "t.toml", &text).map_or_else(|wrong| wrong.to_string(), |_| String::new())
        };
        let told = said("files.xyzzy");
        let known = told.split_once("known are: ").map(|(_, known)| known.trim()).unwrap_or_default();
        let words: Vec<&str> = known.split(", ").collect();
        assert!(words.contains(&"duration") && words.contains(&"goodput"), "{told}");
        for word in words {
            assert!(!said(&format!("files.{word}")).contains("is not measured of"), "{word}: {told}");
        }
    }

    #[test]
    fn what_only_one_case_has_is_known_where_that_case_is_named() {
        let text = |value: &str| {
            format!(
                "title = 't'\nduration = '9 s'\n[node]\na = {{}}\nb = {{}}\n[link]\na-b = {{}}\n[content.c]\n\
                 prefix = '/c'\nat = 'b'\nsize = '1 kB'\n[download.d]\nat = 'a'\ncontent = 'c'\n[[route]]\n\
                 prefix = '/c'\npath = ['a', 'b']\n[[case]]\nname = 'one'\n[[case]]\nname = 'two'\n\
                 set = {{ 'download.late' = {{ at = 'a', content = 'c', start = '3 s' }} }}\n[[expect]]\n\
                 say = 'It is late'\nvalue = '{value}'\nat_most = 4\n"
            )
        };
        let refused = |value: &str| {
            let experiment = Experiment::parse("t", "t.toml", &text(value));
            experiment.map_or_else(|wrong| wrong.to_string(), |_| String::new())
        };
        assert_eq!(refused("late.duration.max @ two"), "");
        for value in ["late.duration.max @ one", "late.duration.max", "later.duration.max @ two"] {
            assert!(refused(value).contains("neither a node nor a workload"), "{value}");
        }
        assert!(refused("late.duration.max @ three").contains("neither a node nor a workload"));
    }
}
