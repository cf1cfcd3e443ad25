//! Every experiment that is shipped passes its own checks.

use std::fs;
use std::path::Path;

use cairn_lab::experiment::Experiment;

#[test]
fn every_experiment_that_is_shipped_can_be_judged() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments");
    let (mut wrong, mut read) = (Vec::new(), 0);
    for folder in [folder.clone(), folder.join("validation"), folder.join("validation/causes")] {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            if entry.path().extension().is_some_and(|extension| extension == "toml") {
                read += 1;
                wrong.extend(Experiment::read(&entry.path()).err().map(|problems| problems.to_string()));
            }
        }
    }
    assert!(read > 50, "{read}");
    assert_eq!(wrong.join("\n"), "");
}
