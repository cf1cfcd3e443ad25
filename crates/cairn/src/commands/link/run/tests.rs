use std::time::Duration;

use client::{Client, Clock, Connection, Remote};
use engine::FaceId;
use flow::source::Source as _;
use node::control::NodeControl as _;
use node::ndnld::adaptor::{Adaptor, Forwarder};
use packet::ccnx::management::{Collection, NdnldConnection};
use packet::ccnx::{InterestFields, Scope};
use packet::{Component, Dialect, Name};
use trust::PrivateKey;
use trust::ccnx::{CcnxSigner, ndnld_control_prefix};

use super::connection;
use crate::tool::ccnx::{ccnx_generator, ccnx_interest};
use crate::tool::ndnld::{LinkControl, usual};

/// A forwarder with an adaptor beside it. It has no socket but those of this host, so its only neighbours are
/// those that the adaptor gives it.
struct AdaptorSetup {
    node: node::Node,
    forwarder: Remote,
    adaptor: Adaptor,
    ccnd_id: [u8; 32],
    signer: CcnxSigner,
    scope: Option<Scope>,
    _folder: testkit::folder::TestFolder,
}

impl AdaptorSetup {
    fn new(number: u8) -> Self {
        let folder = testkit::folder::TestFolder::new(&format!("link-adaptor-{number}"));
        let mut config = node::config::Config::default();
        (config.udp.listen, config.tcp.listen) = (Vec::new(), Vec::new());
        (config.websocket.listen, config.multicast.interfaces) = (Vec::new(), Vec::new());
        config.unix.listen = Some(vec![folder.join("nfd.sock")]);
        config.ccnx.enabled = true;
        (config.ccnx.udp, config.ccnx.tcp) = (Vec::new(), Vec::new());
        config.ccnx.unix = vec![folder.join("ccnd.sock")];
        config.ccnx.key_file = Some(folder.join("ccnx.key"));
        let node = node::Node::start(&config, Box::new(node::control::Unmanaged)).unwrap();
        let forwarder = Remote::Unix(folder.join("ccnd.sock"));
        let signer = CcnxSigner::new(PrivateKey::generate_rsa(2048).unwrap()).unwrap();
        let mut client = connect(&forwarder, &signer);
        let ccnd_id = client.ccnd_id().unwrap().unwrap();
        let address = format!("127.0.0.{number}:29695").parse().unwrap();
        let (remote, signs) = (forwarder.clone(), signer.clone());
        let connect = Box::new(move || connection(&remote));
        let beside = Forwarder { ccnd_id, signer: signs, connect };
        let adaptor = Adaptor::start(address, beside, drop).unwrap();
        let scope = Some(Scope::HOST);
        AdaptorSetup { node, forwarder, adaptor, ccnd_id, signer, scope, _folder: folder }
    }

    /// What the adaptor answers to a client of ndnld.
    fn ask(&mut self, asked: &NdnldConnection<'_>) -> Option<Vec<u8>> {
        let now = Clock::start().unix().into();
        let object = self.signer.sign(&Name::root(), &asked.encode(), now, |info| info).unwrap();
        let verb = asked.action.unwrap_or_default().as_bytes();
        let prefix = ndnld_control_prefix(&self.ccnd_id).unwrap();
        let name = prefix.with(Component::generic(verb)).unwrap().with(Component::generic(&object)).unwrap();
        let fields = InterestFields { scope: self.scope, ..InterestFields::default() };
        let interest = ccnx_interest(&name, fields, packet::time::Duration::from_secs(4));
        self.adaptor.handle_interest(&interest.unwrap(), now)
    }
}

impl Drop for AdaptorSetup {
    fn drop(&mut self) {
        self.node.shut_down();
    }
}

fn connect(forwarder: &Remote, signer: &CcnxSigner) -> Client {
    let mut client = Client::over(Connection::open_in(Dialect::Ccnx, forwarder).unwrap());
    client.sign_requests_with(signer.clone());
    client
}

#[test]
fn a_client_of_ndnld_makes_a_link_over_which_one_forwarder_gets_from_the_other_and_takes_it_away() {
    let (mut near, mut far) = (AdaptorSetup::new(31), AdaptorSetup::new(32));
    let to = |host| NdnldConnection {
        action: Some("connect"),
        lower_protocol: Some("udp"),
        host: Some(host),
        ..usual()
    };
    let told = near.ask(&to("127.0.0.32")).unwrap();
    let made = NdnldConnection::decode(&told).unwrap();
    assert_eq!((made.host, made.status), (Some("127.0.0.32"), Some("normal")));
    let face = made.face_id.unwrap();
    assert!(near.node.control().faces().iter().any(|status| status.id == FaceId(face)));
    assert_eq!(near.ask(&to("127.0.0.32")).unwrap(), told, "who asks twice is told of the same");
    far.ask(&to("127.0.0.31")).unwrap();
    assert_eq!(near.ask(&to("nowhere")), None);
    // Whatever does not say that it comes from this host is not answered.
    for scope in [None, Some(Scope::NEXT_HOST)] {
        near.scope = scope;
        assert_eq!(near.ask(&NdnldConnection { action: Some("listconnections"), ..usual() }), None);
    }
    near.scope = Some(Scope::HOST);
    let list = near.ask(&NdnldConnection { action: Some("listconnections"), ..usual() }).unwrap();
    assert_eq!(Collection::decode(&list).unwrap().items().count(), 1);

    let prefix: Name = "/far".parse().unwrap();
    let (forwarder, signer, served) = (far.forwarder.clone(), far.signer.clone(), prefix.clone());
    let (say, serves) = std::sync::mpsc::channel();
    let ended = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let has_ended = ended.clone();
    let serving = std::thread::spawn(move || {
        let mut producer = connect(&forwarder, &signer);
        let mut answers = ccnx_generator(served.clone(), signer);
        producer.register(&served).unwrap();
        say.send(()).unwrap();
        while !has_ended.load(std::sync::atomic::Ordering::Relaxed) {
            let until = producer.now() + packet::time::Duration::from_millis(20);
            if let Some(client::Event::Interest { interest, header }) = producer.next(Some(until)).unwrap()
                && let flow::source::Reply::Data(data) = answers.answer(&interest).unwrap()
            {
                producer.reply(&data, &header).unwrap();
                producer.flush().unwrap();
            }
        }
    });
    serves.recv().unwrap();
    let mut control = LinkControl::new(connect(&near.forwarder, &near.signer), near.signer.clone()).unwrap();
    assert!(control.register(packet::ccnx::management::Verb::PrefixReg, &prefix, face).unwrap());
    let mut consumer = connect(&near.forwarder, &near.signer);
    let timeout = packet::time::Duration::from_secs(20);
    let name = "/far/1".parse().unwrap();
    let wanted = ccnx_interest(&name, InterestFields::default(), timeout).unwrap();
    consumer.express_as_is(wanted, timeout).unwrap();
    match consumer.next(None).unwrap() {
        Some(client::Event::Data { data, .. }) => assert_eq!(data.name(), name.as_ref()),
        other => panic!("{other:?}"),
    }

    let gone = NdnldConnection { action: Some("disconnect"), face_id: Some(face), ..usual() };
    assert!(near.ask(&gone).is_some());
    assert_eq!(near.ask(&gone), None);
    let deadline = std::time::Instant::now() + Duration::from_secs(20);
    while near.node.control().faces().iter().any(|status| status.id == FaceId(face)) {
        assert!(std::time::Instant::now() < deadline, "the face goes with its link");
    }
    ended.store(true, std::sync::atomic::Ordering::Relaxed);
    serving.join().unwrap();
}
