//! Signatures of requests to S3: AWS Signature Version 4, as the Amazon S3 API Reference describes it under
//! "Authenticating Requests (AWS Signature Version 4)".

use std::fmt::Write as _;

use aws_lc_rs::hmac;
use packet::percent::{self, is_unreserved};
use packet::{UnixTime, hex};
use trust::sha256;

/// Who asks.
#[derive(Clone)]
pub(super) struct Credentials {
    pub(super) access_key: String,
    pub(super) secret_key: String,
    /// For credentials that hold for a while only.
    pub(super) session_token: Option<String>,
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Credentials").finish_non_exhaustive()
    }
}

/// What is signed of a request. The query is empty.
pub(super) struct Request<'a> {
    pub(super) method: &'a str,
    pub(super) host: &'a str,
    /// Encoded, with the slash before it.
    pub(super) path: &'a str,
    pub(super) range: Option<&'a str>,
    /// SHA-256 of the body.
    pub(super) body_digest: [u8; 32],
}

/// The headers to be sent with a request, but `Host`: names and values.
pub(super) fn headers(
    request: &Request<'_>,
    credentials: &Credentials,
    region: &str,
    now: UnixTime,
) -> Vec<(&'static str, String)> {
    let time = format!("{}Z", String::from_utf8_lossy(&now.to_iso()));
    let day = time.get(..8).unwrap_or_default();
    let body = hex::encode(&request.body_digest);
    // In the order of their names.
    let mut signed = vec![("host", request.host.to_owned())];
    signed.extend(request.range.map(|range| ("range", range.to_owned())));
    signed.extend([("x-amz-content-sha256", body.clone()), ("x-amz-date", time.clone())]);
    signed.extend(credentials.session_token.clone().map(|token| ("x-amz-security-token", token)));
    let names = signed.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(";");
    let mut canonical = format!("{}\n{}\n\n", request.method, request.path);
    for (name, value) in &signed {
        let _ = writeln!(canonical, "{name}:{}", value.trim());
    }
    let _ = write!(canonical, "\n{names}\n{body}");
    let scope = format!("{day}/{region}/s3/aws4_request");
    let to_sign =
        format!("AWS4-HMAC-SHA256\n{time}\n{scope}\n{}", hex::encode(&sha256(canonical.as_bytes())));
    let mut key = format!("AWS4{}", credentials.secret_key).into_bytes();
    for part in [day, region, "s3", "aws4_request", &to_sign] {
        let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &key), part.as_bytes());
        key = tag.as_ref().to_vec();
    }
    let authorization = format!(
        "AWS4-HMAC-SHA256 Credential={}/{scope}, SignedHeaders={names}, Signature={}",
        credentials.access_key,
        hex::encode(&key)
    );
    signed.retain(|(name, _)| *name != "host");
    signed.push(("authorization", authorization));
    signed
}

/// Everything but what is unreserved in RFC 3986, and slashes, in per cent.
pub(super) fn encoded(path: &str) -> String {
    percent::encode(path.as_bytes(), |byte| is_unreserved(byte) || byte == b'/')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> Credentials {
        Credentials {
            access_key: "AKIAIOSFODNN7EXAMPLE".to_owned(),
            secret_key: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY".to_owned(),
            session_token: None,
        }
    }

    #[test]
    fn the_signature_is_that_of_the_references_example() {
        // "Example: GET Object" of the reference.
        let request = Request {
            method: "GET",
            host: "examplebucket.s3.amazonaws.com",
            path: "/test.txt",
            range: Some("bytes=0-9"),
            body_digest: sha256(b""),
        };
        let now = UnixTime::from_iso(b"20130524T000000").unwrap();
        let headers = headers(&request, &example(), "us-east-1", now);
        let (_, authorization) = headers.last().unwrap();
        assert_eq!(
            authorization,
            "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, \
             SignedHeaders=host;range;x-amz-content-sha256;x-amz-date, \
             Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
        );
    }

    #[test]
    fn a_token_is_signed_and_secrets_are_not_shown() {
        let request =
            Request { method: "PUT", host: "h", path: "/b/o", range: None, body_digest: sha256(b"x") };
        let credentials = Credentials { session_token: Some("t".to_owned()), ..example() };
        let headers = headers(&request, &credentials, "r", UnixTime::from_millis(0));
        assert!(headers.contains(&("x-amz-security-token", "t".to_owned())));
        assert!(headers.last().unwrap().1.contains("x-amz-date;x-amz-security-token,"));
        assert!(!format!("{credentials:?}").contains("wJalr"));
    }

    #[test]
    fn paths_are_encoded_as_the_reference_says() {
        assert_eq!(encoded("/a b/ü~x-_.%"), "/a%20b/%C3%BC~x-_.%25");
    }
}
