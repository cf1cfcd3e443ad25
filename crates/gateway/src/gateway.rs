//! One request and its answer.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use client::{AsyncClient, Clock};
use flow::{Discovery, FetchConfig};
use hyper::body::Body;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Method, Request, Response, StatusCode};
use packet::NameScope;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::access_log::{TrackedRequest, WriteLine};
use crate::counters::Counters;
use crate::failure::Failure;
use crate::guard::Guard;
use crate::limits::Limits;
use crate::object::{self, ObjectRequest, SendContext};
use crate::origin::mapping::Mapping;
use crate::outgoing::{Content, Outgoing};
use crate::reply::{Reply, error_page, in_time, plain, set};
use crate::resolve::{ResolvedObject, resolve};
use crate::transfers::Transfers;
use crate::trust_policy::TrustPolicy;
use crate::{name_path, own_page, pages};

/// What a gateway is to be.
#[derive(Clone)]
pub struct GatewayConfig {
    /// Whom to believe.
    pub trust_policy: TrustPolicy,
    /// How much strangers may use.
    pub limits: Limits,
    /// Names of hosts that it goes by, beside its addresses and `localhost`.
    pub hosts: Vec<String>,
    /// Whether pages of any origin may read objects (CORS).
    pub any_origin: bool,
    /// Web servers whose URLs this gateway is a proxy for, by their names.
    pub proxied: Vec<Mapping>,
    /// Where a line for each request goes.
    pub log: Option<WriteLine>,
}

impl GatewayConfig {
    /// The usual limits, pages of any origin, and no log.
    pub fn new(trust_policy: TrustPolicy) -> Self {
        GatewayConfig {
            trust_policy,
            limits: Limits::default(),
            hosts: Vec::new(),
            any_origin: true,
            proxied: Vec::new(),
            log: None,
        }
    }
}

impl fmt::Debug for GatewayConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut form = f.debug_struct("GatewayConfig");
        form.field("trust_policy", &self.trust_policy)
            .field("limits", &self.limits)
            .field("hosts", &self.hosts);
        form.field("any_origin", &self.any_origin).finish_non_exhaustive()
    }
}

/// Answers requests of HTTP with named data.
pub(crate) struct Gateway {
    pub(crate) client: AsyncClient,
    pub(crate) trust_policy: TrustPolicy,
    pub(crate) limits: Limits,
    pub(crate) counters: Arc<Counters>,
    guard: Guard,
    any_origin: bool,
    proxied: Vec<Mapping>,
    log: Option<WriteLine>,
    fetches: Arc<Semaphore>,
    /// Questions for the forwarder's state.
    looks: Semaphore,
    transfers: Arc<Transfers>,
    clock: Clock,
}

impl fmt::Debug for Gateway {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gateway").field("counters", &self.counters).finish_non_exhaustive()
    }
}

impl Gateway {
    pub(crate) fn new(client: AsyncClient, config: GatewayConfig) -> Self {
        Gateway {
            client,
            trust_policy: config.trust_policy,
            guard: Guard::new(&config.hosts),
            any_origin: config.any_origin,
            proxied: config.proxied,
            log: config.log,
            fetches: Arc::new(Semaphore::new(config.limits.fetches)),
            looks: Semaphore::new(config.limits.looks),
            transfers: Arc::default(),
            limits: config.limits,
            counters: Arc::new(Counters::default()),
            clock: Clock::start(),
        }
    }

    /// Answers one request.
    pub(crate) async fn answer<B: Body>(&self, request: Request<B>, from: IpAddr) -> Response<Outgoing> {
        let has_body = !request.body().is_end_stream();
        let (parts, _) = request.into_parts();
        let line = format!("{} {} {:?}", parts.method, parts.uri, parts.version);
        let at = (from, self.clock.unix());
        let mut ticket = TrackedRequest::new(self.counters.clone(), self.log.clone(), at, &line);
        let mut response = match self.reply(&parts, has_body).await {
            Ok(response) => response,
            Err(failure) => error_page(&failure),
        };
        if has_body {
            // What is left of it is not read, and must not be taken for the next request.
            set(&mut response, header::CONNECTION, "close");
        }
        let headers = response.headers_mut();
        headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        let is_named = parts.uri.authority().is_none() && parts.uri.path().starts_with(name_path::PREFIX);
        if self.any_origin && is_named {
            cross_origin(headers);
        }
        if let Some(left) = response.body().left()
            && !response.headers().contains_key(header::CONTENT_LENGTH)
            && !matches!(response.status(), StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED)
        {
            set(&mut response, header::CONTENT_LENGTH, &left.to_string());
        }
        if parts.method == Method::HEAD {
            *response.body_mut() = Content::Empty;
        }
        ticket.answered(response.status().as_u16());
        response.map(|content| Outgoing::new(content, ticket))
    }

