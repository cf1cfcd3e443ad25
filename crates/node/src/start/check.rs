//! Whether a configuration could be used.

use super::CheckedConfig;
use crate::config::{Config, ConfigError};
use crate::management::ManagementConfig;

impl Config {
    /// Whether all names, addresses, words and limits mean something, and the certificates can be read. What
    /// the machine has to give, sockets and interfaces, is not tried.
    ///
    /// # Errors
    /// The first thing that makes no sense.
    pub fn check(&self) -> Result<(), ConfigError> {
        CheckedConfig::read(self)?;
        ManagementConfig::read(self)?;
        Ok(())
    }
}
