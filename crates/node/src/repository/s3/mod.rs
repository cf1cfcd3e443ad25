//! A bucket of an S3-compatible store as the cold tier of repositories.

mod http;
mod sign;

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use formats::printable::printable_path;
use repo::cold::{Bucket, UploadBody};
use system::unix_now;
use thiserror::Error;
use trust::{Sha256, sha256};

use http::{Connection, Endpoint, EndpointError};
use sign::{Credentials, Request, encoded, headers};

/// S3 takes no more by one request.
const MAX_OBJECT_BYTES: u64 = 5 << 30;
/// So much is sent at a time.
const CHUNK_BYTES: usize = 256 << 10;
/// Of a file with credentials.
const MAX_CREDENTIALS_BYTES: u64 = 64 << 10;
/// Connections that are kept.
const MAX_CONNECTIONS: usize = 16;

/// Where the bucket is.
#[derive(Clone, Debug)]
pub(super) struct Location<'a> {
    /// `https://host:port`.
    pub(super) endpoint: &'a str,
    pub(super) region: &'a str,
    pub(super) bucket: &'a str,
    /// What names of objects begin with.
    pub(super) prefix: &'a str,
    /// A file with credentials; without it they are in the environment.
    pub(super) credentials: Option<&'a Path>,
}

/// Why there is no such bucket.
#[derive(Debug, Error)]
pub(super) enum S3Error {
    #[error(transparent)]
    Endpoint(#[from] EndpointError),
    #[error("AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not in the environment")]
    NoCredentials,
    #[error("{}: {source}", printable_path(path))]
    Read { path: PathBuf, source: io::Error },
    #[error("{}: aws_access_key_id or aws_secret_access_key is missing", printable_path(path))]
    Incomplete { path: PathBuf },
}

/// The bucket.
#[derive(Debug)]
pub(super) struct S3Bucket {
    endpoint: Endpoint,
    region: String,
    /// Bucket and prefix, as a path begins.
    path: String,
    credentials: Credentials,
    /// Connections that nobody uses now.
    idle: Mutex<Vec<Connection>>,
}

/// One request, beside the object that it is about.
#[derive(Clone, Copy)]
struct S3Request<'a> {
    method: &'a str,
    range: Option<&'a str>,
    body_digest: [u8; 32],
    body_len: Option<u64>,
}

impl<'a> S3Request<'a> {
    fn without_body(method: &'a str) -> Self {
        S3Request { method, range: None, body_digest: sha256(b""), body_len: None }
    }
}

impl S3Bucket {
    /// The bucket at this place. It is not asked anything yet.
    ///
    /// # Errors
    /// An address that is none, credentials that are not there.
    pub(super) fn new(location: &Location<'_>) -> Result<Self, S3Error> {
        Ok(S3Bucket {
            endpoint: Endpoint::parse(location.endpoint)?,
            region: location.region.to_owned(),
            path: format!("/{}/{}", location.bucket, location.prefix),
            credentials: match location.credentials {
                Some(path) => credentials_in(path)?,
                None => credentials_of(&|name| std::env::var(name).ok()).ok_or(S3Error::NoCredentials)?,
            },
            idle: Mutex::default(),
        })
    }

    /// Makes one request. A connection that was kept may have been closed by the other side; then it is made
    /// again over a new one. `body` sends the body; `read` is given the answer.
    fn request(
        &self,
        object: &str,
        asked: S3Request<'_>,
        body: &mut dyn FnMut(&mut Connection) -> io::Result<()>,
        read: &mut dyn FnMut(&mut Connection, http::Answer) -> io::Result<bool>,
    ) -> io::Result<()> {
        let (host, path) = (self.endpoint.host(), encoded(&format!("{}{object}", self.path)));
        let S3Request { method, range, body_digest, body_len } = asked;
        let signed = Request { method, host: &host, path: &path, range, body_digest };
        let mut sent = headers(&signed, &self.credentials, &self.region, unix_now());
        sent.push(("host", host.clone()));
        sent.extend(body_len.map(|len| ("content-length", len.to_string())));
        let kept = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut is_kept = kept.is_some();
        let mut connection = match kept {
            Some(connection) => connection,
            None => self.endpoint.connect()?,
        };
        let answer = loop {
            let answer = connection.send(method, &path, &sent).and_then(|()| body(&mut connection));
            match answer.and_then(|()| connection.answer()) {
                Ok(answer) => break answer,
                Err(_) if is_kept => (connection, is_kept) = (self.endpoint.connect()?, false),
                Err(error) => return Err(error),
            }
        };
        if read(&mut connection, answer)? {
            let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
            if idle.len() < MAX_CONNECTIONS {
                idle.push(connection);
            }
        }
        Ok(())
    }
}

