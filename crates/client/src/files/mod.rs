//! Sources of Data whose bytes lie on a disk: an object in a file, and a folder.

mod folder;
mod object;

pub use folder::{Entry, Folder};
pub use object::{Bytes, ObjectSource};
