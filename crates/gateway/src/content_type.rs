//! What kind of bytes an object has: producers of named data do not say.

use packet::{ComponentKind, NameRef};

/// The kind of bytes about which nothing is known.
pub(crate) const UNKNOWN: &str = "application/octet-stream";

/// Suffixes of which `mime_guess` says what no player understands, or nothing.
const BY_SUFFIX: &[(&str, &str)] = &[
    ("ts", "video/mp2t"),
    ("m4s", "video/mp4"),
    ("m4v", "video/mp4"),
    ("m4a", "audio/mp4"),
    ("m3u8", "application/vnd.apple.mpegurl"),
    ("mpd", "application/dash+xml"),
    ("mkv", "video/x-matroska"),
    ("js", "text/javascript"),
    ("mjs", "text/javascript"),
];

/// The Content-Type of an object by its name, if the name has a suffix that tells.
pub(crate) fn by_name(name: NameRef<'_>) -> Option<String> {
    let file = name.components().filter(|component| component.kind == ComponentKind::GENERIC).last()?;
    let file = std::str::from_utf8(file.value).ok()?;
    let (_, suffix) = file.rsplit_once('.')?;
    let suffix = suffix.to_ascii_lowercase();
    if let Some((_, kind)) = BY_SUFFIX.iter().find(|(known, _)| *known == suffix) {
        return Some((*kind).to_owned());
    }
    let kind = mime_guess::from_ext(&suffix).first_raw()?;
    Some(if kind.starts_with("text/") { format!("{kind}; charset=utf-8") } else { kind.to_owned() })
}

/// The Content-Type by an object's first bytes. Markup is not looked for: what is shown as a page should have
/// been named as one.
pub(crate) fn by_first_bytes(bytes: &[u8]) -> &'static str {
    const MAGIC: &[(usize, &[u8], &str)] = &[
        (0, b"\x89PNG\r\n\x1a\n", "image/png"),
        (0, b"\xff\xd8\xff", "image/jpeg"),
        (0, b"GIF8", "image/gif"),
        (8, b"WEBP", "image/webp"),
        (8, b"WAVE", "audio/wav"),
        (4, b"ftyp", "video/mp4"),
        (0, b"\x1a\x45\xdf\xa3", "video/webm"),
        (0, b"OggS", "application/ogg"),
        (0, b"ID3", "audio/mpeg"),
        (0, b"%PDF-", "application/pdf"),
        (0, b"PK\x03\x04", "application/zip"),
        (0, b"\x1f\x8b", "application/gzip"),
        (0, b"#EXTM3U", "application/vnd.apple.mpegurl"),
    ];
    for (at, magic, kind) in MAGIC {
        if bytes.get(*at..).is_some_and(|bytes| bytes.starts_with(magic)) {
            return kind;
        }
    }
    let valid = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        // The last letter may be cut.
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default()
        }
        Err(_) => return UNKNOWN,
    };
    let is_text = valid.chars().all(|letter| !letter.is_control() || matches!(letter, '\n' | '\r' | '\t'));
    if is_text && !valid.is_empty() { "text/plain; charset=utf-8" } else { UNKNOWN }
}

/// What a producer says of its bytes, if it is one kind and nothing else: browsers read lists in ways of
/// their own, and take the last.
pub(crate) fn of_producer(kind: &str) -> Option<&str> {
    let is_token = |text: &str| {
        let is_of_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$&^_.+-".contains(&byte);
        !text.is_empty() && text.bytes().all(is_of_token)
    };
    let (essence, parameters) = kind.split_once(';').unwrap_or((kind, ""));
    let (class, subclass) = essence.trim_end().split_once('/')?;
    let is_parameter = |byte: u8| byte == b' ' || byte.is_ascii_graphic() && byte != b',';
    (is_token(class) && is_token(subclass) && parameters.bytes().all(is_parameter)).then_some(kind)
}

