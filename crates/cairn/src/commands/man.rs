//! `cairn man`: manual pages, made from the commands themselves and what is known of files and variables.

mod page;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Command};

use crate::tool::{ToolError, finish};
use page::Page;

/// Write manual pages, one for each command, into a folder.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cairn man /usr/local/share/man/man1
  cairn man . && man ./cairn-get.1

Exit codes: 0 done; 1 a page cannot be written; 2 wrong usage.")]
pub(crate) struct ManArguments {
    /// The folder; it is made if it is not there.
    folder: PathBuf,
}

impl ManArguments {
    /// `whole` is the command `cairn` with all that is below it.
    pub(crate) fn run(&self, whole: Command) -> ExitCode {
        finish(self.write(whole).map(|()| ExitCode::SUCCESS))
    }

    fn write(&self, whole: Command) -> Result<(), ToolError> {
        std::fs::create_dir_all(&self.folder).map_err(ToolError::file(&self.folder))?;
        for page in pages(whole) {
            let path = self.folder.join(format!("{}.1", page.name()));
            std::fs::write(&path, page.to_roff()).map_err(ToolError::file(Path::new(&path)))?;
        }
        Ok(())
    }
}

/// A page for each command, the one above all first.
fn pages(whole: Command) -> Vec<Page> {
    // A page about each `help` would say nothing.
    let mut command = whole.disable_help_subcommand(true);
    command.build();
    let mut pages = Vec::new();
    collect(&command, None, &mut pages);
    pages
}

fn collect(command: &Command, above: Option<&Page>, pages: &mut Vec<Page>) {
    let page = Page::new(command, above);
    pages.push(page.clone());
    for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
        collect(below, Some(&page), pages);
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    fn all_pages() -> Vec<Page> {
        pages(crate::builder::Arguments::command())
    }

    /// Whether there is a section of this title, which may stand in quotation marks.
    fn has_section(roff: &str, title: &str) -> bool {
        roff.lines()
            .any(|line| line.strip_prefix(".SH ").is_some_and(|found| found.trim_matches('"') == title))
    }

    #[test]
    fn every_page_says_what_a_user_looks_for() {
        let pages = all_pages();
        assert!(pages.len() > 60, "{}", pages.len());
        for page in &pages {
            let text = page.to_roff();
            for section in ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS", "SEE ALSO"] {
                assert!(has_section(&text, section), "{} has no {section}", page.name());
            }
            assert!(!text.contains("cairn(1), cairn(1)"), "{} refers to itself twice", page.name());
        }
    }

    #[test]
    fn every_page_about_forwarders_and_tools_has_an_example() {
        for page in all_pages() {
            let is_elsewhere =
                ["cairn-lab", "cairn-sim", "cairn-bench"].iter().any(|other| page.name().starts_with(other));
            let text = page.to_roff();
            assert!(is_elsewhere || has_section(&text, "EXAMPLES"), "{} has no example", page.name());
        }
    }

    #[test]
    fn what_a_page_refers_to_is_there() {
        let pages = all_pages();
        let names: Vec<&str> = pages.iter().map(Page::name).collect();
        for page in &pages {
            for other in page.see_also() {
                assert!(names.contains(&other.as_str()), "{} refers to {other}", page.name());
            }
        }
    }
}
