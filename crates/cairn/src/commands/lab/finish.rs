//! What follows when a run is done.

use lab::report::write_report_of;
use lab::run::RunFolder;
use lab::run::progress::Progress;

use super::Outcome;
use super::screen::Screen;
use super::verdicts::{Form, tell};
use crate::tool::ToolError;

/// Writes the report and says where it is.
pub(super) fn finish(folder: &RunFolder, screen: &mut Screen, form: Form) -> Outcome {
    screen.show(&Progress::Step("report".to_owned()));
    let run = super::runs::read(folder)?;
    let page = write_report_of(&run).map_err(ToolError::other)?;
    if !screen.brief {
        screen.line("");
    }
    tell(&run, folder.path(), &page, form)
}