    async fn reply(&self, parts: &Parts, has_body: bool) -> Result<Reply, Failure> {
        if has_body {
            return Err(Failure::BadRequest("requests here have no body".into()));
        }
        if parts.method == Method::OPTIONS {
            return Ok(self.preflight(parts));
        }
        if !matches!(parts.method, Method::GET | Method::HEAD) {
            let mut response = plain(StatusCode::METHOD_NOT_ALLOWED, "only GET and HEAD are understood\n");
            set(&mut response, header::ALLOW, "GET, HEAD, OPTIONS");
            return Ok(response);
        }
        if parts.uri.authority().is_some() {
            return self.proxied(parts).await;
        }
        self.guard.check_host(&parts.headers)?;
        let path = parts.uri.path();
        match path {
            _ if path == name_path::PREFIX || path.starts_with("/ndn/") => {
                let (name, is_folder) =
                    name_path::name_of(path).map_err(|error| Failure::BadRequest(error.to_string()))?;
                let query = parts.uri.query().unwrap_or_default();
                let (headers, method) = (&parts.headers, &parts.method);
                let asked = ObjectRequest { name, is_folder, query, headers, method, is_own_origin: false };
                self.named(asked).await
            }
            "/-/status.json" | "/-/names.json" => {
                self.guard.check_origin(&parts.headers)?;
                // Not among the fetches: the page is looked at most when these are many.
                let Ok(_look) = self.looks.try_acquire() else {
                    self.counters.looks_refused_total.add(1);
                    return Err(Failure::Busy("too many ask for the forwarder's state at once".into()));
                };
                match path {
                    "/-/names.json" => own_page::names(&self.client).await,
                    _ => own_page::status(&self.client, &self.transfers).await,
                }
            }
            "/-/metrics" => {
                self.guard.check_origin(&parts.headers)?;
                Ok(plain(StatusCode::OK, &self.counters.to_prometheus()))
            }
            _ => own_page::file(path).ok_or_else(|| {
                Failure::NotFound(format!("there is nothing at {path}; names stand behind /ndn/"))
            }),
        }
    }

    /// A URL of a web server, as a proxy is asked for it.
    async fn proxied(&self, parts: &Parts) -> Result<Reply, Failure> {
        let Some(mapping) = self.proxied.iter().find(|mapping| mapping.covers(&parts.uri)) else {
            return Err(Failure::Forbidden("this gateway is no proxy for that web server".into()));
        };
        let name = mapping.name_of(parts.uri.path(), parts.uri.query());
        let name = name.map_err(|error| Failure::BadRequest(error.to_string()))?;
        let (headers, method) = (&parts.headers, &parts.method);
        self.named(ObjectRequest { name, is_folder: true, query: "", headers, method, is_own_origin: true })
            .await
    }

    /// Whether a page may ask, before it asks.
    fn preflight(&self, parts: &Parts) -> Reply {
        let mut response = Response::new(Content::Empty);
        *response.status_mut() = StatusCode::NO_CONTENT;
        set(&mut response, header::ALLOW, "GET, HEAD, OPTIONS");
        if self.any_origin && parts.uri.path().starts_with(name_path::PREFIX) {
            set(&mut response, header::ACCESS_CONTROL_ALLOW_METHODS, "GET, HEAD, OPTIONS");
            let allowed = "Range, If-Range, If-Match, If-None-Match, If-Modified-Since, If-Unmodified-Since, \
                Cache-Control";
            set(&mut response, header::ACCESS_CONTROL_ALLOW_HEADERS, allowed);
            set(&mut response, header::ACCESS_CONTROL_MAX_AGE, "86400");
            if parts.headers.contains_key("access-control-request-private-network") {
                let name = HeaderName::from_static("access-control-allow-private-network");
                set(&mut response, name, "true");
            }
        }
        response
    }

