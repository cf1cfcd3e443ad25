//! `docs/interop.md`, made of results.

use std::fmt::Write as _;

use super::Outcome;
use super::peers::Peers;

pub(super) fn render(peers: &Peers, outcomes: &[Outcome]) -> String {
    let mut page = String::from(HEAD);
    page.push_str("\n## Versions\n\n| software | version |\n|---|---|\n");
    for (name, version) in &peers.versions {
        let _ = writeln!(page, "| {name} | {version} |");
    }
    page.push_str("\n## What was tried\n\n| peer | link | what | result |\n|---|---|---|---|\n");
    for outcome in outcomes {
        let case = outcome.case;
        let verdict = if outcome.result.is_ok() { "works" } else { "does not work" };
        let _ = writeln!(page, "| {} | {} | {} | {verdict} |", case.peer, case.link, case.what);
    }
    page.push_str(TAIL);
    page
}

const HEAD: &str = "\
# Who works with whom

`cargo xtask interop --write` writes this page. It installs each peer in the version below from its package
registry, runs it against Cairn on one machine, and checks the results. The full continuous integration fails
if the results differ from this page.
";

const TAIL: &str = include_str!("page_tail.md");
