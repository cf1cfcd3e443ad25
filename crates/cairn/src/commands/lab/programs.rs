//! The programs that a run uses, and what this one was built from.

use lab::driver::Programs;
use lab::run::Build;

use crate::tool::ToolError;

/// What this program was built from.
pub(super) fn build() -> Build {
    let text = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    Build { commit: text(env!("CAIRN_COMMIT")), clean: env!("CAIRN_CLEAN").parse().ok() }
}

/// This program, and others that are in PATH or named in the environment.
pub(super) fn programs() -> Result<Programs, ToolError> {
    let cairn = std::env::current_exe().map_err(ToolError::file("this program"))?;
    Ok(Programs::beside(cairn))
}
