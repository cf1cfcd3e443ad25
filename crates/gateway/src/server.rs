//! Connections of HTTP: accepted, limited, and ended in good order.

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use client::AsyncClient;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use crate::connections::{ConnectionSlot, Connections};
use crate::gateway::{Gateway, GatewayConfig};
use crate::until::unless;
use crate::write_timeout::WriteTimeoutStream;

/// How long to rest when no connection can be accepted, as when there are no descriptors left.
const PAUSE: Duration = Duration::from_millis(100);

/// A gateway that listens.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    gateway: Arc<Gateway>,
}

impl Server {
    /// Listens at `address`; a port of zero lets the system pick one.
    ///
    /// # Errors
    /// It is taken, or not ours.
    pub async fn bind(address: SocketAddr, client: AsyncClient, config: GatewayConfig) -> io::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        Ok(Server { listener, gateway: Arc::new(Gateway::new(client, config)) })
    }

    /// Where it listens.
    ///
    /// # Errors
    /// The system does not tell.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Answers until `end` comes; then requests that are under way have some seconds to be done.
    pub async fn run(self, end: impl Future<Output = ()>) {
        let (ending, told) = watch::channel(false);
        let mut end = pin!(end);
        let connections = Connections::new(self.gateway.limits.connections, self.gateway.counters.clone());
        loop {
            let Some(accepted) = unless(end.as_mut(), self.listener.accept()).await else { break };
            let Ok((stream, from)) = accepted else {
                tokio::time::sleep(PAUSE).await;
                continue;
            };
            let counters = &self.gateway.counters;
            let Some(place) = connections.admit(from.ip()) else {
                counters.connections_refused_total.add(1);
                continue;
            };
            counters.connections_total.add(1);
            tokio::spawn(serve(self.gateway.clone(), stream, from, told.clone(), place));
        }
        drop(self.listener);
        drop(told);
        let _ = ending.send(true);
        // Every connection holds a receiver until it is closed.
        let _ = tokio::time::timeout(self.gateway.limits.end, ending.closed()).await;
    }
}

async fn serve(
    gateway: Arc<Gateway>,
    stream: TcpStream,
    from: SocketAddr,
    mut told: watch::Receiver<bool>,
    place: ConnectionSlot,
) {
    // What is sent are whole parts: there is nothing to be gained by waiting for more.
    let _ = stream.set_nodelay(true);
    let limits = &gateway.limits;
    let stream = WriteTimeoutStream::new(stream, limits.stall, gateway.counters.clone());
    let (answering, place) = (&gateway, &place);
    let service = service_fn(move |request| async move {
        let under_way = place.begin_request();
        let response = answering.answer(request, from.ip()).await;
        Ok::<_, Infallible>(response.map(|content| content.holding(under_way)))
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head_time)
        .max_buf_size(limits.head_bytes.max(8 << 10))
        .max_headers(limits.headers)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = pin!(connection);
    // What goes wrong on a connection is the business of who made it; the response that it ended has told.
    let is_ending = pin!(async {
        let _ = told.wait_for(|ending| *ending).await;
    });
    let given_away = pin!(place.given_away());
    if unless(is_ending, unless(given_away, connection.as_mut())).await.is_some() {
        return;
    }
    connection.as_mut().graceful_shutdown();
    let _ = connection.await;
}
