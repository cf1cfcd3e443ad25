//! Local applications that answer.

use std::io;
use std::path::Path;

use client::{Client, Event, Remote};
use packet::Interest;
use packet::ndn::DataBuilder;
use packet::time::Duration;

use super::{HONEST, SEAL, STORE};
use crate::stop::Stop;
use crate::wire::{name, wrong};

/// Answers whoever asks for a number, until it is to stop. `ready` is called when the prefix is registered.
pub(crate) fn produce(socket: &Path, stop: &Stop, ready: impl FnOnce()) -> io::Result<()> {
    crate::ground::go_first();
    serve(socket, HONEST, stop, ready, |interest| {
        let number = interest.name().last()?.number()?;
        Some(([SEAL, &number.to_be_bytes()].concat(), Duration::ZERO))
    })
}

/// Has four kilobytes for each number, fresh for a millisecond.
pub(crate) fn produce_store(socket: &Path, stop: &Stop, ready: impl FnOnce()) -> io::Result<()> {
    serve(socket, STORE, stop, ready, |interest| {
        let exact = !interest.can_be_prefix() && interest.name().last()?.number().is_some();
        exact.then(|| (vec![0x53; 4000], Duration::from_millis(1)))
    })
}

fn serve(
    socket: &Path,
    prefix: &str,
    stop: &Stop,
    ready: impl FnOnce(),
    content: impl Fn(&Interest) -> Option<(Vec<u8>, Duration)>,
) -> io::Result<()> {
    let mut client = Client::connect(&Remote::Unix(socket.to_owned())).map_err(wrong)?;
    client.register(&name(prefix)?).map_err(wrong)?;
    ready();
    while !stop.is_set() {
        let until = client.now() + Duration::from_millis(50);
        let Some(Event::Interest { interest, header }) = client.next(Some(until)).map_err(wrong)? else {
            continue;
        };
        let Some((content, freshness)) = content(&interest) else { continue };
        let data = DataBuilder::new(interest.name().to_name()).content(content).freshness(freshness);
        client.reply(&data.build_with_digest().map_err(wrong)?, &header).map_err(wrong)?;
    }
    Ok(())
}
