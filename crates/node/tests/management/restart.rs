//! What a node knows again after a restart.

use std::path::{Path, PathBuf};

use cairn_node::control::{FaceEventKind, FacePersistency};
use cairn_node::management::ManagementConfig;
use engine::FaceId;
use management::{Command, ControlParameters, RouteOrigin};
use packet::time::Duration;
use testkit::folder::TestFolder;

use crate::fake_node::NEIGHBOUR;
use crate::manager::{Manager, about};

struct Folder(TestFolder);

impl Folder {
    fn new(word: &str) -> Self {
        Folder(TestFolder::new(word))
    }

    fn file(&self) -> PathBuf {
        self.0.join("routes.toml")
    }
}

fn start(file: &Path) -> Manager {
    Manager::with(ManagementConfig { state_file: Some(file.to_owned()), ..Default::default() })
}

fn operators(prefix: &str, face: u64) -> ControlParameters {
    ControlParameters {
        face_id: Some(face),
        origin: Some(RouteOrigin::Static),
        cost: Some(7),
        ..about(prefix)
    }
}

#[test]
fn routes_of_the_operator_are_back_after_a_restart_and_those_of_applications_are_not() {
    let folder = Folder::new("back");
    let mut manager = start(&folder.file());
    manager.done(Command::RibRegister, &operators("/a", 301));
    manager.done(Command::RibRegister, &about("/application"));
    let made = ControlParameters { uri: Some("tcp4://192.0.2.9:6363".into()), ..Default::default() };
    let made = manager.done(Command::FacesCreate, &made).face_id.unwrap();
    manager.done(Command::RibRegister, &operators("/b", made));
    manager.done(Command::RibRegister, &operators("/gone", made));
    let gone = ControlParameters { cost: None, ..operators("/gone", made) };
    manager.done(Command::RibUnregister, &gone);
    let short = ControlParameters { expiration_period_ms: Some(500), ..operators("/short", 301) };
    manager.done(Command::RibRegister, &short);
    // Killed: nothing is written at the end, only what was written a second after the change.
    manager.let_time_pass(Duration::from_secs(1));
    std::mem::forget(manager);

    let again = start(&folder.file());
    assert_eq!(again.node.next_hops("/a"), [(NEIGHBOUR.0, 7)], "by the face that is there already");
    assert_eq!(again.node.next_hops("/b"), [(400, 7)], "by a face that was made again");
    assert_eq!(again.node.faces[&FaceId(400)].remote.to_string(), "tcp4://192.0.2.9:6363");
    assert_eq!(again.node.faces[&FaceId(400)].persistency, FacePersistency::Permanent, "it may come later");
    for prefix in ["/application", "/gone", "/short"] {
        assert_eq!(again.node.next_hops(prefix), [], "{prefix}");
    }
}

#[test]
fn what_was_asked_for_survives_a_face_that_fails_and_not_one_that_is_destroyed() {
    let folder = Folder::new("faces");
    let mut manager = start(&folder.file());
    manager.done(Command::RibRegister, &operators("/a", 301));
    // The node shuts down, or the neighbour is away.
    manager.face_event(FaceEventKind::Destroyed, NEIGHBOUR);
    drop(manager);
    let mut again = start(&folder.file());
    assert_eq!(again.node.next_hops("/a"), [(NEIGHBOUR.0, 7)]);
    let destroy = ControlParameters { face_id: Some(301), ..Default::default() };
    again.done(Command::FacesDestroy, &destroy);
    drop(again);
    assert_eq!(start(&folder.file()).node.next_hops("/a"), []);
}

#[test]
fn without_a_file_nothing_is_kept_and_a_broken_one_stops_nobody() {
    let folder = Folder::new("broken");
    std::fs::write(folder.file(), "version = 1\nroutes = 5\n").unwrap();
    let mut manager = start(&folder.file());
    assert!(folder.0.join("routes.toml.broken-0").exists());
    manager.done(Command::RibRegister, &operators("/a", 301));
    drop(manager);
    assert_eq!(start(&folder.file()).node.next_hops("/a"), [(NEIGHBOUR.0, 7)]);
    assert_eq!(Manager::new().node.next_hops("/a"), []);
}
