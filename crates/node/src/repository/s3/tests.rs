//! Against a store of objects in this process, which checks what a real one checks of bodies and ranges.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use super::*;

type Objects = Arc<Mutex<BTreeMap<String, Vec<u8>>>>;

/// A store that closes every connection after so many requests.
fn store(requests_of_a_connection: usize) -> (String, Objects) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let objects = Objects::default();
    let theirs = Arc::clone(&objects);
    std::thread::spawn(move || {
        for connection in listener.incoming().map_while(Result::ok) {
            let objects = Arc::clone(&theirs);
            std::thread::spawn(move || {
                let mut connection = BufReader::new(connection);
                for _ in 0..requests_of_a_connection {
                    if serve(&mut connection, &objects).is_none() {
                        return;
                    }
                }
            });
        }
    });
    (endpoint, objects)
}

/// One request; `None` when the connection is over.
fn serve(connection: &mut BufReader<TcpStream>, objects: &Objects) -> Option<()> {
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        connection.read_line(&mut line).ok().filter(|&count| count > 0)?;
        match line.trim_end() {
            "" => break,
            line => lines.push(line.to_owned()),
        }
    }
    let header = |name: &str| {
        let found = lines.iter().filter_map(|line| line.split_once(": ")).find(|(key, _)| *key == name);
        found.map(|(_, value)| value.to_owned())
    };
    let mut request = lines[0].split(' ');
    let (method, path) = (request.next()?, request.next()?.to_owned());
    let mut body = vec![0; header("content-length").map_or(0, |len| len.parse().unwrap())];
    connection.read_exact(&mut body).ok()?;
    let is_signed = header("authorization").is_some_and(|text| text.starts_with("AWS4-HMAC-SHA256 Cred"));
    let digest = packet::hex::encode(&sha256(&body));
    let mut objects = objects.lock().unwrap();
    let (status, answer) = match method {
        _ if !is_signed || header("x-amz-content-sha256") != Some(digest) => ("403 Forbidden", Vec::new()),
        "PUT" => {
            objects.insert(path, body);
            ("200 OK", Vec::new())
        }
        "DELETE" => {
            objects.remove(&path);
            ("204 No Content", Vec::new())
        }
        _ => match (objects.get(&path), header("range")) {
            (None, _) => ("404 Not Found", b"<Error/>".to_vec()),
            (Some(object), Some(range)) => {
                let (first, last) = range.strip_prefix("bytes=")?.split_once('-')?;
                let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
                let last = last.min(object.len() - 1);
                ("206 Partial Content", object[first..=last].to_vec())
            }
            (Some(object), None) => ("200 OK", object.clone()),
        },
    };
    let len = answer.len();
    let head = match status {
        "204 No Content" => format!("HTTP/1.1 {status}\r\n\r\n"),
        _ => format!("HTTP/1.1 {status}\r\nContent-Length: {len}\r\n\r\n"),
    };
    let connection = connection.get_mut();
    connection.write_all(&[head.into_bytes(), answer].concat()).ok()
}

fn bucket(endpoint: &str) -> S3Bucket {
    let credentials = credentials_in_text("[default]\naws_access_key_id = A\naws_secret_access_key=S/=\n");
    S3Bucket {
        endpoint: Endpoint::parse(endpoint).unwrap(),
        region: "us-east-1".to_owned(),
        path: "/cairn/edge one/".to_owned(),
        credentials: credentials.unwrap(),
        idle: Mutex::default(),
    }
}

fn put(bucket: &S3Bucket, object: &str, bytes: &[u8]) -> io::Result<()> {
    bucket.put(object, bytes.len() as u64, &mut |offset, out| {
        out.copy_from_slice(&bytes[offset as usize..][..out.len()]);
        Ok(())
    })
}

#[test]
fn what_is_put_is_read_in_parts_and_removed_over_connections_that_end_at_any_time() {
    for requests_of_a_connection in [1, 2, 100] {
        let (endpoint, objects) = store(requests_of_a_connection);
        let bucket = bucket(&endpoint);
        let bytes: Vec<u8> = (0..600_000u32).map(|at| (at % 251) as u8).collect();
        put(&bucket, "a", &bytes).unwrap();
        assert_eq!(objects.lock().unwrap().keys().collect::<Vec<_>>(), ["/cairn/edge%20one/a"]);
        for start in [0, 1, 299_999, 599_990] {
            let mut out = [0; 10];
            bucket.read_at("a", start, &mut out).unwrap();
            assert_eq!(out, bytes[start as usize..][..10]);
        }
        let error = bucket.read_at("a", 599_995, &mut [0; 10]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
        assert_eq!(bucket.read_at("b", 0, &mut [0]).unwrap_err().kind(), io::ErrorKind::NotFound);
        bucket.remove("a").unwrap();
        bucket.remove("a").unwrap();
        assert!(objects.lock().unwrap().is_empty());
    }
}

#[test]
fn a_source_that_fails_puts_nothing_and_a_store_that_is_not_there_is_an_error() {
    let (endpoint, objects) = store(100);
    let there = bucket(&endpoint);
    assert!(there.put("a", 10, &mut |_, _| Err(io::ErrorKind::Interrupted.into())).is_err());
    assert!(objects.lock().unwrap().is_empty());
    // Nobody listens where somebody has just stopped listening.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let nowhere = bucket(&endpoint);
    assert!(put(&nowhere, "a", b"x").is_err() && nowhere.read_at("a", 0, &mut [0]).is_err());
}

#[test]
fn credentials_come_from_the_environments_names_or_a_file_and_from_nowhere_else() {
    let named = |name: &str| (name != "AWS_SESSION_TOKEN").then(|| name.to_lowercase());
    let found = credentials_of(&named).unwrap();
    assert_eq!((found.access_key.as_str(), found.session_token), ("aws_access_key_id", None));
    assert!(credentials_of(&|_| None).is_none() && credentials_of(&|_| Some(String::new())).is_none());
    let file = credentials_in_text("[default]\naws_access_key_id = A\naws_secret_access_key=S/=\n").unwrap();
    assert_eq!((file.access_key.as_str(), file.secret_key.as_str()), ("A", "S/="));
    assert!(credentials_in_text("aws_access_key_id = A\n").is_none());
    let error = S3Bucket::new(&Location {
        endpoint: "http://store:9000",
        region: "r",
        bucket: "b",
        prefix: "",
        credentials: Some(Path::new("/nowhere/at/all")),
    });
    assert!(error.unwrap_err().to_string().starts_with("/nowhere/at/all: "));
}
