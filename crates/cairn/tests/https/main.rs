//! A web server that speaks TLS, as named data: only one whose certificate holds.
//!
//! `authority.pem` is trusted by these tests alone, its key is gone, and what it certified is valid for a
//! hundred years: a server that is `localhost`, and one that is not.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests may panic")]

#[path = "../world/mod.rs"]
#[allow(dead_code, reason = "each test file uses a part of it")]
mod world;

use std::net::SocketAddr;
use std::process::Output;
use std::sync::Arc;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use world::{World, bytes};

const AUTHORITY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/https/authority.pem");
const LOCALHOST: (&[u8], &[u8]) = (include_bytes!("localhost.pem"), include_bytes!("localhost.key"));
const ELSEWHERE: (&[u8], &[u8]) =
    (include_bytes!("elsewhere.example.pem"), include_bytes!("elsewhere.example.key"));

/// Answers every request with `body`, until the test's process ends.
fn web_server((certificate, key): (&'static [u8], &'static [u8]), body: Vec<u8>) -> SocketAddr {
    let chain = vec![CertificateDer::from_pem_slice(certificate).unwrap()];
    let key = PrivateKeyDer::from_pem_slice(key).unwrap();
    let config = ServerConfig::builder().with_no_client_auth().with_single_cert(chain, key).unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    listener.set_nonblocking(true).unwrap();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                // Who does not trust the certificate ends the handshake.
                let Ok(mut stream) = acceptor.accept(stream).await else { continue };
                let mut request = Vec::new();
                while !request.ends_with(b"\r\n\r\n") {
                    request.push(stream.read_u8().await.unwrap());
                }
                let head =
                    "HTTP/1.1 200 OK\r\nConnection: close\r\nCache-Control: max-age=60\r\nContent-Length:";
                stream.write_all(format!("{head} {}\r\n\r\n", body.len()).as_bytes()).await.unwrap();
                stream.write_all(&body).await.unwrap();
                let _ = stream.shutdown().await;
            }
        });
    });
    address
}

/// Gets an object through a gateway before this server, which trusts `authority`.
fn got_through_a_gateway(server: SocketAddr, authority: &str) -> Output {
    let mut world = World::new();
    let url = format!("https://localhost:{}", server.port());
    let mut gateway = world.command(&["gateway", "origin", &url, "/web"]);
    gateway.env("SSL_CERT_FILE", authority).env_remove("SSL_CERT_DIR");
    world.start_command(gateway, "/web");
    world.run(&["get", "/web/film.mp4"])
}

#[test]
fn a_web_server_with_tls_is_published_if_its_certificate_holds() {
    let body = bytes(100_000);
    let got = got_through_a_gateway(web_server(LOCALHOST, body.clone()), AUTHORITY);
    assert!(got.status.success(), "{}", String::from_utf8_lossy(&got.stderr));
    assert!(got.stdout == body);
}

#[test]
fn nothing_is_published_of_a_web_server_that_is_another_or_that_nobody_vouches_for() {
    let is_nothing = |got: &Output| !got.status.success() && got.stdout.is_empty();
    let another = got_through_a_gateway(web_server(ELSEWHERE, bytes(1_000)), AUTHORITY);
    assert!(is_nothing(&another), "{another:?}");
    // An authority that has not signed the server's certificate.
    let elsewhere = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/https/elsewhere.example.pem");
    let unknown = got_through_a_gateway(web_server(LOCALHOST, bytes(1_000)), elsewhere);
    assert!(is_nothing(&unknown), "{unknown:?}");
}
