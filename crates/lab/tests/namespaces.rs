//! Networks of namespaces carry packets between real sockets.

use std::net::UdpSocket;
use std::time::{Duration, Instant};

use cairn_lab::backend::netns::namespace::Namespace;
use cairn_lab::backend::netns::wiring::wire;
use cairn_lab::experiment::Experiment;
use cairn_lab::experiment::plan::{Arena, NodeIndex};
use testkit::needs::needed;

const TWO: &str =
    "title = 'two'\nduration = '1 s'\n[node]\na = {}\nb = {}\n[link]\na-b = { rate = '8 Mbit/s' }\n";

/// The namespaces of a plan.
fn namespaces(count: usize) -> Option<Arena<NodeIndex, Namespace>> {
    let made: Result<_, _> = (0..count).map(|index| Namespace::new(&index.to_string())).collect();
    needed("network namespaces", made)
}

#[test]
fn a_link_carries_datagrams_at_its_rate() {
    let plan = Experiment::parse("two", "two.toml", TWO).unwrap().plans("netns").unwrap().remove(0);
    let Some(namespaces) = namespaces(2) else { return };
    let wiring = wire(&plan, &namespaces).unwrap();
    let (near, far) =
        (wiring.interfaces[&NodeIndex(0)][0].clone(), wiring.interfaces[&NodeIndex(1)][0].clone());
    assert_eq!(near.remote, far.local);
    let receiver = namespaces[NodeIndex(1)].run(move || UdpSocket::bind((far.local, 0)).unwrap()).unwrap();
    receiver.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    let port = receiver.local_addr().unwrap().port();
    // 64 kB fit into the queue of 100 frames, and take 80 ms at 8 Mbit/s once the bucket is empty.
    let begun = Instant::now();
    namespaces[NodeIndex(0)]
        .run(move || {
            let sender = UdpSocket::bind((near.local, 0)).unwrap();
            for _ in 0..80 {
                sender.send_to(&[7; 1000], (near.remote, port)).unwrap();
            }
        })
        .unwrap();
    let mut buffer = [0; 2000];
    for _ in 0..80 {
        assert_eq!(receiver.recv(&mut buffer).unwrap(), 1000);
    }
    let took = begun.elapsed();
    assert!(took > Duration::from_millis(60), "80 kB took only {took:?}");
}

#[test]
fn namespaces_do_not_see_each_other_without_a_link() {
    let text = TWO.replace("a-b = { rate = '8 Mbit/s' }", "");
    let plan = Experiment::parse("two", "two.toml", &text).unwrap().plans("netns").unwrap().remove(0);
    let Some(namespaces) = namespaces(2) else { return };
    wire(&plan, &namespaces).unwrap();
    let refused = namespaces[NodeIndex(0)]
        .run(|| UdpSocket::bind(("0.0.0.0", 0)).unwrap().send_to(&[1], ("10.77.0.2", 9)).is_err())
        .unwrap();
    assert!(refused);
}
