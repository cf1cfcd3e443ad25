//! Which of the Data that the content store takes in is verified.

use std::path::PathBuf;

use super::section::section;

section! {
    /// Verification of a sample of the Data that the content store takes in. What does not stand it leaves
    /// the store, and nothing more of that object is kept that comes the same way.
    VerificationConfig {
        /// Certificates that are believed without proof: a file for each. Without any nothing is verified.
        anchors: Vec<PathBuf> = Vec::new(),
        /// The same for Data of CCNx: files with public keys (DER), or with the objects that hold them. What
        /// lies under a prefix of CCNx must be signed by one of these.
        publishers: Vec<PathBuf> = Vec::new(),
        /// A file with rules: who may sign what; it may name anchors too. Without it an identity may sign
        /// what lies under its own name.
        rules: Option<PathBuf> = None,
        /// Only Data under these prefixes: those that the anchors and rules are about, and for publishers
        /// those of CCNx (`ccnx:/…`), which must be named. What lies elsewhere is not judged. Without any of
        /// NDN, the identities of the anchors.
        prefixes: Option<Vec<String>> = None,
        /// How much of it, from 0 to 1.
        share: f64 = 0.05,
        /// Data that may wait to be verified, 1 to 4,096; while so much waits, none is added.
        max_waiting: usize = 256,
        /// Seconds for which nothing of an object is kept that has been refused by the same face.
        distrust_secs: u64 = 60,
    }
}
