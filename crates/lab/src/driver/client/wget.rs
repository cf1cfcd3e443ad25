//! GNU Wget: the paper's client. It asks once, and a server that fails it fails the transfer.

use super::Fetch;
use crate::driver::tools::Tool;
use crate::driver::{DriverError, Launch};

pub(super) fn command(fetch: &Fetch<'_>) -> Result<Launch, DriverError> {
    let tool = Tool::find("wget", "wget")?;
    Ok(tool.launch(["--quiet", "--no-proxy", "--tries=1", "-O", fetch.output, &fetch.url()]))
}
