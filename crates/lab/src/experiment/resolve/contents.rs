//! Content with its defaults filled in: how many files, and how large each is.

use crate::experiment::model::{Content, File, Sizes};
use crate::experiment::plan::{ContentPlan, EarlierKey, MAX_SIZED_FILES, SizesPlan};
use crate::experiment::read::findings::Findings;
use crate::experiment::read::named_files::Files;

/// Bytes of the largest file that can be written: numbers of segments have room for so many.
const MAX_BYTES: u64 = 1 << 50;

pub(super) fn contents(file: &File, names: &[&str], files: &Files, f: &mut Findings) -> Vec<ContentPlan> {
    let mut contents = Vec::new();
    for (name, content) in &file.content {
        let key = format!("content.{name}");
        f.prefix(&format!("{key}.prefix"), &content.prefix);
        let Some(at) = f.node(&format!("{key}.at"), &content.at, names) else { continue };
        let segment = content.segment.map_or(4096, |size| size.0);
        if !(1..=8000).contains(&segment) {
            let message = "a segment has between 1 and 8000 bytes, so that its packet stays below 8800";
            f.add(format!("{key}.segment"), message, None);
        }
        let sizes = match (&content.size, &content.sizes) {
            (Some(_), None) => None,
            (None, Some(given)) => match sizes(&format!("{key}.sizes"), given, files, f) {
                Some(sizes) => Some(sizes),
                None => continue,
            },
            _ => {
                let hint = Some("write for example size = \"1 MB\"".to_owned());
                f.add(&key, "content has either a `size` or `sizes`", hint);
                continue;
            }
        };
        let listed = match &sizes {
            Some(SizesPlan::List(list)) => u32::try_from(list.len()).unwrap_or(u32::MAX),
            _ => 1,
        };
        let count = content.count.unwrap_or(listed);
        let size_bytes = content.size.map(|size| size.0).or(sizes.as_ref().map(SizesPlan::most)).unwrap_or(0);
        if size_bytes == 0 || count == 0 {
            f.add(&key, "content of no bytes or no files cannot be fetched", None);
        }
        if sizes.is_some() && count > MAX_SIZED_FILES {
            let message = format!("at most {MAX_SIZED_FILES} files have sizes of their own");
            f.add(format!("{key}.count"), message, None);
        }
        contents.push(ContentPlan {
            name: name.clone(),
            prefix: content.prefix.trim_end_matches('/').to_owned(),
            at,
            count,
            size_bytes,
            sizes,
            segment_bytes: u32::try_from(segment).unwrap_or(4096),
            freshness_ns: content.freshness.map_or(3_600_000_000_000, |span| span.0),
            signed: signed(file, &key, content, f),
        });
    }
    contents
}

/// What became of the owner's earlier key, if the owner signs.
fn signed(file: &File, key: &str, content: &Content, f: &mut Findings) -> Option<EarlierKey> {
    let words = [("none", false), ("owner", true)];
    let is_signed = f.word(&format!("{key}.key"), content.key.as_deref().unwrap_or("none"), &words)?;
    let word = content.earlier_key.as_deref().unwrap_or("valid");
    let earlier = f.word(&format!("{key}.earlier_key"), word, &EarlierKey::WORDS)?;
    let earlier = match (earlier, content.revoked_at) {
        (EarlierKey::Published(_), Some(at)) => EarlierKey::Published(at.0),
        (EarlierKey::Published(_), None) => {
            let hint = Some("write for example revoked_at = \"6 s\"".to_owned());
            f.add(format!("{key}.earlier_key"), "a record is published at some time", hint);
            return None;
        }
        (earlier, None) => earlier,
        (earlier, Some(_)) => {
            let hint = Some("write earlier_key = \"published\"".to_owned());
            f.add(format!("{key}.revoked_at"), "no record is published", hint);
            earlier
        }
    };
    if !is_signed {
        if content.earlier_key.is_some() {
            let hint = Some("write key = \"owner\"".to_owned());
            f.add(format!("{key}.earlier_key"), "nothing is signed with a key", hint);
        }
        return None;
    }
    if file.dialect.as_deref().is_some_and(|dialect| dialect != "ndn") {
        f.add(format!("{key}.key"), "content is signed with a key in NDN only", None);
    }
    Some(earlier)
}

