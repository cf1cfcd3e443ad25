//! Pages that the gateway writes itself: what went wrong, and what lies in a folder.

use std::fmt::Write as _;

use formats::markup::escaped;
use hyper::StatusCode;
use packet::{Component, Name};
use serde_json::json;

/// What a page of ours may do: nothing but look as it does.
pub(crate) const PAGE_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const STYLE: &str = ":root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;\
margin:2rem auto;padding:0 1rem}code{font-size:.95em;word-break:break-all}li{margin:.15rem 0}ul{padding-left:1.2rem}";

fn page(title: &str, body: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\"><title>{title}</title>\
         <style>{STYLE}</style></head>\n<body>\n{body}</body></html>\n"
    )
}

/// What went wrong.
pub(crate) fn error(status: StatusCode, words: &str) -> String {
    let title = format!("{} {}", status.as_u16(), status.canonical_reason().unwrap_or("Error"));
    let advice = match status {
        StatusCode::GATEWAY_TIMEOUT => {
            "<p>Nobody answered. Is it published, and does a route lead there? \
             <code>cairn route list</code> shows where this forwarder asks.</p>\n"
        }
        StatusCode::BAD_GATEWAY => {
            "<p>Something answered, and it was not sent on: it is damaged, or nobody who is trusted vouches \
             for it.</p>\n"
        }
        _ => "",
    };
    page(&title, &format!("<h1>{title}</h1>\n<p>{}</p>\n{advice}", escaped(words)))
}

/// One thing in a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry<'a> {
    pub(crate) name: &'a [u8],
    pub(crate) is_folder: bool,
}

/// What stands in a listing of a file server: names with a zero byte behind each, those of folders with a
/// slash before that.
pub(crate) fn entries(listing: &[u8]) -> impl Iterator<Item = Entry<'_>> {
    listing.split(|byte| *byte == 0).filter(|name| !name.is_empty()).map(|name| {
        match name.strip_suffix(b"/") {
            Some(name) => Entry { name, is_folder: true },
            None => Entry { name, is_folder: false },
        }
    })
}

/// A folder as a page.
pub(crate) fn folder(name: &Name, listing: &[u8]) -> String {
    let shown = escaped(&name.to_string());
    let mut body = format!("<h1><code>{shown}</code></h1>\n<ul>\n");
    if !name.as_ref().is_root() {
        body.push_str("<li><a href=\"../\">../</a></li>\n");
    }
    for entry in entries(listing) {
        let slash = if entry.is_folder { "/" } else { "" };
        // `./` before it, or a colon in it would make it the scheme of a URL.
        let link = format!("./{}{slash}", Component::generic(entry.name));
        let text = String::from_utf8_lossy(entry.name);
        // Writing to a String does not fail.
        let _ = writeln!(body, "<li><a href=\"{}\">{}{slash}</a></li>", escaped(&link), escaped(&text));
    }
    body.push_str("</ul>\n");
    page(&shown, &body)
}

/// A folder for programs.
pub(crate) fn folder_json(name: &Name, listing: &[u8]) -> String {
    let entries: Vec<_> = entries(listing)
        .map(|entry| {
            json!({
                "component": Component::generic(entry.name).to_string(),
                "name": String::from_utf8_lossy(entry.name),
                "folder": entry.is_folder,
            })
        })
        .collect();
    json!({ "name": name.to_string(), "entries": entries }).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_strangers_are_text_and_links_in_a_page_and_no_markup() {
        let name: Name = "/lab/%3Cscript%3E".parse().unwrap();
        let listing = b"a<b>&\"c\0sub dir/\0javascript:x\0gr\xc3\xbcn\0";
        let html = folder(&name, listing);
        assert!(!html.contains("<script") && !html.contains("<b>"), "{html}");
        assert!(html.contains("href=\"./a%3Cb%3E%26%22c\">a&lt;b&gt;&amp;&quot;c</a>"), "{html}");
        assert!(html.contains("href=\"./sub%20dir/\">sub dir/</a>"), "{html}");
        assert!(html.contains("href=\"./javascript%3Ax\""), "{html}");
        let json: serde_json::Value = serde_json::from_str(&folder_json(&name, listing)).unwrap();
        assert_eq!(json["entries"][1]["folder"], true);
        assert_eq!(json["entries"][3]["component"], "gr%C3%BCn");
    }

    #[test]
    fn an_error_says_what_happened_and_quotes_nothing_as_markup() {
        let html = error(StatusCode::GATEWAY_TIMEOUT, "nobody answers for /<i>");
        assert!(html.contains("504 Gateway Timeout") && html.contains("/&lt;i&gt;"), "{html}");
    }
}
