//! What decides when which file is downloaded: a workload, or a trace.

use super::named_workload::named_workload;
use crate::experiment::model::{Download, Replay};
use crate::experiment::plan::{ArrivalsPlan, ContentPlan, ReplayPlan, Turn};
use crate::experiment::read::findings::Findings;
use crate::experiment::read::named_files::Files;
use crate::experiment::read::recorded::MAX_REQUESTS;

/// What a download says of it: nothing where it goes file by file; an error, which was told, where it makes
/// no sense.
pub(super) fn arrivals(
    key: &str,
    given: &Download,
    content: &ContentPlan,
    files: &Files,
    turn: Turn,
    f: &mut Findings,
) -> Result<Option<ArrivalsPlan>, ()> {
    let word = match (&given.workload, &given.trace) {
        (None, None) => {
            if given.stop.is_some() {
                let hint = Some("say `count`, or a `workload`".to_owned());
                f.add(format!("{key}.stop"), "downloads one after the other end with the last file", hint);
            }
            return Ok(None);
        }
        (Some(_), Some(_)) => {
            f.add(key, "a download has either a `workload` or a `trace`", None);
            return Err(());
        }
        (Some(_), None) => "workload",
        (None, Some(_)) => "trace",
    };
    if given.rate.is_some() {
        f.add(format!("{key}.rate"), format!("`{word}` says when downloads begin"), None);
    }
    if let Some(text) = &given.workload {
        let named = named_workload(&format!("{key}.workload"), text, f);
        return named.map(|text| Some(ArrivalsPlan::Workload(text))).ok_or(());
    }
    let Some(trace) = &given.trace else { return Err(()) };
    if given.count.is_some() {
        let hint = Some("say `requests` below `trace`".to_owned());
        f.add(format!("{key}.count"), "the trace says how many downloads there are", hint);
    }
    replay(&format!("{key}.trace"), trace, content, files, turn, f)
        .map(|plan| Some(ArrivalsPlan::Trace(plan)))
        .ok_or(())
}

/// A trace that is replayed, with as many objects as a content has; nothing where it makes no sense, which
/// was told.
pub(super) fn replay(
    key: &str,
    given: &Replay,
    content: &ContentPlan,
    files: &Files,
    turn: Turn,
    f: &mut Findings,
) -> Option<ReplayPlan> {
    let trace = match files.trace(&given.file, given.format.as_deref().unwrap_or("csv")) {
        Ok(trace) => trace,
        Err(message) => {
            let hint = files.get(&given.file).is_none();
            let hint = hint.then(|| "it is looked for in the experiment's folder".to_owned());
            f.add(format!("{key}.file"), message, hint);
            return None;
        }
    };
    let speed = given.speed.unwrap_or(1.0);
    if !(1e-6..=1e9).contains(&speed) {
        f.add(format!("{key}.speed"), "it is a number from 0.000001 to 1000000000", None);
        return None;
    }
    let all = trace.requests.len();
    let first = given.requests.map_or(all, |first| first as usize);
    if given.requests.is_none() && trace.goes_on {
        let hint = Some(format!("write for example requests = {MAX_REQUESTS}"));
        f.add(key, format!("the trace has more than {MAX_REQUESTS} requests"), hint);
        return None;
    }
    if first == 0 || first > all {
        f.add(format!("{key}.requests"), format!("there are {all} requests to replay"), None);
        return None;
    }
    let requests = trace.requests.get(..first).unwrap_or_default();
    let objects = requests.iter().map(|(_, object)| object + 1).max().unwrap_or(0);
    if objects > content.count {
        let (name, count) = (&content.name, content.count);
        let hint = format!("write sizes = {{ trace = \"{}\" }} there, or count = {objects}", given.file);
        f.add(key, format!("it asks for {objects} objects, and `{name}` has {count}"), Some(hint));
        return None;
    }
    Some(ReplayPlan { requests: trace.requests, first, speed, turn })
}
