//! Programs that fetch files: the command of each for one file. Adding one is a file here, a word in
//! `FetchClient`, and a line in [`command()`].

mod cairn;
mod curl;
mod wget;

use std::path::Path;

use super::server::url;
use super::{DriverError, Launch};
use crate::experiment::plan::{FetchClient, FetchPlan, Plan};

/// One file to be fetched.
#[derive(Debug)]
pub struct Fetch<'a> {
    /// The experiment.
    pub plan: &'a Plan,
    /// What is fetched.
    pub what: FetchPlan,
    /// Which file of the content.
    pub number: u32,
    /// Where it is written, in the client's working folder.
    pub output: &'a str,
    /// The run's folder.
    pub folder: &'a Path,
    /// Our own command.
    pub cairn: &'a Path,
}

impl Fetch<'_> {
    /// The name of the file: `/prefix/number`, in URLs as among named data.
    fn name(&self) -> String {
        let prefix = self.plan.contents.get(self.what.content).map_or("", |content| content.prefix.as_str());
        format!("{prefix}/{}", self.number)
    }

    fn url(&self) -> String {
        self.what.from.map_or_else(String::new, |node| url(self.plan, node, &self.name()))
    }
}

/// The command that fetches a file.
///
/// # Errors
///
/// When the program is nowhere.
pub fn command(fetch: &Fetch<'_>) -> Result<Launch, DriverError> {
    match fetch.what.client {
        FetchClient::Wget => wget::command(fetch),
        FetchClient::Curl => curl::command(fetch),
        FetchClient::Cairn => Ok(cairn::command(fetch)),
    }
}