    /// An object by its name.
    pub(crate) async fn named(&self, asked: ObjectRequest<'_>) -> Result<Reply, Failure> {
        if asked.name.as_ref().scope() != NameScope::Global {
            return Err(Failure::Forbidden("names of this host or link are not for the web".into()));
        }
        let permit = self.turn().await?;
        let finding = resolve(&self.client, &self.trust_policy, &asked.name);
        let found = in_time(timeout(self.limits.first_bytes, finding).await)?;
        if found.is_listing() {
            return self.folder(asked, found, permit).await;
        }
        object::send(&self.send_context(), &asked, found, permit).await
    }

    /// What sending an object takes.
    fn send_context(&self) -> SendContext<'_> {
        SendContext {
            client: &self.client,
            trust_policy: &self.trust_policy,
            limits: &self.limits,
            transfers: &self.transfers,
        }
    }

    /// One of those that may fetch at once.
    async fn turn(&self) -> Result<OwnedSemaphorePermit, Failure> {
        let turn = timeout(self.limits.turn, self.fetches.clone().acquire_owned()).await;
        turn.ok().and_then(Result::ok).ok_or_else(|| {
            self.counters.fetches_refused_total.add(1);
            Failure::Busy("too many fetch at once; try again soon".into())
        })
    }

    /// What lies in a folder: its index.html if it has one, or a list.
    async fn folder(
        &self,
        asked: ObjectRequest<'_>,
        found: ResolvedObject,
        permit: OwnedSemaphorePermit,
    ) -> Result<Reply, Failure> {
        if !asked.is_folder {
            // Links in the page are relative to it.
            let mut response = Response::new(Content::Empty);
            *response.status_mut() = StatusCode::MOVED_PERMANENTLY;
            let query = if asked.query.is_empty() { "" } else { "?" };
            let path = name_path::path_of(asked.name.as_ref());
            let path = path.trim_end_matches('/');
            set(&mut response, header::LOCATION, &format!("{path}/{query}{}", asked.query));
            set(&mut response, header::CACHE_CONTROL, "no-cache");
            return Ok(response);
        }
        let config = FetchConfig { discovery: Discovery::Unversioned, ..FetchConfig::default() };
        let get = self.client.get(&found.object, self.trust_policy.object()).config(config);
        let fetching = get.at_most(self.limits.listing_bytes).into_memory();
        let fetched = timeout(self.limits.first_bytes, fetching).await;
        let (listing, _) = in_time(fetched.map(|fetched| fetched.map_err(Failure::from)))?;
        if asked.query.is_empty() && pages::entries(&listing).any(|entry| entry.name == b"index.html") {
            let name = asked.name.with(packet::Component::generic(b"index.html"))?;
            let found = resolve(&self.client, &self.trust_policy, &name).await?;
            return object::send(&self.send_context(), &ObjectRequest { name, ..asked }, found, permit).await;
        }
        let (kind, text) = match asked.query {
            "list=json" => ("application/json", pages::folder_json(&asked.name, &listing)),
            _ => ("text/html; charset=utf-8", pages::folder(&asked.name, &listing)),
        };
        let mut response = Response::new(Content::from(text));
        set(&mut response, header::CONTENT_TYPE, kind);
        set(&mut response, header::CACHE_CONTROL, "no-cache");
        set(&mut response, header::CONTENT_SECURITY_POLICY, pages::PAGE_POLICY);
        Ok(response)
    }
}

/// Pages of other origins may read it.
fn cross_origin(headers: &mut HeaderMap) {
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    let exposed = HeaderValue::from_static(
        "Accept-Ranges, Content-Length, Content-Location, Content-Range, ETag, Last-Modified",
    );
    headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, exposed);
    // A page may show it, whatever that page asks of what it shows.
    let name = HeaderName::from_static("cross-origin-resource-policy");
    headers.insert(name, HeaderValue::from_static("cross-origin"));
}
