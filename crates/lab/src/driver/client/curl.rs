//! curl.

use super::Fetch;
use crate::driver::tools::Tool;
use crate::driver::{DriverError, Launch};

pub(super) fn command(fetch: &Fetch<'_>) -> Result<Launch, DriverError> {
    let tool = Tool::find("curl", "curl")?;
    Ok(tool.launch([
        "--silent",
        "--show-error",
        "--fail",
        "--noproxy",
        "*",
        "-o",
        fetch.output,
        &fetch.url(),
    ]))
}
