//! Just enough HTTP/1.1 to talk to a store of objects: one request at a time over a connection that is kept,
//! bodies of known length.

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use thiserror::Error;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
/// For each read and each write.
const TIMEOUT: Duration = Duration::from_secs(10);
const MAX_HEAD_BYTES: usize = 32 << 10;
const MAX_HEADERS: usize = 64;
/// The body of an answer that is thrown away, so that its connection can be used again.
const MAX_SKIPPED_BYTES: u64 = 64 << 10;

/// Where the store of objects is.
#[derive(Clone, Debug)]
pub(super) struct Endpoint {
    host: String,
    port: u16,
    tls: Option<Arc<ClientConfig>>,
}

/// Why a text says no place of a store.
#[derive(Clone, Debug, PartialEq, Error)]
pub(in crate::repository) enum EndpointError {
    #[error("{url} begins with neither http:// nor https://")]
    Scheme { url: String },
    #[error("{url} is not a scheme, a host and a port")]
    Malformed { url: String },
    #[error("{url}: {port} is not a port")]
    Port { url: String, port: String },
    #[error("this system has no certificates to believe in")]
    NoCertificates,
    #[error(transparent)]
    Tls(#[from] rustls::Error),
}

impl Endpoint {
    /// From `http://host:port` or `https://host:port`.
    pub(super) fn parse(url: &str) -> Result<Self, EndpointError> {
        let (is_secure, rest) = match (url.strip_prefix("https://"), url.strip_prefix("http://")) {
            (Some(rest), _) => (true, rest),
            (None, Some(rest)) => (false, rest),
            (None, None) => return Err(EndpointError::Scheme { url: url.to_owned() }),
        };
        let rest = rest.strip_suffix('/').unwrap_or(rest);
        if rest.is_empty() || rest.contains(['/', '?', '#', '@', ' ']) {
            return Err(EndpointError::Malformed { url: url.to_owned() });
        }
        let (host, port) = match rest.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => {
                let bad = |_| EndpointError::Port { url: url.to_owned(), port: port.to_owned() };
                (host, port.parse().map_err(bad)?)
            }
            _ => (rest, if is_secure { 443 } else { 80 }),
        };
        let tls = is_secure.then(tls_config).transpose()?;
        Ok(Endpoint { host: host.to_owned(), port, tls })
    }

    /// As the header says it.
    pub(super) fn host(&self) -> String {
        match (self.port, &self.tls) {
            (80, None) | (443, Some(_)) => self.host.clone(),
            (port, _) => format!("{}:{port}", self.host),
        }
    }

    pub(super) fn connect(&self) -> io::Result<Connection> {
        let bare = self.host.trim_start_matches('[').trim_end_matches(']');
        let mut last = io::Error::from(io::ErrorKind::NotFound);
        for address in (bare, self.port).to_socket_addrs()? {
            match TcpStream::connect_timeout(&address, CONNECT_TIMEOUT) {
                Ok(stream) => return self.over(stream, bare),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    fn over(&self, stream: TcpStream, host: &str) -> io::Result<Connection> {
        stream.set_read_timeout(Some(TIMEOUT))?;
        stream.set_write_timeout(Some(TIMEOUT))?;
        stream.set_nodelay(true)?;
        let stream: Box<dyn Stream> = match &self.tls {
            None => Box::new(stream),
            Some(tls) => {
                let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
                let session = ClientConnection::new(Arc::clone(tls), name).map_err(io::Error::other)?;
                Box::new(StreamOwned::new(session, stream))
            }
        };
        Ok(Connection { stream, ahead: Vec::new() })
    }
}

fn tls_config() -> Result<Arc<ClientConfig>, EndpointError> {
    // The gateway does the same for web servers (`gateway/src/origin/web.rs`). Neither crate may use the
    // other, and those below both know nothing of TLS.
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() {
        return Err(EndpointError::NoCertificates);
    }
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    Ok(Arc::new(config?.with_root_certificates(roots).with_no_client_auth()))
}

trait Stream: Read + Write + Send {}
impl<S: Read + Write + Send> Stream for S {}

/// A connection.
pub(super) struct Connection {
    stream: Box<dyn Stream>,
    /// What was read behind the last head.
    ahead: Vec<u8>,
}

/// The head of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) status: u16,
    /// Bytes of the body; `None` if that is not said.
    pub(super) len_bytes: Option<u64>,
    /// Whether the connection may be used for another request once the body is read.
    pub(super) keeps: bool,
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connection").finish_non_exhaustive()
    }
}

impl Connection {
    /// Sends the head of a request.
    pub(super) fn send(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&'static str, String)],
    ) -> io::Result<()> {
        let mut head = format!("{method} {path} HTTP/1.1\r\n");
        for (name, value) in headers {
            if value.contains(['\r', '\n']) {
                return Err(io::Error::new(io::ErrorKind::InvalidInput, "a header has lines"));
            }
            head.extend([name, ": ", value, "\r\n"]);
        }
        head.push_str("\r\n");
        self.stream.write_all(head.as_bytes())?;
        self.stream.flush()
    }