/// What is said of sizes, or why it makes no sense.
fn sizes(key: &str, given: &Sizes, files: &Files, f: &mut Findings) -> Option<SizesPlan> {
    let of_law = [
        ("shape", given.shape.is_some(), "pareto"),
        ("min", given.min.is_some(), "pareto"),
        ("median", given.median.is_some(), "log-normal"),
        ("deviation", given.deviation.is_some(), "log-normal"),
        ("max", given.max.is_some(), given.law.as_deref().unwrap_or("pareto")),
    ];
    for (word, _, law) in of_law.iter().filter(|(_, is_said, _)| *is_said) {
        if given.law.as_deref() != Some(law) {
            let hint = Some(format!("add law = \"{law}\", or take it away"));
            f.add(format!("{key}.{word}"), "nothing is drawn by it", hint);
        }
    }
    if given.format.is_some() && given.trace.is_none() {
        f.add(format!("{key}.format"), "only a trace has a format", None);
    }
    match (given.list.as_slice(), given.law.as_deref(), &given.file, &given.trace) {
        (list @ [_, ..], None, None, None) => {
            if list.iter().any(|size| !(1..=MAX_BYTES).contains(&size.0)) {
                f.add(format!("{key}.list"), "a file has at least one byte, and at most 1 PiB", None);
                return None;
            }
            Some(SizesPlan::List(list.iter().map(|size| size.0).collect::<Vec<_>>().into()))
        }
        ([], None, None, Some(name)) => match files.trace(name, given.format.as_deref().unwrap_or("csv")) {
            Ok(trace) => Some(SizesPlan::List(trace.sizes)),
            Err(message) => {
                f.add(format!("{key}.trace"), message, None);
                None
            }
        },
        ([], Some(law), None, None) => law_of(key, law, given, f),
        ([], None, Some(name), None) => {
            let key = format!("{key}.file");
            let Some(text) = files.text(name) else {
                let hint = Some("it is looked for in the experiment's folder".to_owned());
                f.add(key, format!("`{name}` cannot be read as text"), hint);
                return None;
            };
            match counted(text) {
                Ok(list) => Some(SizesPlan::Empirical(list.into())),
                Err(message) => {
                    f.add(key, format!("`{name}`: {message}"), None);
                    None
                }
            }
        }
        _ => {
            let hint = Some("write for example sizes = { law = \"pareto\", min = \"10 kB\" }".to_owned());
            f.add(key, "sizes are a `list`, those of a `trace`, or drawn by a `law` or from a `file`", hint);
            None
        }
    }
}

/// A distribution with its parameters.
fn law_of(key: &str, law: &str, given: &Sizes, f: &mut Findings) -> Option<SizesPlan> {
    let number = |word: &str, value: f64, f: &mut Findings| {
        let is_good = value.is_finite() && value > 0.0 && value <= 100.0;
        if !is_good {
            f.add(format!("{key}.{word}"), "it must be above 0 and at most 100", None);
        }
        is_good.then_some(value)
    };
    let known = [("pareto", true), ("log-normal", false)];
    let is_pareto = f.word(&format!("{key}.law"), law, &known)?;
    let (word, low) = if is_pareto {
        ("min", given.min.map_or(1_000, |size| size.0))
    } else {
        ("median", given.median.map_or(10_000, |size| size.0))
    };
    let most = given.max.map_or(low.saturating_mul(1_000), |size| size.0);
    if low == 0 {
        f.add(format!("{key}.{word}"), "a file has at least one byte", None);
    }
    if !(low..=MAX_BYTES).contains(&most) {
        let message = format!("it must be no less than `{word}`, and no more than 1 PiB");
        f.add(format!("{key}.max"), message, None);
        return None;
    }
    Some(if is_pareto {
        SizesPlan::Pareto { shape: number("shape", given.shape.unwrap_or(1.2), f)?, least: low, most }
    } else {
        let deviation = number("deviation", given.deviation.unwrap_or(1.0), f)?;
        SizesPlan::LogNormal { median: low, deviation, most }
    })
}

