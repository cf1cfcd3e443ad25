//! Everything needed to do it again.

use std::fmt::Write;

use super::data::RunData;
use super::scale::with_unit;
use super::svg::escape;

pub(super) fn section(run: &RunData) -> String {
    let record = &run.record;
    let machine = &record.machine;
    let control = run
        .cases
        .iter()
        .flat_map(|case| &case.results)
        .map(|result| result.outcome.control.as_str())
        .find(|words| !words.is_empty())
        .unwrap_or("–");
    let mut out = format!(
        "<pre><code>cairn lab run {}.toml --on {} --repeats {}</code></pre>\n<table>\n",
        escape(&record.experiment),
        escape(&record.backend),
        record.repeats
    );
    let rows = [
        ("began", record.began.clone()),
        ("backend", record.backend.clone()),
        ("lab", format!("cairn {}", record.version)),
        ("software under test", record.software.clone()),
        ("seed", format!("{}; repeat number n uses the seed + n − 1", record.seed)),
        (
            "machine",
            format!(
                "{} × {}, {}",
                machine.processors,
                machine.processor,
                with_unit(machine.memory_bytes as f64, "B")
            ),
        ),
        ("system", machine.kernel.clone()),
        ("shares", control.to_owned()),
    ];
    for (name, value) in rows {
        let _ = writeln!(out, "<tr><th>{name}</th><td>{}</td></tr>", escape(&value));
    }
    if let Some(why) = run.cases.first().and_then(|case| case.plan.scaling.as_ref()) {
        let _ = writeln!(out, "<tr><th>scaling</th><td>{}</td></tr>", escape(why));
    }
    let _ = write!(
        out,
        "</table>\n<p>Beside this page are the figures as SVG with their data as CSV (<code>figures/</code>), all numbers of all \
         repeats (<code>results.csv</code>), and for each repeat the raw captures, logs and transfers, compressed \
         (<code>case-…/repeat-…/raw/</code>), and what was derived from them (<code>derived/</code>).</p>\n\
         <details><summary>The experiment as it was given</summary><pre><code>{}</code></pre></details>\n",
        escape(&run.experiment.text)
    );
    out
}
