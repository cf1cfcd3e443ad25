use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use engine::FaceId;
use flow::source::Source as _;
use link::v1::LinkService;
use node::LinkRequest;
use node::control::NodeControl as _;
use packet::ccnx::management::{Collection, NdnldConnection};
use packet::ccnx::ndnlp::Flags;
use packet::ccnx::pdu::wrap_pdu;
use packet::ccnx::{InterestFields, Scope};
use packet::random::Random;
use packet::{Component, Name};
use trust::PrivateKey;
use trust::ccnx::CcnxSigner;

use super::control::Control;
use super::worker::Worker;
use super::{Links, Neighbour, Sockets};
use crate::tool::ccnx::{ccnx_generator, ccnx_interest};
use crate::tool::ndnld::{LinkControl, usual};

/// An adaptor, and the forwarder's end of its only link.
struct End {
    worker: Worker,
    forwarder: UnixStream,
}

/// A link of 127.0.0.`own` to 127.0.0.`other`, with acknowledgements.
fn end(own: u8, other: u8) -> End {
    let address = format!("127.0.0.{own}:29695").parse().unwrap();
    let mut worker = Worker::start(Links::new(Sockets::new(address))).unwrap();
    let host = format!("127.0.0.{other}");
    let asked = NdnldConnection {
        action: Some("connect"),
        lower_protocol: Some("udp"),
        host: Some(&host),
        flags: Some(Flags::ACK_REQUESTED),
        retransmit_millis: Some(50),
        ..usual()
    };
    let (request, remote, local) = LinkRequest::of(&asked).unwrap();
    let neighbour = Neighbour::of(remote, local).unwrap();
    let (forwarder, stream) = UnixStream::pair().unwrap();
    forwarder.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let told = worker.call(move |links| links.add(FaceId(11), request, neighbour, stream.into(), Vec::new()));
    let told = told.unwrap().unwrap();
    assert_eq!(NdnldConnection::decode(&told).unwrap().status, Some("normal"));
    End { worker, forwarder }
}

fn interest(number: usize, bytes: usize) -> Vec<u8> {
    let name = format!("/{number}/{}", "x".repeat(bytes)).parse().unwrap();
    InterestFields::default().encode(&name).unwrap()
}

#[test]
fn messages_of_all_sizes_reach_the_other_forwarder_wrapped_and_whole_in_both_directions() {
    let (mut near, mut far) = (end(21, 22), end(22, 21));
    for round in 0..4 {
        for (number, bytes) in [(1, 1), (2, 1400), (3, 8000), (4, 8700)] {
            let message = interest(number + round, bytes);
            // Two in one wrapper now and then, as forwarders may send them.
            let sent = if bytes == 1 { [&message[..], &message[..]].concat() } else { message.clone() };
            near.forwarder.write_all(&wrap_pdu(&sent)).unwrap();
            for _ in 0..sent.len() / message.len() {
                let expected = wrap_pdu(&message);
                let mut came = vec![0; expected.len()];
                far.forwarder.read_exact(&mut came).unwrap();
                assert_eq!(came, expected);
            }
            std::mem::swap(&mut near, &mut far);
        }
    }
}

#[test]
fn a_link_whose_face_the_forwarder_closes_is_listed_as_failed_and_others_go_on() {
    let End { mut worker, forwarder } = end(23, 24);
    drop(forwarder);
    let deadline = std::time::Instant::now() + Duration::from_secs(20);
    loop {
        let listed = worker.call(|links| links.list(8000)).unwrap();
        let collection = Collection::decode(&listed).unwrap();
        let states: Vec<_> =
            collection.items().map(|item| NdnldConnection::decode(item).unwrap().status.unwrap()).collect();
        if states == ["error"] {
            break;
        }
        assert!(std::time::Instant::now() < deadline, "{states:?}");
    }
    assert!(worker.call(|links| links.remove(FaceId(11))).unwrap().is_some());
    assert!(worker.call(|links| links.remove(FaceId(11))).unwrap().is_none());
    assert_eq!(worker.call(|links| links.list(8000)).unwrap(), Collection::encode(Vec::<Vec<u8>>::new()));
}

#[test]
fn a_link_that_has_failed_is_made_anew_and_a_number_that_a_forwarder_gives_again_is_another_link() {
    let End { mut worker, forwarder } = end(33, 34);
    drop(forwarder);
    let deadline = std::time::Instant::now() + Duration::from_secs(20);
    let neighbour = Neighbour::Udp("127.0.0.34:29695".parse().unwrap());
    let asked = neighbour.clone();
    while worker
        .call({
            let asked = asked.clone();
            move |links| links.tell_of(&asked)
        })
        .unwrap()
        .is_some()
    {
        assert!(std::time::Instant::now() < deadline);
    }
    let other = NdnldConnection { lower_protocol: Some("udp"), host: Some("127.0.0.35"), ..usual() };
    let (request, remote, local) = LinkRequest::of(&other).unwrap();
    let new = Neighbour::of(remote, local).unwrap();
    let (_forwarder, stream) = UnixStream::pair().unwrap();
    let told = new.clone();
    let added = worker.call(move |links| links.add(FaceId(11), request, new, stream.into(), Vec::new()));
    added.unwrap().unwrap();
    assert!(worker.call(move |links| links.tell_of(&told)).unwrap().is_some());
    assert!(worker.call(move |links| links.tell_of(&asked)).unwrap().is_none());
    assert_eq!(worker.call(|links| links.by_neighbour_count()).unwrap(), 1);
}

