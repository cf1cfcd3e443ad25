//! Faces that clients make, and what they are told of them.

use cairn_node::control::NodeControl;
use engine::FaceId;
use packet::Dialect;
use packet::ccnx::ContentKind;
use packet::ccnx::management::{FaceInstance, IpProtocol, StatusResponse};

use crate::peer::Host;

fn instance<'a>(id: &'a [u8; 32], host: &'a str, port: u16) -> FaceInstance<'a> {
    FaceInstance {
        action: Some("newface"),
        ccnd_id: Some(id),
        ip_protocol: Some(IpProtocol::UDP),
        host: Some(host),
        port: Some(port),
        ..FaceInstance::default()
    }
}

#[test]
fn a_face_to_a_neighbour_is_made_once_and_goes_when_that_is_asked_for() {
    let host = Host::new();
    let mut client = host.unix();
    let id = client.ccnd_id();
    let content = instance(&id, "127.0.0.1", 9).encode();
    let (kind, made) = client.command(&id, "newface", &content);
    assert_eq!(kind, ContentKind::Data);
    let made = FaceInstance::decode(&made).unwrap();
    assert_eq!(
        (made.action, made.freshness_seconds, made.host),
        (None, Some(0x7fff_ffff), Some("127.0.0.1"))
    );
    let face = FaceId(made.face_id.unwrap());
    assert_eq!(host.node.control().face(face).unwrap().dialect, Dialect::Ccnx);
    let mut second = host.unix();
    let (_, again) = second.command(&id, "newface", &content);
    assert_eq!(FaceInstance::decode(&again).unwrap().face_id, made.face_id);

    let destroy = |face| FaceInstance {
        action: Some("destroyface"),
        ccnd_id: Some(&id),
        face_id: Some(face),
        ..FaceInstance::default()
    };
    let (kind, gone) = client.command(&id, "destroyface", &destroy(face.0).encode());
    assert_eq!((kind, FaceInstance::decode(&gone).unwrap().freshness_seconds), (ContentKind::Data, Some(0)));
    assert!(host.node.control().face(face).is_none());
    // It is gone, and what is inside the node is nobody's.
    for face in [face.0, 1, 2] {
        let (kind, why) = client.command(&id, "destroyface", &destroy(face).encode());
        assert_eq!((kind, StatusResponse::decode(&why).unwrap().code), (ContentKind::Nack, 450), "{face}");
    }
}

#[test]
fn a_face_that_cannot_be_is_refused_with_ccnds_code() {
    let host = Host::new();
    let mut client = host.unix();
    let id = client.ccnd_id();
    let other = [7; 32];
    let usual = instance(&id, "127.0.0.1", 9);
    for (asked, code) in [
        (FaceInstance { ccnd_id: Some(&other), ..usual }, 531),
        (FaceInstance { ip_protocol: None, ..usual }, 504),
        (FaceInstance { ip_protocol: Some(IpProtocol(1)), ..usual }, 504),
        (FaceInstance { host: None, ..usual }, 504),
        (FaceInstance { port: None, ..usual }, 504),
        (FaceInstance { host: Some("localhost"), ..usual }, 501),
        (FaceInstance { host: Some("224.0.0.204"), ..usual }, 453),
        (FaceInstance { host: Some("::1"), ..usual }, 450),
    ] {
        let (kind, why) = client.command(&id, "newface", &asked.encode());
        assert_eq!(
            (kind, StatusResponse::decode(&why).unwrap().code),
            (ContentKind::Nack, code),
            "{asked:?}"
        );
    }
    // Another word than in the name.
    client.send(&client.request(&id, "newface", &FaceInstance { action: None, ..usual }.encode()));
    assert!(client.hears_nothing());
}
