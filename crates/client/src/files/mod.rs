//! Sources of Data whose bytes lie on a disk: an object in a file, and a folder.

mod ccnx_object;
mod folder;
mod object;

pub use ccnx_object::CcnxObjectSource;
pub use folder::{Entry, Folder};
pub use object::{Bytes, ObjectSource};
