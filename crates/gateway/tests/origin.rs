//! A web server behind a named data network, asked by way of two gateways.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests may panic")]

#[allow(dead_code, reason = "each test file uses a part of it")]
mod common;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use cairn_gateway::origin::mapping::Mapping;
use cairn_gateway::origin::{OriginConfig, OriginLimits, OriginServer};
use client::{AsyncClient, Remote, Trust};
use management::{Command, ControlParameters, ControlResponse, RequestName, Target, response_data};
use packet::ndn::lp::LpPacketView;
use packet::{Buffer, Data, Interest, LinkHeader, Name};
use testkit::folder::TestFolder;
use trust::Signer;

use common::{SOCKET, World, listen};

/// A forwarder without a store: routes by prefix, and who waits for what.
#[derive(Default)]
struct Router {
    routes: Vec<(Name, usize)>,
    waiting: Vec<(Interest, usize)>,
    out: Vec<UnixStream>,
}

impl Router {
    fn start() -> TestFolder {
        let (listener, folder) = listen();
        let router = Arc::<Mutex<Router>>::default();
        std::thread::spawn(move || {
            while let Ok((stream, _)) = listener.accept() {
                let number = {
                    let mut router = router.lock().unwrap();
                    router.out.push(stream.try_clone().unwrap());
                    router.out.len() - 1
                };
                let router = router.clone();
                std::thread::spawn(move || serve(stream, number, &router));
            }
        });
        folder
    }

    fn send(&mut self, to: usize, wire: &Buffer, nack: Option<packet::NackReason>) {
        let (header, mut out) = (LinkHeader::default(), Vec::new());
        LpPacketView { nack, fragment: Some(wire), ..LpPacketView::with_header(&header) }.encode(&mut out);
        let _ = self.out[to].write_all(&out);
    }

    fn interest(&mut self, from: usize, interest: Interest) {
        if let Some(request) = RequestName::parse(interest.name()) {
            let parameters = ControlParameters::decode(request.parameter().unwrap().value).unwrap();
            if request.target == Target::Command(Command::RibRegister) {
                self.routes.push((parameters.name.clone().unwrap(), from));
            }
            let answer = response_data(interest.name().to_name(), &ControlResponse::ok(&parameters));
            let wire = answer.build_with_digest().unwrap().into_wire();
            return self.send(from, &wire, None);
        }
        let route = self.routes.iter().find(|(prefix, _)| prefix.as_ref().is_prefix_of(interest.name()));
        let Some(to) = route.map(|(_, to)| *to) else {
            return self.send(from, &interest.wire().clone(), Some(packet::NackReason::NoRoute));
        };
        let wire = interest.wire().clone();
        self.waiting.push((interest, from));
        self.send(to, &wire, None);
    }

    fn answered(&mut self, is_answer: impl Fn(&Interest) -> bool) -> Vec<usize> {
        let mut found = Vec::new();
        self.waiting.retain(|(interest, from)| {
            let is_over = is_answer(interest);
            if is_over {
                found.push(*from);
            }
            !is_over
        });
        found
    }
}

fn serve(mut stream: UnixStream, number: usize, router: &Mutex<Router>) {
    let mut bytes = Vec::new();
    loop {
        if let Ok((view, length)) = LpPacketView::decode_first(&bytes) {
            let (wire, nack) = (view.fragment.map(Buffer::copy_from).unwrap(), view.nack);
            bytes.drain(..length);
            let mut router = router.lock().unwrap();
            match (wire.first(), nack) {
                (Some(5), Some(_)) => {
                    let refused = Interest::decode_ndn(wire.clone()).unwrap();
                    for to in router.answered(|interest| interest.name() == refused.name()) {
                        router.send(to, &wire, nack);
                    }
                }
                (Some(5), None) => router.interest(number, Interest::decode_ndn(wire).unwrap()),
                _ => {
                    let data = Data::decode_ndn(wire.clone()).unwrap();
                    for to in router.answered(|interest| interest.matches(&data)) {
                        router.send(to, &wire, None);
                    }
                }
            }
            continue;
        }
        let mut more = [0; 16 << 10];
        match stream.read(&mut more) {
            Ok(0) | Err(_) => return,
            Ok(count) => bytes.extend_from_slice(&more[..count]),
        }
    }
}

/// A web server that answers as it is told, and what it was asked.
struct Web {
    url: String,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Web {
    fn start(answer: impl Fn(&str) -> Vec<u8> + Send + Sync + 'static) -> Web {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::<Mutex<Vec<String>>>::default();
        let (noted, answer) = (requests.clone(), Arc::new(answer));
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (noted, answer) = (noted.clone(), answer.clone());
                std::thread::spawn(move || one_request(stream, &noted, &*answer));
            }
        });
        Web { url, requests }
    }

    fn count(&self, part: &str) -> usize {
        self.requests.lock().unwrap().iter().filter(|request| request.contains(part)).count()
    }
}

