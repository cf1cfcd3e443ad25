//! How the process ends.

use std::sync::atomic::{AtomicBool, Ordering};

use client::{Client, WhenGone};
use packet::ndn::{DataBuilder, InterestBuilder};
use packet::time::Duration;

use crate::daemon::Daemon;

/// Serves `/load` until the forwarder goes away.
fn serve(mut client: Client) {
    client.when_gone(WhenGone::Fail);
    client.register(&"/load".parse().unwrap()).unwrap();
    while let Ok(event) = client.next(None) {
        if let Some(client::Event::Interest { interest, header }) = event {
            let data = DataBuilder::new(interest.name().to_name()).content(vec![1; 4000]);
            if client.reply(&data.build_with_digest().unwrap(), &header).is_err() {
                return;
            }
        }
    }
}

/// Asks under `/load` until the forwarder goes away, many at a time; tells when the first answer came.
fn ask(mut client: Client, number: usize, is_under_load: &AtomicBool) {
    client.when_gone(WhenGone::Fail);
    let mut next = 0;
    loop {
        while client.pending() < 100 {
            next += 1;
            let name = format!("/load/{number}/{next}").parse().unwrap();
            if client.express(&InterestBuilder::new(name), Duration::from_secs(4)).is_err() {
                return;
            }
        }
        match client.next(None) {
            Ok(Some(client::Event::Data { .. })) => is_under_load.store(true, Ordering::Relaxed),
            Ok(_) => {}
            Err(_) => return,
        }
    }
}

#[test]
fn a_forwarder_under_load_that_is_asked_to_end_ends_cleanly_and_leaves_no_socket_behind() {
    let mut daemon = Daemon::start(None);
    let is_under_load = AtomicBool::new(false);
    let clients: Vec<Client> = (0..3).map(|_| daemon.client()).collect();
    std::thread::scope(|scope| {
        let mut clients = clients.into_iter();
        let producer = clients.next().unwrap();
        scope.spawn(|| serve(producer));
        let is_under_load = &is_under_load;
        for (number, client) in clients.enumerate() {
            scope.spawn(move || ask(client, number, is_under_load));
        }
        crate::daemon::wait_until(|| "no load".to_owned(), || is_under_load.load(Ordering::Relaxed));
        let status = daemon.terminate();
        assert!(status.is_some_and(|status| status.success()), "it ended with {status:?}");
    });
    assert!(!daemon.unix.exists(), "{} is still there", daemon.unix.display());
}

#[test]
fn a_forwarder_whose_peers_do_nothing_ends_when_it_is_asked_to() {
    let mut daemon = Daemon::start(None);
    let _silent: Vec<Client> = (0..20).map(|_| daemon.client()).collect();
    let status = daemon.terminate();
    assert!(status.is_some_and(|status| status.success()), "it ended with {status:?}");
}