/// The sizes in a CSV file.
fn counted(text: &str) -> Result<Vec<u64>, String> {
    let (mut sizes, mut column) = (Vec::new(), 0);
    for (number, row) in formats::csv::Reader::new(text.as_bytes()).enumerate() {
        let row = row.map_err(|error| error.to_string())?;
        let fields: Vec<&str> = row.iter().map(str::trim).collect();
        if fields.iter().all(|field| field.is_empty()) {
            continue;
        }
        let is_size =
            |field: &&str| ["size", "bytes", "obj_size"].iter().any(|word| field.eq_ignore_ascii_case(word));
        if number == 0
            && let Some(place) = fields.iter().position(is_size)
        {
            column = place;
            continue;
        }
        let size = fields.get(column).and_then(|field| field.parse().ok());
        match size.filter(|size| (1..=MAX_BYTES).contains(size)) {
            Some(size) => sizes.push(size),
            None => return Err(format!("row {}: there is no whole number of bytes from 1 on", number + 1)),
        }
        if sizes.len() > MAX_SIZED_FILES as usize {
            return Err(format!("it has more than {MAX_SIZED_FILES} sizes"));
        }
    }
    if sizes.is_empty() { Err("it has no sizes".to_owned()) } else { Ok(sizes) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolved(content: &str, files: &[(&str, &str)]) -> (Vec<ContentPlan>, Vec<String>) {
        let text = format!(
            "title = 't'\nduration = '9 s'\n[node.a]\n[content.f]\nprefix = '/f'\nat = 'a'\n{content}"
        );
        let file: File = toml::from_str(&text).unwrap();
        let files = files.iter().map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec())).collect();
        let mut f = Findings::default();
        let plans = contents(&file, &["a"], &files, &mut f);
        (plans, f.0.into_iter().map(|finding| format!("{}: {}", finding.key, finding.message)).collect())
    }

    #[test]
    fn sizes_are_a_list_a_law_or_a_file() {
        let plan = |content: &str| {
            let (plans, wrong) = resolved(content, &[("s.csv", "name,size\n\"a, b\",700\nc,300\n")]);
            assert!(wrong.is_empty(), "{content}: {wrong:?}");
            plans.into_iter().next().map(|plan| (plan.count, plan.size_bytes, plan.sizes)).unwrap()
        };
        assert_eq!(plan("size = '5 kB'"), (1, 5_000, None));
        let list = SizesPlan::List(vec![1_000, 7].into());
        assert_eq!(plan("sizes = { list = ['1 kB', '7 B'] }"), (2, 1_000, Some(list)));
        let pareto = SizesPlan::Pareto { shape: 1.2, least: 1_000, most: 1_000_000 };
        assert_eq!(plan("count = 9\nsizes = { law = 'pareto' }"), (9, 1_000_000, Some(pareto)));
        let normal = SizesPlan::LogNormal { median: 2_000, deviation: 0.5, most: 9_000 };
        let said = "sizes = { law = 'log-normal', median = '2 kB', deviation = 0.5, max = '9 kB' }";
        assert_eq!(plan(said), (1, 9_000, Some(normal)));
        let counted = SizesPlan::Empirical(vec![700, 300].into());
        assert_eq!(plan("sizes = { file = 's.csv' }"), (1, 700, Some(counted)));
    }

    #[test]
    fn what_is_wrong_with_sizes_is_said_where_it_stands() {
        let files = [("bad.csv", "size\n5\n-3\n"), ("none.csv", "size\n")];
        for (content, expected) in [
            ("", "content.f: content has either a `size` or `sizes`"),
            (
                "size = '1 kB'\nsizes = { list = ['1 kB'] }",
                "content.f: content has either a `size` or `sizes`",
            ),
            (
                "sizes = {}",
                "content.f.sizes: sizes are a `list`, those of a `trace`, or drawn by a `law` or from a `file`",
            ),
            (
                "sizes = { list = ['0 B'] }",
                "content.f.sizes.list: a file has at least one byte, and at most 1 PiB",
            ),
            ("sizes = { law = 'gauss' }", "content.f.sizes.law: `gauss` is not known here"),
            (
                "sizes = { law = 'pareto', shape = 0.0 }",
                "content.f.sizes.shape: it must be above 0 and at most 100",
            ),
            ("sizes = { law = 'pareto', median = '1 kB' }", "content.f.sizes.median: nothing is drawn by it"),
            (
                "sizes = { law = 'pareto', min = '9 kB', max = '8 kB' }",
                "content.f.sizes.max: it must be no less than `min`, and no more than 1 PiB",
            ),
            (
                "sizes = { file = 'missing.csv' }",
                "content.f.sizes.file: `missing.csv` cannot be read as text",
            ),
            (
                "sizes = { file = 'bad.csv' }",
                "content.f.sizes.file: `bad.csv`: row 3: there is no whole number of bytes from 1 on",
            ),
            ("sizes = { file = 'none.csv' }", "content.f.sizes.file: `none.csv`: it has no sizes"),
            (
                "count = 1000001\nsizes = { law = 'pareto' }",
                "content.f.count: at most 1000000 files have sizes of their own",
            ),
        ] {
            assert_eq!(resolved(content, &files).1, [expected], "{content}");
        }
    }
}