fn one_request(mut stream: TcpStream, noted: &Mutex<Vec<String>>, answer: &dyn Fn(&str) -> Vec<u8>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut request = String::new();
    while !request.ends_with("\r\n\r\n") {
        if reader.read_line(&mut request).unwrap_or(0) == 0 {
            return;
        }
    }
    noted.lock().unwrap().push(request.clone());
    let _ = stream.write_all(&answer(&request));
}

fn ok(headers: &str, body: &[u8]) -> Vec<u8> {
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n{headers}\r\n", body.len());
    [head.as_bytes(), body].concat()
}

fn film() -> Vec<u8> {
    (0..3_000_000u32).map(|number| (number / 3 % 251) as u8).collect()
}

/// Both gateways, with a forwarder between them.
fn world(web: &Web) -> World {
    world_with(web, |limits| limits.max_object_bytes = 8 << 20)
}

fn world_with(web: &Web, change: impl FnOnce(&mut OriginLimits) + Send + 'static) -> World {
    let forwarder = Router::start();
    let mapping = Mapping::new(&web.url, "/web/example".parse().unwrap()).unwrap();
    let (origin, remote) = (mapping.clone(), Remote::Unix(forwarder.join(SOCKET)));
    let (ready, is_ready) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async move {
            let client = AsyncClient::connect(&remote).await.unwrap();
            // The same again, so that it is there when the test begins.
            client.register(origin.prefix()).await.unwrap();
            ready.send(()).unwrap();
            let mut config = OriginConfig::new(origin, Signer::digest());
            config.usual_freshness = Duration::from_secs(60);
            change(&mut config.limits);
            OriginServer::new(client, config).unwrap().run(std::future::pending()).await.unwrap();
        });
    });
    is_ready.recv().unwrap();
    World::at(forwarder, Trust::anybody, move |config| config.proxied = vec![mapping])
}

fn site(request: &str) -> Vec<u8> {
    let target = request.split(' ').nth(1).unwrap();
    let dated = "ETag: \"one\"\r\nLast-Modified: Tue, 14 Nov 2023 22:13:20 GMT\r\n";
    match target {
        "/film.mp4" => {
            ok(&format!("{dated}Content-Type: video/mp4\r\nCache-Control: max-age=60\r\n"), &film())
        }
        "/a%20b/?x=1" => ok("Content-Type: text/html\r\nCache-Control: max-age=60\r\n", b"<p>query"),
        "/changing" if request.contains("if-none-match: \"one\"") => {
            b"HTTP/1.1 304 Not Modified\r\nCache-Control: no-cache\r\n\r\n".to_vec()
        }
        "/changing" => ok(&format!("{dated}Cache-Control: no-cache\r\n"), b"the same"),
        "/chunked" => {
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n"
                .to_vec()
        }
        "/moved" => b"HTTP/1.1 301 Moved\r\nLocation: /film.mp4\r\nContent-Length: 0\r\n\r\n".to_vec(),
        "/cut" => [&ok(dated, &[7; 100_000])[..50_000]].concat(),
        "/private" => ok("Cache-Control: private\r\n", b"secret"),
        "/cookie" => ok("Set-Cookie: a=b\r\n", b"secret"),
        "/stored" => ok("Cache-Control: no-store\r\n", b"secret"),
        "/huge" => ok(dated, &[0; 9 << 20]),
        "/broken" => b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n".to_vec(),
        _ => b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n".to_vec(),
    }
}

#[test]
fn a_web_server_is_reached_through_names_and_its_answers_come_unchanged() {
    let web = Web::start(site);
    let world = world(&web);
    let answer = world.get("/ndn/web/example/film.mp4");
    assert_eq!((answer.status, answer.is_whole), (200, true), "{}", answer.text().len());
    assert!(answer.body == film());
    assert_eq!(answer.header("content-type"), "video/mp4");
    assert_eq!(answer.header("last-modified"), "Tue, 14 Nov 2023 22:13:20 GMT");
    let part = world.ask("GET", "/ndn/web/example/film.mp4", &["Range: bytes=2999990-"]);
    assert!(part.status == 206 && part.body == film()[2_999_990..]);
    assert_eq!(web.count("/film.mp4"), 1, "what is fresh is not asked for again");
    assert_eq!(world.get("/ndn/web/example/a%20b/.../32=%3Fx%3D1").text(), "<p>query");
    assert_eq!(world.get("/ndn/web/example/chunked").text(), "hello world");
    let moved = world.get("/ndn/web/example/moved");
    assert_eq!((moved.status, moved.header("location")), (302, "/ndn/web/example/film.mp4"));
}

