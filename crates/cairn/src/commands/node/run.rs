//! `cairn node run`.

use std::path::Path;
use std::process::ExitCode;

use formats::printable::printable_path;
use node::Node;
use node::config::{Config, ConfigError, Converted};
use node::management::{ManagementConfig, NfdManagement};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use thiserror::Error;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use super::{RunArguments, fail};

/// Why a node does not run.
#[derive(Debug, Error)]
pub(super) enum RunError {
    #[error("cannot read {path}: {source}")]
    Read { path: String, source: std::io::Error },
    #[error("{path}: {source}")]
    Config { path: String, source: ConfigError },
    #[error(transparent)]
    Start(#[from] node::StartError),
    #[error("cannot wait for signals: {0}")]
    Signals(std::io::Error),
    #[error("a thread of the node has ended, which must not happen; what stands before says why")]
    Failed,
    #[error("log filter {filter}: {source}")]
    Filter { filter: String, source: tracing_subscriber::filter::ParseError },
}

pub(super) fn run(arguments: &RunArguments) -> ExitCode {
    match try_run(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(&error),
    }
}

fn try_run(arguments: &RunArguments) -> Result<(), RunError> {
    // Before anything is held in memory.
    node::use_small_pages();
    let config = read(arguments.config.as_deref())?;
    let log = start_log(&config)?;
    // Signals are caught before anything is started, so that none is lost and none ends the process half-way.
    let mut signals = Signals::new([SIGHUP, SIGINT, SIGTERM]).map_err(RunError::Signals)?;
    let in_file = |error| in_file(arguments, error);
    let management = ManagementConfig::read(&config).map_err(|error| in_file(error.into()))?;
    let mut node = Node::start(&config, Box::new(NfdManagement::new(management))).map_err(in_file)?;
    let waiting = signals.handle();
    node.when_ended(move || waiting.close()).map_err(node::StartError::from)?;
    tracing::info!("running");
    let mut told_to_end = false;
    for signal in signals.forever() {
        if signal != SIGHUP {
            tracing::info!("stopping");
            told_to_end = true;
            break;
        }
        match reload(arguments, &mut node, &log) {
            Ok(fixed) if fixed.is_empty() => tracing::info!("configuration read again"),
            Ok(fixed) => {
                tracing::warn!("configuration read again; a restart is needed for {}", fixed.join(", "));
            }
            Err(error) => tracing::error!("configuration not taken over: {error}"),
        }
    }
    node.shut_down();
    // Whoever watches over it starts it again.
    if told_to_end { Ok(()) } else { Err(RunError::Failed) }
}

/// Says in which file a mistake in the configuration is.
fn in_file(arguments: &RunArguments, error: node::StartError) -> RunError {
    match (&arguments.config, error) {
        (Some(path), node::StartError::Config(source)) => {
            RunError::Config { path: printable_path(path), source }
        }
        (_, error) => RunError::Start(error),
    }
}

/// Reads a configuration and checks all that can be checked without beginning.
pub(super) fn check(path: &Path) -> Result<(), RunError> {
    let config = read(Some(path))?;
    log_filter(&config)?;
    config.check().map_err(|source| RunError::Config { path: printable_path(path), source })
}

/// Makes a configuration of one of NFD.
pub(super) fn from_nfd(path: &Path) -> Result<Converted, RunError> {
    let shown = printable_path(path);
    let text = crate::tool::files::read_text(path)
        .map_err(|source| RunError::Read { path: shown.clone(), source })?;
    let folder = std::path::absolute(path).ok().and_then(|path| path.parent().map(Path::to_owned));
    node::config::from_nfd(&text, &folder.unwrap_or_default())
        .map_err(|source| RunError::Config { path: shown, source })
}

/// Reads a configuration while the node runs: from a file, and nothing that could keep it waiting.
fn read_again(path: Option<&Path>) -> Result<Config, RunError> {
    read_by(path, |path| {
        let bytes = trust::whole_file::read(path, trust::whole_file::MAX_BYTES)?;
        String::from_utf8(bytes).map_err(std::io::Error::other)
    })
}

/// Reads a configuration, or gives the default one.
fn read(path: Option<&Path>) -> Result<Config, RunError> {
    read_by(path, crate::tool::files::read_text)
}

fn read_by(path: Option<&Path>, read: impl Fn(&Path) -> std::io::Result<String>) -> Result<Config, RunError> {
    let Some(path) = path else { return Ok(Config::default()) };
    let shown = printable_path(path);
    let text = read(path).map_err(|source| RunError::Read { path: shown.clone(), source })?;
    Config::read(&text).map_err(|source| RunError::Config { path: shown, source })
}

fn reload(arguments: &RunArguments, node: &mut Node, log: &LogFilter) -> Result<Vec<&'static str>, RunError> {
    let config = read_again(arguments.config.as_deref())?;
    let filter = log_filter(&config)?;
    // Fails only when there is no log any more.
    let _ = log.reload(filter);
    node.reload(&config).map_err(|error| in_file(arguments, error))
}

type LogFilter = tracing_subscriber::reload::Handle<Targets, tracing_subscriber::Registry>;

fn start_log(config: &Config) -> Result<LogFilter, RunError> {
    let (filter, handle) = tracing_subscriber::reload::Layer::new(log_filter(config)?);
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_ansi(false);
    tracing_subscriber::registry().with(filter).with(lines).init();
    Ok(handle)
}

fn log_filter(config: &Config) -> Result<Targets, RunError> {
    let filter = std::env::var("CAIRN_LOG").unwrap_or_else(|_| config.log.filter.clone());
    filter.parse().map_err(|source| RunError::Filter { filter: filter.clone(), source })
}