#[test]
fn a_forwarder_that_says_nothing_or_closes_is_told_as_that() {
    let place = Place::new(36);
    let now = client::Clock::start().unix().into();
    let (mut stream, forwarder) = UnixStream::pair().unwrap();
    stream.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
    let silent = place.control.learn_face(&mut stream, now).unwrap_err().to_string();
    assert!(silent.contains("does not say which face"), "{silent}");
    drop(forwarder);
    let (mut stream, forwarder) = UnixStream::pair().unwrap();
    forwarder.shutdown(std::net::Shutdown::Write).unwrap();
    let closed = place.control.learn_face(&mut stream, now).unwrap_err().to_string();
    assert!(closed.contains("has closed the connection"), "{closed}");
}

#[test]
fn what_is_not_whole_and_who_is_no_neighbour_is_not_passed_on() {
    let (mut near, mut far) = (end(25, 26), end(26, 25));
    let stranger = std::net::UdpSocket::bind("127.0.0.27:0").unwrap();
    let mut service = LinkService::new(link::v1::Config::default(), Random::from_seed(1)).unwrap();
    service.send(packet::time::Instant::ZERO, interest(7, 10).into()).unwrap();
    let mut packet = Vec::new();
    service.poll_transmit(packet::time::Instant::ZERO, &mut packet).unwrap();
    // From the neighbour's address it would be passed on, as the message below is.
    stranger.send_to(&packet, "127.0.0.26:29695").unwrap();
    let message = interest(1, 1);
    near.forwarder.write_all(&wrap_pdu(&message)).unwrap();
    let mut came = vec![0; wrap_pdu(&message).len()];
    far.forwarder.read_exact(&mut came).unwrap();
    assert_eq!(came, wrap_pdu(&message));
    // A forwarder that speaks another language is left.
    near.forwarder.write_all(&[0xff; 32]).unwrap();
    assert_eq!(near.forwarder.read(&mut [0; 8]).unwrap(), 0);
}

/// A forwarder with an adaptor beside it. It has no socket but those of this host, so its only neighbours are
/// those that the adaptor gives it.
struct Place {
    node: node::Node,
    forwarder: client::Remote,
    control: Control,
    signer: CcnxSigner,
    scope: Option<Scope>,
    _folder: testkit::folder::TestFolder,
}

impl Place {
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
        let forwarder = client::Remote::Unix(folder.join("ccnd.sock"));
        let signer = CcnxSigner::new(PrivateKey::generate_rsa(2048).unwrap()).unwrap();
        let mut client = connect(&forwarder, &signer);
        let ccnd_id = client.ccnd_id().unwrap().unwrap();
        let address = format!("127.0.0.{number}:29695").parse().unwrap();
        let worker = Worker::start(Links::new(Sockets::new(address))).unwrap();
        let control = Control { forwarder: forwarder.clone(), ccnd_id, signer: signer.clone(), worker };
        Place { node, forwarder, control, signer, scope: Some(Scope::HOST), _folder: folder }
    }

    /// What the adaptor answers to a client of ndnld.
    fn ask(&mut self, asked: &NdnldConnection<'_>) -> Option<Vec<u8>> {
        let now = client::Clock::start().unix().into();
        let object = self.signer.sign(&Name::root(), &asked.encode(), now, |info| info).unwrap();
        let verb = asked.action.unwrap_or_default().as_bytes();
        let prefix = self.control.prefix().unwrap();
        let name = prefix.with(Component::generic(verb)).unwrap().with(Component::generic(&object)).unwrap();
        let fields = InterestFields { scope: self.scope, ..InterestFields::default() };
        let interest = ccnx_interest(&name, fields, packet::time::Duration::from_secs(4));
        self.control.handle_interest(&interest.unwrap(), now)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.node.shut_down();
    }
}

fn connect(forwarder: &client::Remote, signer: &CcnxSigner) -> client::Client {
    let connection = client::Connection::open_in(packet::Dialect::Ccnx, forwarder).unwrap();
    let mut client = client::Client::over(connection);
    client.sign_requests_with(signer.clone());
    client
}

#[test]
fn a_client_of_ndnld_makes_a_link_over_which_one_forwarder_gets_from_the_other_and_takes_it_away() {
    let (mut near, mut far) = (Place::new(31), Place::new(32));
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
    assert!(control.register("prefixreg", &prefix, face).unwrap());
    let mut consumer = connect(&near.forwarder, &near.signer);
    let patience = packet::time::Duration::from_secs(20);
    let name = "/far/1".parse().unwrap();
    let wanted = ccnx_interest(&name, InterestFields::default(), patience).unwrap();
    consumer.express_as_is(wanted, patience).unwrap();
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