/// Kinds of which no browser makes a page that runs; beside them pictures, sound, films and fonts.
const HARMLESS: &[&str] = &[
    "text/plain",
    "text/css",
    "text/csv",
    "text/javascript",
    "text/vtt",
    "application/json",
    "application/gzip",
    "application/zip",
    "application/ogg",
    "application/wasm",
    "application/dash+xml",
    "application/vnd.apple.mpegurl",
    UNKNOWN,
];

/// Whether no browser runs what is written in such bytes when it shows them as a page.
pub(crate) fn is_harmless(kind: &str) -> bool {
    let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let is_media = ["image/", "audio/", "video/", "font/"].iter().any(|class| kind.starts_with(class));
    HARMLESS.contains(&&kind[..]) || is_media && !kind.contains("xml")
}

#[cfg(test)]
mod tests {
    use super::*;
    use packet::Name;

    #[test]
    fn players_understand_the_kinds_of_their_files() {
        for (name, kind) in [
            ("/a/film.mp4", "video/mp4"),
            ("/a/seg-1.TS", "video/mp2t"),
            ("/a/1.m4s/v=7/seg=0", "video/mp4"),
            ("/a/list.m3u8", "application/vnd.apple.mpegurl"),
            ("/a/list.mpd", "application/dash+xml"),
            ("/a/film.webm", "video/webm"),
            ("/a/sound.mp3", "audio/mpeg"),
            ("/a/words.vtt", "text/vtt; charset=utf-8"),
            ("/a/page.html", "text/html; charset=utf-8"),
            ("/a/code.js", "text/javascript"),
        ] {
            let name: Name = name.parse().unwrap();
            assert_eq!(by_name(name.as_ref()).as_deref(), Some(kind), "{name}");
        }
        for name in ["/a/file", "/a.b/v=1", "/a/%FF.mp4", "/"] {
            let name: Name = name.parse().unwrap();
            assert_eq!(by_name(name.as_ref()), None, "{name}");
        }
    }

    #[test]
    fn bytes_without_a_suffix_are_told_by_how_they_begin() {
        assert_eq!(by_first_bytes(b"\x89PNG\r\n\x1a\nrest"), "image/png");
        assert_eq!(by_first_bytes(b"\0\0\0\x20ftypisom"), "video/mp4");
        assert_eq!(by_first_bytes("gr\u{fc}n\n".as_bytes()), "text/plain; charset=utf-8");
        assert_eq!(by_first_bytes(b"cut \xc3"), "text/plain; charset=utf-8");
        assert_eq!(by_first_bytes(b"<html><script>"), "text/plain; charset=utf-8");
        assert_eq!(by_first_bytes(b"\x00\x01"), UNKNOWN);
        assert_eq!(by_first_bytes(b""), UNKNOWN);
    }

    #[test]
    fn only_kinds_that_no_browser_runs_are_harmless() {
        for kind in [
            "text/html; charset=utf-8",
            "TEXT/HTML",
            "image/svg+xml",
            "application/xhtml+xml",
            "text/xml",
            "text/xsl",
            "application/pdf",
            "multipart/x-mixed-replace;boundary=a",
            "message/rfc822",
            "made/up",
        ] {
            assert!(!is_harmless(kind), "{kind}");
        }
        for kind in ["video/mp4", "text/plain; charset=utf-8", "application/dash+xml", "image/png", UNKNOWN] {
            assert!(is_harmless(kind), "{kind}");
        }
    }

    #[test]
    fn a_producer_says_one_kind_or_none() {
        for kind in ["text/html", "text/html; charset=utf-8", "application/vnd.api+json;a=\"b c\""] {
            assert_eq!(of_producer(kind), Some(kind));
        }
        for kind in ["", "text", "a/b, text/html", "text/plain;a,text/html", "/html", "a b/c", "a/b\r\nX: y"]
        {
            assert_eq!(of_producer(kind), None, "{kind}");
        }
    }
}