/// What an answer that is no success means.
fn error_of_status(status: u16) -> io::Error {
    let kind = match status {
        404 => io::ErrorKind::NotFound,
        416 => io::ErrorKind::UnexpectedEof,
        401 | 403 => io::ErrorKind::PermissionDenied,
        _ => io::ErrorKind::Other,
    };
    io::Error::new(kind, format!("the cold tier answers with status {status}"))
}

impl Bucket for S3Bucket {
    fn put(&self, object: &str, len_bytes: u64, source: &mut UploadBody<'_>) -> io::Result<()> {
        if len_bytes > MAX_OBJECT_BYTES {
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, "S3 takes no object of so many bytes"));
        }
        let mut chunk = vec![0; CHUNK_BYTES];
        let mut pass = |source: &mut UploadBody<'_>, act: &mut dyn FnMut(&[u8]) -> io::Result<()>| {
            let mut at = 0;
            while at < len_bytes {
                let count = (len_bytes - at).min(CHUNK_BYTES as u64);
                let part = chunk.get_mut(..count as usize).unwrap_or_default();
                source(at, part)?;
                act(part)?;
                at += count;
            }
            Ok::<(), io::Error>(())
        };
        // The other side checks that it has got what was meant.
        let mut hasher = Sha256::new();
        pass(source, &mut |part| {
            hasher.update(part);
            Ok(())
        })?;
        let body_digest = hasher.finish();
        let mut body = |connection: &mut Connection| pass(source, &mut |part| connection.send_body(part));
        self.request(
            object,
            S3Request { body_digest, body_len: Some(len_bytes), ..S3Request::without_body("PUT") },
            &mut body,
            &mut |connection, answer| match answer.status {
                200..300 => Ok(connection.skip_body(answer)),
                status => Err(error_of_status(status)),
            },
        )
    }

    fn read_at(&self, object: &str, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let Some(last) = (out.len() as u64).checked_sub(1) else { return Ok(()) };
        let range = format!("bytes={offset}-{}", offset.saturating_add(last));
        let mut read = |connection: &mut Connection, answer: http::Answer| {
            if answer.status == 206 && answer.len_bytes == Some(last + 1) {
                connection.read_body(out)?;
                return Ok(answer.keeps);
            }
            Err(error_of_status(if answer.status == 206 { 416 } else { answer.status }))
        };
        let asked = S3Request { range: Some(&range), ..S3Request::without_body("GET") };
        self.request(object, asked, &mut |_| Ok(()), &mut read)
    }

    fn remove(&self, object: &str) -> io::Result<()> {
        let asked = S3Request::without_body("DELETE");
        self.request(object, asked, &mut |_| Ok(()), &mut |connection, answer| match answer.status {
            200..300 | 404 => Ok(connection.skip_body(answer)),
            status => Err(error_of_status(status)),
        })
    }
}

/// Credentials under the names that the field's tools use.
fn credentials_of(named: &dyn Fn(&str) -> Option<String>) -> Option<Credentials> {
    let some = |name| named(name).filter(|value| !value.is_empty());
    Some(Credentials {
        access_key: some("AWS_ACCESS_KEY_ID")?,
        secret_key: some("AWS_SECRET_ACCESS_KEY")?,
        session_token: some("AWS_SESSION_TOKEN"),
    })
}

/// Credentials in a file of lines `aws_access_key_id = …`, as the field's tools have it.
fn credentials_in(path: &Path) -> Result<Credentials, S3Error> {
    let mut text = String::new();
    let read = File::open(path).and_then(|file| file.take(MAX_CREDENTIALS_BYTES).read_to_string(&mut text));
    read.map_err(|source| S3Error::Read { path: path.to_owned(), source })?;
    credentials_in_text(&text).ok_or_else(|| S3Error::Incomplete { path: path.to_owned() })
}

fn credentials_in_text(text: &str) -> Option<Credentials> {
    let lines = || text.lines().filter_map(|line| line.split_once('='));
    let named = |name: &str| {
        let found = lines().find(|(key, _)| key.trim().eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.trim().to_owned())
    };
    credentials_of(&named)
}

#[cfg(test)]
mod tests;
