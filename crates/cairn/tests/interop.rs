//! With other people's tools, where they are installed: ndnd (`go install github.com/named-data/ndnd/cmd/ndnd`).

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests may panic")]

#[allow(dead_code, reason = "each test file uses a part of it")]
mod world;

use std::path::PathBuf;
use std::process::Command;

use world::{World, bytes, installed};

/// ndnd, or a word on why the test is left out.
fn ndnd() -> Option<PathBuf> {
    let found = installed("ndnd");
    if found.is_none() {
        eprintln!("left out: ndnd is not installed");
    }
    found
}

fn in_world(world: &World, program: &PathBuf, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    command
        .args(arguments)
        .current_dir(&world.folder)
        .env("NDN_CLIENT_TRANSPORT", format!("unix://{}", world.socket().display()))
        .stdin(std::process::Stdio::null());
    command
}

#[test]
fn ndnd_gets_what_cairn_puts_and_the_other_way_round() {
    let Some(ndnd) = ndnd() else { return };
    let mut world = World::new();
    let file = bytes(1_000_000);
    let path = world.write("file", &file);
    world.start(&["put", "/cairn/file", "-f", "file"], "published");
    let got = in_world(&world, &ndnd, &["cat", "/cairn/file"]).output().unwrap();
    assert!(got.stdout == file, "{}", String::from_utf8_lossy(&got.stderr));

    let mut put = in_world(&world, &ndnd, &["put", "--expose", "/ndnd/file"]);
    put.stdin(std::fs::File::open(path).unwrap());
    world.start_command(put, "Registered route");
    let got = world.run(&["get", "/ndnd/file"]);
    assert!(got.stdout == file, "{}", String::from_utf8_lossy(&got.stderr));
}

#[test]
fn pings_go_both_ways() {
    let Some(ndnd) = ndnd() else { return };
    let mut world = World::new();
    world.start(&["pingserver", "/cairn", "--quiet"], "PING SERVER");
    let pinged = in_world(&world, &ndnd, &["ping", "/cairn", "-c", "2"]).output().unwrap();
    let text = String::from_utf8_lossy(&pinged.stdout).into_owned();
    assert!(text.contains("2 received"), "{text}");

    let server = in_world(&world, &ndnd, &["pingserver", "/ndnd"]);
    world.start_command(server, "PING SERVER");
    // It says so before its prefix is registered.
    let answered =
        (0..100).any(|_| world.run(&["ping", "/ndnd", "-c", "1", "-o", "1s", "-q"]).status.success());
    assert!(answered);
}

#[test]
fn keys_and_certificates_are_exchanged() {
    let Some(ndnd) = ndnd() else { return };
    let world = World::new();
    let key = in_world(&world, &ndnd, &["sec", "keygen", "/lab/zoe", "ed25519"]).output().unwrap().stdout;
    let key = world.write("zoe.key", &key);
    assert!(world.good(&["key", "import", "zoe.key"]).contains("/lab/zoe/KEY/"));
    let mut sign = in_world(&world, &ndnd, &["sec", "sign-cert", "zoe.key"]);
    let request = sign.stdin(std::fs::File::open(key).unwrap()).output().unwrap().stdout;
    world.write("zoe.req", &request);
    world.good(&["key", "new", "/lab"]);
    world.good(&["cert", "sign", "zoe.req", "--by", "/lab", "-o", "zoe.cert", "-f", "pem"]);
    let mut decode = in_world(&world, &ndnd, &["sec", "pem-decode"]);
    let decoded = decode.stdin(std::fs::File::open(world.path("zoe.cert")).unwrap()).output().unwrap().stdout;
    assert_eq!(decoded.first(), Some(&0x06));

    let exported = world.write("lab.key", world.good(&["key", "export", "/lab", "-f", "ndnd"]).as_bytes());
    std::fs::create_dir(world.path("keychain")).unwrap();
    let keychain = format!("dir://{}", world.path("keychain").display());
    let mut import = in_world(&world, &ndnd, &["sec", "key-import", &keychain]);
    let imported = import.stdin(std::fs::File::open(exported).unwrap()).output().unwrap();
    assert!(imported.status.success(), "{}", String::from_utf8_lossy(&imported.stderr));
    let listed = in_world(&world, &ndnd, &["sec", "key-list", &keychain]).output().unwrap();
    let listed = String::from_utf8_lossy(&[listed.stdout, listed.stderr].concat()).into_owned();
    assert!(listed.contains("/lab/KEY/"), "{listed}");
}
