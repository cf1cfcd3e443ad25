//! Responses as the gateway builds them.

use hyper::header::{self, HeaderName, HeaderValue};
use hyper::{Response, StatusCode};

use crate::failure::Failure;
use crate::outgoing::Content;
use crate::pages;

/// A response before it is known to whom it goes.
pub(crate) type Reply = Response<Content>;

/// What came in time, or that it did not.
pub(crate) fn in_time<T>(
    result: Result<Result<T, Failure>, tokio::time::error::Elapsed>,
) -> Result<T, Failure> {
    result.unwrap_or_else(|_| Err(Failure::NoAnswer("it took too long until the first bytes came".into())))
}

/// Sets a header whose value is known to be one; what is not is left out.
pub(crate) fn set<T>(response: &mut Response<T>, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        response.headers_mut().insert(name, value);
    }
}

/// A short text.
pub(crate) fn plain(status: StatusCode, text: &str) -> Reply {
    let mut response = Response::new(Content::from(text.to_owned()));
    *response.status_mut() = status;
    set(&mut response, header::CONTENT_TYPE, "text/plain; charset=utf-8");
    set(&mut response, header::CACHE_CONTROL, "no-store");
    response
}

/// A page that says why there is no object.
pub(crate) fn error_page(failure: &Failure) -> Reply {
    let status = failure.status();
    let mut response = Response::new(Content::from(pages::error(status, &failure.to_string())));
    *response.status_mut() = status;
    set(&mut response, header::CONTENT_TYPE, "text/html; charset=utf-8");
    set(&mut response, header::CONTENT_SECURITY_POLICY, pages::PAGE_POLICY);
    set(&mut response, header::CACHE_CONTROL, "no-store");
    if status == StatusCode::SERVICE_UNAVAILABLE {
        set(&mut response, header::RETRY_AFTER, "1");
    }
    response
}
