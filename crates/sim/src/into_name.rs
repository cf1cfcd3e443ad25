//! Names as callers have them: as names, or as text.

use packet::Name;

use crate::error::SimError;

/// What can be read as a name.
pub trait IntoName {
    /// The name.
    ///
    /// # Errors
    /// A text that is not a name.
    fn into_name(self) -> Result<Name, SimError>;
}

impl IntoName for Name {
    fn into_name(self) -> Result<Name, SimError> {
        Ok(self)
    }
}

impl IntoName for &Name {
    fn into_name(self) -> Result<Name, SimError> {
        Ok(self.clone())
    }
}

impl IntoName for &str {
    fn into_name(self) -> Result<Name, SimError> {
        self.parse().map_err(|source| SimError::Name { uri: self.to_owned(), source })
    }
}

impl IntoName for &String {
    fn into_name(self) -> Result<Name, SimError> {
        self.as_str().into_name()
    }
}

impl IntoName for String {
    fn into_name(self) -> Result<Name, SimError> {
        self.as_str().into_name()
    }
}
