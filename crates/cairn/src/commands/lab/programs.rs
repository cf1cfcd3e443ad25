//! The programs that a run uses, and what this one was built from.

use std::path::PathBuf;

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
    let path = std::env::var_os("PATH").unwrap_or_default();
    let find = |name: &str, variable: &str| {
        let named = std::env::var_os(variable).map(PathBuf::from);
        let mut files = std::env::split_paths(&path).map(|folder| folder.join(name));
        named.or_else(|| files.find(|file| file.is_file()))
    };
    let cairn = std::env::current_exe().map_err(ToolError::file("this program"))?;
    Ok(Programs { cairn, ndnd: find("ndnd", "CAIRN_NDND"), nfd: find("nfd", "CAIRN_NFD") })
}
