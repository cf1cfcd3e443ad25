//! Answering until somebody wants the tool to stop, and leaving in good order.

use client::Client;
use flow::source::{Reply, Server, Source, serve};
use packet::Interest;
use packet::time::Duration;

use super::ToolError;
use super::interrupt::Interrupt;

/// How long a tool that ends waits for the forwarder to take its registrations back.
const TIMEOUT: Duration = Duration::from_secs(1);

/// Serves until the server is over, `watch` says that it is enough, or a signal comes; then nothing is
/// registered any more. The forwarder sees connections go by itself, but not who has spoken in datagrams.
pub(crate) fn serve_until<S: Source>(
    client: &mut Client,
    server: &mut Server<S>,
    interrupt: &Interrupt,
    mut watch: impl FnMut(&Interest, &Reply) -> bool,
) -> Result<(), ToolError> {
    let served = serve(client, server, |what| {
        what.is_none_or(|(interest, reply)| watch(interest, reply)) && !interrupt.came()
    });
    leave(client);
    Ok(served?)
}

/// Takes back what this tool has registered.
pub(crate) fn leave(client: &mut Client) {
    client.withdraw(TIMEOUT);
}
