//! `make install` puts everything where a system looks for it.

#![allow(clippy::unwrap_used, reason = "tests may panic")]

use std::path::Path;
use std::process::Command;

use testkit::folder::TestFolder;

/// Runs `make` for a target of the repository's Makefile, into `root`.
fn make(target: &str, root: &Path) {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let output = Command::new("make")
        .args(["--silent", target, "PREFIX=/usr", concat!("CAIRN=", env!("CARGO_BIN_EXE_cairn"))])
        .arg(format!("DESTDIR={}", root.display()))
        .current_dir(repository)
        .output()
        .unwrap();
    assert!(output.status.success(), "make {target}: {}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn what_is_installed_is_whole_and_leaves_only_the_configuration_when_it_is_removed() {
    let root = TestFolder::absent("install");
    let files = [
        "usr/bin/cairn",
        "usr/share/man/man1/cairn.1",
        "usr/share/man/man1/cairn-node-run.1",
        "usr/share/bash-completion/completions/cairn",
        "usr/share/zsh/site-functions/_cairn",
        "usr/share/fish/vendor_completions.d/cairn.fish",
        "usr/lib/systemd/system/cairn.service",
        "usr/lib/systemd/system/cairn-gateway.service",
        "usr/share/cairn/wireshark/cairn.lua",
        "usr/share/cairn/wireshark/cairn-ndnlp.lua",
    ];
    let config = root.join("etc/cairn/cairn.toml");
    make("install", &root);
    for file in files {
        assert!(root.join(file).metadata().is_ok_and(|metadata| metadata.len() > 0), "{file}");
    }
    let check = Command::new(root.join("usr/bin/cairn")).args(["node", "config"]).arg(&config).output();
    assert!(check.unwrap().status.success());
    let unit = std::fs::read_to_string(root.join("usr/lib/systemd/system/cairn.service")).unwrap();
    assert!(unit.contains("ExecStart=/usr/bin/cairn node run --config /etc/cairn/cairn.toml"), "{unit}");
    let gateway = std::fs::read_to_string(root.join("usr/lib/systemd/system/cairn-gateway.service")).unwrap();
    assert!(gateway.contains("ExecStart=/usr/bin/cairn gateway run\n"), "{gateway}");
    // Where the documentation puts the file of routes.
    assert!(unit.contains("\nStateDirectory=cairn\n"), "{unit}");
    // What the operator has written stays as it is, whatever is installed or removed.
    std::fs::write(&config, "# mine\n").unwrap();
    make("install", &root);
    make("uninstall", &root);
    assert_eq!(std::fs::read_to_string(&config).unwrap(), "# mine\n");
    for file in files {
        assert!(!root.join(file).exists(), "{file}");
    }
}