    /// Sends some of the body.
    pub(super) fn send_body(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes)?;
        self.stream.flush()
    }

    /// Reads the head of the answer; those that only say to go on are passed over.
    pub(super) fn answer(&mut self) -> io::Result<Answer> {
        loop {
            if let Some((answer, used)) = parse(&self.ahead)? {
                self.ahead.drain(..used);
                if answer.status >= 200 {
                    return Ok(answer);
                }
                continue;
            }
            if self.ahead.len() > MAX_HEAD_BYTES {
                return Err(bad("a head without end"));
            }
            let mut more = [0; 4096];
            let count = self.stream.read(&mut more)?;
            if count == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            self.ahead.extend_from_slice(more.get(..count).unwrap_or_default());
        }
    }

    /// Reads so much of the body.
    pub(super) fn read_body(&mut self, out: &mut [u8]) -> io::Result<()> {
        let count = self.ahead.len().min(out.len());
        let (first, rest) = out.split_at_mut(count);
        first.copy_from_slice(self.ahead.get(..count).unwrap_or_default());
        self.ahead.drain(..count);
        self.stream.read_exact(rest)
    }

    /// Reads a body that nobody wants; false if the connection is of no use afterwards.
    pub(super) fn skip_body(&mut self, answer: Answer) -> bool {
        let Some(len) = answer.len_bytes.filter(|&len| answer.keeps && len <= MAX_SKIPPED_BYTES) else {
            return false;
        };
        let mut body = vec![0; len as usize];
        self.read_body(&mut body).is_ok()
    }
}

fn bad(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("the cold tier answers with {what}"))
}

/// The head at the beginning of `bytes` and its length, if all of it is there.
fn parse(bytes: &[u8]) -> io::Result<Option<(Answer, usize)>> {
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut response = httparse::Response::new(&mut headers);
    let used = match response.parse(bytes) {
        Ok(httparse::Status::Complete(used)) => used,
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(_) => return Err(bad("what is not HTTP")),
    };
    let status = response.code.unwrap_or(0);
    let of = |name: &str| {
        let found = response.headers.iter().find(|header| header.name.eq_ignore_ascii_case(name));
        found.and_then(|header| std::str::from_utf8(header.value).ok())
    };
    let has_no_body = status < 200 || status == 204 || status == 304;
    let len_bytes = match of("content-length") {
        _ if has_no_body => Some(0),
        Some(text) => Some(text.trim().parse().map_err(|_| bad("a length that is none"))?),
        None => None,
    };
    let closes = of("connection").is_some_and(|text| text.eq_ignore_ascii_case("close"));
    let is_chunked = of("transfer-encoding").is_some();
    let len_bytes = if is_chunked { None } else { len_bytes };
    let keeps = !closes && response.version == Some(1);
    Ok(Some((Answer { status, len_bytes, keeps }, used)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_says_how_long_its_body_is_and_whether_the_connection_stays() {
        let answer = |text: &str| parse(text.as_bytes()).unwrap().map(|(answer, _)| answer);
        let of = |status, len_bytes, keeps| Some(Answer { status, len_bytes, keeps });
        assert_eq!(answer("HTTP/1.1 206 P\r\nContent-Length: 7\r\n\r\nabc"), of(206, Some(7), true));
        assert_eq!(answer("HTTP/1.1 204 N\r\n\r\n"), of(204, Some(0), true));
        assert_eq!(answer("HTTP/1.1 200 O\r\nConnection: close\r\n\r\n"), of(200, None, false));
        let chunked = "HTTP/1.1 404 N\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n";
        assert_eq!(answer(chunked), of(404, None, true));
        assert_eq!(answer("HTTP/1.1 20"), None);
        assert!(parse(b"HTTP/1.1 200 O\r\nContent-Length: -7\r\n\r\n").is_err());
        assert!(parse(b"SSH-2.0-OpenSSH\r\n").is_err());
    }

    #[test]
    fn an_endpoint_is_a_scheme_a_host_and_a_port() {
        let host = |url| Endpoint::parse(url).map(|endpoint| endpoint.host());
        assert_eq!(host("http://store:9000/"), Ok("store:9000".to_owned()));
        assert_eq!(host("http://[::1]"), Ok("[::1]".to_owned()));
        assert_eq!(host("http://store:80"), Ok("store".to_owned()));
        for url in ["ftp://a", "http://", "http://a/b", "http://a:x", "http://u@a"] {
            assert!(host(url).is_err(), "{url}");
        }
    }
}
