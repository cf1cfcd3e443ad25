//! Sources of Data whose bytes lie on a disk: an object in a file, in either dialect, and a folder.

mod ccnx_file_object;
mod file_object;
mod folder;
mod packet_cache;

pub use ccnx_file_object::CcnxFileObject;
pub use file_object::FileObject;
pub use folder::{Entry, Folder};

#[cfg(test)]
mod tests {
    use std::fs::File;

    /// A file that nothing but its descriptor leads to.
    pub(super) fn file_of(name: &str, bytes: &[u8]) -> File {
        let folder = testkit::folder::TestFolder::new(&format!("segments-{name}"));
        std::fs::write(folder.join("file"), bytes).unwrap();
        File::open(folder.join("file")).unwrap()
    }
}
