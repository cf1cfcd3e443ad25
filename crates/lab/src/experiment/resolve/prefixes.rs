//! Prefixes by which Interests are counted: each must be one that something asks for.

use packet::Name;

use crate::experiment::model::File;
use crate::experiment::plan::{Activity, ContentPlan, Workload};
use crate::experiment::read::findings::Findings;

/// More would be a table of names, which traces are for.
const MAX_PREFIXES: usize = 64;

/// The prefixes of a file, without what is wrong with them.
pub(super) fn prefixes(
    file: &File,
    workloads: &[Workload],
    contents: &[ContentPlan],
    f: &mut Findings,
) -> Vec<String> {
    let given = file.measure.as_ref().map_or(&[][..], |measure| measure.prefixes.as_slice());
    if given.len() > MAX_PREFIXES {
        f.add("measure.prefixes", format!("more than {MAX_PREFIXES} prefixes are too many"), None);
        return Vec::new();
    }
    let mut list: Vec<String> = Vec::new();
    for (place, given) in given.iter().enumerate() {
        let key = format!("measure.prefixes.{place}");
        f.prefix(&key, given);
        let (true, Ok(name)) = (given.starts_with('/'), given.parse::<Name>()) else { continue };
        // As names are written, so that a measure of it can be found.
        let word = name.to_string();
        if list.contains(&word) {
            f.add(&key, format!("`{word}` stands there twice"), None);
            continue;
        }
        if !workloads.iter().any(|workload| asks(workload, contents, &name)) {
            let is_elsewhere =
                |workload: &Workload| matches!(workload.does, Activity::Consume(_) | Activity::Program(_));
            let hint = workloads.iter().any(is_elsewhere).then(|| {
                "`download`, `traffic`, `ping` and `flood` are counted by prefix; consumers and programs are not"
                    .to_owned()
            });
            f.add(&key, format!("no traffic uses `{word}`"), hint);
        }
        list.push(word);
    }
    list
}

/// May a workload ask for a name below the prefix?
fn asks(workload: &Workload, contents: &[ContentPlan], prefix: &Name) -> bool {
    match &workload.does {
        Activity::Download { content, .. } | Activity::Traffic { content, .. } => {
            contents.get(*content).is_some_and(|content| is_of_content(content, prefix))
        }
        Activity::Flood { prefix: own, .. } | Activity::Ping { prefix: own, .. } => {
            own.parse::<Name>().is_ok_and(|own| meet(&own, prefix))
        }
        Activity::Consume(_) | Activity::Program(_) | Activity::Register(_) | Activity::Load { .. } => false,
    }
}

/// Is one of two names a prefix of the other?
fn meet(one: &Name, other: &Name) -> bool {
    one.as_ref().is_prefix_of(other.as_ref()) || other.as_ref().is_prefix_of(one.as_ref())
}

/// Does a prefix hold names of a content? Its files are numbered below the content's own prefix.
fn is_of_content(content: &ContentPlan, prefix: &Name) -> bool {
    let Ok(own) = content.prefix.parse::<Name>() else { return false };
    let file = prefix.as_ref().component(own.as_ref().component_count());
    let is_file = file.is_none_or(|file| {
        let number = std::str::from_utf8(file.value).ok().and_then(|text| text.parse::<u32>().ok());
        number.is_some_and(|number| number < content.count)
    });
    meet(&own, prefix) && is_file
}