#[test]
fn a_browser_may_use_it_as_its_proxy_for_that_server_and_no_other() {
    let web = Web::start(site);
    let world = world(&web);
    let ask = |url: &str| {
        let host = url.split('/').nth(2).unwrap();
        world.send(format!("GET {url} HTTP/1.1\r\nHost: {host}\r\n\r\n").as_bytes())
    };
    let page = ask(&format!("{}/a%20b/?x=1", web.url));
    assert_eq!((page.status, page.text()), (200, "<p>query".to_owned()));
    assert_eq!(page.header("content-security-policy"), "", "it is the page of that server");
    assert_eq!(ask(&format!("{}/moved", web.url)).header("location"), "/film.mp4");
    assert_eq!(ask("http://127.0.0.1:1/film.mp4").status, 403);
    assert_eq!(ask("http://evil.example/").status, 403);
}

#[test]
fn many_who_ask_at_once_are_one_question_to_the_web_server() {
    let web = Web::start(|request| {
        // Long enough for the others to come.
        while request.is_empty() {}
        site(request)
    });
    let world = world(&web);
    std::thread::scope(|scope| {
        for _ in 0..12 {
            scope.spawn(|| {
                let answer = world.get("/ndn/web/example/film.mp4");
                assert!(answer.status == 200 && answer.body == film());
            });
        }
    });
    assert_eq!(web.count("GET /film.mp4"), 1);
}

#[test]
fn what_is_stale_is_asked_for_by_its_tag_and_keeps_its_version() {
    let web = Web::start(site);
    let world = world(&web);
    let first = world.get("/ndn/web/example/changing");
    // Metadata is fresh for a millisecond only, and this forwarder keeps nothing.
    let second = world.get("/ndn/web/example/changing");
    assert_eq!((first.text(), second.text()), ("the same".to_owned(), "the same".to_owned()));
    assert_eq!(first.header("etag"), second.header("etag"));
    assert!(web.count("if-none-match: \"one\"") >= 1);
    assert_eq!(web.count("GET /changing"), web.count("if-none-match") + 1, "one was sent whole");
}

#[test]
fn what_is_for_one_reader_or_too_large_is_not_published_and_no_question_tells_who_asks() {
    let web = Web::start(site);
    let world = world(&web);
    for path in ["private", "cookie", "stored", "huge", "missing"] {
        let headers = ["Cookie: id=7", "Authorization: Basic abc", "User-Agent: mine"];
        let answer = world.ask("GET", &format!("/ndn/web/example/{path}"), &headers);
        assert_eq!(answer.status, 404, "{path}: {}", answer.text());
        assert!(!answer.text().contains("secret"));
    }
    let requests = web.requests.lock().unwrap().concat().to_ascii_lowercase();
    assert!(!requests.contains("cookie") || requests.contains("get /cookie"));
    for told in ["cookie:", "authorization:", "user-agent: mine", "referer:", "range:"] {
        assert!(!requests.contains(told), "{told}");
    }
}

#[test]
fn answers_without_a_length_share_the_room_of_all_while_they_come() {
    // Each fits by itself; two do not.
    let web = Web::start(|_| {
        let mut answer = b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n".to_vec();
        answer.extend(vec![7; 60_000]);
        answer
    });
    let world = world_with(&web, |limits| limits.max_kept_bytes = 100_000);
    assert_eq!(world.get("/ndn/web/example/one").body.len(), 60_000);
    assert_eq!(world.get("/ndn/web/example/two").body.len(), 60_000, "the one before gives way");
    let world = world_with(&web, |limits| limits.max_kept_bytes = 50_000);
    assert_eq!(world.get("/ndn/web/example/one").status, 404);
}

#[test]
fn a_server_that_fails_or_breaks_off_is_no_answer_and_no_half_object() {
    let web = Web::start(site);
    let world = world(&web);
    let broken = world.get("/ndn/web/example/broken");
    assert!(broken.status >= 400, "{}", broken.status);
    let cut = world.get("/ndn/web/example/cut");
    assert!(cut.status >= 400 || !cut.is_whole, "{} {}", cut.status, cut.body.len());
    // Nobody made it come back for every one who asked.
    world.get("/ndn/web/example/broken");
    assert!(web.count("GET /broken") <= 3, "{}", web.count("GET /broken"));
}
