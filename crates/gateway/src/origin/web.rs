//! Asking the web server: one request for one connection, nothing in it that tells one reader from another.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::Arc;

use hyper::body::{Body as _, Bytes, Incoming};
use hyper::header;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::{InvalidDnsNameError, ServerName};
use tokio_rustls::rustls::{self, ClientConfig, RootCertStore};

use super::mapping::Mapping;

/// Why the web server has not answered.
#[derive(Debug, Error)]
pub enum WebError {
    /// Nobody is there, or the connection broke.
    #[error("the web server cannot be reached: {0}")]
    Connection(#[from] io::Error),
    /// It does not speak HTTP as it should.
    #[error("the web server's answer makes no sense: {0}")]
    Http(#[from] hyper::Error),
    /// TLS cannot be set up.
    #[error("TLS cannot be set up: {0}")]
    Tls(#[from] TlsSetupError),
}

/// Why TLS cannot be set up.
#[derive(Debug, Error)]
pub enum TlsSetupError {
    /// There is nobody to believe.
    #[error("this system has no list of certificates to believe in")]
    NoRoots,
    /// The web server's name is none that a certificate could have.
    #[error(transparent)]
    ServerName(#[from] InvalidDnsNameError),
    /// The library does not do what is asked of it.
    #[error(transparent)]
    Library(#[from] rustls::Error),
}

/// The web server.
#[derive(Clone)]
pub(crate) struct Web {
    mapping: Mapping,
    tls: Option<TlsConnector>,
}

/// What the client has of an object already, as the server named it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ClientValidators {
    pub(crate) etag: Option<String>,
    pub(crate) modified: Option<String>,
}

impl Web {
    /// # Errors
    /// TLS is asked for, and the system has no certificates.
    pub(crate) fn new(mapping: Mapping) -> Result<Self, WebError> {
        let tls = if mapping.is_tls { Some(TlsConnector::from(Arc::new(tls_config()?))) } else { None };
        Ok(Web { mapping, tls })
    }

    /// Asks for `target`, a path with its query.
    pub(crate) async fn get(
        &self,
        target: &str,
        known: &ClientValidators,
    ) -> Result<Response<Incoming>, WebError> {
        let stream = TcpStream::connect((&self.mapping.host[..], self.mapping.port)).await?;
        let _ = stream.set_nodelay(true);
        let Some(tls) = &self.tls else { return self.ask(stream, target, known).await };
        let name = ServerName::try_from(self.mapping.host.clone()).map_err(TlsSetupError::from)?;
        self.ask(tls.connect(name, stream).await?, target, known).await
    }

    async fn ask(
        &self,
        stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
        target: &str,
        known: &ClientValidators,
    ) -> Result<Response<Incoming>, WebError> {
        let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
        // It ends with the response's body.
        tokio::spawn(connection);
        let mut request = Request::get(target)
            .header(header::HOST, self.mapping.authority())
            .header(header::ACCEPT, "*/*")
            .header(header::ACCEPT_ENCODING, "identity")
            .header(header::USER_AGENT, concat!("cairn-gateway/", env!("CARGO_PKG_VERSION")))
            .header(header::CONNECTION, "close");
        if let Some(etag) = &known.etag {
            request = request.header(header::IF_NONE_MATCH, etag);
        } else if let Some(modified) = &known.modified {
            request = request.header(header::IF_MODIFIED_SINCE, modified);
        }
        let request = request.body(String::new());
        let request = request.map_err(|error| WebError::Connection(io::Error::other(error)))?;
        Ok(sender.send_request(request).await?)
    }
}

/// The next bytes of an answer; `None` at its end.
pub(crate) async fn next_bytes(body: &mut Incoming) -> Option<Result<Bytes, WebError>> {
    loop {
        let frame = poll_fn(|context| Pin::new(&mut *body).poll_frame(context)).await?;
        match frame {
            Err(error) => return Some(Err(error.into())),
            Ok(frame) => {
                // Trailers say nothing that is published.
                if let Ok(bytes) = frame.into_data() {
                    return Some(Ok(bytes));
                }
            }
        }
    }
}

fn tls_config() -> Result<ClientConfig, TlsSetupError> {
    // A node does the same for repositories in S3 (`node/src/repository/s3/http.rs`). Neither crate may use
    // the other, and those below both know nothing of TLS.
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() {
        return Err(TlsSetupError::NoRoots);
    }
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}
